"""The judge of circuit methods: each method's scores beside the true circuit, network by network."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from kleene.errors import InputError
from kleene.explaining.circuits.circuit import TrueCircuit
from kleene.explaining.circuits.methods import CircuitMethod
from kleene.explaining.circuits.patching import Pairs, right_answers
from kleene.explaining.circuits.scoring import CircuitScores, checked_scores, scored
from kleene.explaining.circuits.verdicts import SCORES, CircuitVerdicts
from kleene.explaining.interactions.failures import FAILURES, MethodFailures
from kleene.machines.transformer.plain import PlainTransformer

LEAST = 4  # pairs of inputs: every other one is kept from the methods


@dataclass(frozen=True)
class JudgedCircuit:
    """A network whose true circuit is known, and pairs of inputs to judge methods on.

    `family` is what networks are grouped by, such as "compiled"; those of one `program` are not independent. Each of
    `others` is no shorter than its input, so that it says something at every position.
    """

    name: str
    family: str
    network: Any
    circuit: TrueCircuit | None
    inputs: tuple[Any, ...]
    others: tuple[Any, ...]
    program: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.network, PlainTransformer):
            raise InputError(
                f"{self.name} is a {type(self.network).__name__}, and circuits are those of plain Transformers; "
                f"PlainTransformer.from_unrolled makes one of a program compiled with layers='unrolled'"
            )
        if self.circuit is None:
            raise InputError(
                f"the true circuit of {self.name} is not known, so no method can be judged on it; give a circuit. "
                f"`true_circuit` computes that of a compiled network, in whatever basis"
            )
        if self.circuit.graph != self.network.graph:
            mine, theirs = (f"{g.layers} layers of {g.heads} heads" for g in (self.network.graph, self.circuit.graph))
            raise InputError(f"{self.name} has {mine}, and its circuit {theirs}")
        if len(self.inputs) != len(self.others) or len(self.inputs) < LEAST:
            counts = f"{len(self.inputs)} inputs and {len(self.others)} others"
            raise InputError(f"{self.name} has {counts}; give as many of both, {LEAST} or more")
        short = [i for i, (a, b) in enumerate(zip(self.inputs, self.others)) if len(b) < len(a)]
        if short:
            raise InputError(f"input {short[0]} of {self.name} is longer than the other input that it is compared with")

    @property
    def truth(self) -> TrueCircuit:
        assert self.circuit is not None
        return self.circuit

    @property
    def shown(self) -> tuple[list[Any], list[Any]]:
        """The pairs that a method is given."""
        return list(self.inputs[::2]), list(self.others[::2])

    def held_out(self) -> Pairs:
        """The pairs on which circuits are tried."""
        return Pairs.of(self.network, self.inputs[1::2], self.others[1::2])


def judge_circuits(
    networks: Sequence[JudgedCircuit],
    methods: Mapping[str, CircuitMethod],
    *,
    resamples: int = 1_000,
    on_network: Callable[[str], None] | None = None,
) -> CircuitVerdicts:
    """The verdicts on methods, family by family.

    A method that fails, or returns another shape, NaN or complex numbers, is named with the network; the others go on.
    On the first network of each family a method is called twice, and the second call is timed. Whether a circuit
    suffices is tried on other inputs than those that the method was given.
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {
        (name, family): {} for name in methods for family in _families(networks)
    }
    seconds: dict[tuple[str, str], float] = {}
    kept: dict[str, dict[str, Any]] = {family: {} for family in _families(networks)}
    failures = MethodFailures()
    for one in networks:
        if on_network is not None:
            on_network(f"{one.family}: {one.name}")
        pairs, about = one.held_out(), {"program": one.program or one.name}
        kept[one.family][one.name] = about | {"right": _kept_right(pairs, one.truth)}
        for name, method in methods.items():
            known = name, one.family
            try:
                scores = checked_scores(method(one.network, *one.shown), one.truth)
                seconds[known] = seconds.get(known) or _seconds(method, one)
            except FAILURES as error:
                failures.add(name, one.name, one.family, error)
                continue
            rows[known][one.name] = about | _plain(scored(scores, one.truth, pairs))
    return CircuitVerdicts.found(rows, seconds, kept, failures.lines(), resamples=resamples)


def _families(networks: Sequence[JudgedCircuit]) -> list[str]:
    return list(dict.fromkeys(one.family for one in networks))


def _kept_right(pairs: Pairs, circuit: TrueCircuit) -> float:
    return round(float(right_answers(pairs, jnp.asarray(circuit.edges[None], pairs.other.dtype))[0]), 4)


def _plain(scores: CircuitScores) -> dict[str, Any]:
    """The numbers of one network as they are stored; None for NaN."""
    numbers = {name: getattr(scores, name) for name in SCORES}
    shown = {name: None if np.isnan(value) else round(value, 4) for name, value in numbers.items()}
    return shown | {"curve": [round(share, 4) for share in scores.curve]}


def _seconds(method: CircuitMethod, one: JudgedCircuit) -> float:
    """The time of a further call, in which nothing is compiled."""
    started = time.perf_counter()
    method(one.network, *one.shown)
    return time.perf_counter() - started
