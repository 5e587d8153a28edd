"""ALTA's interpreter, in plain Python with one dict for each position, and its traces of the MLP as JSON lines.

It has the semantics of ALTA's own. A layer's heads run in the order of their declaration, and later ones see what
earlier ones wrote; halting is tested after a layer; a run stops after `max_layers + 1` layers with the output so far.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from os import PathLike
from typing import Any

from kleene.errors import HaltError, InputError, ModelFileError, Reason, RunError, UndefinedAttentionError, WriteError
from kleene.files import read_bytes, write_atomically
from kleene.programs.alta.compat.mlp import MLPLogger, UndefinedRead
from kleene.programs.alta.compat.specs import (
    Activations,
    AltaProgramParts,
    AttentionHeadSpec,
    NumericalAttentionHeadSpec,
)


class ActivationsLogger:
    """Every variable at every position, before the first layer, before each MLP and after it."""

    def __init__(self) -> None:
        self.initial_activations: list[Activations] | None = None
        self.layer_activations: list[tuple[list[Activations], list[Activations]]] = []

    def set_initial_activations(self, activations: list[Activations]) -> None:
        self.initial_activations = activations

    def add_layer_activations(self, mlp_in: list[Activations], mlp_out: list[Activations]) -> None:
        self.layer_activations.append((mlp_in, mlp_out))

    def get_layer_activations(self) -> list[tuple[list[Activations], list[Activations]]]:
        return self.layer_activations

    def get_variable_values(self, element_idx: int, variable_name: str) -> list[Any]:
        """The values of a variable at a position: at the start, then twice a layer."""
        states = [state for layer in self.layer_activations for state in layer]
        return [state[element_idx][variable_name] for state in [self.initial_activations or [], *states]]

    def get_activations_table(
        self, elements_to_include: Iterable[int] | None = None, variables_to_include: Iterable[str] | None = None
    ) -> list[list[Any]]:
        """A header, and a row for every position and variable."""
        start = self.initial_activations or []
        elements = range(len(start)) if elements_to_include is None else list(elements_to_include)
        known = list(start[0]) if start else []
        names = known if variables_to_include is None else [n for n in known if n in set(variables_to_include)]
        columns = [f"L{layer}{half}" for layer in range(len(self.layer_activations)) for half in "ab"]
        rows = [[e, name, *self.get_variable_values(e, name)] for e in elements if e < len(start) for name in names]
        return [["Element", "Variable", "Input", *columns], *rows]

    def print_activations_table(
        self,
        sep: str = ",",
        elements_to_include: Iterable[int] | None = None,
        variables_to_include: Iterable[str] | None = None,
    ) -> None:
        for row in self.get_activations_table(elements_to_include, variables_to_include):
            print(sep.join("-" if entry is None else str(entry) for entry in row))


def initialize_activations(
    program_spec: AltaProgramParts, input_ids: Sequence[int], position_shift: int = 0
) -> list[Activations]:
    """Every variable at every position before the first layer; the first position counts as `position_shift`.

    >>> from kleene.programs.alta import compat as pb
    >>> place = pb.program_spec({"place": pb.position_var(9)}, {}, lambda z: None, "place", 2)
    >>> pb.initialize_activations(place, [0, 1], position_shift=5)
    [{'place': 5}, {'place': 6}]
    """
    for position, token in enumerate(input_ids):
        if isinstance(token, float) or not 0 <= token < program_spec.input_range:
            most = program_spec.input_range - 1
            raise InputError(f"{program_spec.name}: token {position} is {token!r}, and tokens are in 0..{most}")
    outputs = {spec.output for spec in program_spec.head_specs}
    return [
        {
            n: None if n in outputs else _start(program_spec, n, at + position_shift, token)
            for n in program_spec.variables
        }
        for at, token in enumerate(input_ids)
    ]


def _start(program: AltaProgramParts, name: str, position: int, token: int) -> Any:
    spec = program.variables[name]
    value: Any = spec.default
    if spec.input_init_fn is not None:
        value = spec.input_init_fn(token)
    elif spec.position_init_fn is not None:
        value = spec.position_init_fn(position)
    if not spec.accepts(value):
        raise InputError(
            f"{program.name}: {name!r} starts as {value!r} for token {token} at position {position}, "
            f"but it takes {spec.expected}"
        )
    return spec.plain(value)


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
    halt = program_spec.halt_spec
    if max_layers is None and halt is None:
        raise InputError(f"{program_spec.name}: it has no halting condition, so that `max_layers` must be given")
    if logger is not None:
        logger.set_initial_activations([dict(a) for a in activations_seq])
    met: set[Any] = set()
    layer = 0
    while activations_seq:
        _run_layer(program_spec, activations_seq, layer, logger, logger_mlp)
        if max_layers is not None and layer >= max_layers:
            break
        if halt is not None and all(a[halt.halt_var] == halt.halt_value for a in activations_seq):
            break
        layer += 1
        if max_layers is None:
            state = tuple(tuple(a.values()) for a in activations_seq)
            if state in met:
                raise HaltError(program_spec.name, 0, layer)
            met.add(state)
    return [a[program_spec.outputs] for a in activations_seq]


def _run_layer(
    program: AltaProgramParts,
    state: list[Activations],
    layer: int,
    logger: ActivationsLogger | None,
    logger_mlp: MLPLogger | None,
) -> None:
    reasons: dict[tuple[int, str], Reason] = {}
    for spec in program.head_specs:
        for position, (value, reason) in enumerate(attend(program, spec, state, layer, reasons)):
            state[position][spec.output] = value
            if reason is not None:
                reasons[position, spec.output] = reason
    before = [dict(a) for a in state] if logger is not None else []
    for position, activations in enumerate(state):
        try:
            program.mlp.run_layer(activations, logger_mlp)
        except UndefinedRead as error:
            raise _undefined(program, error.head, layer, position, reasons) from None
        except WriteError as error:
            place = {"program": program.name, "layer": layer + 1, "position": position}
            raise WriteError(error.problem, **place) from None
        except RunError as error:
            raise RunError(
                f"{program.name}: in layer {layer + 1}, at position {position}, {error}"
            ) from error.__cause__
        for spec in program.head_specs:
            activations[spec.output] = None
    if logger is not None:
        logger.add_layer_activations(before, [dict(a) for a in state])


def attend(
    program: AltaProgramParts,
    spec: AttentionHeadSpec,
    state: list[Activations],
    layer: int,
    reasons: dict[tuple[int, str], Reason],
) -> list[tuple[Any, Reason | None]]:
    """What a head reads at every position (None where nothing), and the reason where it reads nothing."""
    places: dict[Any, list[int]] = {}
    for position, activations in enumerate(state):
        places.setdefault(activations[spec.key], []).append(position)
    found = []
    for position, activations in enumerate(state):
        query = activations[spec.query]
        if query is None:
            raise _undefined(program, spec.query, layer, position, reasons)
        wanted = query if isinstance(query, frozenset) else (query,)
        mask = spec.relative_position_mask
        if mask:
            near = [position + o for o in sorted(mask) if 0 <= position + o < len(state)]
            selected = [p for p in near if state[p][spec.key] in wanted]
            missing = Reason.NO_MATCH if near else Reason.EDGE
        else:
            selected = sorted(p for key in wanted for p in places.get(key, ()))
            missing = Reason.NO_MATCH
        found.append(_read(spec, [state[p][spec.value] for p in selected], missing))
    return found


def _read(spec: AttentionHeadSpec, values: list[Any], missing: Reason) -> tuple[Any, Reason | None]:
    if not values or None in values:
        return None, missing
    if isinstance(spec, NumericalAttentionHeadSpec):
        return float(sum(values) / len(values)), None
    return (values[0], None) if len(values) == 1 else (None, Reason.SEVERAL)


def _undefined(
    program: AltaProgramParts, head: str, layer: int, position: int, reasons: dict[tuple[int, str], Reason]
) -> UndefinedAttentionError:
    reason = reasons.get((position, head), Reason.NO_MATCH)
    return UndefinedAttentionError(program.name, head, reason, layer=layer + 1, position=position)


@dataclass
class FFNTrace:
    """Every variable before and after one MLP; None is undefined."""

    variables_in: Activations
    variables_out: Activations
    layer_idx: int = 0
    element_idx: int = 0
    model_input: list[int] | None = None

    def serialize_to_dict(self) -> dict[str, Any]:
        """The trace as plain data for JSON, a set as a sorted list."""
        found = asdict(self)
        for name in ("variables_in", "variables_out"):
            found[name] = {n: sorted(v) if isinstance(v, frozenset) else v for n, v in found[name].items()}
        return found


def trace_from_dict(found: dict[str, Any]) -> FFNTrace:
    """The trace that `serialize_to_dict` described."""
    kept = dict(found)
    for name in ("variables_in", "variables_out"):
        kept[name] = {n: frozenset(v) if isinstance(v, list) else v for n, v in found[name].items()}
    return FFNTrace(**{field.name: kept[field.name] for field in fields(FFNTrace)})


def extract_traces(
    model_inputs: Iterable[Sequence[int]], program_spec: AltaProgramParts, max_layers: int | None
) -> list[FFNTrace]:
    """The traces of the program on every input: layer by layer, and in a layer position by position."""
    traces = []
    for ids in model_inputs:
        logger = ActivationsLogger()
        run_program(program_spec, initialize_activations(program_spec, ids), logger=logger, max_layers=max_layers)
        for layer, (before, after) in enumerate(logger.get_layer_activations()):
            traces += [FFNTrace(a, b, layer, position, list(ids)) for position, (a, b) in enumerate(zip(before, after))]
    return traces


def write_traces_jsonl(output_path: str | PathLike, traces: Iterable[FFNTrace]) -> None:
    """Write the traces, one line each."""
    lines = (json.dumps(trace.serialize_to_dict()) + "\n" for trace in traces)
    write_atomically(output_path, "".join(lines).encode())


def read_traces_jsonl(input_path: str | PathLike) -> list[FFNTrace]:
    """The traces that `write_traces_jsonl` wrote."""
    traces = []
    for number, line in enumerate(read_bytes(input_path).splitlines(), 1):
        try:
            found = json.loads(line)
            if not isinstance(found, dict):
                raise ValueError(f"it is {found!r}")
            traces.append(trace_from_dict(found))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelFileError(f"line {number} of {str(input_path)!r} is no trace of an MLP: {error}") from None
    return traces
