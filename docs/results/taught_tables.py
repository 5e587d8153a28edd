"""The tables of end-to-end.md, learnability.md and transformers-taught.md, from the JSON files; see tables.py."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from tables import markdown, stored  # beside this file

MEASURES = ("accuracy_within", "accuracy_beyond", "accuracy_many_ones")
LIMITS = {"parity": ("up to 20 bits", "up to 40 bits"), "addition": ("up to 3 digits", "up to 50 digits")}
SCAN = ("scan", "scan_shift_reduce")
NOTHING = "·"


def named(title: str) -> list[str]:
    """`8, own, relative` of `8 layers, own weights, relative`."""
    return title.replace(" layers", "").replace(" weights", "").split(", ")


def parity_quick() -> str:
    """Small networks taught parity end to end; both seeds in brackets."""

    def cells(row: dict[str, Any]) -> Iterator[str]:
        layers, weights, positions = named(row["row"])
        yield from (f"{row['network_layers']} for {layers}", weights, positions, f"{row['updates']:,}")
        for measure in (row[name] for name in MEASURES):
            low, high = measure["seeds"]
            yield from (f"{measure['ours']:.0f}% ({low:.0f}–{high:.0f})", f"{measure['paper']}%")

    head = [
        "layers",
        "weights",
        "positions",
        "updates",
        "up to 6 bits",
        "paper",
        "longer",
        "paper",
        "more ones",
        "paper",
    ]
    return markdown(head, [[*cells(row)] for row in stored("parity-end-to-end-quick")["rows"]])


def parity() -> str:
    """The paper's networks taught parity end to end, one seed each."""
    content = stored("parity-end-to-end")

    def cells(row: dict[str, Any]) -> Iterator[str]:
        training = content["history"][row["row"]]["accuracy"][-1]
        yield from (*named(row["row"]), f"{row['updates']:,}", f"{100 * training:.1f}%")
        for measure in (row[name] for name in MEASURES):
            yield from (f"{measure['ours']:.1f}%", f"{measure['paper']}%")

    head = ["layers", "weights", "positions", "updates", "training words"]
    head += ["length ≤ 20", "paper", "length > 20", "paper", "ones > 20", "paper"]
    return markdown(head, [[*cells(row)] for row in content["rows"]])


def scan() -> str:
    """Cells of ALTA's Table 6, one seed each."""

    def cells(cell: dict[str, Any]) -> list[str]:
        _, weights, positions, layers = named(cell["cell"])
        shares = (f"{cell['training_match']:.0f}%", f"{cell['ours']:.1f}%", f"{cell['paper']}%")
        return [layers, weights, positions, f"{cell['updates']:,}", *shares]

    head = ["layers", "weights", "positions", "updates", "training", "test", "paper"]
    return markdown(head, [cells(cell) for cell in stored("scan-end-to-end")["cells"]])


def agreed(row: dict[str, Any]) -> str:
    return "all" if row["generalises"] else f"{row['agree']:,} of {row['test']:,}"


def minimal_programs() -> str:
    """Minimal versions of programs whose inputs are ranges of lengths."""

    def cells(row: dict[str, Any]) -> list[str]:
        trained, tested = LIMITS[row["program"].partition("_")[0]]
        paper = "" if row["paper_rules"] is None else f"{row['paper_rules']:,}"
        rules = (f"{row['minimal_rules']:,}", paper, f"{row['rules']:,}")
        return [
            f"`{row['program']}`",
            f"{trained}: {row['train']:,}",
            *rules,
            f"{tested}: {row['test']:,}",
            agreed(row),
        ]

    head = ["program", "training inputs", "minimal rules", "ALTA's", "of", "test inputs", "right"]
    return markdown(head, [cells(row) for row in stored("minimal-programs")["programs"]])


def splits() -> str:
    """Minimal versions of both SCAN programs, split by split."""
    rows = stored("minimal-programs")["scan"]
    rules = {row["program"]: row["rules"] for row in rows}

    def cells(split: str) -> Iterator[str]:
        found = {row["program"]: row for row in rows if row["split"] == split}
        first, far = found["scan"], found["scan"]["divergences"]
        yield from (f"`{split}`", f"{first['train']:,}", f"{far['atom']:.3f}", f"{far['compound']:.3f}")
        for program in SCAN:
            row = found.get(program)
            yield from ("", "") if row is None else (f"{row['minimal_rules']:,}", agreed(row))

    head = ["split", "different training commands", "atom", "compound"]
    head += [cell for program in SCAN for cell in (f"`{program}`: rules of {rules[program]:,}", "right")]
    return markdown(head, [[*cells(split)] for split in dict.fromkeys(row["split"] for row in rows)])


def rules_and_layers() -> str:
    def cells(row: dict[str, Any]) -> list[str]:
        layers = ", ".join(f"{count} at {length}" for length, count in row["layers"].items())
        counts = (f"{row['rules']:,}", f"{row['minimal_rules']:,}", f"{row['longest']}")
        return [f"`{row['program']}`", *counts, layers]

    head = ["program", "rules", "minimal", "up to length", "layers"]
    return markdown(head, [cells(row) for row in stored("simplicity-bias")["programs"]])


def supervision() -> str:
    """ALTA's Table 2: the mean of the seeds, with the lowest and the highest."""
    content = stored("parity-trace-supervision")

    def cells(name: str, row: dict[str, Any]) -> list[str]:
        taught = (
            f"{np.mean(values):.1f}% ({min(values):.1f}–{max(values):.1f})"
            for values in row["taught"]["table"].values()
        )
        minimal = ", ".join(f"{values[0]:.0f}" for values in row["minimal"]["table"].values())
        return [name, *taught, minimal, ", ".join(map(str, content["paper"][name].values()))]

    head = ["program", "length ≤ 20", "length > 20", "ones > 20", "minimal version", "ALTA"]
    return markdown(head, [cells(*item) for item in content["rows"].items()])


def hints() -> str:
    """Seeds that generalise, mean accuracy beyond the training lengths, and share of the trace, by kind of hint."""
    content = stored("hints-for-transformers")["generalisation"]
    found = {
        program: {(row["kind"], row["density"], row["strength"]): row for row in rows}
        for program, rows in content.items()
    }

    def cell(row: dict[str, Any] | None) -> str:
        if row is None:
            return NOTHING
        return f"{row['generalise']}, {100 * np.mean(row['beyond']):.0f}%, {np.mean(row['trace']):.2f}"

    settings = dict.fromkeys(setting for rows in found.values() for setting in rows)
    lines = [
        [kind, *(("", "") if kind == "none" else (f"{density:g}", f"{strength:g}"))]
        + [cell(rows.get((kind, density, strength))) for rows in found.values()]
        for kind, density, strength in settings
    ]
    return markdown(["hints", "density", "λ", *(f"`{program}`" for program in found)], lines)


def everywhere() -> str:
    """Seeds that generalise where the output is asked for at every position."""
    runs = stored("transformers-taught")["runs"]
    kinds = [("none", None), *((kind, density) for kind in ("full", "scattered", "ends") for density in (1, 0.1, 0.01))]

    def cell(task: str, longest: int, kind: str, density: float | None) -> str:
        asked = (task, longest, kind, density)
        found = [r["generalises"] for r in runs if (r["task"], r["longest"], r["hints"], r["density"]) == asked]
        return str(sum(found)) if found else NOTHING

    head = [
        "program",
        "trained up to",
        *(kind if density is None else f"{kind} {density:g}" for kind, density in kinds),
    ]
    subjects: Sequence[tuple[str, int]] = [*dict.fromkeys((run["task"], run["longest"]) for run in runs)]
    subjects = sorted(subjects, key=lambda subject: (ORDER.index(subject[0]), subject[1]))
    return markdown(head, [[f"`{t}`", f"{n} bits", *(cell(t, n, *kind) for kind in kinds)] for t, n in subjects])


ORDER = ("parity_relative", "parity_absolute", "parity_sum_modulo")
TABLES: dict[str, Callable[[], str]] = {
    "parity end to end, small": parity_quick,
    "parity end to end": parity,
    "SCAN end to end": scan,
    "minimal programs": minimal_programs,
    "minimal programs, SCAN": splits,
    "rules and layers": rules_and_layers,
    "trace supervision": supervision,
    "hints for Transformers": hints,
    "asked at every position": everywhere,
}
