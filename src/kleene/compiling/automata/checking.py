"""What automata are checked on, and by whom: automata-lib, and a reference if there is one."""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kleene import kinds
from kleene.compiling.checking import REFERENCE
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.notation.console import Entry
from kleene.programs.automata import DFA
from kleene.traces import Trace

Word = tuple[str, ...]


def inputs(dfa: DFA, entry: Entry | None, samples: int, max_length: int, seed: int) -> list[Word]:
    return some_words(dfa.alphabet, samples, max_length, seed)


def some_words(alphabet: Sequence[str], samples: int, longest: int, seed: int) -> list[Word]:
    """The shortest words, as many as there are samples, and as many random ones up to the greatest length."""
    chance = random.Random(seed)
    short = list(itertools.islice(_all_words(alphabet, longest), samples))
    drawn = [chance.choices(alphabet, k=chance.randint(0, longest)) if alphabet else () for _ in range(samples)]
    return short + [tuple(word) for word in drawn]


def _all_words(alphabet: Sequence[str], longest: int) -> Iterator[Word]:
    for length in range(longest + 1):
        yield from itertools.product(alphabet, repeat=length)


def judges(dfa: DFA, entry: Entry | None, reference: Callable[[Any], Any] | None) -> dict[str, Callable]:
    """Whether automata-lib, and the reference that was given or is the entry's own, accept the same words."""
    peer, reference = dfa.to_automata(), reference or (None if entry is None else entry.reference)

    def automata_lib(word: Word, mine: Trace) -> str | None:
        accepted = bool(mine.output)
        differs = peer.accepts_input(word) != accepted
        return f"the automaton says {accepted}, automata-lib {not accepted}" if differs else None

    def plain(word: Word, mine: Trace) -> str | None:
        assert reference is not None
        accepted = bool(mine.output)
        differs = bool(reference("".join(word))) != accepted
        return f"the automaton says {accepted}, the plain reference {not accepted}" if differs else None

    return {"automata-lib": automata_lib} | ({} if reference is None else {REFERENCE: plain})


def extracted_difference(dfa: DFA, network: SimpleRNN) -> str | None:
    """A word on which the automaton extracted from an exact network differs; None where there is none."""
    way_back = kinds.of(dfa).way_back
    if not network.is_exact or way_back is None:
        return None
    apart = way_back(network).distinguishing_word(dfa)
    return None if apart is None else f"the automaton extracted differs on {''.join(apart)!r}"
