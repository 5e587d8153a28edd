"""Learnability by minimal programs: does the minimal version of a program do on test inputs what the program does?

Where it does not, the training set leaves the behaviour on the test set open, even if every value of the program's
trace is given to the pupil (ALTA, section 3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kleene.errors import HaltError, InputError, RunError, UndefinedAttentionError
from kleene.explaining.programs.minimal import Minimal, minimal
from kleene.explaining.programs.shares import Share, curve_table, share_table, shares_by, shares_text
from kleene.explaining.programs.taught import TaughtOutputs
from kleene.explaining.programs.watching import OnInputs, Outputs, RuleProgram, program_inputs, rule_program, watch
from kleene.notation.words import Tokens
from kleene.pictures.pages import drawn_with_tables, figure_of
from kleene.programs.alta.program import Program
from kleene.traces import Trace
from kleene.traces.markup import html_text

SHOWN = 24  # tokens of a counterexample that are printed


@dataclass(frozen=True)
class Counterexample:
    """A test input on which the minimal program differs: what each of the two gives, and where they part.

    Where the minimal program fails, `found` is None and `difference` says why.
    """

    tokens: list[Any]
    expected: list[Any]
    found: list[Any] | None
    difference: str

    def _repr_html_(self) -> str:
        return html_text(self)

    def __str__(self) -> str:
        given = "an error" if self.found is None else _row(self.found)
        return f"{_row(self.tokens)} gives {given}, not {_row(self.expected)}\n  {self.difference}"

    def as_json(self) -> dict[str, Any]:
        return {
            "input": self.tokens,
            "expected": self.expected,
            "found": self.found,
            "difference": self.difference,
        }


def _why(error: RunError) -> str:
    """The error of a minimal program, without the advice to its author."""
    if isinstance(error, UndefinedAttentionError):
        place = f"in layer {error.layer}, at position {error.position}"
        return f"{place}, it uses head {error.head!r}, which is undefined there: {error.reason}"
    if isinstance(error, HaltError):
        return f"it has not halted after {error.max_layers:,} layers"
    return str(error)


def _row(values: Sequence[Any]) -> str:
    return " ".join([*map(str, values[:SHOWN]), *["…"] * (len(values) > SHOWN)])


@dataclass(frozen=True, repr=False)
class Learnability:
    """Whether the minimal version of a program generalises from a training set to a test set, and where it fails.

    It is true where the minimal version agrees with the program on every test input.
    """

    minimal: Minimal
    tests: list[list[Any]]
    expected: list[list[Any]]
    found: Outputs
    length: Callable[[list[Any]], int] = len
    right: list[bool] | None = None  # where the program itself agrees with a reference, if there was one
    taught: TaughtOutputs | None = None  # of a machine that was taught the program, if there is one
    notes: tuple[str, ...] = ()  # what a reader should know of the data sets

    @cached_property
    def agree(self) -> list[bool]:
        return [found == wanted for found, wanted in zip(self.found, self.expected)]

    @property
    def generalises(self) -> bool:
        return all(self.agree)

    def __bool__(self) -> bool:
        return self.generalises

    @cached_property
    def counterexample(self) -> Counterexample | None:
        """The shortest test input on which the minimal program differs, the first of those; None where none does."""
        wrong = [i for i, same in enumerate(self.agree) if not same]
        if not wrong:
            return None
        row = min(wrong, key=lambda i: (len(self.tests[i]), i))
        try:
            ended = replace(self.minimal.program.run(self.tests[row]), source="minimal")
            difference = self.minimal.original.run(self.tests[row]).difference(ended) or ""
        except RunError as error:
            difference = _why(error)
        return Counterexample(self.tests[row], self.expected[row], self.found[row], difference)

    def traces(self) -> tuple[Trace, Trace | None]:
        """The traces of the program and of its minimal version on the counterexample; None where the latter fails."""
        if self.counterexample is None:
            raise InputError("there is no counterexample: the minimal program agrees on every test input")
        tokens, failed = self.counterexample.tokens, self.counterexample.found is None
        return self.minimal.original.run(tokens), None if failed else self.minimal.program.run(tokens)

    @property
    def by_length(self) -> dict[int, Share]:
        """On how many of the test inputs of each length the two agree."""
        return shares_by(self._lengths, self.agree)

    @property
    def by_ones(self) -> dict[int, Share]:
        """The same by the number of ones, for programs on bits with at most one token more; empty for others."""
        return shares_by(self._ones, self.agree) if self._has_ones else {}

    @property
    def _has_ones(self) -> bool:
        program = self.minimal.original
        return program.input_range <= 3 and (program.vocabulary is None or set(program.vocabulary.values) == {0, 1})

    @cached_property
    def taught_agree(self) -> list[bool]:
        """Where the taught machine agrees with the program, on the test inputs that it was run on."""
        taught = self.taught
        return [] if taught is None else [o == self.expected[row] for row, o in zip(taught.rows, taught.outputs)]

    def taught_by(self, keys: Sequence[int]) -> dict[int, Share]:
        """How often the taught machine agrees with the program, by the keys of all test inputs."""
        return shares_by([keys[row] for row in self.taught.rows] if self.taught else [], self.taught_agree)

    @property
    def _lengths(self) -> list[int]:
        return [self.length(tokens) for tokens in self.tests]

    @property
    def _ones(self) -> list[int]:
        return [tokens.count(1) for tokens in self.tests]

    def __repr__(self) -> str:
        verdict = "generalises" if self.generalises else "does not generalise"
        return f"<Learnability of {self.minimal.original.name}: {verdict}, {sum(self.agree):,} of {len(self.tests):,}>"

    def __str__(self) -> str:
        right, of = sum(self.agree), len(self.tests)
        verdict = "generalises" if self.generalises else "does not generalise"
        lines = [
            f"the minimal version of {self.minimal.original.name} {verdict}: "
            f"it agrees with the program on {right:,} of {of:,} test inputs"
        ]
        if self.right is not None:
            lines.append(f"the program itself is right on {sum(self.right):,} of {of:,}, by its reference")
        if self.counterexample is not None:
            lines.append(f"shortest counterexample: {self.counterexample}")
            lines.append(f"agreement by length: {shares_text(self.by_length)}")
            lines += [f"agreement by number of ones: {shares_text(self.by_ones)}"] if self.by_ones else []
        return "\n".join([*lines, *self._taught_lines(), *self.notes, *self.minimal.lines(), *self._curves()])

    def _curves(self) -> list[str]:
        """How often the program, its minimal version and a taught machine are right, by length and number of ones."""
        lines = []
        counted = {"length": self._lengths} | ({"number of ones": self._ones} if self._has_ones else {})
        for across, keys in counted.items():
            curves = {"program": shares_by(keys, self.right)} if self.right is not None else {}
            curves["minimal version"] = shares_by(keys, self.agree)
            if self.taught is not None:
                curves["taught"] = self.taught_by(keys)
            lines += curve_table(f"right by {across}", curves)
        return lines

    def _taught_lines(self) -> list[str]:
        if self.taught is None:
            return []
        right, of = sum(self.taught_agree), len(self.taught.rows)
        some = "" if of == len(self.tests) else ", a random choice"
        lines = [f"taught, {self.taught.what}: it agrees with the program on {right:,} of {of:,} test inputs{some}"]
        lines.append(f"agreement of the taught by length: {shares_text(self.taught_by(self._lengths))}")
        if self.by_ones:
            lines.append(f"agreement of the taught by number of ones: {shares_text(self.taught_by(self._ones))}")
        return lines

    def _taught_json(self) -> dict[str, Any]:
        if self.taught is None:
            return {}
        keys = {"by_length": self._lengths} | ({"by_ones": self._ones} if self.by_ones else {})
        shares = {name: {str(n): [*share] for n, share in self.taught_by(key).items()} for name, key in keys.items()}
        counts = {"what": self.taught.what, "test": len(self.taught.rows), "agree": sum(self.taught_agree)}
        return {"taught": counts | shares}

    def _repr_html_(self) -> str:
        return figure_of(self.draw) + self.html_tables()

    @property
    def page_title(self) -> str:
        """What a page about this is called."""
        return f"Is {self.minimal.original.name} learned from its training inputs?"

    def html_tables(self) -> str:
        """The report, and how often program and minimal version agree by length, as tables."""
        tables = [html_text(self), share_table("length", self.by_length, self.taught_by(self._lengths))]
        tables += [share_table("number of ones", self.by_ones, self.taught_by(self._ones))] if self.by_ones else []
        return "".join(tables)

    def as_json(self) -> dict[str, Any]:
        example = self.counterexample
        return (
            {
                "program": self.minimal.original.name,
                "generalises": self.generalises,
                "rules": len(self.minimal.log.rules),
                "minimal_rules": len(self.minimal.rules),
                "dropped": self.minimal.dropped,
                "counterexample": None if example is None else example.as_json(),
                "train": self.minimal.inputs,
                "test": len(self.tests),
                "agree": sum(self.agree),
                "program_right": None if self.right is None else sum(self.right),
                "by_length": {str(n): list(share) for n, share in self.by_length.items()},
                "by_ones": {str(n): list(share) for n, share in self.by_ones.items()},
            }
            | self._taught_json()
            | ({"notes": list(self.notes)} if self.notes else {})
        )

    @drawn_with_tables
    def draw(self, path: Any) -> Path:
        """Draw how often the minimal version agrees with the program, by length and by number of ones.

        The program's own accuracy is drawn where there was a reference to measure it by, and that of a taught machine
        where there is one. Returns the path.
        """
        from kleene.pictures.plots import Panel, line_panels

        panels = {}
        for across, keys, shown in (("length", self._lengths, True), ("number of ones", self._ones, self.by_ones)):
            if shown:
                lines = {"minimal version: as the program": _line(shares_by(keys, self.agree), 1)}
                if self.right is not None:
                    lines = {"program: as the reference": _line(shares_by(keys, self.right), 0)} | lines
                if self.taught is not None:
                    lines["taught: as the program"] = _line(self.taught_by(keys), 2)
                panels[f"By {across}"] = Panel(lines, across, "right, %", marks="o", limits=(-4, 104))
        kept = f"{len(self.minimal.rules):,} of {len(self.minimal.log.rules):,} rules"
        return line_panels(panels, path, title=f"{self.minimal.original.name}: {kept}")


def _line(found: dict[int, Share], colour: int) -> Any:
    from kleene.pictures.plots import Line

    shares = [100 * right / of for right, of in found.values()]
    return Line(list(found), shares, colour=colour, dashed=colour == 0)


def learnable(
    program: RuleProgram,
    train: Sequence[Tokens],
    test: Sequence[Tokens],
    *,
    constraints: bool = False,
    length: Callable[[list[Any]], int] = len,
    reference: Callable[[list[Any]], list[Any]] | None = None,
    on_inputs: OnInputs | None = None,
) -> Learnability:
    """Whether the program's minimal version with respect to `train` agrees with the program on `test`.

    A minimal version that raises an error on a test input, or never halts there, does not agree. `constraints` also
    drops conditions that no example needs (see `minimal`). `length` is the length of an input, for the report, and
    `reference` is what the output should be, to measure the program itself. `on_inputs` is called with the number of
    inputs whose runs have ended, of which there are those of `train` once and those of `test` twice. A RASP program is
    explained as the transformer program that it is lowered to, in its own tokens and values.

    >>> from kleene.programs.alta.library import parity
    >>> learnable(parity.relative(), [[2, 1, 0, 1, 1, 0]], [[2, 1, 1, 1, 0, 1, 1, 0, 0, 1]])
    <Learnability of parity_relative: generalises, 1 of 1>
    >>> print(learnable(parity.sum_modulo(), [[2, 1, 0]], [[2, 1, 1], [2, 1, 1, 1]]).counterexample)
    2 1 1 1 gives 0 0 0 0, not 1 1 1 1
      step 1, position 0: 'parity' is 1 in program but 0 in minimal (and 3 more places in this channel)
    """
    found = minimal(program, train, constraints=constraints, on_inputs=on_inputs)
    test = list(test)
    program = rule_program(program, test)
    program_inputs(program, test, "test")
    tests = [_plain_tokens(program, tokens) for tokens in test]
    expected = [output or [] for output in watch(program, tests, what="test", on_inputs=on_inputs)]
    right = None if reference is None else [list(reference(t)) == wanted for t, wanted in zip(tests, expected)]
    outputs = watch(found.program, tests, what="test", lenient=True, on_inputs=on_inputs)
    return Learnability(found, tests, expected, outputs, length, right)


def _plain_tokens(program: Program, tokens: Tokens) -> list[Any]:
    """The input as a list: of integers, or of words of the program's vocabulary."""
    codes, vocabulary = program.check_input(tokens), program.vocabulary
    return codes if vocabulary is None else [vocabulary.values[code - 1] for code in codes[1:]]
