"""Exported networks do in PyTorch exactly what they do here. Run by `make test-torch`; skipped without torch."""

import random
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.errors import CompileError, RunError
from kleene.machines.transformer.parameters import read_segment
from kleene.programs import rasp
from kleene.programs.alta.library import entries, parity
from kleene.programs.alta.random_programs import generate, random_inputs
from kleene.programs.alta.variables import SetValued
from tests.compiling.dfas import dfas
from tests.exporting.rasp_programs import PROGRAMS, random_rasp
from tests.programs.rasp.published_style import same_values

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
WAYS = [{}, {"activation": "relu"}, {"dtype": "float64"}, {"rules": "paper"}]


def same(found, expected):
    """Categories are equal; numbers are those of another order of additions."""
    return found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("layers", ["shared", "unrolled"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way.values()) or "default")
@settings(max_examples=25)
@given(seed=st.integers(0, 10**9), averaging=st.booleans())
def test_random_programs_have_the_same_outputs_and_errors_in_torch(way, layers, seed, averaging):
    generated, chance = generate(seed, averaging=averaging), random.Random(seed)
    outputs = [name for name, v in generated.program.variables.items() if not isinstance(v, SetValued)]
    program = replace(generated.program, output_name=chance.choice(outputs))
    length = min(5, program.position_range or 5)
    unrolled = {"layers": "unrolled", "max_length": length} if layers == "unrolled" else {}
    try:
        network = kleene.compile(program, **unrolled, **way)
    except CompileError:
        return
    model = network.to_torch()
    for sequence in random_inputs(chance, program, 4, length):
        try:
            program.run(sequence)
        except RunError:
            with pytest.raises(RuntimeError, match=r"looks at it|has not halted"):
                model.run(sequence)
            continue
        assert same(model.run(sequence), network.run(sequence).output), generated.source


def decoded(labels, state, channel):
    """What a channel holds at every position, by the labels of the residual stream's dimensions alone."""
    if channel.kind == "number":
        return state[:, labels.index(channel.name)]
    between, shown = "=" if channel.kind == "category" else " has ", channel.labels or range(channel.size)
    dims = [f"{channel.name}{between}{value}" for value in shown]
    absent = np.zeros(len(state))  # a dimension that no run of an unrolled network needs
    return read_segment(np, channel, np.stack([state[:, labels.index(d)] if d in labels else absent for d in dims], -1))


@pytest.mark.parametrize("layers", ["shared", "unrolled"])
@settings(max_examples=20)
@given(seed=st.integers(0, 10**9), averaging=st.booleans())
def test_the_residual_stream_in_torch_is_the_trace_of_the_program_after_every_layer(layers, seed, averaging):
    program = generate(seed, averaging=averaging).program
    length = min(4, program.position_range or 4)
    try:
        network = kleene.compile(program, **({"layers": layers, "max_length": length} if layers == "unrolled" else {}))
    except CompileError:
        return
    model, states = network.to_torch(), []
    for layer in model.layers:
        layer.register_forward_hook(lambda _layer, _given, made: states.append(made[0][0].detach().numpy()))
    for sequence in random_inputs(random.Random(seed), program, 3, length):
        try:
            trace = program.run(sequence)
        except RunError:
            continue
        states.clear()
        model.run(sequence)
        assert len(states) >= trace.steps
        for step, state in enumerate(states[: trace.steps], start=1):
            for channel in (c for c in trace.channels if not c.per_step):
                if layers == "shared" or channel.name in network.layout.held_at(step):
                    found = decoded(model.config["residual_labels"], state, channel)
                    assert not channel.differs(trace[channel.name][step], found).any(), (channel.name, step)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**9))
def test_the_attention_in_torch_has_the_patterns_of_the_trace(seed):
    program = generate(seed).program
    length = min(4, program.position_range or 4)
    try:
        network = kleene.compile(program, layers="unrolled", max_length=length)
    except CompileError:
        return
    model, patterns = network.to_torch(), []
    for layer in model.layers:
        layer.attention.register_forward_hook(lambda _part, _given, made: patterns.append(made[1][0].detach().numpy()))
    for sequence in random_inputs(random.Random(seed), program, 3, length):
        try:
            program.run(sequence)
        except RunError:
            continue
        patterns.clear()
        model.run(sequence)
        for found, expected in zip(patterns, network.patterns(sequence), strict=True):
            assert np.allclose(found, list(expected.values()) or np.zeros((0, 1, 1)), atol=1e-6)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**9))
def test_a_batch_of_unequal_lengths_is_run_as_each_input_alone(seed):
    program = generate(seed).program
    network = kleene.compile(program)
    model, length = network.to_torch(), min(4, program.position_range or 4)
    inputs = random_inputs(random.Random(seed), program, 3, length)
    try:
        expected = [network.run(sequence).output for sequence in inputs]
    except RunError:
        return
    tokens = torch.tensor([x + [0] * (length - len(x)) for x in inputs])
    residual = model(tokens, torch.tensor([len(x) for x in inputs]))
    for row, x, output in zip(residual, inputs, expected):
        assert model.output(row[: len(x)]).tolist() == output


@settings(max_examples=40)
@given(dfa=dfas(), seed=st.integers(0, 10**6))
def test_an_automaton_is_a_torch_rnn_that_passes_through_its_states(dfa, seed):
    model, chance = kleene.compile(dfa).to_torch(), random.Random(seed)
    assert isinstance(model.rnn, torch.nn.RNN)
    for length in range(5):
        word = chance.choices(dfa.alphabet, k=length)
        assert model.accepts(word) == dfa.accepts(word)
        trace = dfa.run(word)
        assert model.states(word) == [trace.channel("state").show(state) for state in trace["state"]]


@pytest.mark.parametrize("name", ["addition", "histogram", "dfa:(a|b)*abb"])
def test_an_exported_folder_runs_without_kleene(tmp_path, name):
    kleene.export(name, "torch", tmp_path / "made")
    script = "import sys, runpy; sys.modules['kleene'] = None; runpy.run_path(sys.argv[1])"
    paths = [str(tmp_path / "made"), *(p for p in sys.path if "site-packages" in p)]
    call = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path[:0] = {paths!r}; {script}",
        f"{tmp_path}/made/example.py",
    ]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "outputs are as expected" in done.stdout


def test_the_library_is_the_same_in_torch():
    for name, entry in entries().items():
        if name in ("scan", "scan_shift_reduce", "subleq"):  # large
            continue
        program = entry.build()
        tokens = entry.read(entry.example) if entry.read is not None else program.check_input(entry.example)
        assert same(kleene.compile(program).to_torch().run(tokens), program.run(tokens).output)


@pytest.mark.parametrize("layers", ["shared", "unrolled"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_rasp_programs_run_on_their_own_words_in_torch(name, layers):
    program = PROGRAMS[name]
    network = kleene.compile(program, layers=layers)
    model, words = network.to_torch(), program.vocabulary.values
    for length in range(5):
        entered = [words[(length + i) % len(words)] for i in range(length)]
        assert model.run(entered) == program.run(entered).output


@pytest.mark.parametrize("layers", ["shared", "unrolled"])
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_random_rasp_programs_have_rasps_values_in_torch(layers, seed):
    made = random_rasp(seed)
    if made is None:
        return
    program, inputs = made
    try:
        model = kleene.compile(program, layers=layers).to_torch()
    except CompileError:  # numbers that the type cannot tell apart
        return
    for entered in inputs:
        assert same_values(model.run(entered), program.evaluate(entered)), (seed, entered)


def test_a_model_can_be_trained_on():
    model = kleene.compile(parity.relative(), layers="unrolled", max_length=4).to_torch()
    loss = model(torch.tensor([[2, 1, 0]])).square().sum()
    loss.backward()
    assert model.layers[0].mlp.outputs.grad is not None


def test_bad_input_is_refused_by_the_model():
    model = kleene.compile(parity.relative(), layers="unrolled", max_length=4).to_torch()
    with pytest.raises(ValueError, match="1 to 4 tokens, and this one 5"):
        model.run([2, 1, 1, 1, 1])
    with pytest.raises(ValueError, match="tokens are 0 to 2"):
        model.run([7])
    with pytest.raises(RuntimeError, match="the head 'parity_left' is undefined"):
        model.run([1, 1])


def test_words_that_are_equal_and_not_the_same_are_words_of_their_own():
    vocab = (1, 1.0, True, -0.0, 0.0, "1", (1,), (True,))
    told = kleene.compile(rasp.Map(repr, rasp.tokens), vocab=vocab, max_length=len(vocab))
    assert told.to_torch().run(vocab) == told.run(vocab).output == [*map(repr, vocab)]
