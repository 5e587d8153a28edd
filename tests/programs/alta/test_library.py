import itertools
import json
import random
import subprocess
import sys

import pytest

from kleene.errors import HaltError, InputError, ProgramError, RunError, UndefinedAttentionError
from kleene.programs.alta.library import addition, counting, entries, get, moving, parity, subleq
from tests.programs.alta.examples import EXAMPLES

NAMES = list(entries())

# How many symbols the exhaustive checks go up to, where 3 are not the right number.
SMALL = {
    "parity_absolute": 8, "parity_relative": 8, "parity_sum_modulo": 8, "parity_sum_modulo_steps": 8,
    "shuffle_dyck_1": 8, "shuffle_dyck_2": 5, "fraction_previous": 2, "induction_head": 4,
}  # fmt: skip


@pytest.fixture(scope="module")
def built():
    return {name: entry.build() for name, entry in entries().items()}


def outputs(program, inputs):
    return program.run_batch(inputs, record=False).outputs


def test_the_library_has_all_its_programs_in_order():
    assert NAMES == [
        "parity_absolute", "parity_relative", "parity_sum_modulo", "parity_sum_modulo_steps", "addition", "sort",
        "subleq", "histogram", "double_histogram", "reverse", "most_frequent_sort", "shuffle_dyck_1", "shuffle_dyck_2",
        "fraction_previous", "induction_head", "scan", "scan_shift_reduce",
    ]  # fmt: skip


def test_every_program_is_in_the_table_of_examples():
    assert {example.name for example in EXAMPLES} == set(NAMES)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_the_program_gives_the_expected_output_in_the_expected_number_of_layers(example, built):
    trace = built[example.name].run(example.tokens)
    assert (trace.output, trace.layers) == (example.output, example.layers)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_the_reference_gives_the_expected_output(example):
    assert get(example.name).reference(example.tokens) == example.output


@pytest.mark.parametrize("name", NAMES)
def test_the_program_agrees_with_its_reference_on_random_inputs_of_every_size(name, built):
    entry, rng = get(name), random.Random(0)
    inputs = [entry.build().inputs.sample(rng, size) for size in range(1, 31) for _ in range(5)]
    assert outputs(built[name], inputs) == [entry.reference(tokens) for tokens in inputs]


@pytest.mark.parametrize("name", NAMES)
def test_the_program_agrees_with_its_reference_on_all_small_inputs(name, built):
    entry = get(name)
    inputs = list(entry.build().inputs.every(SMALL.get(name, 3)))
    assert len(inputs) == len({tuple(tokens) for tokens in inputs}) > 50
    assert outputs(built[name], inputs) == [entry.reference(tokens) for tokens in inputs]


@pytest.mark.parametrize("name", NAMES)
def test_what_the_command_line_reads_runs_and_shows_as_json(name, built):
    entry = get(name)
    tokens = entry.read(entry.example)
    shown = entry.show(tokens, built[name].run(tokens).output)
    assert json.loads(json.dumps(shown)) == shown


@pytest.mark.parametrize("name", NAMES)
def test_the_program_carries_its_name_and_a_summary_of_one_line(name, built):
    assert built[name].name == name
    assert "\n" not in get(name).summary


@pytest.mark.parametrize(
    ("name", "words", "shown"),
    [
        ("parity_absolute", ["10101"], [1, 1, 0, 0, 1]),
        ("parity_relative", ["1", "0", "1"], [1, 1, 0]),
        ("parity_relative", ["2", "1", "0", "1"], [1, 1, 0]),
        ("parity_sum_modulo", ["1011"], 1),
        ("addition", ["789", "456"], 1245),
        ("addition", ["34+56"], 90),
        ("addition", ["0", "0"], 0),
        ("addition", ["007", "12345678901234567890"], 12345678901234567897),
        ("sort", ["2", "4", "1", "2"], [1, 2, 2, 4]),
        ("sort", ["3,5,4,2"], [2, 3, 4, 5]),
        ("subleq", ["9", "11", "-1", *"000000", "7", "0", "0"], [9, 11, -1, 0, 0, 0, 0, 0, 0, 7, 0, -7]),
        ("histogram", ["abac"], [2, 1, 2, 1]),
        ("histogram", ["a", "b", "a", "c"], [2, 1, 2, 1]),
        ("double_histogram", ["abbccdddef"], [3, 2, 2, 2, 2, 1, 1, 1, 3, 3]),
        ("reverse", ["abcd"], "dcba"),
        ("most_frequent_sort", ["abbccdddef"], "dbcaef"),
        ("shuffle_dyck_1", ["(()"], False),
        ("shuffle_dyck_1", ["(())"], True),
        ("shuffle_dyck_2", ["({)}"], True),
        ("shuffle_dyck_2", ["(){)}"], False),
        ("fraction_previous", ["hello"], ["0", "0", "1/3", "1/2", "2/5"]),
        ("induction_head", ["abcabb"], "___bcb"),
    ],
)
def test_words_go_in_and_an_answer_comes_out(name, words, shown, built):
    entry = get(name)
    tokens = entry.read(words)
    assert entry.show(tokens, built[name].run(tokens).output) == shown


@pytest.mark.parametrize("name", NAMES)
def test_no_words_at_all_are_refused_with_an_example_that_works(name):
    with pytest.raises(InputError, match="for example: ") as refusal:
        get(name).read([])
    example = str(refusal.value).rsplit("for example: ", 1)[1].replace("'", "")
    assert get(name).read(example.split())


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("parity_absolute", ["1", "2"], "'2' is none of the bits 0 and 1"),
        ("parity_relative", ["1", "2"], "'2' is none of the bits 0 and 1"),
        ("parity_sum_modulo", ["1" * 101], "101 symbols, and the program takes at most 100"),
        ("addition", ["7"], "got '7'; give two whole numbers"),
        ("addition", ["-7", "5"], "give two whole numbers from zero up"),
        ("sort", ["3", "x"], "'x' is not a whole number; give 1 to 400 numbers in 0..15"),
        ("sort", ["3", "16"], "16 is out of range"),
        ("subleq", ["1", "2"], "has 2 numbers; give 3 to 16 numbers in -16..16"),
        ("subleq", ["1", "2", "-17"], "-17 is out of range"),
        ("histogram", ["abz"], "'z' is none of the letters a..h"),
        ("reverse", ["abcdefgh" * 3], "24 symbols, and the program takes at most 16"),
        ("shuffle_dyck_1", ["{}"], "'{' is none of the brackets"),
        ("fraction_previous", ["Hello"], "'H' is none of the letters a..z"),
    ],
)
def test_what_is_wrong_with_the_words_is_said(name, words, message):
    with pytest.raises(InputError) as refusal:
        get(name).read(words)
    assert message in str(refusal.value)


def test_an_unknown_name_is_answered_with_those_that_come_close():
    with pytest.raises(InputError, match=r"no program 'parity_relativ'.*did you mean parity_relative"):
        get("parity_relativ")
    with pytest.raises(InputError, match="there are parity_absolute, "):
        get("xyz")


def test_the_catalog_is_imported_without_jax():
    code = "import sys, kleene.programs.alta.library; print('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


@pytest.mark.parametrize("build", [parity.sum_modulo, parity.sum_modulo_steps])
def test_sum_and_modulo_are_right_for_every_count_of_ones_up_to_the_declared_maximum(build):
    inputs = [[parity.START] + [1] * ones + [0] * (100 - ones) for ones in range(101)]
    assert outputs(build(), inputs) == [[ones % 2] * 101 for ones in range(101)]


def test_sum_and_modulo_refuses_more_bits_than_it_can_count():
    with pytest.raises(InputError, match="at most 6 positions"):
        parity.sum_modulo(most_ones=5).run([parity.START] + [1] * 6)


def test_addition_has_as_many_rules_as_the_one_alta_ships(built):
    assert len(built["addition"].rules()) == 16466


def test_addition_is_right_for_random_numbers_of_up_to_fifty_digits(built):
    rng = random.Random(1)
    pairs = [(rng.randrange(10**digits), rng.randrange(10**digits)) for digits in range(1, 51)]
    inputs = [addition.tokens(str(a), str(b)) for a, b in pairs]
    found = built["addition"].run_batch(inputs, record=False)
    show = get("addition").show
    assert [show(tokens, output) for tokens, output in zip(inputs, found.outputs)] == [a + b for a, b in pairs]
    assert [steps - (len(tokens) - 3) // 2 for steps, tokens in zip(found.steps, inputs)] == [3] * 50


def test_sort_handles_every_order_of_six_numbers_and_takes_a_layer_for_each(built):
    batch = built["sort"].run_batch([list(order) for order in itertools.permutations(range(6))], record=False)
    assert batch.outputs == [[0, 1, 2, 3, 4, 5]] * 720
    assert set(batch.steps.tolist()) == {6}


def test_sizes_are_options():
    assert moving.sort(values=100).run([99, 0, 50]).output == [0, 50, 99]
    assert (
        counting.histogram(letters=2, longest=40).run([2] + [0] * 30 + [1] * 10).output == [0] + [30] * 30 + [10] * 10
    )
    assert parity.absolute(positions=3).run([1, 1, 1]).output == [1, 0, 1]


def machine(*cells):
    return [cell - subleq.SMALLEST for cell in cells]


def test_subleq_has_fewer_rules_than_the_one_alta_ships(built):
    assert len(built["subleq"].rules()) < 43_127


def test_subleq_values_saturate(built):
    output = built["subleq"].run(machine(3, 4, -1, 10, -10)).output
    assert output == machine(3, 4, -1, 10, -16) == subleq.reference(machine(3, 4, -1, 10, -10))


def test_subleq_programs_may_rewrite_the_cell_that_says_where_to_go_on(built):
    # 5 is taken from cell 2, which held 4: the instruction goes on at -1 and not at 4
    output = built["subleq"].run(machine(3, 2, 4, 5)).output
    assert output == machine(3, 2, -1, 5)


@pytest.mark.parametrize(
    ("cells", "head"),
    [
        ((-1, 0, -1), "mem_a"),  # an address below zero
        ((0, 16, -1), "mem_b"),  # beyond the registers
        ((0, 5, -1), "mem_b"),  # beyond this sequence
        ((0, 1, -1), "a"),  # the result is 1, so it goes on at cell 3
        ((0, 0, 15), "a"),  # jumps past the end
    ],
)
def test_subleq_names_the_head_that_finds_no_cell(cells, head, built):
    with pytest.raises(RunError, match="subleq"):
        subleq.reference(machine(*cells))
    with pytest.raises(UndefinedAttentionError, match="no position matches") as error:
        built["subleq"].run(machine(*cells))
    assert error.value.head == head


def test_subleq_says_when_a_machine_never_halts(built):
    with pytest.raises(HaltError):
        built["subleq"].run(machine(0, 0, 0))
    with pytest.raises(RunError, match="not halted after 333 instructions"):
        subleq.reference(machine(0, 0, 0))


def test_subleq_fails_exactly_where_its_reference_does(built):
    rng = random.Random(2)
    failed = 0
    for _ in range(150):
        length = rng.randint(3, 16)
        tokens = machine(*(rng.randint(-2, length) for _ in range(length)))
        try:
            expected = subleq.reference(tokens)
        except RunError as error:
            if "not halted" not in str(error):
                failed += 1
                with pytest.raises(UndefinedAttentionError):
                    built["subleq"].run(tokens)
        else:
            assert built["subleq"].run(tokens).output == expected
    assert 20 < failed < 140


def test_subleq_refuses_a_machine_that_cannot_halt_or_hold_an_instruction():
    with pytest.raises(ProgramError, match="must include -1"):
        subleq.build(smallest=0)
    with pytest.raises(ProgramError, match="needs 3 registers"):
        subleq.build(registers=2)
