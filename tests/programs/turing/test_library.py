from itertools import pairwise

import pytest

from kleene.errors import InputError
from kleene.programs.automata.library import words
from kleene.programs.turing.library import BEAVER, BEAVER_ROOM, busy_beaver_4, entries, get, ping_pong_word, walk_right
from tests.programs.turing.naive import naive_run

SHELF = pytest.mark.parametrize("entry", entries().values(), ids=list(entries()))


@SHELF
def test_every_machine_gives_the_verdicts_that_its_entry_promises(entry):
    machine = entry.build()
    assert machine.name == entry.name
    for word, verdict in entry.cases:
        done = machine.run(word)
        expected, configurations = naive_run(machine, word, 10_000)
        assert done.verdict == verdict == expected
        assert list(done.configurations[:200]) == configurations[:200]


@SHELF
def test_every_machine_decides_its_language_and_leaves_what_it_should(entry):
    machine = entry.build()
    longest = {1: 20, 2: 7, 3: 6}.get(len(machine.input_alphabet), 1)
    for word in words(machine.input_alphabet, longest):
        if entry.reference is not None:
            assert machine.accepts(word) == entry.reference(word)
        if entry.leaves is not None:
            assert machine.run(word).tape == entry.leaves(word)


def test_sipsers_machine_takes_the_steps_of_the_chapter():
    machine = get("sipser").build()
    done = {n: machine.run("1" * n) for n in (*range(9), 16)}
    when = [f"{run.verdict[0].upper()}{n + 1 + run.steps}" for n, run in done.items()]
    assert when == ["R2", "A4", "A10", "R8", "A26", "R12", "R26", "R16", "A66", "A162"]
    eleven = done[2].configurations
    assert [c.state for c in eleven] == ["q0", "q1", "q2", "q4", "q4", "q1", "q1", "q5"]
    assert [c.head for c in eleven] == [0, 1, 2, 1, 0, 1, 2, 3]


def test_palindromes_take_the_steps_of_the_note():
    machine = get("palindrome").build()
    done = {word: machine.run(word) for word in ("abba", "abab", "")}
    assert [f"{run.verdict[0].upper()}{len(word) + 1 + run.steps}" for word, run in done.items()] == [
        "A20",
        "R11",
        "A2",
    ]


def test_increment_turns_47_into_48():
    assert get("increment").build().run("111101").tape == "000011"


@pytest.mark.parametrize("cells", [1, 2, 3, 4])
def test_a_walk_to_the_right_accepts_after_as_many_steps(cells):
    done = walk_right(cells).run("")
    assert (done.verdict, done.steps, done.head) == ("accept", cells, cells)


def test_the_busy_beaver_does_what_it_does_on_a_tape_without_ends():
    tape, state, head, steps, leftmost = {}, "A", 0, 0, 0
    while state != "halt":
        state, tape[head], move = BEAVER[state, tape.get(head, "_")]
        head += 1 if move == "R" else -1
        steps, leftmost = steps + 1, min(leftmost, head)
    assert (steps, list(tape.values()).count("1"), leftmost) == (107, 13, -BEAVER_ROOM)
    done = busy_beaver_4().run("")
    assert done.verdict == "accept"
    assert done.steps == BEAVER_ROOM + 107
    assert done.tape == "".join(tape[cell] for cell in sorted(tape))
    assert done.tape.count("1") == 13
    heads = [c.head for c in done.configurations]
    assert all(a != b for a, b in pairwise(heads)), "it never bumps into the left end"


def test_ping_pong_runs_between_its_marks_for_ever():
    done = get("ping_pong").build().run(ping_pong_word(6), max_steps=1000)
    assert (done.verdict, done.tape) == ("running", "x1111x")
    assert {c.head for c in done.configurations} == set(range(6))
    assert len(get("ping_pong").build().states) == 4


def test_what_the_shelf_does_not_have_gets_a_hint():
    with pytest.raises(InputError, match="no machine 'palindromes' on the shelf; did you mean palindrome"):
        get("palindromes")
    with pytest.raises(InputError, match="there are sipser"):
        get("zzz")
    with pytest.raises(InputError, match="give 1 cell or more"):
        walk_right(0)
    with pytest.raises(InputError, match="two marks need 2 cells"):
        ping_pong_word(1)
