import json
from collections import Counter

import pytest

from kleene.errors import InputError
from kleene.tasks import scan
from tests.tasks.published import need


@pytest.fixture
def published():
    need("scan")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A data folder of our own, with five commands."""
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path))
    folder = tmp_path / "scan"
    folder.mkdir()
    commands = ["walk", "jump left", "turn around right", "run twice and look", "look after run"]
    (folder / "tasks.txt").write_text("".join(f"IN: {c} OUT: {scan.interpret(c)}\n" for c in commands))
    return folder


def test_the_grammar_has_every_command_once():
    commands = list(scan.commands())
    assert len(commands) == len(set(commands)) == 20_910
    assert all(scan.is_command(command) for command in commands)
    assert Counter(len(command.split()) for command in commands)[9] == 20 * 20 * 2 * 4
    assert max(len(scan.interpret(command).split()) for command in commands) == scan.MOST_ACTIONS


def test_grammar_and_interpretation_agree_with_the_published_file(published):
    found = scan.load()
    assert len(found) == 20_910
    assert dict(found) == {command: scan.interpret(command) for command in scan.commands()}


@pytest.mark.parametrize(
    ("split", "train", "test"),
    [
        ("simple", 16_728, 4_182),
        ("length", 16_990, 3_920),
        ("addprim_jump", 14_670, 7_706),
        ("addprim_turn_left", 21_890, 1_208),
        ("template_around_right", 15_225, 4_476),
    ],
)
def test_the_published_splits_have_their_sizes_and_hold_commands_of_the_grammar(split, train, test, published):
    parts = {part: scan.load(split, part) for part in ("train", "test")}
    assert {part: len(pairs) for part, pairs in parts.items()} == {"train": train, "test": test}
    assert not {c for c, _ in parts["train"]} & {c for c, _ in parts["test"]}
    assert all(scan.interpret(command) == actions for command, actions in parts["test"])


def test_the_length_split_keeps_long_outputs_for_the_test(published):
    lengths = {part: {len(a.split()) for _, a in scan.load("length", part)} for part in ("train", "test")}
    assert max(lengths["train"]) == 22
    assert min(lengths["test"]) == 24


@pytest.mark.parametrize(
    ("command", "actions"),
    [
        ("jump", "I_JUMP"),
        ("turn left", "I_TURN_LEFT"),
        ("walk right", "I_TURN_RIGHT I_WALK"),
        ("turn opposite left", "I_TURN_LEFT I_TURN_LEFT"),
        ("look opposite left", "I_TURN_LEFT I_TURN_LEFT I_LOOK"),
        ("turn around right", "I_TURN_RIGHT I_TURN_RIGHT I_TURN_RIGHT I_TURN_RIGHT"),
        ("run around left", " ".join(["I_TURN_LEFT I_RUN"] * 4)),
        ("jump twice after walk", "I_WALK I_JUMP I_JUMP"),
        ("jump twice and walk", "I_JUMP I_JUMP I_WALK"),
        ("look right and turn opposite right twice", "I_TURN_RIGHT I_LOOK" + " I_TURN_RIGHT" * 4),
        (
            "run around right thrice after jump around left thrice",
            " ".join(["I_TURN_LEFT I_JUMP"] * 12 + ["I_TURN_RIGHT I_RUN"] * 12),
        ),
    ],
)
def test_a_command_stands_for_its_actions(command, actions):
    assert scan.interpret(command) == scan.interpret(command.split()) == actions


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "the command is empty.*for example: jump twice"),
        ("Jump twice", "no word 'Jump'; did you mean jump"),
        ("jump twicw", "no word 'twicw'; did you mean twice"),
        ("dance", "no word 'dance'; the words are walk, look"),
        ("turn", "'turn' is no command: the end comes instead of one of: opposite, around, left, right"),
        ("turn twice", r"'twice' \(word 2\) comes instead of one of: opposite, around, left, right"),
        ("walk opposite", "the end comes instead of one of: left, right"),
        ("walk around twice", r"'twice' \(word 3\) comes instead of one of: left, right"),
        ("walk left right", r"'right' \(word 3\) comes instead of one of: twice, thrice, and, after, the end"),
        ("walk twice thrice", r"'thrice' \(word 3\) comes instead of one of: and, after, the end"),
        ("twice walk", r"'twice' \(word 1\) comes instead of one of: walk, look, run, jump, turn"),
        ("walk and", "the end comes instead of one of: walk, look, run, jump, turn"),
        ("walk and run after jump", r"'after' \(word 4\) comes instead of one of: .*the end"),
    ],
)
def test_what_is_no_command_is_refused_with_the_word_that_is_wrong(command, message):
    assert not scan.is_command(command)
    with pytest.raises(InputError, match=message):
        scan.interpret(command)


def test_an_unknown_split_or_part_is_refused():
    with pytest.raises(InputError, match=r"no split 'legnth'.*there are all, simple, length"):
        scan.load("legnth")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'length' has no part 'dev'; its parts are train and test"):
        scan.load("length", "dev")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'all' has no part 'test'; it is one file"):
        scan.load("all", "test")


def test_files_are_found_in_the_folders_that_they_are_published_in(own):
    folder = own / "length_split"
    folder.mkdir()
    (folder / "tasks_test_length.txt").write_text("IN: jump twice OUT: I_JUMP I_JUMP\n")
    assert scan.load("length", "test") == [("jump twice", "I_JUMP I_JUMP")]
    with pytest.raises(InputError, match=r"there is no file '.*scan/tasks_train_length.txt'"):
        scan.load("length", "train")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        (
            "IN: walk OUT: I_WALK\nwalk I_WALK\n",
            "line 2: 'walk I_WALK' was read; every line is 'IN: words OUT: actions'",
        ),
        ("IN: walk\n", "line 1: 'IN: walk' was read"),
        ("IN: OUT: I_WALK\n", "line 1"),
        ("IN: walk OUT: \n", "line 1"),
        ("IN: walk OUT: I_WALK\n\n", "line 2: '' was read"),
        ("IN: walk OUT: I_FLY\n", "line 1: 'I_FLY' is not a word of SCAN"),
        ("IN: fly OUT: I_WALK\n", "line 1: 'fly' is not a word of SCAN"),
    ],
)
def test_a_malformed_file_is_refused_with_the_line(content, message, own):
    (own / "tasks.txt").write_text(content)
    with pytest.raises(InputError, match=message):
        scan.load()


def test_a_split_by_compound_divergence_gives_the_lines_it_names(own, tmp_path):
    path = tmp_path / "mcd1.json"
    path.write_text(json.dumps({"trainIdxs": [4, 0], "devIdxs": [2], "testIdxs": [1, 3]}))
    parts = scan.load_mcd(path)
    assert [[command for command, _ in parts[part]] for part in ("train", "dev", "test")] == [
        ["look after run", "walk"],
        ["turn around right"],
        ["jump left", "run twice and look"],
    ]
    assert parts["test"][0] == ("jump left", "I_TURN_LEFT I_JUMP")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("9" * 5000, "is not JSON: Exceeds the limit"),
        ("[" * 200_000, "is not JSON: it is nested too deeply"),
        ("[]", "must hold the lists trainIdxs, devIdxs, testIdxs"),
        ('{"trainIdxs": [0], "testIdxs": [1]}', "must hold the lists"),
        ('{"trainIdxs": [0], "devIdxs": 3, "testIdxs": [1]}', "must hold the lists"),
        ('{"trainIdxs": [0], "devIdxs": [5], "testIdxs": [1]}', r"devIdxs holds 5 at 0; tasks.txt has lines 0\.\.4"),
        ('{"trainIdxs": [-1], "devIdxs": [], "testIdxs": [1]}', "trainIdxs holds -1"),
        ('{"trainIdxs": [true], "devIdxs": [], "testIdxs": [1]}', "trainIdxs holds True"),
        (
            '{"trainIdxs": [1, 0], "devIdxs": [], "testIdxs": [3, 0]}',
            "testIdxs holds 0 at 1, .* in trainIdxs at 1 already",
        ),
        (
            '{"trainIdxs": [2, 4, 2], "devIdxs": [], "testIdxs": [0]}',
            "trainIdxs holds 2 at 2, .* in trainIdxs at 0 already",
        ),
    ],
)
def test_a_malformed_split_by_compound_divergence_is_refused(content, message, own, tmp_path):
    path = tmp_path / "mcd1.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        scan.load_mcd(path)


def test_a_missing_split_by_compound_divergence_is_named(own, tmp_path):
    with pytest.raises(InputError, match=r"there is no file '.*mcd9.json'"):
        scan.load_mcd(tmp_path / "mcd9.json")
