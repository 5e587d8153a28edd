"""Interventions on the run of a simple recurrent network: it goes on from another state, or another hidden vector."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from kleene.errors import EditError
from kleene.machines.rnn import execution
from kleene.machines.rnn.execution import StateReading
from kleene.notation.edit_plans import edits_of_rows
from kleene.notation.edited_runs import batch_of, run_in_pieces
from kleene.notation.edits import Edit, Edits
from kleene.notation.exact import ExactMatrix
from kleene.notation.words import Word, whole_word
from kleene.traces import Trace, TraceBatch


def edited_batch(network: Any, words: Sequence[Word], edits: Edits) -> TraceBatch:
    """The traces of many words under edits, one after the other."""
    whole = [whole_word(word) for word in words]
    if not whole:
        return execution.run_batch(network, whole)
    return batch_of([_edited(network, word, own) for word, own in zip(whole, edits_of_rows(edits, len(whole)))])


def _edited(network: Any, word: Sequence[Any], edits: Sequence[Edit]) -> Trace:
    execution.codes(network, [word])  # checked whole, because the errors of a part would count from its beginning

    def run_from(start: Mapping[str, Any], part: Sequence[Any]) -> Trace:
        begun = replace(network, start=_start(network, start)) if start else network
        return execution.run_batch(begun, [part])[0]

    editable = [channel for channel in execution.channels_of(network) if channel.name in ("state", "hidden")]
    return run_in_pieces("the network", edits, editable, word, run_from)


def state_vector(reading: StateReading, state: int) -> np.ndarray:
    """The hidden vector that means a state: 1 at a unit of it, or 0 everywhere."""
    vector = np.zeros(len(reading.units))
    if state in reading.units:
        vector[reading.units.index(state)] = 1
    elif state != reading.dead:
        raise EditError(
            f"the network has no unit for the state {reading.states[state]!r}, because no word leads there; "
            f"compile the automaton with form='textbook', which keeps a unit for every transition"
        )
    return vector


def _start(network: Any, entries: Mapping[str, Any]) -> Any:
    """The hidden vector of a state, or the given one, in the numbers of the network."""
    vector = state_vector(network.reading, int(entries["state"])) if "state" in entries else entries["hidden"]
    if network.is_exact:
        return ExactMatrix.column([Fraction(number) for number in vector.tolist()])
    rounded = vector.astype(np.asarray(network.start).dtype)
    if network.unrounded and (rounded != vector).any():
        raise EditError(
            f"the edited hidden vector has numbers that {rounded.dtype} would round; give others, or accept rounding "
            f"with to_float(..., round=True)"
        )
    return rounded
