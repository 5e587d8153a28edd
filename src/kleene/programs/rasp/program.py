"""A RASP program that runs: its expression is lowered to a transformer program, which runs and is compiled."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from kleene.errors import InputError, ProgramError
from kleene.programs.alta.program import Program
from kleene.programs.rasp.definition import RaspDefinition
from kleene.programs.rasp.expressions import SOp
from kleene.programs.rasp.graph import RASPExpr, definitions
from kleene.programs.rasp.lowering import lowered
from kleene.traces import Trace, TraceBatch
from kleene.traces.markup import html_table


class RaspProgram(RaspDefinition):
    """An s-op with its vocabulary and greatest length, ready to run and to compile.

    >>> from kleene.programs.rasp import lib, tokens
    >>> program = RaspProgram(lib.make_reverse(tokens), "abc", 5)
    >>> program.evaluate("abca"), program.run("abca").output
    (['a', 'c', 'b', 'a'], ['a', 'c', 'b', 'a'])
    """

    @cached_property
    def lowered(self) -> Program:
        """The transformer program that computes the s-op; its variables hold the values of the expressions.

        Its `original` is RASP's own evaluation.

        >>> from kleene.programs.rasp import indices
        >>> RaspProgram(-indices, "ab", 3).lowered.original("ab")
        [0, -1]
        """
        program = lowered(self.expression, self.vocab, self.max_length, causal=self.causal, name=self.name)
        return replace(program, original=self.evaluate)

    def run(self, tokens: Sequence[Any], **options: Any) -> Trace:
        """The trace of the transformer program, whose output is the s-op's value, without a start token."""
        return self.run_batch([tokens], **options)[0]

    def run_batch(self, inputs: Sequence[Sequence[Any]], **options: Any) -> TraceBatch:
        """The traces of many inputs at once; a RaspError on an input for which RASP itself has no value."""
        given = [self.check_tokens(tokens) for tokens in inputs]
        for tokens in given:
            self.evaluate(tokens)
        return self.lowered.run_batch(given, **options)

    def __repr__(self) -> str:
        masked = "causal, " if self.causal else ""
        inputs = f"inputs of up to {self.max_length} of {len(self.vocab)} tokens"
        return f"<RaspProgram {self.name}: {masked}{len(self.parts)} expressions, {inputs}>"

    def __str__(self) -> str:
        return str(self.expression)

    def _repr_html_(self) -> str:
        rows = list(definitions(self.expression).items())
        return html_table([("name", "expression"), *rows], caption=repr(self).strip("<>"))


def as_program(
    subject: RASPExpr | RaspProgram,
    vocab: Any = None,
    max_length: int | None = None,
    causal: bool | None = None,
) -> RaspProgram:
    """The program of an s-op, which has to be given a vocabulary and a greatest length; a program with others."""
    given = {"vocab": vocab, "max_length": max_length, "causal": causal}
    given = {name: value for name, value in given.items() if value is not None}
    if isinstance(subject, RaspProgram):
        return replace(subject, **given)
    if not isinstance(subject, SOp):
        raise ProgramError(f"{subject.described} is no s-op; read a selector with an Aggregate or a SelectorWidth")
    missing = [name for name in ("vocab", "max_length") if name not in given]
    if missing:
        raise InputError(
            f"the RASP expression {subject.name!r} does not say which inputs it is for; give {' and '.join(missing)}, "
            f"such as vocab='abc', max_length=9 (on the command line `--vocab abc --max-length 9`), or a RaspProgram"
        )
    return RaspProgram(subject, **given)
