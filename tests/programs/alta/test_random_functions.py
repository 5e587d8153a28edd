"""Random Python functions, written out as source: program and network do what Python does, for every assignment."""

import itertools
import math
import random
import textwrap

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.compiling.checking import difference
from kleene.errors import UndefinedAttentionError
from kleene.programs import alta
from kleene.programs.alta.cases import View, act
from kleene.programs.alta.reference import reference_run
from tests.programs.alta.small_programs import Looked, by_the_function

MOST = 3000  # assignments of a random function
SIZES = {"a": 3, "b": 4, "c": 2, "o": 5, "p": 3}
NUMBERS = (0.0, 0.5, 2.0)
SETS = ({0}, {1, 3}, {0, 1, 2, 3})
VARIABLES = {name: alta.input_var(size, init_fn=lambda t, s=size: t % s) for name, size in SIZES.items()} | {
    "n": alta.numeric_var(NUMBERS, input_init_fn=lambda t: NUMBERS[t % 3]),
    "s": alta.set_var(4, SETS, input_init_fn=lambda t: SETS[t // 2 % 3]),
}
HEADS = {
    "h": alta.v_relative("a", 1),  # undefined at the last position
    "g": alta.qkv("b", "a", "c"),  # undefined where the query meets no key, or several
    "m": alta.qkv("c", "c", "n", output_spec=alta.numeric_var((0.0, 1.0))),  # undefined between the two numbers
}
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
        self.heads = {name: HEADS[name] for name in self.rng.sample(list(HEADS), self.rng.choice((0, 0, 1, 1, 2)))}
        names = ["o", *self.rng.sample(["a", "b", "c", "p", "n", "s"], 3), *self.heads]
        self.reads = [f'z["{name}"]' for name in names if name in SIZES or name in ("h", "g")]
        self.reads += ['round(z["n"] * 2)', 'int(z["n"] > 0.4)'] if "n" in names else []
        self.reads += ['len(z["s"])', 'sum(z["s"])', 'int(1 in z["s"])', 'max(z["s"])'] if "s" in names else []
        self.reads += ['int(z["m"] * 2)', 'int(z["m"] == 1)'] if "m" in names else []
        self.reads += [f'[z["{head}"], 1][u == 0]' for head in self.heads if head != "m"]
        self.reads += [f'({{"kept": z["{head}"]}} and 2)' for head in self.heads]
        self.block(1, 3)

    @property
    def source(self) -> str:
        return OPENING + "\n".join(self.lines) + "\n"

    def say(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def value(self, depth: int = 2) -> str:
        if not depth or self.rng.random() < 0.3:
            return self.rng.choice([self.rng.choice(self.reads), *LOCAL, str(self.rng.randrange(4))])
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
            target = self.rng.choice(["o", "o", "p", "a", "n", "s"])
            code = f"int({self.value()}) % {SIZES.get(target, 3)}"
            written = {"n": f"{NUMBERS}[{code}]", "s": f"{SETS}[{code}]"}.get(target, code)
            self.say(depth, f'z["{target}"] = {written}')
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
            self.say(depth, self.rng.choice(["except (ZeroDivisionError, TypeError):", "except Exception:", "except:"]))
            self.block(depth + 1, 0)
            if self.rng.random() < 0.3:
                self.say(depth, "finally:")
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


def built(seed: int) -> tuple[alta.Program, str]:
    writer = Writer(seed)
    function = function_of(writer.source)
    program = alta.program_spec(VARIABLES, writer.heads, function, "o", 60, name="random")
    return program, textwrap.dedent(writer.source)


def assignments(program: alta.Program, seed: int) -> list[dict[str, int]]:
    """All assignments of what the program looks at, -1 for an undefined head; the others are drawn."""
    rng, chosen = random.Random(seed), {}
    cases = [c for group in (program.updates, program.reads) for cases in group.values() for c in cases]
    read = {*program.updates, *(name for c in cases for name in c.variables)}
    least = {name: -1 if name in program.heads else 0 for name in program.sizes}
    for name in sorted(program.sizes, key=lambda name: (name not in read, rng.random())):
        every = range(least[name], program.sizes[name])
        room = MOST // math.prod(map(len, chosen.values()))
        chosen[name] = every if len(every) <= room else [rng.choice(every)]
    return [dict(zip(chosen, codes)) for codes in itertools.product(*chosen.values())]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_program_does_what_python_does_for_every_assignment(seed):
    program, source = built(seed)
    rows = assignments(program, seed)
    codes = {name: np.array([row[name] for row in rows]) for name in program.sizes}
    view = View(codes, {head: codes[head] < 0 for head in program.heads})
    looked = [view.holds(c) & (codes[head] < 0) for head, cases in program.reads.items() for c in cases]
    ends = np.any(looked, axis=0) if looked else np.zeros(len(rows), bool)
    expected = [after(program, row) for row in rows]
    wrong = [r for r, values in enumerate(expected) if ends[r] != (values is None)]
    assert not wrong, f"undefined heads at {rows[wrong[0]]}\n{source}"
    for target in program.variables:
        found, times = codes[target].copy(), np.zeros(len(rows), dtype=int)
        for c in program.updates.get(target, ()):
            holds = view.holds(c)
            np.copyto(found, act(c, codes), where=holds)
            times += holds
        wrong = [r for r, values in enumerate(expected) if values is not None and found[r] != values[target]]
        assert not wrong, f"{target!r} at {rows[wrong[0]]}\n{source}"
        assert times[~ends].max(initial=0) <= 1


def after(program: alta.Program, row: dict[str, int]) -> dict[str, int] | None:
    """The codes after the function was called; None where it used an undefined head."""
    try:
        return by_the_function(program, row, [head for head in program.heads if row[head] < 0])
    except Looked:
        return None


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_network_does_what_python_does(seed):
    program, source = built(seed)
    network = kleene.compile(program)
    rng = random.Random(seed)
    for tokens in (list(range(60)), *([rng.randrange(60) for _ in range(n)] for n in (1, 2, 3, 5, 9))):
        expected, found = (outcome(run, tokens) for run in (lambda t: reference_run(program, t), network.run))
        assert difference(expected, found) is None, f"{difference(expected, found)} on {tokens}\n{source}"


def outcome(run, tokens):
    try:
        return run(tokens)
    except UndefinedAttentionError as error:
        return error
