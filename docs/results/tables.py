"""The tables of pages of this folder, from its JSON files. `python docs/results/generate.py` writes them.

A page has `<!-- table: NAME -->` before a table and `<!-- end -->` after it. In a sentence `<!-- time: FILE -->` stands
before the seconds that a run took.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import numpy as np

from kleene_papers.claims import Verdict, claims
from kleene_papers.traces import nram_runs

HERE = Path(__file__).parent
TEXTS = tuple(dict.fromkeys(claim.text for claim in claims().values()))
TABLE = re.compile(r"(<!-- table: (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)
TIME = re.compile(r"(<!-- time: (\S+) -->).*?(<!-- end -->)")
NTM = {
    "Copy (9a)": "figure-9a-copy",
    "RepeatCopyTwice (9b)": "figure-9b-repeat_copy_twice",
    "DyckWords, online (9c)": "figure-9c-dyck_words-online",
    "DyckWords, after the word (9c)": "figure-9c-dyck_words",
    "Flip3rd (9d)": "figure-9d-flip_3rd",
    "RepeatFlip3d (9e)": "figure-9e-repeat_flip_3d",
}
# Grids that were run at the paper's length later, as they were before.
EARLIER = {
    "figure-9a-copy": "figure-9a-copy-8000",
    "figure-9b-repeat_copy_twice": "figure-9b-repeat_copy_twice-8000",
    "figure-9d-flip_3rd": "figure-9d-flip_3rd-7000",
}
NRAM = {
    "Increment": "increment",
    "Swap": "swap",
    "Permute": "permute",
    "ListK": "list_k",
    "Merge": "merge",
    "PermuteNoise": "permute_noise",
}
KINDS = ("none", "registers", "modules", "corners", "single_timestep", "single_hint", "full")
NOISY_KINDS = (*KINDS, "noisy_full")
AS_THE_PAPER = tuple(title for title, name in NRAM.items() if (HERE / f"figure-12-{name}.json").exists())  # trained so
HEADS = ("none", "read", "write", "address", "value", "addr+val", "corner")
LANGUAGES = (("tomita_3", "rnn"), ("tomita_4", "rnn"), ("tomita_5", "rnn"), ("tomita_7", "rnn"), ("tomita_5", "lstm"))


def filled(page: str, known: Mapping[str, Callable[[], str]] | None = None) -> str:
    """The page with the table of each marked name; a name that is no table's is an error."""
    makers = TABLES if known is None else known
    return timed(TABLE.sub(lambda found: f"{found[1]}{makers[found[2]]()}\n{found[3]}", page))


def timed(page: str) -> str:
    """The page with the seconds that each marked run took, from its file."""
    return TIME.sub(lambda found: f"{found[1]}{stored(found[2])['seconds']:,.0f} s{found[3]}", page)


def stored(name: str) -> Any:
    return json.loads((HERE / f"{name}.json").read_text())


def markdown(head: Sequence[str], rows: Iterator[Sequence[Any]] | Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def share(count: int, seeds: int, interval: Sequence[float]) -> str:
    return f"{100 * count / seeds:.0f}% ({100 * interval[0]:.0f}–{100 * interval[1]:.0f})"


def ever(row: dict[str, Any]) -> float:
    """The share of seeds that generalised at some test, in %."""
    return 100 * sum(hit is not None for hit in row["first_hit"]) / row["seeds"]


def baseline(content: Any) -> dict[str, Any]:
    return next(row for row in content["settings"] if row["hints"] == "none")


def hinted(content: Any, kind: str) -> list[dict[str, Any]]:
    return [row for row in content["settings"] if row["hints"] == kind]


def baselines() -> str:
    """The runs without hints of figure 9."""

    def row(title: str, name: str) -> list[str]:
        content = stored(name)
        found = baseline(content)
        paper = content["paper"]["baseline"]
        runs = sum(r["seeds"] for r in content["settings"])
        ours = share(found["generalised"], found["seeds"], found["interval"])
        first = content["plans"][0]["seeds"][0]
        return [
            title, f"{content['plans'][0]['iterations']:,}", f"{first}", f"{runs:,}", f"{content['seconds']:,.0f} s",
            "not printed" if paper is None else f"{paper:g}%", ours, f"{ever(found):.0f}%",
        ]  # fmt: skip

    head = [
        "task",
        "iterations",
        "first seed",
        "runs",
        "time of all processes",
        "paper",
        "ours (95%)",
        "ours, at some test",
    ]
    earlier = [row(title, EARLIER[name]) for title, name in NTM.items() if name in EARLIER]
    return markdown(head, [*(row(*item) for item in NTM.items()), *earlier])


def row_means(name: str) -> str:
    """The mean over the columns of each row of figure 9, in %; of the paper, over the cells that can be read."""
    content = stored(name)
    kinds = [*content["paper"]["rows"]]
    rows = {"paper": [np.mean([v for v in content["paper"]["rows"][kind] if v is not None]) for kind in kinds]}
    for of in [name, EARLIER[name]] if name in EARLIER else [name]:
        found = stored(of)
        whose = f"ours, {found['plans'][0]['iterations']:,} iterations"
        rows[whose] = [
            np.mean([100 * row["generalised"] / row["seeds"] for row in hinted(found, kind)]) for kind in kinds
        ]
        rows[f"{whose}, at some test"] = [np.mean([ever(row) for row in hinted(found, kind)]) for kind in kinds]
    return markdown(["", *kinds], [[title, *(f"{value:.0f}" for value in found)] for title, found in rows.items()])


def cells_of_kind(name: str, kind: str) -> str:
    """A row of figure 9, a line for each density: the paper's share in each column and ours, in %."""
    content = stored(name)
    columns, paper = content["paper"]["columns"], content["paper"]["rows"][kind]
    cells = {(row["density"], row["strength"]): row for row in hinted(content, kind)}
    strengths = list(dict.fromkeys(strength for _, strength in columns))

    def cell(density: float, strength: float) -> str:
        row, theirs = cells[density, strength], paper[columns.index([density, strength])]
        shown = "unreadable" if theirs is None else f"{theirs}"
        return f"{shown}, {100 * row['generalised'] / row['seeds']:.0f} ({ever(row):.0f})"

    rows = [
        [f"{density:.0%} of the examples", *(cell(density, strength) for strength in strengths)]
        for density in dict.fromkeys(density for density, _ in columns)
    ]
    return markdown(["paper, ours (at some test)", *(f"λ = {strength:g}" for strength in strengths)], rows)


def strongest(name: str) -> str:
    """The cells of figure 9 with all hints and λ = 1, in %."""
    content = stored(name)
    place = content["paper"]["columns"].index([1.0, 1.0])
    kinds = [*content["paper"]["rows"]]
    paper = [content["paper"]["rows"][kind][place] for kind in kinds]
    cells = [next(r for r in hinted(content, kind) if (r["density"], r["strength"]) == (1, 1)) for kind in kinds]
    rows = [
        ["paper", *("unreadable" if value is None else f"{value:g}" for value in paper)],
        ["ours (95%)", *(share(r["generalised"], r["seeds"], r["interval"]).replace("%", "") for r in cells)],
        ["ours, at some test", *(f"{ever(r):.0f}" for r in cells)],
    ]
    return markdown(["", *kinds], rows)


def improvements() -> str:
    """How many of 10 seeds generalise with all hints and λ = 1, at the last and at some test: figure 4.

    Then how many kinds of hints have more seeds at the last test than there are without hints, as many, and fewer.
    """
    content = stored("figure-4")
    kinds = list(dict.fromkeys(row["hints"] for row in content["settings"]))
    rows = {task: [*found] for task, found in groupby(content["settings"], key=lambda row: row["task"])}
    beside = {task: against_none(found) for task, found in rows.items()}
    lines = [
        [task, *(f"{row['generalised']} ({ever(row) * row['seeds'] / 100:.0f})" for row in found), *beside[task]]
        for task, found in rows.items()
    ]
    together = np.sum([*beside.values()], axis=0)
    return markdown(["", *kinds, *BESIDE_NONE], [*lines, ["together", *("" for _ in kinds), *together]])


BESIDE_NONE = ("kinds with more than none", "with as many", "with fewer")


def against_none(rows: Sequence[dict[str, Any]]) -> list[int]:
    """How many kinds of hints have more runs that generalise than there are without hints, as many, and fewer."""
    (none,) = (row["generalised"] for row in rows if row["hints"] == "none")
    apart = [np.sign(row["generalised"] - none) for row in rows if row["hints"] != "none"]
    return [apart.count(sign) for sign in (1, 0, -1)]


def sharpness(content: Any, kind: str) -> float | None:
    """How sharp the reading head is, the mean of its largest weight, with all hints and the largest λ."""
    found = max(hinted(content, kind), key=lambda row: (row["density"], row["strength"]), default=None)
    return None if found is None else found["peak"]


def peaks() -> str:
    """Figure 6, as a table."""

    def cells(name: str) -> Iterator[str]:
        content = stored(name)
        for kind in HEADS:
            found = sharpness(content, kind)
            yield "" if found is None else f"{found:.2f}"

    return markdown(["", *HEADS], [[title, *cells(name)] for title, name in NTM.items()])


def nram(variant: str) -> str:
    """Figure 12: errors in % beside the paper's, and how many of 20 seeds generalise."""
    contents = {title: stored(f"figure-12-{name}{variant}") for title, name in NRAM.items()}
    head = ["hints", *(cell for title in NRAM for cell in (title, "paper"))]

    def cells(kind: str) -> Iterator[str]:
        for content in contents.values():
            (row,) = hinted(content, kind) or (None,)
            yield "" if row is None else f"{content['errors'][kind]:.1f} ({row['generalised']})"
            yield "" if row is None else f"{content['paper'][kind]:.1f}"

    return markdown(head, [[kind, *cells(kind)] for kind in KINDS])


def nram_costs(variant: str) -> str:
    """Runs, time and the runs that diverged, by kind of hint."""

    def row(title: str, name: str) -> list[str]:
        content = stored(f"figure-12-{name}{variant}")
        lost = ", ".join(f"{r['hints']} {len(r['diverged'])}" for r in content["settings"] if r["diverged"])
        runs = sum(r["seeds"] for r in content["settings"])
        sizes = " ".join(content["settings"][0]["accuracy_by_length"])
        return [title, f"{runs}", f"{content['seconds']:.0f} s", sizes, lost or "none"]

    return markdown(["task", "runs", "time", "test difficulties", "diverged runs"], [row(*i) for i in NRAM.items()])


def some_right(row: dict[str, Any]) -> list[int]:
    """How many runs of a machine of figure 18 are right on at least one memory, by difficulty."""
    return (np.array(row["each"]) < 100).sum(axis=0).tolist()


def merge_compared() -> str:
    """Figure 18: errors in % by difficulty, of both machines, and of the NRAM in our variant."""
    content, ours = stored("figure-18"), stored("figure-12-merge-stated")
    sizes = next(iter(content["errors"].values()))["difficulty"]
    rows = []
    for name, row in content["errors"].items():
        rows.append([name, row["runs"], *(f"{wrong:.1f}" for wrong in row["wrong"])])
        rows.append(["its runs that are right on some memory", "", *map(str, some_right(row))])
    (full,) = hinted(ours, "full")
    right = [full["accuracy_by_length"][str(size)] for size in sizes]
    rows.append(["the same NRAM in our variant, above", full["seeds"], *(f"{100 * (1 - one):.1f}" for one in right)])
    return markdown(["% wrong at difficulty", "runs", *map(str, sizes)], rows)


def trained_as_the_paper() -> str:
    """Figures 12 to 14: errors in % as the paper trains and in our variant, beside the paper's."""
    rows = []
    for title in AS_THE_PAPER:
        ours, variant = (stored(f"figure-12-{NRAM[title]}{variant}") for variant in ("", "-stated"))
        for kind in (kind for kind in NOISY_KINDS if hinted(ours, kind)):
            paper = f"{ours['paper'][kind]:.1f}" if kind in ours["paper"] else ""
            updates = f"{nram_runs.updates(ours)[kind]:.0f}"
            rows.append([title, kind, _error(ours, kind), _error(variant, kind), paper, updates])
    return markdown(["task", "hints", "as the paper trains", "`stated`", "paper", "updates"], rows)


def _error(content: Any, kind: str) -> str:
    (row,) = hinted(content, kind) or (None,)
    return "" if row is None else f"{content['errors'][kind]:.1f} ({row['generalised']})"


def deviations(name: str) -> str:
    """Errors in % and runs that generalise, by what differs from the paper's training."""
    content = stored(name)
    ((task, errors),) = content["errors"].items()
    paper = content["paper"][task]
    cells = [(variant, kind) for variant in errors for kind in paper]
    learned = {cell: row for cell, row in zip(cells, content["settings"], strict=True) if row["hints"] == cell[1]}
    rows = [
        [variant, *(f"{errors[variant][kind]:.1f} ({learned[variant, kind]['generalised']})" for kind in paper)]
        for variant in errors
    ]
    return markdown(["", *paper], [*rows, ["paper's numbers", *(f"{error:.1f}" for error in paper.values())]])


def distances() -> str:
    """How far the errors are from the paper's, in points, the mean over the kinds of hints that it has."""

    def far(title: str, variant: str) -> float:
        content = stored(f"figure-12-{NRAM[title]}{variant}")
        return float(np.mean([abs(content["errors"][kind] - error) for kind, error in content["paper"].items()]))

    def mean(title: str, variant: str) -> float:
        content = stored(f"figure-12-{NRAM[title]}{variant}")
        return float(np.mean([content["errors"][kind] for kind in content["paper"]]))

    found = {
        title: [measure(title, variant) for measure in (mean, far) for variant in ("", "-stated")]
        for title in AS_THE_PAPER
    }
    without = [values for title, values in found.items() if title != "Swap"]
    for title, several in ((f"mean of the {len(found)}", [*found.values()]), ("mean without Swap", without)):
        found[title] = [float(value) for value in np.mean(several, axis=0)]
    head = ["", "mean error, as the paper trains", "`stated`", "distance from the paper, as it trains", "`stated`"]
    rows = [
        [title, *(f"{value:.1f}" for value in values), "as the paper trains" if values[2] < values[3] else "`stated`"]
        for title, values in found.items()
    ]
    return markdown([*head, "nearer to the paper"], rows)


def training_times() -> str:
    """Figure 11: updates until training ended, and the paper's seconds, both also as a share of those without hints."""
    head, columns = ["hints"], []
    for title in (title for title in AS_THE_PAPER if NRAM[title] in nram_runs.SECONDS):
        found, seconds = nram_runs.updates(stored(f"figure-12-{NRAM[title]}")), nram_runs.SECONDS[NRAM[title]]
        head += [f"{title}, updates", "paper, seconds"]
        columns.append([f"{found[kind]:.0f} ({found[kind] / found['none']:.0%})" for kind in KINDS])
        columns.append([f"{seconds[kind]:,.0f} ({seconds[kind] / seconds['none']:.0%})" for kind in KINDS])
    return markdown(head, [[kind, *cells] for kind, *cells in zip(KINDS, *columns)])


def runs_completed() -> str:
    """Figure 10: how many runs completed, of ours without those that diverged, beside the paper's."""
    contents = {title: stored(f"figure-12-{name}-stated") for title, name in NRAM.items()}
    found = {title: nram_runs.completed(content) for title, content in contents.items()}

    def cells(kind: str) -> Iterator[str]:
        for title, name in NRAM.items():
            yield str(found[title].get(kind, ""))
            yield str(nram_runs.COMPLETED[name].get(kind, ""))

    def all_kinds() -> Iterator[str]:
        for title, name in NRAM.items():
            yield "{} of {}".format(*nram_runs.completed_of_begun(contents[title]))
            yield str(sum(nram_runs.COMPLETED[name].values()))

    def trained_so() -> Iterator[str]:
        for title, name in NRAM.items():
            known = stored(f"figure-12-{name}") if title in AS_THE_PAPER else None
            yield "" if known is None else "{} of {}".format(*nram_runs.completed_of_begun(known))
            yield ""

    head = ["hints", *(cell for title in NRAM for cell in (title, "paper"))]
    last = [["together", *all_kinds()], ["together, as the paper trains", *trained_so()]]
    return markdown(head, [*([kind, *cells(kind)] for kind in NOISY_KINDS), *last])


def choices(name: str) -> str:
    """How many seeds generalise at the last test, and at some test, by what was chosen; the paper's in %."""
    content = stored(name)
    kinds = [*next(iter(content["choices"].values()))]

    def cell(row: dict[str, int]) -> str:
        return f"{row['generalised']} ({row['at_some_test']})"

    paper = [f"{content['paper'][kind]:g}%" if kind in content["paper"] else "not printed" for kind in kinds]
    rows = [[title, *(cell(found[kind]) for kind in kinds)] for title, found in content["choices"].items()]
    return markdown(["", *kinds], [["paper", *paper], *rows])


def states() -> str:
    """Seeds that passed every test at some time, and the examples that half of these had seen by then."""

    def cell(needed: list[int | None]) -> str:
        reached = [examples for examples in needed if examples is not None]
        half = f", {np.median(reached):,.0f} examples" if reached else ""
        return f"{len(reached)} of {len(needed)}{half}"

    rows = []
    for language, machine in LANGUAGES:
        content = stored(f"state-hints-{language}-{machine}")
        seconds = f"{content['seconds']:.0f} s"
        shares = [cell(content["examples"][share]) for share in ("0", "10", "100")]
        rows.append([f"{language}, {machine.upper()}", *shares, seconds])
    return markdown(["language, network", "no states", "10% of them", "all", "time"], rows)


def claimed(text: str) -> str:
    """The tables, figures and theorems of one text, with our verdicts."""

    def row(claim: Any) -> list[str]:
        shown = (
            f"`{claim.run}`"
            if claim.run.startswith("kleene")
            else f"[{Path(claim.run).stem}](../{Path(claim.run).name})"
        )
        numbers, times = (claim.paper or "", claim.ours or ""), (claim.cpu or "", claim.gpu or "")
        return [claim.name, claim.shows, f"**{claim.verdict}**", claim.why, *numbers, shown, *times]

    head = ["", "shows", "verdict", "why", "the paper's", "ours", "shown by", "on 2 cores", "on an H200"]
    return markdown(head, [row(claim) for claim in claims().values() if claim.text == text])


def verdicts() -> str:
    """How many claims of each text have each verdict."""
    words, texts = get_args(Verdict), dict.fromkeys(claim.text for claim in claims().values())
    counts = Counter((claim.text, claim.verdict) for claim in claims().values())
    return markdown(["", *words], [[text, *(counts[text, word] or "" for word in words)] for text in texts])


TABLES: dict[str, Callable[[], str]] = (
    {
        "figure 9 without hints": baselines,
        "corners: RepeatFlip3d (9e)": lambda: cells_of_kind("figure-9e-repeat_flip_3d", "corner"),
        "figure 4": improvements,
        "figure 6": peaks,
        "figure 12, stated": lambda: nram("-stated"),
        "figure 12, stated, costs": lambda: nram_costs("-stated"),
        "figure 18": merge_compared,
        "figure 12, as the paper trains": trained_as_the_paper,
        "figure 12, distances": distances,
        "deviations": lambda: deviations("nram-deviations"),
        "deviations, Permute": lambda: deviations("nram-deviations-permute"),
        "figure 10": runs_completed,
        "figure 11": training_times,
        "readings of DyckWords": lambda: choices("dyck-readings"),
        "online DyckWords on other seeds": lambda: choices("dyck-readings-online_walks"),
        "tape decoders": lambda: choices("tape-decoders"),
        "states as hints": states,
        "verdicts": verdicts,
    }
    | {f"claims: {text}": lambda text=text: claimed(text) for text in TEXTS}
    | {
        f"{what}: {title}": lambda name=name, table=table: table(name)
        for title, name in NTM.items()
        for what, table in (("row means", row_means), ("all hints, λ = 1", strongest))
    }
)
