"""Files in ALTA's style, brought over by their import line: what they compute, interpreted and compiled."""

import functools
import itertools
import random

import pytest

import kleene
from kleene.errors import ProgramError, WriteError
from kleene.programs.alta import compat as compiler_utils
from kleene.programs.alta import compat as interpreter_utils
from kleene.programs.alta import compat as program_utils
from kleene.programs.alta import compat as transformer_utils
from tests.programs.alta.compat.files import addition, parity, parser, sort, subleq


@functools.cache
def built(build):
    """A program that takes a while to build or to lower, made once."""
    return build()


def interpreted(program, ids, **options):
    activations = program_utils.initialize_activations(program, ids)
    return interpreter_utils.run_transformer(program, activations, **options)


def compiled(program, ids, *, max_layers):
    parameters = compiler_utils.compile_transformer(program, compiler_utils.Config(expansion_scalar_1=1000))
    return transformer_utils.run_transformer(
        parameters, learned_ffn_params=None, input_ids=ids, max_layers=max_layers, verbose=False
    )


PARITIES = {
    "absolute": lambda: parity.absolute(),
    "absolute, called": lambda: parity.absolute(generate_rules=False),
    "relative": lambda: parity.relative(),
    "relative, called": lambda: parity.relative(generate_rules=False),
    "counting": lambda: parity.counting(longest=20),
    "counting, called": lambda: parity.counting(generate_rules=False),
    "counting in steps": lambda: parity.counting_in_steps(),
    "absolute rules": lambda: parity.absolute_rules(),
    "relative rules": lambda: parity.relative_rules(),
    "counting rules": lambda: parity.counting_rules(longest=20),
}


def with_marks(name, bits):
    if "relative" in name:
        return [parity.START, *bits]
    return [*bits, parity.END] if "counting" in name else list(bits)


@pytest.mark.parametrize("name", PARITIES)
def test_every_parity_program_tells_the_parity_of_every_short_input(name):
    program, chance = PARITIES[name](), random.Random(0)
    inputs = [bits for size in range(5) for bits in itertools.product(range(2), repeat=size)]
    for bits in [*inputs, *(chance.choices(range(2), k=10) for _ in range(10))]:
        outputs = interpreted(program, with_marks(name, bits), max_layers=len(bits) + chance.randint(2, 6))
        assert outputs == [] if not bits and "absolute" in name else outputs[-1] == sum(bits) % 2


@pytest.mark.parametrize("name", [n for n in PARITIES if n not in ("counting, called", "counting in steps")])
def test_every_parity_program_that_may_be_compiled_gives_the_same_from_its_network(name):
    program = PARITIES[name]()
    for bits in ([1, 0, 1], [1, 0, 1, 1]):
        for layers in (len(bits) + 1, 10):
            assert compiled(program, with_marks(name, bits), max_layers=layers)[-1] == sum(bits) % 2
    assert kleene.certify(kleene.compile(program), length=8)


def test_counting_is_right_for_every_number_of_ones_that_was_declared():
    program = parity.counting(longest=40)
    for ones in range(41):
        assert interpreted(program, [1] * ones + [parity.END], max_layers=3)[-1] == ones % 2


@pytest.mark.parametrize("build", [parity.absolute, parity.absolute_rules])
def test_parity_by_absolute_positions_halts_by_itself(build):
    assert interpreted(build(halting=True), [1, 0, 1, 0, 1], max_layers=None) == [1, 1, 0, 0, 1]
    assert kleene.compile(build(halting=True)).run([1, 0, 1, 0, 1]).output == [1, 1, 0, 0, 1]


@pytest.mark.parametrize("build", [parity.relative, parity.relative_rules])
def test_parity_by_relative_positions_halts_by_itself(build):
    assert interpreted(build(halting=True), [2, 1, 0, 1, 0, 1], max_layers=None) == [0, 1, 1, 0, 0, 1]


def test_a_function_that_computes_with_numbers_as_they_are_is_not_compiled():
    with pytest.raises(ProgramError, match=r"number 'share' as it is.*generate_rules=True"):
        kleene.compile(parity.counting_in_steps())


@pytest.mark.parametrize("build", [addition.by_function, addition.by_rules])
def test_addition_adds(build):
    program = built(build)
    network = compiler_utils.compile_transformer(program)
    for a, b in [(789, 456), (34, 56), (5, 5), (0, 0), (90001, 9999)]:
        ids = addition.encoded(a, b)
        assert addition.decoded(interpreted(program, ids, max_layers=None)) == a + b
        assert addition.decoded(transformer_utils.run_transformer(network, None, ids, 12)) == a + b


def test_addition_costs_as_few_units_given_as_rules_as_given_as_a_function():
    by_rules, by_function = (kleene.compile(built(build)) for build in (addition.by_rules, addition.by_function))
    assert len(built(addition.by_rules).mlp.get_rules()) > 16_000
    assert by_function.size.hidden_units <= by_rules.size.hidden_units <= 135
    assert kleene.certify(by_rules, length=40)


SUM = [9, 11, 3, 11, 10, 6, 11, 11, -1, 5, 10, 0]  # cell 10 := cell 9 + cell 10
NEGATION = [9, 11, -1, 0, 0, 0, 0, 0, 0, 7, 0, 0]  # cell 11 := -cell 9


@pytest.mark.parametrize("build", [subleq.by_function, subleq.by_rules])
def test_subleq_runs_its_programs(build):
    program = built(build)
    network = compiler_utils.compile_transformer(program)
    for cells, place, result in [(SUM, 10, 15), (NEGATION, 11, -7)]:
        ids = [subleq.encode(value) for value in cells]
        for outputs in (interpreted(program, ids), transformer_utils.run_transformer(network, None, ids, 16)):
            assert subleq.decode(outputs[place]) == result


def test_subleq_is_compiled_although_thousands_of_its_rules_are_out_of_range():
    program = built(subleq.by_rules)
    outside = [r for r in program.mlp.get_rules() if r.rhs.new_value not in (None, *range(subleq.VALUES))]
    assert len(outside) > 8_000
    assert kleene.compile(program).size.hidden_units < 1000


def test_a_subleq_program_that_leaves_the_range_is_an_error_of_the_run_and_never_an_answer():
    program = built(subleq.by_rules)
    ids = [subleq.encode(value) for value in [4, 5, -1, 0, 16, -16]]  # -16 - 16
    with pytest.raises(WriteError, match=r"layer 2, at position 5.*'cell' is set to -16, but it takes an integer"):
        interpreted(program, ids)
    for run in (program.lowered.run, kleene.compile(program).run):
        with pytest.raises(WriteError, match=r"layer 2, at position 5"):
            run(ids)


def test_sorting_by_a_number_without_declared_values_is_interpreted():
    assert interpreted(sort.build(), [sort.BEGIN, 3, 5, 4, 2], max_layers=4) == [sort.BEGIN, 2, 3, 4, 5]


def test_sorting_by_a_number_without_declared_values_is_not_compiled():
    with pytest.raises(ProgramError, match=r"`values` of the numeric variable 'first'"):
        kleene.compile(sort.build())


PARSERS = {"function": (parser.by_function, 0), "rules": (parser.by_rules, 3)}


@pytest.mark.parametrize("form", PARSERS)
def test_the_parser_parses_what_stays_in_range(form):
    build, padding = PARSERS[form]
    for text, applied in [("a x x", ["a", "S x", "S x"]), ("b", ["b"]), ("a b", ["a", "b"])]:
        assert parser.decoded(interpreted(build(), parser.encoded(text, padding), max_layers=40)) == applied


@pytest.mark.parametrize("form", PARSERS)
def test_the_parser_s_last_rule_is_an_error_where_it_is_applied(form):
    build, padding = PARSERS[form]
    with pytest.raises(WriteError, match=r"'applied' is set to 4, but it takes an integer in 0..3"):
        interpreted(build(), parser.encoded("a and b", padding), max_layers=40)


def test_the_parser_s_network_answers_where_its_program_does_and_fails_where_it_fails():
    program = parser.by_rules()
    network = kleene.compile(program)
    assert program.lowered.faults
    for words in ("a x", "a b", "b x x", "a and b", "x", "and", "a b a b"):
        ids = parser.encoded(words, 3)
        try:
            expected = interpreted(program, ids, max_layers=60)
        except WriteError:
            with pytest.raises(WriteError):
                network.run(ids)
        else:
            assert network.run(ids).output == expected
