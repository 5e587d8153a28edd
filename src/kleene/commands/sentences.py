"""Sentences on the command line: a text, with its tree or without, or one of a treebank file."""

import os

from kleene.counts import read_count
from kleene.errors import InputError


def read_sentence(
    text: str | None, *, heads: str | None, conllu: str | None
) -> tuple[str | list[str], list[int] | None]:
    """The text or the words of a sentence, and the heads of its words (from 1, the root's is 0) if a tree is given.

    >>> read_sentence("dogs bark", heads="2 0", conllu=None)
    ('dogs bark', [2, 0])
    """
    if (text is None) == (conllu is None):
        raise InputError("give a TEXT to explain, or --conllu FILE:N for a sentence of a treebank file, and not both")
    if conllu is not None:
        if heads is not None:
            raise InputError("--conllu brings its own tree; leave out --heads")
        return _from_treebank(conllu)
    assert text is not None
    if not text.strip():
        raise InputError("the text is empty; give a sentence of one word or more")
    return text, None if heads is None else _read_heads(heads)


def _from_treebank(name: str) -> tuple[list[str], list[int]]:
    """The sentence of FILE:N, N counted from 1; the first one of FILE."""
    from kleene.tasks.treebanks import read_conllu

    file, _, number = name.rpartition(":")
    if not file or not (number.isascii() and number.isdigit()) or os.path.exists(name):
        file, number = name, "1"
    found = read_conllu(file)
    place = read_count(number)
    if place is None or not 1 <= place <= len(found):
        raise InputError(f"{file!r} has {len(found)} sentences, and no sentence {number}; they are counted from 1")
    sentence = found[place - 1]
    return list(sentence.words), list(sentence.heads)


def _read_heads(text: str) -> list[int]:
    from kleene.tasks.treebanks import tree_problem

    parts = text.replace(",", " ").split()
    heads = [head for head in map(read_count, parts) if head is not None]
    if len(heads) < len(parts) or not parts:
        raise InputError(
            f"--heads is {text!r}; give for every word the number of its head, counted from 1, and 0 for the root"
        )
    problem = tree_problem(heads)
    if problem:
        at, what = problem
        raise InputError(f"--heads is no tree: {f'word {at}' if at else 'the sentence'} {what}")
    return heads
