"""A transformer program: variables, heads and an MLP, checked whole when it is built."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from kleene.errors import ProgramError
from kleene.notation.tokens import Decoding, Tokens
from kleene.programs.alta.cases import Case
from kleene.programs.alta.decoding import decode
from kleene.programs.alta.definition import Definition, Halt, Specification, default_layers
from kleene.programs.alta.exploring import explore
from kleene.programs.alta.heads import Head
from kleene.programs.alta.interpreter import interpret
from kleene.programs.alta.rules import Rule, cases_from_rules
from kleene.programs.alta.trees import cases_of
from kleene.programs.alta.validation import Validation, validate
from kleene.programs.alta.variables import Variable
from kleene.traces import Trace, TraceBatch

Cases = Mapping[str, Sequence[Case]]


@dataclass(frozen=True, kw_only=True, repr=False)
class Program(Definition):
    """A transformer program, ready to run."""

    def __repr__(self) -> str:
        cases = sum(map(len, self.updates.values()))
        return f"<Program {self.name}: {len(self.variables)} variables, {len(self.heads)} heads, {cases} cases>"

    def run(self, sequence: Tokens, *, max_layers: int | None = None) -> Trace:
        """The trace of the program on one input: tokens, or a string or symbols if the program has an alphabet.

        >>> from kleene.programs.alta.library import parity
        >>> parity.absolute().run([1, 0, 1]).output
        [1, 1, 0]
        """
        return self.run_batch([sequence], max_layers=max_layers)[0]

    def run_batch(
        self, sequences: Sequence[Tokens], *, max_layers: int | None = None, record: bool = True
    ) -> TraceBatch:
        """The traces of many inputs of unequal length at once. Without `record`, only the outputs are kept."""
        return interpret(self, sequences, max_layers=max_layers, record=record)

    def decode(self, prompt: Tokens, *, tokens: int, stop: int | None = None, cached: bool = True) -> Decoding:
        """The tokens that the program writes after a prompt, run as a decoder: see `kleene.notation.tokens`."""
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

    The function is traced, not called for every combination of values. A read gives the value from before the MLP,
    even after a write. `max_layers` is how long the program runs unless a run gives its own limit: by default one
    layer, or with a halting condition at most 1,000. `generate_rules` is a parameter of ALTA's and changes nothing,
    because rules are listed only when they are asked for.

    `alphabet` has a symbol for every input token, such as "abc", and `output_alphabet` for every value of the output,
    by default the same where there are as many: then `program.run("cab").labelled_output` is a string.
    """
    spec = Specification(
        name=name or _name_of(ffn_fn), variables=dict(variables), heads=dict(heads),
        output_name=output_name, input_range=input_range, position_range=position_range,
        halt=halt, max_layers=default_layers(max_layers, halt),
    )  # fmt: skip
    outputs = spec.outputs
    try:
        explored = explore(ffn_fn, spec.variables, outputs)
        tree, sizes = explored.tree, spec.sizes
        updates = {v: cases_of(tree, lambda leaf, v=v: leaf.writes.get(v), sizes) for v in spec.variables}
        reads = {h: cases_of(tree, lambda leaf, h=h: 1 if h in leaf.looked_at else None, sizes) for h in outputs}
        validation = validate(ffn_fn, spec.variables, outputs, updates, explored)
    except ProgramError as error:
        raise type(error)(f"program {spec.name!r}, {error}") from error.__cause__
    program = program_of(spec, mlp=ffn_fn, updates=updates, reads=reads, validation=validation)
    return program.labelled(alphabet, output_alphabet)


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
    return program.labelled(alphabet, output_alphabet)


def program_of(
    spec: Specification,
    *,
    mlp: Callable[[Any], Any] | Sequence[Rule],
    updates: Cases,
    reads: Cases,
    faults: Cases | None = None,
    validation: Validation | None = None,
) -> Program:
    """The program of a specification and the cases of its MLP, its initial values checked."""
    updates, reads, faults = (
        {name: tuple(cases) for name, cases in group.items() if cases} for group in (updates, reads, faults or {})
    )
    given = {f.name: getattr(spec, f.name) for f in fields(Specification)}
    program = Program(**given, mlp=mlp, updates=updates, reads=reads, faults=faults, validation=validation)
    assert program.starts  # computed now, so that a bad initial value is an error when the program is built
    return program


def _name_of(function: Callable) -> str:
    return getattr(function, "__qualname__", "program").replace(".<locals>", "")
