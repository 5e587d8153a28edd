"""Extraction on the command line: from a network's file to an automaton."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.naming import find
from kleene.pictures.figures import ENDINGS as PICTURES
from kleene.programs.automata.storage import ENDINGS, check_ending


@dataclass(frozen=True)
class Extracted:
    """An automaton, the report of the learner where it was learned, the file that holds it, and what went wrong."""

    dfa: Any
    report: Any = None
    file: str | None = None
    note: str | None = None

    def __str__(self) -> str:
        told = f"{len(self.dfa.states)} states over {' '.join(self.dfa.alphabet)}"
        table = str(self.dfa) if len(self.dfa.states) <= 40 else "(save it with -o to see its table)"
        lines = [str(self.report or told), table, *([] if self.file is None else [f"wrote {self.file}"])]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        import json

        facts = {"report": None if self.report is None else self.report.as_json(), "file": self.file, "note": self.note}
        found = {"states": len(self.dfa.states), "automaton": json.loads(self.dfa.to_json())}
        return found | {name: value for name, value in facts.items() if value is not None}

    def minimised(self) -> "Extracted":
        """The smallest automaton of the language; the one there is, with a note, where that cannot be found."""
        try:
            return replace(self, dfa=self.dfa.minimise())
        except (KeyboardInterrupt, MemoryError, RecursionError) as error:
            why = "that was interrupted" if isinstance(error, KeyboardInterrupt) else "it needs too much memory"
            return replace(self, note=f"the automaton of {len(self.dfa.states):,} states is not minimised: {why}")

    def saved(self, path: str) -> "Extracted":
        """The same, now in a file. An automaton that is too large to draw is kept in a file of its own."""
        if Path(path).suffix in ENDINGS:
            return replace(self, file=str(self.dfa.save(path)))
        from kleene.pictures.diagrams.diagram import MANY, diagram

        if len(self.dfa.states) <= MANY:
            return replace(self, file=str(diagram(self.dfa.graph()).save(path)))
        kept = str(self.dfa.save(f"{path}.json"))
        note = (
            f"a diagram of {len(self.dfa.states):,} states cannot be read, and {MANY} is the limit: {kept!r} has the "
            f"automaton. To draw it all the same: kleene view dfa:{kept} --force -o {path}"
        )
        return replace(self, file=kept, note=note)


def extract_named(
    name: str,
    method: str,
    *,
    minimise: bool,
    max_states: int | None,
    seed: int,
    output: str | None,
    progress: bool,
) -> Extracted:
    """The automaton of a network in a file, of one of the shelf, or of the network that a program compiles to."""
    from kleene.compiling import compile

    if output is not None:  # before what may take long
        check_ending(Path(output), (*ENDINGS, *PICTURES))
    found_there = find(name)
    subject = found_there.subject
    network = not found_there.is_program
    options: dict[str, Any] = {} if max_states is None else {"max_states": max_states}
    found = _extracted(subject if network else compile(subject), method, seed, progress, options)
    if minimise:
        if output is not None and Path(output).suffix in ENDINGS:
            found = found.saved(output)  # so that it is kept whatever becomes of the smaller one
        found = found.minimised()
    return found if output is None else found.saved(output)


def _extracted(network: Any, method: str, seed: int, progress: bool, options: dict[str, Any]) -> Extracted:
    from kleene.explaining.automata.extraction import extract

    if method == "lstar" and not hasattr(network, "accepts_batch"):
        raise InputError(f"a {type(network).__name__} accepts no words, and lstar asks for these")
    if method != "lstar":
        return Extracted(extract(network, method, **options))  # type: ignore[arg-type]
    with _watched(progress) as watch:
        report = extract(network, "lstar", seed=seed, progress=watch, **options)
    return Extracted(report.dfa, report)


@contextmanager
def _watched(shown: bool) -> Iterator[Any]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown) as bar:
        task = bar.add_task("asking the network", total=None)

        def watch(now: Any) -> None:
            asked = now.membership_queries + now.equivalence_queries
            bar.update(task, description=f"round {now.rounds}: {now.states} states, {asked:,} words asked")

        yield watch
