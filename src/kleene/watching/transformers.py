"""What the page of a transformer program shows beside its trace: attention, the rules that fired, source, weights."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kleene import kinds
from kleene.kinds import TRANSFORMERS
from kleene.machines.transformer import UniversalTransformer
from kleene.programs.alta.program import Program
from kleene.programs.alta.selecting import selected_positions
from kleene.running import Outcome
from kleene.traces import Trace
from kleene.watching.columns import coded_sets, packed
from kleene.watching.cutting import Cut
from kleene.watching.document import ViewParts
from kleene.watching.residual import ShownStreams, attention_of_network, streams_of, weights_json
from kleene.watching.rules import moments_json

START = "⊢"  # the position that programs with a vocabulary put before their input


def parts(outcomes: Sequence[Outcome], cut: Cut, program: Program | None) -> ViewParts:
    """The view of layers: of a program, of its network, or of both."""
    beside: list[dict[str, Any]] = []
    facts: list[str] = []
    more: dict[str, Any] = {}
    tokens = outcomes[0].input
    for outcome in outcomes:
        subject, trace = outcome.subject, outcome.trace
        if not TRANSFORMERS.is_program(subject):
            streams = streams_of(subject, tokens, trace.steps, outcome.edits)
            beside.append({"attention": _attention_json(attention_of_network(subject, streams), trace, cut)})
            more |= network_json(subject, streams, trace, cut)
            facts.append(f"{subject.size.hidden_units:,} hidden units")
            facts.append(f"{subject.size.residual_dims:,} residual dimensions")
        else:
            beside.append({"attention": _attention_json(selected_positions(subject, trace), trace, cut)})
    if program is not None:
        more["program"] = moments_json(program, outcomes[0].trace, cut) | {"heads": _heads_json(program)}
    return ViewParts(
        view="layers",
        step="layer",
        positions=_position_names(outcomes[0]),
        facts=tuple(facts),
        runs=tuple(beside),
        more=more,
    )


def rasp_parts(outcomes: Sequence[Outcome], cut: Cut, program: Any) -> ViewParts:
    """The view of layers of a RASP program: that of the transformer program that it is lowered to."""
    below = [replace(outcome, subject=kinds.lowered(outcome.subject)) for outcome in outcomes]
    return parts(below, cut, kinds.lowered(program))


def taught_parts(outcomes: Sequence[Outcome], cut: Cut, program: Program | None) -> ViewParts:
    """The view of layers of a Transformer that was taught: what its trace has, and no more."""
    described, given = outcomes[0].subject, outcomes[0].input
    alphabet = getattr(getattr(described, "layout", described), "alphabet", None)
    names = tuple(str(one) if isinstance(one, str) or alphabet is None else alphabet[one] for one in given)
    return ViewParts(view="layers", step="layer", positions=names)


def _position_names(outcome: Outcome) -> tuple[str, ...]:
    """Every input token as a person writes it."""
    described = getattr(outcome.subject, "layout", outcome.subject)  # a network is described by its layout
    if described.vocabulary is not None:
        return (START, *map(str, outcome.input))
    codes = described.check_input(outcome.input)
    if described.alphabet is not None:
        return tuple(described.alphabet[code] for code in codes)
    spelled = str if outcome.entry is None or outcome.entry.spelled is None else outcome.entry.spelled
    return tuple(spelled(code) for code in codes)


def _attention_json(selected: dict[str, np.ndarray], trace: Trace, cut: Cut) -> dict[str, Any]:
    """For every head the different sets of positions, and which set each position selects in each step."""
    found = {}
    for name, members in selected.items():
        steps, positions = cut.step_range(trace.steps), cut.position_range(members.shape[1])
        values, codes = coded_sets(members[steps.start : steps.stop, positions.start : positions.stop])
        found[name] = {"values": values, "column": packed(codes)}
    return found


def _heads_json(program: Program) -> dict[str, str]:
    """What every head does, in words."""
    found = {}
    for name, head in program.heads.items():
        where = f"at {', '.join(f'{o:+d}' for o in sorted(head.offsets))}" if len(head.offsets) <= 6 else "nearby"
        chosen = f"where {head.key} matches {head.query}" if head.query else ""
        found[name] = " ".join(part for part in (f"reads {head.value}", chosen, where if head.offsets else "") if part)
    return found


def network_json(network: UniversalTransformer, streams: ShownStreams, trace: Trace, cut: Cut) -> dict[str, Any]:
    """The residual stream of the run and the weights; None for either where it is too large for a page."""
    segments = [[s.channel.name, s.start, s.stop] for s in network.layout.segments]
    steps, positions = cut.step_range(trace.steps), cut.position_range(streams.shown.shape[1])
    shown = streams.shown[steps.start : steps.stop, positions.start : positions.stop]
    stream = packed(shown) if shown.size <= MOST_NUMBERS else None
    return {"network": {"segments": segments, "stream": stream, "weights": weights_json(network, MOST_NUMBERS)}}


MOST_NUMBERS = 2_000_000  # of the residual stream, and of the weights, that a page holds
