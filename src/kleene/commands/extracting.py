"""Extraction on the command line: from a network's file to an automaton."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kleene.commands.subjects import find_subject
from kleene.errors import InputError
from kleene.programs.automata.storage import ENDINGS, check_ending


@dataclass(frozen=True)
class Extracted:
    """An automaton, and the report of the learner where it was learned."""

    dfa: Any
    report: Any = None

    def __str__(self) -> str:
        told = f"{len(self.dfa.states)} states over {' '.join(self.dfa.alphabet)}"
        table = str(self.dfa) if len(self.dfa.states) <= 40 else "(save it with -o to see its table)"
        return f"{self.report or told}\n{table}"

    def as_json(self) -> dict[str, Any]:
        import json

        facts = {} if self.report is None else {"report": self.report.as_json()}
        return {"states": len(self.dfa.states), "automaton": json.loads(self.dfa.to_json())} | facts

    def save(self, path: str) -> Path:
        """The path of the file now holding the automaton, or its picture."""
        if Path(path).suffix == ".svg":
            from kleene.pictures.diagram import save

            return save(self.dfa, path)
        return self.dfa.save(path)


def check_output(path: str) -> None:
    """Refuse a file that no automaton can be written to."""
    check_ending(Path(path), (*ENDINGS, ".svg"))


def extract_named(
    name: str, method: str, *, minimise: bool, max_states: int | None, seed: int, progress: bool
) -> Extracted:
    """The automaton of a network in a file, of one of the shelf, or of the network that a program compiles to."""
    from kleene.compiling import compile
    from kleene.explaining.extraction import extract

    subject, _, network = find_subject(name)
    if not network:
        subject = compile(subject)
    if method == "lstar" and not hasattr(subject, "accepts_batch"):
        raise InputError(f"{name!r} is a {type(subject).__name__}, which accepts no words; lstar asks for these")
    options: dict[str, Any] = {} if max_states is None else {"max_states": max_states}
    if method == "lstar":
        with _watched(progress) as watch:
            report = extract(subject, "lstar", seed=seed, progress=watch, **options)
        return Extracted(report.dfa.minimise() if minimise else report.dfa, report)
    dfa = extract(subject, method, **options)  # type: ignore[arg-type]
    return Extracted(dfa.minimise() if minimise else dfa)


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
