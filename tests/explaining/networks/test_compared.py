"""A taught Transformer compared with its program: traces, probes, the picture and the command."""

import dataclasses

import equinox as eqx
import jax
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.explaining import compare_with_program
from kleene.explaining.networks.agreement import agreement_of
from kleene.explaining.networks.probes import Points, scores_of, whitened
from kleene.explaining.networks.readings import readings_of
from kleene.machines.transformer.encoder import EncoderTransformer
from kleene.machines.transformer.shared import SharedTransformer
from kleene.machines.transformer.streams import ResidualStreams
from kleene.programs.alta.library import parity

PROGRAM = parity.relative()
WORDS = [[2, *map(int, f"{n:0{length}b}")] for length in (1, 2, 3, 4) for n in range(2**length)]
VALUES, HEADS = {"parity": 2, "done": 2}, {"parity_left": 2, "done_left": 2}
SIZES = {"width": 8, "heads": 2, "units": 6, "reach": 2}


def random_network(symbols=3, variables=VALUES, heads=HEADS, **more):
    given = SIZES | {"head_outputs": heads, "layers": -1} | more
    return SharedTransformer.random(symbols, variables, **given, key=jax.random.key(3))


def test_the_compiled_network_is_the_ideal():
    found = compare_with_program(kleene.compile(PROGRAM), PROGRAM, WORDS, most=4)
    assert found
    assert found.first is None
    shares = found.agreement
    assert shares.entries == shares.positions == shares.whole_words == shares.right_outputs.mean() == 1
    assert shares.by_variable == dict.fromkeys(("parity", "done", "parity_left", "done_left"), 1.0)
    assert all(reading.accuracy == 1 for reading in found.readings)
    assert "first difference: none" in str(found)


def encoder(layers):
    sizes = {"width": 8, "heads": 2, "key_size": 3, "units": 6, "layers": layers}
    return EncoderTransformer.random(3, {"parity": 2}, **sizes, key=jax.random.key(3))


@pytest.mark.parametrize("layers", [2, 6])
def test_an_encoder_has_layers_of_its_own_and_the_outputs_are_compared_after_its_last(layers):
    network = encoder(layers)
    found = compare_with_program(network, PROGRAM, WORDS, most=3)
    right = [network.run(word).output == PROGRAM.run(word).output for word in WORDS]
    assert found.agreement.right_outputs.tolist() == right
    assert len(found.agreement.by_layer) == layers + 1
    assert [reading.name for reading in found.readings] == ["parity", "done", "parity_left", "done_left"]
    assert all(reading.layers[-1] == layers for reading in found.readings)
    assert "done                ·" in str(found)  # it has no reading of its own


def test_a_network_that_stops_early_has_an_equal_trace_and_wrong_outputs():
    whole = PROGRAM.run_batch(WORDS)
    early = dataclasses.replace(whole, steps=np.minimum(whole.steps, 2))
    found = agreement_of(PROGRAM, whole, early, WORDS, [len(word) for word in WORDS])
    right = [trace["parity"][min(2, trace.steps)].tolist() == trace.output for trace in whole]
    assert found.entries == 1
    assert found.right_outputs.tolist() == right
    assert 0 < sum(right) < len(WORDS)


def test_shares_are_those_of_a_plain_count():
    network = random_network()
    found = agreement_of(PROGRAM, PROGRAM.run_batch(WORDS), network.run_batch(WORDS), WORDS, [len(w) for w in WORDS])
    entries, positions, whole, outputs, layers = [], [], [], [], {}
    for word in WORDS:
        mine, theirs = PROGRAM.run(word), network.run(word)
        same = np.stack([mine[name] == theirs[name] for name in VALUES])
        entries += same.ravel().tolist()
        positions += same.all(axis=(0, 1)).tolist()
        whole.append(bool(same.all()))
        outputs.append(mine.output == theirs.output)
        for step in range(same.shape[1]):
            layers.setdefault(step, []).extend(same[:, step].ravel().tolist())
    assert found.entries == pytest.approx(np.mean(entries))
    assert found.positions == pytest.approx(np.mean(positions))
    assert found.whole_words == np.mean(whole)
    assert found.right_outputs.tolist() == outputs
    assert found.by_layer == pytest.approx([np.mean(layers[step]) for step in sorted(layers)])
    by_length = found.by_length
    assert {n: share["outputs"] for n, share in by_length.items()} == {
        n: np.mean([same for same, word in zip(outputs, WORDS) if len(word) == n]) for n in (2, 3, 4, 5)
    }


def test_the_first_difference_is_that_of_the_shortest_word():
    network = random_network()
    found = agreement_of(PROGRAM, PROGRAM.run_batch(WORDS), network.run_batch(WORDS), WORDS, [len(w) for w in WORDS])
    first = found.first
    differ = [w for w in WORDS if any((PROGRAM.run(w)[n] != network.run(w)[n]).any() for n in VALUES)]
    assert first.tokens == min(differ, key=len)
    mine, theirs = PROGRAM.run(first.tokens), network.run(first.tokens)
    place = (first.layer, first.position)
    assert (mine[first.variable][place], theirs[first.variable][place]) == (first.program, first.network)
    assert first.program != first.network
    for name in VALUES:
        assert (mine[name][: first.layer] == theirs[name][: first.layer]).all()
        assert (mine[name][first.layer, : first.position] == theirs[name][first.layer, : first.position]).all()
    assert f"{first.variable} is {first.program} in the program and {first.network} in the network" in str(first)


def test_a_network_with_more_layers_is_compared_with_what_the_program_keeps():
    """All readings of this network are 0, at every layer."""
    network = random_network(layers=2)
    still = eqx.tree_at(lambda n: (n.readings, n.reading_bias), network, replace_fn=lambda a: a * 0)
    found = agreement_of(PROGRAM, PROGRAM.run_batch(WORDS), still.run_batch(WORDS), WORDS, [len(w) for w in WORDS])
    zeros, of = 0, 0
    for word in WORDS:
        trace, layers = PROGRAM.run(word), len(word) + 2
        held = np.stack([trace[name][np.minimum(np.arange(layers + 1), trace.steps)] for name in VALUES])
        zeros, of = zeros + int((held == 0).sum()), of + held.size
    assert found.entries == pytest.approx(zeros / of)


def test_a_linear_probe_reads_what_lies_in_a_direction_and_not_what_does_not():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, 600, 6)).astype(np.float32)
    axis = x[0] @ rng.normal(size=6)
    targets = np.stack([axis > 0, np.digitize(axis, [-1, 1]), (x[0, :, 0] > 0) ^ (x[0, :, 1] > 0)], axis=1)
    targets = targets.astype(np.int32)
    parts = [
        Points(x[:, rows], np.ones((1, 300), bool), np.arange(300) < 150) for rows in (slice(300), slice(300, 600))
    ]
    scores = scores_of(*whitened(*parts), targets[:300], targets[300:], 3)
    assert scores.tested[0, 0] > 0.95
    assert scores.tested[0, 1] > 0.9  # three values along one line
    assert scores.tested[0, 2] < 0.65  # exclusive or
    assert scores.tested == pytest.approx((scores.chosen + scores.confirmed) / 2)  # 150 points each
    most = [np.bincount(column).argmax() for column in targets[:300].T]
    assert scores.majority[0] == pytest.approx((targets[300:] == most).mean(axis=0))


def test_probes_find_the_layer_that_has_a_step_of_the_program():
    """Streams that hold the program's parity one layer late, and noise beside it."""
    traces = PROGRAM.run_batch(WORDS * 4)
    rng, words = np.random.default_rng(1), len(WORDS) * 4
    states = rng.normal(size=(words, 5, 5, 4)).astype(np.float32)
    values = np.asarray(traces.data["parity"])
    states[:, 1:, :, 0] = 4.0 * values[:, :4] - 2
    lengths, layers = np.asarray(traces.lengths), np.asarray(traces.steps)
    streams = ResidualStreams(states, states[:, 1:], lengths, layers, 3)
    (found,) = [one for one in readings_of(PROGRAM, traces, streams, None, most=9) if one.name == "parity"]
    late = [one for one in found.best if one.step in (0, 2, 3)]  # step 1 leaves parity as it was
    assert [(one.step, one.layer) for one in late] == [(0, 1), (2, 3), (3, 4)]
    assert all(one.accuracy == 1 for one in late)
    assert np.nanmax(found.scores.tested[0, 2]) < 0.9


@pytest.mark.parametrize(
    ("network", "program", "reason"),
    [
        (random_network(symbols=4), PROGRAM, "the network reads 4 tokens, and parity_relative 3"),
        (
            random_network(variables={"parity": 2, "odd": 2}),
            PROGRAM,
            "the network reads 'odd', and parity_relative has",
        ),
        (random_network(variables={"parity": 3, "done": 2}), PROGRAM, "'parity' has 3 values in the network and 2"),
        (random_network(output_name="done"), PROGRAM, "the network's output is 'done'"),
        (kleene.DFA.from_regex("ab"), PROGRAM, "the network is an automaton"),
    ],
    ids=["tokens", "variables", "values", "output", "kind"],
)
def test_a_network_that_does_not_fit_the_program_is_refused(network, program, reason):
    with pytest.raises(InputError) as error:
        compare_with_program(network, program, WORDS)
    assert reason in str(error.value)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return random_network().save(tmp_path_factory.mktemp("taught") / "net.safetensors")


def test_the_command_prints_the_comparison_and_draws_it(run, saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ("explain", str(saved), "--program", "parity_relative", "--test", "length<=3")
    status, out, err = run(*asked, "-o", "found.svg")
    assert (status, err) == (0, "")
    assert "first difference: on 2 " in out
    assert "linear probes of the residual stream, on 14 words" in out
    assert (tmp_path / "found.svg").read_text().startswith("<?xml")
    found = run(*asked, "--json").json
    assert (found["program"], found["words"], found["equal"]) == ("parity_relative", 14, False)
    assert set(found["trace"]["by_length"]) == {"1", "2", "3"}
    assert [probe["variable"] for probe in found["probes"]] == ["parity", "done", "parity_left", "done_left"]
    assert found["first_difference"]["program"] != found["first_difference"]["network"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--program", "parity_relative"), "--program and --test"),
        (("--program", "parity_relative", "--test", "length<=3", "--train", "length<=3"), "--train is about a program"),
        (("--program", "dfa:ab", "--test", "length<=3"), "no transformer program"),
        (("--program", "parity_absolute", "--test", "length<=3"), "the network reads 3 tokens, and parity_absolute 2"),
        (("--program", "parity_relative", "--test", "length<=3", "--focus", "a"), "--focus is about a sentence"),
        (("--program", "parity_relative", "--test", "length=1,ones=1"), "two inputs at least"),
    ],
)
def test_what_cannot_be_compared_is_refused(run, saved, words, told):
    status, out, err = run("explain", str(saved), *words)
    assert (status, out) == (2, "")
    assert told in err
