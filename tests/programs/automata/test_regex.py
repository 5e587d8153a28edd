import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import ProgramError
from kleene.programs.automata import DFA
from kleene.programs.automata.library import words
from kleene.programs.automata.regex import from_regex
from tests.work import calls


def bracketed(inner):
    """Larger expressions from smaller ones, in the syntax that Python's `re` shares."""
    groups = inner.map(lambda e: f"({e})")
    repeated = st.tuples(
        groups | atoms, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,1}", "{2,}", "{,2}", "{0}"])
    )
    return (
        st.lists(inner, min_size=1, max_size=3).map("".join)
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: "(" + "|".join(parts) + ")")
        | repeated.map("".join)
    )


atoms = st.sampled_from(["a", "b", "c", ".", "()", "[ab]", "[^a]", "[a-c]", "[^ab]", "(?:a|b)", "(|a)"])
regexes = st.recursive(atoms, bracketed, max_leaves=8)


@given(regexes)
def test_an_expression_matches_the_words_that_pythons_re_matches(regex):
    dfa = DFA.from_regex(regex, alphabet="abc")
    tried = list(words(("a", "b", "c"), 5))
    # Python writes {,2} only since 3.13 in all places; {0,2} says the same.
    pattern = re.compile(regex.replace("{,", "{0,"))
    assert dfa.accepts_batch(tried).tolist() == [pattern.fullmatch(word) is not None for word in tried]


anchored = st.recursive(atoms | st.sampled_from(["^", "$"]), bracketed, max_leaves=8)


@given(anchored | st.lists(anchored, max_size=3).map(lambda parts: f"^{''.join(parts)}$"))
def test_anchors_mean_what_they_mean_to_pythons_re_or_are_refused(regex):
    dfa, message = None, ""
    try:
        dfa = DFA.from_regex(regex, alphabet="abc")
    except ProgramError as error:
        message = str(error)
    if dfa is None:
        assert re.search(r"'[\^$]' is the|no symbol to repeat|second repetition", message)
        return
    tried = list(words(("a", "b", "c"), 4))
    pattern = re.compile(regex.replace("{,", "{0,"))
    assert dfa.accepts_batch(tried).tolist() == [pattern.fullmatch(word) is not None for word in tried]


@pytest.mark.parametrize(
    "regex", ["^a*$", "^(ab|b)*", "b+$", "^$", "^a|b$", "(^a|b$)", "((^a)?b)$", "^^a$$", "(?:^)(a$)", "$^"]
)
def test_anchors_at_the_ends_of_a_word_change_nothing(regex):
    bare = regex.replace("^", "").replace("$", "")
    assert DFA.from_regex(regex, alphabet="ab") == DFA.from_regex(bare, alphabet="ab")


@given(regexes)
def test_the_states_are_named_in_the_order_of_a_search_with_the_dead_state_last(regex):
    dfa = DFA.from_regex(regex, alphabet="abc")
    assert dfa.states == tuple(f"q{n}" for n in range(len(dfa.states)))
    assert dfa.minimise() == dfa
    alive = [state for state in dfa.states if state not in dfa.dead]
    assert dfa.states[: len(alive)] == tuple(alive)
    assert dfa.start == "q0"


def test_the_alphabet_is_what_the_expression_names_or_what_is_given():
    assert DFA.from_regex("(1|01)*").alphabet == ("0", "1")
    assert DFA.from_regex("b|a", alphabet="bac").alphabet == ("b", "a", "c")
    assert DFA.from_regex("a.", alphabet="abc").accepts("ac")
    assert DFA.from_regex("[a-d]").alphabet == ("a", "b", "c", "d")


@pytest.mark.parametrize("empty", ["ε", "()", "a{0}", "a|ε", "|a", "(a|)", "a*"])
def test_the_empty_word_can_be_written_in_many_ways(empty):
    assert DFA.from_regex(empty, alphabet="ab").accepts("")
    assert not DFA.from_regex(empty, alphabet="ab").accepts("b")


def test_the_empty_expression_is_the_empty_word():
    assert [w for w in words(("a",), 3) if DFA.from_regex("", alphabet="a").accepts(w)] == [""]


def test_epsilon_is_a_symbol_where_the_alphabet_has_it():
    assert DFA.from_regex("ε", alphabet="εa").accepts("ε")
    assert not DFA.from_regex("ε", alphabet="εa").accepts("")


@pytest.mark.parametrize(
    "symbol", ["|", "*", "+", "?", "{", "}", "(", ")", "[", "]", ".", "\\", "-", "&", "^", "$", "#", " "]
)
def test_any_character_can_be_a_symbol(symbol):
    assert DFA.from_regex(f"(\\{symbol})+x").accepts(f"{symbol}{symbol}x")
    assert DFA.from_regex(f"[\\{symbol}]x").accepts(f"{symbol}x")


@pytest.mark.parametrize(
    ("regex", "message"),
    [
        ("(ab", r"'\(ab' cannot be read: there is a \( that is never closed at position 0"),
        ("ab)", r"there is no partner for '\)' .* at position 2"),
        ("*a", r"there is nothing to repeat before '\*' .* at position 0"),
        ("a|*", r"nothing to repeat .* at position 2"),
        ("a**", r"a second repetition '\*' .* at position 2"),
        ("a+?", r"a second repetition"),
        ("a{2,1}", r"asks for at least 2 and at most 1 at position 1"),
        ("a{x}", r"\{ is not followed by"),
        ("a{", r"\{ is not followed by"),
        ("a{,}", r"\{ is not followed by"),
        ("{2}", r"nothing to repeat"),
        ("a}", r"no partner for '}'"),
        ("[ab", r"there is a \[ that is never closed"),
        ("a]", r"no partner for ']'"),
        ("[]", r"\[\] names no symbol"),
        ("[b-a]", r"b-a runs backwards"),
        ("\\d", r"\\d is not known"),
        ("a\\", r"\\ is not known"),
        ("(?=a)", r"an automaton cannot do"),
        ("", r"names no symbol; say what words are made of: alphabet="),
        (".", r"names no symbol"),
        ("(" * 5000 + "a" + ")" * 5000, r"nests parentheses too deeply"),
        ("((a{99}){99}){99}", r"more than 20,000 places"),
        ("a{20001}", r"a repetition of more than 20000 times is asked for at position 1"),
        ("a{2," + "9" * 6000 + "}", r"a repetition of more than 20000 times"),
        ("a^b", r"'\^' is the beginning of the word, but there may be symbols before it .*\\\^ .* at position 1"),
        ("a$b", r"'\$' is the end of the word, but there may be symbols after it .*\\\$ .* at position 1"),
        ("a*^b", r"'\^' is the beginning .* at position 2"),
        ("(^a)*", r"'\^' is the beginning .* at position 1"),
        ("(a$)+", r"'\$' is the end .* at position 2"),
        ("^*", r"no symbol to repeat before '\*' at position 1"),
        ("[\x00-\U0010ffff]", r"a class names more than 10,000 symbols at position 0"),
        ("a[^b\u0100-\uffff]", r"a class names more than 10,000 symbols at position 1"),
        ("[\u0100-\u2000][\u3000-\u5000]", r"more than 10,000 different symbols at position 5"),
        ("[\u0100-\u2000]{200}", r"more than 1,000,000 symbols in all its places"),
        ("(" + "[\u0100-\u1000]|" * 80 + "a)*", r"more than 20,000,000 ways from place to place"),
        ("a" * 500 + "(", r"a{200}'… cannot be read"),
        (7, r"the regular expression is 7, and a string was expected"),
    ],
)
def test_an_expression_that_does_not_parse_is_shown_with_the_place(regex, message):
    with pytest.raises(ProgramError, match=message):
        DFA.from_regex(regex)


def test_an_alphabet_of_all_characters_is_refused():
    with pytest.raises(ProgramError, match="the alphabet has 1,114,112 symbols, and 10,000 is the most"):
        DFA.from_regex("[^a].*", alphabet=map(chr, range(0x110000)))


def test_a_symbol_outside_the_given_alphabet_is_named_with_its_place():
    with pytest.raises(ProgramError, match="'ab2' has '2' at position 2, which is not in the alphabet: a b"):
        DFA.from_regex("ab2", alphabet="ab")


def test_counted_options_are_quick():
    assert len(DFA.from_regex("a{0,1000}").states) == 1002
    few, many = (calls(lambda regex=regex: DFA.from_regex(regex)) for regex in ("a{0,100}", "a{0,1000}"))
    assert many < 15 * few  # ten times as long takes ten times as much
    assert DFA.from_regex("(){20000}((){9}){9}b").accepts("b")
    assert DFA.from_regex("a{" + "0" * 6000 + "2}").accepts("aa")


def test_an_automaton_that_grows_without_end_is_given_up():
    assert len(from_regex("(a|b)*a(a|b){7}", most_states=500).states) == 256
    with pytest.raises(ProgramError, match=r"is given up after 50[0-9] states"):
        from_regex("(a|b)*a(a|b){20}", most_states=500)
    with pytest.raises(ProgramError, match="is given up"):
        from_regex("(a|b)*a(a|b){7}", most_work=100)
