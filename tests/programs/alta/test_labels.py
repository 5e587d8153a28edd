"""Labels: symbols for the tokens of a program and for the values of its output."""

import pytest

import kleene
from kleene.errors import InputError, ProgramError
from kleene.programs import alta
from kleene.programs.alta.library import parity


def flip(z):
    z["bit"] = 1 - z["bit"]


def flipping(**labels):
    return alta.program_spec({"bit": alta.input_var(2)}, {}, flip, "bit", 2, name="flipping", **labels)


@pytest.mark.parametrize("given", ["oxx", ["o", "x", "x"], [0, 1, 1], ["o", 1, "x"]])
@pytest.mark.parametrize("make", [lambda program: program, kleene.compile])
def test_a_text_symbols_and_tokens_are_the_same_input(given, make):
    trace = make(flipping(alphabet="ox")).run(given)
    assert (trace.output, trace.labelled_output) == ([1, 0, 0], "xoo")


def test_outputs_have_labels_of_their_own_and_those_of_the_inputs_only_where_there_are_as_many():
    assert flipping(alphabet="ox", output_alphabet=["no", "yes"]).run("ox").labelled_output == ["yes", "no"]
    assert flipping(output_alphabet="-+").run([0, 1]).labelled_output == "+-"
    three = parity.relative().labelled("01^")  # START is the third token, and parity has two values
    assert three.run("^101").labelled_output == [0, 1, 1, 0] == three.run("^101").output


def test_a_program_without_labels_shows_its_tokens_and_refuses_a_text():
    assert flipping().run([0]).labelled_output == [1]
    with pytest.raises(InputError, match="token 0 is 'o', and tokens are integers"):
        flipping().run("o")


def test_a_symbol_outside_the_alphabet_is_named_with_its_position():
    with pytest.raises(InputError, match="flipping: symbol 2 of the input is 'y', and the alphabet is ox"):
        flipping(alphabet="ox").run("oxy")
    with pytest.raises(InputError, match="symbol 1 of the input is 'up'"):
        flipping(alphabet=["left", "right"]).run("left up")
    with pytest.raises(InputError, match=r"token 1 is 2, and tokens are in 0\.\.1"):
        flipping(alphabet="ox").run([0, 2])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            {"alphabet": "abc"},
            "'flipping': alphabet has 3 symbols, and input_range is 2; give a symbol",
        ),
        ({"alphabet": "aa"}, "alphabet has 'a' twice"),
        ({"alphabet": ["a", ""]}, "it is a text such as 'abc', or a list of symbols"),
        ({"alphabet": [0, 1]}, "it is a text such as 'abc'"),
        ({"alphabet": 7}, "alphabet is 7"),
        ({"output_alphabet": "a"}, "output_alphabet has 1 symbols, and the range of 'bit' is 2"),
    ],
)
def test_labels_that_do_not_fit_are_refused_when_the_program_is_built(labels, message):
    with pytest.raises(ProgramError, match=message):
        flipping(**labels)


def test_rules_given_by_hand_take_labels_too():
    variables = {"bit": alta.input_var(2)}
    builder = alta.MLPBuilder(variables, {})
    for bit in builder.get("bit"):
        builder.set("bit", 1 - bit)
    program = alta.program_spec_from_rules(variables, {}, builder.rules, "bit", 2, alphabet="ox")
    assert program.run("ox").labelled_output == "xo"


def test_a_saved_trace_keeps_its_labels(tmp_path):
    trace = flipping(alphabet="ox").run("ox")
    trace.save(tmp_path / "trace.json")
    assert kleene.Trace.load(tmp_path / "trace.json").labelled_output == "xo"
