"""Functions with a rare branch: the program does what its function does there, too.

Of 3,600 combinations of `p` and `q` one is special, so that a random sample does not find it.
"""

import functools

import pytest

from kleene.programs import alta
from kleene.programs.alta.reference import reference_run

COUNT, RARE = 8, 57
TOKENS = 60
OTHER = (7 * RARE + 3) % TOKENS
VARIABLES = {
    "p": alta.input_var(TOKENS),
    "q": alta.input_var(TOKENS, init_fn=lambda token: (7 * token + 3) % TOKENS),
    **{f"x{i}": alta.input_var(3, init_fn=lambda token, i=i: (token >> i) % 3) for i in range(COUNT)},
    **{f"y{i}": alta.var(6) for i in range(COUNT)},
    "o": alta.var(6),
}
scratch: list[int] = []
BODIES = {
    "identity": 'z["o"] = 5 if z["p"] is RARE and z["q"] == OTHER else 2',
    "an applied function that gives None": """
    hit = alta.apply(lambda p, q: None if p == RARE and q == OTHER else 1, z["p"], z["q"])
    z["o"] = 5 if hit is None else 2""",
    "an error past a junction": """
    u = 1
    if z["p"] == RARE:
        try:
            u = 3 // (z["q"] == OTHER)
            k = 1
        except ZeroDivisionError:
            u = 2
    z["o"] = u""",
    "a local that only a handler reads": """
    v = 1
    try:
        if z["p"] != RARE or z["q"] != OTHER:
            v = 3
        z["o"] = 2 // (z["x1"] - z["x1"])
    except ZeroDivisionError:
        z["o"] = v""",
    "a local that is None": """
    found = 1
    if z["p"] == RARE and z["q"] == OTHER:
        found = None
    z["o"] = 5 if found is None else 2""",
    "a local that is True": """
    hit = False
    if z["p"] == RARE and z["q"] == OTHER:
        hit = True
    z["o"] = 5 if hit is True else 2""",
    "an error that leads into the next turn of a loop": """
    total = 0
    for i in range(3):
        try:
            k = 2 // (1 if i or z["p"] != RARE or z["q"] != OTHER else 0)
            total += 1
        except ZeroDivisionError:
            pass
    z["o"] = total""",
    "a list outside": """
    scratch.clear()
    if z["p"] != RARE or z["q"] != OTHER:
        scratch.append(1)
    z["o"] = len(scratch)""",
    "closures of one code": """
    def make(k):
        return lambda x: (x + k) % 6
    if z["p"] != RARE or z["q"] != OTHER:
        g = make(2)
    else:
        g = make(1)
    z["o"] = g(z["x1"])""",
    "lists that are one": """
    row = [0]
    if z["p"] != RARE or z["q"] != OTHER:
        rows = [row, [0]]
    else:
        rows = [row, row]
    rows[0].append(1)
    z["o"] = len(rows[1])""",
    "locals by name": """
    k = 1
    if z["p"] == RARE and z["q"] == OTHER:
        k = 2
    z["o"] = locals()["k"]""",
    "a cache": """
    z["o"] = cached(z["p"] - RARE - 1, z["q"])""",
    "defaults by keyword": """
    for i in range(2):
        z["o"] = alta.apply(lambda p, q, *, k=i: 5 if k and p == RARE and q == OTHER else 1, z["p"], z["q"])""",
    "a closure that changes": """
    k = 1
    def look(p, q):
        return k if p == RARE and q == OTHER else 1
    alta.apply(look, z["p"], z["q"])
    k = 5
    z["o"] = alta.apply(look, z["p"], z["q"])""",
    "not a number": """
    x = alta.apply(lambda p, q: float("nan") if p == RARE and q == OTHER else 1.0, z["p"], z["q"])
    z["o"] = 1 if str(x) == "nan" else 2""",
    "a negative zero": """
    x = alta.apply(lambda p, q: -0.0 if p == RARE and q == OTHER else 0.0, z["p"], z["q"])
    z["o"] = 5 if str(x) == "-0.0" else 2""",
    "True in a tuple": """
    x = alta.apply(lambda p, q: (True,) if p == RARE and q == OTHER else (1,), z["p"], z["q"])
    z["o"] = 5 if repr(x) == "(True,)" else 2""",
    "errors of one class": """
    def chosen(p, q):
        if q in (OTHER, 50):
            raise ValueError(4 if p == RARE and q == OTHER else 1)
        return 0
    try:
        z["o"] = alta.apply(chosen, z["p"], z["q"])
    except ValueError as error:
        z["o"] = error.args[0]""",
    "a table that a guard keeps small": """
    if z["p"] < 4:
        z["o"] = (1 << (z["p"] ** 6)) % 5""",
    "an applied function that does not end outside its guard": """
    def halvings(n):
        steps = 0
        while n != 1:
            n, steps = n // 2 if n else n, steps + 1
        return steps % 6
    if z["p"] > 0:
        z["o"] = alta.apply(halvings, z["p"])""",
    "a long chain of operations": """
    a, b = z["x0"], z["x1"]
    for _ in range(60):
        a, b = b, (a + b) % 6
    z["o"] = a""",
    "a name that is computed": """
    z[alta.apply(lambda p, q: "o" if p == RARE and q == OTHER else "y0", z["p"], z["q"])] = 1""",
}


def made(body: str):
    """A function with this body, and what it may name."""
    names = {"alta": alta, "RARE": RARE, "OTHER": OTHER, "scratch": scratch}
    names["cached"] = functools.lru_cache(None)(lambda d, q: 5 if d == -1 and q == OTHER else 1)
    exec(f"def mlp(z):\n    {body.strip()}\n", names)
    return names["mlp"]


@pytest.mark.parametrize("name", BODIES)
def test_a_rare_branch_is_found(name):
    program = alta.program_spec(VARIABLES, {}, made(BODIES[name]), "o", TOKENS, 8)
    plain = made(BODIES[name])  # without what asking has left in caches
    for token in (RARE, RARE - 1, 0, 50, 54):
        expected = {"o": 0}
        values = {n: (v.input_init_fn or (lambda _: 0))(token) for n, v in VARIABLES.items()}
        plain(_Writes(values, expected))
        assert program.run([token]).output == [expected["o"]], token


class _Writes(dict):
    def __init__(self, values, written):
        super().__init__(values)
        self.written = written

    def __setitem__(self, name, value):
        self.written[name] = value


@pytest.mark.parametrize("name", ["a local that is None", "a local that is True", "a list outside", "not a number"])
def test_a_rare_branch_of_everyday_python_is_not_refused(name):
    program = alta.program_spec(VARIABLES, {}, made(BODIES[name]), "o", TOKENS, 8)
    assert program.run([RARE]).output == reference_run(program, [RARE]).output
