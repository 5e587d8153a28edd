"""The two SCAN programs: every command, in the interpreter and, some of them, in the compiled networks."""

import random

import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.programs.alta.library import get, scan, scan_shift_reduce
from kleene.programs.alta.library.scan_language import ACTIONS, MOST_ACTIONS, WORDS, commands, interpret
from kleene.tasks.scan import load
from tests.tasks.published import need
from tests.work import calls

MODULES = {"scan": scan, "scan_shift_reduce": scan_shift_reduce}
COMMANDS = list(commands())
TURN_LEFT, TURN_RIGHT = ACTIONS[4:]


@pytest.fixture(scope="module")
def built():
    return {name: module.build() for name, module in MODULES.items()}


@pytest.fixture(scope="module")
def networks(built):
    return {name: kleene.compile(program) for name, program in built.items()}


def answers(name, machine, chosen, memory=MOST_ACTIONS):
    inputs = [MODULES[name].tokens(command, memory) for command in chosen]
    outputs = machine.run_batch(inputs, record=False).outputs
    return [scan.show(tokens, output) for tokens, output in zip(inputs, outputs)]


def drawn(count, seed=0):
    return random.Random(seed).sample(COMMANDS, count)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize(
    ("command", "actions"),
    [
        ("walk", "I_WALK"),
        ("turn left", TURN_LEFT),
        ("jump twice after walk", "I_WALK I_JUMP I_JUMP"),
        ("look right and turn opposite right twice", f"{TURN_RIGHT} I_LOOK" + 4 * f" {TURN_RIGHT}"),
        (
            "run around right thrice after jump around left thrice",
            " ".join([f"{TURN_LEFT} I_JUMP"] * 12 + [f"{TURN_RIGHT} I_RUN"] * 12),
        ),
    ],
)
def test_acceptance_cases(name, command, actions, built, networks):
    assert answers(name, built[name], [command]) == answers(name, networks[name], [command]) == [actions]


def test_the_small_program_is_right_on_every_command_with_no_more_memory_than_it_needs(built):
    expected = {command: interpret(command) for command in COMMANDS}
    by_length = sorted(COMMANDS, key=lambda command: len(expected[command].split()))
    wrong = []
    for start in range(0, len(by_length), 500):
        batch = by_length[start : start + 500]
        found = answers("scan", built["scan"], batch, memory=len(expected[batch[-1]].split()))
        wrong += [c for c, actions in zip(batch, found) if actions != expected[c]]
    assert wrong == []


@pytest.mark.parametrize(("name", "count"), [("scan", 500), ("scan_shift_reduce", 300)])
def test_random_commands_are_right_in_the_whole_memory(name, count, built):
    chosen = drawn(count)
    assert answers(name, built[name], chosen) == [interpret(command) for command in chosen]


@pytest.mark.parametrize(("name", "count"), [("scan", 50), ("scan_shift_reduce", 8)])
def test_the_networks_have_the_traces_of_the_programs(name, count, built, networks):
    inputs = [MODULES[name].tokens(command) for command in drawn(count, seed=1)]
    for mine, theirs in zip(built[name].run_batch(inputs), networks[name].run_batch(inputs)):
        assert mine.difference(theirs) is None


@pytest.mark.parametrize("name", MODULES)
def test_softmax_attention_finds_the_same(name, networks):
    tokens = MODULES[name].tokens("turn opposite left twice and run right", memory=8)
    assert networks[name].run(tokens, attention="softmax") == networks[name].run(tokens)


@pytest.mark.parametrize("name", MODULES)
def test_the_longest_of_the_length_split_are_right(name, built):
    need("scan")
    pairs = sorted(load("length", "test"), key=lambda pair: -len(pair[1]))[:30]
    assert answers(name, built[name], [command for command, _ in pairs]) == [actions for _, actions in pairs]


def test_both_programs_are_as_small_as_we_say(built, networks):
    sizes = {name: network.size for name, network in networks.items()}
    assert (sizes["scan"].hidden_units, sizes["scan"].residual_dims, sizes["scan"].heads) == (58, 65, 3)
    assert sizes["scan_shift_reduce"].hidden_units <= 240
    assert {name: len(program.rules()) for name, program in built.items()} == {"scan": 867, "scan_shift_reduce": 675}


def test_both_programs_take_as_many_layers_as_we_say(built):
    longest = "jump around left thrice after run around right thrice"
    assert built["scan"].run(scan.tokens(longest)).layers == 68
    assert built["scan_shift_reduce"].run(scan_shift_reduce.tokens(longest)).layers == 124


def test_building_is_quick():
    assert calls(scan.build) < 2_000_000  # 400,000 when this was written: a third of a second


def test_the_tree_holds_the_rules_in_the_order_of_reduction(built):
    tokens = scan_shift_reduce.tokens("jump left twice and turn around right")
    trace = built["scan_shift_reduce"].run(tokens)
    first = tokens.index(scan_shift_reduce.TREE_CELL)
    nodes, directions = (np.asarray(trace[name])[-1, first : first + 5].tolist() for name in ("node", "direction"))
    s = scan_shift_reduce
    assert nodes == [0, s.S_TO, s.TWICE_RULE, s.TURN_AROUND, s.AND_RULE]  # a verb's node holds its action alone
    assert directions == [0, 0, 0, 1, 0]


@pytest.mark.parametrize("name", MODULES)
def test_commands_are_read_from_one_word_or_several(name):
    entry = get(name)
    assert entry.read(["jump twice", "after", "walk"]) == entry.read(["jump twice after walk"])


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the command is empty"),
        (["jump", "twise"], "no word 'twise'; did you mean twice"),
        (["turn"], "'turn' is no command: the end comes instead of one of: opposite, around"),
    ],
)
def test_what_is_no_command_is_refused(name, words, message):
    with pytest.raises(InputError, match=message):
        get(name).read(words)


@pytest.mark.parametrize("name", MODULES)
def test_a_command_that_does_not_fit_into_the_memory_is_refused(name):
    with pytest.raises(InputError, match="'jump thrice' stands for 3 actions, and there is memory for 2"):
        MODULES[name].tokens("jump thrice", memory=2)


@pytest.mark.parametrize("name", MODULES)
def test_samples_have_the_words_asked_for(name):
    rng = random.Random(0)
    for size in (1, 4, 9, 30):
        tokens = get(name).build().inputs.sample(rng, size)
        words = tokens[tokens.index(scan.START) + 1 : tokens.index(scan.EOS)]
        assert len(words) == min(size, 9)
        assert all(scan.NAMES[token] in WORDS for token in words)
