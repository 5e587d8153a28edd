"""The collection: every program is what it says, entries are the same when built again, and damage is refused."""

import itertools
import json

import jax.numpy as jnp
import numpy as np
import pytest

from kleene import naming
from kleene.errors import InputError, ModelFileError
from kleene.explaining.circuits.truth import true_circuit
from kleene.groundtruth import building, catalog, collection
from kleene.groundtruth.catalog import TAUGHT_PLAIN, programs
from kleene.groundtruth.hide import valid_inputs
from kleene.groundtruth.places import CARD, CIRCUIT, NETWORK, is_built
from kleene.groundtruth.rasp_programs import EXAMPLES
from kleene.groundtruth.taught import SUBJECTS
from kleene.groundtruth.transformers import hide_transformer
from kleene.groundtruth.truths import circuit_onto
from kleene.programs.automata import DFA


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_program_computes_what_plain_python_does(name):
    example = EXAMPLES[name]
    program = example.build(name)
    for size in (1, 2, 3, 5):
        words = itertools.islice(itertools.product(program.vocab, repeat=size), 0, None, 1 if size < 5 else 37)
        for word in map(list, words):
            assert program.evaluate(word) == example.reference(word), word


def test_there_are_more_than_sixty_programs_and_all_can_be_found():
    found = programs()
    assert len({known.named.removeprefix("dfa:") for known in found.values()}) >= 80
    assert {known.machine for known in found.values()} == {"plain", "rnn", "lstm"}
    for known in found.values():
        assert known.summary
        if known.family == "automaton":
            assert isinstance(known.find()[0].subject, DFA)
        elif isinstance(known.program, str):
            assert known.program in naming.listed_names()


def test_every_taught_subject_is_in_the_collection():
    assert set(TAUGHT_PLAIN.values()) == set(SUBJECTS)
    for name, subject in TAUGHT_PLAIN.items():
        assert programs()[name].program == SUBJECTS[subject].program
        assert "taught" in programs()[name].forms


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("collection")
    for name in ("rasp.more_a_than_b", "rnn.ends_abb", "lstm.parity"):
        collection.build(name, folder=place)
    return place


@pytest.mark.parametrize("name", ["rasp.more_a_than_b", "rnn.ends_abb", "lstm.parity"])
@pytest.mark.parametrize("form", ["compiled", "hidden"])
def test_an_entry_is_right_and_comes_back(folder, name, form):
    entry = collection.load(f"{name}.{form}", folder=folder)
    assert entry.card["right"] == entry.card["inputs"] > 100
    assert entry.card["form"] == form
    zeros = 1 - entry.network.size.nonzero / entry.network.size.parameters
    assert zeros > 0.4 if form == "compiled" else zeros < 0.1
    assert entry.name in str(entry)


def test_the_circuit_of_a_hidden_transformer_is_the_one_that_its_weights_have(folder):
    """The truth that was carried along is the truth computed anew, decoys and a turned basis or not."""
    known, _ = catalog.get("rasp.more_a_than_b")
    found, _ = known.find()
    entry = collection.load("rasp.more_a_than_b.hidden", folder=folder)
    words = valid_inputs(found, entry.network)
    anew = true_circuit(entry.network, words)
    assert (anew.edges == entry.circuit.edges).all()
    assert (anew.positional == entry.circuit.positional).all()
    assert 0 < anew.edges.sum() < entry.network.graph.possible.sum() / 2
    compiled = collection.load("rasp.more_a_than_b.compiled", folder=folder)
    assert anew.edges.sum() == compiled.circuit.edges.sum()


def test_the_subspace_of_a_variable_holds_it_in_the_hidden_stream(folder):
    before, after = (collection.load(f"rasp.more_a_than_b.{form}", folder=folder) for form in ("compiled", "hidden"))
    tokens, lengths = map(jnp.asarray, before.network.encode(["abbac"]))
    streams = [np.asarray(entry.network.written(tokens[0], lengths[0])).sum(axis=0) for entry in (before, after)]
    assert set(before.circuit.carries) == set(after.circuit.carries)
    for name, carrier in before.circuit.carries.items():
        assert np.allclose(streams[0] @ carrier.basis.T, streams[1] @ after.circuit.carries[name].basis.T, atol=1e-3)


@pytest.mark.parametrize("name", ["rnn.ends_abb", "lstm.parity"])
@pytest.mark.parametrize("form", ["compiled", "hidden"])
def test_the_live_units_of_a_recurrent_network_tell_the_state(folder, name, form):
    entry = collection.load(f"{name}.{form}", folder=folder)
    dfa = programs()[name].find()[0].subject
    word = "".join(np.random.default_rng(0).choice(list(dfa.alphabet), 30))
    vectors = np.asarray(entry.network.hidden(word), dtype=float).reshape(31, -1)
    states = [entry.circuit.state_of(vector) for vector in vectors]
    assert states == dfa.run(word).data["state"].tolist()
    assert any(unit < 0 for unit in entry.circuit.units) == (form == "hidden")


def test_the_same_seed_gives_the_same_checksums(folder, tmp_path):
    for name in ("rnn.ends_abb.hidden", "rasp.more_a_than_b.hidden"):
        (again,) = collection.build(name, folder=tmp_path)
        assert again.card["sha256"] == collection.load(name, folder=folder).card["sha256"]
    (other,) = collection.build("rnn.ends_abb.hidden", folder=tmp_path, seed=1, again=True)
    assert other.card["sha256"] != collection.load("rnn.ends_abb.hidden", folder=folder).card["sha256"]
    with pytest.raises(InputError, match="was built with seed 1, and not 0"):
        collection.build("rnn.ends_abb.hidden", folder=tmp_path)


@pytest.mark.parametrize("file", [NETWORK, CIRCUIT, CARD])
def test_an_entry_that_is_damaged_is_refused_and_can_be_built_again(tmp_path, file):
    collection.build("rnn.parity.compiled", folder=tmp_path)
    path = tmp_path / "rnn.parity.compiled" / file
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    for use in (collection.load, collection.build):
        with pytest.raises(ModelFileError, match=r"kleene groundtruth build rnn\.parity\.compiled --again"):
            use("rnn.parity.compiled", folder=tmp_path)
    collection.build("rnn.parity.compiled", folder=tmp_path, again=True)
    assert collection.load("rnn.parity.compiled", folder=tmp_path).card["right"] == 400


def test_an_entry_whose_files_belong_to_another_card_is_refused(tmp_path):
    for name in ("rnn.parity.compiled", "rnn.odd_a.compiled"):
        collection.build(name, folder=tmp_path)
    for file in (NETWORK, CIRCUIT, CARD):
        content = (tmp_path / "rnn.odd_a.compiled" / file).read_bytes()
        (tmp_path / "rnn.parity.compiled" / file).write_bytes(content)
        with pytest.raises(ModelFileError, match="is damaged"):
            collection.load("rnn.parity.compiled", folder=tmp_path)


def test_a_build_that_is_interrupted_leaves_no_entry(tmp_path, monkeypatch):
    collection.build("rnn.parity.compiled", folder=tmp_path)

    def full(*args, **options):
        raise ModelFileError("the disk is full")

    monkeypatch.setattr(collection, "sealed_json", full)
    with pytest.raises(ModelFileError, match="disk is full"):
        collection.build("rnn.parity.compiled", folder=tmp_path, again=True)
    assert not is_built("rnn.parity.compiled", tmp_path)


def test_a_taught_automaton_is_an_entry_too(tmp_path, monkeypatch):
    tiny = {"hints": "states", "seeds": 1, "iterations": 4, "hidden": 4, "batch": 4}
    monkeypatch.setattr(building, "TEACHING_AUTOMATA", tiny)
    (entry,) = collection.build("rnn.tomita_1.taught", folder=tmp_path)
    assert entry.circuit.units == ()
    assert entry.card["teaching"] == tiny
    assert 0 < entry.card["right"] <= entry.card["inputs"]


def test_names_that_are_not_there_and_entries_that_are_not_built_are_refused(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"did you mean rasp\.reverse"):
        collection.build("rasp.revers", folder=tmp_path)
    with pytest.raises(InputError, match="has the forms compiled, hidden, and not 'taught'"):
        collection.build("rasp.first.taught", folder=tmp_path)
    with pytest.raises(InputError, match=r"say which form of 'rasp\.first': rasp\.first\.compiled, rasp"):
        collection.load("rasp.first", folder=tmp_path)
    with pytest.raises(InputError, match=r"kleene groundtruth build rasp\.first\.hidden"):
        collection.load("rasp.first.hidden", folder=tmp_path)
    monkeypatch.setenv("KLEENE_CACHE", "off")
    with pytest.raises(InputError, match="give one"):
        collection.build("rasp.first")


def test_a_circuit_of_another_network_is_not_carried_along():
    known, _ = catalog.get("rasp.next_letter")
    made = building.make(known, "compiled")
    hidden = hide_transformer(made.network, decoys=1)
    with pytest.raises(InputError, match="the map of 1 layers of 1 heads"):
        circuit_onto(circuit_onto(made.truth, hidden.map), hidden.map)


def test_the_collection_on_the_command_line(run, folder):
    listed = run("groundtruth", "list", "--folder", str(folder), "--json").json
    built = {row["name"]: row["built"] for row in listed if row["built"]}
    assert built == {name: ["compiled", "hidden"] for name in ("rasp.more_a_than_b", "rnn.ends_abb", "lstm.parity")}
    assert "compiled* hidden* taught" in run("groundtruth", "list", "--folder", str(folder)).out
    shown = run("groundtruth", "show", "rnn.ends_abb.hidden", "--folder", str(folder), "--json").json
    assert shown["circuit"]["states"] == ["q0", "q1", "q2", "q3"]
    assert json.dumps(shown["circuit"]) in (folder / "rnn.ends_abb.hidden" / CIRCUIT).read_text().replace(
        '"kind": "states", ', ""
    )
    again = run("groundtruth", "build", "rnn.ends_abb", "--folder", str(folder))
    assert "400 of 400 sample inputs" in again.out
    assert run("groundtruth", "show", "rnn.nothing", "--folder", str(folder)).status == 2
