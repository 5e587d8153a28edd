"""Random transformer programs, written as the Python source that a user could have written.

Property tests and the fuzzer share this generator: `generate(seed)` is always the same program, and its source runs
on its own, so that a failure is reported by printing it.
"""

import itertools
import linecache
import random
import re
import zlib
from collections import deque
from dataclasses import dataclass

from kleene.programs.alta.program import Program

# For programs that average: numbers that floats hold inexactly, with near and far neighbours.
NASTY: tuple[str, ...] = (
    "0", "0.1", "1/3", "-1/3", "0.3", "1", "-1", "0.7", "1/7", "2.5", "0.01", "-0.9", "1e-3", "64/63",
)  # fmt: skip
NUMBERS = ("-2", "-1", "-0.5", "-1/3", "0", "0.1", "1/3", "0.5", "2/3", "1", "1.5", "3")
OPENING = """import math
from kleene.programs import alta

def clip(x, size):
    return max(0, min(x, size - 1))

def mix(x, y):
    if x == y:
        return x + 1
    return 2 * x - y
"""

# The holes in the expressions below: {i} is an integer, {c} a condition, {n} a number, {s} a set, {k} a small constant.
# The second list of each has forms that decide, and so multiply the paths of the function.
FORMS = {
    "i": (
        ["({i} + {i})", "({i} - {i})", "({i} * {k})", "({i} * {i})", "abs({i} - {i})", "({i} // 2)", "({i} % 3)",
         "(-{i})", "({i} ^ {i})", "({i} & 3)", "({i} | {i})", "(({i} == {i}) + {i})", "(({i} < {i}) ^ 1)", "(3 - {i})",
         "sum(({i}, {i}, {k}))", "round({n})", "math.floor({n} * 2)", "(1 << ({i} % 3))", "pow({i}, 2, 5)",
         "(6 // (1 + abs({i})))"],
        ["min({i}, {i})", "max({i}, {k})", "(1, 3, 0)[{i} % 3]", "{0: 2, 1: 0}.get({i}, 1)", "mix({i}, {i})",
         "int({n})", "({i} if {c} else {i})", "len({s})", "len({1, 2} - {s})", "sorted(({i}, {i}))[1]", "int({c})",
         "([1, 0], [2, 1])[{i} % 2][{i} % 2]"],
    ),
    "c": (
        ["{i} == {i}", "{i} != {i}", "{i} < {i}", "{i} <= {i}", "{i} >= {k}", "{i} == {k}", "{i}", "not {i}",
         "{i} in {s}", "{k} in {s}", "{s} <= {0, 2}", "{s} == {s}", "{i} in {s} | {0}", "{n} < {n}", "{n} == {n}",
         "{n} >= 1/3", "{n} + {n} > 1", "(1 < {i}) == ({i} > 1)"],
        ["{i} in (1, 2)", "0 < {i} <= 2", "not ({c})", "({c}) and ({c})", "({c}) or ({c})", "{i} not in {s}",
         "{i} != {i} != {k}", "any(({c}, {c}))", "{i} in {0: 1, 3: 1}"],
    ),
}  # fmt: skip


_kept: deque[str] = deque(maxlen=1000)  # the files of the latest programs


@dataclass(frozen=True)
class GeneratedProgram:
    """A random program and the source that it was built from."""

    seed: int
    source: str
    program: Program


def generate(seed: int, *, averaging: bool = False) -> GeneratedProgram:
    """The random program of this seed. All are meant to be accepted: an error shows the source that was refused.

    An `averaging` program reads the mean of numbers that floats hold inexactly, over all or a part of its input.

    >>> generate(1).source == generate(1).source
    True
    """
    source = Writer(random.Random(seed), averaging).program()
    return GeneratedProgram(seed, source, build(source))


def random_program(rng: random.Random) -> Program:
    """A random program, drawn from a generator of random numbers."""
    return build(Writer(rng).program())


def random_inputs(rng: random.Random, program: Program, count: int, longest: int) -> list[list[int]]:
    """Random inputs of 1 to `longest` tokens, none longer than the program takes."""
    longest = min(longest, program.position_range or longest)
    return [[rng.randrange(program.input_range) for _ in range(rng.randint(1, longest))] for _ in range(count)]


def build(source: str) -> Program:
    """The `program` that a source defines; the source is kept where `inspect` and tracebacks find it."""
    file = f"<random program {zlib.crc32(source.encode()):08x}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    if len(_kept) == _kept.maxlen:  # memory would not hold a million programs
        linecache.cache.pop(_kept[0], None)
    _kept.append(file)
    namespace: dict = {"__name__": "random_program"}
    try:
        exec(compile(source, file, "exec"), namespace)
    except Exception as error:
        error.add_note(source)
        raise
    return namespace["program"]


@dataclass(frozen=True)
class Slot:
    """A variable or a head's output: its declaration, the source of its values, and a condition under which it may be
    read (empty for always, None where no simple condition is known)."""

    name: str
    kind: str
    values: tuple[str, ...]
    declared: str
    guard: str | None = ""

    @property
    def read(self) -> str:
        return f'z["{self.name}"]'


class Writer:
    """Writes one program. `budget` is how many more decisions its function may take."""

    def __init__(self, rng: random.Random, averaging: bool = False):
        self.rng, self.averaging = rng, averaging
        self.input_range, self.position_range = rng.choice((1, 2, 2, 3, 4)), rng.choice((None, 5, 7))
        if averaging:
            self.input_range, self.position_range = rng.choice((2, 2, 3, 4)), None
        self.variables: dict[str, Slot] = {}
        self.fixed: set[str] = set()  # variables that the MLP leaves alone
        self.lines: list[str] = []
        self.budget = rng.randint(2, 8)
        self.readable: list[Slot] = []
        self.names: list[str] = []  # local variables, all of them integers

    def program(self) -> str:
        self.declare_variables()
        self.heads = [self.head(name) for name in "hgf"[: self.rng.randint(0, 1 if self.averaging else 3)]]
        if self.averaging:
            self.heads += [self.average(name) for name in "mn"[: self.rng.randint(1, 2)]]
        halt, layers = self.halting()
        write, mlp, by = (self.rules, "rules", "_from_rules") if self.chance(0.15) else (self.function, "mlp", "")
        write()
        parts: list[str] = []
        for name, slots in (("variables", self.variables.values()), ("heads", self.heads)):
            parts += [f"{name} = {{", *(f'    "{slot.name}": {slot.declared},' for slot in slots), "}"]
        output = self.rng.choice(self.slots("category")).name
        arguments = f'variables, heads, {mlp}, "{output}", {self.input_range}, {self.position_range}, {halt}'
        made = f'program = alta.program_spec{by}(\n    {arguments}, max_layers={layers}, name="random"\n)\n'
        return "\n".join([OPENING, *parts, "", *self.lines, "", made])

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def say(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    # Variables, heads and halting

    def slots(self, *kinds: str) -> list[Slot]:
        return [slot for slot in self.variables.values() if slot.kind in kinds]

    def declare_variables(self) -> None:
        if self.position_range and self.chance(0.7):
            places = [str(i) for i in range(self.position_range)]
            self.variable("place", "category", places, "position_init_fn=lambda i: i")
            self.fixed.add("place")
        kinds = ["category", *self.rng.choices(("category", "number", "set"), (3, 2, 1), k=self.rng.randint(1, 4))]
        for name, kind in zip("abcde", kinds):
            if kind == "category":
                self.variable(name, kind, [str(i) for i in range(self.rng.randint(1, 5))])
            elif kind == "number":
                self.variable(name, kind, self.rng.sample(NUMBERS, self.rng.randint(2, 5)))
            else:
                members = range(self.rng.randint(1, 4))
                subsets = [s for n in range(len(members) + 1) for s in itertools.combinations(members, n)]
                chosen = self.rng.sample(subsets, min(len(subsets), self.rng.randint(2, 4)))
                self.variable(name, kind, ["{" + str(s)[1:-1].strip(",") + "}" if s else "set()" for s in chosen])

    def variable(self, name: str, kind: str, values: list[str], start: str = "") -> None:
        starts = values
        if kind == "number" and self.chance(0.25):  # what is never written may start between the declared values
            self.fixed.add(name)
            starts = [f"{v} + 0.01" for v in values]
        table = ", ".join(self.rng.choices(starts, k=4))
        starting = [f"default={self.rng.choice(starts)}", f"input_init_fn=lambda x: [{table}][x]"]
        starting += [f"position_init_fn=lambda i: [{table}][i % 4]"] * bool(self.position_range)
        listed = f"[{', '.join(values)}]"
        maker = {"category": f"var({len(values)}", "number": f"numeric_var({listed}", "set": f"set_var(4, {listed}"}
        declared = f"alta.{maker[kind]}, {start or self.rng.choice(starting)})"
        self.variables[name] = Slot(name, kind, tuple(values), declared)

    def average(self, name: str) -> Slot:
        """A head that is defined everywhere but where its mean lies between two values."""
        starts = [self.rng.choice(NASTY) for _ in range(4)]
        listed = self.rng.sample(NASTY, self.rng.randint(2, 4))
        values = f"x_{name}"
        written = self.chance(0.3)
        held = sorted(set(starts), key=NASTY.index) if written or self.chance(0.5) else listed
        near = "" if written or held is not listed else f", key=lambda v: abs(v - [{', '.join(starts)}][x])"
        start = f"min([{', '.join(held)}]{near})" if near else f"[{', '.join(starts)}][x]"
        self.variable(values, "number", held, f"input_init_fn=lambda x: {start}")
        if not written:
            self.fixed.add(values)
        if "same" not in self.variables:
            self.variable("same", "category", ["0"], "default=0")
            self.fixed.add("same")
        mask = f", range(-{self.rng.choice((1, 3, 40))}, {self.rng.choice((1, 2))})" if self.chance(0.3) else ""
        known = tuple(held) if self.chance(0.5) and len(held) > 1 else tuple(listed)
        spec = f", output_spec=alta.numeric_var([{', '.join(known)}])"
        return Slot(name, "number", known, f'alta.qkv("same", "same", "{values}"{mask}{spec})', "")

    def head(self, name: str) -> Slot:
        value = self.rng.choice(self.slots("category", "number"))
        text, guard = self.relative(value) if self.chance(0.3) else self.matching(value)
        known, spec = value.values, ""
        if value.kind == "number" and self.chance(0.3):
            known = tuple(self.rng.sample(NUMBERS, self.rng.randint(2, 5)))
            spec = f", output_spec=alta.numeric_var([{', '.join(known)}])"
        elif value.kind == "category" and self.chance(0.1):
            known = (*known, str(len(known)))
            spec = f", output_spec=alta.var({len(known)})"
        return Slot(name, value.kind, known, f"alta.{text}{spec})", guard)

    def relative(self, value: Slot) -> tuple[str, str | None]:
        offset = self.rng.randint(-2, 2)
        guard = f'z["place"] >= {-offset}' if offset < 0 and "place" in self.variables else None
        return f'v_relative("{value.name}", {offset}', guard if offset else ""

    def matching(self, value: Slot) -> tuple[str, str | None]:
        query, key = self.rng.choice(self.slots("category", "set")), self.rng.choice(self.slots("category"))
        if self.chance(0.5):
            key = self.variables.get("place", key)
        mask = f", {sorted(self.rng.sample(range(-3, 4), self.rng.randint(1, 4)))}" if self.chance(0.3) else ""
        guard = f"{query.read} == {'0' if query.kind == 'category' else '{0}'}" if key.name == "place" else None
        if query == key and (key.name == "place" or value.kind == "number"):
            guard = ""
        return f'qkv("{query.name}", "{key.name}", "{value.name}"{mask}', None if mask else guard

    def halting(self) -> tuple[str, int]:
        if self.chance(0.5):
            return "None", self.rng.randint(1, 4)
        if self.chance(0.2):  # may never halt
            slot = self.rng.choice(self.slots("category"))
            return f'alta.halt_spec("{slot.name}", {self.rng.choice(slot.values)})', 5
        size = self.rng.randint(2, 4)
        self.variable("clock", "category", [str(i) for i in range(size)])
        self.fixed.add("clock")
        return f'alta.halt_spec("clock", {size - 1})', 10

    # The function

    def fill(self, hole: str, depth: int) -> str:
        """The source of a random expression of the kind that the hole takes."""
        if hole in "ns":
            return self.rng.choice(self.reads("number" if hole == "n" else "set"))
        simple = [*self.names, *self.reads("category")] if hole == "i" and self.chance(0.9) else []
        if hole == "k" or (hole == "i" and (depth <= 0 or self.chance(0.4))):
            return self.rng.choice(simple or ["0", "1", "2", "3"])
        deciding = depth > 0 and self.budget > 0 and self.chance(0.3)
        self.budget -= deciding
        absent = [h for h, kind in (("{n}", "number"), ("{s}", "set")) if not self.reads(kind)]
        form = self.rng.choice([f for f in FORMS[hole][deciding] if not any(h in f for h in absent)])
        return re.sub(r"\{([a-z])\}", lambda inner: self.fill(inner[1], depth - 1), form)

    def reads(self, kind: str) -> list[str]:
        return [slot.read for slot in self.readable if slot.kind == kind]

    def function(self) -> None:
        safe = [h for h in self.heads if h.guard == "" or self.chance(0.15)]
        self.readable = [*self.variables.values(), *safe]
        self.say(0, "def mlp(z):")
        if "clock" in self.variables:
            self.say(1, f'z["clock"] = min(z["clock"] + 1, {len(self.variables["clock"].values) - 1})')
        for head in self.heads:
            if self.averaging and head.name in "mn" and self.chance(0.9):
                shown = self.rng.choice((f"{head.read} > {head.values[0]}", f"{head.read} == {head.values[-1]}"))
                self.branch(1, f"if {shown}:")
        self.block(1)
        for head in self.heads:
            if head.guard and head not in safe:
                self.branch(1, f"if {head.guard}:", head)

    def block(self, indent: int) -> None:
        names = list(self.names)
        for _ in range(self.rng.randint(1, 3)):
            self.statement(indent)
        self.names = names

    def branch(self, indent: int, opening: str, *heads: Slot) -> None:
        self.budget -= 1
        self.say(indent, opening)
        self.readable.extend(heads)
        self.block(indent + 1)
        del self.readable[len(self.readable) - len(heads) :]

    def statement(self, indent: int) -> None:
        if indent > 1 and self.chance(0.05):
            self.say(indent, "return")
        elif self.budget > 0 and indent < 4 and self.chance(0.4):
            self.branch(indent, f"if {self.fill('c', 2)}:")
            if self.budget > 0 and self.chance(0.3):
                self.branch(indent, f"elif {self.fill('c', 1)}:")
            if self.chance(0.3):
                self.branch(indent, "else:")
        elif self.chance(0.15):
            name = f"x{len(self.lines)}"
            self.say(indent, f"{name} = {self.fill('i', 2)}")
            self.names.append(name)
        else:
            target = self.rng.choice([s for s in self.variables.values() if s.name not in self.fixed])
            self.say(indent, f"{target.read} = {self.written(target)}")

    def written(self, target: Slot) -> str:
        """An expression whose value the target always takes."""
        size, whole = len(target.values), self.fill("i", 3)
        if self.budget > 0 and self.chance(0.3):
            self.budget -= 1
            choices = [f"({', '.join(self.rng.choices(target.values, k=3))})[{whole} % 3]"]
            if target.kind == "category":
                choices += [f"clip({whole}, {size})", f"{whole} if 0 <= {whole} < {size} else {size - 1}"]
                choices += [f"({', '.join(target.values)},)[{whole}] if {whole} in range({size}) else 0"]
            return self.rng.choice(choices)
        choices = [s.read for s in self.readable if s.kind == target.kind and set(s.values) <= set(target.values)]
        if target.kind == "category":
            choices += [f"{whole} % {size}"] * 3 + [f"{whole} < {self.fill('i', 2)}"] * (size > 1)
        return self.rng.choice([*choices, self.rng.choice(target.values)])

    # Rules

    def rules(self) -> None:
        """Rules of up to three conditions, of which no two with different results can hold at once."""
        tested = [*self.variables.values(), *(h for h in self.heads if h.guard is not None or self.chance(0.2))]
        targets = [s for s in self.variables.values() if s.name not in self.fixed]
        self.say(0, "builder = alta.MLPBuilder(variables, heads)")
        if "clock" in self.variables:
            self.say(0, 'for clock in builder.get("clock"):')
            self.say(1, f'builder.set("clock", min(clock + 1, {len(self.variables["clock"].values) - 1}))')
        self.say(0, "rules = builder.rules + [")
        rules: list[tuple[dict[str, str], str, str]] = []
        for _ in range(self.rng.randint(1, 12)):
            chosen = self.rng.sample(tested, self.rng.randint(0, min(3, len(tested))))
            tests, target = {s.name: self.rng.choice(s.values) for s in chosen}, self.rng.choice(targets)
            value = self.rng.choice(target.values)
            meeting = [r for r in rules if r[1] == target.name and all(tests.get(n, v) == v for n, v in r[0].items())]
            if all(r[2] == value for r in meeting):
                rules.append((tests, target.name, value))
                antecedent = " ".join(f'("{n}", {v}),' for n, v in tests.items())
                self.say(1, f'alta.Rule(({antecedent}), "{target.name}", {value}),')
        self.say(0, "]")
