"""An automaton as a graph of states, for diagrams."""

from collections.abc import Sequence

from kleene.notation.graphs import Arrow, Node, StateGraph, marks
from kleene.programs.automata.table import TransitionTable

WIDEST = 14  # characters in a line of an arrow's label
RUN = 4  # symbols in a row from which on "a–d" is written


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
    arrows = tuple(Arrow(*ends, _wrapped(_ranges(found)), tuple(found)) for ends, found in symbols.items())
    names = ", ".join(str(state) for state in dfa.states if state in hidden)
    note = f"Not shown: {names}, from where nothing is accepted. A missing transition leads there." if hidden else ""
    total = len(dfa.states)
    return StateGraph(f"DFA with {total} states", nodes, arrows, place[dfa.start], total, note)


def _ranges(symbols: Sequence[str]) -> list[str]:
    """The symbols, those that follow one another in the character set as one: a, b, c, d becomes a–d."""
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
