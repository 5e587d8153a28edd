"""What a run did, as data: every variable before and after each MLP, and the same as JSON lines."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from os import PathLike
from typing import Any

from kleene.errors import ModelFileError
from kleene.files import parsed_json, read_bytes, write_atomically
from kleene.programs.alta.compat.specs import Activations

State = list[Activations]


class ActivationsLogger:
    """Every variable at every position, before the first layer, before each MLP and after it."""

    def __init__(self) -> None:
        self.initial_activations: State = []
        self.layer_activations: list[tuple[State, State]] = []

    def set_initial_activations(self, activations: State) -> None:
        self.initial_activations = activations

    def add_layer_activations(self, mlp_in: State, mlp_out: State) -> None:
        self.layer_activations.append((mlp_in, mlp_out))

    def get_layer_activations(self) -> list[tuple[State, State]]:
        return self.layer_activations

    def get_variable_values(self, element_idx: int, variable_name: str) -> list[Any]:
        """The values of a variable at a position: at the start, then twice a layer."""
        states = [state for layer in self.layer_activations for state in layer]
        return [state[element_idx][variable_name] for state in [self.initial_activations, *states]]

    def get_activations_table(
        self, elements_to_include: Iterable[int] | None = None, variables_to_include: Iterable[str] | None = None
    ) -> list[list[Any]]:
        """A header, and a row for every position and variable."""
        count = len(self.initial_activations)
        elements = set(range(count) if elements_to_include is None else elements_to_include) & set(range(count))
        known = list(self.initial_activations[0]) if count else []
        chosen = set(known if variables_to_include is None else variables_to_include)
        columns = [f"L{layer}{half}" for layer in range(len(self.layer_activations)) for half in "ab"]
        rows = [[e, n, *self.get_variable_values(e, n)] for e in sorted(elements) for n in known if n in chosen]
        return [["Element", "Variable", "Input", *columns], *rows]

    def print_activations_table(
        self,
        sep: str = ",",
        elements_to_include: Iterable[int] | None = None,
        variables_to_include: Iterable[str] | None = None,
    ) -> None:
        for row in self.get_activations_table(elements_to_include, variables_to_include):
            print(sep.join("-" if entry is None else str(entry) for entry in row))


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
        return _with_values(asdict(self), lambda v: sorted(v) if isinstance(v, frozenset) else v)


def trace_from_dict(found: dict[str, Any]) -> FFNTrace:
    """The trace that `serialize_to_dict` described."""
    kept = _with_values(found, lambda v: frozenset(v) if isinstance(v, list) else v)
    return FFNTrace(**{field.name: kept[field.name] for field in fields(FFNTrace)})


def _with_values(found: dict[str, Any], change: Any) -> dict[str, Any]:
    sides = ("variables_in", "variables_out")
    return found | {side: {name: change(value) for name, value in found[side].items()} for side in sides}


def write_traces_jsonl(output_path: str | PathLike, traces: Iterable[FFNTrace]) -> None:
    """Write the traces, one line each."""
    lines = (json.dumps(trace.serialize_to_dict()) + "\n" for trace in traces)
    write_atomically(output_path, "".join(lines).encode())


def read_traces_jsonl(input_path: str | PathLike) -> list[FFNTrace]:
    """The traces that `write_traces_jsonl` wrote."""
    traces = []
    for number, line in enumerate(read_bytes(input_path).splitlines(), 1):
        try:
            found = parsed_json(line)
            if not isinstance(found, dict):
                raise ValueError(f"it is {found!r}")
            traces.append(trace_from_dict(found))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelFileError(f"line {number} of {str(input_path)!r} is no trace of an MLP: {error}") from None
    return traces
