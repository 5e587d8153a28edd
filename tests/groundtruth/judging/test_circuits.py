"""The judge of circuits: a perfect method is found perfect, a wrong one is named, and the others go on."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.explaining.circuits.circuit import TrueCircuit
from kleene.explaining.circuits.methods import METHODS
from kleene.groundtruth.judging.circuits import JudgedCircuit
from kleene.groundtruth.judging.judged import Judged, joined
from kleene.groundtruth.judging.trials import judge_networks
from kleene.machines.transformer.components import ComponentGraph
from kleene.programs.alta.library import parity
from tests.explaining.circuits.samples import compiled, drawn

INPUTS, OTHERS = (tuple(words) for words in drawn("abc", 16))


def judged(name="hist", family="compiled"):
    return JudgedCircuit(name, family, *compiled(name), INPUTS, OTHERS)


def truth(network, inputs, others):
    circuits = [circuit for known, circuit in map(compiled, ("hist", "shift")) if known.graph == network.graph]
    return circuits[0].edges.astype(float)


def lie(*given):
    return -truth(*given)


@pytest.fixture(scope="module")
def found():
    networks = [judged(), judged("shift"), judged("hist", "again")]
    methods = {"truth": truth, "lie": lie, "nodes": lambda *given: truth(*given).any(axis=0)}
    return judge_networks(networks, methods, resamples=50)


def test_the_truth_is_perfect_and_its_opposite_is_wrong(found):
    for name in ("edges_roc", "edges_precision", "nodes_roc", "nodes_precision", "faithfulness"):
        assert found.of("truth", "compiled")[name].mean == pytest.approx(1)
    assert found.of("lie", "compiled")["edges_roc"].mean == 0
    assert found.of("truth", "compiled").networks == 2
    assert found.kept["again"].mean == pytest.approx(1)
    assert found.families == ("compiled", "again")


def test_families_that_rank_methods_alike_agree(found):
    assert found.agreement("compiled", "again", "edges_roc") == 1


def test_verdicts_show_themselves(found):
    lines = str(found).splitlines()
    assert lines[:2] == ["area under ROC, edges of the true circuit", "method  compiled        again"]
    assert "nodes   –               –" in lines
    assert "the true circuit  1.0 [1.0, 1.0]  1.0 [1.0, 1.0]" in lines
    assert repr(found) == "<Judged on 3 methods, 2 families of networks>"
    assert found._repr_html_().count("<table") == 6
    assert (
        "| truth | 1.0 [1.0, 1.0] | 1.0 [1.0, 1.0] |" in found.markdown()["area under ROC, edges of the true circuit"]
    )
    stored = json.loads(json.dumps(found.as_json()))
    assert Judged.from_json(stored).as_json() == found.as_json()
    assert stored["verdicts"][0]["by_network"]["shift"]["edges_roc"] == 1


def test_runs_on_different_networks_are_joined(found):
    methods = {"truth": truth, "lie": lie, "nodes": lambda *given: truth(*given).any(axis=0)}
    parts = [
        judge_networks([one], methods, resamples=50) for one in (judged(), judged("shift"), judged("hist", "again"))
    ]
    together = joined(parts, resamples=50).as_json()
    for one in (whole := found.as_json())["verdicts"] + together["verdicts"]:
        one.pop("seconds")
    assert {**together, "size": {}} == whole
    assert len(together["size"]["parts"]) == 3


def raises(*given):
    raise KeyError("x")


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (raises, "KeyError: 'x'"),
        (
            lambda *given: np.zeros((2, 3)),
            r"shape \(2, 3\), and \(13, 8\) was expected: \[destinations, sources\], or \(8,\)",
        ),
        (lambda *given: np.full((13, 8), np.nan), "it returned NaN for the edge from tokens to 1.0.q"),
        (lambda *given: np.full(8, np.nan), "it returned NaN for tokens"),
        (lambda *given: "abc", "it returned str, and an array of numbers was expected"),
        (lambda *given: np.ones((13, 8)) * 1j, "it returned complex numbers, and real ones were expected"),
        (lambda *given: np.full(8, 1j, dtype=object), "it returned complex numbers, and real ones were expected"),
        (lambda *given: sys.exit(3), "SystemExit: 3"),
    ],
)
def test_a_method_that_fails_is_named_and_the_others_go_on(method, words):
    found = judge_networks([judged()], {"bad": method, "truth": truth}, resamples=20)
    assert found.methods == ("truth",)
    assert len(found.problems) == 1
    assert found.problems[0].startswith("bad on hist (compiled): ")
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(found.problems[0])
    assert f"failed: {found.problems[0]}" in str(found)


def test_a_method_that_fails_on_every_network_is_one_line_that_counts_them():
    networks = [judged(), judged("shift"), judged("hist", "again")]
    found = judge_networks(networks, {"bad": lambda *given: np.zeros(3), "truth": truth}, resamples=20)
    (line,) = found.problems
    assert line.startswith("bad on 3 networks, first: hist (compiled): it returned an array of shape (3,), and (13, 8)")


def test_ctrl_c_in_a_method_stops_the_judge():
    def stopped(*given):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge_networks([judged()], {"stopped": stopped, "truth": truth}, resamples=20)


def test_a_page_says_what_failed_and_how_many_networks_there_were():
    found = judge_networks([judged(), judged("shift")], {"a<b": raises, "truth": truth}, resamples=20)
    shown = found._repr_html_()
    assert "<p>networks: 2 compiled; 95% intervals over programs and networks</p>" in shown
    assert "<p>failed: a&lt;b on 2 networks, first: hist (compiled): KeyError: &#x27;x&#x27;</p>" in shown


def test_if_all_methods_fail_there_are_no_tables():
    found = judge_networks([judged()], {"bad": raises}, resamples=20)
    assert str(found) == "no method could be judged\n\nfailed: bad on hist (compiled): KeyError: 'x'"
    assert "<table" not in found._repr_html_()


def test_nan_where_no_edge_is_possible_is_no_problem():
    network, _ = compiled("hist")
    holes = np.where(network.graph.possible, truth(network, (), ()), np.nan)
    found = judge_networks([judged()], {"holes": lambda *given: holes}, resamples=20)
    assert found.of("holes", "compiled")["edges_roc"].mean == 1


def test_methods_see_other_pairs_than_circuits_are_tried_on():
    seen = []

    def method(network, inputs, others):
        seen.append((inputs, others))
        return truth(network, inputs, others)

    judge_networks([judged()], {"m": method}, resamples=20)
    assert seen[0] == (list(INPUTS[::2]), list(OTHERS[::2]))


def test_a_network_whose_truth_is_not_known_is_refused():
    with pytest.raises(InputError, match="true circuit of mine is not known, so no method can be judged on it"):
        JudgedCircuit("mine", "taught", compiled("hist")[0], None, INPUTS, OTHERS)


def test_networks_and_circuits_that_do_not_fit_are_refused():
    other = ComponentGraph(layers=1, heads=1)
    empty = TrueCircuit.of(other, np.zeros(other.possible.shape, dtype=bool))
    with pytest.raises(InputError, match="hist has 3 layers of 1 heads, and its circuit 1 layers of 1 heads"):
        replace(judged(), circuit=empty)
    with pytest.raises(InputError, match="is a UniversalTransformer, and circuits are those of plain Transformers"):
        replace(judged(), network=kleene.compile(parity.absolute(positions=4)))
    with pytest.raises(InputError, match="16 inputs and 2 others; give as many of both, 4 or more"):
        replace(judged(), others=OTHERS[:2])
    with pytest.raises(InputError, match="input 0 of hist is longer than"):
        replace(judged(), inputs=(["a"] * 4,) * 4, others=(["b"],) * 4)


def test_an_unknown_verdict_is_refused(found):
    with pytest.raises(InputError, match="no verdict on 'x'"):
        found.of("x", "compiled")


def test_every_method_is_judged():
    found = judge_networks([judged()], {name: METHODS[name] for name in ("eap", "written_norm")}, resamples=20)
    assert found.problems == ()
    assert found.of("eap", "compiled").seconds > 0
