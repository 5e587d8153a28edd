"""Learnability on a split of SCAN: does a program's minimal version for the training commands do the test commands?"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.explaining.programs.data_sets import InputSource
from kleene.explaining.programs.learnable import Learnability, learnable
from kleene.naming import find
from kleene.notation.console import Entry
from kleene.pictures.pages import drawn_with_tables, figure_of
from kleene.programs.alta.library.scan_language import interpret
from kleene.programs.alta.program import Program
from kleene.tasks.scan_splits import ScanSplit, scan_split
from kleene.traces.markup import html_text


@dataclass(frozen=True, repr=False)
class SplitLearnability:
    """What `learnable` says about a program on a split of SCAN. It is true where the minimal version generalises."""

    split: ScanSplit
    report: Learnability
    tests: tuple[str, ...]  # the test commands, as the report has them

    @property
    def command(self) -> str | None:
        """The shortest test command on which the minimal version fails, the report's counterexample; None if none."""
        example = self.report.counterexample
        return None if example is None else self.tests[self.report.tests.index(example.tokens)]

    @property
    def generalises(self) -> bool:
        return self.report.generalises

    def __bool__(self) -> bool:
        return self.generalises

    def __repr__(self) -> str:
        return f"<SplitLearnability on {self.split.name}: {self.report!r}>"

    def __str__(self) -> str:
        failing = "" if self.command is None else f"shortest command on which it fails: {self.command}\n"
        return f"{self.split}\n{failing}{self.report}"

    def _repr_html_(self) -> str:
        return figure_of(self.draw) + self.html_tables()

    @property
    def page_title(self) -> str:
        """What a page about this is called."""
        return f"{self.report.page_title} SCAN, split {self.split.name}"

    def html_tables(self) -> str:
        """The split, and the tables of the report."""
        failing = "" if self.command is None else f"\nshortest command on which it fails: {self.command}"
        return html_text(f"{self.split}{failing}") + self.report.html_tables()

    def as_json(self) -> dict[str, Any]:
        facts = {"split": self.split.name, "divergences": self.split.divergences.as_json(), "command": self.command}
        return self.report.as_json() | facts

    @drawn_with_tables
    def draw(self, path: Any) -> Path:
        """Draw how often the minimal version agrees with the program, by the number of words, and return the path."""
        return self.report.draw(path)


def learnable_on_split(name: str, split: str | ScanSplit, *, constraints: bool = False) -> SplitLearnability:
    """Whether the minimal version of a SCAN program for the training commands agrees with it on the test commands.

    `name` is a program as on the command line, `scan` or `scan_shift_reduce`; `split` is a name such as `length`,
    `mcd:0` or `FILE.json` (see `scan_split`), or a split of your own.
    """
    found = find(name)
    entry = _scan_entry(name, found.subject, found.entry)
    read = InputSource(found.subject, entry).read
    chosen = scan_split(split) if isinstance(split, str) else split
    # A published training file may repeat a command thousands of times; once is enough for what fires.
    commands = {part: tuple(dict.fromkeys(getattr(chosen, part))) for part in ("train", "test")}
    train, test = ([read(command) for command in some] for some in commands.values())
    lengths = {tuple(tokens): len(command.split()) for tokens, command in zip(test, commands["test"])}
    report = learnable(
        found.subject, train, test, constraints=constraints, length=lambda tokens: lengths[tuple(tokens)],
        reference=entry.reference,
    )  # fmt: skip
    return SplitLearnability(chosen, report, commands["test"])


def _scan_entry(name: str, program: Any, entry: Entry | None) -> Entry:
    """The entry of a program whose reference interprets SCAN; other programs are refused."""
    problem = f"{name!r} is no program of SCAN, and only these have splits; give scan or scan_shift_reduce"
    if not isinstance(program, Program) or entry is None or None in (entry.reference, entry.read, entry.show):
        raise InputError(problem)
    command = "jump twice after turn left"
    try:
        tokens = entry.read(command.split())
        right = entry.show(tokens, entry.reference(tokens)) == interpret(command)
    except InputError:
        right = False
    if not right:
        raise InputError(problem)
    return entry
