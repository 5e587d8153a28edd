"""State diagrams on the command line."""

from typing import Any

from kleene.errors import InputError
from kleene.naming import find
from kleene.notation.console import typed_word
from kleene.programs.automata import DFA
from kleene.programs.turing import TuringMachine


def drawn(name: str, word: str | None, *, dead: bool, force: bool) -> str:
    """The diagram of an automaton or Turing machine, or of the automaton that a network is, as SVG."""
    from kleene.pictures.diagrams.diagram import diagram

    machine, trace = _machine(name, word)
    return diagram(machine, trace=trace, dead=dead, force=force)


def save_drawn(name: str, word: str | None, path: str, *, dead: bool, force: bool) -> tuple[str, int]:
    """The file now holding the diagram, as its name says; and the number of states."""
    from kleene.pictures.diagrams.diagram import save
    from kleene.pictures.figures import check_picture

    check_picture(path, "--output")  # before what may take long
    machine, trace = _machine(name, word)
    return str(save(machine, path, trace=trace, dead=dead, force=force)), len(machine.states)


def _machine(name: str, word: str | None) -> tuple[DFA | TuringMachine, Any]:
    """The machine to draw, and the word whose path is shown in it."""
    found = find(name)
    subject = found.subject
    if not found.is_program:
        from kleene.explaining.automata.extraction import extract

        subject = extract(subject)
    if not isinstance(subject, DFA | TuringMachine):
        raise InputError(f"{name!r} is a {type(subject).__name__}; kleene view draws automata and Turing machines")
    alphabet = subject.alphabet if isinstance(subject, DFA) else subject.input_alphabet
    return subject, None if word is None else typed_word([word], alphabet)
