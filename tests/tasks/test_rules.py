from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.tasks.rules import RuleCorpus, RuleSettings, RuleText, occurrences, rule_corpus


def check_rules(text: RuleText, types: int, tokens: int, rules: int) -> Counter:
    """The text is what it says, by a plain walk over its tokens; how often each scaffold stands in a rule."""
    found, symbols = Counter(), text.tokens.tolist()
    assert len(symbols) == tokens
    assert min(symbols) >= 0
    assert max(symbols) == types + 1
    opens = [i for i, symbol in enumerate(symbols) if symbol == types]
    assert opens == text.opens.tolist()
    assert [i for i, symbol in enumerate(symbols) if symbol == types + 1] == [i + text.length + 1 for i in opens]
    assert len(opens) == rules
    for start in opens:
        inside = tuple(symbols[start + 1 : start + 1 + text.length])
        assert max(inside) < types  # no other rule, nor a part of one, lies inside
        found[inside] += 1
    return found


def phrase_counts(text: RuleText, wanted: set) -> Counter:
    """How often each phrase stands anywhere in the text, overlaps included."""
    symbols = text.tokens.tolist()
    phrases = zip(*(symbols[i:] for i in range(text.length)))
    return Counter(phrase for phrase in phrases if phrase in wanted)


def check_corpus(corpus: RuleCorpus) -> None:
    sizes = corpus.settings
    scaffolds = set(map(tuple, corpus.scaffolds.tolist()))
    assert len(scaffolds) == sizes.scaffolds

    in_rules = check_rules(corpus.train, sizes.types, sizes.tokens, sizes.rules)
    assert set(in_rules) == scaffolds
    assert max(in_rules.values()) - min(in_rules.values()) <= 1
    outside = sizes.copies if sizes.familiar else 0
    assert phrase_counts(corpus.train, scaffolds) == {phrase: n + outside for phrase, n in in_rules.items()}

    in_rules = check_rules(corpus.in_domain, sizes.types, sizes.test_tokens, sizes.test_rules)
    assert set(in_rules) == scaffolds
    assert phrase_counts(corpus.in_domain, scaffolds) == in_rules

    check_rules(corpus.out_domain, sizes.types, sizes.test_tokens, sizes.test_rules)
    assert not phrase_counts(corpus.out_domain, scaffolds)


settings = st.builds(
    lambda length, familiar, scaffolds, extra, types, copies, room: RuleSettings(
        length, familiar, rules=scaffolds + extra, types=types, scaffolds=scaffolds, copies=copies,
        tokens=(scaffolds + extra) * (length + 2) + familiar * scaffolds * copies * length + room,
        test_rules=scaffolds + extra, test_tokens=(scaffolds + extra) * (length + 2) + room,
    ),
    st.integers(1, 5), st.booleans(), st.integers(1, 5), st.integers(0, 7), st.integers(20, 40), st.integers(1, 9),
    st.integers(0, 300),
)  # fmt: skip


@given(settings, st.integers(0, 2**32))
def test_a_corpus_has_exactly_the_rules_and_scaffolds_that_its_settings_say(sizes, seed):
    check_corpus(rule_corpus(sizes, seed=seed))


@pytest.mark.parametrize(("length", "familiar"), [(2, True), (8, True), (8, False)])
def test_a_corpus_of_the_papers_size_is_exact(length, familiar):
    corpus = rule_corpus(RuleSettings(length, familiar), seed=3)
    check_corpus(corpus)
    assert len(corpus.vocabulary) == 1_002


def test_counts_are_exact_even_where_copies_stand_side_by_side():
    # Of 25 phrases three are scaffolds, and the training text is nothing but rules and copies.
    sizes = RuleSettings(2, True, rules=6, types=5, scaffolds=3, copies=20, tokens=6 * 4 + 120, test_rules=9,
                         test_tokens=60)  # fmt: skip
    for seed in range(20):
        check_corpus(rule_corpus(sizes, seed=seed))


@given(st.lists(st.integers(0, 2), max_size=30), st.sets(st.tuples(*[st.integers(0, 2)] * 3), min_size=1))
def test_phrases_are_found_where_comparing_every_place_finds_them(tokens, phrases):
    phrases = sorted(phrases)
    places, which = occurrences(np.array(tokens, np.int32), np.array(phrases, np.int32))
    found = [(i, phrases.index(tuple(tokens[i : i + 3]))) for i in range(28) if tuple(tokens[i : i + 3]) in phrases]
    assert list(zip(places.tolist(), which.tolist())) == found


def test_the_close_symbol_is_read_before_it_is_consumed():
    text = rule_corpus(RuleSettings.quick(4)).in_domain
    assert (text.tokens[text.closes] == 101).all()
    assert (text.tokens[text.reads] == text.windows[:, -2]).all()
    assert (text.windows[:, 0] == 100).all()
    assert (text.windows[:, -1] == 101).all()


def test_the_familiar_and_the_unfamiliar_corpus_of_a_seed_differ_in_the_training_text_only():
    plain, familiar = (rule_corpus(RuleSettings.quick(4, familiar), seed=5) for familiar in (False, True))
    assert (plain.scaffolds == familiar.scaffolds).all()
    assert (plain.in_domain.tokens == familiar.in_domain.tokens).all()
    assert (plain.out_domain.tokens == familiar.out_domain.tokens).all()
    assert (plain.train.tokens != familiar.train.tokens).any()


def test_a_seed_gives_the_same_corpus_and_another_seed_another():
    first, again, other = (rule_corpus(RuleSettings.quick(2, True), seed=seed) for seed in (7, 7, 8))
    assert (first.train.tokens == again.train.tokens).all()
    assert (first.scaffolds != other.scaffolds).any()
    assert (first.train.tokens != other.train.tokens).any()


def test_the_other_tokens_are_uniform_and_the_rules_lie_anywhere():
    corpus = rule_corpus(RuleSettings.quick(2), seed=11)
    counts = np.bincount(corpus.train.tokens[corpus.train.tokens < 100], minlength=100)
    assert counts.sum() == 50_000 - 2 * 500
    assert counts.min() > 390  # 480 on average, and a deviation of about 22
    assert np.median(corpus.train.opens) == pytest.approx(25_000, abs=5_000)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"length": 16, "familiar": True}, r"k = 16 does not fit: 1,000 rules of 18 tokens and 100 scaffolds × 1,000 "
         r"copies of 16 tokens are 1,618,000 tokens, and `tokens` is 1,000,000\. Take .*fewer `rules` or `copies`"),
        ({"length": 999}, r"k = 999 does not fit: 1,000 rules of 1001 tokens are 1,001,000 tokens"),
        ({"length": 8, "test_tokens": 100}, r"500 rules of 10 tokens are 5,000 tokens, and `test_tokens` is 100"),
        ({"length": 0}, "length is 0; give a whole number, 1 or more"),
        ({"rules": -1}, "rules is -1"),
        ({"tokens": 1e6}, "tokens is 1000000.0"),
        ({"rules": 10}, "100 scaffolds cannot all appear in 10 rules of the training text"),
        ({"test_rules": 99}, "100 scaffolds cannot all appear in 1,000 rules of the training text and 99 of a test"),
        ({"length": 1, "types": 100}, "100 types make 100 phrases of 1 tokens, and 100 scaffolds must leave some"),
    ],
)  # fmt: skip
def test_settings_that_do_not_fit_are_refused_with_what_to_change(changes, message):
    with pytest.raises(InputError, match=message):
        replace(RuleSettings(2), **changes)


def test_a_corpus_that_has_no_room_for_its_scaffolds_is_refused():
    sizes = RuleSettings(1, False, rules=3, types=4, scaffolds=3, tokens=5_000, test_rules=3, test_tokens=9)
    check_corpus(rule_corpus(sizes))  # one type is left for all the rest
    crowded = RuleSettings(2, True, rules=3, types=2, scaffolds=3, copies=30, tokens=300, test_rules=3, test_tokens=99)
    with pytest.raises(InputError, match="3 scaffolds of 2 tokens from 2 types also arise where two of them stand"):
        rule_corpus(crowded)


def test_a_text_whose_every_phrase_would_be_a_scaffold_is_refused():
    # Of the four phrases of two types one is left. A text can be made of it where it is 0 0 or 1 1, and only there.
    sizes = RuleSettings(2, rules=3, types=2, scaffolds=3, tokens=300, test_rules=3, test_tokens=99)
    made = refused = 0
    for seed in range(12):
        try:
            check_corpus(rule_corpus(sizes, seed=seed))
            made += 1
        except InputError as error:
            refused += "3 scaffolds of 2 tokens from 2 types cannot be kept out of the rest" in str(error)
    assert made + refused == 12
    assert made
    assert refused


def test_every_rule_may_have_a_scaffold_of_its_own():
    sizes = RuleSettings(2, rules=300, types=100, scaffolds=300, tokens=5_000, test_rules=300, test_tokens=2_000)
    check_corpus(rule_corpus(sizes))
