"""`kleene.judge` on circuits, tiny: which methods are meant, networks, pages, the command line."""

import json
from dataclasses import replace

import pytest

import kleene
from kleene.errors import InputError
from kleene.explaining.circuits.methods import METHODS
from kleene.explaining.circuits.truth import true_circuit
from kleene.explaining.interactions.measures import MEASURES
from kleene.files import sealed_json
from kleene.groundtruth.collection import build
from kleene.groundtruth.judging.circuit_networks import circuit_networks
from kleene.groundtruth.judging.judge import CircuitSize, JudgeSize, collected_networks, meant_methods
from kleene.groundtruth.judging.trials import judge_networks
from kleene.groundtruth.taught import shipped
from tests.command_line import assert_refused

TINY = CircuitSize(("rasp:shift",), symbols=2, length=3, words=8, hide=0, taught=None)
INTERACTIONS = JudgeSize(languages=("tomita_1",), length=3, words=2, seeds=0, machines=("RNN",), hide=0)
OWN = """
import numpy as np


def mine(network, inputs, others):
    assert len(inputs) == len(others)
    return network.graph.possible.sum(axis=0)


def broken(network, inputs, others):
    return np.zeros(3)
"""


def test_the_names_and_arguments_of_methods_say_what_is_meant():
    def circuit(network, inputs, others):
        raise AssertionError

    def measure(network, words, more=1):
        raise AssertionError

    found = meant_methods(["nearness", "acdc", circuit, measure])
    assert {kind: list(some) for kind, some in found.items()} == {
        "interactions": ["nearness", "measure"], "circuits": ["acdc", "circuit"],
    }  # fmt: skip
    assert meant_methods({"a": circuit}) == {"interactions": {}, "circuits": {"a": circuit}}
    assert meant_methods((), "circuits") == {"interactions": {}, "circuits": METHODS}
    every = meant_methods(())
    assert every["circuits"] == METHODS
    assert every["interactions"].keys() >= MEASURES.keys()


@pytest.mark.parametrize(
    ("methods", "of", "words"),
    [
        ("acdd", None, "did you mean acdc"),
        ("acdc", "interactions", "acdc is a method for circuits, and it was asked for interactions only"),
        (lambda network: 0, None, "takes 1 arguments; a measure of interactions takes two"),
        ((), "networks", "judged are interactions or circuits, and not 'networks'"),
    ],
)
def test_what_cannot_be_meant_is_refused(methods, of, words):
    with pytest.raises(InputError, match=words):
        kleene.judge(methods, of=of, circuits=TINY)


def test_both_are_judged_side_by_side(tmp_path):
    found = kleene.judge(["nearness", "written_norm"], size=INTERACTIONS, circuits=TINY)
    assert repr(found).startswith("<AllJudged: <Judged on 1 measures, ")
    assert "\nCIRCUITS\n\narea under ROC, edges of the true circuit\nmethod" in str(found)
    stored = json.loads(json.dumps(found.as_json()))
    assert stored["circuits"]["size"]["programs"] == ["rasp:shift"]
    assert "<h2>Circuits</h2>" in found._repr_html_()


def test_families_are_those_of_either():
    found = kleene.judge(["nearness", "random_edges"], size=INTERACTIONS, circuits=TINY, families=["compiled"])
    assert found.methods == ("random_edges",)
    with pytest.raises(InputError, match="no family of networks 'compild'; did you mean compiled"):
        kleene.judge("random_edges", circuits=TINY, families=["compild"])


def test_inputs_are_those_that_the_program_takes_and_others_are_no_shorter():
    (one,) = circuit_networks(TINY)
    assert (one.name, one.family, len(one.inputs)) == ("rasp:shift", "compiled", 8)
    assert all(len(other) >= len(word) for word, other in zip(one.inputs, one.others))
    assert {symbol for word in one.inputs for symbol in word} == {"a", "b"}


def test_hidden_networks_have_the_same_circuit_with_decoys_outside_of_it():
    networks = list(circuit_networks(replace(TINY, hide=2), families=["compiled", "hidden", "softened"]))
    assert [(one.name, one.family) for one in networks] == [
        ("rasp:shift", "compiled"),
        *((f"rasp:shift seed {seed}", family) for family in ("hidden", "softened") for seed in (0, 1)),
    ]
    plain, *others = networks
    for one in others:
        assert one.network.graph.heads == plain.network.graph.heads + 1
        assert one.circuit.edges.sum() == plain.circuit.edges.sum()
        assert [t.output for t in one.network.run_batch(one.inputs)] == [
            t.output for t in plain.network.run_batch(one.inputs)
        ]
    for one in others[:2]:
        assert (true_circuit(one.network, [*one.inputs, *one.others]).edges == one.circuit.edges).all()
    found = judge_networks(networks, {"random_edges": METHODS["random_edges"]}, resamples=20)
    assert all(kept.mean == pytest.approx(1) for kept in found.kept.values())


def test_taught_networks_have_the_circuit_that_they_were_taught():
    (one,) = (n for n in circuit_networks(replace(TINY, taught=""), families=["taught"]) if n.name == "reverse")
    assert (one.program, one.family) == ("rasp:reverse", "taught")
    found = judge_networks([one], {"random_edges": METHODS["random_edges"]}, resamples=20)
    assert found.kept["taught"].mean == pytest.approx(1)
    with pytest.raises(InputError, match="there is no folder '/no/such' of taught networks"):
        list(circuit_networks(replace(TINY, taught="/no/such")))


def test_a_taught_network_that_does_not_keep_its_algorithm_is_left_out(tmp_path):
    kept = shipped("hist")
    counted = {"interchange": {"right": 3, "pairs": 4}}
    kept.save(tmp_path)
    replace(kept, name="other", counted=counted).save(tmp_path)
    told = []
    size = replace(TINY, taught=str(tmp_path))
    found = list(circuit_networks(size, families=["taught"], on_network=told.append))
    assert [one.name for one in found] == ["hist"]
    assert told == ["left out: other does not keep its algorithm"]


def test_sizes_that_are_too_small_are_refused():
    with pytest.raises(InputError, match="words is 2, which is too small; give 4"):
        CircuitSize(words=2)


def test_a_method_of_ones_own_is_judged_on_the_command_line(run, tmp_path, monkeypatch):
    monkeypatch.setattr("kleene.groundtruth.judging.judge.QUICK_CIRCUITS", TINY)
    file, page = tmp_path / "own.py", tmp_path / "page.html"
    file.write_text(OWN)
    result = run("judge", f"{file}:mine", f"{file}:broken", "--quick", "--words", "6", "-o", str(page))
    assert result.status == 0
    assert result.out.startswith("area under ROC, edges of the true circuit\nmethod")
    assert f"failed: {file}:broken on rasp:shift (compiled): it returned an array of shape (3,), and " in result.out
    assert page.read_text().count("<table") == 6
    assert f"<p>failed: {file}:broken on rasp:shift (compiled): " in page.read_text()


def test_bad_requests_are_refused_on_the_command_line(run, tmp_path):
    assert_refused(run("judge", "acdd"), "no measure 'acdd' and no such method for circuits", "acdc")
    assert_refused(run("judge", "acdc", "--of", "interactions"), "acdc is a method for circuits")
    assert_refused(run("judge", "acdc", "-o", "tables.svg"), "not as 'tables.svg'; give a name that ends in .html")
    assert_refused(run("judge", "acdc", "-o", str(tmp_path / "no" / "a.html")), "there is no folder for")
    assert_refused(run("judge", "acdc", "--words", "1"), "words is 1, which is too small")


def test_networks_of_the_collection_are_judged_by_what_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_CACHE", str(tmp_path))
    given = ["rasp.identity", "rnn.tomita_1.hidden"]
    found = kleene.judge(["nearness", "random_edges"], size=INTERACTIONS, circuits=TINY, networks=given)
    assert found.interactions.families == ("hidden RNN",)
    assert found.circuits.families == ("compiled", "hidden")
    assert [*found.circuits.of("random_edges", "hidden").by_network] == ["rasp.identity.hidden"]
    assert found.circuits.kept["hidden"].mean == pytest.approx(1)


def test_a_taught_network_of_the_collection_is_judged_with_the_circuit_that_it_was_taught(tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_CACHE", str(tmp_path))
    (one,) = collected_networks(["rasp.hist.taught"], INTERACTIONS, TINY)["circuits"]
    (other,) = (n for n in circuit_networks(replace(TINY, taught=""), families=["taught"]) if n.name == "hist")
    kept = shipped("hist").circuit()
    for circuit in (one.circuit, other.circuit):
        assert (circuit.edges == kept.edges).all()
        assert (circuit.positional == kept.positional).all()
        assert circuit.carries.keys() == kept.carries.keys()
    assert all(carrier.sources for name, carrier in one.circuit.carries.items() if name == "hist")


def test_a_network_that_does_not_keep_its_algorithm_is_not_judged_on(tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_CACHE", str(tmp_path))
    (entry,) = build("rasp.hist.taught")
    assert entry.card["verified"] is True
    assert "verified  yes, " in str(entry)
    card = json.loads((entry.folder / "card.json").read_text())
    card.pop("checksum")
    (entry.folder / "card.json").write_bytes(sealed_json(card | {"verified": False}))
    with pytest.raises(InputError, match="its truth is not known, and no method can be judged on it"):
        collected_networks(["rasp.hist.taught"], INTERACTIONS, TINY)


def test_where_there_is_no_network_for_a_method_that_is_said():
    with pytest.raises(InputError, match="no network to judge eap on among taught, hints"):
        kleene.judge("eap", circuits=replace(TINY, taught=""), families=["taught, hints"])
    with pytest.raises(InputError, match="judged as they are; leave out families"):
        kleene.judge("eap", circuits=TINY, families=["compiled"], networks=["rasp.identity"])


@pytest.mark.parametrize(
    ("given", "words"), [({"programs": ("rasp:shfit",)}, "shfit"), ({"taught": "nowhere"}, "no folder 'nowhere'")]
)
def test_what_is_not_there_is_refused_before_anything_is_judged(given, words):
    told = []
    with pytest.raises(InputError, match=words):
        kleene.judge(["nearness", "eap"], size=INTERACTIONS, circuits=replace(TINY, **given), on_network=told.append)
    assert told == []
