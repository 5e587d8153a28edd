"""A transformer program: variables, heads and an MLP, checked whole when it is built; run on inputs, or as a decoder.

As a decoder it goes position after position, with earlier results cached or computed again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from kleene.errors import HaltError, InputError, ProgramError
from kleene.notation.edits import Edit, Edits
from kleene.notation.words import Decoding, Tokens, write
from kleene.programs.alta.asking import Enumeration, Functions, answers_of
from kleene.programs.alta.cases import Case
from kleene.programs.alta.definition import Definition, Halt, Specification, default_layers
from kleene.programs.alta.interpreter import Engine, State, interpret
from kleene.programs.alta.rules import Rule, cases_from_rules
from kleene.programs.alta.variables import Categorical, Head, Variable
from kleene.programs.alta.wording import program_html
from kleene.traces import Trace, TraceBatch

Cases = Mapping[str, Sequence[Case]]


@dataclass(frozen=True, kw_only=True, repr=False)
class Program(Definition):
    """A transformer program, ready to run."""

    def __repr__(self) -> str:
        cases = sum(map(len, self.updates.values()))
        return f"<Program {self.name}: {len(self.variables)} variables, {len(self.heads)} heads, {cases} cases>"

    def _repr_html_(self) -> str:
        return program_html(self)

    def run(self, sequence: Tokens, *, max_layers: int | None = None, edits: Sequence[Edit] = ()) -> Trace:
        """The trace of the program on one input: tokens, or a string or symbols if the program has an alphabet.

        `edits` set variables and heads' outputs on the way, and the run goes on from there: see `kleene.Edit`.

        >>> from kleene.programs.alta.library import parity
        >>> parity.absolute().run([1, 0, 1]).output
        [1, 1, 0]
        """
        return self.run_batch([sequence], max_layers=max_layers, edits=edits)[0]

    def run_batch(
        self, sequences: Sequence[Tokens], *, max_layers: int | None = None, record: bool = True, edits: Edits = ()
    ) -> TraceBatch:
        """The traces of many inputs of unequal length at once. Without `record`, only the outputs are kept.

        `edits` are for every input, or a list for each of them.
        """
        return interpret(self, sequences, max_layers=max_layers, record=record, edits=edits)

    def decode(self, prompt: Tokens, *, tokens: int, stop: int | None = None, cached: bool = True) -> Decoding:
        """The tokens that the program writes after a prompt, run as a decoder: see `kleene.notation.words`."""
        return decode(self, prompt, tokens=tokens, stop=stop, cached=cached)


def program_spec(
    variables: Mapping[str, Variable],
    heads: Mapping[str, Head],
    ffn_fn: Callable[[Any], Any] | Sequence[Callable[[Any], Any]],
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
    inputs: Any = None,
) -> Program:
    """A program whose MLP is an ordinary Python function of a dict-like `z`.

    The function runs on all combinations of the values that it reads, so it may do whatever Python can, as long as it
    answers the same each time. A read gives the value from before the MLP, even after a write. A list of functions that
    write different variables does what they do together; each is run by itself, so that combinations add up and do not
    multiply. `max_layers` is how long the program runs unless a run gives its own limit: by default one
    layer, or with a halting condition at most 1,000. `generate_rules` is a parameter of ALTA's and changes nothing,
    because rules are listed only when they are asked for.

    `alphabet` has a symbol for every input token, such as "abc", and `output_alphabet` for every value of the output,
    by default the same where there are as many: then `program.run("cab").labelled_output` is a string.

    `inputs` says once what the program is for, such as words after a START token: a function of a `random.Random` and a
    size that returns tokens, an automaton, a regular expression over the symbols (or token numbers), or an object with
    `sample` and `every`. Checks, attacks, lessons and pages draw their inputs from it; a run takes any tokens.
    """
    function = ffn_fn if callable(ffn_fn) else Functions(ffn_fn)
    spec = Specification(
        name=name or _name_of(function), variables=dict(variables), heads=dict(heads),
        output_name=output_name, input_range=input_range, position_range=position_range,
        halt=halt, max_layers=default_layers(max_layers, halt),
    )  # fmt: skip
    try:
        answers = answers_of(function, spec.variables, spec.outputs)
    except ProgramError as error:
        raise type(error)(f"program {spec.name!r}, {error}") from error.__cause__
    program = program_of(
        spec, mlp=function, updates=answers.updates, reads=answers.reads, enumeration=answers.enumeration
    )
    return program.labelled(alphabet, output_alphabet).taking(inputs)


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
    inputs: Any = None,
) -> Program:
    """A program whose MLP is a set of transition rules, as `MLPBuilder` makes them."""
    rules = tuple(rules)
    spec = Specification(
        name=name, variables=dict(variables), heads=dict(heads), output_name=output_name, input_range=input_range,
        position_range=position_range, halt=halt, max_layers=default_layers(max_layers, halt),
    )  # fmt: skip
    outputs = spec.outputs
    try:
        for rule in rules:
            if rule.variable in outputs:
                raise ProgramError(f"the rule {rule} sets the output of a head; only attention sets it.")
        found = cases_from_rules(rules, spec.domains, outputs)
    except ProgramError as error:
        raise ProgramError(f"program {name!r}: {error}") from None
    program = program_of(spec, mlp=rules, updates=found.updates, reads=found.reads)
    return program.labelled(alphabet, output_alphabet).taking(inputs)


def program_of(
    spec: Specification,
    *,
    mlp: Callable[[Any], Any] | Sequence[Rule],
    updates: Cases,
    reads: Cases,
    faults: Cases | None = None,
    enumeration: Enumeration | None = None,
) -> Program:
    """The program of a specification and the cases of its MLP, its initial values checked."""
    updates, reads, faults = (
        {name: tuple(cases) for name, cases in group.items() if cases} for group in (updates, reads, faults or {})
    )
    given = {f.name: getattr(spec, f.name) for f in fields(Specification)}
    program = Program(**given, mlp=mlp, updates=updates, reads=reads, faults=faults, enumeration=enumeration)
    assert program.starts  # computed now, so that a bad initial value is an error when the program is built
    return program


def _name_of(function: Callable) -> str:
    first = function.functions[0] if isinstance(function, Functions) else function
    return getattr(first, "__qualname__", "program").replace(".<locals>", "")


def decode(program: Definition, prompt: Tokens, *, tokens: int, stop: int | None, cached: bool) -> Decoding:
    """The tokens that the program writes after the prompt."""
    if not isinstance(program.variables[program.output_name], Categorical):
        raise InputError(f"{program.name}: its outputs are numbers, and decoding feeds them back as tokens")
    decoder = CachedInterpreter(program) if cached else PlainInterpreter(program)
    return write(decoder, program.check_input(prompt), tokens, stop, program.check_input)


class PlainInterpreter:
    """Runs the whole sequence again for every token, all positions side by side behind a causal mask."""

    def __init__(self, program: Definition):
        self.program, self.engine = program, Engine(program)
        self.sequence: list[int] = []
        self.state: State = {}
        self.layers = np.zeros(0, dtype=int)

    def feed(self, token: int) -> int:
        self.sequence.append(token)
        tokens = np.array([self.sequence])
        self.state = self.engine.start(tokens)
        self.layers = np.zeros(len(self.sequence), dtype=int)
        lengths, rows = np.array([len(self.sequence)]), np.array([0])
        for layer in range(1, self.program.max_layers + 1):
            going = ~self._done()
            if not going.any():
                break
            after, _ = self.engine.layer(self.state, lengths, layer, rows, causal=True, active=going)
            self.state = {n: np.where(going, after[n], a) for n, a in self.state.items()}
            self.layers += going[0]
        if self.program.halt is not None and not self._done().all():
            raise HaltError(self.program.name, 0, self.program.max_layers)
        return int(self.state[self.program.output_name][0, -1])

    def _done(self) -> np.ndarray:
        halt = self.program.halt
        return np.zeros((1, len(self.sequence)), bool) if halt is None else self.state[halt.variable] == halt.value

    def result(self, tokens: list[int]) -> Decoding:
        final = {n: a[0] for n, a in self.engine.entries(self.state).items()}
        return Decoding(tokens, self.layers.tolist(), final)


class CachedInterpreter:
    """Runs only the newest position, and caches the values that earlier ones had before every layer.

    `history[n][layer]` has the value of variable n at every earlier position before that layer.
    """

    def __init__(self, program: Definition):
        self.program, self.engine = program, Engine(program)
        self.history: dict[str, list[list[float]]] = {n: [] for n in program.variables}
        self.length = 0
        self.layers: list[int] = []

    def feed(self, token: int) -> int:
        start = self.engine.start(np.full((1, self.length + 1), token))
        here = {n: a[:, -1:] for n, a in start.items()}
        self.length += 1
        lengths, rows = np.array([self.length]), np.array([0])
        active = np.arange(self.length)[None] == self.length - 1
        layer = 0
        while True:
            self._keep(layer, here)
            if self._done(here) or layer == self.program.max_layers:
                break
            state = {n: np.array([self.history[n][layer]]) for n in here}
            layer += 1
            after, _ = self.engine.layer(state, lengths, layer, rows, causal=True, active=active)
            here = {n: a[:, -1:] for n, a in after.items()}
        if self.program.halt is not None and not self._done(here):
            raise HaltError(self.program.name, 0, self.program.max_layers)
        self.layers.append(layer)
        self._fill(layer, here)
        return int(here[self.program.output_name][0, 0])

    def _done(self, here: State) -> bool:
        halt = self.program.halt
        return halt is not None and bool((here[halt.variable] == halt.value).all())

    def _keep(self, layer: int, here: State) -> None:
        """Cache the newest position's values before a layer; in a new deepest layer, the others keep their last."""
        for name, layers in self.history.items():
            if layer == len(layers):
                layers.append(list(layers[-1][: self.length - 1]) if layers else [])
            layers[layer].append(here[name][0, 0].item())

    def _fill(self, last: int, here: State) -> None:
        """Keep the position as it is in all layers after its last."""
        for name, layers in self.history.items():
            for layer in range(last + 1, len(layers)):
                layers[layer].append(here[name][0, 0].item())

    def result(self, tokens: list[int]) -> Decoding:
        state = {n: np.array([layers[-1]]) for n, layers in self.history.items()}
        return Decoding(tokens, list(self.layers), {n: a[0] for n, a in self.engine.entries(state).items()})
