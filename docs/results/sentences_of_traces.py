"""The numbers in sentences on "Training Neural Machines with Partial Traces"; see sentences.py."""

from typing import Any

import numpy as np
from sentences import Sentence  # these two lie beside this file
from tables import baseline, hinted, stored

from kleene.notation.shares import interval

FLIP, REPEAT = "figure-9d-flip_3rd", "figure-9e-repeat_flip_3d"


def percent(rows: list[dict[str, Any]]) -> float:
    """The share of the runs of some settings that generalise at the last test, in %."""
    return 100 * sum(row["generalised"] for row in rows) / sum(row["seeds"] for row in rows)


def of_kind(name: str, *kinds: str) -> list[str]:
    """The share of the runs of each kind of hint that generalise, in % without decimals."""
    content = stored(name)
    return [f"{percent(hinted(content, kind)):.0f}" for kind in kinds]


def of_paper(name: str, *kinds: str) -> list[str]:
    """The mean over the cells of a row of the paper that can be read, in %."""
    rows = stored(name)["paper"]["rows"]
    return [f"{np.mean([cell for cell in rows[kind] if cell is not None]):.0f}" for kind in kinds]


def corners_of_9e() -> list[str]:
    rows, bare = hinted(stored(REPEAT), "corner"), baseline(stored(REPEAT))
    right, runs = (sum(row[key] for row in rows) for key in ("generalised", "seeds"))
    ends = [f"{100 * end:.0f}" for end in (*interval(right, runs), *bare["interval"])]
    ours = [f"{percent(rows):.0f}", str(right), str(runs), *ends[:2], *of_paper(REPEAT, "corner")]
    return [*ours, str(bare["generalised"]), str(bare["seeds"]), *ends[2:]]


PAGE = [
    Sentence("**Without hints {}% generalise, as many as in the paper", lambda: of_kind(REPEAT, "none")),
    Sentence(
        "Corners are best, with {}% ({} of {} runs, {} to {}%), where the paper has {}%; {} of {} runs without hints "
        "({} to {}%) are not clearly fewer",
        corners_of_9e,
    ),
    Sentence("Address hints are the exception: {}%, in the paper {}%",
             lambda: [*of_kind(FLIP, "address"), *of_paper(FLIP, "address")]),
]  # fmt: skip
CLAIMS: list[Sentence] = []
