"""What the MLP of a program saw and wrote in a run, as data: one pair for every layer and position, in JSON lines."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from os import PathLike
from typing import Any

from kleene.errors import ModelFileError
from kleene.files import read_bytes, write_atomically
from kleene.programs.alta.compat.interpreter import ActivationsLogger, initialize_activations, run_program
from kleene.programs.alta.compat.specs import Activations, Program


@dataclass
class FFNTrace:
    """Every variable before and after one MLP; None is undefined."""

    variables_in: Activations
    variables_out: Activations
    layer_idx: int = 0
    element_idx: int = 0
    model_input: list[int] | None = None

    def serialize_to_dict(self) -> dict[str, Any]:
        """The trace as JSON has it: a set is a sorted list."""
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
    model_inputs: Iterable[Sequence[int]], program_spec: Program, max_layers: int | None
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
            traces.append(trace_from_dict(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelFileError(f"line {number} of {str(input_path)!r} is no trace of an MLP: {error}") from None
    return traces
