"""The grids of figure 9, of "Training Neural Machines with Partial Traces": our cells beside the paper's."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kleene.notation.shares import interval
from kleene.pictures.plots import generalisation_grids, grouped_bars
from kleene_papers.stored import Result, stored, where
from kleene_papers.tables import Table, share

TITLES = {
    "traces-figure-9a": "Copy (9a)",
    "traces-figure-9b": "RepeatCopyTwice (9b)",
    "traces-figure-9c": "DyckWords, online (9c)",
    "traces-figure-9c-after": "DyckWords, after the word (9c)",
    "traces-figure-9d": "Flip3rd (9d)",
    "traces-figure-9e": "RepeatFlip3d (9e)",
}
LENGTH = 100_000  # iterations, in the paper
HEADS = ("none", "read", "write", "address", "value", "addr+val", "corner")

Cell = Mapping[str, Any]


class Grid:
    """The settings of a grid. In each, `ours` and `ever` are our shares at the last and at some test, in %.

    `paper` is the paper's share there, None where it cannot be read or was not printed, and `passed` how many runs pass
    some test.
    """

    def __init__(self, result: Result):
        self.result = result
        self.kinds = [*result.paper["rows"]]
        self.paper = {
            (kind, *at): cell
            for kind in self.kinds
            for at, cell in zip(result.paper["columns"], result.paper["rows"][kind])
        }
        self.rows = [self._beside(row) for row in result.rows]

    def _beside(self, row: Cell) -> Cell:
        at, passed = (row["hints"], row["density"], row["strength"]), sum(hit is not None for hit in row["first_hit"])
        paper = self.result.paper["baseline"] if row["hints"] == "none" else self.paper[at]
        shares = {"ours": 100 * row["generalised"] / row["seeds"], "ever": 100 * passed / row["seeds"]}
        return {**row, **shares, "passed": passed, "paper": paper}

    @property
    def title(self) -> str:
        return TITLES.get(self.result.study, self.result.study)

    @property
    def iterations(self) -> int:
        return self.result.plans[0]["iterations"]

    @property
    def runs(self) -> int:
        return sum(row["seeds"] for row in self.rows)

    @property
    def none(self) -> Cell | None:
        """The runs without hints; None where the grid has only some rows of a table."""
        return next(iter(where(self.rows, hints="none")), None)

    def cells(self, *kinds: str, **of: Any) -> list[Cell]:
        """The cells of these kinds of hints, or of all."""
        return [row for row in where(self.rows, **of) if row["hints"] in (kinds or self.kinds)]

    def cell(self, kind: str, density: float = 1.0, strength: float = 1.0) -> Cell:
        (found,) = self.cells(kind, density=density, strength=strength)
        return found

    def mean(self, whose: str, *kinds: str, **of: Any) -> float:
        """The mean of "ours", "ever" or "paper" over cells; of the paper, over those of them that can be read."""
        return float(np.mean([cell[whose] for cell in self.cells(*kinds, **of) if cell[whose] is not None]))

    def means(self, whose: str, *kinds: str, **of: Any) -> dict[str, float]:
        """That mean for each of these kinds of hints, or for all."""
        return {kind: self.mean(whose, kind, **of) for kind in kinds or self.kinds}

    def together(self, *kinds: str, **of: Any) -> Cell:
        """Cells as one: how many of how many runs generalise, and the 95% interval of their share."""
        cells = self.cells(*kinds, **of)
        right, runs = (sum(cell[what] for cell in cells) for what in ("generalised", "seeds"))
        return {"generalised": right, "seeds": runs, "interval": interval(right, runs)}

    @cached_property
    def both(self) -> np.ndarray:
        """Our shares, and the paper's, in the cells that can be read in the paper."""
        return np.array([(cell["ours"], cell["paper"]) for cell in self.cells() if cell["paper"] is not None]).T

    @property
    def correlation(self) -> float:
        """The correlation of our shares with the paper's over these cells."""
        return float(np.corrcoef(self.both)[0, 1])

    @property
    def apart(self) -> float:
        """How far our shares are from the paper's, in points, the mean over these cells."""
        return float(np.mean(np.abs(np.subtract(*self.both))))

    def moved(self, other: "Grid") -> float:
        """How far the mean of a row is from that of another run at most, in points."""
        ours, theirs = self.means("ours"), other.means("ours")
        return max(abs(ours[kind] - theirs[kind]) for kind in self.kinds)


def grid(name: str) -> Grid:
    """A stored grid, for pages."""
    return Grid(stored(name))


def tables(*results: Result) -> list[Table]:
    """Those of one task: without hints, means of rows, all hints with λ = 1, and every cell of the first result."""
    known = [*map(Grid, results)]
    bare = [without_hints(*results)] if known[0].none else []
    return [*bare, row_means(known), strongest(known[0]), every_cell(known[0])]


def without_hints(*results: Result) -> Table:
    """The runs without hints of some grids."""
    rows = []
    for known in map(Grid, results):
        if (none := known.none) is not None:
            first, seconds = known.result.plans[0]["seeds"][0], known.result.seconds or 0
            row = [known.title, f"{known.iterations:,}", first, f"{known.runs:,}", f"{seconds:,.0f} s"]
            rows.append([*row, _printed(none["paper"]), _shown(none), f"{none['ever']:.0f}%"])
    head = ["task", "iterations", "first seed", "runs", "time of all processes"]
    return Table([*head, "paper", "ours (95%)", "ours, at some test"], rows, "without hints")


def row_means(grids: Sequence[Grid]) -> Table:
    """The mean over the columns of each row, in %; of the paper, over the cells that can be read."""
    rows = {"paper": grids[0].means("paper")}
    for known in grids:
        whose = f"ours, {known.iterations:,} iterations"
        rows |= {whose: known.means("ours"), f"{whose}, at some test": known.means("ever")}
    lines = [[title, *(f"{mean:.0f}" for mean in found.values())] for title, found in rows.items()]
    return Table(["", *grids[0].kinds], lines, "means of rows")


def strongest(known: Grid) -> Table:
    """The cells with all hints and λ = 1, in %."""
    cells = [known.cell(kind) for kind in known.kinds]
    paper = [_printed(cell["paper"], "unreadable").removesuffix("%") for cell in cells]
    ours, ever = [_shown(cell).replace("%", "") for cell in cells], [f"{cell['ever']:.0f}" for cell in cells]
    rows = [["paper", *paper], ["ours (95%)", *ours], ["ours, at some test", *ever]]
    return Table(["", *known.kinds], rows, "all hints, λ = 1")


def every_cell(known: Grid) -> Table:
    """The paper's share in each cell and ours, in %, a line for each kind and density."""
    columns = list(dict.fromkeys(cell["strength"] for cell in known.cells()))
    densities = list(dict.fromkeys(cell["density"] for cell in known.cells()))

    def shown(cell: Cell) -> str:
        return f"{_printed(cell['paper'], '?').removesuffix('%')}, {cell['ours']:.0f} ({cell['ever']:.0f})"

    lines = [
        [kind, f"{density:.0%}", *(shown(known.cell(kind, density, strength)) for strength in columns)]
        for kind in known.kinds
        for density in densities
    ]
    head = ["hints", "of the examples", *(f"λ = {strength:g}" for strength in columns)]
    return Table(head, lines, "every cell in %: paper (? cannot be read), ours (at some test)")


def _printed(share: float | None, without: str = "not printed") -> str:
    return without if share is None else f"{share:g}%"


def _shown(cell: Cell) -> str:
    return share(cell["generalised"], cell["seeds"], cell["interval"])


def draw(*given: Any) -> Path:
    """Draw the paper's table and ours, of the first result, as heat maps; every column has the baseline.

    The path comes last and is returned.
    """
    result, *_, path = given
    known = Grid(result)
    columns = sorted({(cell["density"], cell["strength"]) for cell in known.cells()}, reverse=True)
    ours = {(cell["hints"], cell["density"], cell["strength"]): cell["ours"] for cell in known.cells()}
    bare = known.none or {"ours": None, "paper": None}
    kinds = ["none", *known.kinds]
    shown = {
        "paper": [[known.paper.get((kind, *at), bare["paper"]) for at in columns] for kind in kinds],
        "ours": [[ours.get((kind, *at), bare["ours"]) for at in columns] for kind in kinds],
    }
    names = [f"{density:.0%}\nλ {strength:g}" for density, strength in columns]
    return generalisation_grids(kinds, names, shown, path, title=result.shows)


def compared(*results: Result) -> list[Table]:
    """What the tables come to, of the paper's length, and the runs without hints of all."""
    known = [*map(Grid, results)]
    return [findings([one for one in known if one.iterations == LENGTH]), without_hints(*results)]


def findings(grids: Sequence[Grid]) -> Table:
    """Runs without hints, the best row, and how well our cells agree with the paper's."""
    rows = []
    for known in grids:
        assert known.none is not None
        means, correlation = known.both.mean(axis=1), f"{known.correlation:.2f}".replace("-", "−")
        best = [_best(known.means(whose)) for whose in ("paper", "ours")]
        bare = [_printed(known.none["paper"]), _shown(known.none)]
        rows.append([known.title, *bare, *best, f"{means[1]:.0f}, {means[0]:.0f}", correlation])
    head = ["task", "no hints, paper", "no hints, ours (95%)", "best row, paper", "best row, ours"]
    return Table([*head, "mean of all cells in %, paper, ours", "correlation over cells"], rows, "findings")


def _best(means: Mapping[str, float]) -> str:
    """The kinds with the highest mean, and that mean."""
    top = max(means.values())
    return f"{', '.join(kind for kind, mean in means.items() if mean == top)}: {top:.0f}%"


def sharpness(result: Result, kind: str) -> float | None:
    """How sharp the reading head is, the mean of its largest weight, with all hints and the largest λ."""
    found = max(where(result.rows, hints=kind), key=lambda row: (row["density"], row["strength"]), default=None)
    return None if found is None else found["peak"]


def sharp_heads(*results: Result) -> list[Table]:
    """Figure 6, as a table."""
    rows = []
    for result in results:
        peaks = [sharpness(result, kind) for kind in HEADS]
        rows.append([TITLES[result.study], *("" if peak is None else f"{peak:.2f}" for peak in peaks)])
    return [Table(["", *HEADS], rows, "largest weight of the reading head")]


def draw_sharp_heads(*given: Any) -> Path:
    """Draw that table with a bar for each task in the group of each kind of hint; return the path, which comes last."""
    *results, path = given
    bars = {TITLES[result.study]: [sharpness(result, kind) or 0.0 for kind in HEADS] for result in results}
    labels = {"across": "kind of hint", "up": "largest weight of the reading head"}
    groups = [kind.replace("+", "\n+") for kind in HEADS]
    return grouped_bars(groups, bars, path, title="how sharp the reading head is", **labels)
