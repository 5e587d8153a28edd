"""A RASP program is taught from its own trace: that of the transformer program which it is lowered to."""

import random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.programs import rasp
from kleene.programs.rasp import lib
from kleene.teaching.lesson import Setting
from kleene.teaching.lessons import lesson
from kleene.teaching.program_words import taught_program

REVERSE = rasp.RaspProgram(lib.make_reverse(rasp.tokens), "ab", 4)
SMALL: dict[str, Any] = {"longest": 2, "pool": 8, "hidden": 8, "batch": 4}


def _drawn(taught, kind):
    setting = Setting(jnp.array(taught.kinds.index(kind)), jnp.array(1.0), jnp.array(1.0))
    return jax.tree.map(np.asarray, jax.jit(taught.examples)(jax.random.key(3), (), setting))


def test_targets_and_hints_are_the_outputs_and_the_trace_of_the_lowered_program():
    taught = lesson(REVERSE, "transformer", **SMALL, width=8).only(["none", "full"])
    examples, lowered = _drawn(taught, "full"), REVERSE.lowered
    meanings = lowered.meanings[lowered.output_name]
    for row, length in enumerate(examples.inputs.lengths):
        codes = examples.inputs.tokens[row, :length].tolist()
        word = [REVERSE.vocab[code - 1] for code in codes[1:]]
        assert lowered.check_input(word) == codes
        assert [meanings[code] for code in examples.targets[row, 1:length]] == word[::-1]
        trace = lowered.run(word)
        for variable, hints in examples.hints.items():
            stated = hints.weights[row, : trace.steps + 1, :length] > 0
            assert (hints.targets[row, : trace.steps + 1, :length] == trace[variable])[stated].all()


@pytest.mark.parametrize("machine", ["transformer", "mlp", "encoder"])
def test_every_machine_for_transformer_programs_takes_hints_of_a_rasp_program(machine):
    taught = lesson("rasp:reverse", machine, **SMALL)
    assert {"none", "full", "scattered", "reverse"} <= set(taught.kinds)
    assert taught.task.name == "reverse"


def test_a_rasp_program_is_taught_by_name():
    taught = kleene.teach("rasp:reverse", hints="none,full", seeds=1, iterations=2, machine="mlp", **SMALL)
    assert [setting["hints"] for setting in taught.as_json()["settings"]] == ["none", "full"]


def test_a_transformer_learns_a_rasp_program_unless_another_machine_is_named():
    assert lesson("rasp:hist", **SMALL).name == "hist"
    assert lesson("rasp:hist", "plain", vocab="ab", longest=2).name == "hist plain, interchange"


def test_an_expression_is_taught_with_a_vocabulary_and_a_greatest_length():
    expression = lib.make_reverse(rasp.tokens)
    assert lesson(expression, vocab="ab", max_length=4, **SMALL).task.lengths == (1, 2, 3, 4)
    with pytest.raises(InputError, match="does not say which inputs it is for; give vocab and max_length"):
        lesson(expression)


def test_words_are_half_as_long_as_the_longest_input_and_never_longer_than_it():
    assert lesson(REVERSE).task.longest == 2
    with pytest.raises(InputError, match="takes inputs of at most size 4; give a smaller `longest`"):
        lesson(REVERSE, longest=4)


def test_words_on_which_rasp_has_no_value_are_not_taught():
    inverse = rasp.RaspProgram(rasp.Map(lambda x: 1 // x, rasp.tokens), (0, 1), 3)
    _, sample = taught_program(inverse, None)
    assert {tuple(sample(random.Random(seed), 2)) for seed in range(20)} == {(0, 2, 2)}
    never = rasp.RaspProgram(rasp.Map(lambda x: 1 // x, rasp.tokens), (0, 1), 3)
    _, sample = taught_program(never, lambda rng, size: [0] * size)
    with pytest.raises(InputError, match="has no value on any of 100 words of size 2; give `inputs`"):
        sample(random.Random(0), 2)
