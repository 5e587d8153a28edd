"""The numbers of claims of "Training Neural Machines with Partial Traces"; `numbers_of_claims.py` has all."""

from collections.abc import Callable
from functools import partial

from number_words import Numbers, listed  # these two lie beside this file
from tables import AS_THE_PAPER, HEADS, NRAM, baseline, hinted, share, sharpness, some_right, stored

from kleene_papers.traces import nram_runs

ERRORS = "errors in %: "
ALL_HINTS = "runs that generalise with all hints and λ = 1: "


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
    """Figure 18: errors in % by difficulty, and how many runs are right on some memory."""
    told = []
    for name, row in stored("figure-18")["errors"].items():
        cells = zip(row["difficulty"], row["wrong"], some_right(row))
        shown = ", ".join(f"{size}: {wrong:.0f} ({right})" for size, wrong, right in cells)
        told.append(f"{name}, {row['runs']} runs, {shown}")
    paper = "neither learns it perfectly, and the NRAM generalises better; no numbers but 38 and 20 runs"
    return {"paper": paper, "ours": f"% wrong at difficulty, and runs that are right on some memory: {listed(told)}"}


def deviations() -> Numbers:
    """Errors by what differs from the paper's training, in Increment."""
    content = stored("nram-deviations")
    seeds = content["settings"][0]["seeds"]

    def kinds(found: dict[str, float]) -> str:
        return ", ".join(f"{kind} {error:.1f}" for kind, error in found.items())

    ours = listed(f"{title}: {kinds(found)}" for title, found in content["errors"]["increment"].items())
    return {"paper": ERRORS + kinds(content["paper"]["increment"]), "ours": f"{ERRORS}{ours}; {seeds} seeds each"}


NUMBERS: dict[str, Callable[[], Numbers]] = {
    "traces-figure-1": peaks,
    "traces-figure-4": added,
    "traces-figure-5": partial(heads, "figure-9d-flip_3rd"),
    "traces-figure-6": peaks,
    "traces-figure-7": partial(errors, "permute_noise", ""),
    "traces-figure-9a": partial(heads, "figure-9a-copy"),
    "traces-figure-9b": partial(heads, "figure-9b-repeat_copy_twice"),
    "traces-figure-9c": brackets,
    "traces-figure-9d": partial(heads, "figure-9d-flip_3rd"),
    "traces-figure-9e": partial(heads, "figure-9e-repeat_flip_3d"),
    "traces-figure-10": completed,
    "traces-figure-11": training_times,
    "traces-figure-12": all_errors,
    "traces-figure-13": partial(errors, "swap", ""),
    "traces-figure-14": partial(errors, "increment", ""),
    "traces-figure-15": partial(errors, "permute", ""),
    "traces-figure-16": partial(errors, "list_k", ""),
    "traces-figure-17": partial(errors, "merge", ""),
    "traces-figure-18": merge,
    "ours-nram-deviations": deviations,
}
