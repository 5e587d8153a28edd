"""The document of a page equals the traces, and shows of a Transformer what the program and the network do."""

import json

import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.notation.edits import Edit
from kleene.programs import alta
from kleene.programs.alta.library import entries, get
from kleene.programs.alta.selecting import selected_positions
from kleene.traces import Channel, Trace
from kleene.watching.columns import unpacked
from kleene.watching.cutting import Cut
from kleene.watching.document import ViewParts, check_size, document, run_json, traces_of
from tests.machines.samples import encoder, shared

FEW = ["parity_relative", "addition", "histogram", "most_frequent_sort", "shuffle_dyck_1", "scan"]


def pages(name, **options):
    return kleene.watch(name, list(get(name).example), **options).document


@pytest.mark.parametrize("name", sorted(entries()))
def test_the_document_of_a_program_equals_its_trace(name):
    content = json.loads(json.dumps(pages(name)))
    run = kleene.run(name, list(get(name).example))
    assert traces_of(content) == [run.trace]
    assert content["answer"] == run.answer
    assert len(content["positions"]) == len(run.input)


def test_two_runs_equal_the_traces_of_program_and_network():
    content = pages("addition", both=True)
    traces = [kleene.run("addition", ["789", "456"], compiled=compiled).trace for compiled in (False, True)]
    assert traces_of(content) == traces
    assert [run["source"] for run in content["runs"]] == ["program", "network"]
    assert content["different"] is None


def test_a_changed_network_is_told_apart():
    outcome = kleene.run("parity_relative", "101")
    other = Trace(
        outcome.trace.channels, dict(outcome.trace.data) | {"parity": 1 - outcome.trace["parity"]},
        outcome.trace.output_name, source="network",
    )  # fmt: skip
    content = document([outcome.trace, other], ViewParts(view="layers"), Cut(), kind="", title="", input="", answer="")
    assert "'parity' is" in content["different"]


@pytest.mark.parametrize("name", FEW)
def test_program_and_network_attend_to_the_same_positions(name):
    content = pages(name, both=True)
    program, network = (run["attention"] for run in content["runs"])
    assert program.keys() == network.keys()
    for head in program:
        assert sets_of(program[head]) == sets_of(network[head]), head


def sets_of(head):
    codes = unpacked(head["column"])
    return [[head["values"][code] for code in row] for row in codes.tolist()]


@pytest.mark.parametrize("name", FEW)
def test_a_head_reads_the_value_or_the_average_at_the_positions_that_its_arcs_show(name):
    program, trace = get(name).build(), kleene.run(name, list(get(name).example)).trace
    for head, selected in selected_positions(program, trace).items():
        value = trace[program.heads[head].value]
        for step, position in np.ndindex(trace.steps, selected.shape[1]):
            found = value[step][selected[step + 1, position]]
            entry = trace[head][step + 1, position]
            if program.outputs[head].channel(head).kind == "number":
                assert np.isnan(entry) if not len(found) else np.isclose(found.mean(), entry)
            else:
                assert entry == (found[0] if len(found) == 1 else -1)


@pytest.mark.parametrize("name", FEW)
def test_every_change_of_a_variable_has_a_rule_and_a_line_that_wrote_it(name):
    content, trace = pages(name), kleene.run(name, list(get(name).example)).trace
    program = content["program"]
    source = {b["first"] + n: line for b in program["blocks"] for n, line in enumerate(b["lines"])}
    moments = unpacked(program["column"])
    changed = 0
    for channel in trace.channels:
        if channel.per_step:
            continue
        entries = trace[channel.name]
        for step, position in zip(*np.nonzero(channel.differs(entries[1:], entries[:-1]))):
            moment = program["moments"][moments[step + 1, position]]
            assert channel.name in {program["cases"][case]["variable"] for case in moment["cases"]}
            line = dict(moment["writes"])[channel.name]
            assert line in moment["lines"]
            assert "z[" in source[line]
            changed += 1
    assert changed
    assert set(moments[0].tolist()) == {-1}


def test_the_lines_of_addition_are_those_that_ran():
    program = pages("addition")["program"]
    assert program["file"] == "addition.py"
    shown = {b["first"] + n: line.strip() for b in program["blocks"] for n, line in enumerate(b["lines"])}
    first = program["moments"][unpacked(program["column"])[1, 3]]  # the 9 before the +, in the first layer
    assert [shown[line] for line in first["lines"]] == [
        'if z["step"] == INIT:',
        'z["step"] = ITERATE',
        'if z["step"] == INIT:',
        'if z["token"] != END:  # END has nothing to its right',
        'if z["token_right"] == ADD:',
        'z["ptr_a"] = 1',
        'if z["token_right"] == END:',
        'if z["step"] == ITERATE and z["ptr_a_token"] != START:',
        'elif z["step"] == FINALIZE and z["ptr_out"]:',
    ]


def test_the_lines_of_a_function_that_writes_z_as_a_dict_are_those_that_ran():
    def flip(z):
        kept = z.copy()
        z |= {"bit": 1 - z["bit"]}
        z["was"] = z["bit"] if z == kept else 0

    variables = {"bit": alta.input_var(2), "was": alta.var(2)}
    program = kleene.watch(alta.program_spec(variables, {}, flip, "bit", 2), [1, 0]).document["program"]
    moment = program["moments"][unpacked(program["column"])[1, 0]]
    first = flip.__code__.co_firstlineno
    assert moment["writes"] == [["bit", first + 2], ["was", first + 3]]


def test_the_residual_stream_is_what_the_trace_is_read_from():
    content, trace = pages("addition", compiled=True), kleene.run("addition", ["789", "456"]).trace
    stream = unpacked(content["network"]["stream"])
    for name, start, stop in content["network"]["segments"]:
        defined = trace[name] >= 0
        assert (stream[..., start:stop].argmax(axis=-1)[defined] == trace[name][defined]).all(), name
        assert (stream[..., start:stop].sum(axis=-1)[defined] == 1).all(), name


def test_the_weights_are_those_of_the_network():
    network = kleene.compile(get("parity_relative").build())
    content = kleene.watch(network, [2, 1, 0]).document
    found = {matrix["name"]: matrix for matrix in content["network"]["weights"]}
    matrix = found["mlp_in"]
    assert (np.array(matrix["values"])[unpacked(matrix["column"])] == network.mlp_in).all()
    assert "query of parity_left" in found


def test_positions_have_the_names_that_a_person_types():
    assert pages("addition")["positions"] == ["START", "7", "8", "9", "+", "4", "5", "6", "END"]
    assert pages("reverse")["positions"] == list("abcd")


def test_a_part_of_a_run_is_the_same_part_of_its_trace():
    content = pages("addition", channels="ptr_*,step", positions="2-5", steps="1-3")
    trace = kleene.run("addition", ["789", "456"]).trace
    (part,) = traces_of(content)
    assert [c.name for c in part.channels] == [c.name for c in trace.channels if c.name.startswith(("ptr_", "step"))]
    for channel in part.channels:
        assert (part[channel.name] == trace[channel.name][1:4, 2:6]).all()
    assert (content["first"], content["steps"], content["firstPosition"]) == (1, 3, 2)
    assert content["positions"] == ["8", "9", "+", "4"]
    whole = pages("addition")
    moments = unpacked(content["program"]["column"])
    assert moments.shape == (3, 4)
    there = unpacked(whole["program"]["column"])[1:4, 2:6]
    for place in np.ndindex(3, 4):
        assert content["program"]["moments"][moments[place]] == whole["program"]["moments"][there[place]]


@pytest.mark.parametrize(
    ("cut", "told"),
    [
        ({"channels": "ptr_z"}, "no channel 'ptr_z'"),
        ({"channels": " "}, "names no channel"),
        ({"positions": "9-20"}, "the last position of the run is 8"),
        ({"steps": "3-1"}, "1 comes before 3"),
        ({"steps": "soon"}, "such as 10-20"),
    ],
)
def test_a_part_that_is_not_there_is_refused(cut, told):
    with pytest.raises(InputError, match=told):
        pages("addition", **cut)


def test_sets_numbers_and_vectors_come_back():
    channels = (
        Channel("set", "set", 3), Channel("number", "number", values=(0.0, 0.5)), Channel("vector", "vector", 2),
        Channel("none", "set", 0),
    )  # fmt: skip
    data = {
        "set": np.array([[[1, 0, 1], [0, 0, 0]]], dtype=bool),
        "number": np.array([[0.5, np.nan]]),
        "vector": np.array([[[0.25, -1.0], [np.nan, 2.0]]]),
        "none": np.zeros((1, 2, 0), dtype=bool),
    }
    trace = Trace(channels, data, source="program")
    assert traces_of({"runs": [json.loads(json.dumps(run_json(trace)))]})[0] == trace


def test_a_run_too_large_for_a_page_is_refused_with_how_to_cut_it():
    trace = kleene.run("parity_relative", "1" * 20).trace
    check_size([trace], Cut.read(steps="0-3"), most=400)
    with pytest.raises(InputError, match=r"1,764 entries .20 steps, 4 channels.*at most 400.*--steps.*--positions"):
        check_size([trace], Cut(), most=400)


@pytest.mark.parametrize("made", [shared, lambda: encoder(2)], ids=["shared", "encoder"])
def test_a_taught_transformer_shows_its_trace(made):
    network = made()
    content = json.loads(json.dumps(kleene.watch(network, [0, 1, 2]).document))
    assert traces_of(content) == [network.run([0, 1, 2])]
    assert (content["view"], content["positions"]) == ("layers", ["0", "1", "2"])


@pytest.mark.parametrize(
    ("name", "words", "edits"),
    [
        ("parity_relative", "10110", ["parity@3,3=1", "parity_left@4,4=0"]),
        ("dfa:(a|b)*abb", "bbb", ["state@1=q1"]),
        ("tm:copy", "ab", ["tape@1,1=a"]),
        ("increment", "3 1 2 0", ["r0@1=2"]),
    ],
)
def test_a_page_under_edits_holds_the_run_with_them_and_without(name, words, edits):
    for options in ({}, {"both": True}):
        content = kleene.watch(name, words, edits=edits, **options).document
        assert content["edits"] == edits
        assert {edit.partition("@")[0] for edit in edits} <= set(content["editable"])
        assert content["different"] is None
        plain, edited = kleene.run(name, words), kleene.run(name, words, edits=edits)
        assert (content["before"], content["answer"]) == (plain.answer, edited.answer)
        for found, run in zip(traces_of(content), content["runs"]):
            assert edited.trace.difference(found) is None
            (without,) = traces_of({"runs": [run | {"channels": run["without"]}]})
            assert plain.trace.data.keys() == without.data.keys()
            assert all((plain.trace[name] == without[name]).all() for name in ("state", "parity") if name in without)
    assert "edits" not in kleene.watch(name, words).document


def test_the_residual_stream_and_the_arcs_are_those_under_the_edits():
    content = kleene.watch("parity_relative", "10110", both=True, edits=["parity@0-2,3=0"]).document
    program, network = (run["attention"] for run in content["runs"])
    assert all(sets_of(program[head]) == sets_of(network[head]) for head in program)
    stream = unpacked(content["network"]["stream"])
    assert stream[2, 3, :2].tolist() == [1, 0]  # parity is 0 there, one-hot


def test_a_run_that_fails_without_its_edits_is_shown_without_comparison():
    program = alta.program_spec(
        {"bit": alta.input_var(2), "on": alta.var(2)},
        {"left": alta.v_relative("bit", -1)},
        uses_its_head,
        "bit",
        2,
        name="edge",
    )
    content = kleene.watch(program, [1, 0], edits=[Edit("left", layer=1, position=0, value=1)]).document
    assert content["runs"][0]["without"] is None
    assert content["before"] is None


def uses_its_head(z):
    z["bit"] = z["left"]
