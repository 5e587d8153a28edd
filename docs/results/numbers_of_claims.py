"""The paper's numbers beside ours for claims of `kleene reproduce`, computed from the JSON files of this folder.

`python docs/results/generate.py` writes them into src/kleene/experiments/numbers.toml. A claim that no file has numbers
of is not among them. Brackets behind a number of ours are its 95% interval, or the lowest and highest seed.
"""

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from rule_tables import bracketed, conditions, epoch_of, last, mastered  # these three lie beside this file
from tables import HEADS, NRAM, baseline, hinted, share, sharpness, stored
from word_tables import FEW, words

from kleene.experiments.english_report import strata_means, told
from kleene.experiments.partial_traces import NTM as NTM_FIGURES

RIGHT = "right in % up to 20 bits / longer / more than 20 ones: "
ERRORS = "errors in %: "
ALL_HINTS = "runs that generalise with all hints and λ = 1: "
Numbers = dict[str, str]  # `paper` and `ours`, or one of them
MEASURES = ("accuracy_within", "accuracy_beyond", "accuracy_many_ones")
ENDS = {"omega_in": "P(ω), known scaffolds", "omega_out": "P(ω), random scaffolds"}
STATES = ("tomita_3-rnn", "tomita_4-rnn", "tomita_5-rnn", "tomita_7-rnn", "tomita_5-lstm")


def listed(parts: Iterable[str]) -> str:
    return "; ".join(parts)


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
    """From how many ones on the network of Table 3's first row says the same to every word."""
    content = stored("parity-end-to-end")
    said = content["settings"][0]["prediction_by_ones"]
    first = max((ones for ones, mean in enumerate(said) if mean != said[-1]), default=-1) + 1
    assert said[-1] in (0, 1)
    return {"ours": f"{content['rows'][0]['row']}: {said[-1]:.0f} to every word with {first} ones or more; one seed"}


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


def heads(name: str) -> Numbers:
    """A grid of Partial Traces, figure 9: the runs without hints, and those with all hints and λ = 1."""
    content = stored(name)
    paper = content["paper"]
    place, bare = paper["columns"].index([1.0, 1.0]), paper["baseline"]
    first = baseline(content)
    ours = [f"no hints {share(first['generalised'], first['seeds'], first['interval'])}"]
    theirs = [f"no hints {'not printed' if bare is None else f'{bare:g}%'}"]
    for kind, row in paper["rows"].items():
        theirs.append(f"{kind} {'unreadable' if row[place] is None else f'{row[place]:g}%'}")
        cell = next(r for r in hinted(content, kind) if (r["density"], r["strength"]) == (1, 1))
        ours.append(f"{kind} {share(cell['generalised'], cell['seeds'], cell['interval'])}")
    return {"paper": ALL_HINTS + listed(theirs), "ours": ALL_HINTS + listed(ours)}


def not_yet() -> Numbers:
    """Figure 9e, whose grid has not been run: the cells with all hints and λ = 1, as far as figure 4 has them."""
    figure = NTM_FIGURES["repeat_flip_3d"]
    place = figure.columns.index((1.0, 1.0))
    cells = (f"{kind} {'unreadable' if row[place] is None else f'{row[place]}%'}" for kind, row in figure.rows.items())
    rows = [row for row in stored("figure-4")["settings"] if row["task"] == "repeat_flip_3d"]
    ours = (f"{row['hints']} {share(row['generalised'], row['seeds'], row['interval'])}" for row in rows)
    return {
        "paper": f"{ALL_HINTS}no hints {figure.baseline:g}%; {listed(cells)}",
        "ours": f"after 16,000 of 100,000 updates: {listed(ours)}",
    }


def added() -> Numbers:
    """Figure 4; the paper has bars without numbers."""
    content = stored("figure-4")
    rows: dict[str, list[str]] = {}
    for row in content["settings"]:
        rows.setdefault(row["task"], []).append(f"{row['hints']} {row['generalised']}")
    seeds = content["settings"][0]["seeds"]
    told = listed(f"{task} {', '.join(kinds)}" for task, kinds in rows.items())
    return {"ours": f"seeds of {seeds} that generalise: {told}"}


def peaks() -> Numbers:
    content = stored("figure-9d-flip_3rd")
    found = {kind: sharpness(content, kind) for kind in HEADS}
    told = ", ".join(f"{kind} {peak:.2f}" for kind, peak in found.items() if peak is not None)
    return {"ours": f"largest weight of the reading head on Flip3rd: {told}"}


def errors(task: str, variant: str = "-stated") -> Numbers:
    """Errors of an NRAM by kind of hint, in %; ours is a mean over seeds, with how many of them generalise."""
    content = stored(f"figure-12-{task}{variant}")
    counts = {row["hints"]: (row["generalised"], row["seeds"]) for row in content["settings"]}
    ours = (f"{k} {v:.1f} ({counts[k][0]} of {counts[k][1]} generalise)" for k, v in content["errors"].items())
    paper = (f"{k} {v:.1f}" for k, v in content["paper"].items())
    return {"paper": ERRORS + listed(paper), "ours": ERRORS + listed(ours)}


def all_errors() -> Numbers:
    """Errors of NRAMs with full traces, task by task."""
    contents = {title: stored(f"figure-12-{task}-stated") for title, task in NRAM.items()}
    paper, ours = (
        listed(f"{title} {found[whose]['full']:.1f}" for title, found in contents.items())
        for whose in ("paper", "errors")
    )
    return {"paper": f"errors in % with full traces: {paper}", "ours": f"errors in % with full traces: {ours}"}


def curves(measure: str, *, title: str, place: int | None = None) -> Numbers:
    """What a measure of the rules has come to at the last test, condition by condition."""
    content = stored("rules")
    key = f"{measure}, i = {place}" if place is not None else measure
    found = (f"{name} {bracketed(content, last(content, c, measure, place))}" for name, c in conditions(content))
    return {"paper": content["paper"][key], "ours": f"{title}: {listed(found)}"}


def earlier() -> Numbers:
    content = stored("rules")
    epochs = listed(f"{name} {epoch_of(content, mastered(c))}" for name, c in conditions(content))
    return {"paper": content["paper"]["omega_in"], "ours": f"epoch at which P(ω) passes one half: {epochs}"}


def climbing() -> Numbers:
    """P(ω) by α alone and by α and the whole scaffold of eight tokens, as the rule is mastered."""
    content, told = stored("rules"), []
    for name, c in conditions(content):
        test = mastered(c)
        if name.startswith("k=8") and test is not None:
            found = c["omega_by_prefix_in"][test].mean(axis=0)
            told.append(f"{name} {found[0]:.2f} by α alone, {found[-1]:.2f} by all")
    return {"paper": content["paper"]["omega_by_prefix, k = 8"], "ours": listed(told)}


def gradients() -> Numbers:
    content, told = stored("rules"), []
    sixth = int(np.argmin(np.abs(np.array(content["curves"]["epochs"]) - 6)))
    for name, c in conditions(content):
        found = np.nanmean(c["gradient_in"], axis=(1, 2))  # NaN past the end of a short scaffold
        told.append(f"{name} {found[sixth]:.2f} and {found[-1]:.2f}")
    after = f"after {epoch_of(content, sixth)} and {epoch_of(content, -1)} epochs"
    return {"paper": content["paper"]["gradient_in"], "ours": f"{after}: {listed(told)}"}


def frequency() -> Numbers:
    content = stored("rule-frequency")
    parts = {name: last(content, found, "omega_by_prefix_out", 0) for name, found in conditions(content)}
    found = listed(f"{name} {bracketed(content, values)}" for name, values in parts.items())
    return {"paper": content["paper"]["omega_by_prefix_out, i = 0"], "ours": f"P(ω) by α alone: {found}"}


def distances(name: str) -> Numbers:
    content = words(name)
    rows = [row for row in content["measures"]["hidden"]["trained"]["distance"] if row["distance"] in (1, 2, 4, 8)]
    means = listed(f"{row['distance']} apart {row['mean']:.3f}{_ends(row)}" for row in rows)
    return {"paper": content["paper"]["distance"], "ours": f"{means}; {_networks(content)}"}


def _ends(row: dict[str, Any]) -> str:
    """The interval over networks in brackets, or the values of two, whose interval would say nothing."""
    networks = row.get("networks", [])
    if len(networks) <= FEW:
        return " ({:.3f} and {:.3f})".format(*networks) if networks else ""
    return " ({:.3f}–{:.3f})".format(*row["over_networks"])


def _networks(content: Any) -> str:
    known = {1: "one network", 2: "two networks"}
    return known.get(content["networks"], f"intervals over {content['networks']} networks")


def correlations(column: str, with_what: str) -> Numbers:
    """Rank correlations with edges of the tree or with frequency, the mean over strata."""
    content = words("english")
    trends = content["measures"]["hidden"]["trained"][f"{column}_trends"]
    below = sum(row["correlation"] < 0 for row in trends if row["correlation"] is not None)
    mean = f"{told(strata_means(trends))} in the mean over strata, below 0 in {below} of {len(trends)}"
    return {
        "paper": content["paper"][column],
        "ours": f"rank correlation with {with_what} {mean}; {_networks(content)}",
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


RULES: dict[str, Callable[[], Numbers]] = {
    "compose-figure-7a": earlier,
    "compose-figure-7b": partial(curves, "omega_out", title=ENDS["omega_out"]),
    "compose-figure-8": partial(curves, "omega_by_prefix_out", title="P(ω) by α alone, random scaffolds", place=0),
    "compose-figure-9": climbing,
    "compose-figure-10": partial(curves, "interdependence_in", title="DI(α, scaffold)"),
    "compose-figure-11": frequency,
    "compose-figure-12": gradients,
    "earlier-figure-11": gradients,
}
NUMBERS: dict[str, Callable[[], Numbers]] = {
    "alta-figure-4": supervision,
    "alta-table-2": supervision,
    "alta-figure-5": parity,
    "alta-table-3": parity,
    "alta-figure-9": parity,
    "alta-figure-10": parity,
    "alta-figure-11": one_answer,
    "alta-figures-16-17": whole_scan,
    "alta-table-6": scan,
    "alta-figure-18": scan,
    "alta-section-4": minimal,
    "traces-figure-1": peaks,
    "traces-figure-4": added,
    "traces-figure-5": partial(heads, "figure-9d-flip_3rd"),
    "traces-figure-6": peaks,
    "traces-figure-7": partial(errors, "permute_noise"),
    "traces-figure-9a": partial(heads, "figure-9a-copy"),
    "traces-figure-9b": partial(heads, "figure-9b-repeat_copy_twice"),
    "traces-figure-9c": partial(heads, "figure-9c-dyck_words"),
    "traces-figure-9d": partial(heads, "figure-9d-flip_3rd"),
    "traces-figure-9e": not_yet,
    "traces-figure-12": all_errors,
    "traces-figure-13": partial(errors, "swap", ""),
    "traces-figure-14": partial(errors, "increment", ""),
    "traces-figure-15": partial(errors, "permute"),
    "traces-figure-16": partial(errors, "list_k"),
    "traces-figure-17": partial(errors, "merge"),
    "compose-figure-3": partial(distances, "english"),
    "compose-figure-4": partial(correlations, "syntax", "edges"),
    "compose-frequency": partial(correlations, "frequency", "frequency"),
    **RULES,
    "ours-states": states,
    "ours-hints-for-transformers": hints,
    "ours-simplicity-bias": simplicity,
    "ours-english-grammar": partial(distances, "english-grammar"),
    "ours-interactions": interactions,
}


def written() -> str:
    """The content of numbers.toml."""
    lines = ["# Written by `python docs/results/generate.py` from the stored results; do not edit."]
    for name, numbers in NUMBERS.items():
        told: dict[str, Any] = numbers()
        lines += ["", f"[{name}]", *(f"{key} = {json.dumps(told[key], ensure_ascii=False)}" for key in told)]
    return "\n".join(lines) + "\n"
