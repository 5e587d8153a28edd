"""The verb `view`: a picture of an automaton, a Turing machine, a recurrent network's automaton, or a run."""

from dataclasses import replace
from typing import Any

from kleene import kinds, naming
from kleene.errors import InputError
from kleene.notation.words import Word
from kleene.pictures.diagrams import diagram
from kleene.pictures.figures import Picture, check_picture
from kleene.pictures.traces import trace_picture
from kleene.traces import Trace


def view(
    subject: Any, word: Word | None = None, path: Any = None, *, dead: bool = True, force: bool = False
) -> Picture:
    """A picture that shows itself in a notebook and can be saved; with a `path` it is saved there at once.

    The subject is a DFA, a Turing machine, a recurrent network, whose automaton is extracted and drawn, the trace of a
    run, or the name of a program or network as on the command line. The path of a `word` is drawn bold. With
    `dead=False`, states from which nothing is accepted are left out. A picture too large to read is refused unless you
    `force` it.

    >>> view("dfa:(a|b)*abb", "aabb")
    <Picture: DFA with 4 states>
    """
    if path is not None:
        check_picture(path)  # a bad path fails before the drawing starts
    picture = _drawn(subject, word, dead=dead, force=force)
    return picture if path is None else replace(picture, path=picture.save(path))


def _drawn(subject: Any, word: Word | None, **options: bool) -> Picture:
    if isinstance(subject, Trace):
        return run_picture(subject, word, **options)
    named = repr(subject) if isinstance(subject, str) else "the subject"
    found = naming.find(subject) if isinstance(subject, str) else None
    program = subject if found is None else found.subject
    kind = kinds.find(program)
    if kind is None or kind.picture is None:
        raise InputError(
            f"{named} is a {type(program).__name__}; kleene view draws automata and Turing machines, recurrent "
            f"networks as the automata that they are, and traces"
        )
    return kind.picture(program, word, **options)


def state_diagram(subject: Any, word: Word | None = None, *, dead: bool = True, force: bool = False) -> Picture:
    """The diagram of a program's states, or of the automaton extracted from a network."""
    kind = kinds.of(subject)
    if not kind.is_program(subject):
        assert kind.extractor is not None
        subject = kind.extractor(subject)
        kind = kinds.of(subject)
    typed = kind.read([word], subject) if isinstance(word, str) else word
    return diagram(subject.graph(typed, dead=dead), force=force)


def run_picture(trace: Any, word: Word | None = None, *, dead: bool = True, force: bool = False) -> Picture:
    """The table of a trace."""
    if word is not None:
        raise InputError("a trace is the run on one input already; leave the word out")
    return trace_picture(trace, force=force)
