"""Inputs that a program declares: drawn by a function, or words of a language; and every program of the library."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.errors import InputError, ProgramError
from kleene.explaining.programs.data_sets import InputSource, inputs_of
from kleene.programs import alta
from kleene.programs.alta.inputs import some_inputs
from kleene.programs.alta.library import entries
from kleene.teaching.program_words import taught_program

START = 2
LANGUAGES = ("2(0|1)*", "1*0", "(01)*", "2", "(0|1)(0|1)|22*1", "0|(0|1|2)*1")


def _carry(z):
    if not z["done"] and z["done_left"]:
        z["parity"] = z["parity"] ^ z["parity_left"]
        z["done"] = 1


def parity_after_start(**options) -> alta.Program:
    """The running parity of bits, which ends with an error on inputs without the START token in front."""
    variables = {
        "parity": alta.var(2, input_init_fn=lambda token: token == 1),
        "done": alta.var(2, input_init_fn=lambda token: token == START),
    }
    heads = {"parity_left": alta.v_relative("parity", -1), "done_left": alta.v_relative("done", -1)}
    return alta.program_spec(variables, heads, _carry, "parity", 3, halt=alta.halt_spec("done"), name="own", **options)


def bits_after_start(rng: random.Random, size: int) -> list[int]:
    return [START, *(rng.randrange(2) for _ in range(size))]


def test_a_check_draws_the_declared_inputs_and_none_of_them_ends_with_an_error():
    assert kleene.check(parity_after_start()).errors > 100
    for inputs in (
        bits_after_start,
        "2(0|1)*",
        kleene.DFA.from_regex("2(0|1)*"),
        entries()["parity_relative"].build().inputs,
    ):
        report = kleene.check(parity_after_start(inputs=inputs))
        assert (report.agree, report.errors, report.warning) == (report.tried, 0, None)


def test_a_check_takes_other_inputs_than_the_declared_ones():
    program = parity_after_start(inputs=bits_after_start)
    assert kleene.check(program, inputs="21*").of == 8 + 100  # all there are of up to 8 tokens, and random ones
    assert kleene.check(program, inputs=[[2, 1], [2, 0]]).of == 2
    assert kleene.check(program, inputs=lambda rng, size: [2]).of == 200


@settings(max_examples=40)
@given(st.sampled_from(LANGUAGES), st.integers(0, 10**6), st.integers(1, 12))
def test_a_language_lists_and_draws_exactly_its_words(regex, seed, size):
    language, automaton = parity_after_start(inputs=regex).words, kleene.DFA.from_regex(regex, "012")
    listed = ["".join(map(str, word)) for word in language.every(5)]
    words = ("".join(word) for n in range(1, 6) for word in itertools.product("012", repeat=n))
    assert listed == [word for word in words if automaton.accepts(word)]
    drawn = language.sample(random.Random(seed), size)
    assert automaton.accepts("".join(map(str, drawn)))
    assert len(drawn) <= max(size, len(listed[0]))


def test_words_of_a_size_are_equally_likely():
    language = parity_after_start(inputs="0(0|1)(0|1)|111").words
    drawn = [tuple(language.sample(random.Random(seed), 3)) for seed in range(400)]
    counts = [drawn.count(word) for word in sorted(set(drawn))]
    assert len(counts) == 5
    assert min(counts) > 50


def test_symbols_of_an_alphabet_are_those_of_the_language():
    flip = alta.program_spec(
        {"bit": alta.input_var(2)},
        {},
        lambda z: z.__setitem__("bit", 1 - z["bit"]),
        "bit",
        2,
        alphabet="ox",
        inputs="o*x",
    )
    assert list(flip.words.every(2)) == [[1], [0, 1]]


def test_longer_words_than_the_program_takes_are_drawn_smaller():
    program = alta.program_spec(
        {"x": alta.position_var(4)}, {}, lambda z: None, "x", 3, position_range=4, inputs=bits_after_start
    )
    drawn = some_inputs(program.words, 20, 9, 0)
    assert max(map(len, drawn)) == 4
    assert max(len(word) for word in some_inputs(program.taking("2*").words, 20, 9, 0)) == 4


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (5, "inputs is 5; give a function of a random.Random and a size"),
        ("2(a|b)*", "inputs: 'a' is no token; the tokens are 0 1 2"),
    ],
)
def test_what_declares_no_inputs_is_refused(inputs, message):
    with pytest.raises(ProgramError, match=message.replace("(", "\\(").replace("*", "\\*").replace("|", "\\|")):
        parity_after_start(inputs=inputs)


def test_errors_of_a_users_function_name_it():
    def wrong(rng, size):
        return [2][size]

    with pytest.raises(InputError, match=r"the inputs' wrong\(rng, \d\) raised IndexError"):
        kleene.check(parity_after_start(inputs=wrong))
    with pytest.raises(InputError, match="the inputs' language has no word"):
        kleene.check(
            parity_after_start(
                inputs=kleene.DFA.from_regex("0*").intersection(kleene.DFA.from_regex("00*").complement())
            )
        )


def test_lessons_and_data_sets_have_the_declared_inputs():
    program = parity_after_start(inputs="21*")
    found = inputs_of(InputSource.of(program), "length<=40", samples=2, seed=0)
    assert found == [[2, *[1] * (n - 1)] for n in range(1, 41)]
    own = parity_after_start(inputs=lambda rng, size: [2, *[1] * size])
    drawn = inputs_of(InputSource.of(own), "length>30,length<=32", samples=2, seed=0)
    assert {tuple(word) for word in drawn} == {(2, *[1] * 31), (2, *[1] * 32)}
    _, sample = taught_program(program, None)
    assert sample(random.Random(0), 3) == [2, 1, 1]
    _, sample = taught_program(program, "20*")
    assert sample(random.Random(0), 3) == [2, 0, 0]


@pytest.mark.parametrize("name", entries())
def test_every_program_of_the_library_declares_inputs_on_which_it_runs(name):
    program = entries()[name].build()
    drawn = some_inputs(program.inputs, 5, 4, 0)
    assert len(program.run_batch(drawn)) == 10
