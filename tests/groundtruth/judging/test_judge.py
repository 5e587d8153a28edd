"""`kleene.judge` on tiny sizes: names, functions and files of measures, taught networks, the command line."""

import pytest

import kleene
from kleene import naming
from kleene.errors import InputError
from kleene.explaining.interactions.transformers import EVERY_MEASURE
from kleene.groundtruth.judging import networks
from kleene.groundtruth.judging.judge import JudgeSize, defined_measures, meant_methods
from kleene.groundtruth.judging.networks import drawn_words
from kleene.programs.automata.library import get
from tests.command_line import assert_refused

TINY = JudgeSize(languages=("tomita_1",), length=4, words=3, seeds=1, iterations=2, hidden=4, machines=("RNN",), hide=0)
OWN = "import numpy as np\ndef score(network, words):\n    return np.random.default_rng(0).random((len(words), 5, 5))\n"


def test_taught_networks_that_have_not_learned_are_left_out():
    found = kleene.judge("nearness", size=TINY)
    assert found.families == ("compiled RNN",)
    assert found.left_out == ("tomita_1 seed 0 (taught RNN) is wrong on some words of 4 symbols",)
    assert found.as_json()["size"]["length"] == 4


def test_taught_networks_are_families_by_machine_and_hints(monkeypatch):
    """With a stand-in for teaching that returns networks which are right."""
    asked = []

    class Right:
        def __init__(self, name, **given):
            asked.append((name, given["machine"], given["hints"], given["seeds"], given["first_seed"]))
            self.network = kleene.compile(naming.find(name).subject, dtype="float32")

        def machine(self, run):
            return self.network

    monkeypatch.setattr(networks, "teach", Right)
    size = JudgeSize(
        languages=("tomita_4",),
        length=4,
        words=2,
        seeds=2,
        hints=("none", "states", 0.25),
        hide=0,
        hide_taught=True,
        machines=("RNN", "LSTM"),
    )
    found = kleene.judge("nearness", size=size, seed=5)
    taught = [one for one in found.verdicts if one.family not in ("compiled RNN", "compiled LSTM")]
    assert [one.family for one in taught] == [
        name.replace("M", machine)
        for machine in ("RNN", "LSTM")
        for name in ("taught M", "hidden taught M", "M, states hints", "M, 25% of the states")
    ]
    assert size.families == found.families
    assert {tuple(one.by_network) for one in taught} == {("tomita_4 seed 5", "tomita_4 seed 6")}
    kinds = ("none", "states", 0.25)
    assert asked == [("dfa:tomita_4", machine, kind, 2, 5) for machine in ("rnn", "lstm") for kind in kinds]
    asked.clear()
    assert kleene.judge("nearness", size=size, families=["LSTM, states hints"]).families == ("LSTM, states hints",)
    assert asked == [("dfa:tomita_4", "lstm", "states", 2, 0)]


def test_hidden_networks_compute_what_compiled_ones_do_in_other_units():
    machines = ("RNN", "LSTM")
    size = JudgeSize(languages=("tomita_4",), length=5, words=4, seeds=0, hide=2, machines=machines)
    found = kleene.judge(["di_hidden", "resampling", "shapley"], size=size)
    assert found.families == ("compiled RNN", "compiled LSTM", "hidden RNN", "hidden LSTM", "softened LSTM")
    assert found.left_out == found.problems == ()
    for family, plain in (("hidden RNN", "compiled RNN"), ("hidden LSTM", "compiled LSTM")):
        assert found.of("shapley", family).networks == 2
        for measure in ("shapley", "resampling"):
            same = found.of(measure, plain)["spearman_language"].mean
            assert found.of(measure, family)["spearman_language"].mean == pytest.approx(same)
    hidden, plain = (found.of("di_hidden", f"{kind} LSTM")["spearman_language"].mean for kind in ("hidden", "compiled"))
    assert hidden != pytest.approx(plain, abs=0.01)


def test_transformers_are_compiled_and_taught_and_have_measures_of_their_own():
    size = JudgeSize(
        languages=("tomita_1",), length=4, words=6, seeds=1, transformer_iterations=150, hidden=16,
        machines=("RNN", "Transformer"), hide=1,
    )  # fmt: skip
    families = ["compiled RNN", "compiled Transformer", "hidden Transformer", "taught Transformer"]
    found = kleene.judge(["di_cdt", "di_when_read", "shapley"], size=size, families=families)
    assert found.families == tuple(families)
    assert found.left_out == found.problems == ()
    judged = [(one.method, one.family) for one in found.verdicts]
    assert ("di_cdt", "compiled RNN") not in judged
    assert ("di_when_read", "compiled Transformer") not in judged
    assert found.of("shapley", "compiled Transformer")["spearman_language"].mean == pytest.approx(1)
    assert found.of("shapley", "hidden Transformer")["spearman_language"].mean > 0.95  # rounded
    assert found.of("di_cdt", "taught Transformer").networks == 1
    assert "–" in str(found)


def test_by_default_measures_are_those_that_are_defined_for_some_family():
    for families, left_out in (
        (["taught RNN"], {"di_cdt", "di_cdt_logits"}),
        (["taught Transformer"], {"di_when_read", "di_shared"}),
        (["taught Transformer", "hidden RNN"], set()),
    ):
        assert set(EVERY_MEASURE) - set(defined_measures(EVERY_MEASURE, families)) == left_out
    named = {"di_cdt": EVERY_MEASURE["di_cdt"]}
    assert defined_measures(named, ["taught RNN"]) == named


def test_a_measure_that_is_defined_for_none_of_the_networks_is_named():
    found = kleene.judge(["di_cdt", "nearness"], size=TINY, families=["compiled RNN"])
    assert found.problems == ("di_cdt on all networks: it is defined for Transformers",)
    assert found.methods == ("nearness",)


def test_a_family_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="no family of networks 'taugt RNN'; did you mean taught RNN"):
        kleene.judge("nearness", size=TINY, families=["taugt RNN"])


def test_measures_are_named_given_as_functions_or_found_in_files(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN)

    def mine(network, words):
        raise AssertionError

    def meant(methods):
        return meant_methods(methods)["interactions"]

    assert list(meant(())) == list(EVERY_MEASURE)
    assert list(meant(["erasure", mine, f"{file}:score"])) == ["erasure", "mine", f"{file}:score"]
    assert meant({"a": mine}) == {"a": mine}
    assert list(meant("shapley")) == ["shapley"]


@pytest.mark.parametrize(
    ("method", "words"), [("erasur", "did you mean erasure or"), ("gone.py:score", "there is no file 'gone.py'")]
)
def test_an_unknown_measure_is_refused_before_anything_is_taught(method, words):
    with pytest.raises(InputError, match=words):
        kleene.judge(method)


def test_words_are_different_and_all_there_are_if_few():
    dfa = get("tomita_1").build()
    words = drawn_words(dfa, JudgeSize(length=3, words=50), 0)
    assert len(words) == len(set(words)) == 8
    assert drawn_words(dfa, JudgeSize(words=5), 1) != drawn_words(dfa, JudgeSize(words=5), 2)
    for length in (40, 100):  # of 2¹⁰⁰ words none is drawn by its number
        assert {len(word) for word in drawn_words(dfa, JudgeSize(words=5, length=length), 0)} == {length}


def test_sizes_that_are_too_small_are_refused():
    with pytest.raises(InputError, match="length is 2"):
        JudgeSize(length=2)


def test_a_method_of_ones_own_is_judged_beside_others_and_a_broken_one_is_named(run, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN + "def broken(network, words):\n    return []\n")
    given = ("--quick", "--seeds", "0", "--length", "5", "--words", "2", "--family", "compiled RNN", "--json")
    result = run("judge", f"{file}:score", f"{file}:broken", "nearness", *given)
    assert result.status == 0
    assert {one["measure"] for one in result.json["verdicts"]} == {f"{file}:score", "nearness"}
    (line,) = result.json["problems"]
    assert line.startswith(f"{file}:broken on 4 networks, first: ")  # languages
    assert "shape (0,), and (2, 5, 5) was expected" in line


def test_the_table_is_printed(run):
    result = run(
        "judge", "nearness", "--quick", "--seeds", "0", "--length", "4", "--words", "2", "--family", "hidden RNN"
    )
    assert result.out.startswith("rank correlation with the true interactions of the language\n")
    assert "nearness  ." in result.out


def test_an_unknown_measure_is_refused_on_the_command_line(run):
    assert_refused(run("judge", "neerness"), "no measure 'neerness'", "nearness")
