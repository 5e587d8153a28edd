"""Unrolled networks in TransformerLens: the same outputs, and the same attention patterns in its cache."""

import random
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.errors import CompileError, InputError, RunError
from kleene.machines.transformer.lens import plain_model
from kleene.programs.alta.library import entries, parity
from kleene.programs.alta.random_programs import generate, random_inputs
from kleene.programs.alta.variables import Numeric, SetValued
from tests.exporting.rasp_programs import PROGRAMS, random_rasp

DEEP = {"addition": 12, "sort": 8, "induction_head": 10}


def run_plainly(model, tokens, causal):
    """The logits and patterns of the plain blocks, in numpy, as TransformerLens computes them."""
    state, patterns = model.tokens[tokens] + model.positions[: len(tokens)], []
    for block in model.blocks:
        scores = (state @ block.query) @ (state @ block.key).swapaxes(1, 2) / 2
        if causal:
            scores = np.where(np.tri(len(tokens), dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        patterns.append(weights / weights.sum(axis=-1, keepdims=True))
        state = state + (patterns[-1] @ (state @ block.value) @ block.out).sum(axis=0)
        hidden = np.maximum(state @ block.mlp.inputs + block.mlp.bias, 0)
        state = state + hidden @ block.mlp.outputs + block.mlp.constant
    return state @ model.readout.T, patterns


def agree(program, network, logits, patterns, sequence):
    """Whether logits are the output, exactly, and patterns those of the network."""
    output = network.run(sequence)[program.output_name][-1]
    if isinstance(program.variables[program.output_name], Numeric):
        assert logits[:, 0] == pytest.approx(output, rel=1e-6, abs=1e-6)
    else:
        assert np.array_equal(logits, np.eye(logits.shape[1])[output])
    blocks = plain_model(network).attending if patterns else ()
    for block, found in zip(blocks, network.patterns(sequence)):
        for number, pattern in enumerate(found.values()):
            assert np.allclose(patterns[block][number], pattern, rtol=0, atol=1e-6)


def a_program(seed, averaging):
    generated, chance = generate(seed, averaging=averaging), random.Random(seed)
    outputs = [name for name, v in generated.program.variables.items() if not isinstance(v, SetValued)]
    return replace(generated.program, output_name=chance.choice(outputs)), chance


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9), averaging=st.booleans())
def test_plain_blocks_compute_what_the_network_does(seed, averaging):
    program, chance = a_program(seed, averaging)
    length = min(5, program.position_range or 5)
    network = kleene.compile(program, layers="unrolled", max_length=length)
    model = plain_model(network)
    assert len(model.labels) == model.tokens.shape[1]
    for sequence in random_inputs(chance, program, 3, length):
        try:
            network.run(sequence)
        except RunError:
            continue
        agree(program, network, *run_plainly(model, sequence, causal=False), sequence)


@pytest.mark.parametrize("name", PROGRAMS)
def test_rasp_programs_are_plain_blocks_too(name):
    program = PROGRAMS[name]
    network = kleene.compile(program, layers="unrolled")
    model, words = plain_model(network), program.vocabulary.values
    for length in range(5):
        entered = [words[(length + i) % len(words)] for i in range(length)]
        agree(program, network, *run_plainly(model, network.layout.check_input(entered), causal=False), entered)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_random_rasp_programs_are_plain_blocks_too(seed):
    made = random_rasp(seed)
    if made is None:
        return
    program, inputs = made
    try:
        network = kleene.compile(program, layers="unrolled")
        model = plain_model(network)
    except (CompileError, InputError):  # numbers that the type or plain ReLUs cannot tell apart
        return
    for entered in inputs:
        tokens = network.layout.check_input(entered)
        agree(program.lowered, network, *run_plainly(model, tokens, causal=program.causal), entered)


def test_a_causal_network_stays_causal():
    program = parity.relative()
    network = kleene.compile(program, layers="unrolled", max_length=6, causal=True)
    agree(program, network, *run_plainly(plain_model(network), [2, 1, 1, 0, 1], causal=True), [2, 1, 1, 0, 1])


def test_what_transformer_lens_cannot_hold_is_refused():
    with pytest.raises(InputError, match="TransformerLens has a fixed number of positions; compile the program with"):
        plain_model(kleene.compile(endless(), layers="unrolled"))
    relu = kleene.compile(parity.relative(), layers="unrolled", max_length=4, activation="relu")
    with pytest.raises(InputError, match="compile the program with activation='clipped'"):
        plain_model(relu)
    with pytest.raises(InputError, match="TransformerLens has ordinary layers; compile the program with layers='unr"):
        kleene.compile(parity.relative()).to_transformer_lens()


def endless():
    from kleene.programs import alta

    def mlp(z):
        z["x"] = 1 - z["x"]

    return alta.program_spec({"x": alta.input_var(2)}, {}, mlp, "x", 2, name="flip")


def test_numbers_that_lie_too_near_for_relu_are_refused():
    from kleene.programs import alta

    def mlp(z):
        z["x"] = z["mean"] > 0

    values = [0, 1e-5, 1]
    variables = {"x": alta.input_var(2), "n": alta.numeric_var(values, input_init_fn=lambda x: x), "one": alta.var(1)}
    program = alta.program_spec(variables, {"mean": alta.qkv("one", "one", "n")}, mlp, "x", 2, name="near")
    with pytest.raises(InputError, match=r"cannot tell its declared numbers apart .* compile the program for float64"):
        plain_model(kleene.compile(program, layers="unrolled", max_length=4))
    wide = kleene.compile(program, layers="unrolled", max_length=4, dtype="float64")
    agree(program, wide, *run_plainly(plain_model(wide), [0, 1, 0], causal=False), [0, 1, 0])


# --- with TransformerLens itself ------------------------------------------------------------------------------------


@pytest.fixture
def torch():
    pytest.importorskip("transformer_lens")
    warnings.filterwarnings("ignore")
    import torch

    torch.set_num_threads(1)
    return torch


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@settings(max_examples=15)
@given(seed=st.integers(0, 10**9), averaging=st.booleans())
def test_a_bridge_computes_what_the_network_does(dtype, seed, averaging):
    pytest.importorskip("transformer_lens")
    import torch

    program, chance = a_program(seed, averaging)
    length = min(5, program.position_range or 5)
    try:
        network = kleene.compile(program, layers="unrolled", max_length=length, dtype=dtype)
    except CompileError:
        return
    bridge = network.to_transformer_lens()
    for sequence in random_inputs(chance, program, 2, length):
        try:
            network.run(sequence)
        except RunError:
            continue
        logits, cache = bridge.run_with_cache(torch.tensor([sequence]))
        patterns = [cache[f"blocks.{i}.attn.hook_pattern"][0].numpy() for i in range(bridge.cfg.n_layers)]
        agree(program, network, logits[0].detach().numpy(), patterns, sequence)


@pytest.mark.parametrize("name", [n for n in entries() if n not in ("scan", "scan_shift_reduce", "subleq")])
def test_programs_of_the_library_run_in_transformer_lens(torch, name):
    entry = entries()[name]
    program = entry.build()
    tokens = entry.read(entry.example) if entry.read is not None else program.check_input(entry.example)
    network = kleene.compile(program, layers="unrolled", max_length=len(tokens), depth=DEEP.get(name))
    bridge = network.to_transformer_lens()
    logits, cache = bridge.run_with_cache(torch.tensor([tokens]))
    patterns = [cache[f"blocks.{i}.attn.hook_pattern"][0].numpy() for i in range(bridge.cfg.n_layers)]
    agree(program, network, logits[0].detach().numpy(), patterns, tokens)
    assert len(bridge.residual_labels) == bridge.cfg.d_model


def test_the_residual_stream_of_a_bridge_is_the_networks(torch):
    network = kleene.compile(parity.relative(), layers="unrolled", max_length=5)
    bridge = network.to_transformer_lens()
    _, cache = bridge.run_with_cache(torch.tensor([[2, 1, 1, 0]]))
    dims = [bridge.residual_labels.index(f"parity={value}") for value in (0, 1)]
    held = cache["blocks.1.hook_resid_post"][0, :, dims].argmax(dim=-1).tolist()
    assert held == network.run([2, 1, 1, 0])["parity"][2].tolist()
    assert bridge.head_labels[0] == ["parity_left", "done_left"]
    assert bridge.attending_blocks == [0, 1, 2, 3]


def test_a_rasp_program_runs_in_transformer_lens(torch):
    network = kleene.compile(PROGRAMS["reverse"], layers="unrolled")
    tokens = network.layout.check_input("abca")  # a start, then the words
    logits = network.to_transformer_lens()(torch.tensor([tokens]))[0]
    agree(PROGRAMS["reverse"], network, logits.detach().numpy(), [], "abca")
