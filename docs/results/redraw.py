"""The pictures of this folder from the numbers in its JSON files. `python docs/results/generate.py` draws them.

The pictures of figure 12 are not among them, because their files keep the mean over the seeds but not the spread.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import tables  # beside this file

from kleene.pictures.plots import cost_curves, grouped_bars, line_panels
from kleene_papers.alta import hinted_transformers, minimal_programs, simplicity
from kleene_papers.alta import parity_end_to_end as parity
from kleene_papers.alta import scan_end_to_end as scan
from kleene_papers.alta import trace_supervision as supervision
from kleene_papers.interdependence import english_report, rule_curves
from kleene_papers.judged import judged_figure
from kleene_papers.traces import neural_gpu, nram_runs, ntm_choices, partial_traces

HERE = Path(__file__).parent
TABLES = tuple(tables.NTM.values())
LANGUAGES = {"tomita_3": "rnn", "tomita_4": "rnn", "tomita_5": "rnn", "tomita_7": "rnn", "tomita_5 ": "lstm"}


def content_of(name: str) -> Any:
    return json.loads((HERE / f"{name}.json").read_text())


def pictures() -> Iterator[tuple[str, Callable[[Path], Any]]]:
    """The name of each picture, and a function that draws it."""
    for name in ("english", "english-quick", "english-grammar"):
        yield name, partial(english_report.draw, content_of(name))
    for name in ("rules", "rules-quick"):
        yield name, partial(rules, content_of(name), rule_curves.familiarity_panels)
    for name in ("rule-frequency", "rule-frequency-quick"):
        yield name, partial(rules, content_of(name), rule_curves.frequency_panels)
    yield "minimal-programs", partial(minimal_programs.draw, content_of("minimal-programs"))
    yield "simplicity-bias", partial(simplicity.draw, content_of("simplicity-bias"))
    found = content_of("parity-trace-supervision")
    yield "parity-trace-supervision", partial(supervision.draw, found["rows"], title=found["shows"])
    found = content_of("hints-for-transformers")
    judged = found["generalisation"], found["minimal_generalises"]
    yield "hints-for-transformers", partial(hinted_transformers.draw_panels, *judged, title=found["shows"])
    for name in TABLES:
        yield name, partial(reported, partial_traces.draw_table, content_of(name))
    yield "figure-6", sharp_heads
    yield "figure-10", completed_runs
    yield "figure-4", partial(reported, partial_traces.draw_improvements, content_of("figure-4"))
    found = content_of("dyck-readings")
    shares = found["choices"], found["paper"]
    yield "dyck-readings", partial(ntm_choices.draw_readings_of, *shares, title=found["shows"])
    found = content_of("tape-decoders")
    shares = found["choices"], found["paper"]
    yield "tape-decoders", partial(ntm_choices.draw_shares_by_choice, *shares, title=found["shows"])
    found = content_of("figure-18")
    yield "figure-18", partial(neural_gpu.draw_curves, found["errors"], title=found["shows"])
    yield "parity-end-to-end", partial(parity_by_length, content_of("parity-end-to-end"))
    yield "scan-end-to-end", partial(scan_by_layers, content_of("scan-end-to-end"))
    yield "state-hints", state_hints
    yield "interactions", partial(judged_figure.draw, content_of("interactions"))
    yield "circuits", partial(judged_figure.draw_circuits, content_of("circuits"))
    for file, machine in (("2-cores", "2 cores"), ("h200", "H200")):
        title = f"addition in the network, {machine}"
        yield f"growth-{file}", partial(cost_curves, content_of(f"scan-{file}"), title=title)


def rules(content: Any, panels: Callable, path: Path) -> Path:
    return line_panels(panels(content["curves"]), path, title=content["shows"])


def reported(draw: Callable, content: Any, path: Path) -> Path:
    """Draw from the settings in a file, in place of the reports of the runs."""
    reports = [
        SimpleNamespace(settings=list(rows).copy, plan=SimpleNamespace(lesson=SimpleNamespace(name=task)))
        for task, rows in groupby(content["settings"], key=lambda row: row.get("task", ""))
    ]
    return draw(SimpleNamespace(paper=content["paper"], shows=content["shows"]), reports, path)


def sharp_heads(path: Path) -> Path:
    """Draw how sharp the reading head is, with a bar for each task in the group of each kind of hint."""
    found = {
        title: [tables.sharpness(content_of(name), kind) for kind in tables.HEADS] for title, name in tables.NTM.items()
    }
    bars = {title: [0.0 if peak is None else peak for peak in peaks] for title, peaks in found.items()}
    labels = {"across": "kind of hint", "up": "largest weight of the reading head"}
    return grouped_bars(
        [kind.replace("+", "\n+") for kind in tables.HEADS], bars, path, title="how sharp the reading head is", **labels
    )


def completed_runs(path: Path) -> Path:
    """Draw how many of our runs of each task completed."""
    contents = {title: content_of(f"figure-12-{name}-stated") for title, name in tables.NRAM.items()}
    return nram_runs.draw_completed(contents, path, title="runs that completed, of 20")


def parity_by_length(content: Any, path: Path) -> Path:
    """Draw the parity networks, each of one seed, so that the last test is all there is."""
    variants, reports = [], []
    for plan, row in zip(content["plans"], content["settings"]):
        assert row["seeds"] == 1
        lesson, test = plan["lesson"], {name: [row[name]] for name in ("accuracy_by_ones", "prediction_by_ones")}
        test["accuracy_by_length"] = [[*row["accuracy_by_length"].values()]]
        taught = SimpleNamespace(lengths=lesson["lengths"], facts=partial(dict, lesson))
        reports.append(SimpleNamespace(plan=SimpleNamespace(lesson=taught), progress=SimpleNamespace(tests=[test])))
        given = lesson["arguments"]
        positions = "relative" if given["places"] is None else "absolute"
        variants.append(SimpleNamespace(layers=given["layers"], shared=given["shared"], positions=positions))
    shows: Any = SimpleNamespace(shows=content["shows"])
    return parity.draw_parity(variants, shows, reports, path)  # pyright: ignore


def scan_by_layers(content: Any, path: Path) -> Path:
    """Draw the SCAN networks, each of one seed, so that the last test is all there is."""
    cells, reports = [], []
    for row in content["cells"]:
        cells.append(next(cell for cell in scan.CELLS if cell.title == row["cell"]))
        test = {"exact_match": [row["ours"] / 100]}
        reports.append(SimpleNamespace(progress=SimpleNamespace(tests=[test])))
    shows: Any = SimpleNamespace(shows=content["shows"])
    return scan.draw_layers(cells, shows, reports, path)  # pyright: ignore


def state_hints(path: Path) -> Path:
    series, most = {}, 0
    for language, machine in LANGUAGES.items():
        found = content_of(f"state-hints-{language.strip()}-{machine}")
        series[f"{language.strip()}, {machine.upper()}"] = found["examples"]
        (plan,) = found["plans"]
        most = plan["iterations"] * plan["lesson"]["batch"]
    return partial_traces.draw_shares(series, most, path, title="examples until all tests are right")
