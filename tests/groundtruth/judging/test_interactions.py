"""The judge: a perfect measure is found perfect, a wrong one is named, and the others go on."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.explaining.interactions.measures import MEASURES
from kleene.groundtruth.judging.interactions import JudgedNetwork
from kleene.groundtruth.judging.judged import Judged, joined
from kleene.groundtruth.judging.trials import judge_networks
from kleene.programs.automata.library import get

LANGUAGE = get("tomita_4").build()
WORDS = tuple(map(tuple, ("00010", "01001", "10000")))
NETWORK = kleene.compile(LANGUAGE, dtype="float32")


def judged(name="tomita_4", family="compiled RNN", network=NETWORK, words=WORDS):
    return JudgedNetwork(name, family, network, LANGUAGE, words)


def shapley(network, words):
    return MEASURES["shapley"](network, words)


def test_the_truth_itself_is_found_perfect_and_its_negative_the_opposite():
    found = judge_networks([judged()], {"truth": shapley, "lie": lambda *given: -shapley(*given)}, resamples=50)
    for truth in ("language", "output"):
        for score in (f"spearman_{truth}", f"partial_{truth}"):
            assert found.of("truth", "compiled RNN")[score].mean == pytest.approx(1)
            assert found.of("truth", "compiled RNN")[score].low == pytest.approx(1)
        assert found.of("lie", "compiled RNN")[f"spearman_{truth}"].mean == pytest.approx(-1)
    assert not found.problems


def test_nearness_is_right_about_something_and_about_nothing_given_distance():
    found = judge_networks([judged()], {"nearness": MEASURES["nearness"]}, resamples=50)
    assert found.of("nearness", "compiled RNN")["partial_language"].mean == 0
    own = found.of("nearness", "compiled RNN")["spearman_language"].mean
    assert own > 0.2
    assert found.of("nearness", "compiled RNN")["lead_language"].mean == 0
    perfect = judge_networks([judged()], {"truth": shapley}, resamples=50).of("truth", "compiled RNN")
    assert perfect["lead_language"].mean == pytest.approx(1 - own)


def test_a_measure_may_ignore_the_lower_half_and_the_diagonal():
    found = judge_networks([judged()], {"half": lambda n, w: np.where(np.tri(5), np.nan, shapley(n, w))})
    assert found.of("half", "compiled RNN")["spearman_language"].mean == pytest.approx(1)


BROKEN = {
    "flat": (lambda network, words: np.zeros(len(words)), r"shape \(3,\), and \(3, 5, 5\) was expected"),
    "nan": (lambda network, words: np.full((3, 5, 5), np.nan), "NaN for two symbols of the word '0 0 0 1 0'"),
    "text": (lambda network, words: "much", "it returned str, and an array of numbers was expected"),
    "complex": (
        lambda network, words: np.ones((3, 5, 5), dtype=complex),
        "it returned complex numbers, and real ones were expected",
    ),
    "left": (lambda network, words: sys.exit("no weights"), "SystemExit: no weights"),
    "crash": (lambda network, words: 1 / 0, "ZeroDivisionError: division by zero"),
}


def test_a_measure_that_fails_when_it_is_timed_is_named_too():
    calls = []

    def once(network, words):
        calls.append(words)
        return shapley(network, words) if len(calls) == 1 else 1 / 0

    found = judge_networks([judged()], {"once": once, "truth": shapley}, resamples=20)
    assert found.methods == ("truth",)
    assert "ZeroDivisionError" in found.problems[0]


@pytest.mark.parametrize("name", BROKEN)
def test_a_measure_that_fails_is_named_and_the_others_go_on(name):
    measure, words = BROKEN[name]
    found = judge_networks([judged()], {name: measure, "truth": shapley}, resamples=20)
    (problem,) = found.problems
    assert problem.startswith(f"{name} on tomita_4 (compiled RNN): ")
    with pytest.raises(InputError, match=words):
        raise InputError(problem)
    assert found.methods == ("truth",)
    assert problem in str(found)


def test_failures_that_differ_in_a_word_alone_are_one_line_that_counts_networks():
    broken = {"nan": lambda network, words: np.full((3, 5, 5), np.nan), "truth": shapley}
    found = judge_networks([judged(), judged("turned", words=WORDS[::-1])], broken, resamples=20)
    (line,) = found.problems
    first = "tomita_4 (compiled RNN): it returned NaN for two symbols of the word '0 0 0 1 0'"
    assert line == f"nan on 2 networks, first: {first}"


def test_other_failures_of_one_measure_have_lines_of_their_own():
    def broken(network, words):
        if words[0] == WORDS[0]:
            raise KeyError("x")
        return 1 / 0

    found = judge_networks([judged(), judged("turned", words=WORDS[::-1])], {"broken": broken})
    assert found.problems == (
        "broken on tomita_4 (compiled RNN): KeyError: 'x'",
        "broken on turned (compiled RNN): ZeroDivisionError: division by zero",
    )


def test_ctrl_c_in_a_measure_stops_the_judge():
    def stopped(network, words):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge_networks([judged()], {"stopped": stopped, "truth": shapley}, resamples=20)


def test_a_page_says_what_failed_what_was_left_out_and_how_much_was_judged():
    other = kleene.compile(get("tomita_7").build(), dtype="float32")
    measures = {"truth": shapley, "a<b": BROKEN["crash"][0]}
    found = judge_networks([judged(), judged("wrong", "taught", other)], measures, resamples=20)
    shown = found._repr_html_()
    assert "<p>1 compiled RNN networks, 3 words each; 95% intervals over languages, networks, words</p>" in shown
    assert "<p>left out: wrong (taught) is wrong on some words of 5 symbols</p>" in shown
    assert "<p>failed: a&lt;b on tomita_4 (compiled RNN): ZeroDivisionError: division by zero</p>" in shown


def test_networks_are_counted_where_the_last_measure_fails_on_some():
    def picky(network, words):
        return shapley(network, words) if words[0] == WORDS[0] else 1 / 0

    networks = [judged(), judged("turned", words=WORDS[::-1])]
    found = judge_networks(networks, {"truth": shapley, "picky": picky}, resamples=20)
    assert found.of("picky", "compiled RNN").networks == 1
    assert "2 compiled RNN networks, 3 words each" in str(found)


def test_if_all_measures_fail_there_are_no_tables():
    found = judge_networks([judged()], {"crash": BROKEN["crash"][0]}, resamples=20)
    line = "failed: crash on tomita_4 (compiled RNN): ZeroDivisionError: division by zero"
    assert str(found) == f"no measure could be judged\n\n{line}"
    assert "<table" not in found._repr_html_()


def test_a_network_that_is_wrong_on_some_word_is_left_out():
    other = kleene.compile(get("tomita_7").build(), dtype="float32")
    found = judge_networks([judged(), judged("wrong", "taught", other)], {"truth": shapley}, resamples=20)
    assert found.left_out == ("wrong (taught) is wrong on some words of 5 symbols",)
    assert found.families == ("compiled RNN",)


def test_a_table_has_a_row_for_each_measure_and_its_json_the_numbers():
    networks = [judged(), judged("as LSTM", "compiled LSTM", kleene.compile(LANGUAGE, machine="lstm"))]
    found = judge_networks(networks, {"truth": shapley, "nearness": MEASURES["nearness"]}, resamples=20)
    title, rows = next(iter(found.tables().items()))
    assert title == "rank correlation with the true interactions of the language"
    assert rows[:2] == [["measure", "compiled RNN", "compiled LSTM"], ["truth", "1.0 [1.0, 1.0]", "1.0 [1.0, 1.0]"]]
    stored = found.as_json()["verdicts"][0]
    assert stored["spearman_language"] == [1.0, 1.0, 1.0]
    assert stored["by_network"] == {"tomita_4": [1.0, 1.0, 1.0, 1.0]}
    again = Judged.from_json(found.as_json())
    assert list(again.tables().items())[:-1] == list(found.tables().items())[:-1]  # the last one has seconds
    assert again.as_json() == found.as_json()
    assert next(iter(found.markdown().values())).splitlines()[1:3] == [
        "| --- | --- | --- |",
        "| truth | 1.0 [1.0, 1.0] | 1.0 [1.0, 1.0] |",
    ]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((("0", "1", "1"), ("0",) * 4), r"lengths \[3, 4\]"),
        ((("0", "1"),), r"lengths \[2\]"),
    ],
)
def test_words_whose_truth_is_not_known_are_refused(words, complaint):
    with pytest.raises(InputError, match=complaint):
        judged(words=words)


LONG = (tuple("1000110" * 2 + "100"),)


def test_the_truth_about_long_words_is_exact_for_the_language_and_estimated_for_the_network():
    one = JudgedNetwork("long", "compiled RNN", NETWORK, LANGUAGE, LONG, samples=100)
    assert one.is_right()
    found = judge_networks([one], {"truth": shapley}, resamples=20)
    assert found.unsure.keys() == {"compiled RNN"}
    assert 0 < found.unsure["compiled RNN"] < 1
    assert "estimated: the interactions of the output of compiled RNN networks" in str(found)
    values = one.truth().values
    assert np.corrcoef(values["language"], values["output"])[0, 1] > 0.8  # the same function
    assert Judged.from_json(found.as_json()).as_json() == found.as_json()


def test_a_network_that_is_wrong_near_a_long_judged_word_is_not_right():
    """No random word shows that the languages differ: each has one word of 24 symbols."""
    language, other = (kleene.DFA.from_regex(symbol * 24, alphabet="01") for symbol in "10")
    network = kleene.compile(other, dtype="float32")
    near, far = (JudgedNetwork("x", "y", network, language, (tuple(word),)) for word in ("1" * 22 + "01", "01" * 12))
    assert not near.is_right()
    assert far.is_right()


def test_a_network_of_another_alphabet_is_refused():
    other = kleene.compile(get("contains_abba").build(), dtype="float32")
    with pytest.raises(InputError, match="and its language"):
        judged(network=other)


def test_an_unknown_verdict_is_refused():
    with pytest.raises(InputError, match="no verdict on 'x'"):
        judge_networks([judged()], {"truth": shapley}).of("x", "compiled RNN")


def test_runs_on_other_families_are_joined_and_families_chosen():
    lstm = judged("as LSTM", "compiled LSTM", kleene.compile(LANGUAGE, machine="lstm"))
    measures = {"truth": shapley, "nearness": MEASURES["nearness"]}
    one, other = (judge_networks([network], measures, resamples=20) for network in (judged(), lstm))
    one, other = replace(one, size={"words": 3, "seeds": 1}), replace(other, size={"words": 3, "seeds": 2})
    both = joined([one, other])
    assert both.families == ("compiled RNN", "compiled LSTM")
    assert both.methods == ("truth", "nearness")
    assert both.size == {"words": 3, "by_family": {"compiled RNN": {"seeds": 1}, "compiled LSTM": {"seeds": 2}}}
    assert both.only(["compiled LSTM"]).verdicts == other.verdicts
    assert next(iter(both.only(["compiled LSTM", "compiled RNN"]).tables().values()))[0][1:] == [
        "compiled LSTM",
        "compiled RNN",
    ]
    with pytest.raises(InputError, match="judged in two of these runs"):
        joined([one, both])
    with pytest.raises(InputError, match="no verdicts for 'x'"):
        both.only(["x"])


def test_threads_change_no_number_and_a_method_is_in_one_of_them_at_a_time():
    inside, told = [], []

    def alone(network, words):
        inside.append(words)
        try:
            assert len(inside) == 1
            return shapley(network, words)
        finally:
            inside.pop()

    def numbers(threads):
        networks = (judged(f"number {n}", words=WORDS[n % 3 :] + WORDS[: n % 3]) for n in range(6))
        methods = {"alone": alone, "nearness": MEASURES["nearness"]}
        found = judge_networks(networks, methods, resamples=20, on_network=told.append, threads=threads).as_json()
        return [one | {"seconds": None} for one in found["verdicts"]], found["problems"]

    assert numbers(1) == numbers(4)
    assert numbers(4)[1] == []
    assert told[-1] == "compiled RNN: number 5 (6 of 6 networks)"
