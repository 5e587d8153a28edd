"""From a regular expression to its smallest automaton: Glushkov's construction, the subset construction, minimising."""

from collections.abc import Iterable

from kleene.errors import ProgramError
from kleene.programs.automata.operations import named_in_order
from kleene.programs.automata.regex_syntax import (
    LARGEST,
    MOST_SYMBOLS,
    Either,
    Expression,
    Repeated,
    Sequence,
    Symbols,
    parse,
    shortened,
)
from kleene.programs.automata.subsets import MOST_ENTRIES, MOST_STATES, MOST_WORK, TooManySets, reached_sets
from kleene.programs.automata.table import TransitionTable, checked_alphabet


class _Places:
    """Glushkov's automaton: a state for every place of a symbol in the expression, and one to start in.

    Each part of the tree gives whether it can be empty, and at which places it can begin and end.
    """

    def __init__(self, regex: str, alphabet: tuple[str, ...]):
        self.regex, self.alphabet, self.entries = regex, alphabet, 0
        self.symbols: list[frozenset[str]] = [frozenset()]  # of each place; place 0 is the start
        self.following: list[set[int]] = [set()]

    def build(self, node: Expression) -> tuple[bool, set[int], set[int]]:
        if isinstance(node, Symbols):
            return self.place(node)
        if isinstance(node, Either):
            empty, first, last = zip(*map(self.build, node.options))
            return any(empty), set().union(*first), set().union(*last)
        if isinstance(node, Sequence):
            return self.chained(self.build(part) for part in node.parts)
        assert isinstance(node, Repeated)  # anchors are gone by now
        return self.repeated(node)

    def place(self, node: Symbols) -> tuple[bool, set[int], set[int]]:
        if len(self.symbols) > LARGEST:
            raise ProgramError(
                f"the regular expression {shortened(self.regex)} has more than {LARGEST:,} places for symbols when its "
                f"repetitions are written out; use smaller ones"
            )
        symbols = frozenset(self.alphabet) - node.characters if node.others else node.characters
        self.entries += len(symbols)
        if self.entries > MOST_ENTRIES:
            raise ProgramError(
                f"the regular expression {shortened(self.regex)} has more than {MOST_ENTRIES:,} symbols in all its "
                f"places when its repetitions are written out; use smaller ones, or fewer symbols"
            )
        self.symbols.append(symbols)
        self.following.append(set())
        number = len(self.symbols) - 1
        return False, {number}, {number}

    def chained(self, parts: Iterable[tuple[bool, set[int], set[int]]]) -> tuple[bool, set[int], set[int]]:
        empty, first, last = True, set(), set()
        for part_empty, part_first, part_last in parts:
            self.link(last, part_first)
            first = first | part_first if empty else first
            last = last | part_last if part_empty else part_last
            empty = empty and part_empty
        return empty, first, last

    def repeated(self, node: Repeated) -> tuple[bool, set[int], set[int]]:
        """Copies in sequence, a(a(a)?)?; the word may end after any copy from the last required one on.

        A part that can be empty is repeated without its empty word, and then no copy is required.
        """
        empty, first, last = self.build(node.part)
        least = 0 if empty else node.least
        begin, end, ends = first, last, set(last) if least <= 1 else set()
        for copy in range(2, (max(least, 1) if node.most is None else node.most) + 1):
            before, (_, begin, end) = end, self.build(node.part)
            self.link(before, begin)
            if copy >= least:
                ends |= end
        if node.most is None:
            self.link(end, begin)
        return least == 0, first, ends

    def link(self, last: set[int], first: set[int]) -> None:
        for place in last:
            self.following[place] |= first


def from_regex(
    regex: str,
    alphabet: Iterable[str] | None = None,
    *,
    most_states: int = MOST_STATES,
    most_work: int = MOST_WORK,
) -> TransitionTable:
    """The smallest automaton of the expression over the alphabet, or over the symbols that it names.

    It is given up after `most_states` states, before they are minimised, or `most_work` places looked at.
    """
    if not isinstance(regex, str):
        raise ProgramError(f"the regular expression is {regex!r}, and a string was expected")
    given = None if alphabet is None else checked_alphabet(alphabet)
    if given is not None and len(given) > MOST_SYMBOLS:
        raise ProgramError(f"the alphabet has {len(given):,} symbols, and {MOST_SYMBOLS:,} is the most; use fewer")
    tree, literals = parse(regex, given)
    symbols = tuple(sorted(literals)) if given is None else given
    if not symbols:
        raise ProgramError(f"the regular expression {regex!r} names no symbol; say what words are made of: alphabet=")
    for symbol, place in literals.items():
        if symbol not in symbols:
            raise ProgramError(
                f"the regular expression {regex!r} has {symbol!r} at position {place}, which is not in the alphabet: "
                f"{' '.join(symbols)}"
            )
    return _determinised(tree, _Places(regex, symbols), most_states, most_work)


def _determinised(tree: Expression, places: _Places, most_states: int, most_work: int) -> TransitionTable:
    from automata.fa.dfa import DFA as Library

    alphabet = places.alphabet
    empty, first, last = places.build(tree)
    places.following[0] = first
    sets, transitions = _sets_of_places(places, most_states, most_work)
    ends = last | {0} if empty else last
    automaton = Library(
        states=set(transitions),
        input_symbols=set(alphabet),
        transitions=transitions,
        initial_state=0,
        final_states={number for number, held in enumerate(sets) if not ends.isdisjoint(held)},
        allow_partial=True,
    )
    return named_in_order(automaton.minify(), alphabet)


def _sets_of_places(
    places: _Places, most_states: int, most_work: int
) -> tuple[list[frozenset[int]], dict[int, dict[str, int]]]:
    """The sets of places that a word can lead to, the start's first, and where each symbol leads from each of them."""
    if sum(len(places.symbols[place]) for following in places.following for place in following) > most_work:
        raise ProgramError(
            f"the regular expression {shortened(places.regex)} has more than {most_work:,} ways from place to place; "
            f"use fewer alternatives under a repetition, or fewer symbols"
        )
    followers = [_by_symbol(places, following) for following in places.following]
    limits = {"most_states": most_states, "most_work": most_work}
    try:
        return reached_sets(frozenset([0]), followers, len(places.alphabet), **limits)
    except TooManySets as many:
        raise ProgramError(
            f"the regular expression {shortened(places.regex)} is given up after {many.found:,} states of its "
            f"automaton, over {len(places.alphabet):,} symbols: an automaton can be exponentially larger than its "
            f"expression. Use smaller repetitions, or fewer symbols"
        ) from None


def _by_symbol(places: _Places, following: set[int]) -> dict[str, list[int]]:
    targets: dict[str, list[int]] = {}
    for place in following:
        for symbol in places.symbols[place]:
            targets.setdefault(symbol, []).append(place)
    return targets
