"""RASP programs are explained as the transformer programs that they are lowered to, in their own tokens and values."""

import itertools

import jax
import pytest

from kleene.errors import InputError
from kleene.explaining import learnable, minimal
from kleene.explaining.programs.data_sets import InputSource, inputs_of
from kleene.explaining.programs.taught import taught_outputs
from kleene.programs import rasp
from kleene.programs.rasp import lib
from kleene.programs.rasp.graph import RaspError
from kleene.teaching.lessons import lesson

REVERSE = rasp.RaspProgram(lib.make_reverse(rasp.tokens), "ab", 3)
HIST = rasp.RaspProgram(lib.make_hist(), "abc", 4)
INVERSE = rasp.RaspProgram(rasp.Map(lambda x: 1 // x, rasp.tokens).named("inverse"), (0, 1), 3)


def words(vocab, longest):
    return [list(word) for n in range(1, longest + 1) for word in itertools.product(vocab, repeat=n)]


@pytest.mark.parametrize("program", [REVERSE, HIST])
def test_the_minimal_program_says_what_rasp_says_on_every_input_of_its_data_set(program):
    data = words(program.vocab, 2)
    found = minimal(program, data).program
    assert [found.run(word).output for word in data] == [program.evaluate(word) for word in data]


def test_tokens_and_positions_that_were_never_seen_are_those_of_the_word():
    found = minimal(REVERSE, [["a"], ["a", "a"]])
    assert (found.dropped_tokens, found.dropped_positions) == (("b",), (2,))
    assert "tokens never seen: b; their variables start at defaults" in str(found)
    assert "positions never seen: 2; their" in str(found)


def test_a_program_with_positions_does_not_generalise_and_one_on_all_words_does():
    assert learnable(REVERSE, words("ab", 3), words("ab", 3), reference=lambda xs: xs[::-1])
    found = learnable(REVERSE, words("ab", 2), words("ab", 3), reference=lambda xs: xs[::-1])
    assert not found
    assert found.counterexample is not None
    assert found.counterexample.tokens == ["a", "a", "a"]
    assert found.counterexample.expected == ["a", "a", "a"]
    assert found.right == [True] * 14
    assert found.by_ones == {}  # the tokens are no bits
    assert "shortest counterexample: a a a gives" in str(found)


def test_an_input_without_a_value_is_refused_with_the_expression_and_left_out_of_drawn_ones():
    with pytest.raises(RaspError, match=r"'inverse' .* has no value for 0"):
        minimal(INVERSE, [[1], [0]])
    with pytest.raises(InputError, match="token 'z' at position 0 is not in the vocabulary"):
        learnable(REVERSE, [["a"]], [["z"]])
    assert inputs_of(InputSource.of(INVERSE), "length<=2", samples=1, seed=0) == [[1], [1, 1]]


def test_conditions_draw_words_of_the_vocabulary_up_to_the_greatest_length(tmp_path):
    source = InputSource.of(HIST)
    assert inputs_of(source, "length<=2", samples=1, seed=0) == words("abc", 2)
    with pytest.raises(InputError, match="hist takes inputs of up to length 4, and 5 is allowed"):
        inputs_of(source, "length<=5", samples=1, seed=0)
    with pytest.raises(InputError, match=r"'length<=2, ones<2' counts 1, and the vocabulary of hist is 'a' 'b' 'c'"):
        inputs_of(source, "length<=2, ones<2", samples=1, seed=0)
    (tmp_path / "words").write_text("abc\nc a\n")
    assert inputs_of(source, str(tmp_path / "words"), samples=1, seed=0) == [["a", "b", "c"], ["c", "a"]]
    (tmp_path / "words").write_text("abx\n")
    with pytest.raises(InputError, match="line 1: hist: the token 'x' at position 2 is not in the vocabulary"):
        inputs_of(source, str(tmp_path / "words"), samples=1, seed=0)


def test_a_taught_machine_answers_in_the_values_of_rasp():
    made = lesson(REVERSE, "mlp", longest=1, pool=4, hidden=4)
    machine = made.machine.bare(made.fresh(jax.random.key(0)))
    found = taught_outputs(machine, REVERSE.lowered, [["a", "b"], ["b"]], "a random one")
    assert list(map(len, found.outputs)) == [2, 1]
    assert {value for output in found.outputs for value in output} <= {"a", "b", None}


def test_the_command_explains_a_rasp_program(run):
    asked = ("explain", "rasp:hist", "--train", "length<=2", "--test", "length<=3")
    status, out, err = run(*asked)
    assert (status, err) == (0, "")
    assert "minimal version  100% 100%" in out
    told = run(*asked, "--json").json
    assert (told["program"], told["train"], told["test"]) == ("hist", 30, 155)
    status, _, err = run("explain", "dfa:ab", "--train", "length<=2", "--test", "length<=3")
    assert "no transformer program, and only these and RASP programs have transition rules" in err
