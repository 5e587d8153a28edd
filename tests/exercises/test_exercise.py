"""Exercises as folders: what a teacher writes, how a mistake in it is told, and how a student begins."""

from pathlib import Path

import pytest

from kleene.errors import InputError
from kleene.exercises import Exercise, exercises_in, find, start
from kleene.exercises.finding import exercise_of

TEXT = """---
title: Only a
kind: automaton
level: easy
learns: repetition
define: only_a
alphabet: a b
---

Write a regular expression for the words without b.

## Stub

```python
only_a = "a"
```

## Hint

`*` repeats.

## Hint

It is `a*`.
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    made = tmp_path / "only_a"
    made.mkdir()
    (made / "exercise.md").write_text(TEXT)
    (made / "reference.py").write_text("def reference(word):\n    return 'b' not in word\n")
    return made


def test_a_folder_is_an_exercise(folder):
    found = find(folder)
    assert (found.title, found.define, found.alphabet) == ("Only a", "only_a", ("a", "b"))
    assert found.statement == "Write a regular expression for the words without b."
    assert found.hints == ("`*` repeats.", "It is `a*`.")
    assert (found.longest, found.exhaustive, found.samples) == (8, 4, 100)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("---\ntitle", "title", "begins without `key: value` lines"),
        ("title: Only a\n", "", "has no line `title: …`"),
        ("level: easy", "level: esay", "level is 'esay'; did you mean easy?"),
        ("kind: automaton", "kind: robot", "kind is 'robot'; there are RASP program"),
        ("learns: rep", "lerns: rep", "line 5: there is no key 'lerns'; did you mean learns?"),
        ("alphabet: a b", "longest: many", "longest is 'many'; it is a whole number"),
        ("alphabet: a b", "longest: 3", "longest is 3, less than exhaustive, 4"),
        ("learns: rep", "ours: few states\nlearns: rep", "ours has 'few states'; give figures such as"),
        ("alphabet: a b", "causal: maybe", "causal is 'maybe'; it is yes or no"),
        ("alphabet: a b\n", "", "has no line `alphabet: …`"),
        ("define: only_a\n", "", "needs a line `define: NAME`"),
        ("## Stub", "## Stubb", "has a section 'Stubb'"),
        ("```python", "```java", "needs one section `## Stub` with one block"),
        ("## Stub", "## Hint", "needs one section `## Stub`"),
    ],
)
def test_a_mistake_in_the_text_is_named(folder, old, new, told):
    assert old in TEXT
    (folder / "exercise.md").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(InputError) as refused:
        find(folder)
    assert told in str(refused.value)


@pytest.mark.parametrize("missing", ["exercise.md", "reference.py"])
def test_a_folder_without_one_of_the_two_files_is_no_exercise(folder, missing):
    (folder / missing).unlink()
    with pytest.raises(InputError, match=f"is no exercise: it has no {missing}"):
        find(folder)


def test_the_exercises_of_a_folder_are_listed_by_level(folder):
    harder = folder.parent / "all_a"
    harder.mkdir()
    (harder / "exercise.md").write_text(TEXT.replace("level: easy", "level: hard"))
    (harder / "reference.py").write_text("")
    assert list(exercises_in(folder.parent)) == ["only_a", "all_a"]
    for empty in (folder, folder.parent / "nowhere"):
        with pytest.raises(InputError):
            exercises_in(empty)


def test_a_text_that_is_not_utf_8_is_refused(folder):
    (folder / "exercise.md").write_bytes(b"---\n\xff")
    with pytest.raises(InputError, match="not a text in UTF-8"):
        Exercise.load(folder)


def test_the_file_to_begin_with_names_its_exercise_and_holds_the_statement(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = start("only_a")
    assert str(path) == "only_a.py"
    lines = path.read_text().splitlines()
    assert lines[0] == "# exercise: only_a"
    assert "# Write a regular expression for the words without b." in lines
    assert lines[-1] == 'only_a = "a"'
    assert exercise_of(path).folder.resolve() == folder


def test_a_file_that_is_there_is_never_overwritten(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("my work")
    with pytest.raises(InputError, match="give another name with -o"):
        start("rank", path)
    assert path.read_text() == "my work"


def test_a_folder_beside_the_file_is_found_from_elsewhere(folder, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("# exercise: only_a\n")
    monkeypatch.chdir("/")
    assert exercise_of(tmp_path / "mine.py").folder == folder


@pytest.mark.parametrize(
    "line",
    [
        "# exercise: rank",
        '"""exercise: rank"""',
        "// exercise: rank  ",
        "<!-- exercise: rank -->",
        '"""My solution.\n\nexercise: rank\n"""',
    ],
)
def test_a_file_names_its_exercise_in_one_of_its_first_lines(line, tmp_path):
    (tmp_path / "mine.py").write_text(f"{line}\nrank = 1\n")
    assert find(tmp_path / "mine.py").name == "rank"


def test_a_name_that_is_not_known_gets_a_suggestion():
    with pytest.raises(InputError, match="did you mean palindrome"):
        find("palindrom")
