"""Circuits as data."""

import json

import numpy as np
import pytest

from kleene.errors import InputError
from kleene.explaining.circuits.circuit import TrueCircuit
from kleene.machines.transformer.components import ComponentGraph
from tests.explaining.circuits.samples import compiled

GRAPH = ComponentGraph(layers=1, heads=1)


def edges(*names):
    found = np.zeros(GRAPH.possible.shape, dtype=bool)
    for destination, source in names:
        found[GRAPH.destinations.index(destination), GRAPH.sources.index(source)] = True
    return found


def test_a_circuit_is_plain_data_and_back():
    _, circuit = compiled("reverse")
    stored = json.loads(json.dumps(circuit.as_json()))
    found = TrueCircuit.from_json(stored)
    assert found.as_json() == circuit.as_json()
    assert (found.edges == circuit.edges).all()
    assert found.graph == circuit.graph
    assert stored["nodes"] == ["tokens", "positions", "1.0", "1.mlp", "2.mlp", "3.mlp", "4.0", "4.mlp"]


def test_what_is_positional_is_not_judged():
    whole = edges(("1.0.q", "positions"), ("1.0.v", "tokens"), ("output", "1.0"))
    circuit = TrueCircuit(GRAPH, whole, edges(("1.0.q", "positions")))
    assert circuit.nodes.tolist() == [True, True, True, False]
    assert circuit.judged_nodes.tolist() == [True, False, True, True]
    assert circuit.judged.sum() == GRAPH.possible.sum() - 1
    assert TrueCircuit.of(GRAPH, whole).judged.sum() == GRAPH.possible.sum()


def test_edges_that_cannot_be_are_refused():
    with pytest.raises(InputError, match=r"\('1.0.q', '1.mlp'\), whose source comes later"):
        TrueCircuit.of(GRAPH, edges(("1.0.q", "1.mlp")))
    with pytest.raises(InputError, match=r"\('output', '1.0'\) is positional"):
        TrueCircuit(GRAPH, edges(), edges(("output", "1.0")))
    with pytest.raises(InputError, match="shape \\(5, 4\\)"):
        TrueCircuit.of(GRAPH, np.zeros((2, 2), dtype=bool))
    stored = TrueCircuit.of(GRAPH, edges()).as_json() | {"edges": [["2.mlp", "tokens"]]}
    with pytest.raises(InputError, match="1 layers of 1 heads"):
        TrueCircuit.from_json(stored)
