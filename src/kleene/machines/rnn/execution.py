"""Which way a simple recurrent network is run: exactly and sparsely, exactly and plainly, or in jax."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from kleene.machines.rnn import float_execution
from kleene.machines.rnn.plain_execution import PlainReadout, PlainStepper, whole
from kleene.machines.rnn.sparse_execution import SparseReadout, SparseStepper, TooLargeError
from kleene.notation.words import Word, padded_codes, whole_word, word_codes

if TYPE_CHECKING:
    from kleene.machines.rnn.simple_rnn import SimpleRNN


FEW = 8  # words; up to here stepping one after the other is faster, if few units are live
NARROW = 16  # units


def codes(network: "SimpleRNN", words: Iterable[Word]) -> tuple[np.ndarray, np.ndarray]:
    """The symbols' numbers, (batch, step), filled up with 0, and the words' lengths."""
    words = [whole_word(word) for word in words]
    if len(words) == 1:
        word_codes(words[0], network.alphabet)  # so that its errors do not speak of "word 0"
    return padded_codes(words, network.alphabet)


def hidden(network: "SimpleRNN", word: Word) -> np.ndarray:
    """Every hidden vector, (step, hidden), the start first."""
    tokens, _ = codes(network, [word])
    if not network.is_exact:
        return float_execution.hidden(network, tokens)[0]
    found = np.zeros((tokens.shape[1] + 1, network.hidden_units), dtype=object)
    for step, state in enumerate(PlainStepper(network).states(tokens[0].tolist())):
        for unit in state.live:
            found[step, unit] = state.value(unit)
    return found


def outputs(network: "SimpleRNN", word: Word) -> np.ndarray:
    """The outputs, (step, outputs), at the start and after each symbol."""
    tokens, _ = codes(network, [word])
    if not network.is_exact:
        return float_execution.outputs(network, tokens)[0]
    readout = PlainReadout(network)
    states = PlainStepper(network).states(tokens[0].tolist())
    return np.array([[whole(value) for value in readout.outputs(state)] for state in states], dtype=object)


def in_one_go(network: "SimpleRNN", words: int) -> bool:
    """Whether so many words are best stepped all together, in int64.

    Of a network with a reading a unit is live at a time, and one after the other takes microseconds a step.
    """
    narrow = network.reading is not None or network.hidden_units <= NARROW
    return network.is_integer and not (words <= FEW and narrow)


def accepts_batch(network: "SimpleRNN", words: Iterable[Word]) -> np.ndarray:
    """Whether each word is accepted."""
    tokens, lengths = codes(network, words)
    if not network.is_exact:
        return float_execution.accepts(network, tokens, lengths)
    accepted, decided = np.zeros(len(lengths), dtype=bool), np.zeros(len(lengths), dtype=bool)
    if in_one_go(network, len(lengths)):
        _accept_sparsely(network, tokens, lengths, accepted, decided)
    if not decided.all():
        stepper, readout = PlainStepper(network), PlainReadout(network)
        for row in np.flatnonzero(~decided).tolist():
            *_, last = stepper.states(tokens[row, : lengths[row]].tolist())
            accepted[row] = readout.accepts(last)
    return accepted


def _accept_sparsely(
    network: "SimpleRNN", tokens: np.ndarray, lengths: np.ndarray, accepted: np.ndarray, decided: np.ndarray
) -> None:
    """Fill in which words are accepted; words whose numbers grow past int64 are left undecided."""
    try:
        readout = SparseReadout(network)
        for step, (words, live) in enumerate(SparseStepper(network).run(tokens, lengths)):
            ended = words[lengths[words] == step]
            if len(ended):
                ends = lengths[live.words] == step
                accepted[ended] = readout.accepts(live.where(ends), len(lengths))[ended]
                decided[ended] = True
    except TooLargeError:
        return
