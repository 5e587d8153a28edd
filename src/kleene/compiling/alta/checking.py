"""The check that a program, its network and an independent reference agree: whole traces, not outputs alone."""

import itertools
import random
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kleene.compiling.reports import REFERENCE, Report
from kleene.errors import HaltError, InputError, RunError, UndefinedAttentionError
from kleene.machines.transformer.universal_transformer import UniversalTransformer
from kleene.programs.alta.compat import Program as AltaProgram
from kleene.programs.alta.program import Program
from kleene.programs.alta.reference import reference_run
from kleene.programs.automata import DFA
from kleene.programs.circuits import Circuit
from kleene.programs.turing import TuringMachine
from kleene.traces import Trace


def check(program: Any, *, name: str | None = None, **options: Any) -> Report:
    """Compare a program, its network and an independent reference on all short inputs and on random longer ones.

    `program` is a transformer program, an automaton, a Turing machine or a circuit, or an entry of one of their
    libraries, which brings its own reference. Options: `samples`, `max_length`, `seed`, `on_input` (called after each),
    and those of `kleene.compile`; see `check_transformer`, `check_automaton`, `check_machine` and `check_circuit` for
    what is compared.

    >>> from kleene.programs.alta.library import get
    >>> bool(check(get("parity_relative"), samples=5, max_length=4))
    True
    """
    from kleene.compiling.automata.checking import check_automaton, check_machine

    program = program.lowered if isinstance(program, AltaProgram) else program
    built = program if isinstance(program, Program | DFA | TuringMachine | Circuit) else program.build()
    if isinstance(built, Program):
        return check_transformer(program, **options)
    if isinstance(built, Circuit):
        from kleene.compiling.circuits.checking import check_circuit

        return check_circuit(built, name=name or built.name, expected=getattr(program, "expected", None), **options)
    options |= {"contains": getattr(program, "contains", None)} | ({} if name is None else {"name": name})
    return check_automaton(built, **options) if isinstance(built, DFA) else check_machine(built, **options)


def check_transformer(
    program: Any,
    *,
    samples: int = 100,
    max_length: int = 8,
    seed: int = 0,
    network: UniversalTransformer | None = None,
    reference: Callable[[Sequence[int]], list[int]] | None = None,
    inputs: Iterable[Sequence[int]] | None = None,
    on_input: Callable[[], None] | None = None,
    **options: Any,
) -> Report:
    """Compare interpreter, network and an independent reference on all short inputs and on random longer ones.

    `program` is a program, or an entry of the library, which brings its own inputs and plain-Python reference.
    The reference interpreter calls the MLP function itself, position by position; `reference`, if there is one,
    computes the output in its own way. `options` go to `kleene.compile`.
    """
    entry = None if isinstance(program, Program) else program
    program = program if entry is None else entry.build()
    if network is None:
        from kleene.compiling import compile

        network = compile(program, **options)
    assert network is not None
    started = time.perf_counter()
    if inputs is None:
        inputs = some_inputs(program, entry, samples, max_length, seed)
    tried, agreed, first = [list(x) for x in inputs], 0, None
    reference = reference or (entry.reference if entry is not None else None)
    by_program, by_network = outcomes(program.run_batch, tried), outcomes(network.run_batch, tried)
    for sequence, mine, theirs in zip(tried, by_program, by_network):
        problem = _disagreement(program, sequence, mine, theirs, reference)
        agreed += problem is None
        first = first or (problem and f"{program.name} on {sequence}: {problem}")
        if on_input is not None:
            on_input()
    compared = ("program", "independent interpreter", "network", *([REFERENCE] if reference else []))
    seconds = round(time.perf_counter() - started, 3)
    return Report(program.name, agreed, len(tried), first, seconds, compared=compared)


def some_inputs(program: Program, entry: Any, samples: int, max_length: int, seed: int) -> list[list[int]]:
    """All short inputs, as many as there are samples, and as many random ones up to the greatest length."""
    chance = random.Random(seed)
    if entry is not None:
        short = itertools.chain.from_iterable(entry.all_inputs(size) for size in (1, 2, 3, 4)[: max(1, max_length)])
        distinct = dict.fromkeys(tuple(x) for x in itertools.islice(short, 4 * samples))
        drawn = (entry.sample(chance, chance.randint(1, max_length)) for _ in range(samples))
        return [list(x) for x in itertools.islice(distinct, samples)] + [list(x) for x in drawn]
    longest = min(max_length, program.position_range or max_length)
    every = (x for n in range(1, longest + 1) for x in itertools.product(range(program.input_range), repeat=n))
    short = [list(x) for x in itertools.islice(every, samples)]
    lengths = (chance.randint(1, longest) for _ in range(samples))
    return short + [[chance.randrange(program.input_range) for _ in range(n)] for n in lengths]


def outcomes(run_batch: Callable, sequences: list[list[int]]) -> list[Trace | RunError]:
    """The outcome on every input: a trace, or the error that the run ended with."""
    try:
        return list(run_batch(sequences))
    except RunError:
        return [_one(run_batch, s) for s in sequences]


def _one(run_batch: Callable, sequence: list[int]) -> Trace | RunError:
    try:
        return run_batch([sequence])[0]
    except RunError as error:
        return error


def _disagreement(program: Program, sequence: list[int], mine: Any, theirs: Any, reference: Any) -> str | None:
    try:
        expected: Any = reference_run(program, sequence)
    except RunError as error:
        expected = error
    for other in (mine, theirs):
        problem = difference(expected, other)
        if problem:
            return problem
    if reference is not None and isinstance(expected, Trace):
        answer = _answer(reference, sequence)
        if answer != expected.output:
            return f"the output is {expected.output}, but the plain reference says {answer}"
    return None


def _answer(reference: Callable[[Sequence[int]], Any], sequence: list[int]) -> list[Any]:
    """What a reference says, which a user may have written."""
    try:
        return list(reference(list(sequence)))
    except Exception as error:
        called = getattr(reference, "__name__", "the reference")
        raise InputError(f"the reference {called}({sequence}) raised {type(error).__name__}: {error}") from error


def difference(a: Trace | RunError, b: Trace | RunError) -> str | None:
    """How two outcomes differ: in their traces, or in the errors that they ended with."""
    if isinstance(a, Trace) and isinstance(b, Trace):
        return a.difference(b)
    if isinstance(a, Trace) or isinstance(b, Trace):
        return f"one run ended with an error and the other did not: {a!r}, {b!r}"
    same = type(a) is type(b)
    if isinstance(a, UndefinedAttentionError) and isinstance(b, UndefinedAttentionError):
        same = (a.layer, a.position) == (b.layer, b.position)
    elif isinstance(a, HaltError) and isinstance(b, HaltError):
        same = a.max_layers == b.max_layers
    return None if same else f"two runs ended with different errors: {a}; {b}"
