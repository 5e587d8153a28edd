"""The NTM against a plain numpy one, and its hand-made gradient against jax's own."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kleene.errors import InputError
from kleene.machines.ncm import run
from kleene.machines.ntm import addressing, ntm
from kleene.machines.ntm.addressing import move_read_write
from kleene.machines.ntm.ntm import NTM, TapeDecoder, commands_of

SYMBOLS, WIDTH, CELLS, STEPS = 4, 5, 7, 6
OPTIMISED = {"xla_backend_optimization_level": 1}  # without, jax's own gradient has 0 / 0 in empty cells


@pytest.fixture(scope="module")
def machine() -> NTM:
    """Weights larger than fresh ones, so that heads go somewhere."""
    fresh = NTM.random(SYMBOLS, width=WIDTH, hidden=(9, 8), key=jax.random.key(0))
    drawn = jax.random.normal(jax.random.key(1), (1000,))
    return jax.tree.map(lambda w: 1.5 * w + 0.3 * drawn[: w.size].reshape(w.shape), fresh)


@jax.jit
def recorded_run(machine, words):
    return machine.record(words, cells=CELLS)


@jax.jit
def protocol_run(machine, word):
    return run(machine, machine.start(CELLS), machine.project(jax.nn.one_hot(word, SYMBOLS)))


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def softplus(x):
    return np.log1p(np.exp(x))


def plain_head(told, before, tape):
    """Graves's five equations, for one head and the tape as rows of cells."""
    key, (strength, gate, sharpening, *shift) = told[:WIDTH], told[WIDTH:]
    cosines = [key @ cell / np.sqrt((key @ key + 1e-6) * (cell @ cell + 1e-6)) for cell in tape]
    content = softmax(softplus(strength) * np.array(cosines))
    opened = 1 / (1 + np.exp(-gate))
    mixed = opened * content + (1 - opened) * before
    shift = softmax(np.array(shift))
    moved = np.array(
        [sum(shift[by + 1] * mixed[(i - by) % CELLS] for by in (-1, 0, 1)) for i in range(CELLS)],
    )
    sharp = moved ** (1 + softplus(sharpening))
    return sharp / sharp.sum()


def plain_run(machine, symbols):
    """Every step's heads, tape and answer, one cell at a time and in float64."""
    w = jax.tree.map(lambda a: np.asarray(a, np.float64), machine)
    heads = [np.eye(CELLS)[0], np.eye(CELLS)[0]]
    tape, read, found = np.full((CELLS, WIDTH), 1e-3), w.first_read, []
    for symbol in symbols:
        q = np.tanh(w.input_weights[:, symbol] + w.read_weights @ read + w.first_bias)
        q = np.tanh(w.second @ q + w.second_bias)
        told = w.command_weights @ q + w.command_bias
        ways = told[2 * WIDTH : 2 * WIDTH + 12]
        for i in range(2):
            own = np.concatenate([told[i * WIDTH : (i + 1) * WIDTH], ways[6 * i : 6 * i + 6]])
            heads[i] = plain_head(own, heads[i], tape)
        erase, add = np.tanh(told[-2 * WIDTH : -WIDTH]), np.tanh(told[-WIDTH:])
        read = heads[0] @ tape
        tape = tape * (1 - np.outer(heads[1], erase)) + np.outer(heads[1], add)
        found.append((*heads, tape, softmax(w.output_weights @ q + w.output_bias)))
    return [np.array(column) for column in zip(*found)]


def test_the_machine_computes_what_a_plain_one_does(machine):
    symbols = [0, 3, 1, 2, 2, 0]
    read, write, tape, said = plain_run(machine, symbols)
    trace = machine.run(symbols, CELLS)
    assert np.ptp(read.argmax(1)) > 0
    for name, expected in (("read", read), ("write", write), ("tape", tape), ("output", said)):
        np.testing.assert_allclose(trace[name][1:], expected, rtol=2e-3, atol=2e-5)


def test_a_run_in_a_batch_is_the_run_alone_and_the_run_of_the_protocol(machine):
    words = jax.random.randint(jax.random.key(2), (STEPS, 3), 0, SYMBOLS)
    recorded = recorded_run(machine, words)
    said = recorded.output
    for i in range(3):
        trace = protocol_run(machine, words[:, i])
        np.testing.assert_allclose(said[..., i], trace["output"], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(recorded.log_heads[..., i], trace["memory"].log_heads, rtol=1e-3, atol=1e-4)


def test_inputs_of_unequal_length_are_run_at_once_as_each_alone_on_its_own_cells(machine):
    words = [[0, 3, 1, 2, 2, 0], [], [1], [2, 2, 0, 1], [3, 3, 3]]
    for cells in (None, 1, 2, CELLS):
        for word, found in zip(words, machine.run_batch(words, cells), strict=True):
            size = 2 * len(word) + 1 if cells is None else cells
            alone = run(machine, machine.start(size), machine.project(jax.nn.one_hot(jnp.array(word, int), SYMBOLS)))
            assert found["input"].tolist() == [-1, *word]
            assert found["read"].shape == found["write"].shape == (len(word) + 1, size)
            close = functools.partial(np.testing.assert_allclose, rtol=1e-3, atol=1e-5)
            close(found["read"][1:], alone["memory"].heads[:, 0])
            close(found["write"][1:], alone["memory"].heads[:, 1])
            close(found["tape"][1:], alone["memory"].tape.transpose(0, 2, 1))
            close(found["output"][1:], jax.nn.softmax(alone["output"], axis=1))
    assert machine.run_batch([]) == []


def test_many_runs_are_cut_into_several_calls(machine, monkeypatch):
    words, calls, called = [[n % SYMBOLS] * (n % 4) for n in range(10)], [], ntm._padded_runs
    whole = machine.run_batch(words)
    monkeypatch.setattr(ntm, "_padded_runs", lambda *given: calls.append(given[1].shape) or called(*given))
    parts = machine.run_batch(words, at_once=4 * (3 + 1) * 7 * (WIDTH + 2))
    assert calls == [(4, 3)] * 3
    for one, other in zip(parts, whole, strict=True):
        np.testing.assert_allclose(one["tape"], other["tape"], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(one["output"], other["output"], rtol=1e-5, atol=1e-6)


def test_addresses_sum_to_one(machine):
    trace = machine.run([0, 1, 2, 3, 0, 1], CELLS)
    for name in ("read", "write"):
        np.testing.assert_allclose(trace[name].sum(1), 1, atol=1e-5)
        assert (trace[name] >= 0).all()


@pytest.mark.parametrize("by", [-1, 0, 1])
@pytest.mark.parametrize("place", [0, 3, CELLS - 1])
def test_a_shift_moves_a_head_by_one_cell_and_round_the_end(place, by):
    before = jnp.tile(jax.nn.one_hot(place, CELLS), (2, 1))
    shifts = jnp.tile(jax.nn.one_hot(by + 1, 3), (2, 1))[:, :, None]
    closed, twice, nothing = jnp.zeros((2, 1)), jnp.full((2, 1), 2.0), jnp.zeros(WIDTH)
    tape = jax.random.normal(jax.random.key(3), (WIDTH, CELLS))
    read, heads, logs, after = move_read_write(
        jnp.ones((2, WIDTH)), closed, shifts, twice, nothing, nothing, before, tape
    )
    assert heads.argmax(1).tolist() == [(place + by) % CELLS] * 2
    np.testing.assert_allclose(heads.max(1), 1, atol=1e-6)
    np.testing.assert_allclose(jnp.exp(logs), heads, atol=1e-6)
    np.testing.assert_allclose(read, tape[:, (place + by) % CELLS], rtol=1e-5)
    assert (after == tape).all()


def test_the_gradient_made_by_hand_is_the_gradient(machine, monkeypatch):
    words = jax.random.randint(jax.random.key(4), (STEPS, 3), 0, SYMBOLS)
    directions = [np.random.default_rng(i).normal(size=(STEPS, 2, CELLS, 3)) for i in range(4)]

    def measured(machine):
        found = machine.record(words, cells=CELLS, asked=jnp.abs(words - 1))
        return sum(jnp.vdot(a, np.resize(by, a.shape)) for a, by in zip(found, directions))

    by_hand = jax.jit(jax.grad(measured), compiler_options=OPTIMISED)(machine)
    monkeypatch.setattr(addressing, "move_read_write", lambda *args: addressing._forward(*args)[0])
    by_jax = jax.jit(jax.grad(lambda machine: measured(machine)), compiler_options=OPTIMISED)(machine)
    for ours, theirs in zip(jax.tree.leaves(by_hand), jax.tree.leaves(by_jax)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4 * float(jnp.abs(theirs).max()))


def test_the_cell_asked_for_is_recorded_after_the_write(machine):
    word, asked = jnp.array([1, 2, 3, 0, 1, 1]), jnp.array([1, 4, 0, 2, 2, 6])
    tapes = protocol_run(machine, word)["memory"].tape
    found = machine.record(word, cells=CELLS, asked=asked).written
    assert found is not None
    np.testing.assert_allclose(found, jnp.stack([tapes[t, :, c] for t, c in enumerate(asked)]), rtol=1e-5, atol=1e-7)
    assert machine.record(word, cells=CELLS).written is None


@pytest.mark.parametrize("hidden", [None, 6])
def test_the_decoder_reads_each_cell_by_itself(hidden):
    decoder = TapeDecoder.random(3, width=WIDTH, hidden=hidden, key=jax.random.key(6))
    cells = jax.random.normal(jax.random.key(7), (2, WIDTH, 4))
    logits = decoder(cells)
    assert logits.shape == (2, 3, 4)
    np.testing.assert_allclose(decoder(cells[1:, :, 2])[0], logits[1, :, 2], rtol=1e-4, atol=1e-6)


def test_long_powers_and_far_heads_stay_finite():
    keys = jnp.full((2, WIDTH), 300.0)
    before = jnp.tile(jax.nn.one_hot(2, 40), (2, 1))
    spread = jnp.full((2, 3, 1), 1 / 3)

    def total(keys, before):
        ones = jnp.ones((2, 1))
        found = move_read_write(keys, ones, spread, 200 * ones, jnp.ones(WIDTH), jnp.ones(WIDTH), before, tape)
        return sum(jnp.sum(a) for a in found)

    tape = jax.random.normal(jax.random.key(8), (WIDTH, 40))
    value, gradients = jax.jit(jax.value_and_grad(total, argnums=(0, 1)))(keys, before)
    assert all(bool(jnp.isfinite(a).all()) for a in (value, *gradients))


def test_the_trace_names_its_channels_and_starts_on_cell_0(machine):
    trace = machine.run([0, 1], CELLS)
    assert [c.name for c in trace.channels] == ["input", "read", "write", "output", "tape"]
    assert trace.steps == 2
    assert trace["read"][0].tolist() == [1] + [0] * (CELLS - 1)
    assert np.isnan(trace["output"][0]).all()
    assert trace["tape"].shape == (3, CELLS, WIDTH)


def test_bad_sizes_and_symbols_are_refused_in_words(machine):
    with pytest.raises(InputError, match="symbols=0"):
        NTM.random(0, width=2, hidden=(3, 3), key=jax.random.key(0))
    with pytest.raises(InputError, match="step 1 brings symbol 9, and the machine reads 0 to 3"):
        machine.run([0, 9], CELLS)
    with pytest.raises(InputError, match="0 cells"):
        machine.run([0], 0)


def test_weights_do_not_depend_on_the_number_of_cells(machine):
    arrays = [a for a in jax.tree.leaves(machine) if eqx.is_array(a)]
    assert {a.shape for a in arrays} >= {(9, SYMBOLS), (9, WIDTH), (8, 9), (commands_of(WIDTH), 8)}
    assert machine.run([0, 1], 50)["read"].shape == (3, 50)
