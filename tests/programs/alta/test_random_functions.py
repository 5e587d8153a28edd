"""Random Python functions, written out as source: the program does what Python does, for every assignment."""

import itertools
import random
import textwrap

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.programs import alta
from kleene.programs.alta.cases import View, act

SIZES = {"a": 3, "b": 4, "c": 2, "o": 5, "p": 3}
VARIABLES = {name: alta.input_var(size, init_fn=lambda t, s=size: t % s) for name, size in SIZES.items()}
OPENING = """
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __eq__(self, other):
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)
    __hash__ = None

class Stop(Exception):
    pass

def triangle(n):
    return n + triangle(n - 1) if n > 0 else 0

def checked(x):
    if x > 2:
        raise Stop(x)
    return x

def below(n):
    for i in range(n):
        yield i * i
"""
LOCAL = ("u", "v")


class Writer:
    """Writes a random function: statements, loops, calls, classes, patterns, generators and exceptions."""

    def __init__(self, seed: int):
        self.rng, self.lines = random.Random(seed), ["def f(z):", "    u, v, found = 0, 1, []"]
        self.block(1, 3)

    @property
    def source(self) -> str:
        return OPENING + "\n".join(self.lines) + "\n"

    def say(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def value(self, depth: int = 2) -> str:
        if not depth or self.rng.random() < 0.3:
            return self.rng.choice([f'z["{self.rng.choice(list(SIZES))}"]', *LOCAL, str(self.rng.randrange(4))])
        x, y = self.value(depth - 1), self.value(depth - 1)
        return self.rng.choice([
            f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} // ({y} + 1) if {y} >= 0 else {x})",
            f"abs({x} - {y})",
            f"({x} if {self.condition(0)} else {y})", f"max({x}, {y})", f"sum([{x}, {y}])", f"triangle({x})",
            f"sum(below({x} % 4))", f"{{0: {x}, 1: {y}}}.get({x}, 2)", f"len({{{x}, {y}}})", f"divmod({x}, 3)[1]",
            f"int(str({x})[-1])", f"Point({x}, {y}).x", f"sorted([{x}, {y}])[0]", f"[*range(abs({x}) + 1)][-1]",
        ])  # fmt: skip

    def condition(self, depth: int = 1) -> str:
        x, y = self.value(depth), self.value(depth)
        return self.rng.choice([
            f"{x} == {y}", f"{x} < {y}", f"{x} in (1, {y})", f"not {x}", f"0 < {x} <= {y}", f"{x} and {y} > 1",
            f"type({x}) is int", f"isinstance({x}, bool)", f"Point({x}, 0) == Point({y}, 0)", f"format({x}) == '1'",
            f"any(i == {y} for i in range(abs({x})))",
        ])  # fmt: skip

    def block(self, depth: int, budget: int) -> None:
        for _ in range(self.rng.randint(1, 3)):
            self.statement(depth, budget)

    def statement(self, depth: int, budget: int) -> None:
        kind = self.rng.choice(["write", "write", "write", "local", "if", "for", "while", "try", "match"])
        if kind == "write" or not budget:
            target = self.rng.choice(["o", "p", "a"])
            self.say(depth, f'z["{target}"] = int({self.value()}) % {SIZES[target]}')
        elif kind == "local":
            self.say(depth, f"{self.rng.choice(LOCAL)} = int({self.value()}) % 7")
        elif kind == "if":
            self.say(depth, f"if {self.condition()}:")
            self.block(depth + 1, budget - 1)
            if self.rng.random() < 0.5:
                self.say(depth, "else:")
                self.block(depth + 1, budget - 1)
        elif kind == "for":
            self.say(depth, f"for u in range(int(abs({self.value(1)})) % 4):")
            self.block(depth + 1, budget - 1)
            self.say(depth + 1, f"if {self.condition(0)}: {self.rng.choice(['break', 'continue', 'found.append(u)'])}")
        elif kind == "while":
            self.say(depth, f"v = int(abs({self.value(1)})) % 4")
            self.say(depth, "while v > 0:")
            self.say(depth + 1, "v -= 1")
            self.say(depth + 1, f"u = (u + {self.value(1)}) % 9")
        elif kind == "try":
            self.say(depth, "try:")
            self.say(depth + 1, f"u = checked(int({self.value(1)}))")
            self.block(depth + 1, budget - 1)
            self.say(depth, "except Stop as stop:")
            self.say(depth + 1, "u = int(stop.args[0]) % 5")
            self.say(depth, "except (ZeroDivisionError, TypeError):")
            self.block(depth + 1, 0)
        else:
            self.say(depth, f"match {self.value(1)}:")
            self.say(depth + 1, "case 0 | 2:")
            self.block(depth + 2, 0)
            self.say(depth + 1, f"case x if x > {self.value(0)}:")
            self.block(depth + 2, 0)


def function_of(source: str):
    names: dict = {}
    exec(compile(source, "<random function>", "exec"), names)
    return names["f"]


def by_python(function, values: dict[str, int]) -> dict[str, int]:
    """The variables after the function, called on an ordinary dict that keeps writes apart."""

    class Apart(dict):
        def __setitem__(self, name, value):
            written[name] = value

    written: dict[str, int] = {}
    function(Apart(values))
    return values | written


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_program_does_what_python_does_for_every_assignment(seed):
    source = Writer(seed).source
    function = function_of(source)
    program = alta.program_spec(VARIABLES, {}, function, "o", 100, name="random")
    rows = [dict(zip(SIZES, codes)) for codes in itertools.product(*map(range, SIZES.values()))]
    expected = [by_python(function, row) for row in rows]
    codes = {name: np.array([row[name] for row in rows]) for name in SIZES}
    for target in SIZES:
        found, times = codes[target].copy(), np.zeros(len(rows), dtype=int)
        for c in program.updates.get(target, ()):
            holds = View(codes).holds(c)
            np.copyto(found, act(c, codes), where=holds)
            times += holds
        wrong = [r for r, (a, b) in enumerate(zip(found.tolist(), expected)) if a != b[target]]
        assert not wrong, f"{target!r} at {rows[wrong[0]]}\n{textwrap.dedent(source)}"
        assert times.max(initial=0) <= 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_network_does_what_python_does(seed):
    source = Writer(seed).source
    function = function_of(source)
    program = alta.program_spec(VARIABLES, {}, function, "o", 100, name="random")
    network = kleene.compile(program)
    tokens = list(range(60))
    values = [{name: token % size for name, size in SIZES.items()} for token in tokens]
    expected = [by_python(function, row) for row in values]
    run = network.run(tokens)
    for name in SIZES:
        assert run[name][-1].tolist() == [row[name] for row in expected], f"{name}\n{source}"
