import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.tasks.treebanks import (
    CLASSES,
    CLOSED_CLASSES,
    OPEN_CLASSES,
    Sentence,
    parse_conllu,
    read_conllu,
    tree_distances,
    treebank,
)
from tests.tasks.published import need
from tests.work import calls

SOCRATES = """\
# sent_id = example-1
# text = Socrates asked the student trick questions
1 Socrates Socrates PROPN NNP _ 2 nsubj _ _
2 asked ask VERB VBD _ 0 root _ _
3 the the DET DT _ 4 det _ _
4 student student NOUN NN _ 2 iobj _ _
5 trick trick NOUN NN _ 6 compound _ _
6 questions question NOUN NNS _ 2 obj _ _
"""


def tabs(lines: str) -> str:
    return "\n".join(line if line.startswith("#") else line.replace(" ", "\t") for line in lines.split("\n"))


def word_line(place: int, head: int | str, word: str = "a") -> str:
    return f"{place}\t{word}\t{word}\tNOUN\t_\t_\t{head}\tdep\t_\t_"


@st.composite
def trees(draw) -> tuple[int, ...]:
    """Heads of a random tree: every word but the first hangs on an earlier one, and then the words change places."""
    size = draw(st.integers(1, 12))
    parents = [None, *(draw(st.integers(0, i - 1)) for i in range(1, size))]
    places = draw(st.permutations(range(size)))
    heads = [0] * size
    for word, parent in enumerate(parents):
        heads[places[word]] = 0 if parent is None else places[parent] + 1
    return tuple(heads)


def sentence_of(heads: tuple[int, ...]) -> Sentence:
    filler = ("x",) * len(heads)
    return Sentence(filler, heads, filler, filler)


@given(trees())
def test_distances_are_the_lengths_of_shortest_paths(heads):
    graph = networkx.Graph()
    graph.add_nodes_from(range(1, len(heads) + 1))
    graph.add_edges_from((word, head) for word, head in enumerate(heads, start=1) if head)
    paths = dict(networkx.all_pairs_shortest_path_length(graph))
    expected = [[paths[i][j] for j in range(1, len(heads) + 1)] for i in range(1, len(heads) + 1)]
    assert tree_distances(sentence_of(heads)).tolist() == expected


@given(st.lists(st.integers(-1, 7), min_size=1, max_size=6))
def test_heads_are_refused_exactly_where_they_are_no_tree(heads):
    edges = [(word, head) for word, head in enumerate(heads, start=1) if head]
    graph = networkx.Graph(edges)
    graph.add_nodes_from(range(1, len(heads) + 1))
    is_tree = len(graph) == len(heads) and heads.count(0) == 1 and networkx.is_connected(graph)
    if is_tree:
        assert sentence_of(tuple(heads)).root == heads.index(0)
    else:
        with pytest.raises(InputError, match=r"no root|a second root|no cycle|heads are 1\.\."):
            sentence_of(tuple(heads))


@given(trees(), st.data())
def test_what_is_written_in_conllu_is_read_back(heads, data):
    letters = st.text(st.characters(blacklist_categories=("Cc", "Cs")), min_size=1, max_size=5)
    count = len(heads)
    words, relations = (tuple(data.draw(st.lists(letters, min_size=count, max_size=count))) for _ in range(2))
    classes = tuple(data.draw(st.lists(st.sampled_from(sorted(CLASSES)), min_size=count, max_size=count)))
    rows = enumerate(zip(words, classes, heads, relations), start=1)
    lines = [f"{i}\t{word}\t_\t{kind}\t_\t_\t{head}\t{name}\t_\t_" for i, (word, kind, head, name) in rows]
    text = "\n".join(["# sent_id = s-1", *lines, "", ""])
    assert parse_conllu(text + text) == [Sentence(words, heads, classes, relations, "s-1")] * 2


def test_the_papers_example_has_the_distances_that_the_paper_gives():
    (sentence,) = parse_conllu(tabs(SOCRATES))
    assert sentence.name == "example-1"
    assert sentence.classes == ("PROPN", "VERB", "DET", "NOUN", "NOUN", "NOUN")
    assert sentence.relations[sentence.root] == "root"
    distances = tree_distances(sentence)
    trick = sentence.words.index("trick")
    given = {word: distances[trick, sentence.words.index(word)] for word in ("questions", "asked", "the")}
    assert given == {"questions": 1, "asked": 2, "the": 4}


def test_multiword_tokens_and_empty_nodes_are_passed_over_but_their_sentence_is_not():
    lines = [word_line(1, 0, "I"), "2-3\tdon't" + "\t_" * 8, word_line(2, 1, "do"), word_line(3, 1, "n't")]
    lines += ["3.1\tgo" + "\t_" * 8, word_line(4, 3, "go")]
    (sentence,) = parse_conllu("\n".join(lines))
    assert sentence.words == ("I", "do", "n't", "go")
    assert sentence.heads == (0, 1, 1, 3)


def test_files_of_other_systems_and_loose_ends_are_read(tmp_path):
    path = tmp_path / "windows.conllu"
    path.write_bytes(("\ufeff\r\n\r\n" + tabs(SOCRATES).replace("\n", "\r\n") + "\r\n\r\n" + word_line(1, 0)).encode())
    assert [len(sentence) for sentence in read_conllu(path)] == [6, 1]
    path.write_text(tabs(SOCRATES), encoding="utf-8-sig")  # the mark right before the first word
    assert read_conllu(path)[0].words[0] == "Socrates"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], r"'made.conllu' has no sentence"),
        (["# only a comment", ""], "line 1: the sentence ends without a word"),
        ([word_line(1, 0), "2\tb\tb"], "line 2: 3 columns were read; a word has 10, separated by tabs"),
        (["1 a a NOUN _ _ 0 root _ _"], "line 1: 1 columns were read"),
        ([word_line(1, 0) + "\t_"], "line 1: 11 columns were read"),
        ([word_line(1, 0), word_line(3, 1)], "line 2: the ID is '3'; 2 was expected"),
        ([word_line(1, 0), "", word_line(2, 1)], "line 3: the ID is '2'; 1 was expected"),
        ([word_line(1, "_")], "line 1: 'a' has the head '_'; the seventh column has its head's ID, or 0"),
        ([word_line(1, "-1")], "line 1: 'a' has the head '-1'"),
        ([word_line(1, "²")], "line 1: 'a' has the head '²'"),
        ([word_line(1, 0).replace("NOUN", "NN")], "line 1: 'a' has the class 'NN'; there are ADJ, ADP"),
        ([word_line(1, 0, "")], "line 1: word 1 is empty"),
        (["# x", word_line(1, 0), word_line(2, 3, "dog")], r"line 3: word 2 \('dog'\) has the head 3; heads are 1..2"),
        ([word_line(1, 0), word_line(2, 0, "dog")], r"line 2: word 2 \('dog'\) is a second root, after word 1"),
        ([word_line(1, 2), word_line(2, 1)], "line 1: the sentence has no root"),
        ([word_line(1, 0), word_line(2, 2, "dog")], r"line 2: word 2 \('dog'\) is its own head"),
        (["2-3\tx" + "\t_" * 8, word_line(1, 0), word_line(2, 3), word_line(3, 2)], r"line 3: word 2 .*no cycle"),
    ],
)
def test_a_malformed_file_is_refused_with_the_line(lines, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made.conllu").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_conllu("made.conllu")


def test_a_sentence_with_too_few_heads_is_refused():
    with pytest.raises(InputError, match="a sentence of 2 words has 1 heads, 2 classes and 2 relations"):
        Sentence(("a", "b"), (0,), ("NOUN", "NOUN"), ("root", "dep"))


def test_an_unknown_treebank_or_part_is_refused():
    with pytest.raises(InputError, match="no treebank 'ewt' here; there are ud-ewt"):
        treebank("ewt")
    with pytest.raises(InputError, match="'ud-ewt' has no part 'valid'; its parts are train, dev, test, all"):
        treebank("ud-ewt", "valid")  # type: ignore[arg-type]


def test_a_missing_treebank_is_refused_with_what_to_get(tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(InputError, match=r"data get ud-ewt.*en_ewt-ud-train.conllu.*UD_English-EWT"):
        treebank()
    (tmp_path / "ud-ewt").mkdir()
    with pytest.raises(InputError, match=r"no file '.*en_ewt-ud-dev.conllu'.*data get ud-ewt.*UD_English-EWT"):
        treebank("ud-ewt", "dev")


def test_a_part_is_the_file_of_its_name_and_all_are_the_three(tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path))
    (tmp_path / "ud-ewt").mkdir()
    for part, word in (("train", "one"), ("dev", "two"), ("test", "three")):
        (tmp_path / "ud-ewt" / f"en_ewt-ud-{part}.conllu").write_text(word_line(1, 0, word))
    assert [s.words for s in treebank("ud-ewt", "dev")] == [("two",)]
    assert [s.words for s in treebank()] == [("one",), ("two",), ("three",)]


def test_open_and_closed_classes_leave_out_only_punctuation_symbols_and_the_rest():
    assert not OPEN_CLASSES & CLOSED_CLASSES
    assert {"PUNCT", "SYM", "X", "_"} == CLASSES - OPEN_CLASSES - CLOSED_CLASSES
    assert len(CLASSES) == 17 + 1


def test_english_ewt_has_the_published_numbers_of_sentences_and_is_read_with_few_calls():
    need("ud-ewt")
    parts = [treebank("ud-ewt", part) for part in ("train", "dev", "test")]
    assert calls(lambda: treebank("ud-ewt", "dev")) < 40 * sum(len(s) for s in parts[1])  # 18 for each word
    assert [len(part) for part in parts] == [12_544, 2_001, 2_077]
    everything = [sentence for part in parts for sentence in part]
    assert sum(len(s) * (len(s) - 1) // 2 for s in everything) == 3_040_242  # the note's 3.04M pairs
    assert all(sentence.name for sentence in everything)
    assert everything[0].name == "weblog-juancole.com_juancole_20051126063000_ENG_20051126_063000-0001"


def test_distances_in_english_ewt_are_whole_and_symmetric():
    need("ud-ewt")
    for sentence in treebank("ud-ewt", "dev")[:200]:
        distances = tree_distances(sentence)
        assert (distances == distances.T).all()
        assert (np.diag(distances) == 0).all()
        edges = {(i, head - 1) for i, head in enumerate(sentence.heads) if head}
        assert {(i, j) for i, j in zip(*np.nonzero(np.triu(distances == 1)))} == {(min(e), max(e)) for e in edges}
