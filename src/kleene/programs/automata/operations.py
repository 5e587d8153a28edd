"""Operations on automata: to automata-lib and back, minimising, unions, words that tell two apart, graphs to draw.

automata-lib minimises, combines and determinises; its states get readable names here.
"""

from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any, Literal

from kleene.errors import InputError, ProgramError
from kleene.notation.computations import as_tape
from kleene.notation.graphs import Arrow, Node, StateGraph, marks
from kleene.programs.automata.table import TransitionTable, checked_alphabet

WIDEST = 14  # characters in a line of an arrow's label
RUN = 4  # from this many consecutive symbols on, "a–d" is written


def to_automata(dfa: TransitionTable) -> Any:
    """The automaton as an automata-lib `DFA` with the same states and symbols."""
    from automata.fa.dfa import DFA as Library

    return Library(
        states=set(dfa.states),
        input_symbols=set(dfa.alphabet),
        transitions={q: {a: dfa.transitions[q, a] for a in dfa.alphabet} for q in dfa.states},
        initial_state=dfa.start,
        final_states=set(dfa.accept),
    )


def from_automata(automaton: Any) -> TransitionTable:
    """The automaton of an automata-lib `DFA` (its states keep their names) or `NFA` (made deterministic, smallest)."""
    from automata.fa.dfa import DFA as Library
    from automata.fa.nfa import NFA

    if isinstance(automaton, NFA):
        return named_in_order(Library.from_nfa(automaton), _alphabet(automaton))
    if not isinstance(automaton, Library):
        raise InputError(f"{type(automaton).__name__} was given, and an automata-lib DFA or NFA was expected")
    alphabet = _alphabet(automaton)
    complete = _complete(automaton)
    order = _in_order(complete, alphabet)
    states = [*order, *sorted((q for q in complete.states if q not in set(order)), key=str)]
    return _built({state: state for state in states}, complete, alphabet)


def named_in_order(automaton: Any, alphabet: tuple[str, ...]) -> TransitionTable:
    """The reachable part of an automata-lib `DFA`, completed; q0, q1, … in breadth-first order, a dead state last."""
    if not alphabet:
        raise ProgramError("the automaton has no symbols to read; give its alphabet")
    complete = _complete(automaton)
    order = _in_order(complete, alphabet)
    lost = [q for q in order if q not in complete.final_states and set(complete.transitions[q].values()) == {q}]
    order = [*(q for q in order if q not in lost), *lost]
    return _built({state: f"q{number}" for number, state in enumerate(order)}, complete, alphabet)


def minimised(dfa: TransitionTable) -> TransitionTable:
    """The smallest automaton of the same language."""
    return named_in_order(to_automata(dfa).minify(), dfa.alphabet)


def combined(a: TransitionTable, b: TransitionTable, how: Literal["union", "intersection"]) -> TransitionTable:
    """The smallest automaton of the union or intersection of two languages."""
    check_alphabets(a, b)
    both = getattr(to_automata(a), how)(to_automata(b), minify=True)
    return named_in_order(both, a.alphabet)


def _alphabet(automaton: Any) -> tuple[str, ...]:
    if not automaton.input_symbols:
        raise ProgramError("the automaton has no input symbols; give it at least one")
    return checked_alphabet(automaton.input_symbols)


def _complete(automaton: Any) -> Any:
    taken, name, number = {str(state) for state in automaton.states}, "dead", 1
    while name in taken:
        name, number = f"dead{number}", number + 1
    return automaton.to_complete(trap_state=name)


def _in_order(automaton: Any, alphabet: tuple[str, ...]) -> list[Hashable]:
    """The reachable states, breadth first along the alphabet."""
    found = {automaton.initial_state: None}
    waiting = deque(found)
    while waiting:
        row = automaton.transitions[waiting.popleft()]
        for target in (row[symbol] for symbol in alphabet):
            if target not in found:
                found[target] = None
                waiting.append(target)
    return list(found)


def _built(names: dict[Hashable, Hashable], automaton: Any, alphabet: tuple[str, ...]) -> TransitionTable:
    return TransitionTable(
        states=tuple(names.values()),
        alphabet=alphabet,
        transitions={(names[q], a): names[automaton.transitions[q][a]] for q in names for a in alphabet},
        start=names[automaton.initial_state],
        accept=frozenset(names[q] for q in names if q in automaton.final_states),
    )


def distinguishing_word(a: TransitionTable, b: TransitionTable) -> str | tuple[str, ...] | None:
    """A shortest word that only one of the two accepts, the first in order of `a`'s alphabet; None if there is none.

    A breadth-first search over the pairs of states that the two reach together.
    """
    check_alphabets(a, b)
    columns = [b.alphabet.index(symbol) for symbol in a.alphabet]
    mine, theirs = a.table.tolist(), b.table[:, columns].tolist()
    in_a, in_b = a.accepting.tolist(), b.accepting.tolist()
    start = (a.start_code, b.start_code)
    reached: dict[tuple[int, int], tuple[tuple[int, int], str] | None] = {start: None}  # how each pair was found
    waiting = deque([start])
    while waiting:
        pair = waiting.popleft()
        if in_a[pair[0]] != in_b[pair[1]]:
            return _word(pair, reached, a.alphabet)
        for symbol, following in zip(a.alphabet, zip(mine[pair[0]], theirs[pair[1]])):
            if following not in reached:
                reached[following] = (pair, symbol)
                waiting.append(following)
    return None


def _word(pair: tuple[int, int], reached: dict, alphabet: tuple[str, ...]) -> str | tuple[str, ...]:
    symbols = []
    while reached[pair] is not None:
        pair, symbol = reached[pair]
        symbols.append(symbol)
    return as_tape(alphabet)(reversed(symbols))


def check_alphabets(a: TransitionTable, b: TransitionTable) -> None:
    """Refuse automata over different alphabets, because one cannot read all words of the other."""
    if set(a.alphabet) != set(b.alphabet):
        raise InputError(
            f"the alphabets differ: {' '.join(a.alphabet)} and {' '.join(b.alphabet)}; build both over the same "
            f"symbols; a regular expression takes alphabet="
        )


def graph_of(dfa: TransitionTable, *, dead: bool = True) -> StateGraph:
    """The graph of an automaton. Without `dead`, states from which nothing is accepted are left out; a note says so."""
    hidden = set() if dead else set(dfa.dead) - {dfa.start}
    shown = [state for state in dfa.states if state not in hidden]
    place = {state: number for number, state in enumerate(shown)}
    nodes = tuple(
        Node(str(q), q in dfa.accept, marks=marks(start=q == dfa.start, accepting=q in dfa.accept)) for q in shown
    )
    symbols: dict[tuple[int, int], list[str]] = {}
    for state in shown:
        for symbol in dfa.alphabet:
            target = dfa.transitions[state, symbol]
            if target not in hidden:
                symbols.setdefault((place[state], place[target]), []).append(symbol)
    arrows = tuple(Arrow(*ends, symbol_lines(found), tuple(found)) for ends, found in symbols.items())
    names = ", ".join(str(state) for state in dfa.states if state in hidden)
    note = f"Not shown: {names}, from where nothing is accepted. A missing transition leads there." if hidden else ""
    total = len(dfa.states)
    return StateGraph(f"DFA with {total} states", nodes, arrows, place[dfa.start], total, note)


def symbol_lines(symbols: Sequence[str]) -> tuple[str, ...]:
    """The lines of the label of an arrow that these symbols take."""
    return _wrapped(_ranges(symbols))


def _ranges(symbols: Sequence[str]) -> list[str]:
    """The symbols, with consecutive characters as one range: a, b, c, d becomes a–d."""
    runs: list[list[str]] = []
    for symbol in symbols:
        last = runs[-1][-1] if runs else ""
        follows = len(symbol) == len(last) == 1 and ord(symbol) == ord(last) + 1 and symbol.isalnum() and last.isalnum()
        if follows:
            runs[-1].append(symbol)
        else:
            runs.append([symbol])
    return [part for run in runs for part in ([f"{run[0]}–{run[-1]}"] if len(run) >= RUN else run)]


def _wrapped(parts: Sequence[str]) -> tuple[str, ...]:
    """The parts with commas between them, in lines that are not too wide."""
    lines = [""]
    for number, part in enumerate(parts):
        text = part + ("," if number + 1 < len(parts) else "")
        if lines[-1] and len(lines[-1]) + 1 + len(text) > WIDEST:
            lines.append(text)
        else:
            lines[-1] = f"{lines[-1]} {text}".strip() if lines[-1] else text
    return tuple(lines)
