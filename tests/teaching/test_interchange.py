"""Teaching plain Transformers with an alignment: by swaps, by hints on blocks, and by outputs alone."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kleene
from kleene.compiling.interchange.accuracy import interchange_accuracy, strictness
from kleene.compiling.interchange.pairs import held_out
from kleene.errors import InputError
from kleene.machines.transformer.plain import PlainTransformer
from kleene.machines.transformer.swapping import activations
from kleene.programs.alta.library import parity
from kleene.teaching.lesson import Setting
from kleene.teaching.lessons import lesson

TINY = {"vocab": "ab", "longest": 2, "hidden": 8, "batch": 8, "block": 2, "free": 2, "key": 4, "pairs": 8}


@pytest.fixture(scope="module")
def made():
    return lesson("rasp:hist", "plain", **TINY)


@pytest.fixture(scope="module")
def examples(made):
    return made.task.training_examples(jax.random.key(0), (), Setting.without_hints(), 64)


def test_the_targets_of_a_batch_are_the_results_of_its_swaps(made, examples):
    inputs, targets, table = examples.inputs, examples.targets, made.task.table
    row = {tuple(tokens[:length]): n for n, (tokens, length) in enumerate(zip(table.tokens.tolist(), table.lengths))}

    def rows(tokens, lengths):
        return np.array([row[tuple(word[:length])] for word, length in zip(np.asarray(tokens).tolist(), lengths)])

    base, other = rows(inputs.tokens, inputs.lengths), rows(inputs.other_tokens, inputs.other_lengths)
    wanted = table.results(np.asarray(inputs.site), base, other, np.asarray(inputs.position))
    asked = np.asarray((targets.swapped >= 0).any(axis=1))
    assert asked.sum() > 32
    assert (np.asarray(targets.swapped)[asked] == wanted[asked]).all()
    assert not held_out(base[asked], other[asked]).any()
    assert (np.asarray(targets.own) == table.outputs[base]).all()


def test_the_outputs_of_a_batch_are_those_of_the_swaps_that_are_counted(made, examples):
    """A swap of one variable changes the network's answer in training as it does in `interchange_accuracy`."""
    network = made.fresh(jax.random.key(1))
    record = made.machine.record(network, examples, training=False)
    inputs, table = examples.inputs, made.task.table
    for n in range(4):
        site = table.sites[int(inputs.site[n])]
        other = activations(network, inputs.other_tokens[n], inputs.other_lengths[n])
        if site.head:
            continue
        written = network.written(inputs.tokens[n], inputs.lengths[n])
        block = jnp.array(made.task.alignment.blocks[site.name])
        source = 0 if site.layer == 0 else network.graph.sources.index(f"{site.layer}.mlp")
        own = activations(network, inputs.tokens[n], inputs.lengths[n]).stream[site.layer]
        place = (int(inputs.position[n]), block)
        change = jnp.zeros_like(own).at[place].set((other.stream[site.layer] - own)[place])
        keep = jnp.ones(network.graph.possible.shape).at[:, source].set(0.0)
        expected = network(inputs.tokens[n], inputs.lengths[n], keep, written.at[source].add(change))
        assert np.allclose(record.output.swapped[n], expected, atol=1e-4)


def test_a_few_hundred_updates_teach_a_network_that_keeps_the_algorithm():
    options = TINY | {"hidden": 32, "batch": 32, "block": 3, "key": 8, "rate": 1e-2}
    taught = kleene.teach("rasp:hist", machine="plain", seeds=1, iterations=600, test_every=600, **options)
    task = taught.lesson.task
    assert isinstance(taught.best, PlainTransformer)
    found = interchange_accuracy(taught.best, task.alignment, task.table, pairs=32)
    assert found.share > 0.95
    assert strictness(taught.best, task.alignment, task.table, pairs=32).share > 0.95
    assert {"interchange", "strict"} <= taught.report.progress.tests[-1].keys()


def test_hints_are_read_from_the_block_of_their_variable_alone():
    made = lesson("rasp:hist", "plain", method="strict hints", **TINY)
    assert made.usual_hints == "full"
    assert {"full", "variables", "heads", "hist", "hist_count"} <= set(made.kinds)
    setting, model = Setting.without_hints(), made.fresh(jax.random.key(0))
    batch = made.task.training_examples(jax.random.key(0), (), setting, 4)
    record = made.machine.record(model, batch, training=True)
    assert record.output.swapped is None
    assert record.output.outside.shape == record.output.own.shape
    said = record.channels
    outside = [dim for dim in range(made.task.alignment.width) if dim not in made.task.alignment.blocks["hist"]]
    tokens = model.machine.tokens.at[:, jnp.array(outside)].add(3.0)
    shifted = eqx.tree_at(lambda one: one.machine.tokens, model, tokens)
    again = made.machine.record(shifted, batch, training=True).channels
    assert np.allclose(said["hist"][:, 0], again["hist"][:, 0])
    assert not np.allclose(said["same_tok_key"][:, 0], again["same_tok_key"][:, 0])


@pytest.mark.parametrize("method", ["hints", "none"])
def test_other_methods_run(method):
    taught = kleene.teach("rasp:hist", machine="plain", method=method, seeds=1, iterations=2, **TINY)
    assert [row["hints"] for row in taught.report.settings()] == ["none" if method == "none" else "full"]
    assert isinstance(taught.best, PlainTransformer)


def test_a_method_means_a_plain_transformer_if_no_machine_is_named():
    given = {name: value for name, value in TINY.items() if name != "vocab"}
    taught = kleene.teach("parity_relative", method="interchange", seeds=1, iterations=2, **given)
    assert isinstance(taught.best, PlainTransformer)
    assert taught.lesson.recipe == {"task": "parity_relative", "method": "interchange", **given}
    assert lesson(parity.relative(), method="none", **given).name == "parity_relative plain, no method"
    assert lesson("reverse", method="none", **given).name == "reverse plain, no method"  # and not the NTM's task
    with pytest.raises(InputError, match="'copy' on 'ntm' has no option 'method'"):
        lesson("copy", method="interchange")
    with pytest.raises(InputError, match="'parity_relative' on 'mlp' has no option 'method'"):
        lesson("parity_relative", "mlp", method="interchange")


def test_a_method_means_a_plain_transformer_on_the_command_line(run):
    sizes = (f"--{name}={TINY[name]}" for name in ("longest", "hidden", "batch"))
    result = run("teach", "parity_relative", "--method", "none", "--seeds", "1", "--iterations", "1", "--json", *sizes)
    assert result.status == 0
    assert result.json["lesson"] == "parity_relative plain, no method"


def test_what_cannot_be_taught_is_refused():
    with pytest.raises(InputError, match="method is 'siit'"):
        lesson("rasp:hist", "plain", method="siit")
    with pytest.raises(InputError, match="not a RASP program"):
        lesson("parity_relative", "plain", vocab="ab")
    with pytest.raises(InputError, match="vocabulary makes"):
        lesson("rasp:hist", "plain", inputs=lambda rng, size: [])
    with pytest.raises(InputError, match="is not for the machine 'lstm'"):
        lesson("rasp:hist", "lstm")
