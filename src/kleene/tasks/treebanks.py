"""Sentences with their dependency trees, read from CoNLL-U files, the format of Universal Dependencies.

A word's line has ten columns, separated by tabs; ID, FORM, UPOS, HEAD and DEPREL are read. The lines of multiword
tokens (`2-3`, such as "don't") and of empty nodes (`8.1`) are skipped: a multiword token's words have their own lines,
and an empty node is no word.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Int

from kleene.data import data_file, read_text
from kleene.errors import InputError
from kleene.limits import read_count

# Universal part-of-speech tags. Punctuation, symbols and X (the rest) are neither open nor closed.
OPEN_CLASSES = frozenset({"ADJ", "ADV", "INTJ", "NOUN", "PROPN", "VERB"})
CLOSED_CLASSES = frozenset({"ADP", "AUX", "CCONJ", "DET", "NUM", "PART", "PRON", "SCONJ"})
CLASSES = OPEN_CLASSES | CLOSED_CLASSES | {"PUNCT", "SYM", "X", "_"}  # "_": not annotated

COLUMNS = 10
NOT_A_WORD = re.compile(r"[0-9]+[-.][0-9]+")  # the ID of a multiword token or an empty node
SENTENCE_NAME = re.compile(r"#\s*sent_id\s*=\s*(.*?)\s*")

Part = Literal["train", "dev", "test", "all"]
PARTS = ("train", "dev", "test")
FILES = {"ud-ewt": "en_ewt-ud-{part}.conllu"}


@dataclass(frozen=True)
class Sentence:
    """Words with their classes and their tree: heads count from 1, and the root's head is 0, as in the files.

    Heads that form no tree are refused: a head outside the sentence, no root or several, a cycle.

    >>> Sentence(("dogs", "bark"), heads=(2, 0), classes=("NOUN", "VERB"), relations=("nsubj", "root")).root
    1
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    classes: tuple[str, ...]
    relations: tuple[str, ...]
    name: str = ""  # the file's sent_id

    def __post_init__(self):
        if len({len(self.words), len(self.heads), len(self.classes), len(self.relations)}) > 1:
            raise InputError(
                f"a sentence of {len(self.words)} words has {len(self.heads)} heads, {len(self.classes)} classes and "
                f"{len(self.relations)} relations; give one of each to every word"
            )
        problem = tree_problem(self.heads)
        if problem:
            at, what = problem
            raise InputError(f"word {at} ({self.words[at - 1]!r}) {what}" if at else f"the sentence {what}")

    def __len__(self) -> int:
        return len(self.words)

    @property
    def root(self) -> int:
        """The index of the root, from 0."""
        return self.heads.index(0)


def tree_problem(heads: Sequence[int]) -> tuple[int, str] | None:
    """Which word (from 1; 0 for none in particular) keeps the heads from being a tree, and why; None for a tree."""
    roots = 0
    for word, head in enumerate(heads, start=1):
        if not 0 <= head <= len(heads):
            return word, f"has the head {head}; heads are 1..{len(heads)}, or 0 for the root"
        roots += head == 0
        if roots == 2 and head == 0:
            return word, f"is a second root, after word {list(heads).index(0) + 1}; one word has the head 0"
    if not roots:
        return 0, "has no root; one word has the head 0"
    return _cycle(heads)


def _cycle(heads: Sequence[int]) -> tuple[int, str] | None:
    met = [0] * (len(heads) + 1)  # the first word whose path to the root passes through here
    met[0] = -1
    for word in range(1, len(heads) + 1):
        at = word
        while not met[at]:
            met[at] = word
            at = heads[at - 1]
        if met[at] == word:
            return at, "is its own head, by one step or several; a tree has no cycle"
    return None


def tree_distances(sentence: Sentence) -> Int[np.ndarray, "words words"]:
    """The number of tree edges between each two words, whatever their direction.

    >>> words = "Socrates asked the student trick questions".split()
    >>> classes, relations = ("_",) * 6, ("nsubj", "root", "det", "iobj", "compound", "obj")
    >>> tree_distances(Sentence(tuple(words), (2, 0, 4, 2, 6, 2), classes, relations))[words.index("trick")]
    array([3, 2, 4, 3, 0, 1])
    """
    heads = np.array(sentence.heads, np.int64)
    # above[i, a]: whether a is word i itself or an ancestor. The last column, above the root, is dropped.
    above = np.zeros((len(heads), len(heads) + 1), np.float32)
    words, at = np.arange(len(heads)), np.arange(len(heads))
    while (at >= 0).any():
        above[words, at] = 1
        at = np.where(at >= 0, heads[at] - 1, -1)
    above = above[:, :-1]
    depths = above.sum(axis=1)
    return (depths[:, None] + depths - 2 * (above @ above.T)).astype(np.int64)


def treebank(name: str = "ud-ewt", part: Part = "all") -> list[Sentence]:
    """The sentences of a published treebank, in the order of its files; "all" is train, dev and test."""
    if name not in FILES:
        raise InputError(
            f"there is no treebank {name!r} here; there are {', '.join(FILES)}. For a file of your own use read_conllu"
        )
    if part not in (*PARTS, "all"):
        raise InputError(f"the treebank {name!r} has no part {part!r}; its parts are {', '.join(PARTS)}, all")
    parts = PARTS if part == "all" else (part,)
    return [sentence for one in parts for sentence in read_conllu(data_file(name, FILES[name].format(part=one)))]


def read_conllu(path: str | os.PathLike) -> list[Sentence]:
    """The sentences of a CoNLL-U file; an error names the malformed line."""
    return parse_conllu(read_text(Path(path)), str(path))


def parse_conllu(text: str, source: str = "the text") -> list[Sentence]:
    """The sentences of a text in CoNLL-U; errors name the source and the line.

    >>> lines = "1 dogs dog NOUN _ _ 2 nsubj _ _\\n2 bark bark VERB _ _ 0 root _ _\\n".replace(" ", "\\t")
    >>> parse_conllu(lines)[0].heads
    (2, 0)
    """
    sentences = [_sentence(lines, source) for lines in _blocks(text)]
    if not sentences:
        raise InputError(f"{source!r} has no sentence; a CoNLL-U file has a line of ten columns for every word")
    return sentences


def _blocks(text: str) -> Iterator[list[tuple[int, str]]]:
    """The numbered lines of each sentence; an empty line or the end of the file ends a sentence."""
    lines = []
    for number, line in enumerate(text.split("\n"), start=1):  # splitlines() would also split inside words
        if line and not line.isspace():
            lines.append((number, line))
        elif lines:
            yield lines
            lines = []
    if lines:
        yield lines


def _sentence(lines: list[tuple[int, str]], source: str) -> Sentence:
    name, rows, numbers = "", [], []
    for number, line in lines:
        if line.startswith("#"):
            found = SENTENCE_NAME.fullmatch(line)
            name = found[1] if found else name
            continue
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            raise _refusal(source, number, f"{len(columns)} columns were read; a word has {COLUMNS}, separated by tabs")
        if NOT_A_WORD.fullmatch(columns[0]):
            continue
        rows.append(_row(columns, len(rows) + 1, source, number))
        numbers.append(number)
    if not rows:
        raise _refusal(source, lines[-1][0], "the sentence ends without a word; words come after the comments")
    words, classes, heads, relations = zip(*rows)
    problem = tree_problem(heads)
    if problem:
        at, what = problem
        who = f"word {at} ({words[at - 1]!r})" if at else "the sentence"
        raise _refusal(source, numbers[at - 1] if at else numbers[0], f"{who} {what}")
    return Sentence(words, heads, classes, relations, name)


def _row(columns: list[str], place: int, source: str, number: int) -> tuple[str, str, int, str]:
    """The word of a line, its class, head and relation."""
    order, word, _, kind, _, _, head, relation, _, _ = columns
    if order != str(place):
        raise _refusal(source, number, f"the ID is {order!r}; {place} was expected, because IDs count the words from 1")
    if not word:
        raise _refusal(source, number, f"word {place} is empty; the second column has the word")
    if kind not in CLASSES:
        raise _refusal(source, number, f"{word!r} has the class {kind!r}; there are {', '.join(sorted(CLASSES))}")
    place_of_head = read_count(head)
    if place_of_head is None:
        raise _refusal(source, number, f"{word!r} has the head {head!r}; the seventh column has its head's ID, or 0")
    return word, kind, place_of_head, relation


def _refusal(source: str, number: int, problem: str) -> InputError:
    return InputError(f"{source!r}, line {number}: {problem}")
