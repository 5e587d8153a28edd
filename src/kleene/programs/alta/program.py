"""A transformer program: variables, heads and an MLP, checked whole when it is built."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from kleene.errors import ProgramError
from kleene.notation.tokens import Decoding, checked_input
from kleene.notation.words import checked_alphabet
from kleene.programs.alta.cases import Case, cases_of
from kleene.programs.alta.exploring import explore
from kleene.programs.alta.heads import Head
from kleene.programs.alta.rule_cases import cases_from_rules
from kleene.programs.alta.rules import Rule, RuleSet, paper_rules
from kleene.programs.alta.validation import Validation, validate
from kleene.programs.alta.variables import Categorical, Numeric, SetValued, Variable, either
from kleene.traces import Channel, Trace, TraceBatch

LAYERS_TO_HALT = 1000  # a program with a halting condition is given up after this many layers


@dataclass(frozen=True)
class Halt:
    """A sequence is done when `variable` has `value` at every position."""

    variable: str
    value: int = 1


def halt_spec(
    variable: str | None = None, value: int = 1, *, halt_var: str | None = None, halt_value: int | None = None
) -> Halt:
    """The halting condition: done when the variable has the value at every position. ALTA's names are taken, too."""
    tested = either("halt_spec", "variable", variable, "halt_var", halt_var)
    return Halt(tested, value if halt_value is None else halt_value)


@dataclass(frozen=True)
class Program:
    """A transformer program. `updates` holds the cases that write each variable; `reads`, the cases in which
    the MLP looks at each head, where an undefined reading is an error. `faults` holds cases in which a variable would
    be written as it may not be; only programs in ALTA's own meaning have any, and a run that meets one is an error."""

    name: str
    variables: Mapping[str, Variable]
    heads: Mapping[str, Head]
    outputs: Mapping[str, Variable]  # of the heads
    updates: Mapping[str, Sequence[Case]]
    reads: Mapping[str, Sequence[Case]]
    output_name: str
    input_range: int
    position_range: int | None
    halt: Halt | None
    max_layers: int
    mlp: Callable[[Any], Any] | Sequence[Rule] = field(repr=False)
    validation: Validation | None = field(default=None, repr=False)  # of the cases against a function
    alphabet: tuple[str, ...] | None = None  # a symbol for every input token
    output_alphabet: tuple[str, ...] | None = None  # and for every value of the output
    faults: Mapping[str, Sequence[Case]] = field(default_factory=dict)

    @cached_property
    def domains(self) -> dict[str, Variable]:
        """Every variable, the heads' outputs last."""
        return dict(self.variables) | dict(self.outputs)

    @cached_property
    def sizes(self) -> dict[str, int]:
        return {name: len(v.domain) for name, v in self.domains.items()}

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        kept = [v.channel(n) for n, v in self.variables.items()]
        kept = [replace(c, labels=self.output_alphabet) if c.name == self.output_name else c for c in kept]
        return tuple(kept + [v.channel(n, per_step=True) for n, v in self.outputs.items()])

    @cached_property
    def starts(self) -> dict[str, tuple[str, np.ndarray]]:
        """How each variable starts: by "input", "position" or "default", and the table of values for it.

        Codes for categorical and set variables, the numbers themselves for numeric ones.
        """
        return {name: _start(self, name, v) for name, v in self.variables.items()}

    def labelled(self, alphabet: Sequence[str] | None, output_alphabet: Sequence[str] | None = None) -> "Program":
        """The program with symbols for its tokens and for the values of its output.

        >>> from kleene.programs.alta.library import parity
        >>> parity.absolute().labelled("ox").run("xox").labelled_output
        'xxo'
        """
        if alphabet is None and output_alphabet is None:
            return self
        where, output = f"program {self.name!r}", self.variables[self.output_name]
        symbols = checked_alphabet(alphabet, self.input_range, f"{where}: alphabet", "input_range")
        if output_alphabet is None and isinstance(output, Categorical) and output.range == self.input_range:
            output_alphabet = symbols
        if output_alphabet is not None and not isinstance(output, Categorical):
            raise ProgramError(
                f"{where}: the output {self.output_name!r} is no category, and output_alphabet is given."
            )
        of = f"the range of {self.output_name!r}"
        shown = checked_alphabet(output_alphabet, len(output.domain), f"{where}: output_alphabet", of)
        return replace(self, alphabet=symbols, output_alphabet=shown)

    def rules(self) -> RuleSet:
        """The paper's transition rules, counted out."""
        return paper_rules(self.updates, self.outputs, self.sizes)

    def check_input(self, sequence: Sequence[Any]) -> list[int]:
        """The sequence as plain integers, or an InputError that says what is wrong with it."""
        return checked_input(sequence, self.name, self.input_range, self.position_range, self.alphabet)

    def run(self, sequence: Sequence[Any], *, max_layers: int | None = None) -> Trace:
        """The trace of the program on one input: tokens, or a text or symbols if the program has an alphabet.

        >>> from kleene.programs.alta.library import parity
        >>> parity.absolute().run([1, 0, 1]).output
        [1, 1, 0]
        """
        return self.run_batch([sequence], max_layers=max_layers)[0]

    def run_batch(
        self, sequences: Sequence[Sequence[Any]], *, max_layers: int | None = None, record: bool = True
    ) -> TraceBatch:
        """The traces of many inputs of unequal length at once. Without `record`, only the outputs are kept."""
        from kleene.programs.alta.interpreter import interpret

        return interpret(self, sequences, max_layers=max_layers, record=record)

    def decode(self, prompt: Sequence[Any], *, tokens: int, stop: int | None = None, cached: bool = True) -> Decoding:
        """The tokens that the program writes after a prompt, run as a decoder: see `kleene.notation.tokens`."""
        from kleene.programs.alta.decoding import decode

        return decode(self, prompt, tokens=tokens, stop=stop, cached=cached)


def program_spec(
    variables: Mapping[str, Variable],
    heads: Mapping[str, Head],
    ffn_fn: Callable[[Any], Any],
    output_name: str,
    input_range: int,
    position_range: int | None = None,
    halt: Halt | None = None,
    generate_rules: bool = True,
    *,
    max_layers: int | None = None,
    name: str | None = None,
    alphabet: Sequence[str] | None = None,
    output_alphabet: Sequence[str] | None = None,
) -> Program:
    """A program whose MLP is an ordinary Python function of a dict-like `z`.

    The function is traced, not called for every combination of values. A read gives the value from before
    the MLP, whatever was written meanwhile. `max_layers` is how long the program runs if nobody says
    otherwise: by default one layer, or with a halting condition at most 1,000. `generate_rules` is ALTA's, and changes
    nothing: rules are only counted out when they are asked for.

    `alphabet` has a symbol for every input token, such as "abc", and `output_alphabet` for every value of the output,
    by default the same where there are as many: then `program.run("cab").labelled_output` is a text.
    """
    name = name or _name_of(ffn_fn)
    outputs = checked_parts(name, variables, heads, output_name, input_range, position_range, halt)
    try:
        explored = explore(ffn_fn, variables, outputs)
        tree = explored.tree
        sizes = {n: len(v.domain) for n, v in (dict(variables) | outputs).items()}
        updates = {v: cases_of(tree, lambda leaf, v=v: leaf.writes.get(v), sizes) for v in variables}
        reads = {h: cases_of(tree, lambda leaf, h=h: 1 if h in leaf.looked_at else None, sizes) for h in outputs}
        validation = validate(ffn_fn, variables, outputs, updates, explored)
    except ProgramError as error:
        raise type(error)(f"program {name!r}, {error}") from error.__cause__
    return assembled(
        name,
        variables,
        heads,
        outputs,
        updates,
        reads,
        output_name,
        input_range,
        position_range,
        halt,
        max_layers,
        ffn_fn,
        validation,
    ).labelled(alphabet, output_alphabet)


def program_spec_from_rules(
    variables: Mapping[str, Variable],
    heads: Mapping[str, Head],
    rules: Iterable[Rule],
    output_name: str,
    input_range: int,
    position_range: int | None = None,
    halt: Halt | None = None,
    *,
    max_layers: int | None = None,
    name: str = "program",
    alphabet: Sequence[str] | None = None,
    output_alphabet: Sequence[str] | None = None,
) -> Program:
    """A program whose MLP is a set of transition rules, as `MLPBuilder` makes them."""
    rules = tuple(rules)
    outputs = checked_parts(name, variables, heads, output_name, input_range, position_range, halt)
    domains = dict(variables) | outputs
    try:
        for rule in rules:
            if rule.variable in outputs:
                raise ProgramError(f"the rule {rule} sets the output of a head; only attention sets it.")
        found = cases_from_rules(rules, domains, outputs)
    except ProgramError as error:
        raise ProgramError(f"program {name!r}: {error}") from None
    return assembled(
        name,
        variables,
        heads,
        outputs,
        found.updates,
        found.reads,
        output_name,
        input_range,
        position_range,
        halt,
        max_layers,
        rules,
    ).labelled(alphabet, output_alphabet)


def assembled(
    name,
    variables,
    heads,
    outputs,
    updates,
    reads,
    output_name,
    input_range,
    position_range,
    halt,
    max_layers,
    mlp,
    validation=None,
) -> Program:
    """The program of these parts, its initial values checked."""
    layers = max_layers if max_layers is not None else (LAYERS_TO_HALT if halt else 1)
    updates, reads = ({n: tuple(c) for n, c in cases.items() if c} for cases in (updates, reads))
    program = Program(
        name, dict(variables), dict(heads), outputs, updates, reads, output_name, input_range, position_range, halt,
        layers, mlp, validation,
    )  # fmt: skip
    assert program.starts  # computed now, so that a bad initial value is met when the program is built
    return program


def resolve_heads(program: str, variables: Mapping[str, Variable], heads: Mapping[str, Head]) -> dict[str, Variable]:
    """The output variable of every head; refuses heads that name what is not there or does not fit."""
    outputs: dict[str, Variable] = {}
    for name, head in heads.items():
        where = f"program {program!r}, head {name!r}"
        if name in variables:
            raise ProgramError(f"{where}: a variable has this name already; rename one of the two.")
        for role, of in (("query", head.query), ("key", head.key), ("value", head.value)):
            if of in heads:
                raise ProgramError(
                    f"{where}: the {role} is {of!r}, the output of a head, which is always undefined when attention "
                    f"runs. Copy it into a variable in the MLP and use that in the next layer."
                )
            if of is not None and of not in variables:
                raise ProgramError(f"{where}: the {role} {of!r} is not a variable; there are {', '.join(variables)}.")
        if (head.query is None) != (head.key is None):
            raise ProgramError(f"{where}: give both a query and a key, or neither.")
        if head.query is not None and isinstance(variables[head.query], Numeric):
            raise ProgramError(f"{where}: the query {head.query!r} is numeric; it must be categorical or a set.")
        if head.key is not None and not isinstance(variables[head.key], Categorical):
            raise ProgramError(f"{where}: the key {head.key!r} must be categorical.")
        outputs[name] = _output_of(where, head, variables[head.value])
    return outputs


def _output_of(where: str, head: Head, value: Variable) -> Variable:
    output = head.output_spec or value
    if isinstance(value, SetValued):
        raise ProgramError(f"{where}: the value {head.value!r} is a set; a head reads a category or a number.")
    if isinstance(value, Numeric) != isinstance(output, Numeric) or isinstance(output, SetValued):
        raise ProgramError(f"{where}: the value and the output must both be categorical or both numeric.")
    if isinstance(value, Categorical) and isinstance(output, Categorical) and output.range < value.range:
        raise ProgramError(f"{where}: the output has range {output.range}, but the value reaches {value.range - 1}.")
    return output


def checked_parts(program, variables, heads, output_name, input_range, position_range, halt) -> dict[str, Variable]:
    """The output variable of every head; refuses parts of a program that do not fit together."""
    where = f"program {program!r}"
    for name, variable in variables.items():
        if not isinstance(variable, Variable):
            raise ProgramError(f"{where}: variable {name!r} is {variable!r}; make it with var, numeric_var or set_var.")
    for name, head in heads.items():
        if not isinstance(head, Head):
            raise ProgramError(f"{where}: head {name!r} is {head!r}; make it with qkv or v_relative.")
    if not isinstance(input_range, int) or input_range < 1:
        raise ProgramError(f"{where}: input_range is {input_range!r}, and must be at least 1.")
    if position_range is not None and (not isinstance(position_range, int) or position_range < 1):
        raise ProgramError(f"{where}: position_range is {position_range!r}; it is None or at least 1.")
    outputs = resolve_heads(program, variables, heads)
    if output_name not in variables:
        raise ProgramError(f"{where}: the output {output_name!r} is not a variable; there are {', '.join(variables)}.")
    if isinstance(variables[output_name], SetValued):
        raise ProgramError(f"{where}: the output {output_name!r} is a set; it must be categorical or numeric.")
    if halt is not None:
        if halt.variable not in variables or not isinstance(variables[halt.variable], Categorical):
            raise ProgramError(f"{where}: it halts on {halt.variable!r}, which is not a categorical variable.")
        if variables[halt.variable].code(halt.value) is None:
            expected = variables[halt.variable].expected
            raise ProgramError(
                f"{where}: it halts when {halt.variable!r} is {halt.value!r}, but that takes {expected}."
            )
    return outputs


def _start(program: Program, name: str, variable: Variable) -> tuple[str, np.ndarray]:
    where = f"program {program.name!r}, variable {name!r}"
    if variable.input_init_fn and variable.position_init_fn:
        raise ProgramError(f"{where}: it starts by input token or by position, not by both.")
    if variable.position_init_fn and program.position_range is None:
        raise ProgramError(f"{where}: it starts by position, so the program needs a position_range.")
    written = bool(program.updates.get(name))
    if variable.input_init_fn:
        table = [
            _first(where, f"token {x}", variable, variable.input_init_fn, x, written)
            for x in range(program.input_range)
        ]
        return "input", np.array(table)
    if variable.position_init_fn:
        places = range(program.position_range or 0)
        table = [_first(where, f"position {x}", variable, variable.position_init_fn, x, written) for x in places]
        return "position", np.array(table)
    return "default", np.array([_first(where, "the default", variable, lambda _: variable.default, 0, written)])


def _first(where: str, at: str, variable: Variable, init: Callable[[int], Any], x: int, written: bool) -> float | int:
    try:
        value = init(x)
    except Exception as error:
        raise ProgramError(f"{where}: its initial value for {at} raised {type(error).__name__}: {error}") from error
    if isinstance(variable, Numeric):
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ProgramError(
                f"{where}: its initial value for {at} is {value!r}, and a number was expected."
            ) from None
        if not written and np.isfinite(number) and not variable.blurred(number):
            return number
        if written and variable.code(number) is not None:
            return variable.values[int(variable.bucket(number))]
        problem = "the MLP writes it, so it must start as" if written else "it must be nearer to"
        raise ProgramError(f"{where}: its initial value for {at} is {value!r}, but {problem} {variable.expected}.")
    code = variable.code(value)
    if code is None:
        raise ProgramError(f"{where}: its initial value for {at} is {value!r}, but it takes {variable.expected}.")
    return code


def _name_of(function: Callable) -> str:
    return getattr(function, "__qualname__", "program").replace(".<locals>", "")
