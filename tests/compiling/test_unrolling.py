"""Unrolled networks do exactly what their programs do, with layers that hold only what they use."""

import random
from dataclasses import replace
from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.compiling.alta.depth import depth_of
from kleene.compiling.alta.reaching import Reaching
from kleene.compiling.alta.staying import in_step, rests, staying
from kleene.compiling.checking import check
from kleene.errors import CompileError, HaltError, InputError, RunError
from kleene.machines.transformer.pytorch import meanings
from kleene.machines.weights import arrays_of
from kleene.programs import alta, rasp
from kleene.programs.alta.library import entries, get, parity
from kleene.programs.alta.random_programs import generate, random_inputs
from kleene.programs.alta.variables import SetValued
from kleene.programs.rasp import lib
from kleene.programs.rasp.lowering import lowered
from tests.programs.rasp.published_style import PROGRAMS, same_values

WAYS = [{}, {"rules": "paper"}, {"activation": "relu"}, {"dtype": "float64"}]
DEEP = {"addition": 12, "sort": 12, "subleq": 40, "induction_head": 10, "scan": 30}  # layers that cannot be found


@pytest.mark.parametrize("name", [name for name in entries() if name != "scan_shift_reduce"])
def test_every_program_of_the_library_agrees_with_its_unrolled_network(name):
    report = check(get(name), samples=6, max_length=3, layers="unrolled", depth=DEEP.get(name))
    assert report, report.first_disagreement


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way.values()) or "default")
@settings(max_examples=40)
@given(seed=st.integers(0, 10**9), averaging=st.booleans())
def test_random_programs_have_the_same_trace_when_they_are_unrolled(way, seed, averaging):
    generated = generate(seed, averaging=averaging)
    chance = random.Random(seed)
    outputs = [name for name, v in generated.program.variables.items() if not isinstance(v, SetValued)]
    program = replace(generated.program, output_name=chance.choice(outputs))
    length = min(5, program.position_range or 5)
    try:
        network = kleene.compile(program, layers="unrolled", max_length=length, **way)
    except CompileError:
        return
    report = check(program, network=network, inputs=random_inputs(chance, program, 5, length))
    assert report.first_disagreement is None, f"{report.first_disagreement}\n{generated.source}"


@settings(max_examples=30)
@given(seed=st.integers(0, 10**9))
def test_a_saved_network_runs_as_it_did(tmp_path_factory, seed):
    program = generate(seed).program
    network = kleene.compile(program, layers="unrolled", max_length=4)
    loaded = kleene.load(network.save(tmp_path_factory.mktemp("saved") / "unrolled.safetensors"))
    assert loaded.layout == network.layout
    # Before they run: so that a run that differs is a fault of the run, and not of the file.
    kept, read = arrays_of(network), arrays_of(loaded)
    assert {name: array.tobytes() for name, array in read.items()} == {n: a.tobytes() for n, a in kept.items()}
    assert all(np.isfinite(array).all() for array in read.values())
    for sequence in random_inputs(random.Random(seed), program, 2, 4):
        try:
            assert loaded.run(sequence) == network.run(sequence)
        except RunError as error:
            with pytest.raises(type(error)):
                network.run(sequence)


def two_steps():
    """Doubles a number modulo 5 in one layer and adds one in the next, by a clock."""

    def mlp(z):
        if z["clock"] == 0:
            z["number"] = z["number"] * 2 % 5
        elif z["clock"] == 1:
            z["number"] = (z["number"] + 1) % 5
        z["clock"] = min(z["clock"] + 1, 2)

    variables = {"number": alta.input_var(5), "clock": alta.var(3), "unused": alta.input_var(5)}
    return alta.program_spec(variables, {}, mlp, "number", 5, max_layers=2, name="two_steps")


def test_a_layer_holds_only_the_cases_and_codes_that_can_be_there():
    network = kleene.compile(two_steps(), layers="unrolled")
    assert network.run([0, 1, 4]).output == [1, 3, 4]
    assert meanings(network.layout.program, network.layout.dims) == tuple(
        f"number={code}" for code in range(5)
    )  # neither the clock nor unused
    assert [layer.held for layer in network.layout.layers] == [("number",), ("number",)]
    shared = kleene.compile(two_steps())
    assert network.size.hidden_units < shared.size.hidden_units
    assert network.size.residual_dims == 5 < shared.size.residual_dims


def test_what_is_not_held_is_undefined_in_the_trace():
    program = two_steps()
    network = kleene.compile(program, layers="unrolled")
    trace = network.run([3])
    assert (trace["clock"] == -1).all()
    assert trace == network.held_part(program.run([3]))
    assert trace != program.run([3])


def test_the_number_of_layers_is_the_largest_that_an_input_takes():
    program = parity.relative()
    network = kleene.compile(program, layers="unrolled", max_length=7)
    assert len(network.layers) == program.run([2, 1, 0, 1, 1, 0, 1]).layers == 6
    assert network.run([2, 1]).layers == 1  # a trace ends where the program does
    assert network.run([2, 1, 1]) == program.run([2, 1, 1])


@settings(max_examples=40)
@given(seed=st.integers(0, 10**9))
def test_no_input_takes_more_layers_than_were_found(seed):
    program = generate(seed).program
    length = min(4, program.position_range or 4)
    found = depth_of(program, length)
    for sequence in random_inputs(random.Random(seed), program, 20, length):
        try:
            assert program.run(sequence).layers <= found.layers
        except RunError:
            continue


@settings(max_examples=40)
@given(seed=st.integers(0, 10**9))
def test_no_run_holds_a_code_that_was_not_thought_possible(seed):
    program = generate(seed).program
    length = min(5, program.position_range or 5)
    for places in (length, None):
        reaching = Reaching(program, places)
        states = [(reaching.start(), {})]
        for _ in range(4):
            read, after = reaching.layer(states[-1][0])
            states.append((after, read))
        for sequence in random_inputs(random.Random(seed), program, 5, length):
            try:
                trace = program.run(sequence)
            except RunError:
                continue
            for step, (state, read) in enumerate(states[: trace.steps + 1]):
                for place in range(len(sequence)):
                    sets = reaching.at(min(place, reaching.count - 1), state, read)
                    for channel in (c for c in trace.channels if c.name in sets and c.kind == "category"):
                        assert int(trace[channel.name][step, place]) in sets[channel.name]


def halting_by(mlp, **variables):
    held = {"x": alta.input_var(3), "done": alta.var(2, input_init_fn=lambda x: x == 0)} | variables
    heads = {"left": alta.v_relative("done", -1)}
    return alta.program_spec(held, heads, mlp, "x", 3, halt=alta.halt_spec("done"), name="halting")


def going_on(z):  # a position that is done still counts while others are not
    z["x"] = (z["x"] + 1) % 3
    if z["x"] == 2:
        z["done"] = 1


def test_positions_that_change_after_they_have_halted_ask_whether_any_goes_on():
    program = halting_by(going_on)
    assert not rests(program, 5, 3)
    assert "done" not in in_step(program)
    assert staying(program, 5, 3, causal=False).added
    network = kleene.compile(program, layers="unrolled", max_length=5)
    inputs = [[0], [1, 0], [0, 1, 2, 1], [2, 2, 0, 1, 1]]
    assert len({program.run(x).layers for x in inputs}) > 1
    report = check(program, network=network, inputs=inputs)
    assert report, report.first_disagreement
    assert "goes on somewhere" not in network.run([0]).data


def test_a_position_of_a_causal_network_cannot_wait_for_later_ones():
    with pytest.raises(CompileError, match="change until all have, and in a causal network a position cannot see"):
        kleene.compile(halting_by(going_on), layers="unrolled", max_length=5, causal=True)


def test_a_program_in_step_waits_for_its_clock():
    def mlp(z):
        z["x"] = (z["x"] + 1) % 3
        z["done"] = z["clock"] == 1
        z["clock"] = min(z["clock"] + 1, 2)

    held = {"x": alta.input_var(3), "done": alta.var(2), "clock": alta.var(3)}
    program = alta.program_spec(held, {}, mlp, "x", 3, halt=alta.halt_spec("done"), name="clocked")
    assert in_step(program) == {"done", "clock"}
    network = kleene.compile(program, layers="unrolled", max_length=3, causal=True, depth=6)
    assert network.run([0, 1, 2]) == network.held_part(program.run([0, 1, 2]))


def test_an_input_that_takes_more_layers_than_were_asked_for_is_refused():
    network = kleene.compile(parity.relative(), layers="unrolled", max_length=7, depth=3)
    assert network.run([2, 1, 1, 0]).output == [0, 1, 0, 0]
    for asked in (None, 4, 1000):
        with pytest.raises(HaltError, match="has not halted after 3 layers"):
            network.run([2, 1, 1, 0, 1], max_layers=asked)


def test_a_limit_of_the_caller_s_ends_an_unrolled_run_where_it_ends_the_program_s():
    program, word = parity.relative(), [2, 1, 1, 0, 1]
    network = kleene.compile(program, layers="unrolled", max_length=7)
    for layers in range(5):
        expected = program.run(word, max_layers=layers)
        assert network.run(word, max_layers=layers) == network.held_part(expected)
        assert expected.halted == (layers >= 4)


def test_a_causal_network_is_one_whose_heads_look_back():
    program = parity.relative()
    network = kleene.compile(program, layers="unrolled", max_length=6, causal=True)
    assert network.run([2, 1, 0, 1]) == program.run([2, 1, 0, 1])
    assert "causal" in repr(network)
    with pytest.raises(CompileError, match="the head 'average' looks anywhere, and a position of a causal network"):
        kleene.compile(get("histogram").build(), layers="unrolled", max_length=6, causal=True)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "depend on its input, so unrolled layers need a greatest length; give max_length="),
        ({"max_length": 0}, "max_length is 0; it is a whole number, 1 or more"),
        ({"max_length": 500}, "max_length is 500, and the program takes at most 400 tokens"),
        ({"max_length": 4, "depth": 0}, "depth is 0; it is a whole number, 1 or more"),
        ({"max_length": 4, "dtype": "bfloat16"}, "float32 or float64, not for bfloat16"),
        ({"max_length": 4, "rules": "few"}, "rules is 'compact' or 'paper'"),
    ],
)
def test_what_cannot_be_unrolled_is_refused(options, complaint):
    with pytest.raises(CompileError, match=complaint):
        kleene.compile(parity.absolute(positions=400), layers="unrolled", **options)


def test_options_of_unrolled_layers_are_refused_for_shared_ones():
    with pytest.raises(CompileError, match="max_length says how layers are unrolled; give layers='unrolled'"):
        kleene.compile(parity.relative(), max_length=4)
    with pytest.raises(CompileError, match="layers is 'shared' or 'unrolled'; got 'deep'"):
        kleene.compile(parity.relative(), layers="deep")


def test_a_depth_that_cannot_be_found_is_asked_for():
    with pytest.raises(CompileError, match=r"could not be found by examining 5 sets of inputs\. Give it as depth="):
        depth_of(get("sort").build(), 8, most_boxes=5)


def test_a_trace_has_the_patterns_of_the_heads_that_layers_have():
    program = parity.relative()
    network = kleene.compile(program, layers="unrolled", max_length=6)
    found, shared = network.run([2, 1, 0]).attention, kleene.compile(program).run([2, 1, 0]).attention
    assert found.heads == shared.heads
    assert np.array_equal(found.weights, shared.weights)
    entry = get("most_frequent_sort")
    network = kleene.compile(entry.build(), layers="unrolled", max_length=5)
    weights = network.run(entry.read(["abb"])).attention.weights
    held = [[head in layer.heads for head in network.layout.program.heads] for layer in network.layout.layers]
    assert np.array_equal(~np.isnan(weights).any(axis=(2, 3)), held)
    assert not np.all(held)


@pytest.mark.parametrize("expression", [lib.make_length(), lib.make_reverse(rasp.tokens), lib.make_hist()])
def test_rasp_programs_are_unrolled_too(expression):
    program = lowered(expression, "abc", 4)
    network = kleene.compile(program, layers="unrolled")
    assert len(network.layers) == program.max_layers
    for word in ("", "a", "abca"):
        assert network.run(word) == network.held_part(program.run(word))
    short = kleene.compile(program, layers="unrolled", max_length=2)
    assert short.run("ab").output == program.run("ab").output
    with pytest.raises(InputError, match="3 tokens, and its layers were unrolled for at most 2"):
        short.run("abc")
    with pytest.raises(CompileError, match="max_length is 5, and the program takes at most 4 tokens"):
        kleene.compile(program, layers="unrolled", max_length=5)


def test_a_longer_input_than_the_layers_were_made_for_is_refused():
    network = kleene.compile(parity.relative(), layers="unrolled", max_length=3)
    with pytest.raises(InputError, match="4 tokens, and its layers were unrolled for at most 3; compile it with"):
        network.run([2, 1, 1, 0])


def test_compile_and_check_unroll_on_the_command_line(run, tmp_path):
    file = str(tmp_path / "parity.safetensors")
    made = run("compile", "parity_relative", "--layers", "unrolled", "--max-length", "6", "-o", file, "--json").json
    assert (made["layers"], made["max_length"], made["file"]) == (5, 6, file)
    assert run("run", file, "2", "1", "1", "1").out.startswith("0 1 0 1\nnetwork halted after 3 layers")
    assert run("check", "parity_relative", "--layers", "unrolled", "--samples", "4", "--max-length", "4").status == 0
    refused = run("compile", "parity_relative", "--layers", "unrolled")
    assert refused.status == 2
    assert "--max-length 12" in refused.err


def test_a_causal_rasp_program_has_a_causal_mask_when_it_is_unrolled(run):
    made = kleene.compile(lib.make_hist(), vocab="ab", max_length=4, causal=True, layers="unrolled")
    assert made.layout.causal
    assert made.run("abba").output == [1, 1, 2, 2]
    assert run("check", "rasp:reverse", "--layers", "unrolled", "--samples", "4", "--max-length", "4").status == 0


@pytest.mark.parametrize("published", PROGRAMS, ids=lambda published: published.name)
def test_published_rasp_programs_are_right_when_they_are_unrolled(published):
    options = {"vocab": published.vocab, "max_length": published.max_length, "causal": published.causal}
    network = kleene.compile(published.make(), layers="unrolled", **options)
    longest = (list(xs) for xs in product(published.vocab, repeat=published.max_length) if published.valid(list(xs)))
    inputs = [list(islice(xs, n)) for xs in islice(longest, 0, 60, 7) for n in range(1, published.max_length + 1)]
    inputs = [xs for xs in inputs if published.valid(xs)]
    for xs, trace in zip(inputs, network.run_batch(inputs), strict=True):
        assert same_values(trace.output, published.reference(xs)), xs
