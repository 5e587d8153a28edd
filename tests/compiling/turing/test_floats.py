"""Floating networks: exact up to a tape limit that is proven, and a refusal past it."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from kleene.compiling.turing import compile_turing
from kleene.compiling.turing.compiler import network_of, tape_limit
from kleene.compiling.turing.constructions import Compact
from kleene.errors import CompileError, OutgrownError, RunError
from kleene.programs.turing.library import get, ping_pong_word, stored
from tests.programs.turing.random_machines import random_input, random_machine

CASES = [(c, n) for c in ("compact", "merged") for n in ("float32", "float64")]


@pytest.mark.parametrize(("construction", "numbers"), CASES)
def test_up_to_the_limit_configurations_are_exact_and_past_it_the_run_is_refused(construction, numbers):
    machine = stored("ping_pong")
    network = compile_turing(machine, construction=construction, dtype=numbers)
    most = network.reading.cells
    for cells in range(2, most + 1):
        word = ping_pong_word(cells)
        assert network.run(word, 4 * cells).difference(machine.run(word, 4 * cells)) is None
    for cells in (most + 1, most + 2, most + 30):
        with pytest.raises(RunError, match=f"exact on a tape of up to {most} cells, the head's own among them"):
            network.run(ping_pong_word(cells), 1000)


@pytest.mark.parametrize("construction", ["compact", "merged"])
def test_a_run_that_stays_within_the_cells_that_are_told_is_never_refused(construction):
    rng, full = random.Random(3), 0
    for _ in range(12):
        machine = random_machine(rng, states=3)
        network = compile_turing(machine, construction=construction, dtype="float32")
        most = network.reading.cells
        for _ in range(6):
            word = [rng.choice(machine.input_alphabet) for _ in range(rng.randrange(most - 2, most + 1))]
            expected = machine.run(word, 60)
            used = max(len(word), *(max(len(at.tape), at.head + 1) for at in expected.configurations))
            if used <= most:
                full += used == most
                assert network.run(word, 60).difference(expected) is None
    assert full > 10


def test_the_published_limits_hold_for_sipsers_machine():
    limits = {(c, n): compile_turing(stored("sipser"), construction=c, dtype=n).reading.limit for c, n in CASES}
    assert limits == {
        ("compact", "float32"): 9, ("compact", "float64"): 24, ("merged", "float32"): 7, ("merged", "float64"): 22,
    }  # fmt: skip


@pytest.mark.parametrize("construction", ["compact", "merged"])
def test_a_walk_past_the_limit_is_refused_and_not_answered(construction):
    machine = get("busy_beaver_4").build()
    with pytest.raises(RunError, match="outgrown"):
        compile_turing(machine, construction=construction, dtype="float32").run("")
    done = compile_turing(machine, construction=construction, dtype="float64").run("")
    assert done == machine.run("")
    assert done.steps == 117


@pytest.mark.parametrize("construction", ["compact", "merged"])
def test_random_machines_are_right_or_refused(construction):
    rng, finished = random.Random(7), 0
    for _ in range(8):
        machine = random_machine(rng, states=3)
        network = compile_turing(machine, construction=construction, dtype="float32")
        word = random_input(rng, machine, longest=4)
        try:
            done = network.run(word, 60)
        except RunError:
            continue
        finished += 1
        assert done.difference(machine.run(word, 60)) is None
        assert network.resume(network.run(word, 5), 55) == done
    assert finished > 3


def test_every_number_of_a_run_is_the_exact_one():
    machine = stored("sipser")
    # The bound of these networks does not know how deep the stacks are.
    wide, narrow = (replace(compile_turing(machine, dtype=n).rnn, unrounded=False) for n in ("float64", "float32"))
    word = [*"111111", *[wide.alphabet[-1]] * 40]
    hidden = narrow.hidden(word)
    assert np.asarray(hidden).dtype == np.float32
    assert (np.asarray(wide.hidden(word)) == hidden).all()
    dyadic = [Fraction(float(value)) for value in np.asarray(hidden).ravel()]
    assert all(4**9 % value.denominator == 0 for value in dyadic)


def test_the_bare_recurrent_network_refuses_words_for_which_it_would_round():
    network = compile_turing(stored("increment"), dtype="float32").rnn
    longest = network.longest_exact()
    assert network.hidden(network.alphabet[:1] * longest).shape[0] == longest + 1
    with pytest.raises(OutgrownError, match=f"exact for words of up to {longest} symbols"):
        network.hidden(network.alphabet[:1] * (longest + 1))


def test_more_bits_allow_more_cells():
    network = compile_turing(stored("sipser"), dtype="float64")
    exact = network_of(stored("sipser"), Compact.of(stored("sipser"), "⊣", 4), 2)
    assert tape_limit(exact, 53) == network.reading.limit
    assert tape_limit(exact, 113) == network.reading.limit + 30


def test_exact_weights_are_not_rounded_to_floats():
    with pytest.raises(CompileError, match="would be rounded"):
        compile_turing(stored("sipser")).rnn.to_float("float64")


def test_a_machine_of_too_many_kinds_of_configurations_gets_a_smaller_limit_and_not_a_larger_one():
    exact = network_of(stored("palindrome"), Compact.of(stored("palindrome"), "⊣", 4), 2)
    proven = tape_limit(exact, 53)
    for looks in (1, 30, 300):
        assert 2 <= tape_limit(exact, 53, most_looks=looks) <= proven
