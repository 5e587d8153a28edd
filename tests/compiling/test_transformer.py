"""Compiled networks do exactly what their programs do: every program, every way of compiling and running."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.compiling.checking import check
from kleene.errors import CompileError, HaltError, InputError, RunError, UndefinedAttentionError
from kleene.programs import alta
from kleene.programs.alta.library import entries, get, parity
from kleene.programs.alta.random_programs import generate, random_inputs
from kleene.programs.alta.reference import reference_run
from tests.programs.alta.examples import EXAMPLES

WAYS = [
    {},
    {"rules": "paper"},
    {"activation": "relu"},
    {"dtype": "float64"},
    {"rules": "paper", "activation": "relu"},
]


def names_of(way):
    return "-".join(way.values()) or "default"


@pytest.mark.parametrize("way", WAYS, ids=names_of)
@pytest.mark.parametrize("name", entries())
def test_every_program_of_the_library_agrees_with_its_network_and_reference(name, way):
    samples = 2 if name == "scan_shift_reduce" else 12  # its reference takes a second an input
    report = check(get(name), samples=samples, max_length=6, **way)
    assert report, report.first_disagreement


@pytest.mark.parametrize("name", sorted({e.name for e in EXAMPLES}))
def test_the_network_gives_the_expected_outputs(name):
    network = kleene.compile(get(name).build())
    for example in (e for e in EXAMPLES if e.name == name):
        trace = network.run(example.tokens)
        assert trace.output == list(example.output)
        assert example.layers is None or trace.layers == example.layers


@pytest.mark.parametrize("way", WAYS, ids=names_of)
@settings(max_examples=40)
@given(seed=st.integers(0, 10**9))
def test_random_programs_have_the_same_trace_in_reference_interpreter_and_network(way, seed):
    import random

    generated = generate(seed)
    try:
        network = kleene.compile(generated.program, **way)
    except CompileError:
        return
    inputs = random_inputs(random.Random(seed), generated.program, 5, 6)
    report = check(generated.program, network=network, inputs=inputs)
    assert report.first_disagreement is None, f"{report.first_disagreement}\n{generated.source}"


@settings(max_examples=25)
@given(seed=st.integers(0, 10**9))
def test_softmax_attention_gives_the_same_trace_as_selection(seed):
    import random

    generated = generate(seed)
    network = kleene.compile(generated.program)
    for sequence in random_inputs(random.Random(seed), generated.program, 3, 6):
        try:
            by_lookup = network.run(sequence)
        except (UndefinedAttentionError, HaltError) as error:
            with pytest.raises(type(error)):
                network.run(sequence, attention="softmax")
            continue
        assert by_lookup.difference(network.run(sequence, attention="softmax")) is None, generated.source


@pytest.mark.parametrize(
    ("name", "dtype", "attention"),
    [
        ("addition", "float32", "select"),
        ("addition", "bfloat16", "select"),
        ("addition", "float64", "softmax"),
        ("sort", "bfloat16", "softmax"),
        ("shuffle_dyck_2", "float32", "softmax"),
        ("most_frequent_sort", "float64", "select"),
    ],
)
def test_jax_gives_the_same_traces_as_the_interpreter_for_every_number_type(name, dtype, attention):
    import random

    entry = get(name)
    program = entry.build()
    network = kleene.compile(program, dtype=dtype)
    inputs = [entry.build().inputs.sample(random.Random(i), 1 + i) for i in range(6)]
    ours, theirs = program.run_batch(inputs), network.run_batch(inputs, backend="jax", attention=attention)
    for a, b in zip(ours, theirs):
        assert a.difference(b) is None
    assert network.run_batch(inputs, backend="jax", attention=attention, record=False).outputs == ours.outputs


def test_jax_reports_the_same_undefined_attention_as_the_interpreter():
    program = get("subleq").build()
    network = kleene.compile(program)
    good = get("subleq").read(["9", "11", "-1", "0", "0", "0", "0", "0", "0", "7", "0", "0"])
    falls_off = get("subleq").read(["0", "0", "3", "15", "15", "3"])
    with pytest.raises(UndefinedAttentionError) as ours:
        program.run_batch([good, falls_off])
    for backend in ("numpy", "jax"):
        with pytest.raises(UndefinedAttentionError) as theirs:
            network.run_batch([good, falls_off], backend=backend)
        assert str(theirs.value) == str(ours.value)


@pytest.mark.parametrize("record", [True, False])
def test_jax_reports_what_does_not_halt(record):
    network = kleene.compile(replace(parity.relative(), max_layers=3))
    for backend in ("numpy", "jax"):
        with pytest.raises(HaltError, match="input 1 has not halted after 3 layers"):
            network.run_batch([[2, 1], [2, 1, 1, 1, 1]], backend=backend, record=record)


@pytest.mark.parametrize("layers", [0, 1, 3])
def test_a_limit_of_the_caller_s_gives_the_output_so_far_and_says_that_it_had_not_halted(layers):
    program, words = parity.relative(), [[2, 1], [2, 1, 1, 1, 1]]
    network, expected = kleene.compile(program), program.run_batch(words, max_layers=layers)
    assert expected.halted.tolist() == [layers >= 1, False]
    assert expected[1].steps == layers
    assert reference_run(program, words[1], max_layers=layers).difference(expected[1]) is None
    for backend in ("numpy", "jax"):
        found = network.run_batch(words, max_layers=layers, backend=backend)
        assert [a.difference(b) for a, b in zip(expected, found)] == [None, None]
        outputs = network.run_batch(words, max_layers=layers, backend=backend, record=False)
        assert (outputs.outputs, outputs.halted.tolist()) == (expected.outputs, expected.halted.tolist())


@pytest.mark.parametrize("layers", [-1, 1.5, True])
def test_a_limit_that_is_no_number_of_layers_is_refused(layers):
    program = parity.relative()
    unrolled = kleene.compile(program, layers="unrolled", max_length=3)
    for subject in (program, kleene.compile(program), unrolled):
        with pytest.raises(InputError, match="it is a number of layers"):
            subject.run([2, 1], max_layers=layers)
    with pytest.raises(InputError, match="it is a number of layers"):
        reference_run(program, [2, 1], max_layers=layers)


def test_the_hidden_layers_are_as_small_as_promised():
    assert kleene.compile(get("parity_relative").build()).size.hidden_units == 7
    assert kleene.compile(get("addition").build()).size.hidden_units <= 135
    assert kleene.compile(get("subleq").build()).size.hidden_units <= 657


def test_the_paper_form_has_one_unit_a_rule_and_the_papers_weights():
    program = get("addition").build()
    network = kleene.compile(program, rules="paper")
    assert network.size.hidden_units == len(program.rules()) == 16_466
    assert set(np.unique(network.mlp_in)) == {0, 1}
    assert set(np.unique(network.mlp_out)) == {-1, 0, 1}
    conditions = (network.mlp_in != 0).sum(axis=0)
    assert (network.mlp_bias == 1 - conditions).all()


@pytest.mark.parametrize("name", ["parity_sum_modulo", "parity_sum_modulo_steps"])
@pytest.mark.parametrize("way", [{}, {"dtype": "float64"}, {"activation": "relu"}, {"rules": "paper"}], ids=names_of)
def test_sum_and_modulo_is_right_for_every_count_of_ones_up_to_its_maximum(name, way):
    network = kleene.compile(get(name).build(), **way)
    inputs = [[2] + [1] * ones + [0] * (100 - ones) for ones in range(101)]
    expected = [ones % 2 for ones in range(101)]
    assert [o[-1] for o in network.run_batch(inputs, record=False).outputs] == expected
    assert [o[0] for o in network.run_batch(inputs, record=False, attention="softmax").outputs] == expected


def test_what_a_number_type_cannot_hold_is_refused_and_the_most_it_can_is_named():
    with pytest.raises(
        CompileError, match=r"bfloat16 cannot tell the 101 declared values of 'average' apart: at most \d+ in a row"
    ):
        kleene.compile(parity.sum_modulo(most_ones=100), dtype="bfloat16")


def test_the_largest_size_named_in_a_refusal_can_be_compiled_and_is_right():
    with pytest.raises(CompileError) as refusal:
        kleene.compile(parity.sum_modulo(most_ones=100), dtype="bfloat16")
    most = int(str(refusal.value).split("at most ")[1].split()[0]) - 1
    network = kleene.compile(parity.sum_modulo(most_ones=most), dtype="bfloat16")
    inputs = [[2] + [1] * ones + [0] * (most - ones) for ones in range(most + 1)]
    assert [o[-1] for o in network.run_batch(inputs, record=False).outputs] == [n % 2 for n in range(most + 1)]


def test_whole_numbers_that_bfloat16_rounds_are_refused():
    def far_apart(z):
        z["bit"] = 1 if z["a"] - z["b"] > 150 else 0

    program = alta.program_spec(
        {"a": alta.input_var(400), "b": alta.var(400, default=3), "bit": alta.var(2)}, {}, far_apart, "bit", 400
    )
    assert kleene.compile(program).run([153, 154]).output == [0, 1]
    with pytest.raises(CompileError, match="bfloat16 cannot hold exactly"):
        kleene.compile(program, dtype="bfloat16")


@given(values=st.lists(st.floats(-100, 100, width=32), min_size=2, max_size=12, unique=True))
def test_every_declared_number_is_told_apart_or_refused(values):
    values = sorted(values)
    program = alta.program_spec(
        {"x": alta.numeric_var(values, input_init_fn=lambda i: values[i]), "which": alta.var(len(values))},
        {},
        lambda z: z.update({"which": sum(z["x"] > v for v in values[:-1])}),
        "which",
        len(values),
    )
    try:
        network = kleene.compile(program)
    except CompileError:
        assert np.diff(values).min() < max(1e-4 * np.abs(values).max(), 1e-30)
        return
    assert network.run(list(range(len(values)))).output == list(range(len(values)))


def test_a_network_whose_weights_were_tampered_with_does_not_answer_silently():
    import equinox as eqx

    program = get("addition").build()
    network = kleene.compile(program)
    tokens = get("addition").read(["789", "456"])
    unit = int(np.flatnonzero(network.mlp_out[:, network.layout.segment("value_carry").start])[0])
    broken = network.mlp_out.copy()
    broken[unit] *= 0.5
    with pytest.raises(RunError, match="holds values that stand for nothing"):
        eqx.tree_at(lambda n: n.mlp_out, network, broken).run(tokens)


def test_options_that_do_not_exist_are_refused():
    program = parity.relative()
    for option in ({"dtype": "float16"}, {"rules": "dense"}, {"activation": "gelu"}):
        with pytest.raises(CompileError):
            kleene.compile(program, **option)
    with pytest.raises(TypeError, match="takes a program, such as alta"):
        kleene.compile("parity")


def test_a_head_that_is_undefined_where_a_sum_fails_its_test_does_no_harm():
    def guarded(z):
        if z["a"] + z["place"] == 0:
            z["b"] = (z["h"] * 2) % 3 < z["a"] + 1

    program = alta.program_spec(
        {"a": alta.input_var(3), "place": alta.position_var(4), "b": alta.var(3)},
        {"h": alta.qkv("a", "a", "place")},
        guarded,
        "b",
        3,
        4,
    )
    for way in WAYS:
        report = check(program, samples=60, max_length=4, **way)
        assert report, report.first_disagreement


@pytest.mark.parametrize(("seed", "way"), [(7379, {"dtype": "float64"}), (8386, {"activation": "relu"}), (23067, {})])
def test_programs_that_once_disagreed_agree(seed, way):
    import random

    generated = generate(seed)
    inputs = random_inputs(random.Random(seed), generated.program, 20, 7)
    report = check(generated.program, inputs=inputs, **way)
    assert report, report.first_disagreement


def test_a_number_with_one_value_needs_no_steps() -> None:
    """No other number or set needs an expansion here, and the feature of the number is always 1."""

    def mlp(z):
        z["out"] = 1 if z["read"] == 2.0 else 0

    variables = {"x": alta.input_var(3), "number": alta.numeric_var([2.0]), "out": alta.var(2)}
    program = alta.program_spec(variables, {"read": alta.v_relative("number", 0)}, mlp, "out", 3)
    network = kleene.compile(program)
    assert network.run([0, 2]) == program.run([0, 2])
    assert network.run([0, 2], attention="softmax").output == [1, 1]
    assert kleene.certify(network)
