"""Turing machines as networks: the same configurations at every step, at the ticks that the theorem says."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.compiling.turing import compile_turing
from kleene.errors import CompileError
from kleene.programs.turing import TuringMachine
from kleene.programs.turing.library import entries, get, walk_right
from tests.programs.turing.random_machines import random_input, random_machine

CONSTRUCTIONS = ("compact", "merged")
SHELF = [name for name in entries() if name != "universal"]
machine_of = {name: get(name).build() for name in SHELF}


def bumper():
    """Bumps into the left end with every second step, and at last with the step that accepts."""
    rules = {("go", "1"): ("hit", "x", "L"), ("go", "x"): ("go", "x", "R"), ("go", "_"): ("back", "_", "L")}
    rules |= {("hit", "1"): ("go", "1", "R"), ("hit", "x"): ("go", "x", "R"), ("hit", "_"): ("go", "_", "R")}
    rules |= {("back", "x"): ("back", "1", "L"), ("back", "1"): ("yes", "x", "L"), ("back", "_"): ("no", "_", "L")}
    return TuringMachine(transitions=rules, start="go", accept="yes", reject="no", input_alphabet=("1",))


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@pytest.mark.parametrize("name", SHELF)
def test_a_machine_of_the_shelf_and_its_network_have_the_same_configurations(name, construction):
    machine, network = machine_of[name], compile_turing(machine_of[name], construction=construction)
    for word, verdict in get(name).cases:
        done = network.run(word, max_steps=300)
        assert done.difference(machine.run(word, max_steps=300)) is None
        assert done.verdict == verdict


@settings(max_examples=15)
@given(st.integers(0, 10**9))
def test_random_machines_and_their_networks_have_the_same_configurations(seed):
    rng = random.Random(seed)
    machine = random_machine(rng)
    for construction in CONSTRUCTIONS:
        network = compile_turing(machine, construction=construction)
        for _ in range(2):
            word = random_input(rng, machine)
            assert network.run(word, max_steps=120).difference(machine.run(word, max_steps=120)) is None


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_bumps_into_the_left_end_cost_no_step_even_at_the_last_one(construction):
    machine = bumper()
    network = compile_turing(machine, construction=construction)
    for word in ("", "1", "111", "11111"):
        assert network.run(word).difference(machine.run(word)) is None
    assert network.run("111").verdict == "accept"


def test_the_compact_network_takes_a_tick_for_every_bump_that_does_not_halt():
    machine = bumper()
    for length in range(5):
        done = compile_turing(machine).run("1" * length)
        before, after = list(done.configurations)[:-1], list(done.configurations)[1:]
        bumps = sum(a.head == b.head == 0 and b.state not in ("yes", "no") for a, b in zip(before, after))
        assert bumps or not length
        assert done.ticks == length + 2 + done.steps + bumps
        merged = compile_turing(machine, construction="merged").run("1" * length)
        assert merged.ticks == length + 1 + merged.steps


@pytest.mark.parametrize(("construction", "later"), [("merged", 0), ("compact", 1)])
def test_sipsers_machine_decides_at_the_ticks_of_the_note(construction, later):
    network = compile_turing(machine_of["sipser"], construction=construction)
    found = {n: network.run("1" * n) for n in (*range(9), 16)}
    verdicts = {n: run.verdict[0].upper() + str(run.ticks - later) for n, run in found.items()}
    expected = ["R2", "A4", "A10", "R8", "A26", "R12", "R26", "R16", "A66", "A162"]
    assert list(verdicts.values()) == expected
    configurations = found[2].configurations
    assert [c.state for c in configurations] == ["q0", "q1", "q2", "q4", "q4", "q1", "q1", "q5"]
    assert [c.head for c in configurations] == [0, 1, 2, 1, 0, 1, 2, 3]


def test_palindromes_are_decided_at_the_ticks_of_the_note():
    network = compile_turing(machine_of["palindrome"], construction="merged")
    runs = [network.run(word) for word in ("abba", "abab", "")]
    assert [(run.verdict, run.ticks) for run in runs] == [("accept", 20), ("reject", 11), ("accept", 2)]


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_the_network_leaves_the_number_plus_one_on_its_tape(construction):
    assert compile_turing(machine_of["increment"], construction=construction).run("111101").tape == "000011"


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@pytest.mark.parametrize("cells", [1, 2, 3, 4])
def test_past_the_end_of_the_word_there_are_blanks(construction, cells):
    machine = walk_right(cells)
    done = compile_turing(machine, construction=construction).run("")
    assert done.verdict == "accept"
    assert done == machine.run("")


@pytest.mark.parametrize(
    ("name", "merged", "compact"), [("sipser", 288, 58), ("palindrome", 348, 79), ("increment", 84, 33)]
)
def test_networks_have_the_sizes_of_the_note(name, merged, compact):
    sizes = [compile_turing(machine_of[name], construction=c).size.hidden_units for c in ("merged", "compact")]
    assert sizes == [merged, compact]


@pytest.mark.parametrize("name", SHELF)
def test_sizes_follow_the_formulas(name):
    machine = machine_of[name]
    moves = [move for _, _, move in machine.transitions.values()]
    tape, inputs = len(machine.tape_alphabet), len(machine.input_alphabet)
    marks = tape + 1
    merged = compile_turing(machine, construction="merged").size.hidden_units
    assert merged == 5 * marks * moves.count("L") + 4 * marks * moves.count("R") + 8 * marks + 4
    halting = (machine.accept, machine.reject)
    left = {r for r, _, move in machine.transitions.values() if move == "L" and r not in halting}
    right = {r for r, _, move in machine.transitions.values() if move == "R" and r not in halting}
    right |= left | {machine.start}
    scanning = (len(left) + 1) * (2 * tape + 1) + len(right) * (2 * tape - 1)
    assert compile_turing(machine).size.hidden_units == 2 * (inputs + 1) + scanning + 4 * tape + 3


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_outputs_are_acc_rej_and_nul_as_the_theorem_says(construction):
    network = compile_turing(machine_of["sipser"], construction=construction)
    for word in ("", "1", "11", "111"):
        ticks = network.run(word).ticks
        outputs = network.rnn.outputs([*word, *[network.end] * (ticks + 6)]).tolist()
        verdict = [1, 0, 0] if len(word) in (1, 2) else [0, 1, 0]
        before = len(word) + 1 + ticks
        assert outputs[:before] == [[0, 0, 1]] * before
        assert outputs[before:] == [verdict] * 6


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_a_verdict_stays_whatever_the_head_stood_on(construction):
    rng, halted = random.Random(11), set()
    for _ in range(40):
        machine = random_machine(rng, states=3)
        word = random_input(rng, machine, longest=3)
        if machine.run(word, 20).verdict == "running":
            continue
        network = compile_turing(machine, construction=construction)
        done = network.run(word)
        noise = [rng.choice(network.rnn.alphabet) for _ in range(8)]
        outputs = network.rnn.outputs([*word, *[network.end] * (1 + done.ticks), *noise]).tolist()
        verdict = [1, 0, 0] if done.verdict == "accept" else [0, 1, 0]
        assert outputs[len(word) + 1 + done.ticks :] == [verdict] * 9
        halted.add((done.verdict, done.head < len(done.tape)))
    assert len(halted) == 4


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_a_machine_that_knows_the_blank_alone_moves_its_head(construction):
    moves = {("a", "_"): ("b", "_", "R"), ("b", "_"): ("c", "_", "R"), ("c", "_"): ("yes", "_", "L")}
    machine = TuringMachine(transitions=moves, start="a", accept="yes", reject="no")
    network = compile_turing(machine, construction=construction)
    assert machine.tape_alphabet == ("_",)
    assert network.run("") == machine.run("")
    assert network.run("").head == 1


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_before_the_end_of_the_input_it_says_nul_for_ever(construction):
    network = compile_turing(machine_of["sipser"], construction=construction)
    assert network.rnn.outputs("1" * 60).tolist() == [[0, 0, 1]] * 61


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_symbols_after_the_end_of_the_input_are_ignored(construction):
    network = compile_turing(machine_of["palindrome"], construction=construction)
    rng = random.Random(3)
    for word in ("abba", "abb", ""):
        ticks = network.run(word).ticks + 3
        quiet = network.rnn.hidden([*word, *[network.end] * (ticks + 1)])
        noise = [rng.choice(network.rnn.alphabet) for _ in range(ticks)]
        assert (network.rnn.hidden([*word, network.end, *noise]) == quiet).all()


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_a_machine_that_starts_halted_takes_no_step(construction):
    machine = TuringMachine(
        transitions={("q", "1"): ("q", "1", "R"), ("q", "_"): ("q", "_", "R")}, start="yes", accept="yes", reject="no"
    )
    for word in ("", "11"):
        assert compile_turing(machine, construction=construction).run(word) == machine.run(word)


def test_symbols_and_states_may_have_any_names():
    machine = TuringMachine(
        transitions={
            ("load", "⊣"): ("rewind", "$", "R"), ("load", "$"): ("rewind", "ab", "L"),
            ("load", "ab"): ("no", "ab", "L"), ("load", "blank"): ("no", "$", "L"),
            ("rewind", "⊣"): ("load", "$", "L"), ("rewind", "$"): ("yes", "$", "R"),
            ("rewind", "ab"): ("load", "⊣", "R"), ("rewind", "blank"): ("load", "ab", "L"),
        },
        start="load", accept="yes", reject="no", blank="blank",
    )  # fmt: skip
    for construction in CONSTRUCTIONS:
        network = compile_turing(machine, construction=construction)
        for word in ([], ["⊣"], ["$", "ab"], ["⊣", "ab", "$"], ["$", "$", "⊣"]):
            assert network.run(word, 50).difference(machine.run(word, 50)) is None


@pytest.mark.parametrize("wrong", [{"construction": "small"}, {"dtype": "float16"}])
def test_an_unknown_option_is_named(wrong):
    with pytest.raises(CompileError, match=next(iter(wrong.values()))):
        compile_turing(machine_of["sipser"], **wrong)


def test_a_merged_network_that_would_be_huge_is_refused_with_its_size():
    machine = get("universal").build()
    with pytest.raises(CompileError, match=r"would have [\d,]+ units, and 5,000 is the limit"):
        compile_turing(machine, construction="merged")
