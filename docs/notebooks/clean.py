"""The notebooks as they are kept: without outputs and counters.

`python docs/notebooks/clean.py` writes every notebook of this folder again in that form,
after you have edited or run it.
"""

import json
from pathlib import Path

FOLDER = Path(__file__).parent
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def clean(text: str, name: str) -> str:
    """The text of a notebook file, cleaned. The cells get numbers as names."""
    cells = [
        _cell(cell, f"{name}-{number:02}")
        for number, cell in enumerate(json.loads(text)["cells"], 1)
    ]
    notebook = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _cell(cell: dict, name: str) -> dict:
    lines = "".join(cell["source"]).rstrip().splitlines(keepends=True)
    kept = {"cell_type": cell["cell_type"], "id": name, "metadata": {}, "source": lines}
    return kept | (
        {"execution_count": None, "outputs": []} if cell["cell_type"] == "code" else {}
    )


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        path.write_text(clean(path.read_text(), path.stem))
