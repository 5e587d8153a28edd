"""The paper's numbers beside ours for claims of `kleene reproduce`, computed from the JSON files of this folder.

`python docs/results/generate.py` writes them into src/kleene/experiments/numbers.toml. A claim that no file has numbers
of is not among them. Brackets behind a number of ours are its 95% interval, or the lowest and highest seed.
"""

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from rule_tables import (  # these three lie beside this file
    at_test,
    bracketed,
    conditions,
    epoch_of,
    last,
    mastered,
    mastered_in_each,
)
from tables import AS_THE_PAPER, HEADS, NRAM, baseline, hinted, share, sharpness, stored
from word_tables import FEW, words

from kleene.experiments import nram_runs
from kleene.experiments.english_report import signed, strata_means, told
from kleene.experiments.partial_traces import NTM as NTM_FIGURES
from kleene.experiments.resampling import interval_over
from kleene.experiments.word_pairs import CLASSES

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


def brackets() -> Numbers:
    """DyckWords, figure 9c: its grid asked online and after the word, and readings with all hints at another λ."""
    grid, after = heads("figure-9c-dyck_words-online"), heads("figure-9c-dyck_words")
    content = stored("dyck-readings")
    told = []
    for reading, kinds in content["choices"].items():
        counts = ", ".join(f"{kind} {found['generalised']}" for kind, found in kinds.items())
        told.append(f"{reading}: {counts}")
    plan = content["plans"][0]
    seeds, strength = len(plan["seeds"]), max(setting["strength"] for setting in plan["settings"])
    paper = ", ".join(f"{kind} {cell:g}%" for kind, cell in content["paper"].items())
    ours = f"readings, λ = {strength:g}, {plan['iterations']:,} updates, of {seeds} seeds: {listed(told)}"
    asked = f"{grid['ours']} (online); {after['ours'].removeprefix(ALL_HINTS)} (after the word); {ours}"
    return {"paper": f"{grid['paper']}; with λ = {strength:g}: {paper}", "ours": asked}


def not_yet() -> Numbers:
    """Figure 9e, whose grid has not been run: the cells with all hints and λ = 1, as far as figure 4 has them."""
    figure = NTM_FIGURES["repeat_flip_3d"]
    place = figure.columns.index((1.0, 1.0))
    cells = (f"{kind} {'unreadable' if row[place] is None else f'{row[place]}%'}" for kind, row in figure.rows.items())
    content = stored("figure-4")
    rows = [row for row in content["settings"] if row["task"] == "repeat_flip_3d"]
    ours = (f"{row['hints']} {share(row['generalised'], row['seeds'], row['interval'])}" for row in rows)
    return {
        "paper": f"{ALL_HINTS}no hints {figure.baseline:g}%; {listed(cells)}",
        "ours": f"after {content['plans'][0]['iterations']:,} updates: {listed(ours)}",
    }


def added() -> Numbers:
    """Figure 4; the paper has bars without numbers."""
    content = stored("figure-4")
    rows: dict[str, list[str]] = {}
    for row in content["settings"]:
        cell = share(row["generalised"], row["seeds"], row["interval"])
        rows.setdefault(row["task"], []).append(f"{row['hints']} {cell}")
    seeds = content["settings"][0]["seeds"]
    told = listed(f"{task} {', '.join(kinds)}" for task, kinds in rows.items())
    updates = content["plans"][0]["iterations"]
    return {"ours": f"of {seeds} seeds generalise after {updates:,} updates: {told}"}


def peaks() -> Numbers:
    content = stored("figure-9d-flip_3rd")
    found = {kind: sharpness(content, kind) for kind in HEADS}
    told = ", ".join(f"{kind} {peak:.2f}" for kind, peak in found.items() if peak is not None)
    return {"ours": f"largest weight of the reading head on Flip3rd: {told}"}


def errors(task: str, variant: str = "-stated") -> Numbers:
    """Errors of an NRAM by kind of hint, in %; ours is a mean over seeds, with the share of them that generalise."""
    content = stored(f"figure-12-{task}{variant}")
    rows = {row["hints"]: share(row["generalised"], row["seeds"], row["interval"]) for row in content["settings"]}
    seeds = content["settings"][0]["seeds"]
    ours = listed(f"{k} {v:.1f}, generalise {rows[k]}" for k, v in content["errors"].items())
    paper = (f"{k} {v:.1f}" for k, v in content["paper"].items())
    return {"paper": ERRORS + listed(paper), "ours": f"{ERRORS}{ours}; of {seeds} seeds"}


def all_errors() -> Numbers:
    """Errors of NRAMs with full traces, task by task."""
    contents = {title: stored(f"figure-12-{task}-stated") for title, task in NRAM.items()}
    so = {title: stored(f"figure-12-{NRAM[title]}")["errors"] for title in AS_THE_PAPER}
    paper, ours = (
        listed(f"{title} {found[whose]['full']:.1f}" for title, found in contents.items())
        for whose in ("paper", "errors")
    )
    trained = listed(f"{title} {found['full']:.1f}" for title, found in so.items())
    head = "errors in % with full traces: "
    return {"paper": head + paper, "ours": f"{head}{ours} (stated); {trained} (as the paper trains)"}


def completed() -> Numbers:
    """Runs that completed, task by task; the paper does not say how many were begun."""
    paper = listed(f"{title} {sum(nram_runs.COMPLETED[task].values())}" for title, task in NRAM.items())
    ours = []
    for title, task in NRAM.items():
        found = [nram_runs.completed_of_begun(stored(f"figure-12-{task}-stated"))]
        found += [nram_runs.completed_of_begun(stored(f"figure-12-{task}"))] if title in AS_THE_PAPER else []
        ours.append(f"{title} {' and '.join('{} of {}'.format(*one) for one in found)}")
    told = f"runs completed, stated and where it was run as the paper trains: {listed(ours)}"
    return {"paper": f"runs completed: {paper}", "ours": told}


def training_times() -> Numbers:
    """How long training took with full traces beside no hints: the paper's seconds, our updates."""
    paper, ours = [], []
    for title in (title for title in AS_THE_PAPER if NRAM[title] in nram_runs.SECONDS):
        seconds, updates = nram_runs.SECONDS[NRAM[title]], nram_runs.updates(stored(f"figure-12-{NRAM[title]}"))
        paper.append(f"{title} {seconds['full']:,.0f} s, without hints {seconds['none']:,.0f} s")
        ours.append(f"{title} {updates['full']:.0f} updates, without hints {updates['none']:.0f}")
    return {"paper": f"full traces: {listed(paper)}", "ours": f"full traces: {listed(ours)}; means over 20 seeds"}


def merge() -> Numbers:
    """Figure 18 at its quick size: errors in % by difficulty, with intervals over runs."""
    told = []
    for name, row in stored("figure-18")["errors"].items():
        cells = zip(row["difficulty"], row["wrong"], row["low"], row["high"])
        shown = ", ".join(f"{size}: {wrong:.0f} ({low:.0f}–{high:.0f})" for size, wrong, low, high in cells)
        told.append(f"{name}, {row['runs']} runs, {shown}")
    paper = "neither learns it perfectly, and the NRAM generalises better; no numbers but 38 and 20 runs"
    return {"paper": paper, "ours": f"% wrong at difficulty: {listed(told)}"}


def deviations() -> Numbers:
    """Errors by what differs from the paper's training, Increment at the quick size."""
    content = stored("nram-deviations")
    seeds = content["settings"][0]["seeds"]

    def kinds(found: dict[str, float]) -> str:
        return ", ".join(f"{kind} {error:.1f}" for kind, error in found.items())

    ours = listed(f"{title}: {kinds(found)}" for title, found in content["errors"]["increment"].items())
    return {"paper": ERRORS + kinds(content["paper"]["increment"]), "ours": f"{ERRORS}{ours}; {seeds} seeds each"}


def curves(measure: str, *, title: str, place: int | None = None) -> Numbers:
    """What a measure of the rules has come to at the last test, condition by condition."""
    content = stored("rules")
    key = f"{measure}, i = {place}" if place is not None else measure
    found = (f"{name} {bracketed(content, last(content, c, measure, place))}" for name, c in conditions(content))
    return {"paper": content["paper"][key], "ours": f"{title}: {listed(found)}"}


def earlier() -> Numbers:
    """When the rule is learned: by the mean, and by the first and the last corpus, or seed of a single corpus."""
    content, epochs = stored("rules"), []
    for name, c in conditions(content):
        each = sorted(mastered_in_each(content, c), key=lambda test: np.inf if test is None else test)
        first, latest = epoch_of(content, each[0]), epoch_of(content, each[-1])
        epochs.append(f"{name} {epoch_of(content, mastered(c))} ({first}–{latest})")
    return {"paper": content["paper"]["omega_in"], "ours": f"epoch at which P(ω) passes one half: {listed(epochs)}"}


def both(*makers: Callable[[], Numbers]) -> Numbers:
    """The numbers of a figure that has several panels."""
    found = [maker() for maker in makers]
    return {key: listed(numbers[key] for numbers in found) for key in ("paper", "ours")}


def at_the_logits() -> Numbers:
    """Interdependence of open symbol and conduit at the logits, at the quick size, with intervals over corpora."""
    content = stored("rules-quick")
    told = []
    for name, measures in content["last"].items():
        found = measures["interdependence_logits_in"]
        low, high = found["over_corpora"]
        told.append(f"{name} {found['mean']:.2f} ({low:.2f}–{high:.2f})")
    ours = (
        f"interdependence at the logits: {listed(told)}; intervals over {content['corpora']} corpora of the quick size"
    )
    return {"paper": content["paper"]["interdependence_in"], "ours": ours}


def logits_by_distance() -> Numbers:
    """Interdependence at the logits by distance in the sentence, in the networks of the quick size."""
    content = stored("english-quick")
    rows = [row for row in content["measures"]["logits"]["trained"]["distance"] if row["distance"] in (1, 2, 4, 8)]
    told = listed(f"{row['distance']} apart {row['mean']:.3f}{_ends(row)}" for row in rows)
    return {"paper": content["paper"]["distance"], "ours": f"{told}; {_networks(content)} of the quick size"}


def logits_by_edges() -> Numbers:
    """Rank correlations of interdependence at the logits with edges of the tree, by classes of the words."""
    content = stored("english-quick")
    told = []
    for group in ("trained", "untrained"):
        trends = content["measures"]["logits"][group]["syntax_trends"]
        for classes in CLASSES:
            found = [row["networks"] for row in trends if row["classes"] == classes and row["correlation"] is not None]
            means = np.mean(found, axis=0)
            ends, between = (interval_over(means), " to ") if len(means) > FEW else (means, " and ")
            brackets = between.join(signed(end, 2) for end in ends)
            told.append(f"{group}, {classes} {signed(float(means.mean()), 2)} ({brackets})")
    which = f"{_networks(content)} of the quick size"
    ours = f"rank correlation with edges, mean over distances: {listed(told)}; {which}"
    return {"paper": content["paper"]["syntax"], "ours": ours}


def climbing() -> Numbers:
    """P(ω) by α alone and by α and the whole scaffold of eight tokens, as the rule is mastered."""
    content, told = stored("rules"), []
    for name, c in conditions(content):
        test = mastered(c)
        if name.startswith("k=8") and test is not None:
            found = at_test(content, c["omega_by_prefix_in"], test)
            alone, every = (bracketed(content, found[:, token]) for token in (0, -1))
            told.append(f"{name} {alone} by α alone, {every} by all")
    return {"paper": content["paper"]["omega_by_prefix, k = 8"], "ours": listed(told)}


def gradients() -> Numbers:
    content, told = stored("rules"), []
    sixth = int(np.argmin(np.abs(np.array(content["curves"]["epochs"]) - 6)))
    for name, c in conditions(content):
        found = np.nanmean(c["gradient_in"], axis=2)  # NaN past the end of a short scaffold
        early, late = (bracketed(content, at_test(content, found, test)) for test in (sixth, -1))
        told.append(f"{name} {early} and {late}")
    after = f"after {epoch_of(content, sixth)} and {epoch_of(content, -1)} epochs"
    return {"paper": content["paper"]["gradient_in"], "ours": f"{after}: {listed(told)}"}


def frequency() -> Numbers:
    """What α and the scaffold contribute to P(ω), by length and number of rules."""
    content = stored("rule-frequency")
    told = []
    for name, c in conditions(content):
        alpha = bracketed(content, last(content, c, "omega_by_prefix_out", 0))
        scaffold = last(content, c, "omega_by_scaffold_out").mean()
        told.append(f"{name} {alpha}, by the scaffold {scaffold:.4f}")
    paper = (
        f"by α: {content['paper']['omega_by_prefix_out, i = 0']}",
        f"by the scaffold: {content['paper']['omega_by_scaffold_out']}",
    )
    return {"paper": listed(paper), "ours": f"P(ω) by α alone: {listed(told)}"}


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
EARLIER: dict[str, Callable[[], Numbers]] = {
    "earlier-figure-3": partial(both, RULES["compose-figure-7a"], RULES["compose-figure-7b"]),
    "earlier-figure-4": RULES["compose-figure-8"],
    "earlier-figure-5": climbing,
    "earlier-figure-6": at_the_logits,
    "earlier-figure-8": logits_by_distance,
    "earlier-figure-9": logits_by_edges,
    "earlier-figure-10": frequency,
}
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
    "traces-figure-1": peaks,
    "traces-figure-4": added,
    "traces-figure-5": partial(heads, "figure-9d-flip_3rd"),
    "traces-figure-6": peaks,
    "traces-figure-7": partial(errors, "permute_noise", ""),
    "traces-figure-9a": partial(heads, "figure-9a-copy"),
    "traces-figure-9b": partial(heads, "figure-9b-repeat_copy_twice"),
    "traces-figure-9c": brackets,
    "traces-figure-9d": partial(heads, "figure-9d-flip_3rd"),
    "traces-figure-9e": not_yet,
    "traces-figure-10": completed,
    "traces-figure-11": training_times,
    "traces-figure-12": all_errors,
    "traces-figure-13": partial(errors, "swap", ""),
    "traces-figure-14": partial(errors, "increment", ""),
    "traces-figure-15": partial(errors, "permute", ""),
    "traces-figure-16": partial(errors, "list_k", ""),
    "traces-figure-17": partial(errors, "merge"),
    "traces-figure-18": merge,
    "compose-figure-3": partial(distances, "english"),
    "compose-figure-4": partial(correlations, "syntax", "edges"),
    "compose-frequency": partial(correlations, "frequency", "frequency"),
    **RULES,
    **EARLIER,
    "ours-states": states,
    "ours-hints-for-transformers": hints,
    "ours-simplicity-bias": simplicity,
    "ours-english-grammar": partial(distances, "english-grammar"),
    "ours-interactions": interactions,
    "ours-nram-deviations": deviations,
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
