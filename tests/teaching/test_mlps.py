"""Trace supervision: the MLP of a program is taught on its pairs, and put back into the compiled network."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.machines.transformer.learned_mlp import MLPTransformer
from kleene.programs.alta import input_var, numeric_var, program_spec
from kleene.programs.alta.library import get, parity
from kleene.teaching.hints import hint_loss
from kleene.teaching.lesson import Setting
from kleene.teaching.lessons import lesson
from kleene.teaching.mlps import mlp_lesson, nearness
from kleene.teaching.parity_words import PROGRAMS, ones_evenly
from kleene.teaching.program_words import pool_of
from kleene.teaching.trace_pairs import CompiledFrame, pairs_of
from kleene.teaching.transformers import TEST_WORDS

SMALL = {"longest": 4, "hidden": 16, "batch": 8, "pool": 16}
RELATIVE = parity.relative()


def drawn(taught, kind, density=1.0):
    setting = Setting(jnp.array(taught.kinds.index(kind)), jnp.array(density), jnp.array(1.0))
    return jax.tree.map(np.asarray, jax.jit(taught.examples)(jax.random.key(3), (), setting))


def values(frame, name, part):
    """The codes of a variable that vectors hold, by its table."""
    segment, table = frame.layout.segment(name), frame.tables[name]
    found = np.abs(part[:, None, segment.start : segment.stop] - table).sum(axis=2)
    assert (found.min(axis=1) < 1e-6).all()
    return found.argmin(axis=1)


@pytest.mark.parametrize("name", ["parity_relative", "parity_absolute", "parity_sum_modulo", "sort", "addition"])
def test_pairs_are_the_streams_before_and_the_variables_after_every_layer_and_position(name):
    entry = get(name)
    program, rng = entry.build(), random.Random(1)
    words = [list(entry.build().inputs.sample(rng, size)) for size in (2, 3, 3)]
    frame = CompiledFrame(program)
    pairs = pairs_of(frame, words)
    expected: dict = {}
    for word in words:
        trace = program.run(word)
        for layer in range(trace.steps):
            for position in range(len(word)):
                before = tuple(np.asarray(trace[n][layer, position]).item() for n in program.variables)
                after = tuple(np.asarray(trace[n][layer + 1, position]).item() for n in program.variables)
                row = (layer == 0, layer == trace.steps - 1, before, after)
                expected[row] = expected.get(row, 0) + 1
    found: dict = {}
    for row in range(len(pairs)):
        domains = [program.variables[n].domain for n in pairs.variables]
        before = tuple(d[values(frame, n, pairs.streams[[row]])[0]] for n, d in zip(pairs.variables, domains))
        after = tuple(d[c] for d, c in zip(domains, pairs.targets[row]))
        key = (bool(pairs.first[row]), bool(pairs.last[row]), before, after)
        found[key] = found.get(key, 0) + int(pairs.counts[row])  # pairs that differ in what heads read are one here
    assert found == expected


def test_an_undefined_head_is_not_stated_in_a_pair_and_is_filled_with_anything():
    frame = CompiledFrame(RELATIVE)
    pairs = pairs_of(frame, [[2, 1]])
    assert np.isnan(pairs.streams).any(axis=1).tolist() == [True, False]
    taught = mlp_lesson(RELATIVE, words=[[2, 1]], noise=0.0, batch=64, lengths=(2,))
    streams = drawn(taught, "full").inputs
    assert np.isfinite(streams).all()
    head = frame.layout.segment("done_left").start
    assert len(np.unique(streams[:, head])) > 10


@pytest.mark.parametrize("program", [RELATIVE, parity.absolute(), get("shuffle_dyck_1").build()])
def test_words_that_a_user_draws_are_taught_and_tested_as_they_are(program):
    start = [parity.START] if program is RELATIVE else []

    def one_first(rng, size):  # never as many ones as zeros, and always at the same place
        return [*start, 1, *[0] * size]

    taught = mlp_lesson(program, inputs=one_first, **SMALL)
    words = [one_first(None, size) for size in range(1, 5) for _ in range(SMALL["pool"])]
    tests = pool_of(program, one_first, taught.lengths, TEST_WORDS, seed=1)
    assert taught.facts()["data"] == [pairs_of(CompiledFrame(program), words).digest, tests.digest]


@pytest.mark.parametrize("name", ["shuffle_dyck_1", "sort", "parity_relative"])
def test_words_of_the_library_are_drawn_as_it_says_and_evenly_by_ones_only_in_parity(name):
    program, sample = get(name).build(), get(name).build().inputs.sample
    taught = mlp_lesson(program, **SMALL)
    expected = pool_of(program, ones_evenly(sample) if name in PROGRAMS else sample, taught.lengths, TEST_WORDS, seed=1)
    assert taught.facts()["data"][1] == expected.digest


def test_noise_is_on_what_the_mlp_is_given_and_not_on_its_targets():
    quiet, loud = (drawn(mlp_lesson(RELATIVE, **SMALL | {"batch": 4_000}, noise=n), "full") for n in (0.0, 0.1))
    variables = slice(0, 4)  # of parity and done, which are defined everywhere
    assert np.isin(quiet.inputs[:, variables], (0, 1)).all()
    assert abs((loud.inputs - quiet.inputs)[:, variables].std() - 0.1) < 0.01
    assert (loud.hints["done"].targets == quiet.hints["done"].targets).all()


def test_without_hints_only_the_output_after_the_last_layer_is_taught():
    taught = mlp_lesson(RELATIVE, **SMALL | {"batch": 200})
    none, full = drawn(taught, "none"), drawn(taught, "full")
    assert all((hints.weights == 0).all() for hints in none.hints.values())
    assert all((hints.weights == 1).all() for hints in full.hints.values())
    assert 0 < (none.targets >= 0).mean() < 0.9
    assert (none.targets[none.targets >= 0] == none.hints["parity"].targets[none.targets >= 0]).all()


def test_kinds_of_hints_say_which_entries_of_the_next_stream_count():
    taught = mlp_lesson(RELATIVE, **SMALL | {"batch": 400})
    assert taught.kinds == ("none", "full", "scattered", "ends", "parity", "done")
    done = drawn(taught, "done").hints
    assert ((done["done"].weights == 1).all(), (done["parity"].weights == 0).all()) == (True, True)
    share = [drawn(taught, "scattered", 0.3).hints[name].weights.mean() for name in ("parity", "done")]
    assert all(0.2 < one < 0.4 for one in share)
    by_pair = drawn(taught, "full", 0.3).hints
    assert (by_pair["parity"].weights == by_pair["done"].weights).all()
    assert 0.2 < by_pair["parity"].weights.mean() < 0.4
    assert 0 < drawn(taught, "ends").hints["done"].weights.mean() < 1


def test_the_loss_of_hints_is_the_squared_error_of_each_variable():
    frame = CompiledFrame(parity.sum_modulo(most_ones=3))
    stream = jnp.array([[0.9, 0.2, 0.5, 0.0, 1.0, 0.0, 1.0]])
    hints = drawn(mlp_lesson(frame.program, longest=2, lengths=(2,), batch=1, pool=4), "full").hints
    found = {name: rows[0] for name, rows in nearness(frame, stream[:, None]).items()}
    one = {name: jax.tree.map(lambda a: a[0] * 0 if a.dtype == np.int32 else a[0], h) for name, h in hints.items()}
    errors = {"parity": 0.1**2 + 0.2**2, "start": 0.5**2, "counted": 1 + 1, "one": 1 + 1}  # all targets are code 0
    assert float(hint_loss(found, one)) == pytest.approx(np.mean(list(errors.values())))


def test_a_taught_mlp_runs_in_the_compiled_network_is_saved_and_generalises(tmp_path):
    file = tmp_path / "mlp.safetensors"
    taught = kleene.teach(RELATIVE, machine="mlp", hints="full", seeds=1, iterations=800, longest=5, hidden=64,
                          rate=3e-3, pool=32, model=file)  # fmt: skip
    assert taught.report.settings()[0]["generalised"] == 1
    word = [2, 1, 1, 0, 1, 1, 0, 0, 1, 1]
    assert taught.trace(word).difference(RELATIVE.run(word)) is None
    assert isinstance(taught.best, MLPTransformer)
    assert kleene.load(file).run(word) == taught.trace(word)
    assert kleene.run(str(file), ["2", "1", "1"]).answer == "0 1 0"


def test_adafactor_is_an_optimiser_too():
    taught = kleene.teach(RELATIVE, machine="mlp", hints="full", seeds=1, iterations=3, optimiser="adafactor", **SMALL)
    assert np.isfinite(taught.report.progress.tests[-1]["loss"]).all()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"words": []}, "the training set is empty"),
        ({"words": [[2]]}, "takes no layer on any of the training inputs"),
        ({"words": [[7, 1]]}, "7"),
    ],
)
def test_what_cannot_be_taught_is_refused(options, complaint):
    with pytest.raises(InputError, match=complaint):
        mlp_lesson(RELATIVE, **SMALL | options)


def test_words_that_are_too_long_and_unknown_hints_and_numeric_outputs_are_refused():
    with pytest.raises(InputError, match="takes inputs of at most size 400"):
        mlp_lesson(parity.absolute(), longest=300)
    with pytest.raises(InputError, match="6"):
        mlp_lesson(parity.absolute(positions=6), longest=4)
    with pytest.raises(InputError, match="no hints of kind 'colour' for parity_relative mlp; there are none, full"):
        kleene.teach(RELATIVE, machine="mlp", hints="colour", **SMALL)
    number = program_spec({"x": numeric_var((0, 1), input_init_fn=float), "y": input_var(2)}, {}, lambda z: None, "x",
                          input_range=2)  # fmt: skip
    with pytest.raises(InputError, match="the output 'x' is a number"):
        mlp_lesson(number, **SMALL)


def test_the_lesson_is_found_by_its_name():
    assert lesson("parity_relative", "mlp", longest=3, pool=8).name == "parity_relative mlp"
