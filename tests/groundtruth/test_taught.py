"""Taught networks with their alignment: saved, loaded, verified, and those that come with Kleene."""

import json

import jax
import numpy as np
import pytest

import kleene
from kleene.compiling.interchange.accuracy import interchange_accuracy, strictness
from kleene.errors import InputError, ModelFileError
from kleene.groundtruth.taught import SHIPPED, SUBJECTS, KeptNetwork, kept_network, shipped, teach_subjects
from kleene.teaching.lessons import lesson

TINY = {"vocab": "ab", "longest": 2, "hidden": 8, "batch": 8, "block": 2, "free": 2, "key": 4, "pairs": 8}


@pytest.fixture(scope="module")
def kept():
    made = lesson("rasp:hist", "plain", **TINY)
    network, alignment, table = made.fresh(jax.random.key(0)), made.task.alignment, made.task.table
    found = (interchange_accuracy, strictness)
    counts = (count(network, alignment, table, pairs=8).as_json() for count in found)
    counted = dict(zip(("interchange", "strictness"), counts))
    return KeptNetwork("tiny", network, alignment, "rasp:hist", "interchange", TINY, counted)


def test_a_kept_network_comes_back_from_its_files(kept, tmp_path):
    again = KeptNetwork.load(kept.save(tmp_path))
    assert again.alignment.as_json() == kept.alignment.as_json()
    assert (again.program, again.method, again.options) == ("rasp:hist", "interchange", TINY)
    assert again.network.run("ab").output == kept.network.run("ab").output
    found, strict = again.verify(pairs=8)
    assert [count.right for count in found.counts] == [c["right"] for c in kept.counted["interchange"]["counts"]]
    assert strict.pairs == kept.counted["strictness"]["pairs"]


def test_a_damaged_description_is_refused(kept, tmp_path):
    path = kept.save(tmp_path)
    beside = path.with_suffix(".json")
    beside.write_text(beside.read_text().replace('"width": 8', '"width": 9'))
    with pytest.raises(ModelFileError, match="checksum"):
        KeptNetwork.load(path)
    beside.write_text("{}")
    with pytest.raises(ModelFileError, match="does not describe a taught network"):
        KeptNetwork.load(path)


@pytest.mark.parametrize("name", sorted(path.stem for path in SHIPPED.glob("*.safetensors")))
def test_a_network_that_comes_with_kleene_keeps_its_algorithm(name):
    """On all of its words, and on other held-out pairs than those that were counted when it was kept."""
    found = shipped(name)
    assert all(counted["right"] == counted["pairs"] for counted in found.counted.values())
    table = found.table()
    assert interchange_accuracy(found.network, found.alignment, table, pairs=64, seed=1).perfect
    assert strictness(found.network, found.alignment, table, pairs=64, seed=1).perfect


def test_the_circuit_is_that_of_the_program():
    found = shipped("hist").circuit()
    judged = found.edges & found.judged
    named = {(found.graph.destinations[d], found.graph.sources[s]) for d, s in np.argwhere(judged)}
    assert named == {("1.0.q", "tokens"), ("1.0.k", "tokens"), ("1.mlp", "1.0"), ("output", "1.mlp")}
    assert found.carries["hist"].sources == ("1.mlp",)
    assert found.carries["same_tok_key"].sources == ("tokens",)
    assert found.carries["hist"].basis.shape == (4, shipped("hist").alignment.width)


def test_an_unknown_name_is_refused():
    with pytest.raises(InputError, match="did you mean"):
        shipped("revers")
    with pytest.raises(InputError, match="no subject 'x'"):
        teach_subjects("unused", subjects=["x"])


def test_what_was_taught_without_an_alignment_cannot_be_kept():
    taught = kleene.teach("dfa:tomita_1", seeds=1, iterations=1, hidden=4, batch=4)
    with pytest.raises(InputError, match="no alignment"):
        kept_network(taught, "x")


def test_rows_of_subjects_have_what_was_measured_and_errors(tmp_path):
    found = teach_subjects(
        tmp_path, subjects=["count"], methods=["none", "nonsense"], seeds=1, iterations=1, longest=2, hidden=4, pairs=4
    )
    assert json.loads((tmp_path / "count.none.row.json").read_text())["interchange"] == found[0]["interchange"]
    assert "method is 'nonsense'" in found[1]["error"]
    kept = KeptNetwork.load(tmp_path / "count.none.safetensors")
    assert (kept.program, kept.method, kept.options["longest"]) == ("rasp:count", "none", 2)


def test_every_subject_has_a_lesson():
    for name in ("length", "parity_counted"):  # the others take seconds each
        subject = SUBJECTS[name]
        made = lesson(subject.program, "plain", **subject.options | {"longest": 2})
        assert np.isfinite(made.task.table.codes).all()
        assert made.task.table.sites


def test_the_words_of_a_network_are_those_that_it_was_taught_and_reads():
    kept = shipped("hist")
    words = kept.words()
    assert len(words) == 3 + 9 + 27 + 81
    assert {symbol for word in words for symbol in word} == {"a", "b", "c"}
    kept.network.encode(words)
    parity = shipped("parity")
    assert {tuple(word[:1]) for word in parity.words()} == {(2,)}  # each begins with its start
    assert parity.network.encode(parity.words())[1].max() == max(map(len, parity.words()))
