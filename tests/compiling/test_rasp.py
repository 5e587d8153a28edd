"""RASP programs as networks: right on every input of every length, or refused with the reason."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.compiling.rasp import judges
from kleene.compiling.tracr import compile_rasp_to_model
from kleene.errors import CompileError, InputError, ModelFileError, ProgramError, RunError
from kleene.programs import rasp
from kleene.programs.rasp import RaspError, lib
from kleene.programs.rasp.program import RaspProgram
from kleene.programs.rasp.random_programs import random_program
from tests.programs.rasp.published_style import PROGRAMS, Published, same_typed_values, same_values
from tests.programs.rasp.wild_programs import MIXED, wild_program

EVERYTHING = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.TRUE)


@pytest.mark.parametrize("published", PROGRAMS, ids=lambda published: published.name)
def test_a_published_program_is_right_in_the_network_at_every_length(published: Published):
    options = {"vocab": published.vocab, "max_length": published.max_length, "causal": published.causal}
    network = kleene.compile(published.make(), **options)
    certificate = kleene.certify(network)
    assert (certificate.valid, certificate.length) == (True, published.max_length)
    lengths = range(1, published.max_length + 1)
    inputs = [list(xs) for n in lengths for xs in islice(product(published.vocab, repeat=n), 300)]
    inputs = [xs for xs in inputs if published.valid(xs)]
    for xs, trace in zip(inputs, network.run_batch(inputs), strict=True):
        assert same_values(trace.output, published.reference(xs)), xs


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), causal=st.booleans(), chance=st.randoms(use_true_random=False))
def test_random_programs_are_right_in_the_network_at_every_length(seed, causal, chance):
    made = random_program(seed, size=5, max_length=3, causal=causal)
    program = RaspProgram(made.expression, made.vocab, made.max_length, causal, made.name)
    try:
        network = kleene.compile(program)
    except (ProgramError, CompileError):
        return  # too many values for a network, and said so
    inputs = [[chance.choice(made.vocab) for _ in range(n)] for n in range(1, 4) for _ in range(5)]
    for xs, mine, theirs in zip(inputs, program.run_batch(inputs), network.run_batch(inputs), strict=True):
        assert same_typed_values(theirs.output, program.evaluate(xs)), (seed, xs)
        assert mine == theirs


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), causal=st.booleans(), chance=st.randoms(use_true_random=False))
def test_where_rasp_has_a_value_the_network_of_any_program_gives_it(seed, causal, chance):
    program = wild_program(seed, 6, causal=causal)
    inputs = [[chance.choice(program.vocab) for _ in range(n)] for n in range(1, program.max_length + 1)]
    expected = [(xs, found) for xs in inputs if (found := evaluated_or_none(program, xs)) is not None]
    try:
        network = kleene.compile(program)
    except (ProgramError, CompileError, RaspError):
        return
    for xs, found in expected:
        assert same_typed_values(program.run(xs).output, found), (seed, xs)
        assert same_typed_values(network.run(xs).output, found), (seed, xs)


def evaluated_or_none(program: RaspProgram, xs: list) -> list | None:
    try:
        return program.evaluate(xs)
    except RaspError:
        return None


def test_two_selectors_that_select_alike_share_their_heads():
    later = rasp.SelectorWidth(
        rasp.SelectorOr(EVERYTHING, rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LEQ))
    )
    both = rasp.SequenceMap(lambda x, y: (x, y), lib.shift_by(1, later), lib.shift_by(1, rasp.tokens))
    network = kleene.compile(both, vocab="ab", max_length=3)
    assert [network.run(xs).output for xs in ("a", "ab", "bab")] == [both(xs) for xs in ("a", "ab", "bab")]
    assert kleene.certify(network)


def test_most_random_programs_are_compiled():
    made = [random_program(seed, size=5, max_length=3) for seed in range(40)]
    refused = 0
    for one in made:
        try:
            assert RaspProgram(one.expression, one.vocab, one.max_length, one.causal).lowered
        except ProgramError:
            refused += 1
    assert refused <= 4


def test_an_s_op_is_run_compiled_checked_certified_watched_and_viewed():
    reverse = lib.make_reverse(rasp.tokens)
    how = {"vocab": "abc", "max_length": 4}
    assert kleene.run(reverse, "abca", **how).output == list("acba")
    outcome = kleene.run(reverse, list("abca"), compiled=True, **how)
    assert (outcome.answer, outcome.compiled) == ("a c b a", True)
    network = kleene.compile(reverse, **how)
    assert network.run(list("abca")).output == list("acba")
    assert network.run(list("abca")) == RaspProgram(reverse, "abc", 4).run("abca")
    report = kleene.check(reverse, **how, samples=20)
    assert report
    assert report.compared == ("program", "RASP's own evaluation", "network")
    assert kleene.certify(network, program=RaspProgram(reverse, "abc", 4))
    assert "reverse" in kleene.watch(reverse, "abc", both=True, **how).html
    assert "SelectorWidth" in kleene.view(reverse).html
    assert "SelectorWidth" in kleene.view(RaspProgram(reverse, "abc", 4)).html


def test_a_program_of_the_shelf_takes_another_vocabulary_and_length():
    assert kleene.run("rasp:reverse", "xyz", vocab="xyz", max_length=3).answer == "z y x"
    assert kleene.run("rasp:reverse", "abcdeabcdeab", max_length=12, compiled=True).answer == "b a e d c b a e d c b a"
    assert kleene.run("rasp:hist", "aba", causal=True).output == [1, 1, 2]


def test_a_saved_network_knows_its_vocabulary(tmp_path):
    network = kleene.compile(lib.make_sort(rasp.tokens, rasp.tokens), vocab=(10, 2, 3), max_length=4)
    path = network.save(tmp_path / "sort.safetensors")
    assert kleene.load(path).run([10, 3, 2]).output == [2, 3, 10]
    assert kleene.run(str(path), "10 3 2").answer == "2 3 10"


def test_an_s_op_without_a_vocabulary_is_told_how_to_give_one():
    with pytest.raises(InputError, match=r"'reverse' does not say .* give vocab and max_length, such as vocab='abc'"):
        kleene.compile(lib.make_reverse(rasp.tokens))
    with pytest.raises(InputError, match="give max_length, such as"):
        kleene.run(rasp.tokens, "ab", vocab="ab")
    with pytest.raises(ProgramError, match="is no s-op; read a selector with an Aggregate"):
        kleene.compile(EVERYTHING, vocab="ab", max_length=3)
    with pytest.raises(CompileError, match="has no compile option 'vocab'"):
        kleene.compile(kleene.DFA.from_regex("a*"), vocab="ab")


def test_a_vocabulary_that_the_program_cannot_take_is_refused_with_expression_and_value():
    following = rasp.Map(lambda x: x + 1, rasp.tokens).named("following")
    with pytest.raises(RaspError, match=r"the Map 'following' \(test_rasp.py line \d+\) has no value for 'a'"):
        kleene.compile(following, vocab="ab", max_length=3)


def test_a_token_for_which_the_program_has_no_value_is_an_error_when_it_comes():
    parsed = rasp.Map(int, rasp.tokens).named("parsed")
    network = kleene.compile(parsed, vocab=["1", "x"], max_length=3)
    assert network.run(["1", "1"]).output == [1, 1]
    with pytest.raises(RunError, match="parsed"):
        network.run(["1", "x"])
    with pytest.raises(RaspError, match=r"'parsed' .* has no value for 'x'"):
        kleene.run(parsed, ["1", "x"], vocab=["1", "x"], max_length=3)


def test_inputs_on_which_rasp_has_no_value_are_counted_and_not_compared():
    mixed = rasp.Aggregate(EVERYTHING, rasp.tokens)
    report = kleene.check(mixed, vocab="ab", max_length=3, samples=14)
    assert report
    assert report.refused > 0
    assert report.of >= 6  # a, b, aa, bb, aaa, bbb
    with pytest.raises(RunError):
        kleene.compile(mixed, vocab="ab", max_length=3).run("ab")


def test_a_domain_that_explodes_is_refused_with_the_expression():
    pairs = rasp.SequenceMap(lambda x, y: x * 1000 + y, rasp.tokens, lib.shift_by(1, rasp.tokens)).named("pairs")
    with pytest.raises(ProgramError, match=r"the SequenceMap 'pairs' \(test_rasp.py line \d+\) takes more than"):
        kleene.compile(pairs, vocab=range(100), max_length=5)


def test_a_causal_program_that_looks_ahead_is_refused_or_masked():
    with pytest.raises(ProgramError, match="reads `length`, which looks ahead"):
        kleene.compile(rasp.length - rasp.indices, vocab="ab", max_length=3, causal=True)
    ahead = rasp.SelectorWidth(rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.GEQ))
    assert kleene.compile(ahead, vocab="ab", max_length=3, causal=True).run("aba").output == [1, 1, 1]
    assert kleene.compile(ahead, vocab="ab", max_length=3).run("aba").output == [3, 2, 1]


def test_a_wrong_output_is_found_by_the_evaluation_and_by_a_reference():
    program = RaspProgram(lib.make_reverse(rasp.tokens), "ab", 4)
    wrong = RaspProgram(rasp.tokens, "ab", 4).run("ab")
    found = judges(program, None, lambda xs: xs[::-1])
    assert found["RASP"](list("ab"), wrong) == "the output is ['a', 'b'], but RASP says ['b', 'a']"
    assert "but the plain reference says ['b', 'a']" in found["reference"](list("ab"), wrong)
    assert not kleene.check(program, reference=lambda xs: xs, samples=5)
    with pytest.raises(InputError, match="raised ZeroDivisionError"):
        kleene.check(program, reference=lambda xs: [1 / 0], samples=5)


def test_tracrs_scripts_compile_and_apply_as_they_did():
    model = compile_rasp_to_model(lib.make_reverse(rasp.tokens), {"a", "b", "c"}, 5, compiler_bos="BOS")
    applied = model.apply(["BOS", "a", "b", "c"])
    assert applied.decoded == ["BOS", "c", "b", "a"]
    assert [stream.shape for stream in applied.residuals] == [(4, len(model.residual_labels))] * 3
    at = model.residual_labels.index("tokens:b")
    assert applied.residuals[0][:, at].tolist() == [0, 0, 1, 0]
    with pytest.raises(InputError, match=r"the input begins with 'a'; .* take 'BOS' before tokens"):
        model.apply(["a", "b"])
    with pytest.raises(InputError, match="the start token 'a' is in the vocabulary"):
        compile_rasp_to_model(rasp.tokens, "ab", 5, compiler_bos="a")


LETTERS = "abcdefghijklmnopqrstuvwxyz"


def spelled(word: str) -> rasp.SOp:
    """How many letters of the word stand in their place."""
    hit = rasp.SequenceMap(lambda letter, i: i < len(word) and letter == word[i], rasp.tokens, rasp.indices)
    return rasp.SelectorWidth(rasp.Select(hit, rasp.tokens, lambda key, query: key))


def test_what_selects_nothing_on_one_rare_input_alone_gives_the_default_there():
    others = spelled("kleene") < 4
    chosen = rasp.Aggregate(rasp.Select(others, others, lambda key, query: key), rasp.Full("x"))
    network = kleene.compile(chosen, vocab=LETTERS, max_length=6)
    assert network.run("klee").output == chosen("klee") == [None] * 4
    assert network.run("klue").output == chosen("klue") == ["x"] * 4


def test_means_of_what_a_pattern_selects_are_right_if_it_is_there_twice():
    found = lib.detect_pattern(rasp.tokens, "abc")
    where = rasp.Aggregate(rasp.Select(found, rasp.Full(True), lambda key, query: key is True), rasp.indices)
    network = kleene.compile(rasp.Map(lambda place: place == 3.5, where), vocab=LETTERS, max_length=9)
    assert network.run("abcabc").output == [True] * 6
    assert network.run("xabc").output == [False] * 4


def test_what_selects_several_positions_on_rare_inputs_alone_is_averaged_there():
    rare = spelled("kleene") >= 6
    first = rasp.SequenceMap(lambda is_rare, i: i == 0 or (is_rare and i == 1), rare, rasp.indices)
    place = rasp.Aggregate(rasp.Select(first, first, lambda key, query: key), rasp.indices)
    is_half = kleene.compile(rasp.Map(lambda x: x == 0.5, place), vocab=LETTERS, max_length=6)
    assert is_half.run("kleen").output == [False] * 5
    assert is_half.run("kleene").output == [True] * 6 == rasp.Map(lambda x: x == 0.5, place)("kleene")
    before = rasp.Aggregate(rasp.Select(rasp.indices, rasp.indices, lambda k, q: k == q - 1), rasp.tokens, default="_")
    found = rasp.SequenceMap(lambda one, two: one + two == "qz", before, rasp.tokens)
    where = rasp.Aggregate(rasp.Select(found, rasp.indices, lambda key, query: key), rasp.indices)
    letter = rasp.Aggregate(rasp.Select(found, rasp.indices, lambda key, query: key), before, default="none")
    for expr in (where, letter):
        network = kleene.compile(expr, vocab=LETTERS, max_length=12)
        assert [network.run(xs).output for xs in ("qzaqzbqz", "aqz", "abc")] == [
            expr(xs) for xs in ("qzaqzbqz", "aqz", "abc")
        ]


def test_what_has_too_many_means_is_read_at_one_position_until_an_input_selects_two():
    rare = spelled("kleene") >= 6
    first = rasp.SequenceMap(lambda is_rare, i: i == 0 or is_rare, rare, rasp.indices)
    roots = rasp.Map(lambda letter: ord(letter) ** 0.5, rasp.tokens)
    root = rasp.Aggregate(rasp.Select(first, first, lambda key, query: key), roots).named("root")
    network = kleene.compile(root, vocab=LETTERS, max_length=6)
    assert same_values(network.run("kleen").output, root("kleen"))
    with pytest.raises(RunError, match=r"'root_read'.* selected one position in all inputs that were tried"):
        network.run("kleene")


def test_a_function_that_raises_for_a_mean_but_not_for_a_position_is_taken():
    place = rasp.Aggregate(
        rasp.Select(lib.detect_pattern(rasp.tokens, "ab"), rasp.indices, lambda k, q: k), rasp.indices
    )
    letter = rasp.Map(lambda i: LETTERS[i], place)
    network = kleene.compile(letter, vocab=LETTERS, max_length=5)
    assert network.run("xabx").output == letter("xabx") == ["c"] * 4
    with pytest.raises(ProgramError, match=r"another value for .* apply float\(\) first"):
        kleene.compile(rasp.Map(str, place), vocab=LETTERS, max_length=5)


TENTHS = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LEQ)


@pytest.mark.parametrize("factor", [0.1, 0.7, 1.1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_means_of_numbers_that_are_off_by_rounding_are_right(factor, dtype):
    scaled = rasp.Aggregate(TENTHS, rasp.numerical(rasp.tokens * factor))
    network = kleene.compile(scaled, vocab=[1, 2, 3], max_length=4, dtype=dtype)
    inputs = [list(xs) for n in range(1, 5) for xs in product([1, 2, 3], repeat=n)]
    for xs, trace in zip(inputs, network.run_batch(inputs), strict=True):
        assert same_values(trace.output, scaled(xs)), xs


@pytest.mark.parametrize("distance", [lambda x, y: (x - y) ** 2, lambda x, y: abs(x - y)])
def test_a_mean_of_distances_from_the_mean_is_right(distance):
    middle = rasp.Aggregate(EVERYTHING, rasp.tokens)
    spread = rasp.Aggregate(EVERYTHING, rasp.numerical(rasp.SequenceMap(distance, rasp.tokens, middle)))
    network = kleene.compile(spread, vocab=[1, 2, 3], max_length=4)
    inputs = [list(xs) for n in range(1, 5) for xs in product([1, 2, 3], repeat=n)]
    for xs, trace in zip(inputs, network.run_batch(inputs), strict=True):
        assert same_values(trace.output, spread(xs)), xs


def test_a_map_sees_means_as_rasp_rounds_them_and_is_refused_where_a_network_cannot():
    mean = rasp.Aggregate(TENTHS, rasp.numerical(rasp.tokens)).named("mean")
    network = kleene.compile(mean == 0.15, vocab=[0.1, 0.2], max_length=3)
    assert network.run([0.1, 0.2]).output == (mean == 0.15)([0.1, 0.2]) == [False, False]
    noisy = rasp.Aggregate(TENTHS, rasp.numerical(rasp.tokens * 0.1)).named("noisy")  # 0.3, and 0.30000000000000004
    with pytest.raises(
        ProgramError, match=r"the Map .*another value for 0.3\d* than for 0.3\d*. They differ by rounding"
    ):
        kleene.compile(noisy == 0.3, vocab=[1, 3, 5], max_length=3)
    with pytest.raises(ProgramError, match=r"the Select .*answers otherwise for .* They differ by rounding"):
        kleene.compile(rasp.SelectorWidth(rasp.Select(noisy, noisy, rasp.Comparison.EQ)), vocab=[1, 3, 5], max_length=3)
    near = kleene.compile(rasp.Map(lambda x: abs(x - 0.3) < 1e-9, noisy), vocab=[1, 3, 5], max_length=3)
    assert near.run([3, 1, 5]).output == [True, False, True]


def test_numbers_of_which_many_differ_only_by_rounding_are_averaged():
    tenths = rasp.Aggregate(TENTHS, rasp.numerical(rasp.tokens * 0.1))
    network = kleene.compile(tenths, vocab=range(60), max_length=8)
    for xs in ([59, 3, 3, 17, 41, 2, 0, 58], [3, 6, 12], [33]):
        assert same_values(network.run(xs).output, tenths(xs))


def test_brackets_of_three_kinds_take_few_units_at_length_15():
    def fraction(token: str) -> rasp.SOp:
        return rasp.numerical(rasp.Aggregate(TENTHS, rasp.numerical(rasp.tokens == token), default=0))

    balances = [rasp.LinearSequenceMap(fraction(a), fraction(b), 1, -1) for a, b in ("()", "{}", "[]")]
    negative, zero = balances[0] < 0, balances[0] == 0
    for balance in balances[1:]:
        negative, zero = negative | (balance < 0), zero & (balance == 0)
    fell = rasp.Aggregate(rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.TRUE), rasp.numerical(negative))
    last = rasp.Aggregate(rasp.Select(rasp.indices, rasp.length - 1, rasp.Comparison.EQ), zero)
    network = kleene.compile(last & ~fell, vocab="(){}[]", max_length=15)
    assert network.size.hidden_units < 700
    assert [network.run(xs).output[0] for xs in ("([)]{}", "(()", ")(", "([{}])([{}])()")] == [True, False, False, True]


def test_pairs_of_letters_and_sorting_by_fractions_of_the_length_are_compiled():
    before = rasp.Aggregate(rasp.Select(rasp.indices, rasp.indices, lambda k, q: k == q - 1), rasp.tokens, default="^")
    pairs = rasp.SequenceMap(lambda one, two: one + two, before, rasp.tokens)
    counts = kleene.compile(
        rasp.SelectorWidth(rasp.Select(pairs, pairs, rasp.Comparison.EQ)), vocab=LETTERS, max_length=6
    )
    assert counts.run("ababab").output == [1, 3, 2, 3, 2, 3]
    keys = rasp.SequenceMap(lambda x, i: x + i / 20, rasp.tokens, rasp.indices)
    ordered = kleene.compile(lib.make_sort_unique(rasp.tokens, keys), vocab=range(30), max_length=20)
    assert ordered.run([7, 29, 0, 7, 3]).output == [0, 3, 7, 7, 29]


def test_long_inputs_are_compiled_and_too_long_ones_refused_with_the_expression():
    network = kleene.compile(lib.make_hist(), vocab="ab", max_length=200)
    assert network.run("ab" * 100).output == [100] * 200
    with pytest.raises(ProgramError, match=r"'same_tok' .* compares 1,000 positions .* use a smaller max_length"):
        kleene.compile(lib.make_hist(), vocab="ab", max_length=1_000)


def test_messages_name_the_options_the_words_and_what_rasp_has_no_value_for():
    with pytest.raises(
        CompileError, match=r"a RASP program has no compile option 'vocabs'; its options are vocab, max_len"
    ):
        kleene.compile(rasp.tokens, vocab="ab", max_length=3, vocabs="ab")
    network = kleene.compile(rasp.tokens, vocab="ab", max_length=3)
    with pytest.raises(InputError, match=r"token 0 of the input is \['a'\], and the vocabulary is 'a' 'b'"):
        network.run([["a"]])
    parsed = rasp.Map(int, rasp.tokens).named("parsed")
    digits = RaspProgram(parsed, ("1", "x"), 3)
    with pytest.raises(RunError, match="RASP has no value for 'parsed': its function raises"):
        digits.lowered.run(["1", "x"])
    with pytest.raises(RunError, match=r"parsed: .* RASP has no value, because a function raises"):
        kleene.compile(digits).run(["1", "x"])
    with pytest.raises(InputError, match="an unrolled Transformer, whose runs take no edits"):
        kleene.run(
            kleene.compile(rasp.tokens, vocab="ab", max_length=3, layers="unrolled"), "ab", edits=["tokens@0,1=a"]
        )


def test_a_default_that_no_network_holds_is_named_with_its_aggregate():
    nothing = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.FALSE)
    with pytest.raises(ProgramError, match=r"the Aggregate 'listed' \(test_rasp.py line \d+\) has the value \[1\]"):
        kleene.compile(rasp.Aggregate(nothing, rasp.tokens, default=[1]).named("listed"), vocab="ab", max_length=3)


def test_numbers_without_end_have_no_mean_in_a_network():
    endless = rasp.Aggregate(EVERYTHING, rasp.Map(lambda x: float("inf") if x == "a" else 1.0, rasp.tokens))
    with pytest.raises(ProgramError, match="inf"):
        kleene.compile(endless, vocab="ab", max_length=3)


def test_numbers_whose_sum_overflows_are_not_certified():
    mean = rasp.Aggregate(EVERYTHING, rasp.tokens)
    network = kleene.compile(mean, vocab=[8e306, 0], max_length=8, dtype="float64")
    assert kleene.certify(network).length == 4  # with the start, 5 numbers
    refused = kleene.certify(network, length=8)
    assert "the sum of 9 numbers that 'aggregate_mean' may read can overflow" in str(refused.first_failure)
    unrolled = kleene.compile(mean, vocab=[5e307, 0], max_length=3, dtype="float64", layers="unrolled")
    assert "can overflow, that of 0 cannot" in str(kleene.certify(unrolled).first_failure)
    with pytest.raises(CompileError, match=r"'aggregate_mean' reads numbers up to 5e\+307, and float64 ends"):
        kleene.compile(mean, vocab=[5e307, 0], max_length=3, dtype="float64")
    with pytest.raises(ProgramError, match=r"means of up to 3 numbers of which one is 1e\+308; a network adds them up"):
        kleene.compile(mean, vocab=[1e308, 0], max_length=3, dtype="float64")


@pytest.mark.parametrize("options", [{}, {"activation": "relu"}, {"layers": "unrolled"}], ids=str)
@pytest.mark.parametrize("vocab", [[0.0, 1e-310], [0, 0.3, 1e-300, 3], [5e-324, 1e-300, 1]], ids=str)
def test_numbers_nearer_than_a_step_is_wide_are_refused_or_not_certified(vocab, options):
    program = RaspProgram(rasp.Aggregate(EVERYTHING, rasp.tokens), vocab, 3)
    for dtype in ("float32", "float64"):
        try:
            network = kleene.compile(program, dtype=dtype, **options)
        except CompileError:
            continue  # it cannot tell the declared values apart
        assert kleene.certify(network).first_failure.name == "averages"


def test_numbers_that_no_float_averages_are_an_error_of_the_run():
    with pytest.raises(RaspError, match=r"the Aggregate .* selects numbers that have no finite mean: 10"):
        rasp.Aggregate(EVERYTHING, rasp.tokens)([10**400, 1])


def test_the_smallest_numbers_beside_others_are_certified():
    for vocab in ([1e-320, 1.0], [0.1, 0.2], [1e-15, -0.1]):
        mean = rasp.Aggregate(EVERYTHING, rasp.tokens)
        assert kleene.certify(kleene.compile(mean, vocab=vocab, max_length=3, dtype="float64")), vocab


def test_a_mean_in_a_tuple_is_an_int_or_a_float_as_it_is_outside():
    pair = rasp.Map(lambda x: (x, "a"), rasp.Aggregate(EVERYTHING, rasp.tokens))
    written = rasp.SequenceMap(lambda t, i: str(t[0]) + str(i), pair, rasp.indices)
    with pytest.raises(ProgramError, match=r"another value for .* apply float\(\) first"):
        kleene.compile(written, vocab=[0, 1, 2], max_length=2)
    whole = rasp.Select(pair, rasp.tokens, lambda key, query: isinstance(key[0], int))
    with pytest.raises(ProgramError, match=r"answers otherwise for .* apply float\(\) first"):
        kleene.compile(rasp.Aggregate(whole, rasp.tokens), vocab=[0, 1, 2], max_length=2)
    doubled = rasp.Map(lambda t: 2 * t[0], pair)
    assert kleene.compile(doubled, vocab=[0, 1, 2], max_length=2).run([0, 1]).output == doubled([0, 1]) == [1.0, 1.0]


def test_texts_beside_numbers_that_leave_no_room_for_them_are_refused():
    read = rasp.Aggregate(EVERYTHING, rasp.tokens).named("all")
    for vast in (2**53, -(2**53), 2**53 - 1):
        with pytest.raises(ProgramError, match=r"the Aggregate 'all' .* what is no number"):
            kleene.compile(read, vocab=["a", vast], max_length=2)
    network = kleene.compile(read, vocab=["a", 1000], max_length=2)
    assert network.run([1000, 1000]).output == read([1000, 1000]) == [1000, 1000]


SAME = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ)
VAST = [
    [0, 1, 10**12],
    [0, 2**53, 2**53 + 1],
    [10**17, 10**17 + 16],
    [-(10**30), 10**30, 10**30 + 1],
    ["a", 2**53, 1],
    [1e-13, 2e-13, 1],
    [1.0, 1.0 + 2**-52],
    [10**400, 1, float("inf")],
]


@pytest.mark.parametrize("vocab", VAST, ids=lambda vocab: str(vocab)[:40])
def test_equal_tokens_that_are_read_together_stay_what_they_are_however_near_others_are(vocab):
    read = rasp.Aggregate(SAME, rasp.tokens)
    network = kleene.compile(read, vocab=vocab, max_length=3)
    for xs in product(vocab, repeat=3):
        assert [*map(repr, network.run(xs).output)] == [*map(repr, xs)]
    assert kleene.certify(network)


@pytest.mark.parametrize(
    ("vocab", "named"),
    [
        ([2**53 + 1, 1], "9007199254740993 and 9007199254740992"),
        ([0, 1, 10**12], "333333333333.3333 and 333333333334.0"),
        ([10**17, 10**17 + 16], r"1e\+17 and 1.0000000000000002e\+17"),
        ([-1e12, 0.3, 1e12], "-333333333333.3333 and -333333333333.13336"),
    ],
    ids=str,
)
def test_means_that_floats_cannot_hold_apart_are_refused_by_their_values(vocab, named):
    read = rasp.Aggregate(EVERYTHING, rasp.tokens).named("mean")
    with pytest.raises(ProgramError, match=rf"the Aggregate 'mean' .* cannot hold {named}"):
        kleene.compile(read, vocab=vocab, max_length=3)


@pytest.mark.parametrize("vocab", [[0, 1, 10**9], [1e-13, 2e-13], [0.1, 0.2, -0.3], [0, 0.1, 0.2, -0.3]], ids=str)
def test_means_of_small_and_great_numbers_are_rasps(vocab):
    read = rasp.Aggregate(EVERYTHING, rasp.tokens)
    network = kleene.compile(read, vocab=vocab, max_length=3, dtype="float64")
    for xs in product(vocab, repeat=3):
        assert network.run(xs).output == pytest.approx(read(xs), rel=1e-14, abs=1e-16)


@pytest.mark.parametrize("meant", [{1: True, 2: 1, 3: 0.5}, {1: True, 2: 2, 3: 0}, {1: False, 2: -1.0, 3: 1}])
def test_a_truth_value_and_a_mean_that_equals_it_are_refused(meant):
    mixed = rasp.Aggregate(EVERYTHING, rasp.Map(meant.get, rasp.tokens)).named("mixed")
    with pytest.raises(ProgramError, match=r"the Aggregate 'mixed' .* may give (True or .* 1|False or .* 0), which"):
        kleene.compile(mixed, vocab=[1, 2, 3], max_length=2)


@pytest.mark.parametrize("meant", [{1: True, 2: False, 3: True}, {1: True, 2: 2, 3: 0.5}, {1: True, 2: 3, 3: 5}])
def test_truth_values_that_no_mean_equals_stay_truth_values(meant):
    mixed = rasp.Aggregate(EVERYTHING, rasp.Map(meant.get, rasp.tokens))
    network = kleene.compile(mixed, vocab=[1, 2, 3], max_length=2)
    for xs in [[1], [2], [3], [1, 1], [1, 2], [2, 3]]:
        assert list(map(repr, network.run(xs).output)) == list(map(repr, mixed(xs))), xs


@pytest.mark.parametrize("vocab", MIXED, ids=str)
def test_tokens_that_are_equal_and_not_the_same_are_tokens_of_their_own(vocab, tmp_path):
    told = rasp.SequenceMap(lambda token, at: f"{token!r} at {at}", rasp.tokens, rasp.indices)
    network = kleene.compile(told, vocab=vocab, max_length=3)
    saved = kleene.load(network.save(tmp_path / "told.safetensors"))
    assert saved.layout == network.layout
    for xs in product(vocab, repeat=2):
        assert network.run(xs).output == saved.run(xs).output == told(xs) == [f"{x!r} at {i}" for i, x in enumerate(xs)]
    assert kleene.check(told, vocab=vocab, max_length=3)
    assert kleene.certify(network)


class Place(NamedTuple):
    row: int
    column: int


@dataclass(frozen=True)
class Letter:
    name: str


@pytest.mark.parametrize("vocab", [[Place(1, 2), (1, 2)], [(Place(1, 2),), 3], [(Letter("a"),), "a"]])
def test_tokens_that_a_file_would_not_give_back_are_refused_when_it_is_written(vocab, tmp_path):
    network = kleene.compile(rasp.Map(lambda token: type(token).__name__, rasp.tokens), vocab=vocab, max_length=2)
    assert network.run(vocab).output == [type(token).__name__ for token in vocab]
    with pytest.raises(InputError, match="cannot be saved"):
        network.save(tmp_path / "network.safetensors")


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_trace_of_tokens_that_no_file_holds_is_refused_when_it_is_saved(ending, tmp_path):
    trace = RaspProgram(rasp.tokens, [(Fraction(1, 3),), 1], 2).run([1])
    with pytest.raises(ModelFileError, match=r"the trace cannot be saved, .* Fraction is not"):
        trace.save(tmp_path / f"trace.{ending}")


def test_an_input_means_what_was_typed_and_is_refused_where_an_equal_token_is_another():
    powers = rasp.Map(str, rasp.SequenceMap(lambda token, i: token**i, rasp.tokens, rasp.indices))
    program = RaspProgram(powers, [1, 2.0], 3)
    network = kleene.compile(program)
    assert network.run([1, 2.0]).output == program.evaluate([1, 2.0]) == ["1", "2.0"]
    for typed in (1.0, True, 2, "1"):
        with pytest.raises(InputError, match=f"token {typed!r} at position 1 is not in the vocabulary, which is 1 2.0"):
            program.run([1, typed])
        with pytest.raises(InputError, match=f"token 1 of the input is {typed!r}, and the vocabulary is 1 2.0"):
            network.run([1, typed])


def test_a_wrong_type_is_found_by_the_evaluation_and_not_by_a_plain_reference():
    program = RaspProgram(rasp.Map(bool, rasp.tokens), [0, 1], 3)
    wrong = RaspProgram(rasp.tokens, [0, 1], 3).run([0, 1])
    found = judges(program, None, lambda xs: xs)
    assert found["RASP"]([0, 1], wrong) == "the output is [0, 1], but RASP says [False, True]"
    assert found["reference"]([0, 1], program.run([0, 1])) is None


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), chance=st.randoms(use_true_random=False))
def test_the_original_of_a_lowered_program_is_rasps_own_evaluation(seed, chance):
    program = wild_program(seed, 4, causal=False)
    try:
        transformer = program.lowered
    except (ProgramError, RaspError):
        return
    xs = [chance.choice(program.vocab) for _ in range(program.max_length)]
    expected = evaluated_or_none(program, xs)
    if expected is None:
        with pytest.raises(RunError):
            transformer.original(xs)
    else:
        assert [*map(repr, transformer.original(xs))] == [*map(repr, expected)]
        assert same_typed_values(transformer.run(xs).output, transformer.original(xs))
