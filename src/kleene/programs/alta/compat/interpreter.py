"""ALTA's interpreter: Kleene's reference interpreter, a layer at a time, where ALTA means something else by a layer.

A layer's heads run in the order of their declaration, and later ones see what earlier ones wrote; halting is tested
after a layer; a run stops after `max_layers + 1` layers with the output so far.
"""

import copy
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kleene.errors import HaltError, InputError, Reason, WriteError
from kleene.notation.words import checked_input
from kleene.programs.alta.compat.logs import ActivationsLogger, FFNTrace
from kleene.programs.alta.compat.mlp import MLPLogger
from kleene.programs.alta.compat.parts import AltaProgramParts
from kleene.programs.alta.compat.specs import Activations, held
from kleene.programs.alta.reference import Complaint, complaint, read, start_of
from kleene.users_code import users_code


def initialize_activations(
    program_spec: AltaProgramParts, input_ids: Sequence[int], position_shift: int = 0
) -> list[Activations]:
    """Every variable at every position before the first layer; the first position counts as `position_shift`.

    >>> from kleene.programs.alta import compat as pb
    >>> place = pb.program_spec({"place": pb.position_var(9)}, {}, lambda z: None, "place", 2)
    >>> pb.initialize_activations(place, [0, 1], position_shift=5)
    [{'place': 5}, {'place': 6}]
    """
    if not len(input_ids):
        return []
    tokens = checked_input(input_ids, program_spec.name, program_spec.input_range, None)
    names, heads = program_spec.variables, program_spec.heads
    places = list(enumerate(tokens, position_shift))
    return [{n: None if n in heads else _start(program_spec, n, *place) for n in names} for place in places]


def _start(program: AltaProgramParts, name: str, position: int, token: int) -> Any:
    start = start_of(program.variables[name], token, position)
    value = held(program.variables[name], start)
    if value is None:
        raise InputError(
            f"{program.name}: {name!r} starts as {start!r} for token {token} at position {position}, "
            f"but it takes {program.variables[name].expected}"
        )
    return value


@users_code()
def run_program(
    program_spec: AltaProgramParts,
    activations_seq: list[Activations],
    logger: ActivationsLogger | None = None,
    logger_mlp: MLPLogger | None = None,
    max_layers: int | None = 100,
) -> list[Any]:
    """The output at every position, once every position holds the halting value or after `max_layers + 1` layers.

    Without `max_layers` a run that repeats an earlier state is an error, because it never halts.
    """
    halt, met = program_spec.halt_spec, set()
    if max_layers is None and halt is None:
        raise InputError(f"{program_spec.name}: it has no halting condition, so that `max_layers` must be given")
    if logger is not None:
        logger.set_initial_activations(copy.deepcopy(activations_seq))
    for layer in itertools.count(1) if activations_seq else ():
        undefined = _attend(program_spec, activations_seq, layer)
        before = copy.deepcopy(activations_seq) if logger is not None else []
        for position, values in enumerate(activations_seq):
            try:
                _update(program_spec, values, undefined[position], logger_mlp)
            except WriteError as error:
                place = {"program": program_spec.name, "layer": layer, "position": position}
                raise WriteError(error.problem, **place) from error.__cause__
        if logger is not None:
            logger.add_layer_activations(before, copy.deepcopy(activations_seq))
        if halt is not None and all(values[halt.variable] == halt.value for values in activations_seq):
            break
        if max_layers is not None and layer > max_layers:
            break
        if max_layers is None:
            state = tuple(tuple(values.values()) for values in activations_seq)
            if state in met:
                raise HaltError(program_spec.name, 0, layer)
            met.add(state)
    return [values[program_spec.outputs] for values in activations_seq]


def _attend(program: AltaProgramParts, state: list[Activations], layer: int) -> list[dict[str, Complaint]]:
    """Let every head write what it reads; returns the errors of those that read nothing, for each position."""
    undefined: list[dict[str, Complaint]] = [{} for _ in state]
    for name, head in program.heads.items():
        for position, complaints in enumerate(undefined):
            if head.query in complaints:
                raise complaints[head.query]()
            value, reason = read(head, program.variables[name], state, position)
            state[position][name] = value
            if value is None:
                complaints[name] = complaint(program.name, name, reason or Reason.NO_MATCH, layer, position)
    return undefined


def _update(program: AltaProgramParts, values: Activations, undefined: Mapping[str, Complaint], log: Any) -> None:
    """Run the MLP at one position, and empty the heads' outputs."""
    for name, value in program.mlp.written(values, undefined, log).items():
        values[name] = held(program.variables[name], value)
        if values[name] is None:
            raise WriteError(f"{name!r} is set to {value!r}, but it takes {program.variables[name].expected}")
    values.update(dict.fromkeys(program.heads))


def extract_traces(
    model_inputs: Iterable[Sequence[int]], program_spec: AltaProgramParts, max_layers: int | None
) -> list[FFNTrace]:
    """What the MLP read and wrote on every input: layer by layer, and in a layer position by position."""
    traces = []
    for ids in model_inputs:
        logger = ActivationsLogger()
        run_program(program_spec, initialize_activations(program_spec, ids), logger=logger, max_layers=max_layers)
        for layer, (before, after) in enumerate(logger.get_layer_activations()):
            traces += [FFNTrace(a, b, layer, position, list(ids)) for position, (a, b) in enumerate(zip(before, after))]
    return traces
