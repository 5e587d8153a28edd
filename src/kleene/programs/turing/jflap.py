"""Turing machines as JFLAP draws them: the tape has no ends, a missing transition rejects, final states accept.

In JFLAP `~` reads any symbol, or writes the one that was read; `!a` reads any symbol but a, where no other transition
fits. A machine accepts as soon as it is in a final state, so what leads on from there is left out.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kleene.errors import KleeneError, ProgramError
from kleene.programs import jflap
from kleene.programs.jflap import JflapDrawing, JflapState, JflapTransition, check_text, refusal, unused_name
from kleene.programs.turing.table import TuringTable
from kleene.programs.turing.two_way import Rules, TwoWayTable, completed, never_leaves, one_way

SQUARE = "□"  # as JFLAP shows the blank; in files it is empty
ANY, NOT, VARIABLE = "~", "!", "}"
MARKERS = "⊢⊳▷⟩›"
LEFT_END = "left end"  # the key of the note of a machine whose left end is marked


def load(path: Path) -> TuringTable:
    """The machine in a JFLAP file, named after the file."""
    drawing = jflap.load(path, "turing")
    try:
        return from_drawing(drawing, path.stem)
    except KleeneError as error:
        raise refusal(path, error) from None


def save(machine: TuringTable, path: Path) -> Path:
    """Save the machine as a JFLAP file and return the path."""
    return jflap.save(path, to_drawing(machine))


def from_drawing(drawing: JflapDrawing, name: str = "the machine") -> TuringTable:
    """The machine of a drawing; see `two_way` for what becomes of a tape without a left end."""
    bare = _without_marks(drawing)
    if bare is not None:
        try:
            found = _machine(bare, name, has_left_end=True)
            if set(to_drawing(found).transitions) == set(drawing.transitions):
                return found
        except ProgramError:
            pass  # somebody changed the drawing: it is read as any other
    return _machine(drawing, name, has_left_end=False)


def _machine(drawing: JflapDrawing, name: str, *, has_left_end: bool) -> TuringTable:
    table = two_way_table(drawing)
    rules, start = one_way(table) if not has_left_end else (completed(table), table.start)
    if not rules:
        raise ProgramError("it has no transitions from a state that is not final")
    kept = {table.accept, table.reject, start, *(q for q, _ in rules)}
    return TuringTable(
        transitions=rules,  # type: ignore[arg-type]  there is no S any more
        start=start,
        accept=table.accept,
        reject=table.reject,
        blank=table.blank,
        input_alphabet=table.inputs,
        name=name,
        positions={state: place for state, place in drawing.positions.items() if state in kept},
    )


def two_way_table(drawing: JflapDrawing) -> TwoWayTable:
    """The machine as it is drawn, on JFLAP's tape; several final states become one."""
    names = {state.name for state in drawing.states}
    finals = [state.name for state in drawing.states if state.is_final]
    accept = finals[0] if len(finals) == 1 else unused_name("accept", names)
    arrows = [arrow for arrow in drawing.transitions if arrow.source not in finals]
    reject = _reject(drawing, arrows, {*names, accept})
    for arrow in arrows:
        _check_arrow(arrow)
    symbols = _symbols(drawing, arrows)
    blank = drawing.note.get("blank")
    if not isinstance(blank, str) or not blank or blank in symbols:
        blank = unused_name("_", symbols)
    rules = _rules(arrows, (*symbols, blank), blank)
    merged: Rules = {key: (accept if r in finals else r, b, move) for key, (r, b, move) in rules.items()}
    inputs = drawing.noted("input")
    start = accept if drawing.start in finals else drawing.start
    known = inputs is not None and set(inputs) <= set(symbols)
    return TwoWayTable(merged, start, accept, reject, blank, symbols, tuple(inputs or ()) if known else symbols)


def _reject(drawing: JflapDrawing, arrows: Iterable[JflapTransition], names: set[str]) -> str:
    """The only state besides the start that is not final and leads nowhere; a new one unless there is exactly one."""
    leading = {arrow.source for arrow in arrows}
    ends = [q.name for q in drawing.states if not q.is_final and q.name not in leading]
    noted = drawing.note.get("reject")
    if noted in ends:
        return str(noted)
    others = [name for name in ends if name != drawing.start]
    return others[0] if len(others) == 1 else unused_name("reject", names)


def _check_arrow(arrow: JflapTransition) -> None:
    where = f"line {arrow.line}: the transition from {arrow.source} to {arrow.target}"
    if VARIABLE in arrow.read:
        raise ProgramError(f"{where} reads {arrow.read!r}: variables are JFLAP's own, and Kleene lacks them")
    if len(arrow.read.removeprefix(NOT)) > 1 or len(arrow.write) > 1 or arrow.read == NOT:
        raise ProgramError(f"{where} reads {arrow.read!r} and writes {arrow.write!r}; each is one character")
    if arrow.move.upper() not in ("L", "R", "S", ""):
        raise ProgramError(f"{where} moves {arrow.move!r}; a machine moves L, R or S (stay)")


def _symbols(drawing: JflapDrawing, arrows: Iterable[JflapTransition]) -> tuple[str, ...]:
    """The tape symbols but the blank: in the order of Kleene's comment, or of characters."""
    texts = [text for arrow in arrows for text in (arrow.read.removeprefix(NOT), arrow.write)]
    found = {text for text in texts if text not in ("", SQUARE, ANY)}
    noted = drawing.noted("tape")
    return tuple(noted) if noted is not None and found <= set(noted) else tuple(sorted(found))


def _rules(arrows: Iterable[JflapTransition], tape: tuple[str, ...], blank: str) -> Rules:
    """What is done on each state and symbol; a machine that could do two things there is refused."""
    rules: Rules = {}
    lines: dict[tuple[str, str], tuple[int, bool]] = {}
    for arrow in sorted(arrows, key=lambda arrow: arrow.read.startswith(NOT)):
        is_other = arrow.read.startswith(NOT)
        for symbol in _read_symbols(arrow, tape, blank):
            key = (arrow.source, symbol)
            written = symbol if arrow.write == ANY else blank if arrow.write in ("", SQUARE) else arrow.write
            rule: Any = (arrow.target, written, arrow.move.upper() or "R")  # JFLAP's default
            if rules.setdefault(key, rule) != rule and lines[key][1] == is_other:
                raise ProgramError(
                    f"the machine is nondeterministic: from {key[0]} on {_shown(symbol, blank)} it has the transitions "
                    f"in lines {lines[key][0]} and {arrow.line}. Kleene's do one thing: remove one of them"
                )
            lines.setdefault(key, (arrow.line, is_other))
    return rules


def _read_symbols(arrow: JflapTransition, tape: tuple[str, ...], blank: str) -> tuple[str, ...]:
    if arrow.read == ANY:
        return tape
    named = arrow.read.removeprefix(NOT)
    symbol = blank if named in ("", SQUARE) else named
    return tuple(a for a in tape if a != symbol) if arrow.read.startswith(NOT) else (symbol,)


def _shown(symbol: str, blank: str) -> str:
    return "the blank" if symbol == blank else repr(symbol)


# Writing.


def to_drawing(machine: TuringTable) -> JflapDrawing:
    """The drawing of a machine on JFLAP's tape. Transitions that only reject are left out, as JFLAP has it.

    If a run may move left from the first cell, where Kleene's machines stay, two new states write a mark to the left
    of the word before the machine starts, and from the mark every state goes right again.
    """
    _check_symbols(machine)
    symbols = tuple(a for a in machine.tape_alphabet if a != machine.blank)
    rows = [
        JflapTransition(q, r, _out(a, machine), _out(b, machine), move)
        for (q, a), (r, b, move) in _kept(machine).items()
    ]
    note: dict[str, Any] = {"tape": list(symbols), "input": list(machine.input_alphabet), "blank": machine.blank}
    note["reject"] = machine.reject
    names, start = list(machine.states), machine.start
    two_way = TwoWayTable(
        machine.transitions, start, machine.accept, machine.reject, machine.blank, symbols, machine.input_alphabet
    )
    if not never_leaves(two_way):
        mark = next((mark for mark in MARKERS if mark not in machine.tape_alphabet), "")
        if not mark:
            raise ProgramError(f"the machine uses all of {' '.join(MARKERS)}, and its left end needs one of them")
        go = unused_name("before", names)
        put = unused_name("mark", [*names, go])
        rows += [JflapTransition(go, put, ANY, ANY, "L"), JflapTransition(put, start, "", mark, "R")]
        rows += [JflapTransition(q, q, mark, mark, "R") for q in machine.states[:-2]]
        names, start, note[LEFT_END] = [*names, go, put], go, {"states": [go, put], "mark": mark, "start": start}
    place = {name: number for number, name in enumerate(names)}
    known = machine.positions or {}
    ends = ((place[row.source], place[row.target]) for row in rows)
    places = jflap.placed([known.get(q) for q in names], ends, place[start])
    states = tuple(JflapState(q, at, q == start, q == machine.accept) for q, at in zip(names, places))
    return JflapDrawing("turing", states, tuple(rows), note)


def _kept(machine: TuringTable) -> dict[tuple[str, str], tuple[str, str, str]]:
    """The transitions to draw: those that reading adds are left out, unless a state has no others."""
    plain = {key for key, action in machine.transitions.items() if action == (machine.reject, key[1], "R")}
    alone = {q for q, _ in machine.transitions} - {key[0] for key in machine.transitions if key not in plain}
    return {key: action for key, action in machine.transitions.items() if key not in plain or key[0] in alone}


def _without_marks(drawing: JflapDrawing) -> JflapDrawing | None:
    """The drawing before `to_drawing` marked the left end; None if it did not."""
    noted = drawing.note.get(LEFT_END)
    if not isinstance(noted, dict) or not isinstance(noted.get("states"), list):
        return None
    new, mark, start = noted["states"], noted.get("mark"), noted.get("start")
    states = tuple(
        JflapState(q.name, q.position, q.name == start, q.is_final) for q in drawing.states if q.name not in new
    )
    arrows = tuple(arrow for arrow in drawing.transitions if arrow.source not in new and arrow.read != mark)
    return JflapDrawing(drawing.kind, states, arrows, drawing.note)


def _out(symbol: str, machine: TuringTable) -> str:
    return "" if symbol == machine.blank else symbol


def _check_symbols(machine: TuringTable) -> None:
    for symbol in machine.tape_alphabet:
        check_text(symbol, "symbol")
        if symbol == machine.blank:
            continue
        if len(symbol) > 1:
            raise ProgramError(f"a cell of JFLAP's tape holds one character; the symbol {symbol!r} has {len(symbol)}")
        if symbol in (SQUARE, ANY, NOT, VARIABLE, "\n"):
            raise ProgramError(f"the symbol {symbol!r} means something else in JFLAP; give it another name")
