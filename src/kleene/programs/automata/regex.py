"""From a regular expression to its smallest automaton: Glushkov's construction, then automata-lib."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kleene.errors import ProgramError
from kleene.programs.automata.regex_syntax import Either, Node, Sequence, Symbols, parse
from kleene.programs.automata.validation import checked_alphabet

if TYPE_CHECKING:
    from kleene.programs.automata.dfa import DFA

LARGEST = 20_000  # places of symbols, counted repetitions written out


class _Places:
    """Glushkov's automaton: a state for every place of a symbol in the expression, and one to start in.

    Each part of the tree gives whether it can be empty, and at which places it can begin and end.
    """

    def __init__(self, regex: str, alphabet: tuple[str, ...]):
        self.regex, self.alphabet = regex, alphabet
        self.symbols: list[frozenset[str]] = [frozenset()]  # of each place; place 0 is the start
        self.following: list[set[int]] = [set()]

    def build(self, node: Node) -> tuple[bool, set[int], set[int]]:
        if isinstance(node, Symbols):
            return self.place(node)
        if isinstance(node, Either):
            empty, first, last = zip(*map(self.build, node.options))
            return any(empty), set().union(*first), set().union(*last)
        if isinstance(node, Sequence):
            return self.chained(self.build(part) for part in node.parts)
        copies = [self.build(node.part) for _ in range(node.least)]
        if node.most is None:
            return self.chained([*copies, self.looped(node.part)])
        return self.chained([*copies, *((True, *self.build(node.part)[1:]) for _ in range(node.most - node.least))])

    def place(self, node: Symbols) -> tuple[bool, set[int], set[int]]:
        if len(self.symbols) > LARGEST:
            raise ProgramError(
                f"the regular expression {self.regex!r} has more than {LARGEST} places for symbols when its "
                f"repetitions are written out; use smaller ones"
            )
        symbols = frozenset(self.alphabet) - node.characters if node.others else node.characters
        self.symbols.append(symbols)
        self.following.append(set())
        number = len(self.symbols) - 1
        return False, {number}, {number}

    def chained(self, parts: Iterable[tuple[bool, set[int], set[int]]]) -> tuple[bool, set[int], set[int]]:
        empty, first, last = True, set(), set()
        for part_empty, part_first, part_last in parts:
            for place in last:
                self.following[place] |= part_first
            first = first | part_first if empty else first
            last = last | part_last if part_empty else part_last
            empty = empty and part_empty
        return empty, first, last

    def looped(self, part: Node) -> tuple[bool, set[int], set[int]]:
        _, first, last = self.build(part)
        for place in last:
            self.following[place] |= first
        return True, first, last


def from_regex(regex: str, alphabet: Iterable[str] | None) -> "DFA":
    """The smallest automaton of the expression over the alphabet, or over the symbols that it names."""
    if not isinstance(regex, str):
        raise ProgramError(f"the regular expression is {regex!r}, and a text was expected")
    given = None if alphabet is None else checked_alphabet(alphabet)
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
    return _determinised(tree, regex, symbols)


def _determinised(tree: Node, regex: str, alphabet: tuple[str, ...]) -> "DFA":
    from automata.fa.dfa import DFA as Library
    from automata.fa.nfa import NFA

    from kleene.programs.automata.conversion import named_in_order

    places = _Places(regex, alphabet)
    empty, first, last = places.build(tree)
    places.following[0] = first
    transitions: dict[int, dict[str, Any]] = {}
    for place, following in enumerate(places.following):
        transitions[place] = {}
        for target in following:
            for symbol in places.symbols[target]:
                transitions[place].setdefault(symbol, set()).add(target)
    nfa = NFA(
        states=set(transitions),
        input_symbols=set(alphabet),
        transitions=transitions,
        initial_state=0,
        final_states=last | {0} if empty else last,
    )
    return named_in_order(Library.from_nfa(nfa), alphabet)
