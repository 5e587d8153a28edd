"""RASP programs on the command line: from the shelf, and from a file with a vocabulary and a length."""

import pytest

import kleene
from kleene.programs.rasp.library import entries

FILE = """
from kleene.programs import rasp


def make_hist() -> rasp.SOp:
    return rasp.SelectorWidth(rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ)).named("hist")


def make_sum() -> rasp.SOp:
    everything = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.TRUE)
    return rasp.SequenceMap(lambda m, n: round(m * n), rasp.Aggregate(everything, rasp.tokens), rasp.length)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return str(path)


def test_a_program_of_the_shelf_is_run_as_program_and_as_network(run):
    assert run("run", "rasp:reverse", "abc").out.startswith("c b a\nprogram ran 2 layers in ")
    assert run("run", "rasp:reverse", "abc", "--compiled").out.startswith("c b a\nnetwork ran 2 layers in ")
    assert run("run", "rasp:sort", "31421", "--compiled", "--json").json["output"] == [1, 1, 2, 3, 4]
    assert run("run", "rasp:shift", "abc", "--json").json["output"] == [None, "a", "b"]


@pytest.mark.parametrize("name", entries())
def test_every_program_of_the_shelf_agrees_with_its_reference(run, name):
    report = run("check", f"rasp:{name}", "--samples", "15", "--json").json["programs"][0]
    assert report["agree"] == report["of"] > 20
    assert report["compared"] == ["program", "RASP's own evaluation", "network", "reference"]


def test_a_program_of_the_shelf_takes_another_vocabulary_and_length(run):
    assert run("run", "rasp:reverse", "xyz", "--vocab", "xyz", "--max-length", "3").out.startswith("z y x\n")
    assert run("run", "rasp:sort", "10 3 7", "--vocab", "3,7,10", "--json").json["output"] == [3, 7, 10]
    assert run("run", "rasp:hist", "aba", "--causal", "--json").json["output"] == [1, 1, 2]


def test_a_program_in_a_file_needs_a_vocabulary_and_a_length(run, file):
    how = ("--vocab", "abc", "--max-length", "5")
    assert run("run", f"{file}:make_hist", "abca", *how, "--json").json["output"] == [2, 1, 1, 2]
    assert run("run", f"{file}:make_hist", "abca", *how, "--compiled", "--json").json["output"] == [2, 1, 1, 2]
    assert (
        run("run", f"{file}:make_sum", "112", "--vocab", "1,2", "--max-length", "4", "--json").json["output"] == [4] * 3
    )
    assert run("compile", f"{file}:make_hist", *how, "--json").json["hidden_units"] > 0
    assert run("check", f"{file}:make_hist", *how, "--samples", "10").out.startswith("hist ")
    assert "up to length 5" in run("certify", f"{file}:make_hist", *how).out
    result = run("run", f"{file}:make_hist", "abca")
    assert result.status == 2
    assert "give vocab and max_length, such as vocab='abc', max_length=9 (on the command line `--vocab" in result.err


def test_options_of_rasp_are_refused_for_other_kinds(run):
    assert "--vocab has no meaning for 'dfa:parity'" in run("run", "dfa:parity", "110", "--vocab", "ab").err
    assert "vocab" in run("certify", "addition", "--vocab", "ab").err
    assert "--vocab has no meaning for" in run("check", "dfa:parity", "--vocab", "ab").err


def test_values_that_json_lacks_are_printed_as_text(run, tmp_path):
    halves = "from fractions import Fraction\nfrom kleene.programs import rasp\n"
    halves += "halves = rasp.RaspProgram(rasp.Map(lambda x: (Fraction(x, 2),), rasp.tokens), [1, 2], 3)\n"
    (tmp_path / "halves.py").write_text(halves)
    assert run("run", f"{tmp_path}/halves.py:halves", "1 2", "--json").json["output"] == [["1/2"], ["1"]]


def test_bad_input_is_one_line(run):
    assert run("run", "rasp:reverse", "abx").err == (
        "kleene: reverse: the token 'x' at position 2 is not in the vocabulary, which is a b c d e\n"
    )
    assert "did you mean rasp:reverse" in run("run", "rasp:revers", "abc").err
    assert "max_length is 10" in run("run", "rasp:reverse", "abcdeabcdeabcde").err
    assert "'a' is in it twice" in run("run", "rasp:reverse", "a", "--vocab", "aba").err


def test_a_page_steps_through_a_rasp_program(run, tmp_path):
    page = tmp_path / "reverse.html"
    assert run("watch", "rasp:reverse", "abc", "--both", "-o", str(page)).status == 0
    assert "<title>rasp:reverse" in page.read_text()


def test_a_certificate_is_attacked_with_tokens_of_the_vocabulary(run):
    attacked = run("certify", "rasp:sort", "--attack", "--seconds", "1", "--json").json
    assert (attacked["valid"], attacked["length"], attacked["attack"]["stood"]) == (True, 8, True)
    assert attacked["attack"]["inputs"] > 50


def test_a_network_in_a_file_is_certified_for_its_own_vocabulary(run, tmp_path):
    path = str(tmp_path / "sort.safetensors")
    assert run("compile", "rasp:sort", "--vocab", "1,2,3", "--max-length", "4", "-o", path).status == 0
    found = run("certify", path, "--json").json
    assert (found["valid"], found["length"]) == (True, 4)
    assert found["compared"].endswith("program 'rasp:sort' for the network's vocabulary and length")
    assert run("run", path, "312").out.startswith("1 2 3\n")
    page = tmp_path / "sort.html"
    assert run("watch", path, "312", "-o", str(page)).status == 0


def test_an_unrolled_network_reads_and_answers_in_the_words_of_its_program(run, tmp_path):
    assert kleene.run("rasp:sort", "312", compiled=True, layers="unrolled").answer == "1 2 3"
    path = str(tmp_path / "sort.safetensors")
    assert run("compile", "rasp:sort", "--layers", "unrolled", "-o", path).status == 0
    assert run("run", path, "312").out.startswith("1 2 3\n")
    assert run("certify", path, "--json").json["length"] == 8
