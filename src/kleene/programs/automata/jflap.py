"""Finite automata as JFLAP draws them: ε is no label, a label of several characters is a word, `[a-f]` is a range."""

import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from kleene.errors import KleeneError, ProgramError
from kleene.programs import jflap
from kleene.programs.automata.nondeterministic import EPSILON, NondeterministicTable, completed, determinised
from kleene.programs.automata.regex_syntax import MOST_SYMBOLS
from kleene.programs.automata.subsets import MOST_STATES
from kleene.programs.automata.table import TransitionTable
from kleene.programs.jflap import ENDING, JflapDrawing, JflapState, JflapTransition, check_text, refusal, unused_name

SPELLED = 8  # characters of a label in the name of a state
RANGE = re.compile(r"\[(.)-(.)\]", re.DOTALL)


def load(path: Path) -> NondeterministicTable:
    """The automaton in a JFLAP file, as it is drawn."""
    drawing = jflap.load(path, "fa")
    try:
        return from_drawing(drawing)
    except KleeneError as error:
        raise refusal(path, error) from None


def load_deterministic(path: Path) -> TransitionTable:
    """The automaton in a JFLAP file: completed if it is deterministic, and else that of its sets of states."""
    table = load(path)
    return completed(table) if table.is_deterministic else determinised(table)


def save(table: TransitionTable | NondeterministicTable, path: Path) -> Path:
    """Save the automaton as a JFLAP file and return the path."""
    if path.suffix != ENDING:
        raise ProgramError(f"{path.name!r} cannot be the file of an automaton of JFLAP; its name ends in {ENDING}")
    return jflap.save(path, to_drawing(table))


def from_drawing(drawing: JflapDrawing) -> NondeterministicTable:
    """The automaton of a drawing. Between the characters of a label there are new states, named `q0:ab`."""
    noted = drawing.noted("alphabet")
    known = frozenset(noted or ())
    names = dict.fromkeys(state.name for state in drawing.states)
    table: dict[tuple[str, str], set[str]] = {}
    between: dict[tuple[str, str], str] = {}
    for arrow in drawing.transitions:
        state = arrow.source
        *before, last = _parts(arrow, known)
        for read, symbol in enumerate(before, start=1):
            if (state, symbol) not in between:
                between[state, symbol] = _name_between(arrow, read, names)
                names[between[state, symbol]] = None
            table.setdefault((state, symbol), set()).add(between[state, symbol])
            state = between[state, symbol]
        for symbol in last:
            table.setdefault((state, symbol), set()).add(arrow.target)
    symbols = {symbol for _, symbol in table if symbol != EPSILON}
    if not symbols and not known:
        raise ProgramError("no transition reads a symbol, so that there are no words; draw one that does")
    return NondeterministicTable(
        states=tuple(names),
        alphabet=tuple(noted if noted is not None and symbols <= known else sorted(symbols)),
        transitions={key: frozenset(targets) for key, targets in table.items()},
        start=drawing.start,
        accept=frozenset(state.name for state in drawing.states if state.is_final),
        positions=drawing.positions,
    )


def _parts(arrow: JflapTransition, known: frozenset[str]) -> list[Any]:
    """The symbols that a transition reads one after the other, and at last a list of those that complete it."""
    label = arrow.read
    found = RANGE.fullmatch(label)
    if label in known or not label:
        return [[label]]
    if found is None:
        return [*label[:-1], [label[-1]]]
    first, last = ord(found[1]), ord(found[2])
    if not 0 <= last - first < MOST_SYMBOLS:
        said = "ends before it begins" if last < first else f"has more than {MOST_SYMBOLS:,} symbols"
        raise ProgramError(f"line {arrow.line}: the range {label} {said}")
    return [[chr(code) for code in range(first, last + 1)]]


def _name_between(arrow: JflapTransition, read: int, names: Mapping[str, None]) -> str:
    """The name of the state in which so many characters of a label have been read."""
    if len(names) > MOST_STATES:
        raise ProgramError(f"line {arrow.line}: with its labels spelled out it has more than {MOST_STATES:,} states")
    told = arrow.read[:read] if read <= SPELLED else f"{arrow.read[:SPELLED]}…{len(names)}"
    return unused_name(f"{arrow.source}:{told}", names)


def to_drawing(table: TransitionTable | NondeterministicTable) -> JflapDrawing:
    """The drawing of an automaton; its states stand where they stood, or are laid out."""
    _check_symbols(table.alphabet)
    place = {state: number for number, state in enumerate(table.states)}
    if isinstance(table, NondeterministicTable):
        rows = [(q, a, r) for (q, a), targets in table.transitions.items() for r in sorted(targets, key=place.get)]  # type: ignore[arg-type]
    else:
        rows = [(q, a, r) for (q, a), r in table.transitions.items()]
    known = table.positions or {}
    ends = ((place[q], place[r]) for q, _, r in rows)
    places = jflap.placed([known.get(q) for q in table.states], ends, place[table.start])
    states = tuple(
        JflapState(str(q), position, q == table.start, q in table.accept) for q, position in zip(table.states, places)
    )
    arrows = tuple(JflapTransition(str(q), str(r), a) for q, a, r in rows)
    return JflapDrawing("fa", states, arrows, {"alphabet": list(table.alphabet)})


def _check_symbols(alphabet: tuple[str, ...]) -> None:
    """Refuse symbols that JFLAP would read as something else."""
    for symbol in alphabet:
        check_text(symbol, "symbol")
        if "[" in symbol:
            raise ProgramError(
                f"the symbol {symbol!r} has [ in it, which begins a range in JFLAP; give it another name"
            )
        if "\n" in symbol and not symbol.strip():
            raise ProgramError(f"the symbol {symbol!r} is the end of a line, which a drawing cannot show; name it")
    for first, second in pairwise(sorted(alphabet)):
        if second.startswith(first):
            raise ProgramError(
                f"JFLAP reads words character by character, so that it cannot tell the symbols {first!r} and "
                f"{second!r} apart: one begins with the other. Give them names of one character"
            )
