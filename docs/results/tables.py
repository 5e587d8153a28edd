"""The tables of pages of this folder, from its JSON files. `python docs/results/generate.py` writes them.

A page has `<!-- table: NAME -->` before a table and `<!-- end -->` after it. In a sentence `<!-- time: FILE -->` stands
before the seconds that a run took.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

from kleene.experiments import nram_runs
from kleene.experiments.claims import Verdict, claims
from kleene.experiments.partial_traces import NTM as FIGURE_9

HERE = Path(__file__).parent
TEXTS = tuple(dict.fromkeys(claim.text for claim in claims().values()))
TABLE = re.compile(r"(<!-- table: (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)
TIME = re.compile(r"(<!-- time: (\S+) -->).*?(<!-- end -->)")
NTM = {
    "Copy (9a)": "figure-9a-copy",
    "RepeatCopyTwice (9b)": "figure-9b-repeat_copy_twice",
    "DyckWords (9c)": "figure-9c-dyck_words",
    "Flip3rd (9d)": "figure-9d-flip_3rd",
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
AS_THE_PAPER = ("Increment", "Swap")  # the tasks that were run as the paper trains
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
        return [
            title, f"{content['plans'][0]['iterations']:,}", f"{runs:,}", f"{content['seconds']:.0f} s",
            "not printed" if paper is None else f"{paper:g}%", ours, f"{ever(found):.0f}%",
        ]  # fmt: skip

    head = ["task", "iterations", "runs", "time", "paper", "ours (95%)", "ours, at some test"]
    return markdown(head, [row(*item) for item in NTM.items()])


def row_means(name: str) -> str:
    """The mean over the columns of each row of figure 9, in %; of the paper, over the cells that can be read."""
    content = stored(name)
    kinds = [*content["paper"]["rows"]]
    paper = [np.mean([v for v in content["paper"]["rows"][kind] if v is not None]) for kind in kinds]
    ours = [np.mean([100 * row["generalised"] / row["seeds"] for row in hinted(content, kind)]) for kind in kinds]
    at_all = [np.mean([ever(row) for row in hinted(content, kind)]) for kind in kinds]
    rows = {"paper": paper, "ours": ours, "ours, at some test": at_all}
    return markdown(["", *kinds], [[title, *(f"{value:.0f}" for value in found)] for title, found in rows.items()])


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
    """How many of 10 seeds generalise with all hints and λ = 1: figure 4."""
    content = stored("figure-4")
    tasks = list(dict.fromkeys(row["task"] for row in content["settings"]))
    kinds = list(dict.fromkeys(row["hints"] for row in content["settings"]))
    found = {(row["task"], row["hints"]): row["generalised"] for row in content["settings"]}
    return markdown(["", *kinds], [[task, *(found[task, kind] for kind in kinds)] for task in tasks])


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


def merge_compared() -> str:
    """Figure 18: errors in % by difficulty, of both machines, and of the NRAM in our variant."""
    content, ours = stored("figure-18"), stored("figure-12-merge-stated")
    sizes = next(iter(content["errors"].values()))["difficulty"]
    rows = [[name, row["runs"], *(f"{wrong:.1f}" for wrong in row["wrong"])] for name, row in content["errors"].items()]
    (full,) = hinted(ours, "full")
    right = [full["accuracy_by_length"][str(size)] for size in sizes]
    rows.append(["the same NRAM in our variant, above", full["seeds"], *(f"{100 * (1 - one):.1f}" for one in right)])
    return markdown(["% wrong at difficulty", "runs", *map(str, sizes)], rows)


def trained_as_the_paper() -> str:
    """Figures 12 to 14: errors in % as the paper trains and in our variant, beside the paper's."""
    head, columns = ["hints"], []
    for title in AS_THE_PAPER:
        contents = [stored(f"figure-12-{NRAM[title]}{variant}") for variant in ("", "-stated")]
        head += [f"{title}, as the paper trains", "`stated`", "paper"]
        columns += [[_error(content, kind) for kind in NOISY_KINDS] for content in contents]
        columns.append([f"{contents[0]['paper'][k]:.1f}" if k in contents[0]["paper"] else "" for k in NOISY_KINDS])
        head.append("updates")
        columns.append([_updates(contents[0], kind) for kind in NOISY_KINDS])
    return markdown(head, [[kind, *cells] for kind, *cells in zip(NOISY_KINDS, *columns)])


def _error(content: Any, kind: str) -> str:
    (row,) = hinted(content, kind) or (None,)
    return "" if row is None else f"{content['errors'][kind]:.1f} ({row['generalised']})"


def _updates(content: Any, kind: str) -> str:
    found = nram_runs.updates(content)
    return f"{found[kind]:.0f}" if kind in found else ""


def deviations() -> str:
    """Errors in % by what differs from the paper's training, of Increment at the quick size."""
    content = stored("nram-deviations")
    kinds = list(content["paper"]["increment"])
    rows = {**content["errors"]["increment"], "paper's numbers": content["paper"]["increment"]}
    return markdown(["", *kinds], [[title, *(f"{found[kind]:.1f}" for kind in kinds)] for title, found in rows.items()])


def distances() -> str:
    """How far the errors are from the paper's, in points, the mean over the kinds of hints that it has."""

    def far(title: str, variant: str) -> str:
        content = stored(f"figure-12-{NRAM[title]}{variant}")
        return f"{np.mean([abs(content['errors'][kind] - error) for kind, error in content['paper'].items()]):.1f}"

    def mean(title: str, variant: str) -> str:
        content = stored(f"figure-12-{NRAM[title]}{variant}")
        return f"{np.mean([content['errors'][kind] for kind in content['paper']]):.1f}"

    rows = [
        [title, *(mean(title, v) for v in ("", "-stated")), *(far(title, v) for v in ("", "-stated"))]
        for title in AS_THE_PAPER
    ]
    head = ["", "mean error, as the paper trains", "`stated`", "distance from the paper, as it trains", "`stated`"]
    return markdown(head, rows)


def training_times() -> str:
    """Figure 11: updates until training ended, and the paper's seconds, both also as a share of those without hints."""
    head, columns = ["hints"], []
    for title in AS_THE_PAPER:
        found, seconds = nram_runs.updates(stored(f"figure-12-{NRAM[title]}")), nram_runs.SECONDS[NRAM[title]]
        head += [f"{title}, updates", "paper, seconds"]
        columns.append([f"{found[kind]:.0f} ({found[kind] / found['none']:.0%})" for kind in KINDS])
        columns.append([f"{seconds[kind]:,.0f} ({seconds[kind] / seconds['none']:.0%})" for kind in KINDS])
    return markdown(head, [[kind, *cells] for kind, *cells in zip(KINDS, *columns)])


def runs_completed() -> str:
    """Figure 10: how many runs completed, of ours without those that diverged, beside the paper's."""
    contents = {title: stored(f"figure-12-{name}-stated") for title, name in NRAM.items()}
    found = {title: nram_runs.completed(content) for title, content in contents.items()}
    begun = {title: sum(row["seeds"] for row in content["settings"]) for title, content in contents.items()}

    def cells(kind: str) -> Iterator[str]:
        for title, name in NRAM.items():
            yield str(found[title].get(kind, ""))
            yield str(nram_runs.COMPLETED[name].get(kind, ""))

    def all_kinds() -> Iterator[str]:
        for title, name in NRAM.items():
            yield f"{sum(found[title].values())} of {begun[title]}"
            yield str(sum(nram_runs.COMPLETED[name].values()))

    head = ["hints", *(cell for title in NRAM for cell in (title, "paper"))]
    return markdown(head, [*([kind, *cells(kind)] for kind in NOISY_KINDS), ["together", *all_kinds()]])


def choices(name: str, *kinds: str) -> str:
    """How many of 10 seeds generalise at the last test, and at some test, by what was chosen."""
    content = stored(name)

    def cell(row: dict[str, int]) -> str:
        return f"{row['generalised']} ({row['at_some_test']})"

    rows = [[title, *(cell(found[kind]) for kind in kinds)] for title, found in content["choices"].items()]
    return markdown(["", *kinds], rows)


MINUTES, SLOWER = 28, 0.6  # of a piece, and the speed of a part of the grid against that of the whole


def pieces() -> str:
    """Figure 9 at 100,000 iterations in pieces of half an hour, by the speeds that were measured."""

    def row(task: str) -> list[str]:
        same = "flip_3rd" if task == "repeat_flip_3d" else task  # which has words of the same length
        measured = stored(f"figure-{FIGURE_9[same].figure}-{same}")
        speed = sum(r["seeds"] for r in measured["settings"]) * measured["plans"][0]["iterations"] / measured["seconds"]
        runs = 40 + 10 * len(FIGURE_9[task].rows) * len(FIGURE_9[task].columns)
        seconds = 100_000 * runs / speed
        parts = math.ceil(seconds / SLOWER / (60 * MINUTES))
        command = f"kleene reproduce ntm-{task} --full --first-seed 1000 --minutes {MINUTES} --piece i/{parts}"
        return [
            f"9{FIGURE_9[task].figure[1:]}", f"{runs:,}", f"{speed:,.0f}", f"{seconds / 60:.0f} min", str(parts),
            f"`{command}`",
        ]  # fmt: skip

    head = ["figure", "runs", "seed·iterations a second, measured", "time at that speed", "pieces", "command"]
    return markdown(head, [row(task) for task in FIGURE_9])


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
        "figure 4": improvements,
        "figure 6": peaks,
        "figure 12, stated": lambda: nram("-stated"),
        "figure 12, stated, costs": lambda: nram_costs("-stated"),
        "figure 18": merge_compared,
        "figure 12, as the paper trains": trained_as_the_paper,
        "figure 12, distances": distances,
        "deviations": deviations,
        "figure 10": runs_completed,
        "figure 11": training_times,
        "readings of DyckWords": lambda: choices("dyck-readings", "none", "corner"),
        "tape decoders": lambda: choices("tape-decoders", "value"),
        "figure 9 in pieces": pieces,
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
