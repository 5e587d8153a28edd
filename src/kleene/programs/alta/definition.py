"""The parts of a program: variables, heads and halting, checked as a whole, and the cases that its MLP amounts to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from kleene.errors import ProgramError
from kleene.notation.words import PrefixedVocabulary, Tokens, checked_alphabet, checked_input
from kleene.programs.alta.asking import Enumeration
from kleene.programs.alta.cases import Case
from kleene.programs.alta.inputs import AllWords, Inputs, declared
from kleene.programs.alta.rules import Rule, RuleSet, paper_rules
from kleene.programs.alta.variables import Categorical, Head, Numeric, SetValued, Variable, either, resolve_heads
from kleene.traces import Channel
from kleene.traces.channels import Meaning

LAYERS_TO_HALT = 1000  # a program with a halting condition is given up after this many layers


@dataclass(frozen=True)
class Halt:
    """A sequence is done when `variable` has `value` at every position."""

    variable: str
    value: int = 1


def halt_spec(
    variable: str | None = None, value: int = 1, *, halt_var: str | None = None, halt_value: int | None = None
) -> Halt:
    """The halting condition: done when the variable has the value at every position. ALTA's names work too."""
    tested = either("halt_spec", "variable", variable, "halt_var", halt_var)
    return Halt(tested, value if halt_value is None else halt_value)


def default_layers(max_layers: int | None, halt: Halt | None) -> int:
    """How many layers a program runs by default: one, or with a halting condition at most 1,000."""
    return max_layers if max_layers is not None else (LAYERS_TO_HALT if halt else 1)


@dataclass(frozen=True, kw_only=True)
class Specification:
    """The parts that every program has, whether its MLP is a function or a set of rules."""

    name: str
    variables: Mapping[str, Variable]
    heads: Mapping[str, Head]
    output_name: str
    input_range: int
    position_range: int | None = None
    halt: Halt | None = None
    max_layers: int = 1

    @cached_property
    def outputs(self) -> dict[str, Variable]:
        """The output variable of every head; refuses parts of a program that do not fit together."""
        self._check_types()
        outputs = resolve_heads(self.name, self.variables, self.heads)
        self._check_output_and_halt()
        return outputs

    def _check_types(self) -> None:
        where = f"program {self.name!r}"
        for name, variable in self.variables.items():
            if not isinstance(variable, Variable):
                made = "make it with var, numeric_var or set_var."
                raise ProgramError(f"{where}: variable {name!r} is {variable!r}; {made}")
        for name, head in self.heads.items():
            if not isinstance(head, Head):
                raise ProgramError(f"{where}: head {name!r} is {head!r}; make it with qkv or v_relative.")
        if not isinstance(self.input_range, int) or self.input_range < 1:
            raise ProgramError(f"{where}: input_range is {self.input_range!r}, and must be at least 1.")
        if self.position_range is not None and (not isinstance(self.position_range, int) or self.position_range < 1):
            raise ProgramError(f"{where}: position_range is {self.position_range!r}; it is None or at least 1.")

    def _check_output_and_halt(self) -> None:
        where, output, halt = f"program {self.name!r}", self.output_name, self.halt
        if output not in self.variables:
            known = ", ".join(self.variables)
            raise ProgramError(f"{where}: the output {output!r} is not a variable; there are {known}.")
        if isinstance(self.variables[output], SetValued):
            raise ProgramError(f"{where}: the output {output!r} is a set; it must be categorical or numeric.")
        if halt is None:
            return
        tested = self.variables.get(halt.variable)
        if not isinstance(tested, Categorical):
            raise ProgramError(f"{where}: it halts on {halt.variable!r}, which is not a categorical variable.")
        if tested.code(halt.value) is None:
            when = f"{where}: it halts when {halt.variable!r} is {halt.value!r}"
            raise ProgramError(f"{when}, but that takes {tested.expected}.")

    @cached_property
    def domains(self) -> dict[str, Variable]:
        """Every variable, the heads' outputs last."""
        return dict(self.variables) | dict(self.outputs)

    @cached_property
    def sizes(self) -> dict[str, int]:
        return {name: len(v.domain) for name, v in self.domains.items()}


@dataclass(frozen=True, kw_only=True)
class Definition(Specification):
    """A whole program, without the means to run it.

    `updates` holds the cases that write each variable; `reads`, the cases in which the MLP looks at each head, where an
    undefined reading is an error. `faults` holds the cases in which a variable would be written out of range or twice;
    only `compat` programs have any, and a run that meets one is an error.

    `original` is the user's own way to compute the outputs, run by attacks: it takes an input as a run does, without a
    start, and gives the list that is `Trace.output`, floats up to rounding; a `RunError` where there is no value.
    """

    updates: Mapping[str, Sequence[Case]]
    reads: Mapping[str, Sequence[Case]]
    mlp: Callable[[Any], Any] | Sequence[Rule] = field(repr=False)
    enumeration: Enumeration | None = field(default=None, repr=False)  # on what a function was run to make the cases
    alphabet: tuple[str, ...] | None = None  # a symbol for every input token
    output_alphabet: tuple[str, ...] | None = None  # and for every value of the output
    faults: Mapping[str, Sequence[Case]] = field(default_factory=dict)
    original: Callable[[Sequence], list] | None = field(default=None, repr=False, compare=False)
    vocabulary: PrefixedVocabulary | None = None  # of a program whose inputs are any values, with a start before them
    meanings: Mapping[str, tuple[Meaning, ...]] = field(default_factory=dict)  # what the codes of variables stand for
    inputs: Inputs | None = field(default=None, repr=False, compare=False)  # those that were declared: see `words`

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        kept = [v.channel(n) for n, v in self.variables.items()]
        kept = [replace(c, labels=self.output_alphabet) if c.name == self.output_name else c for c in kept]
        kept += [v.channel(n, per_step=True) for n, v in self.outputs.items()]
        return tuple(_meaning(c, self.meanings[c.name]) if c.name in self.meanings else c for c in kept)

    @property
    def prefix(self) -> int:
        """How many positions the program puts before its input."""
        return 0 if self.vocabulary is None else 1

    @property
    def words(self) -> Inputs:
        """The inputs that checks, attacks and lessons run: the declared ones, or else all words of the tokens."""
        if self.inputs is not None:
            return self.inputs
        tokens = range(self.input_range) if self.vocabulary is None else self.vocabulary.values
        return AllWords(tokens, self._longest)

    def taking(self, inputs: Any) -> Self:
        """The program with these inputs declared: what `inputs` of `program_spec` may be, or None for all words.

        >>> from kleene.programs.alta.library import parity
        >>> list(parity.absolute().taking("1*0").words.every(3))
        [[0], [1, 0], [1, 1, 0]]
        """
        found = None if inputs is None else declared(inputs, self._tokens, self._longest)
        return replace(self, inputs=found)

    @property
    def _tokens(self) -> dict[str, Any]:
        """The tokens as inputs have them, by their symbols."""
        if self.vocabulary is not None:
            return {str(value): value for value in self.vocabulary.values}
        return {symbol: code for code, symbol in enumerate(self.alphabet or map(str, range(self.input_range)))}

    @property
    def _longest(self) -> int | None:
        return self.position_range if self.vocabulary is None else self.vocabulary.longest

    @cached_property
    def starts(self) -> dict[str, tuple[str, np.ndarray]]:
        """How each variable starts: by "input", "position" or "default", and the table of values for it.

        Codes for categorical and set variables, the numbers themselves for numeric ones.
        """
        return {name: _start(self, name, v) for name, v in self.variables.items()}

    def labelled(self, alphabet: Sequence[str] | None, output_alphabet: Sequence[str] | None = None) -> Self:
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
        """ALTA's transition rules, written out one by one."""
        return paper_rules(self.updates, self.outputs, self.sizes)

    def check_input(self, sequence: Tokens) -> list[int]:
        """The sequence as plain integers, or an InputError that says what is wrong with it."""
        if self.vocabulary is not None:
            return self.vocabulary.codes(sequence, self.name)
        return checked_input(sequence, self.name, self.input_range, self.position_range, self.alphabet)


def _meaning(channel: Channel, meanings: tuple[Meaning, ...]) -> Channel:
    """The channel of a category with what its codes stand for, which are labels too where they all look different.

    The first code stands for nothing: it is that of the start, and of a variable that is not yet written.
    """
    labels = ("–", *(str(meaning) or "''" for meaning in meanings[1:]))
    return replace(channel, meanings=meanings, labels=labels if len(set(labels)) == len(labels) else None)


def _start(program: Definition, name: str, variable: Variable) -> tuple[str, np.ndarray]:
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
        near = number in variable.values or (np.isfinite(number) and not variable.blurred(number))
        if near and not written:
            return number
        if written and variable.code(number) is not None:
            return variable.values[int(variable.bucket(number))]
        problem = "the MLP writes it, so it must start as" if written else "it must be nearer to"
        raise ProgramError(f"{where}: its initial value for {at} is {value!r}, but {problem} {variable.expected}.")
    code = variable.code(value)
    if code is None:
        raise ProgramError(f"{where}: its initial value for {at} is {value!r}, but it takes {variable.expected}.")
    return code
