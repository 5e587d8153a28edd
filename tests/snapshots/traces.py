"""Traces as plain data for snapshots: what each channel is, and its entries."""

from dataclasses import asdict
from typing import Any

import kleene
from tests.snapshots.normalising import normalised
from tests.snapshots.packing import packed


def described(trace: kleene.Trace) -> dict[str, Any]:
    """The trace: its steps, its output, its channels with their entries."""
    return {
        "steps": trace.steps,
        "halted": trace.halted,
        "axes": list(trace.axes),
        "prefix": trace.prefix,
        "output": normalised(trace.output),
        "channels": {channel.name: _kind(channel) | packed(trace[channel.name]) for channel in trace.channels},
    }


def attention(trace: kleene.Trace) -> dict[str, Any]:
    """How much each head read from where; nothing for a run without attention."""
    try:
        patterns = trace.attention
    except kleene.KleeneError:
        return {}
    return {"attention": {head: packed(patterns[head]) for head in patterns.heads}}


def _kind(channel: kleene.Channel) -> dict[str, Any]:
    """What a channel says of itself, without its name and what is not given."""
    facts = normalised(asdict(channel))
    return {key: value for key, value in facts.items() if key != "name" and value not in (None, False)}
