"""Edits as people write them, and what a channel takes."""

import pytest

from kleene.errors import InputError
from kleene.notation.edits import Edit
from kleene.notation.entries import entry_of
from kleene.programs.alta.library import parity
from kleene.traces import Channel


@pytest.mark.parametrize(
    "typed", ["parity@3,5=1", "state@2=q1", "tape@*,0-4=a", "x@*=-1/3", "wide@1-2={0,2}", "a@1=b=c"]
)
def test_an_edit_is_shown_as_it_is_typed(typed):
    assert str(Edit.parse(typed)) == typed


def test_a_step_is_another_name_for_a_layer():
    assert str(Edit("state", step=2, value="q")) == str(Edit("state", layer=2, value="q"))
    with pytest.raises(InputError, match="a layer and a step"):
        Edit("state", step=2, layer=2, value="q")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"layer": -1, "value": 0}, "layer -1; layers are counted from 0"),
        ({"position": (0, -2), "value": 0}, "position -2; positions are counted from 0"),
        ({"layer": "two", "value": 0}, "the layer 'two'; give a whole number"),
        ({"layer": True, "value": 0}, "the layer True; give a whole number"),
        ({"layer": range(10**15), "value": 0}, "names more than 100,000 layers"),
        ({"position": 10**30, "value": 0}, "a position beyond 1,000,000,000"),
        ({"layer": 1}, "needs a value, or a run to take it from"),
    ],
)
def test_a_place_that_is_none_is_refused_when_the_edit_is_made(given, said):
    with pytest.raises(InputError, match=said):
        Edit("parity", **given)


def test_an_edit_has_a_value_or_a_run_and_not_both():
    trace = parity.absolute().run([1, 0])
    with pytest.raises(InputError, match="and not both"):
        Edit("parity", value=1, source=trace)


def test_labels_and_codes_mean_the_same():
    channel = Channel("token", "category", 3, labels=("a", "b", "end"))
    assert [entry_of(channel, value) for value in ("end", 2, "2")] == [2, 2, 2]
    assert [entry_of(channel, value) for value in ("c", 3, -1, 0.5, None)] == [None] * 5


def test_numbers_and_sets_are_read_from_text():
    assert entry_of(Channel("x", "number"), "-1/4") == -0.25
    assert [entry_of(Channel("x", "number"), value) for value in ("1/0", "much", float("nan"), None)] == [None] * 4
    wide = Channel("wide", "set", 3)
    assert entry_of(wide, "{0, 2}").tolist() == entry_of(wide, {2, 0}).tolist() == [True, False, True]
    assert entry_of(wide, "{}").tolist() == [False] * 3
    assert [entry_of(wide, value) for value in ("{3}", 1, "{a}")] == [None] * 3


def test_a_swap_needs_the_channel_the_layer_and_the_position_in_the_other_run():
    program, relative = parity.absolute(), parity.relative()
    word, short, other = [1, 0, 1, 1], program.run([1, 0]), relative.run([2, 1, 0, 1])
    for edit, said in (
        (Edit.from_run("parity", short, layer=0), "for position 3, and the run that it takes its values from has 2"),
        (Edit.from_run("parity", short, layer=3, position=0), "for layer 3, and the run that it takes its"),
        (Edit.from_run("idx", other, layer=0), "takes its values from a run that has no 'idx'"),
    ):
        with pytest.raises(InputError, match=said):
            program.run(word, edits=[edit])
    with pytest.raises(InputError, match="is undefined in the run that it takes its values from"):
        relative.run([2, 1, 0, 1], edits=[Edit.from_run("parity_left", other, layer=1, position=0)])


@pytest.mark.parametrize(
    "typed",
    [
        "parity@0-999999999999=1",
        f"parity@{'9' * 5000}=1",
        f"parity@1={'9' * 5000}",
        "parity@1=1e999999999",
        "parity@1=1/0",
        "parity@1={1,2",
        "parity@1=",
        "parity@1,2,3=1",
        "=",
        "@=1",
        "\0@1=1",
    ],
)
def test_hostile_text_is_refused_at_once(typed):
    with pytest.raises(InputError):
        parity.absolute().run([1, 0, 1], edits=[Edit.parse(typed)])


@pytest.mark.parametrize("value", ["1e999999999", "1e-999999999", "9" * 5000, "1/1e400", "inf", "nan"])
def test_a_number_of_any_length_is_read_or_refused_at_once(value):
    found = entry_of(Channel("x", "number"), value)
    assert found is None or found == 0


def test_a_value_is_given_in_the_meanings_of_the_codes():
    channel = Channel("kind", "category", 3, meanings=(None, 2, "even"))
    assert [entry_of(channel, value) for value in (None, 2, "even", 0, True)] == [0, 1, 2, None, None]


def test_a_vector_is_read_from_text():
    channel = Channel("hidden", "vector", 2)
    assert [entry_of(channel, value).tolist() for value in ("1 -2", "[0.5, 3]", [1, 2])] == [[1, -2], [0.5, 3], [1, 2]]
    assert [entry_of(channel, value) for value in ("1", "1 2 3", "a b", "nan 1", None, object())] == [None] * 6
