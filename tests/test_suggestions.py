"""What a person may have meant."""

import pytest

from kleene.errors import close_names, did_you_mean
from tests.command_line import assert_refused


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "pariti", "1"), "did you mean parity_relative or parity_absolute or "),
        (("run", "dick1", "()"), "did you mean rnn:dyck1?"),
        (("run", "rnn:dyck", "()"), "did you mean rnn:dyck1?"),
        (("compile", "tm:adition"), "did you mean addition?"),
        (("check", "incremnt"), "did you mean increment or tm:increment?"),
        (("certify", "sortt"), "did you mean sort or "),
        (("rules", "histogramm"), "did you mean histogram"),
        (("decode", "induction_decode", "ab"), "did you mean induction_decoded?"),
        (("view", "tm:sipsr"), "did you mean tm:sipser?"),
        (("extract", "dfa:tomita3"), "did you mean dfa:tomita_3"),
        (("teach", "revers"), "did you mean reverse?"),
        (("reproduce", "traces-figur-9b"), "did you mean traces-figure-9b"),
    ],
)
def test_every_command_that_takes_a_name_suggests_one_from_any_shelf(run, words, told):
    assert_refused(run(*words), told)


def test_letters_that_look_like_a_name_of_the_shelf_are_no_regular_expression_unless_in_brackets(run):
    assert_refused(run("run", "dfa:divisible_by_7", "1"), "put them into brackets: 'dfa:(divisible_by_7)'")
    assert run("run", "dfa:(divisible_by_7)", "divisible_by_7", "--json").json["accepted"]
    assert run("run", "dfa:abba", "abba", "--json").json["accepted"]


def test_far_names_are_all_listed():
    assert close_names("xyzzy", ["parity", "sort"]) == []
    assert did_you_mean("xyzzy", ["parity", "sort"]) == "there are parity, sort"
