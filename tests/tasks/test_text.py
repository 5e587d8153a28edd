"""Texts: words and lines become numbers, and files that are no texts are refused with words that help."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.tasks.text import Corpus, Vocabulary, corpus, lines, unigram_perplexity, wikitext_2
from tests.tasks.published import need

WORDS = st.lists(st.sampled_from(["a", "b", "B", "c", "<unk>", "<eos>", "ü"]), max_size=30)


def written(folder, content, name="poem.txt"):
    file = folder / name
    file.write_text(content, encoding="utf-8")
    return file


def test_every_line_ends_in_eos_and_an_empty_one_is_nothing_else(tmp_path):
    file = written(tmp_path, " The cat \n\nsat .\tHere\nlast")
    assert list(lines(file)) == [["The", "cat", "<eos>"], ["<eos>"], ["sat", ".", "Here", "<eos>"], ["last", "<eos>"]]
    assert list(lines(file, 2, 3)) == [["sat", ".", "Here", "<eos>"]]


def test_a_file_of_another_system_has_the_same_words(tmp_path):
    file = tmp_path / "windows.txt"
    file.write_bytes("The cat\r\n\r\nsat .\r\n".encode("utf-8-sig"))
    assert list(lines(file)) == [["The", "cat", "<eos>"], ["<eos>"], ["sat", ".", "<eos>"]]


@given(WORDS, st.integers(1, 4), st.integers(2, 6))
def test_a_vocabulary_keeps_the_most_frequent_words_in_order(words, minimum, size):
    vocabulary = Vocabulary.of(words, minimum=minimum, size=size)
    assert vocabulary.words[:2] == ("<unk>", "<eos>")
    others = {word: words.count(word) for word in words if word not in ("<unk>", "<eos>")}
    ordered = sorted((word for word, count in others.items() if count >= minimum), key=lambda w: (-others[w], w))
    assert list(vocabulary)[2:] == ordered[: size - 2]


@given(WORDS, WORDS)
def test_words_are_found_again_and_unknown_ones_are_unk(known, words):
    vocabulary = Vocabulary.of(known)
    numbers = vocabulary.encode(words)
    assert numbers.dtype == np.int32
    assert vocabulary.decode(numbers) == [word if word in vocabulary.words else "<unk>" for word in words]


def test_a_vocabulary_without_unk_names_the_word_that_it_lacks():
    with pytest.raises(InputError, match="'daisy' is not in the vocabulary"):
        Vocabulary(("a", "rose")).encode(["rose", "daisy"])
    assert Vocabulary(("a", "rose")).encode(["rose"]).tolist() == [1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Vocabulary(("a", "b", "a")), "'a' twice"),
        (lambda: Vocabulary.of([], minimum=0), "minimum is 0"),
        (lambda: Vocabulary.of([], size=1), "size is 1"),
        (lambda: wikitext_2("train"), "no part 'train'"),
    ],
)
def test_bad_requests_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_the_last_tenth_of_a_file_is_held_out_and_its_words_are_not_in_the_vocabulary(tmp_path):
    file = written(tmp_path, "".join(f"line {n}\n" for n in range(20)))
    found = Corpus.from_file(file)
    assert found.vocabulary.decode(found.train)[-3:] == ["line", "17", "<eos>"]
    assert found.vocabulary.decode(found.held_out) == ["line", "<unk>", "<eos>"] * 2
    assert found.name == "poem"


@pytest.mark.parametrize(("line", "known"), [("rare words here", []), ("rare words <unk>", ["rare", "words"])])
def test_words_that_occur_once_are_unknown_where_a_text_knows_no_unknown_ones(tmp_path, line, known):
    file = written(tmp_path, f"{line}\n" + "a b\n" * 20)
    assert sorted(Corpus.from_file(file, minimum=None).vocabulary.words[2:]) == ["a", "b", *known]


def test_a_text_of_its_own_can_be_held_out(tmp_path):
    train, other = written(tmp_path, "a b\na c\n"), written(tmp_path, "c d\n", "other.txt")
    found = corpus(train, held_out=other, size=4)
    assert found.vocabulary.words == ("<unk>", "<eos>", "a", "b")
    assert found.train.tolist() == [2, 3, 1, 2, 0, 1]
    assert found.held_out.tolist() == [0, 0, 1]


def test_files_that_are_no_texts_are_refused(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        corpus(tmp_path / "missing.txt")
    with pytest.raises(InputError, match="cannot be read"):
        corpus(tmp_path)
    bad = tmp_path / "latin.txt"
    bad.write_bytes(b"fine\n" * 3000 + "Gr\xfc\xdfe\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"not a text file in UTF-8: it cannot be read after line \d+"):
        corpus(bad)
    with pytest.raises(InputError, match="has 0 lines"):
        corpus(written(tmp_path, ""))
    with pytest.raises(InputError, match="has 1 lines"):
        corpus(written(tmp_path, "alone"))
    with pytest.raises(InputError, match="1 words to be tested on"):
        corpus(written(tmp_path, "a b c\n\n"))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20), st.lists(st.integers(0, 3), min_size=1, max_size=20))
def test_the_perplexity_of_frequencies_is_the_product_of_inverse_chances(train, held_out):
    chances = [(train.count(word) + 1) / (len(train) + 4) for word in held_out]
    expected = float(np.prod(chances)) ** (-1 / len(held_out))
    assert unigram_perplexity(train, held_out, 4) == pytest.approx(expected)


def test_wikitext_2_has_the_published_numbers_of_words():
    need("wikitext-2")
    found = corpus("wikitext-2")
    assert len(found.held_out) == 217_646
    assert 2_080_000 < len(found.train) <= 2_088_628  # the last number is the published file's
    assert 33_200 < len(found.vocabulary) <= 33_278
    assert (found.vocabulary.encode(["<unk>", "the", "The", "zzz"]) > 0).tolist() == [False, True, True, False]


def piped(content: bytes) -> tuple[str, int]:
    """The path of a pipe that brings the content, and its descriptor."""
    reader, writer = os.pipe()
    os.write(writer, content)
    os.close(writer)
    return f"/dev/fd/{reader}", reader


def test_a_text_from_a_pipe_is_the_same_corpus(tmp_path):
    content = "the cat sat\n" * 20
    path, reader = piped(content.encode())
    try:
        found = Corpus.from_file(path)
    finally:
        os.close(reader)
    usual = Corpus.from_file(written(tmp_path, content))
    assert found.vocabulary == usual.vocabulary
    assert np.array_equal(found.train, usual.train)
    assert np.array_equal(found.held_out, usual.held_out)


def test_a_device_is_no_text():
    for path in ("/dev/zero", "/dev/urandom"):
        with pytest.raises(InputError, match=f"'{path}' is a device, which may never end"):
            Corpus.from_file(path)


def test_a_line_without_an_end_is_refused_before_all_of_it_is_read(tmp_path):
    file = tmp_path / "sparse.txt"
    with open(file, "wb") as stream:
        stream.write(b"the cat\n")
        stream.truncate(1 << 40)
    with pytest.raises(InputError, match=r"sparse.txt', line 2 has more than 16,777,216 characters"):
        list(lines(file))
