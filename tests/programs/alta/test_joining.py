"""Branches that meet again are explored once: the cases are the function's all the same, and the paths are few."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kleene.errors import TracingError
from kleene.programs import alta
from kleene.programs.alta.exploring import explore
from kleene.programs.alta.random_programs import generate
from kleene.programs.alta.trees import cases_of
from kleene.programs.alta.validation import Validation, validate
from tests.programs.alta import test_everyday_python

COUNT = 20
VARIABLES = {f"x{i}": alta.input_var(3) for i in range(COUNT)} | {f"y{i}": alta.var(10) for i in range(COUNT)}
TABLE = [7, 0, 4]


def joined(mlp, variables, heads=None, most=2_000) -> Validation:
    """How the cases of the function, branches joined from the first, were found to be the function's."""
    heads = heads or {}
    tree = explore(mlp, variables, heads, joined=0, most=most).tree
    sizes = {n: len(v.domain) for n, v in (variables | heads).items()}
    updates = {v: cases_of(tree, lambda leaf, v=v: leaf.writes.get(v), sizes) for v in variables}
    return validate(mlp, variables, heads, updates, most=20_000)


def ifs_in_a_loop(z):
    for i in range(COUNT):
        if z[f"x{i}"] == 1:
            z[f"y{i}"] = 1


def lookups(z):
    for i in range(COUNT):
        z[f"y{i}"] = TABLE[z[f"x{i}"]]


def local_variables(z):
    for i in range(COUNT):
        value = 2
        if z[f"x{i}"] > 1:
            value = z[f"y{i}"]
        elif z[f"x{i}"] > 0:
            value, rest = divmod(value + 3, 2)
            value += rest
        z[f"y{i}"] = value


def temporaries_that_only_one_branch_has(z):
    for i in range(COUNT):
        if z[f"x{i}"]:
            other = (i + 1) % COUNT
            z[f"y{i}"] = z[f"x{other}"]


def a_while_loop(z):
    k = 0
    while k < COUNT:
        if z[f"x{k}"] and z[f"x{(k + 1) % COUNT}"]:
            z[f"y{k}"] = 5
        k += 1


def loops_in_branches(z):
    for i in range(12):
        if z[f"x{i}"] == 1:
            z[f"y{i}"] = 1
        elif z[f"x{i}"] == 2:
            for j in range(3):
                if z[f"x{j}"] == j:
                    z[f"y{i}"] = 3 + j


def errors_that_are_caught(z):
    i = 0
    while i < COUNT:
        try:
            z[f"y{i}"] = 2 // z[f"x{i}"]
        except ZeroDivisionError:
            z[f"y{i}"] = 9
        i += 1


def last_write_wins(z):
    for i in range(COUNT):
        if z[f"x{i}"] == 1:
            z["y0"] = i % 10


def _one_or_two(z, i):
    if z[f"x{i}"] == 1:
        return 1
    return 2


def calls_that_branch(z):
    for i in range(COUNT):
        z[f"y{i}"] = _one_or_two(z, i)


def expressions_that_branch(z):
    for i in range(COUNT):
        z[f"y{i}"] = 4 if z[f"x{i}"] == 1 else z[f"y{i}"]


MANY = [
    ifs_in_a_loop, lookups, local_variables, temporaries_that_only_one_branch_has, a_while_loop, loops_in_branches,
    errors_that_are_caught, last_write_wins, calls_that_branch, expressions_that_branch,
]  # fmt: skip


@pytest.mark.parametrize("mlp", MANY, ids=lambda f: f.__name__)
def test_independent_branches_do_not_multiply(mlp):
    joined(mlp, VARIABLES)  # 3²⁰ paths if they did
    assert alta.program_spec(VARIABLES, {}, mlp, "y0", 3).validation is not None


EVERYDAY = [f for f in test_everyday_python.FUNCTIONS if not isinstance(f, type)]


@pytest.mark.parametrize("mlp", EVERYDAY, ids=lambda f: f.__name__)
def test_joined_branches_of_everyday_python_are_the_functions(mlp):
    from tests.programs.alta.small_programs import VARIABLES as SMALL

    joined(mlp, SMALL, {"h": SMALL["a"]})


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_joined_branches_of_random_programs_are_the_functions(seed):
    program = generate(seed).program
    assume(callable(program.mlp))
    joined(program.mlp, dict(program.variables), dict(program.outputs), most=20_000)


def test_branches_that_leave_lists_behind_are_kept_apart():
    def mlp(z):
        found = []
        for i in range(4):
            if z[f"x{i}"]:
                found.append(i)
        z["y0"] = sum(found)

    assert joined(mlp, VARIABLES).exhaustive


def test_branches_that_return_are_kept_apart():
    def mlp(z):
        for i in range(6):
            if z[f"x{i}"] == 2:
                return
            z[f"y{i}"] = 1

    assert joined(mlp, VARIABLES).exhaustive


def test_a_trace_function_of_the_users_is_put_back():
    import sys

    def tracer(frame, event, argument):
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        joined(lookups, VARIABLES)
        after = sys.gettrace()
    finally:
        sys.settrace(before)
    assert after is tracer


def test_few_paths_are_not_joined():
    few = lambda z: z.update(y0=TABLE[z["x0"]])  # noqa: E731
    explore(few, VARIABLES, {}, most=0)  # to join branches would take more paths than that
    with pytest.raises(TracingError, match="more than 0 paths"):
        explore(few, VARIABLES, {}, joined=1, most=0)
