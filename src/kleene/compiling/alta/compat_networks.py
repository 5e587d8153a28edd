"""ALTA's calls that compile a program and run its network, on Kleene's compiler and network."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import kleene
from kleene.errors import InputError
from kleene.programs.alta.compat import AltaProgram
from kleene.programs.alta.compat.interpreter import run_program
from kleene.programs.alta.compat.lowering import layers_each


@dataclass
class Config:
    """ALTA's scalars: λ, which is Kleene's too, and two slopes, which Kleene chooses so that the network is exact."""

    expansion_scalar_1: float = 100.0
    expansion_scalar_2: float = 100.0
    attention_scalar: float = 100.0


@dataclass(frozen=True)
class CompatNetwork:
    """A compiled program. One layer of the program is `layers_each` layers of the network."""

    network: Any
    layers_each: int = 1


Parameters = CompatNetwork  # as ALTA calls it


def compile_transformer(
    program_spec: AltaProgram, config: Config | None = None, compile_ffn: bool = True, verbose: bool = False
) -> CompatNetwork:
    """The network of a program: `kleene.compile` under ALTA's name."""
    if not compile_ffn:
        raise InputError("compile_ffn=False asks for a network without an MLP, which Kleene does not make")
    network = kleene.compile(program_spec, attention_scalar=(config or Config()).attention_scalar)
    if verbose:
        print(network.size)
    return CompatNetwork(network, layers_each(program_spec))


def run_transformer(program_or_parameters: AltaProgram | CompatNetwork, *args: Any, **kwargs: Any) -> list[Any]:
    """The outputs of a program, as `run_program` gives them, or of a compiled one, as `run_network` does."""
    run: Any = run_program if isinstance(program_or_parameters, AltaProgram) else run_network
    return run(program_or_parameters, *args, **kwargs)


def run_network(
    params: CompatNetwork,
    learned_ffn_params: None = None,
    input_ids: Sequence[int] = (),
    max_layers: int = 100,
    **_: Any,
) -> list[Any]:
    """The network's output at every position once it has halted, or after `max_layers` layers of the program."""
    if not isinstance(params, CompatNetwork):
        raise InputError(f"compile_transformer gives what is run here, and this is a {type(params).__name__}")
    if learned_ffn_params is not None:
        raise InputError("a learned MLP cannot be put into a compiled network here; give learned_ffn_params=None")
    if not len(input_ids):
        return []
    return params.network.run(input_ids, max_layers=max_layers * params.layers_each).output
