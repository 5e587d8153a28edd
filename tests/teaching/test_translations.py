"""Teaching an encoder-decoder to translate: SCAN's splits, and pairs of one's own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.tasks.scan import load
from kleene.tasks.translation import Translation, scan_by_length
from kleene.teaching.lesson import Setting
from kleene.teaching.lessons import lesson
from kleene.teaching.loop import teach
from kleene.teaching.plan import Plan
from kleene.teaching.translations import seq2seq_lesson

SMALL = {"layers": 1, "width": 16, "attention": 2, "key": 4, "hidden": 16, "batch": 8}
OWN = Translation("own", [("a b", "X Y"), ("b", "Y"), ("a", "X"), ("b a", "Y X")], [("a a", "X X"), ("b b b", "Y Y Y")])


def test_pairs_are_coded_with_an_end_and_padding():
    sentences, lengths, answers = OWN.coded(OWN.train[:2])
    assert (OWN.vocabulary, OWN.answers, OWN.longest, OWN.most) == (("a", "b"), ("X", "Y"), 3, 3)
    assert sentences.tolist() == [[0, 1, 0], [1, 0, 0]]
    assert lengths.tolist() == [2, 1]
    assert answers.tolist() == [[1, 2, 0, -1], [2, 0, -1, -1]]


def test_the_length_split_without_its_files_is_the_published_one():
    made = scan_by_length()
    assert {*made.train} == {*load("length", "train")}
    assert {*made.test} == {*load("length", "test")}


def test_batches_are_pairs_of_the_training_part():
    taught = seq2seq_lesson(OWN, **SMALL | {"batch": 40})
    examples = taught.examples(jax.random.key(0), (), Setting.without_hints())
    known = {tuple(row) for row in OWN.coded(OWN.train)[2].tolist()}
    assert {tuple(row) for row in np.asarray(examples.targets).tolist()} == known


def test_the_loss_falls_and_the_whole_test_part_is_tested_at_the_end(tmp_path):
    taught = kleene.teach(OWN, seeds=2, iterations=120, test_every=60, rate=0.03, checkpoint=tmp_path / "c", **SMALL)
    before, after = (test["loss"] for test in taught.report.progress.tests)
    assert (after < before).all()
    last = taught.report.progress.tests[-1]
    assert "exact_match" not in taught.report.progress.tests[0]
    for run in range(2):
        machine = taught.machine(run)
        right = [" ".join(machine.run(sentence).labelled_output) == answer for sentence, answer in OWN.test]
        assert last["exact_match"][run] == np.mean(right)
    assert (last["training_match"] > 0).any()
    assert "exact_match" in taught.as_json()["settings"][0]
    assert kleene.load(taught.save(tmp_path / "m.safetensors")).run("a b") == taught.trace("a b")
    again, _ = teach(taught.plan, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(again.tests[-1]["exact_match"], last["exact_match"])


def test_shared_weights_and_positions_reach_the_network():
    made = jax.eval_shape(
        seq2seq_lesson(OWN, **SMALL | {"layers": 4}, shared=True, positions="absolute").fresh, jax.random.key(0)
    )
    assert (made.encoder.count, made.decoder.count, made.layers, made.places) == (1, 1, 4, 3)
    plan = Plan.grid(seq2seq_lesson(OWN, **SMALL), seeds=1)
    assert plan.facts()["lesson"]["arguments"]["most"] == 4


def test_splits_of_scan_are_named_on_the_command_line(run):
    taught = lesson("scan:length", **SMALL)
    assert taught.name == "scan length"
    assert jnp.shape(taught.examples(jax.random.key(0), (), Setting.without_hints()).targets) == (8, 49)
    refused = run("teach", "scan:lenght")
    assert refused.status == 2
    assert "SCAN has no split 'lenght'; did you mean length?" in refused.err
    with pytest.raises(InputError, match="'scan:length' is not for the machine 'encoder'; it is for seq2seq"):
        lesson("scan:length", "encoder")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Translation("own", [], [("a", "X")]), "own: there are no training pairs"),
        (lambda: Translation("own", [("a", "X")], []), "own: there are no test pairs"),
        (lambda: Translation("own", [("a", "")], [("a", "X")]), "a training pair is \\('a', ''\\); both sentences"),
        (lambda: seq2seq_lesson(OWN, layers=0), "layers is 0"),
        (lambda: seq2seq_lesson(OWN, positions="none"), "positions is 'none'"),
        (lambda: lesson(OWN, longest=3), "'own' on 'seq2seq' has no option 'longest'"),
    ],
)
def test_bad_pairs_and_options_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
