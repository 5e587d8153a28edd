"""The verb `view`: what anything looks like, as a picture, a page that steps through a run, or a page of tables."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kleene import kinds, naming
from kleene.errors import InputError
from kleene.files import write_atomically
from kleene.notation.graphs import StateGraph
from kleene.notation.words import Word
from kleene.pictures.diagrams import MANY, diagram, diagrams
from kleene.pictures.figures import Picture, check_picture
from kleene.pictures.pages import is_page, page
from kleene.pictures.traces import trace_picture
from kleene.running import Outcome
from kleene.traces import Trace
from kleene.watching.cutting import Cut
from kleene.watching.page import WatchPage
from kleene.watching.watch import page_of


@dataclass(frozen=True, repr=False)
class ObjectPage:
    """What an object shows in a notebook, which can be saved as a page that needs no network."""

    title: str
    content: str
    path: Path | None = None

    @property
    def html(self) -> str:
        """The whole page."""
        return page(self.title, f"<section>{self.content}</section>")

    def save(self, path: Any) -> Path:
        """Write the page and return the path, which ends in .html."""
        if not is_page(path):
            raise InputError(f"{self.title} has no picture for {str(path)!r}; give a name that ends in .html")
        return write_atomically(path, self.html)

    def as_json(self) -> dict[str, Any]:
        """The file that holds the page, if it was saved."""
        return {} if self.path is None else {"file": str(self.path)}

    def _repr_html_(self) -> str:
        return self.content

    def __repr__(self) -> str:
        return f"<ObjectPage: {self.title}>"


@dataclass(frozen=True)
class ProgramFile:
    """A file that holds a program, and the program in it."""

    path: Path
    program: Any

    def as_json(self) -> dict[str, Any]:
        return {"file": str(self.path), "states": len(self.program.states)}


def view(
    subject: Any,
    word: Word | None = None,
    path: Any = None,
    *,
    minimise: bool = False,
    dead: bool = True,
    force: bool = False,
) -> Picture | WatchPage | ObjectPage:
    """What the subject looks like: it shows itself in a notebook and can be saved; with a `path` it is saved there.

    A DFA, a Turing machine and a trace are pictures; so is a recurrent network, whose automaton is extracted and drawn.
    What `kleene.run` returns is a page that steps through the run. Any other program, machine or report is a page with
    what it shows in a notebook. A string is the name of a program or network as on the command line. The path of a
    `word` is drawn bold. Of an NFA, the DFA is drawn below it. With `minimise`, the smallest automaton is drawn. With
    `dead=False`, states from which nothing is accepted are left out. A picture too large to read is refused unless you
    `force` it.

    >>> view("dfa:(a|b)*abb", "aabb"), view("addition")
    (<Picture: DFA with 4 states>, <ObjectPage: Program addition: 8 variables, 6 heads, 11 cases>)
    """
    if path is not None:
        check_picture(path)  # a bad path fails before the drawing starts
    shown = _shown(subject, word, path, minimise, dead=dead, force=force)
    if path is None:
        return shown
    saved = shown.save(path)
    return shown if isinstance(shown, WatchPage) else replace(shown, path=saved)


def save_program(subject: Any, path: Any, *, minimise: bool = False) -> ProgramFile:
    """Save a program, or the smallest one that computes the same, as a file of its kind: .jff, .json, .dot, .tm."""
    found = naming.subject_of(subject)
    name = naming.name_of(subject)
    if not found.is_program:
        raise InputError(f"{name!r} is a network; kleene extract finds its automaton, and writes it with -o")
    if Path(path).suffix not in found.kind.files:
        known = ", ".join(found.kind.files) or "no file at all"
        raise InputError(f"{name!r} ({found.kind.name}) is written as {known}, and not as {str(path)!r}")
    program = _smallest(found.subject, found.kind) if minimise else found.subject
    return ProgramFile(program.save(path), program)


def is_program_file(path: Any) -> bool:
    """Whether a name ends as the files of some kind's programs do."""
    return Path(path).suffix in {ending for kind in kinds.known() for ending in kind.files}


def _smallest(program: Any, kind: kinds.Kind) -> Any:
    if kind.smallest is None:
        raise InputError(f"a {kind.name} cannot be minimised; an automaton can")
    return kind.smallest(program)


def _shown(
    subject: Any, word: Word | None, path: Any, minimise: bool, **options: bool
) -> Picture | WatchPage | ObjectPage:
    if isinstance(subject, (Picture, WatchPage, ObjectPage)):
        return subject
    if isinstance(subject, Outcome):
        if subject.kind.watched is not None and (path is None or is_page(path)):
            return page_of([subject], Cut(), _typed(subject.input))
        subject = subject.trace
    if isinstance(subject, Trace):
        return run_picture(subject, word, **options)
    original = naming.looked_up(subject)[0]
    kind = kinds.find(original)
    if kind is not None and kind.picture is not None:
        return kind.picture(original, word, minimise=minimise, **options)
    if minimise:
        raise InputError("only an automaton, or a network that is one, can be minimised")
    if isinstance(subject, str):
        return _page_of_object(kinds.adopted(original), word, repr(subject))
    return _page_of_object(subject, word, "the subject")


def _page_of_object(subject: Any, word: Word | None, named: str) -> ObjectPage:
    content = getattr(subject, "_repr_html_", None)
    if content is None:
        raise InputError(
            f"{named} is a {type(subject).__name__}; kleene view shows programs, machines, runs, and what the verbs of "
            f"Kleene return"
        )
    if word is not None:
        raise InputError(f"{named} has no states, so that no path of a word can be drawn; leave the word out")
    return ObjectPage(repr(subject).strip("<>"), content())


def _typed(given: Any) -> str:
    """An input as a person types it."""
    return given if isinstance(given, str) else " ".join(map(str, given))


def state_diagram(
    subject: Any, word: Word | None = None, *, minimise: bool = False, dead: bool = True, force: bool = False
) -> Picture:
    """The diagram of a program's states, or of the automaton extracted from a network; both of an NFA and its DFA."""
    kind = kinds.of(subject)
    if not kind.is_program(subject) and not kinds.is_relative(subject):
        assert kind.extractor is not None
        subject = kind.extractor(subject)
        kind = kinds.of(subject)
    typed = kind.read([word], subject) if isinstance(word, str) else word
    if minimise:
        subject = _smallest(kinds.adopted(subject), kind)
    graph = subject.graph(typed, dead=dead)
    if not kinds.is_relative(subject):
        return diagram(graph, force=force)
    return _with_program(graph, kinds.adopted(subject).graph(typed, dead=dead), force=force)


def _with_program(graph: StateGraph, program: StateGraph, *, force: bool) -> Picture:
    """The diagram of a relative of a program, and that of the program below it, if it can be read."""
    if program.total > MANY and not force:
        note = f"The {program.title} is not drawn; --minimise draws the smallest, --force this one."
        return diagram(replace(graph, note=note), force=force)
    note = f"The {program.title}, each of which is a set of states of the automaton above. {program.note}"
    below = replace(program, note=note.strip())
    return diagrams([graph, below], f"{graph.title}, and its {program.title}", force=force)


def run_picture(trace: Any, word: Word | None = None, *, dead: bool = True, force: bool = False) -> Picture:
    """The table of a trace."""
    if word is not None:
        raise InputError("a trace is the run on one input already; leave the word out")
    return trace_picture(trace, force=force)
