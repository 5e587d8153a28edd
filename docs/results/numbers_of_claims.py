"""The paper's numbers beside ours for claims of `kleene reproduce`, computed from the JSON files of this folder.

`python docs/results/generate.py` writes them into numbers.toml of kleene-papers. A claim that no file has numbers
of is not among them. Brackets behind a number of ours are its 95% interval, or the lowest and highest seed. Those of
Partial Traces and of the papers on interdependence have modules of their own; here are ALTA's, ours, and all together.
"""

import json
from collections.abc import Callable
from typing import Any

import numbers_of_traces  # these four lie beside this file
import numbers_of_words
import numpy as np
from number_words import Numbers, listed
from tables import share, stored

RIGHT = "right in % up to 20 bits / longer / more than 20 ones: "
MEASURES = ("accuracy_within", "accuracy_beyond", "accuracy_many_ones")
STATES = ("tomita_3-rnn", "tomita_4-rnn", "tomita_5-rnn", "tomita_7-rnn", "tomita_5-lstm")


def supervision() -> Numbers:
    """ALTA, Table 2: accuracy up to 20 bits, beyond, and with more than 20 ones."""
    content = stored("parity-trace-supervision")
    paper = (f"{name} {'/'.join(f'{v:g}' for v in row.values())}" for name, row in content["paper"].items())

    def cell(values: list[float]) -> str:
        return f"{np.mean(values):.0f} ({min(values):.0f}–{max(values):.0f})"

    ours = (f"{name} {' / '.join(map(cell, row['taught']['table'].values()))}" for name, row in content["rows"].items())
    return {"paper": RIGHT + listed(paper), "ours": RIGHT + listed(ours)}


def parity() -> Numbers:
    """ALTA, Table 3, as far as it was run: one seed a row, so no interval."""
    rows = stored("parity-end-to-end")["rows"]

    def told(whose: str, digits: int) -> str:
        return listed(f"{r['row']} {' / '.join(f'{r[m][whose]:.{digits}f}' for m in MEASURES)}" for r in rows)

    return {"paper": RIGHT + told("paper", 0), "ours": f"{RIGHT}{told('ours', 1)}; one seed each"}


def one_answer() -> Numbers:
    """What networks with relative positions say to words with many ones, in the mean: 0 or 1 is one answer to all."""
    content = stored("parity-end-to-end")
    told = []
    for row, setting in zip(content["rows"], content["settings"]):
        if row["row"].endswith("relative"):
            said = setting["prediction_by_ones"]
            means = ", ".join(f"{ones} ones {said[ones]:.2f}" for ones in (20, 24, 28, 32, 36, len(said) - 1))
            told.append(f"{row['row']}: {means}")
    paper = "slightly past 20 ones, 0 or 1 to every word with as many ones"
    return {"paper": paper, "ours": f"mean answer: {listed(told)}; one seed each"}


def whole_scan() -> Numbers:
    found = {row["what"]: row["ours"] for row in stored("scan-2-cores")}
    right = (found[f"scan_shift_reduce: right in the {where}"] for where in ("interpreter", "network, float32"))
    return {"ours": "right in the interpreter {:,}, in the network {:,} of 20,910 commands".format(*right)}


def scan() -> Numbers:
    """ALTA, Table 6, as far as it was run."""
    cells = stored("scan-end-to-end")["cells"]
    ours = listed(f"{cell['cell']} {cell['ours']:.1f}%" for cell in cells)
    return {"paper": listed(f"{cell['cell']} {cell['paper']}%" for cell in cells), "ours": f"{ours}; one seed each"}


def minimal() -> Numbers:
    """Rules of minimal programs, ALTA's section 4."""
    content = stored("minimal-programs")
    ours = {row["program"]: row["minimal_rules"] for row in content["programs"]}
    paper = content["paper"]["minimal_rules"]
    return {
        "paper": listed(f"{name} {rules:,} rules" for name, rules in paper.items()),
        "ours": listed(f"{name} {ours[name]:,} rules" for name in paper),
    }


def states() -> Numbers:
    """Examples until half of the seeds that got there had every test right, with none and a tenth of the states."""

    def half(needed: list[int | None]) -> str:
        reached = [examples for examples in needed if examples is not None]
        return f"{np.median(reached):,.0f}" if reached else "never"

    told = []
    for name in STATES:
        examples = stored(f"state-hints-{name}")["examples"]
        told.append(f"{name} {half(examples['0'])} without states, {half(examples['10'])} with a tenth")
    return {"ours": f"examples until learned: {listed(told)}"}


def hints() -> Numbers:
    def cell(kind: str, density: float) -> str:
        rows = stored("hints-for-transformers")["generalisation"]["parity_relative"]
        row = next(r for r in rows if (r["kind"], r["density"]) == (kind, density) and r["strength"] in (0, 1))
        return share(row["generalise"], row["seeds"], row["interval"])

    tenth = cell("scattered", 0.1)
    return {"ours": f"no hints {cell('none', 0.0)}; a tenth of the trace {tenth}; all of it {cell('full', 1.0)}"}


def simplicity() -> Numbers:
    found = stored("simplicity-bias")
    return {"ours": f"rank correlation of rules and layers over the library {found['correlation']:.2f}"}


def interactions() -> Numbers:
    """How far interdependence at the hidden state is above nearness of words, in rank correlation with the truth."""
    told = []
    for row in stored("interactions")["verdicts"]:
        if row["measure"] == "di_hidden" and row["lead_language"] is not None:
            middle, low, high = row["lead_language"]
            told.append(f"{row['family']} {middle:+.2f} ({low:+.2f} to {high:+.2f})")
    return {"ours": f"rank correlation above that of nearness: {listed(told)}"}


def kept_algorithms() -> Numbers:
    """By way of teaching: programs that the best of two networks kept, and interchange accuracy, program by program."""
    content = stored("taught-algorithms")
    told = []
    for method in dict.fromkeys(row["method"] for row in content["rows"]):
        rows = [row["best"] for row in content["rows"] if row["method"] == method]
        kept = sum(all(row[what]["right"] == row[what]["pairs"] for what in row) for row in rows)
        shares = [100 * row["interchange"]["right"] / row["interchange"]["pairs"] for row in rows]
        accuracy = f"{min(shares):.0f}–{max(shares):.0f}%" if min(shares) < max(shares) else f"{max(shares):.0f}%"
        told.append(f"{method} {kept} of {len(rows)} programs kept, interchange accuracy {accuracy}")
    return {"paper": content["paper"]["finding"], "ours": listed(told)}


def circuits() -> Numbers:
    """How well methods order true edges before others, ROC, with bootstrapped intervals over networks."""
    told = []
    for row in stored("circuits")["verdicts"]:
        if row["method"] in ("edge_patching", "acdc", "eap"):
            middle, low, high = row["edges_roc"]
            told.append(f"{row['method']}, {row['family']} {middle:.2f} ({low:.2f}–{high:.2f})")
    return {"ours": f"area under the ROC curve of edges: {listed(told)}"}


NUMBERS: dict[str, Callable[[], Numbers]] = {
    "alta-figure-4": supervision,
    "alta-table-2": supervision,
    "alta-figure-5": parity,
    "alta-table-3": parity,
    "alta-figure-9": parity,
    "alta-figure-10": parity,
    "alta-figure-11": one_answer,
    "alta-figure-17": whole_scan,
    "alta-table-6": scan,
    "alta-figure-18": scan,
    "alta-section-4": minimal,
    **numbers_of_traces.NUMBERS,
    **numbers_of_words.NUMBERS,
    "ours-states": states,
    "ours-hints-for-transformers": hints,
    "ours-simplicity-bias": simplicity,
    "ours-interactions": interactions,
    "ours-taught-algorithms": kept_algorithms,
    "ours-circuits": circuits,
}


def written() -> str:
    """The content of numbers.toml."""
    lines = ["# Written by `python docs/results/generate.py` from the stored results; do not edit."]
    for name, numbers in NUMBERS.items():
        told: dict[str, Any] = numbers()
        lines += ["", f"[{name}]", *(f"{key} = {json.dumps(told[key], ensure_ascii=False)}" for key in told)]
    return "\n".join(lines) + "\n"
