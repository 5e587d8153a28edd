"""The sequence tasks against answers and head positions written down in plain Python."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.tasks.sequences import TASKS, VARIANTS, sequence_task

LONGEST = 6


def balanced(prefix):
    text = "".join("()"[s] for s in prefix)
    while "()" in text:
        text = text.replace("()", "")
    return int(text == "")


EXPECTED = {
    "copy": lambda w: w,
    "repeat_copy_twice": lambda w: w + w,
    "reverse": lambda w: w[::-1],
    "flip_3rd": lambda w: [b ^ (i == 2) for i, b in enumerate(w)],
    "repeat_flip_3d": lambda w: [b ^ (i % 3 == 2) for i, b in enumerate(w)],
    "dyck_words": lambda w: [balanced(w[: i + 1]) for i in range(len(w))],
}


def laid_out(name, word):
    """One word's example in the shapes of the longest, as numpy, the batch axis gone."""
    padded = jnp.array(word + [0] * (LONGEST - len(word)))[:, None]
    found = FAST[name](padded, jnp.array([len(word)]))
    return jax.tree.map(lambda a: np.asarray(a)[:, 0], found)


FAST = {name: jax.jit(task.laid_out) for name, task in TASKS.items()}
cases = st.tuples(
    st.sampled_from(sorted(TASKS)), st.lists(st.integers(0, 7), min_size=1, max_size=LONGEST)
).map(lambda c: (c[0], [s % TASKS[c[0]].alphabet for s in c[1]]))  # fmt: skip


@given(cases)
def test_the_answer_is_what_the_task_says_and_ends_with_the_delimiter(case):
    name, word = case
    assert TASKS[name].answer(word) == [*EXPECTED[name](word), TASKS[name].alphabet]


@given(cases)
def test_an_example_asks_for_the_answer_after_the_delimiter_and_nothing_else(case):
    name, word = case
    task, found, n = TASKS[name], laid_out(name, word), len(word)
    blanks = task.steps(LONGEST) - n - 1
    assert found.symbols.tolist() == [*word, task.alphabet, *[task.alphabet + 1] * blanks]
    assert found.answers[found.answering].tolist() == task.answer(word)
    assert np.flatnonzero(found.answering).tolist() == list(range(n + 1, task.steps(n)))
    assert found.live.sum() == task.steps(n)


@given(cases)
def test_the_program_finds_what_it_answers_where_its_head_reads(case):
    """The trace is a program: what lay, before the write, where the head read in one step makes the answer of the next.

    An empty cell is the end. Two cells are read in the step in which they are written: of a word of one symbol, the
    second copy (which is why nothing is stated there), and the only bit of DyckWords, which is 0 whatever the word.
    """
    name, word = case
    task, found = TASKS[name], laid_out(name, word)
    tape, made = {}, []
    for t in range(task.steps(len(word))):
        if found.consulted[t]:
            made.append(tape.get(int(found.read[t]), task.alphabet))
        tape[int(found.write[t])] = int(found.value[t])
    if len(word) == 1 and name in ("repeat_copy_twice", "dyck_words"):
        assert found.read_known[2] == (name == "dyck_words")
        made = task.answer(word)
    stored = made[:-1]
    if "flip" in name:
        stored = EXPECTED[name](stored)
    assert [*stored, made[-1]] == task.answer(word)


@given(cases)
def test_heads_move_by_one_cell_or_jump_only_where_the_program_turns(case):
    name, word = case
    found, n = laid_out(name, word), len(word)
    live = TASKS[name].steps(n)
    steps = {"repeat_copy_twice": [1] * n + [0] + [1] * n, "dyck_words": [0] + [1] * (n + 1)}.get(name, [1] * (n + 1))
    assert np.diff(found.write[:live], prepend=0).tolist() == steps + [0] * (live - len(steps))
    moves = np.diff(found.read[:live], prepend=0)
    known = found.read_known[:live] & np.concatenate([[True], found.read_known[: live - 1]])
    turn = n if name == "dyck_words" else None  # from the depth to the first bit
    assert all(abs(move) <= 1 for t, move in enumerate(moves) if known[t] and t != turn)


def test_the_reading_head_of_copy_waits_on_cell_0_and_then_goes_along():
    found = laid_out("copy", [5, 6, 7])
    assert found.read[:7].tolist() == [0, 0, 0, 1, 2, 3, 4]
    assert found.consulted[:8].tolist() == [False] * 3 + [True] * 4 + [False]
    assert found.read_known[:8].tolist() == [True] * 7 + [False]
    assert found.write[:8].tolist() == [1, 2, 3, 4, 4, 4, 4, 4]
    assert found.value[:8].tolist() == [5, 6, 7, 8, 8, 8, 8, 8]


def test_the_reading_head_of_dyck_words_is_on_the_cell_of_the_depth_until_the_word_is_dead():
    found = laid_out("dyck_words", [0, 0, 1, 1, 1, 0])
    assert found.read[:4].tolist() == [1, 2, 1, 0]
    assert found.read_known[:14].tolist() == [True] * 4 + [False] * 2 + [True] * 7 + [False]
    assert found.read[6:13].tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_dyck_words_writes_its_bits_one_step_late_between_two_marks():
    found = laid_out("dyck_words", [0, 1, 0])
    assert found.write[:8].tolist() == [0, 1, 2, 3, 4, 4, 4, 4]
    assert found.value[:5].tolist() == [2, 0, 1, 0, 2]


def test_repeat_copy_twice_writes_the_word_once_more_behind_itself():
    found = laid_out("repeat_copy_twice", [5, 6, 7])
    assert found.write[:11].tolist() == [1, 2, 3, 3, 4, 5, 6, 6, 6, 6, 6]
    assert found.value[:11].tolist() == [5, 6, 7, 7, 5, 6, 7, 7, 7, 7, 7]
    assert found.read[2:10].tolist() == [0, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("name", "length", "corners"),
    [
        ("copy", 3, [0, 3, 4, 7]),
        ("reverse", 1, [0, 1, 2, 3]),
        ("repeat_copy_twice", 3, [0, 3, 6, 9, 10]),
        ("repeat_copy_twice", 1, [0, 1, 2, 3, 4]),
    ],
)
def test_corners_are_the_steps_of_the_paper(name, length, corners):
    assert np.flatnonzero(laid_out(name, [0] * length).corner).tolist() == corners


@pytest.mark.parametrize("name", TASKS)
def test_random_examples_have_the_lengths_asked_for_and_right_answers(name):
    task, lengths = TASKS[name], jnp.array([1, 3, 6, 6, 2])
    found = jax.tree.map(np.asarray, jax.jit(task.examples, static_argnums=2)(jax.random.key(0), lengths, LONGEST))
    for i, length in enumerate(lengths):
        word = found.symbols[:length, i].tolist()
        assert all(0 <= s < task.alphabet for s in word)
        assert found.answers[found.answering[:, i], i].tolist() == task.answer(word)


def test_dyck_words_has_balanced_and_dead_words():
    task = TASKS["dyck_words"]
    found = jax.tree.map(np.asarray, task.examples(jax.random.key(1), jnp.full(400, 6), LONGEST))
    words = [found.symbols[:6, i].tolist() for i in range(400)]
    share = np.mean([balanced(word) for word in words])
    dead = np.mean([min(np.cumsum([1 - 2 * s for s in word])) < 0 for word in words])
    assert 0.1 < share < 0.4
    assert 0.2 < dead < 0.5


def test_the_program_is_a_trace_that_prints():
    trace = sequence_task("copy").program([3, 1])
    assert trace["read"].tolist() == [-1, 0, 0, 1, 2, 3, -1]
    assert trace["output"].tolist() == [-1, -1, -1, -1, 3, 1, 8]
    assert "end" in str(trace)


def test_lengths_that_would_wrap_the_tape_are_refused_with_the_numbers():
    with pytest.raises(InputError, match=r"20 symbols take 42 steps.*on 42 cells.*Give 43 cells or more"):
        sequence_task("copy").check_cells(20, 42)
    sequence_task("copy").check_cells(20, 43)
    with pytest.raises(InputError, match=r"20 symbols take 62 steps.*Give 63"):
        sequence_task("repeat_copy_twice").check_cells(20, 43)
    with pytest.raises(InputError, match="Give 7 cells"):
        sequence_task("copy").program([1, 2], cells=4)


def test_unknown_tasks_and_symbols_are_refused_in_words():
    with pytest.raises(InputError, match="no sequence task 'sort'; there are copy, repeat_copy_twice"):
        sequence_task("sort")
    with pytest.raises(InputError, match="from 0 to 1, and this one holds 2"):
        sequence_task("flip_3rd").program([0, 2])
    with pytest.raises(InputError, match="this one is empty"):
        sequence_task("copy").program([])


DYCK = VARIANTS["dyck_words"]
parentheses = st.lists(st.integers(0, 1), min_size=1, max_size=LONGEST)


def read_as(variant, word):
    """One word's example in a reading of DyckWords, as numpy, the batch axis gone."""
    padded = jnp.array(word + [0] * (LONGEST - len(word)))[:, None]
    return jax.tree.map(lambda a: np.asarray(a)[:, 0], READ_AS[variant](padded, jnp.array([len(word)])))


READ_AS = {variant: jax.jit(task.laid_out) for variant, task in DYCK.items()}


@given(st.sampled_from(sorted(DYCK)), parentheses)
def test_every_reading_of_dyck_words_asks_for_its_answer(variant, word):
    task, found = DYCK[variant], read_as(variant, word)
    assert found.answers[found.answering].tolist() == task.answer(word)
    assert found.live.sum() == task.steps(len(word))
    late = 1 if variant.startswith("online") else len(word) + 1
    assert np.flatnonzero(found.answering)[0] == late


def test_a_forgiving_reading_accepts_what_closes_too_early():
    word = [1, 0, 0, 1]
    assert DYCK["pairs"].answer(word) == [0, 0, 0, 0, 2]
    assert DYCK["forgiving"].answer(word) == [0, 1, 0, 1, 2]


@pytest.mark.parametrize("variant", ["walks", "online_walks"])
def test_words_of_walks_are_never_negative(variant):
    words = np.asarray(DYCK[variant].words(jax.random.key(0), 10, 200))
    assert np.cumsum(1 - 2 * words, axis=0).min() == 0
    others = np.asarray(DYCK["pairs"].words(jax.random.key(0), 10, 200))
    assert np.cumsum(1 - 2 * others, axis=0).min() < 0


def test_corners_at_turns_are_where_the_reading_head_goes_back():
    word = [0, 0, 1, 1, 0, 1]
    more = read_as("turns", word).corner & ~read_as("pairs", word).corner
    assert np.flatnonzero(more).tolist() == [2, 4, 5]


@given(parentheses)
def test_the_online_program_answers_by_the_mark_under_its_reading_head(word):
    """Cell 0 is marked in the first step, and its mark removed where the word dies."""
    task, found = DYCK["online"], read_as("online", word)
    tape, made = {}, []
    for t in range(len(word)):
        made.append(int(found.read_known[t] and tape.get(int(found.read[t])) == task.alphabet))
        tape[int(found.write[t])] = int(found.value[t])
    assert made == task.answer(word)[:-1]
    known = found.read[: len(word)][found.read_known[: len(word)]]
    assert all(abs(move) == 1 for move in np.diff(known, prepend=0))


def test_a_variant_that_a_task_does_not_have_is_refused():
    with pytest.raises(InputError, match="dyck_words: variant is 'strict'; it is one of pairs, walks"):
        sequence_task("dyck_words", "strict")
    with pytest.raises(InputError, match="copy: variant is 'online'; the task has none"):
        sequence_task("copy", "online")
