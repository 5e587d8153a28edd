"""The vectorised interpreter against the reference, on random programs and on what is easily got wrong."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.errors import HaltError, InputError, RunError, UndefinedAttentionError
from kleene.programs import alta
from kleene.programs.alta.random_programs import GeneratedProgram, generate, random_inputs
from kleene.programs.alta.reference import reference_run

seeds = st.integers(0, 2**32 - 1)


def attempt(run, *arguments):
    """The trace and None, or None and what stopped the run: its kind, and where it was."""
    try:
        return run(*arguments), None
    except UndefinedAttentionError as error:
        return None, ("undefined", error.layer, error.position)
    except HaltError as error:
        return None, ("halt", error.max_layers)


def compare(generated: GeneratedProgram, sequence: list[int]):
    """The reference's trace, or None where both runs raised; fails where the two interpreters disagree."""
    expected, stopped = attempt(reference_run, generated.program, sequence)
    found, stopped_too = attempt(generated.program.run, sequence)
    context = f"seed {generated.seed}, input {sequence}\n\n{generated.source}"
    assert stopped == stopped_too, f"the reference: {stopped}, the interpreter: {stopped_too}; {context}"
    if expected is not None and found is not None:
        assert expected.difference(found) is None, f"{expected.difference(found)}; {context}"
    return expected


@settings(max_examples=250, deadline=None)
@given(seeds)
def test_the_interpreter_gives_the_trace_or_the_error_of_the_reference(seed):
    generated = generate(seed)
    for sequence in random_inputs(random.Random(seed), generated.program, 4, 8):
        compare(generated, sequence)


@settings(max_examples=100, deadline=None)
@given(seeds)
def test_a_batch_gives_the_traces_of_its_sequences_run_alone(seed):
    generated = generate(seed)
    inputs = random_inputs(random.Random(seed), generated.program, 6, 8)
    alone = {tuple(s): compare(generated, s) for s in inputs}
    kept = [s for s in inputs if alone[tuple(s)] is not None]
    batch = generated.program.run_batch(kept)
    outputs = generated.program.run_batch(kept, record=False).outputs
    for row, sequence in enumerate(kept):
        difference = alone[tuple(sequence)].difference(batch[row])
        assert difference is None, f"{difference}; seed {seed}, batch {kept}\n\n{generated.source}"
        assert outputs[row] == batch[row].output


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_a_batch_stops_with_an_error_that_one_of_its_sequences_has_alone(seed):
    generated = generate(seed)
    inputs = random_inputs(random.Random(seed), generated.program, 4, 8)
    errors = [attempt(generated.program.run, s)[1] for s in inputs]
    if any(errors):
        with pytest.raises(RunError) as raised:
            generated.program.run_batch(inputs)
        assert attempt(generated.program.run, inputs[raised.value.sequence])[1] is not None


def pointing(value: alta.Head, mlp, **options) -> alta.Program:
    variables = {"token": alta.input_var(4), "place": alta.position_var(8), "found": alta.var(4)}
    return alta.program_spec(variables, {"h": value}, mlp, "found", 4, 8, **options)


def copy_head(z):
    z["found"] = z["h"]


def test_a_reading_off_the_edge_is_an_error_that_says_where_and_why():
    program = pointing(alta.v_relative("token", 1), copy_head)
    with pytest.raises(UndefinedAttentionError, match="off the edge") as raised:
        program.run([1, 2, 3])
    assert (raised.value.layer, raised.value.position, raised.value.head) == (1, 2, "h")


def test_several_matching_positions_are_an_error_where_the_value_is_used():
    program = pointing(alta.qkv("token", "token", "token"), copy_head)
    with pytest.raises(UndefinedAttentionError, match="several positions") as raised:
        program.run([3, 1, 1])
    assert raised.value.position == 1


def test_an_undefined_reading_that_is_not_used_is_recorded_as_undefined():
    def mlp(z):
        if z["place"] > 0:
            z["found"] = z["h"]

    trace = pointing(alta.v_relative("token", -1), mlp).run([1, 2, 3])
    assert trace["h"].tolist() == [[-1, -1, -1], [-1, 1, 2]]
    assert trace.output == [0, 1, 2]


def test_the_first_position_is_named_where_several_heads_are_undefined():
    def mlp(z):
        z["found"] = z["g"] if z["place"] == 0 else z["h"]

    variables = {"token": alta.input_var(4), "place": alta.position_var(8), "found": alta.var(4)}
    heads = {"h": alta.v_relative("token", 1), "g": alta.v_relative("token", -1)}
    program = alta.program_spec(variables, heads, mlp, "found", 4, 8)
    with pytest.raises(UndefinedAttentionError) as raised:
        program.run([1, 2])
    assert (raised.value.position, raised.value.head) == (0, "g")


def averaging(values) -> alta.Program:
    variables = {
        "one": alta.var(2, default=1),
        "bit": alta.numeric_var([0, 1], input_init_fn=lambda x: x),
        "mean": alta.numeric_var(values),
        "out": alta.input_var(2),
    }
    heads = {"h": alta.qkv("one", "one", "bit", output_spec=alta.numeric_var(values))}

    def mlp(z):
        z["mean"] = z["h"]

    return alta.program_spec(variables, heads, mlp, "out", 2)


def test_an_average_is_recorded_as_it_is_and_written_as_the_nearest_declared_value():
    trace = averaging([0, 1 / 3, 1]).run([1, 0, 0, 0])
    assert trace["h"][1].tolist() == [0.25] * 4
    assert trace["mean"][1].tolist() == [1 / 3] * 4


def test_an_average_in_the_middle_of_two_declared_values_is_undefined():
    with pytest.raises(UndefinedAttentionError, match="between two declared values"):
        averaging([0, 1]).run([1, 0])


def test_a_head_with_a_set_as_its_query_reads_the_position_whose_key_is_in_it():
    variables = {
        "token": alta.input_var(4),
        "wanted": alta.set_var(4, [{1}, {2, 3}], default={2, 3}),
    }

    def mlp(z):
        z["token"] = z["h"]

    program = alta.program_spec(variables, {"h": alta.qkv("wanted", "token", "token")}, mlp, "token", 4)
    assert program.run([0, 1, 3]).output == [3, 3, 3]
    assert reference_run(program, [0, 1, 3]) == program.run([0, 1, 3])


def countdown(**options) -> alta.Program:
    def mlp(z):
        z["left"] = max(z["left"] - 1, 0)

    return alta.program_spec({"left": alta.input_var(6)}, {}, mlp, "left", 6, halt=alta.halt_spec("left", 0), **options)


def test_each_sequence_of_a_batch_halts_in_its_own_time():
    batch = countdown().run_batch([[0, 0], [3, 1, 5], [2]])
    assert batch.steps.tolist() == [0, 5, 2]
    assert [trace.output for trace in batch] == [[0, 0], [0, 0, 0], [0]]


def test_a_program_that_does_not_halt_in_time_is_an_error_that_names_the_input():
    with pytest.raises(HaltError, match="input 1 has not halted after 2 layers") as raised:
        countdown(max_layers=2).run_batch([[1], [4], [2]])
    assert raised.value.sequence == 1


@pytest.mark.parametrize("sequence", [[], [6], [-1], [0.5], 3, "ab"])
def test_an_input_that_the_program_cannot_take_is_refused_by_both_interpreters(sequence):
    with pytest.raises(InputError):
        countdown().run(sequence)
    with pytest.raises(InputError):
        reference_run(countdown(), sequence)


def test_an_undefined_head_is_an_error_in_a_rule_whose_other_conditions_hold():
    rules = [alta.Rule((("token", 1), ("h", 2)), "token", 0)]
    program = alta.program_spec_from_rules(
        {"token": alta.input_var(3)}, {"h": alta.v_relative("token", 1)}, rules, "token", 3
    )
    assert program.run([1, 2, 0]).output == [0, 2, 0]
    with pytest.raises(UndefinedAttentionError):
        program.run([0, 1])
    with pytest.raises(UndefinedAttentionError):
        reference_run(program, [0, 1])
