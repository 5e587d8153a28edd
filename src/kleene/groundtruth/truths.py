"""The truth about a hidden network: what is known of the original, carried along the map.

A Transformer's truth is its `TrueCircuit`. A recurrent network that was compiled from an automaton has a
`StateCircuit`: which units are live in which state, and which unit reads which.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.explaining.circuits.circuit import Carrier, TrueCircuit
from kleene.groundtruth.bases import BasisMap
from kleene.groundtruth.units import UnitMap
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.rnn.simple_rnn import SimpleRNN


def circuit_onto(circuit: TrueCircuit, map: BasisMap) -> TrueCircuit:
    """The circuit of the hidden network: components go where the map says, and decoys have no edge."""
    if circuit.graph != map.old_graph:
        raise InputError(
            f"the circuit is one of {circuit.graph.layers} layers of {circuit.graph.heads} heads, and the map of "
            f"{map.old_graph.layers} layers of {map.old_graph.heads} heads"
        )
    return TrueCircuit(
        map.graph,
        map.edges(circuit.edges),
        map.edges(circuit.positional),
        {name: _carried(carrier, map) for name, carrier in circuit.carries.items()},
        None if circuit.positions is None else map.positions_onto(circuit.positions),
    )


def _carried(carrier: Carrier, map: BasisMap) -> Carrier:
    """The same subspace in the new stream; its rows stay those of the labels if the stream was only turned."""
    rows = carrier.basis @ map.writing
    if not np.allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-9):  # compressed: directions overlap
        _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
        rows = basis[sizes > 1e-9 * sizes.max(initial=0)]
    places = {number: name for number, name in zip(map.sources.tolist(), map.graph.sources) if number >= 0}
    numbers = {name: number for number, name in enumerate(map.old_graph.sources)}
    return Carrier(rows, carrier.labels, tuple(places[numbers[n]] for n in carrier.sources if numbers[n] in places))


@dataclass(frozen=True, eq=False)
class StateCircuit:
    """Which units of a recurrent network are live in which state of its automaton, and which unit reads which.

    `units[u]` is the number of the state in which unit u can be live, or -1 for a decoy; a live unit has the value
    `values[u]`, and all others of the algorithm are 0. In the state `dead` no unit is live. `edges[i, j]` says whether
    unit i reads unit j in the algorithm. A network that was taught has no such units, and knows only its states.
    """

    states: tuple[str, ...]
    units: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    dead: int | None = None
    edges: tuple[tuple[int, int], ...] = ()

    def units_of(self, state: str) -> list[int]:
        """The units that are live in a state, one after some transitions and another after others."""
        return [unit for unit, of in enumerate(self.units) if of == self.states.index(state)]

    def state_of(self, vector: Any) -> int:
        """The number of the state that a hidden vector means, or -1: its live unit of the algorithm, copies included.

        >>> circuit = StateCircuit(("even", "odd"), (0, 1, 1, -1), (1.0, 1.0, 0.5, 1.0))
        >>> circuit.state_of([0, 1, 0.5, 7]), circuit.state_of([1, 1, 0, 0])
        (1, -1)
        """
        vector = np.asarray(vector, dtype=np.float64)
        live = {of for of, value, now in zip(self.units, self.values, vector) if of >= 0 and abs(now) > abs(value) / 2}
        if not live:
            return -1 if self.dead is None else self.dead
        return live.pop() if len(live) == 1 else -1

    def as_json(self) -> dict[str, Any]:
        return {
            "states": list(self.states),
            "units": list(self.units),
            "values": list(self.values),
            "dead": self.dead,
            "edges": [list(edge) for edge in self.edges],
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "StateCircuit":
        """The circuit that `as_json` made plain data of."""
        edges = tuple((int(i), int(j)) for i, j in stored["edges"])
        units, values = tuple(map(int, stored["units"])), tuple(map(float, stored["values"]))
        return cls(tuple(stored["states"]), units, values, stored["dead"], edges)


def state_circuit(network: SimpleRNN | LSTM, map: UnitMap | None = None) -> StateCircuit:
    """The units and states of a network that was compiled from an automaton; with a map, those of the hidden one."""
    reading = network.reading
    if reading is None:
        raise InputError("only a network that was compiled from an automaton says which unit stands for which state")
    if isinstance(network, LSTM):
        units = network.decoder.shape[1]
        weights, value = np.asarray(network.layers[0].recurrent)[:units], float(np.tanh(1.0))
    else:
        exact = network.to_float(np.float64) if network.is_exact else network
        weights, value = np.asarray(exact.recurrent), 1.0
    units = len(weights)
    if map is None:
        map = UnitMap(np.arange(units), np.ones(units), units)
    true = map.sources < map.units
    old = np.where(true, map.sources, 0)
    reads = (weights != 0)[np.ix_(old, old)] & true & true[:, None]
    return StateCircuit(
        reading.states,
        tuple(reading.units[source] if is_true else -1 for source, is_true in zip(old.tolist(), true.tolist())),
        tuple((value * map.scales).tolist()),
        reading.dead,
        tuple((int(i), int(j)) for i, j in np.argwhere(reads)),
    )
