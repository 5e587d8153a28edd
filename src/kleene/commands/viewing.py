"""State diagrams on the command line."""

from kleene.commands.subjects import find_subject
from kleene.commands.words import as_word
from kleene.errors import InputError
from kleene.programs.automata import DFA
from kleene.programs.turing import TuringMachine


def drawn(name: str, word: str | None, *, dead: bool, force: bool) -> tuple[str, int]:
    """The diagram of an automaton or Turing machine, or of the automaton that a network is, as SVG; and its states."""
    from kleene.pictures.diagram import diagram

    subject, _, network = find_subject(name)
    if network:
        from kleene.explaining.extraction import extract

        subject = extract(subject)
    if not isinstance(subject, DFA | TuringMachine):
        raise InputError(f"{name!r} is a {type(subject).__name__}; kleene view draws automata and Turing machines")
    alphabet = subject.alphabet if isinstance(subject, DFA) else subject.input_alphabet
    trace = None if word is None else as_word([word], alphabet)
    return diagram(subject, trace=trace, dead=dead, force=force), len(subject.states)
