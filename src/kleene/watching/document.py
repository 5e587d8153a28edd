"""The document of a page: everything that it shows, as one JSON object. A page decodes nothing else.

The object of version 1:

- `kleene`: "watch"; `version`: 1;
- `view`: which of the page's views shows it ("layers", "states", …); `kind`: the kind of subject, in words;
- `title`, `input`, `answer`, and `facts`, short remarks for the line below;
- `step`: what a step is called ("layer", "symbol"); `first`: the number of the first step that is shown, 0 for the
  start; `steps`: the number of the last step;
- `positions`: a name for each position; `firstPosition`: the number of the first that is shown;
- `runs`: for each run (the program's, the network's) its `source`, whether it `halted`, the name of its `output`, its
  `axes`, the channels, and what the view adds;
- a channel: `name`, `kind` (as in `kleene.traces.channels`), `size`, `labels`, `declared` numbers, whether it is
  `perStep` and has `positions`; and its entries:
    - a category: `column`, the codes; -1 is undefined;
    - a number or set: `values`, the different numbers or lists of members, and `column`, the index of each; -1 is
      undefined;
    - a distribution or vector: `column` with the numbers themselves;
- a column: `type`, `shape` with the step as the last axis, and `data`: see `kleene.watching.columns`;
- `different`: with two runs, the first place where they differ, in words; null where they are equal;
- `editable`: the names of the channels that an edit may set;
- under edits, `edits`: each as a person types it; `before`: the answer without them; and each run has `without`: the
  channels of the same run without them, or null where there is no such run or it is shorter than what is shown;
- whatever else the view needs, by name.
"""

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.traces import Channel, Trace
from kleene.watching.columns import coded_numbers, coded_sets, packed, unpacked
from kleene.watching.cutting import Cut, entry_count, has_positions

VERSION = 1
MOST_ENTRIES = 4_000_000  # of all channels of all runs; a browser holds them at once


@dataclass(frozen=True, kw_only=True)
class ViewParts:
    """What a kind adds to the document: its view, its words, and plain data for the view."""

    view: str
    step: str = "step"
    positions: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    channels: tuple[str, ...] | None = None  # those that are kept unless others are asked for
    answer: str | None = None  # where a page says it in other words than the command line
    runs: tuple[Mapping[str, Any], ...] = ()  # beside each trace
    more: Mapping[str, Any] = field(default_factory=dict)


def document(
    traces: Sequence[Trace], parts: ViewParts, cut: Cut, *, kind: str, title: str, input: str, answer: str
) -> dict[str, Any]:
    """The document of one run, or of two runs of the same input."""
    first = traces[0]
    if cut.channels is None:
        cut = replace(cut, channels=parts.channels)
    steps = cut.step_range(max(trace.steps for trace in traces))
    positions = cut.position_range(len(parts.positions)) if parts.positions else range(0)
    beside = parts.runs or tuple({} for _ in traces)
    return {
        "kleene": "watch",
        "version": VERSION,
        "view": parts.view,
        "kind": kind,
        "title": title,
        "input": input,
        "answer": answer if parts.answer is None else parts.answer,
        "facts": list(parts.facts),
        "step": parts.step,
        "first": steps.start,
        "steps": steps.stop - 1,
        "positions": [parts.positions[p] for p in positions],
        "firstPosition": positions.start,
        "runs": [run_json(cut.of(trace)) | dict(more) for trace, more in zip(traces, beside)],
        "different": first.difference(traces[1]) if len(traces) > 1 else None,
        **parts.more,
    }


def with_edits(
    content: dict[str, Any], cut: Cut, edits: Sequence[str], without: Sequence[Trace | None]
) -> dict[str, Any]:
    """The document of runs under edits, with the same runs without them beside each."""
    names = [channel["name"] for channel in content["runs"][0]["channels"]]
    cut = replace(cut, channels=tuple(glob.escape(name) for name in names))
    runs = []
    for run, trace in zip(content["runs"], without):
        reaches = trace is not None and trace.steps >= content["first"]
        runs.append(run | {"without": run_json(cut.of(trace))["channels"] if trace is not None and reaches else None})
    return content | {"edits": list(edits), "runs": runs}


def run_json(trace: Trace) -> dict[str, Any]:
    """A trace as plain data with its entries packed."""
    return {
        "source": trace.source,
        "halted": trace.halted,
        "output": trace.output_name,
        "axes": list(trace.axes),
        "channels": [channel_json(trace, channel) for channel in trace.channels],
    }


def channel_json(trace: Trace, channel: Channel) -> dict[str, Any]:
    """A channel as plain data with its entries packed."""
    entries = np.asarray(trace.data[channel.name])
    found: dict[str, Any] = {
        "name": channel.name,
        "kind": channel.kind,
        "size": channel.size,
        "labels": None if channel.labels is None else list(channel.labels),
        "declared": None if channel.values is None else list(channel.values),
        "perStep": channel.per_step,
        "positions": has_positions(trace, channel),
    }
    if channel.kind == "number":
        found["values"], entries = coded_numbers(entries)
    elif channel.kind == "set":
        found["values"], entries = coded_sets(entries)
    return found | {"column": packed(entries)}


def traces_of(content: Mapping[str, Any]) -> list[Trace]:
    """The traces that a document holds, read back from it."""
    return [_trace(run) for run in content["runs"]]


def _trace(run: Mapping[str, Any]) -> Trace:
    channels, data = [], {}
    for found in run["channels"]:
        labels, declared = (None if found[key] is None else tuple(found[key]) for key in ("labels", "declared"))
        channel = Channel(found["name"], found["kind"], found["size"], declared, labels, found["perStep"])
        channels.append(channel)
        data[channel.name] = _entries(channel, found)
    return Trace(tuple(channels), data, run["output"], run["halted"], tuple(run["axes"]), run["source"])


def _entries(channel: Channel, found: Mapping[str, Any]) -> np.ndarray:
    codes = unpacked(found["column"])
    if channel.kind == "number":
        return np.array([*found["values"], np.nan])[codes]
    if channel.kind == "set":
        members = np.zeros((len(found["values"]), int(channel.size or 0)), dtype=bool)
        for row, numbers in enumerate(found["values"]):
            members[row, numbers] = True
        return members[codes]
    return codes


def check_size(traces: Sequence[Trace], cut: Cut, most: int = MOST_ENTRIES) -> None:
    """Refuse runs of more entries than a page holds; the error says how to cut them."""
    entries = sum(entry_count(trace, cut) for trace in traces)
    if entries > most:
        trace = traces[0]
        raise InputError(
            f"the run has {entries:,} entries ({trace.steps:,} steps, {len(trace.channels)} channels), and a page "
            f"holds at most {most:,}. Show a part of it: --steps 0-99, --positions 0-39 or --channels NAME,NAME"
        )
