"""Write the tables of ground-truth.md again from interactions-quick.json: `python docs/results/judged.py`."""

import json
import re
from pathlib import Path

from kleene.explaining.interactions.verdicts import InteractionVerdicts

HERE = Path(__file__).parent
PAGE, STORED = HERE / "ground-truth.md", HERE / "interactions-quick.json"
TABLE = re.compile(r"(<!-- table: (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: str) -> str:
    """The page with the table of each marked title; a title that is no table's is an error."""
    tables = InteractionVerdicts.from_json(json.loads(STORED.read_text())).markdown()
    return TABLE.sub(lambda found: f"{found[1]}{tables[found[2]]}\n{found[3]}", page)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text()))
