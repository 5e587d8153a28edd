"""One table of library programs with inputs and the outputs they must give, for every stage to be tested on."""

from typing import NamedTuple


class Example(NamedTuple):
    """A program by name, an input, the whole output, and how many layers it takes."""

    name: str
    tokens: list[int]
    output: list[int]
    layers: int


def _machine(*cells: int) -> list[int]:
    return [cell + 16 for cell in cells]


def _parser(*words: int) -> list[int]:
    return [16, 17, *[18] * 6, 19, *[20] * 7, 12, *words, 14, *[15] * 4]


EXAMPLES = [
    Example("parity_absolute", [1, 0, 1, 0, 1], [1, 1, 0, 0, 1], 4),
    Example("parity_absolute", [1], [1], 0),
    Example("parity_relative", [2, 1, 0, 1, 0, 1], [0, 1, 1, 0, 0, 1], 5),
    Example("parity_relative", [2], [0], 0),
    Example("parity_sum_modulo", [2, 1, 0, 1, 1], [1, 1, 1, 1, 1], 1),
    Example("parity_sum_modulo_steps", [2, 1, 0, 1, 1], [1, 1, 1, 1, 1], 2),
    # 789 + 456 = 1245 and 34 + 56 = 90, the last carry in place of the '+'
    Example("addition", [10, 7, 8, 9, 11, 4, 5, 6, 12], [0, 0, 0, 0, 1, 2, 4, 5, 0], 6),
    Example("addition", [10, 3, 4, 11, 5, 6, 12], [0, 0, 0, 0, 9, 0, 0], 5),
    Example("sort", [3, 5, 4, 2], [2, 3, 4, 5], 4),
    Example("sort", [2, 4, 1, 2], [1, 2, 2, 4], 4),
    Example("sort", [7], [7], 1),
    # adds cells 9 and 10; negates cell 9 into cell 11; takes cell 10 from cell 9 until nothing is left
    Example(
        "subleq",
        _machine(9, 11, 3, 11, 10, 6, 11, 11, -1, 5, 10, 0),
        _machine(9, 11, 3, 11, 10, 6, 11, 11, -1, 5, 15, 0),
        9,
    ),
    Example(
        "subleq", _machine(9, 11, -1, 0, 0, 0, 0, 0, 0, 7, 0, 0), _machine(9, 11, -1, 0, 0, 0, 0, 0, 0, 7, 0, -7), 3
    ),
    Example(
        "subleq",
        _machine(10, 9, -1, 11, 11, 0, 0, 0, 0, 3, 1, 0),
        _machine(10, 9, -1, 11, 11, 0, 0, 0, 0, 0, 1, 0),
        15,
    ),
    # START is 8: abac, abbccdddef, abbccdddef, abcab
    Example("histogram", [8, 0, 1, 0, 2], [0, 2, 1, 2, 1], 1),
    Example("double_histogram", [8, 0, 1, 1, 2, 2, 3, 3, 3, 4, 5], [0, 3, 2, 2, 2, 2, 1, 1, 1, 3, 3], 2),
    Example("reverse", [0, 1, 2, 3], [3, 2, 1, 0], 2),
    Example("most_frequent_sort", [8, 0, 1, 1, 2, 2, 3, 3, 3, 4, 5], [8, 3, 1, 2, 0, 4, 5, 8, 8, 8, 8], 3),
    Example("shuffle_dyck_1", [0, 1, 0, 1, 1, 0], [1, 2, 1, 2, 0, 0], 2),
    # ({)} and (){)}: 0 failed, 1 open, 2 balanced
    Example("shuffle_dyck_2", [0, 2, 1, 3], [1, 1, 1, 2], 2),
    Example("shuffle_dyck_2", [0, 1, 2, 1, 3], [1, 2, 1, 0, 0], 2),
    # hello: 0, 0, 1/3, 1/2, 2/5 among the fractions with denominators up to 16
    Example("fraction_previous", [7, 4, 11, 11, 14], [0, 0, 27, 40, 32], 1),
    Example("induction_head", [8, 0, 1, 2, 0, 1], [8, 8, 8, 8, 1, 2], 3),
    # START jump twice after walk EOS, memory for 3 and for 4: WALK JUMP JUMP
    Example("scan", [12, 3, 9, 13, 0, 14, 15, 15, 15], [0] * 6 + [1, 4, 4], 13),
    Example("scan", [12, 3, 9, 11, 0, 14, 15, 15, 15, 15], [0] * 6 + [4, 4, 1, 0], 10),
    # the same behind 8 cells of stack and 8 of tree
    Example("scan_shift_reduce", _parser(3, 9, 13, 0), [0] * 22 + [1, 4, 4, 0], 28),
    Example("scan_shift_reduce", _parser(3, 9, 11, 0), [0] * 22 + [4, 4, 1, 0], 28),
]
