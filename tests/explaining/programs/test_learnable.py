"""Whether minimal programs generalise: ALTA's figure 4 for three parity programs, and the command."""

import random
from dataclasses import replace

import pytest

from kleene.cli.learnability import drawn_inputs
from kleene.errors import HaltError, InputError, RunError, UndefinedAttentionError
from kleene.explaining import learnable
from kleene.explaining.programs.data_sets import InputSource
from kleene.explaining.programs.watching import watch
from kleene.programs import alta
from kleene.programs.alta.library import get, parity
from tests.explaining.programs.test_minimal import bits


def test_the_relative_parity_program_generalises():
    found = learnable(parity.relative(), bits(20, 2), bits(40, 2), reference=parity.running_parity)
    assert found
    assert found.counterexample is None
    assert all(right == of for right, of in found.by_length.values())
    assert found.as_json()["program_right"] == len(bits(40, 2))


def test_the_absolute_parity_program_fails_past_the_positions_seen():
    found = learnable(parity.absolute(), bits(20), bits(40))
    assert not found
    assert {n for n, (right, of) in found.by_length.items() if right == of} == set(range(1, 21))
    assert all(right == 0 for n, (right, _) in found.by_length.items() if n > 20)
    example = found.counterexample
    assert example is not None
    assert (len(example.tokens), example.found) == (21, None)
    assert "several positions match" in example.difference
    assert found.traces()[1] is None


def test_sum_and_modulo_fails_on_odd_numbers_of_ones_that_were_not_seen():
    found = learnable(parity.sum_modulo(), bits(20, 2), bits(40, 2))
    wrong = {n for n, (right, _) in found.by_ones.items() if right == 0}
    assert wrong == set(range(21, 41, 2))
    assert all(right == of for n, (right, of) in found.by_ones.items() if n not in wrong)
    example = found.counterexample
    assert example is not None
    assert example.tokens == [2] + [1] * 21
    assert "'parity' is 1 in program but 0 in minimal" in example.difference
    program, version = found.traces()
    assert version is not None
    assert (program.output, version.output) == (example.expected, example.found)


@pytest.mark.parametrize(("name", "length"), [("parity_absolute", 6), ("sort", 5), ("reverse", 4), ("subleq", 6)])
def test_a_lenient_run_fails_where_a_run_by_itself_does(name, length):
    """Minimal programs on inputs that they were not made for, in a batch and one by one."""
    entry, rng = get(name), random.Random(1)
    program = entry.build()
    found = learnable(
        program,
        [entry.build().inputs.sample(rng, n) for n in range(1, length)],
        [entry.build().inputs.sample(rng, n) for n in range(1, length + 3) for _ in range(6)],
    )
    kinds = set()
    for tokens, output in zip(found.tests, found.found):
        try:
            assert found.minimal.program.run(tokens).output == output
            kinds.add(None)
        except RunError as error:
            assert output is None
            kinds.add(type(error))
    assert len(kinds) > 1 or name == "sort"
    assert kinds <= {None, UndefinedAttentionError, HaltError}


def test_a_program_that_never_halts_is_found_before_its_last_layer():
    variables = {"x": alta.input_var(2), "done": alta.var(2)}

    def step(z):
        if z["x"]:
            z["done"] = 1

    program = alta.program_spec(variables, {}, step, "x", 2, halt=alta.halt_spec("done"), max_layers=10**6)
    assert watch(program, [[1, 1], [1, 0], [1]], lenient=True) == [[1, 1], None, [1]]


def test_an_empty_test_set_is_refused():
    with pytest.raises(InputError, match="the test set is empty"):
        learnable(parity.relative(), [[2, 1]], [])
    with pytest.raises(InputError, match="input 0 of the test set"):
        learnable(parity.relative(), [[2, 1]], [[3]])


def test_the_command_prints_the_report_and_draws_it(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ("explain", "parity_sum_modulo", "--train", "length<=20", "--test", "length<=40", "--samples", "50")
    status, out, err = run(*asked, "-o", "found.svg")
    assert (status, err) == (0, "")
    assert "does not generalise" in out
    assert "31 of 202 rules fired" in out
    assert "agreement by number of ones: 0..20: 100%, 21: 0%" in out
    assert out.endswith("wrote found.svg\n")
    assert (tmp_path / "found.svg").read_text().startswith("<?xml")
    told = run(*asked, "--json").json
    assert not told["generalises"]
    assert (told["rules"], told["minimal_rules"], told["dropped"]["rules"]) == (202, 31, 171)
    assert told["counterexample"]["input"] == [2] + [1] * 21
    assert told["program_right"] == told["test"] > told["agree"]


def test_the_command_shows_curves_and_says_how_to_get_a_picture_and_a_taught_network(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ("explain", "parity_sum_modulo", "--train", "length<=4", "--test", "length<=8")
    *_, title, program, restricted, more = run(*asked).out.splitlines()
    assert title.split() == ["right", "by", "number", "of", "ones", *(f"{n}..{n + 1}" for n in (0, 2, 4, 6)), "8"]
    assert program.split() == ["program", *["100%"] * 5]
    assert restricted.split() == ["minimal", "version", "100%", "100%", "60%", "80%", "100%"]
    command = "kleene explain parity_sum_modulo --train 'length<=4' --test 'length<=8' --teach -o"
    assert more == f"for a picture and the curve of a taught network: {command} parity_sum_modulo.svg"
    assert f"for the curve of a taught network: {command} found.svg\n" in run(*asked, "-o", "found.svg").out


def test_long_runs_are_on_fewer_inputs_and_the_report_says_so():
    source, asked = InputSource(parity.absolute()), {"test": "length<=30", "samples": None}
    tests, notes = drawn_inputs(source, asked, "test", 0, work=100_000)
    assert notes == ["test inputs: 11 of each length instead of 1,000, because runs are long; see --samples"]
    found = replace(learnable(parity.absolute(), [[1, 0]], tests), notes=tuple(notes))
    assert notes[0] in str(found).splitlines()
    assert found.as_json()["notes"] == notes
    assert drawn_inputs(source, asked | {"samples": 40}, "test", 0, work=100_000)[1] == []


def test_every_input_is_counted_when_its_runs_have_ended():
    done: list[int] = []
    train, tests = [[2, 1]], [[2, 1, 1], [2, 1, 1, 1], [2, 0]]
    learnable(parity.sum_modulo(), train, tests, on_inputs=done.append)
    assert sum(done) == len(train) + 2 * len(tests)


def test_the_command_takes_files_and_conditions_on_rules(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train").write_text("1 0 1 1\n0 1\n")
    told = run("explain", "parity_relative", "--train", "train", "--test", "length<=8", "--constraints", "--json").json
    assert (told["train"], told["test"]) == (2, sum(2**n for n in range(1, 9)))
    assert told["dropped"]["constraints"] >= 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("parity_relative", "--train", "length<=3"), "--train and --test"),
        (("parity_relative", "--constraints"), "--train and --test"),
        (("dfa:ab", "--train", "length<=3", "--test", "length<=4"), "no transformer program"),
        (("parity_sum_modulo", "--train", "length<=3", "--test", "length<=400"), "up to length 100"),
        (("parity_sum_modulo", "--train", "length<=3", "--test", "length<=4", "--constraints"), "numeric variables"),
        (("parity_relative", "--train", "length<=3", "--test", "length<=4", "--heads", "0"), "--heads is about"),
        (("parity_relative", "--train", "length<=3", "--test", "length<=4", "-o", "a.gif"), "pictures are written as"),
        (("parity_relative", "--train", "/dev/null", "--test", "length<=4"), "neither a condition nor a file"),
    ],
)
def test_what_cannot_be_explained_is_refused(run, words, told):
    status, out, err = run("explain", *words)
    assert (status, out) == (2, "")
    assert told in err


def test_an_empty_file_is_an_empty_training_set(run, tmp_path):
    (tmp_path / "none").write_text("\n")
    status, _, err = run("explain", "parity_relative", "--train", str(tmp_path / "none"), "--test", "length<=4")
    assert status == 2
    assert "the training set is empty" in err
