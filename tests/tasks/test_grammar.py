from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.tasks import grammar, lexicon
from kleene.tasks.treebanks import CLASSES, CLOSED_CLASSES, OPEN_CLASSES, Sentence, parse_conllu, tree_distances
from tests.work import calls

SENTENCES = grammar.sentences(2_000, seed=1)
SINGULAR_NOUNS = {forms.singular for forms in lexicon.nouns(" ".join(lexicon.NOUNS.values()))}
VERBS = " ".join([*lexicon.INTRANSITIVE.values(), *lexicon.TRANSITIVE.values(), lexicon.GIVING, lexicon.SAYING])
SINGULAR_VERBS = {forms.singular for forms in lexicon.verbs(f"{VERBS} {lexicon.WANTING}")} | {"is", "was", "does"}
PLURAL_VERBS = {forms.plural for forms in lexicon.verbs(f"{VERBS} {lexicon.WANTING}")} | {"are", "were", "do"}
PAST = {forms.past for forms in lexicon.verbs(f"{VERBS} {lexicon.WANTING}")} | {"did"}


def dependents(sentence: Sentence, head: int, relation: str) -> list[int]:
    return [i for i, (h, r) in enumerate(zip(sentence.heads, sentence.relations)) if h == head + 1 and r == relation]


def is_plural(sentence: Sentence, subject: int) -> bool:
    """Whether a subject is plural, by its words alone."""
    if sentence.words[subject] in ("who", "that"):  # as the noun of the relative clause
        return sentence.words[sentence.heads[sentence.heads[subject] - 1] - 1] not in SINGULAR_NOUNS
    if dependents(sentence, subject, "conj"):
        return True
    if sentence.classes[subject] == "NOUN":
        return sentence.words[subject] not in SINGULAR_NOUNS
    return sentence.words[subject] in ("they", "we")


def agreeing_words(sentence: Sentence, head: int) -> Iterator[int]:
    """The words that show a subject's number: verbs, or what stands before them."""
    joined = [other for other in dependents(sentence, head, "conj") if not dependents(sentence, other, "nsubj")]
    for verb in (head, *joined):
        helpers = dependents(sentence, verb, "aux") + dependents(sentence, verb, "cop")
        yield helpers[0] if helpers else verb


def test_subjects_and_verbs_agree_in_number_also_where_they_are_far_apart():
    apart = Counter()
    silent = set(lexicon.MODALS.split()) | (PAST - SINGULAR_VERBS - PLURAL_VERBS)  # they show no number
    for sentence in SENTENCES:
        for subject in (i for i, relation in enumerate(sentence.relations) if relation == "nsubj"):
            for verb in agreeing_words(sentence, sentence.heads[subject] - 1):
                shown = sentence.words[verb]
                agreeing = silent | (PLURAL_VERBS if is_plural(sentence, subject) else SINGULAR_VERBS)
                assert shown in agreeing, (shown, " ".join(sentence.words))
                apart[verb - subject] += shown not in silent
    assert sum(count for distance, count in apart.items() if distance > 4) > 100


@given(st.integers(0, 2**40))
def test_any_seed_gives_trees_of_known_words_and_classes(seed):
    words = set(grammar.vocabulary())
    for sentence in grammar.sentences(5, seed=seed):
        assert 3 <= len(sentence) <= 30
        assert set(sentence.words) <= words
        assert set(sentence.classes) <= CLASSES
        assert (sentence.words[-1], sentence.relations[-1], sentence.heads[-1]) == (".", "punct", sentence.root + 1)
        assert sentence.relations.count("root") == 1


def test_sentences_can_be_written_and_read_as_a_treebank():
    rows = [zip(s.words, s.classes, s.heads, s.relations) for s in SENTENCES[:50]]
    lines = [
        [f"{i}\t{word}\t_\t{kind}\t_\t_\t{head}\t{name}\t_\t_" for i, (word, kind, head, name) in enumerate(row, 1)]
        for row in rows
    ]
    assert parse_conllu("\n\n".join("\n".join(sentence) for sentence in lines)) == SENTENCES[:50]


def test_function_words_hang_on_what_they_belong_to():
    wanted = {"det": {"NOUN"}, "amod": {"NOUN"}, "case": {"NOUN", "PROPN", "PRON"}, "aux": {"VERB"}, "cop": {"ADJ"},
              "obj": {"VERB"}, "acl:relcl": {"NOUN"}, "nmod": {"NOUN"}, "obl": {"VERB"}, "compound": {"NOUN"},
              "nummod": {"NOUN"}, "xcomp": {"VERB"}, "ccomp": {"VERB"}, "iobj": {"VERB"},
              "cc": {"NOUN", "VERB", "ADJ"}}  # fmt: skip
    found = defaultdict(set)
    for sentence in SENTENCES:
        for relation, head in zip(sentence.relations, sentence.heads):
            if head:
                found[relation].add(sentence.classes[head - 1])
    assert wanted.keys() <= found.keys()
    for relation, classes in wanted.items():
        assert found[relation] <= classes, relation


def test_articles_fit_the_next_word():
    for sentence in SENTENCES:
        for word, following in zip(sentence.words, sentence.words[1:]):
            assert word != "a" or following[0] not in "aeiou"
            assert word != "an" or following[0] in "aeiou"


def test_distance_in_the_tree_and_distance_in_the_sentence_come_apart():
    cases = Counter()
    for sentence in SENTENCES:
        distances = tree_distances(sentence)
        for i in range(len(sentence)):
            cases.update((j - i, int(distances[i, j])) for j in range(i + 1, len(sentence)))
    for apart in range(2, 9):  # at each distance there are enough pairs for a mean, close in the tree and far
        assert all(cases[apart, edges] >= 100 for edges in (1, 2, 3, 4, 5)), apart


def test_open_and_closed_classes_are_both_common():
    counts = Counter(word_class for sentence in SENTENCES for word_class in sentence.classes)
    total = counts.total()
    assert sum(counts[c] for c in OPEN_CLASSES) > 0.3 * total
    assert sum(counts[c] for c in CLOSED_CLASSES) > 0.3 * total


def test_a_seed_gives_the_same_sentences_and_another_seed_others():
    assert grammar.sentences(20, seed=1) == SENTENCES[:20]
    assert grammar.sentences(20, seed=2) != SENTENCES[:20]


def test_a_text_has_whole_sentences_just_enough_of_every_word_and_is_written_in_a_moment():
    assert calls(lambda: grammar.text(10_000, seed=3)) < 40 * 10_000  # 18 for each word: a second for 200,000
    text = grammar.text(200_000, seed=3)
    lines = text.splitlines()
    words = text.split()
    assert len(words) - len(lines[-1].split()) < 200_000 <= len(words)
    assert all(line.endswith(" .") for line in lines)
    assert [tuple(line.split()) for line in lines[:20]] == [s.words for s in grammar.sentences(20, seed=3)]
    assert set(words) == set(grammar.vocabulary())
    counts = np.array(sorted(Counter(words).values()))
    assert counts[0] < 50 < 5_000 < counts[-1]  # some words are rare, some are common


def test_sizes_that_make_no_sense_are_refused():
    assert grammar.sentences(0) == []
    with pytest.raises(InputError, match="-1 sentences were asked for; ask for 0 or more"):
        grammar.sentences(-1)
    with pytest.raises(InputError, match="a text of 0 words was asked for; ask for 1 or more"):
        grammar.text(0)
