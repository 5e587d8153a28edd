"""The verb `view`: a picture of an automaton, of a Turing machine, of what a network computes, or of a run."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kleene.commands.subjects import find_subject
from kleene.commands.words import as_word
from kleene.errors import InputError
from kleene.notation.words import Word
from kleene.pictures.diagrams.diagram import diagram
from kleene.pictures.figures import Picture, check_picture
from kleene.pictures.traces import trace_picture


def view(
    subject: Any, word: Word | None = None, path: Any = None, *, dead: bool = True, force: bool = False
) -> Picture:
    """A picture that shows itself in a notebook and can be saved; with a `path` it is saved there at once.

    The subject is a DFA, a Turing machine, a recurrent network (the automaton that it is, is extracted and drawn), the
    trace of a run, or the name of a program or network as on the command line. The walk of a `word` is drawn bold. With
    `dead=False` states from which nothing is accepted are left out. More than can be read is refused unless you `force`
    it.

    >>> view("dfa:(a|b)*abb", "aabb")
    <Picture: DFA with 4 states>
    """
    if path is not None:
        check_picture(path)  # before what may take long
    named = repr(subject) if isinstance(subject, str) else "the subject"
    if isinstance(subject, str):
        subject, word = _found(subject, word)
    drawn = _hook(subject)
    if drawn is None:
        raise InputError(
            f"{named} is a {type(subject).__name__}; kleene view draws automata and Turing machines, recurrent "
            f"networks as the automata that they are, and traces"
        )
    picture = drawn(subject, word, dead=dead, force=force)
    return picture if path is None else replace(picture, path=picture.save(path))


def state_diagram(subject: Any, word: Word | None = None, *, dead: bool = True, force: bool = False) -> Picture:
    """The diagram of a program that has a graph of states."""
    return diagram(subject.graph(word, dead=dead), force=force)


def extracted_diagram(network: Any, word: Word | None = None, *, dead: bool = True, force: bool = False) -> Picture:
    """The diagram of the automaton that a network is."""
    return state_diagram(_extracted(network), word, dead=dead, force=force)


def run_picture(trace: Any, word: Word | None = None, *, dead: bool = True, force: bool = False) -> Picture:
    """The table of a trace."""
    if word is not None:
        raise InputError("a trace is the run on one input already; leave the word out")
    return trace_picture(trace, force=force)


# The picture of each kind, by the name of its class or of an ancestor.
PICTURES: dict[str, Callable[..., Picture]] = {
    "DFA": state_diagram,
    "TuringMachine": state_diagram,
    "SimpleRNN": extracted_diagram,
    "TuringRNN": extracted_diagram,  # which is refused with a reason
    "Trace": run_picture,
    "Computation": lambda computation, word=None, **options: run_picture(computation.trace, word, **options),
}
ALPHABETS = {"TuringMachine": "input_alphabet"}  # where words are not made of `alphabet`


def _hook(subject: Any) -> Callable[..., Picture] | None:
    named = (PICTURES.get(ancestor.__name__) for ancestor in type(subject).__mro__)
    return next((hook for hook in named if hook is not None), None)


def _found(name: str, word: Any) -> tuple[Any, Any]:
    """What has that name, an automaton if it is a network; and the word as typed, made of its symbols."""
    subject, _, is_network = find_subject(name)
    if is_network:
        subject = _extracted(subject)
    if _hook(subject) is None or not isinstance(word, str):
        return subject, word
    return subject, as_word([word], getattr(subject, ALPHABETS.get(type(subject).__name__, "alphabet")))


def _extracted(network: Any) -> Any:
    from kleene.explaining.automata.extraction import extract  # late, because it needs jax

    return extract(network)
