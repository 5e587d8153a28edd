"""Teaching Transformers with the traces of transformer programs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.programs.alta import input_var, numeric_var, program_spec
from kleene.programs.alta.library import get, parity
from kleene.programs.alta.variables import Categorical
from kleene.teaching.lesson import Setting
from kleene.teaching.lessons import lesson
from kleene.teaching.transformers import transformer_lesson

SMALL = {"longest": 4, "width": 8, "hidden": 16, "batch": 6, "pool": 16}
RELATIVE = parity.relative()


def setting(taught, kind, density=1.0):
    return Setting(jnp.array(taught.kinds.index(kind)), jnp.array(density), jnp.array(1.0))


def drawn(taught, kind, density=1.0):
    found = jax.jit(taught.examples)(jax.random.key(3), (), setting(taught, kind, density))
    return jax.tree.map(np.asarray, found)


@pytest.mark.parametrize("name", ["parity_relative", "parity_absolute", "sort", "addition", "parity_sum_modulo_steps"])
def test_targets_and_hints_are_the_programs_outputs_and_trace(name):
    program = get(name).build()
    taught = transformer_lesson(program, **(SMALL | {"longest": 3, "lengths": (5,)})).only(["none", "full"])
    examples = drawn(taught, "full")
    assert set(examples.hints) == {name for name, v in program.variables.items() if isinstance(v, Categorical)}
    for row, length in enumerate(examples.inputs.lengths):
        trace = program.run(examples.inputs.tokens[row, :length].tolist())
        layers = taught.fresh(jax.random.key(0)).layers_for(length)
        assert examples.targets[row, :length].tolist() == trace.output
        assert (examples.targets[row, length:] == -1).all()
        for variable, hints in examples.hints.items():
            held = trace[variable][np.minimum(np.arange(layers + 1), trace.steps)]
            assert (hints.targets[row, : layers + 1, :length] == held).all()
            assert (hints.weights[row, : layers + 1, :length] == 1).all()
            assert hints.weights[row].sum() == (layers + 1) * length


def test_the_answer_may_be_asked_for_at_the_last_position_alone():
    examples = drawn(transformer_lesson(RELATIVE, **SMALL, answer="last"), "none")
    for row, length in enumerate(examples.inputs.lengths):
        output = RELATIVE.run(examples.inputs.tokens[row, :length].tolist()).output
        assert np.flatnonzero(examples.targets[row] >= 0).tolist() == [length - 1]
        assert examples.targets[row, length - 1] == output[-1]


def test_hints_on_heads_are_what_they_read_and_undefined_readings_are_none():
    examples = drawn(transformer_lesson(RELATIVE, **SMALL), "heads")
    for row, length in enumerate(examples.inputs.lengths):
        trace = RELATIVE.run(examples.inputs.tokens[row, :length].tolist())
        for head in ("parity_left", "done_left"):
            weights = examples.hints[head].weights[row, : trace.steps + 1, :length]
            assert (weights == (trace[head] >= 0)).all()
            assert (examples.hints[head].targets[row, : trace.steps + 1, :length] == trace[head])[weights > 0].all()
        assert not examples.hints["parity"].weights.any()


def test_kinds_reveal_one_variable_the_ends_or_a_share_of_all_entries():
    taught = transformer_lesson(RELATIVE, **SMALL | {"batch": 200})
    assert taught.kinds == (
        "none", "full", "scattered", "ends", "heads", "parity", "done", "parity_left", "done_left"
    )  # fmt: skip
    weights = {kind: {n: h.weights for n, h in drawn(taught, kind).hints.items()} for kind in ("full", "done", "ends")}
    assert not weights["done"]["parity"].any()
    assert (weights["done"]["done"] == weights["full"]["done"]).all()
    steps = np.flatnonzero(weights["ends"]["parity"][0].any(axis=1))
    assert steps.tolist() == sorted({1, int(drawn(taught, "ends").inputs.lengths[0]) - 1})
    scattered = drawn(taught, "scattered", 0.1).hints["parity"].weights
    assert 0.07 < scattered.sum() / weights["full"]["parity"].sum() < 0.13
    assert not any(hints.weights.any() for hints in drawn(taught, "none").hints.values())


def test_updates_lower_the_loss_and_what_was_taught_is_a_network_that_runs_and_is_saved(tmp_path):
    taught = kleene.teach(RELATIVE, hints="full", seeds=2, iterations=120, test_every=60, rate=0.01, **SMALL)
    before, after = (test["loss"] for test in taught.report.progress.tests)
    assert (after < before).all()
    word = [2, 1, 0, 1]
    trace, program = taught.trace(word), RELATIVE.run(word)
    assert trace.steps == program.steps
    assert [channel.name for channel in trace.channels] == [channel.name for channel in program.channels]
    assert {name: rows.shape for name, rows in trace.data.items()} == {n: r.shape for n, r in program.data.items()}
    assert kleene.load(taught.save(tmp_path / "taught.safetensors")).run(word) == trace


def test_a_run_alone_answers_as_in_a_padded_batch():
    taught = transformer_lesson(RELATIVE, **SMALL | {"noise": 0.5})
    model, examples = taught.fresh(jax.random.key(1)), taught.task.examples(jax.random.key(2), jnp.arange(1, 5), 4)
    record = taught.machine.record(model, examples, training=False)
    for row, length in enumerate(np.asarray(examples.inputs.lengths)):
        trace = model.run(np.asarray(examples.inputs.tokens)[row, :length].tolist())
        assert trace.output == np.argmax(record.output, axis=-1)[row, :length].tolist()
        found = np.argmax(record.channels["parity"], axis=-1)[row, : trace.steps + 1, :length]
        assert (trace["parity"] == found).all()


def test_noise_is_new_in_each_update_and_absent_in_tests():
    taught = transformer_lesson(RELATIVE, **SMALL)
    model, examples = taught.fresh(jax.random.key(1)), drawn(taught, "none")
    with_noise, without = (taught.machine.record(model, examples, training=on).output for on in (True, False))
    assert not np.allclose(with_noise, without)
    again = taught.examples(jax.random.key(4), (), setting(taught, "none"))
    assert (np.asarray(again.inputs.noise) != examples.inputs.noise).any()


def _increment(z):
    z["x"] = (z["x"] + 1) % 4


def test_a_program_of_ones_own_is_taught_on_all_its_tokens_or_on_the_inputs_given():
    own = program_spec({"x": input_var(4)}, {}, _increment, "x", input_range=4, name="own")
    assert set(np.unique(drawn(transformer_lesson(own, **SMALL | {"batch": 50}), "full").inputs.tokens)) == {0, 1, 2, 3}
    examples = drawn(transformer_lesson(own, **SMALL, inputs=lambda rng, size: [1] * size), "full")
    tokens, lengths = examples.inputs.tokens, examples.inputs.lengths
    assert all((row[:length] == 1).all() for row, length in zip(tokens, lengths))


@pytest.mark.parametrize(
    ("subject", "options", "message"),
    [
        ("parity_relative", {"layers": 2}, "layers is 2, and parity_relative takes 20 on the longest words; give 20"),
        ("parity_relative", {"longest": 0}, "longest is 0"),
        ("parity_relative", {"noise": -1.0}, "noise is -1.0; give 0 or more"),
        ("parity_relative", {"width": 9}, "a width that its heads share evenly"),
        ("parity_relative", {"pool": 10**9}, "traces of 10,000,000,000 words of parity_relative takes about"),
        ("sort", {"longest": 4000}, "sort takes inputs of at most size"),
        ("parity_sum_modulo", {"longest": 60}, "parity_sum_modulo takes inputs of at most size 100"),
        ("parity_relative", {"decoder": 3}, "'parity_relative' on 'transformer' has no option 'decoder'"),
    ],
)
def test_bad_options_are_refused(subject, options, message):
    with pytest.raises(InputError, match=message):
        lesson(subject, **options).fresh(jax.random.key(0))


def test_a_program_whose_output_is_a_number_is_refused_and_numbers_get_no_hints():
    number = numeric_var(values=(0, 1), input_init_fn=lambda token: token)
    with pytest.raises(InputError, match="numbers: the output 'x' is a number, and a Transformer is taught categories"):
        lesson(program_spec({"x": number}, {}, lambda z: None, "x", input_range=2, name="numbers"))
    mixed = program_spec({"x": number, "y": input_var(2)}, {}, lambda z: None, "y", input_range=2, name="mixed")
    assert lesson(mixed, **SMALL).kinds == ("none", "full", "scattered", "ends", "y")


def test_a_hint_on_a_variable_that_does_not_exist_names_those_that_there_are():
    with pytest.raises(InputError, match=r"no hints of kind 'carry' for parity_relative; there are none, full, .*done"):
        kleene.teach("parity_relative", hints="carry", **SMALL)


def test_a_turing_machine_that_takes_many_steps_teaches_on_short_words_unless_their_length_is_given():
    sizes = SMALL | {"longest": None, "pool": 2}
    assert lesson("tm:increment", **sizes).task.longest == 10
    short = lesson("tm:copy", **sizes)
    assert (short.task.longest, short.task.lengths) == (3, (1, 3, 4, 6))
    assert lesson("tm:copy", **sizes | {"longest": 4, "lengths": (4,)}).task.longest == 4


def test_a_turing_machine_teaches_with_its_tape_head_and_state():
    taught = lesson("tm:increment", hints=("state", "full"), **SMALL)
    assert {"symbol", "place", "state", "here", "done", "heads"} <= set(lesson("tm:increment", **SMALL).kinds)
    examples = drawn(taught, "state")
    assert set(examples.hints) >= {"state"}
    words = np.asarray(examples.inputs.tokens)[:, 0]
    assert set(words) == {3}  # START, after the symbols 1, 0 and the blank


@pytest.mark.parametrize(("name", "longest"), [("reverse", 8), ("histogram", 8), ("parity_relative", 10)])
def test_the_longest_words_are_by_default_half_of_what_a_program_takes(name, longest):
    for machine in ("transformer", "mlp", "encoder"):
        facts = lesson(name, machine, pool=2).facts()
        assert (facts["longest"], max(facts["lengths"])) == (longest, 2 * longest)


def test_a_policy_reveals_a_variable_at_some_layers_and_positions():
    def early(trace):
        layers, positions = trace.targets["parity"].shape
        return {"parity": (np.arange(layers) <= 2)[:, None] & (np.arange(positions) < 2)}

    hints = drawn(lesson("parity_relative", hints={"early": early}, **SMALL), "early").hints
    assert set(hints) == {"parity"}
    assert hints["parity"].weights[:, 3:].sum() == hints["parity"].weights[:, :, 2:].sum() == 0
    assert (hints["parity"].weights[:, :2, :2] == 1).all()  # every word has two positions and a layer


def test_a_number_is_a_share_of_all_entries():
    taught = kleene.teach("parity_relative", hints=0.25, seeds=1, iterations=1, **SMALL)
    assert taught.plan.settings == ({"kind": "scattered", "density": 0.25, "strength": 1.0},)
    with pytest.raises(InputError, match=r"the density is 2\.0"):
        kleene.teach("parity_relative", hints=2, seeds=1, iterations=1, **SMALL)
