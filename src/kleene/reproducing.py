"""`kleene.reproduce`: show or run a table or figure of a paper. They are those of kleene-papers, a package of its own.

The entry point `papers` in the group `kleene.reproductions` is how Kleene finds them: nothing here names their modules.
"""

from collections.abc import Callable
from importlib.metadata import entry_points, version
from typing import Any, Protocol, runtime_checkable

from kleene.errors import InputError

PACKAGE = "kleene-papers"
GROUP, NAME = "kleene.reproductions", "papers"


@runtime_checkable
class Papers(Protocol):
    """What the entry point names: results by name, and a list of all tables, figures and theorems."""

    def reproduce(self, name: str, **options: Any) -> Any:
        """The result of that name; `options` are those of `kleene.reproduce`."""
        ...

    def texts(self) -> tuple[str, ...]:
        """The words that list one text: what the names of its results begin with."""
        ...

    def records(self, text: str | None = None) -> list[dict[str, Any]]:
        """A record for each table, figure and theorem of the texts, or of one."""
        ...

    def tables(self, text: str | None = None) -> tuple[Any, ...]:
        """The same as tables, and one of the other studies."""
        ...


def papers() -> Papers:
    """The papers' results; refuses where kleene-papers is not installed, or cannot be imported."""
    found = entry_points(group=GROUP, name=NAME)
    fitting = f"pip install {PACKAGE}=={version('kleene')}"
    if not found:
        raise InputError(
            f"the papers' results are the package {PACKAGE}, which is not installed: {fitting}, "
            "or in a checkout of Kleene pip install -e ./papers"
        )
    (entry, *_) = found
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        raise InputError(f"the package {PACKAGE} does not fit this Kleene ({error}): {fitting}") from error


def reproduce(
    name: str,
    *,
    run: str | None = None,
    iterations: int | None = None,
    model: Any = None,
    networks: int | None = None,
    corpora: int | None = None,
    folder: Any = "results",
    first_seed: int = 0,
    piece: str | None = None,
    minutes: float | None = None,
    on_begin: Callable[[Any], None] | None = None,
    watch: Callable[[float, str], None] | None = None,
) -> Any:
    """The stored result of a table or figure at once; or a new one, with `run` "quick" or "full", the paper's size.

    The results are those of the package kleene-papers (`pip install kleene-papers`).
    `model` is a language model, or a file with one, for studies that only look at a model: then none is taught.
    `networks` says how many language models are taught, for the studies of English and, for each of their `corpora`,
    of rules. Each plan keeps a checkpoint in the folder while it runs, so that a stopped study can continue.

    Studies of partial traces are sweeps: their seeds begin at `first_seed`, `piece` is "i/n" for the i-th of n parts of
    their runs, and after `minutes` they stop at a checkpoint. They raise an `UnfinishedError` as long as runs are left,
    and the call that finds all of them in the folder returns the result.
    """
    return papers().reproduce(
        name,
        run=run,
        iterations=iterations,
        model=model,
        networks=networks,
        corpora=corpora,
        folder=folder,
        first_seed=first_seed,
        piece=piece,
        minutes=minutes,
        on_begin=on_begin,
        watch=watch,
    )
