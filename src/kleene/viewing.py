"""The verb `view`: what anything looks like, as a picture, a page that steps through a run, or a page of tables."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kleene import kinds, naming
from kleene.errors import InputError
from kleene.files import write_atomically
from kleene.notation.words import Word
from kleene.pictures.diagrams import diagram
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


def view(
    subject: Any, word: Word | None = None, path: Any = None, *, dead: bool = True, force: bool = False
) -> Picture | WatchPage | ObjectPage:
    """What the subject looks like: it shows itself in a notebook and can be saved; with a `path` it is saved there.

    A DFA, a Turing machine and a trace are pictures; so is a recurrent network, whose automaton is extracted and drawn.
    What `kleene.run` returns is a page that steps through the run. Any other program, machine or report is a page with
    what it shows in a notebook. A string is the name of a program or network as on the command line. The path of a
    `word` is drawn bold. With `dead=False`, states from which nothing is accepted are left out. A picture too large to
    read is refused unless you `force` it.

    >>> view("dfa:(a|b)*abb", "aabb"), view("addition")
    (<Picture: DFA with 4 states>, <ObjectPage: Program addition: 8 variables, 6 heads, 11 cases>)
    """
    if path is not None:
        check_picture(path)  # a bad path fails before the drawing starts
    shown = _shown(subject, word, path, dead=dead, force=force)
    if path is None:
        return shown
    saved = shown.save(path)
    return shown if isinstance(shown, WatchPage) else replace(shown, path=saved)


def _shown(subject: Any, word: Word | None, path: Any, **options: bool) -> Picture | WatchPage | ObjectPage:
    if isinstance(subject, (Picture, WatchPage, ObjectPage)):
        return subject
    if isinstance(subject, Outcome):
        if subject.kind.watched is not None and (path is None or is_page(path)):
            return page_of([subject], Cut(), _typed(subject.input))
        subject = subject.trace
    if isinstance(subject, Trace):
        return run_picture(subject, word, **options)
    found = naming.find(subject) if isinstance(subject, str) else None
    program = subject if found is None else found.subject
    kind = kinds.find(program)
    if kind is not None and kind.picture is not None:
        return kind.picture(program, word, **options)
    return _page_of_object(program, word, repr(subject) if found is not None else "the subject")


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
