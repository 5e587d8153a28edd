"""Random transformer programs, written as the Python source that a user could have written.

Property tests and the fuzzer share this generator: `generate(seed)` is always the same program, and its source runs
on its own, so that a failure is reported by printing it.
"""

import itertools
import linecache
import random
import re
import zlib
from dataclasses import dataclass

from kleene.errors import ProgramError
from kleene.programs.alta.program import Program

NUMBERS = ("-2", "-1", "-0.5", "-1/3", "0", "0.1", "1/3", "0.5", "2/3", "1", "1.5", "3")
OPENING = '''import math

from kleene.programs import alta


def clip(x, size):
    return max(0, min(x, size - 1))


def mix(x, y):
    if x == y:
        return x + 1
    return 2 * x - y

'''


# Templates: {i} is an integer, {c} a condition, {n} a number, {s} a set, {k} a small constant.
INTEGERS = (
    "({i} + {i})", "({i} - {i})", "({i} * {k})", "({i} * {i})", "abs({i} - {i})", "({i} // 2)", "({i} % 3)", "(-{i})",
    "({i} ^ {i})", "({i} & 3)", "({i} | {i})", "(({i} == {i}) + {i})", "(({i} < {i}) ^ 1)", "sum(({i}, {i}, {k}))",
    "round({n})", "math.floor({n} * 2)", "(3 - {i})", "(1 << ({i} % 3))", "({i} ** 2 % 5)", "(6 // (1 + abs({i})))",
)  # fmt: skip
DECIDING_INTEGERS = (
    "min({i}, {i})", "max({i}, {k})", "(1, 3, 0)[{i} % 3]", "{0: 2, 1: 0}.get({i}, 1)", "mix({i}, {i})", "int({n})",
    "({i} if {c} else {i})", "len({s})", "sorted(({i}, {i}))[1]", "([1, 0], [2, 1])[{i} % 2][{i} % 2]", "int({c})",
)  # fmt: skip
CONDITIONS = (
    "{i} == {i}", "{i} != {i}", "{i} < {i}", "{i} <= {i}", "{i} >= {k}", "{i} == {k}", "{i}", "{i} in {s}", "{k} in {s}",
    "{s} <= {0, 2}", "{s} == {s}", "{n} < {n}", "{n} == {n}", "{n} >= 1/3", "{n} + {n} > 1", "not {i}", "(1 < {i}) == ({i} > 1)",
)  # fmt: skip
DECIDING_CONDITIONS = (
    "{i} in (1, 2)", "0 < {i} <= 2", "not ({c})", "({c}) and ({c})", "({c}) or ({c})", "{i} not in {s}", "{i} != {i} != {k}",
    "any(({c}, {c}))", "{i} in {0: 1, 3: 1}",
)  # fmt: skip


@dataclass(frozen=True)
class GeneratedProgram:
    """A random program and the source that it was built from."""

    seed: int
    source: str
    program: Program


def generate(seed: int) -> GeneratedProgram:
    """The random program of this seed. A program that is refused is a bug; the error then shows the source.

    >>> generate(1).source == generate(1).source
    True
    """
    source = random_source(random.Random(seed))
    return GeneratedProgram(seed, source, build(source))


def random_program(rng: random.Random) -> Program:
    """A random program, drawn from a source of random numbers."""
    return build(random_source(rng))


def random_inputs(rng: random.Random, program: Program, count: int, longest: int) -> list[list[int]]:
    """Random inputs of 1 to `longest` tokens, none longer than the program takes."""
    longest = min(longest, program.position_range or longest)
    return [[rng.randrange(program.input_range) for _ in range(rng.randint(1, longest))] for _ in range(count)]


def build(source: str) -> Program:
    """The `program` that a source defines; the source is kept where `inspect` and tracebacks find it."""
    file = f"<random program {zlib.crc32(source.encode()):08x}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict = {"__name__": "random_program"}
    try:
        exec(compile(source, file, "exec"), namespace)
    except ProgramError as error:
        error.add_note(source)
        raise
    return namespace["program"]


def random_source(rng: random.Random) -> str:
    """The source of a random program."""
    return Writer(rng).program()


@dataclass(frozen=True)
class Slot:
    """A variable, or the output of a head: `values` are the texts of its values, `guard` is a condition under
    which reading it is safe (empty for always, None where no simple condition is known)."""

    name: str
    kind: str
    values: tuple[str, ...]
    guard: str | None = ""

    @property
    def read(self) -> str:
        return f'z["{self.name}"]'


class Writer:
    """Writes one program. `budget` is how many more decisions the MLP may take: they multiply."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.input_range = rng.randint(1, 4)
        self.position_range = rng.choice((None, 5, 7))
        self.variables: dict[str, tuple[Slot, str]] = {}
        self.heads: dict[str, tuple[Slot, str]] = {}
        self.lines: list[str] = []
        self.budget = rng.randint(2, 8)
        self.fixed: set[str] = set()  # variables that the MLP leaves alone
        self.readable: list[Slot] = []
        self.names: list[str] = []  # local variables, all of them integers

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def program(self) -> str:
        self.declare_variables()
        self.declare_heads()
        halt, layers = self.declare_halting()
        by_rules = self.chance(0.15)
        body = self.rules() if by_rules else self.function()
        table = "variables = {{\n{}}}\nheads = {{\n{}}}\n".format(
            *("".join(f'    "{n}": {text},\n' for n, (_, text) in part.items()) for part in (self.variables, self.heads))
        )
        output = self.rng.choice([s.name for s in self.slots("category")])
        spec, mlp = ("program_spec_from_rules", "rules") if by_rules else ("program_spec", "mlp")
        made = (
            f'program = alta.{spec}(\n    variables, heads, {mlp}, "{output}", {self.input_range}, '
            f'{self.position_range}, {halt}, max_layers={layers}, name="random"\n)\n'
        )
        return f"{OPENING}\n{table}\n\n{body}\n\n{made}"

    # Variables, heads and halting

    def slots(self, kind: str) -> list[Slot]:
        return [slot for slot, _ in self.variables.values() if slot.kind == kind]

    def declare_variables(self) -> None:
        if self.position_range and self.chance(0.7):
            values = tuple(map(str, range(self.position_range)))
            self.variables["place"] = Slot("place", "category", values), f"alta.position_var({self.position_range})"
            self.fixed.add("place")
        kinds = ["category", *self.rng.choices(("category", "number", "set"), (3, 2, 1), k=self.rng.randint(1, 4))]
        for name, kind in zip("abcde", kinds):
            self.variables[name] = getattr(self, f"declare_{kind}")(name)

    def declare_category(self, name: str) -> tuple[Slot, str]:
        size = self.rng.randint(1, 5)
        start = self.start([str(i) for i in range(size)])
        return Slot(name, "category", tuple(map(str, range(size)))), f"alta.var({size}, {start})"

    def declare_number(self, name: str) -> tuple[Slot, str]:
        values = self.rng.sample(NUMBERS, self.rng.randint(2, 5))
        starts = list(values)
        if self.chance(0.25):  # what is never written may start between the declared values
            self.fixed.add(name)
            starts = [f"{v} + 0.01" for v in values]
        return Slot(name, "number", tuple(values)), f"alta.numeric_var([{', '.join(values)}], {self.start(starts)})"

    def declare_set(self, name: str) -> tuple[Slot, str]:
        size = self.rng.randint(1, 4)
        subsets = [s for n in range(size + 1) for s in itertools.combinations(range(size), n)]
        chosen = self.rng.sample(subsets, min(len(subsets), self.rng.randint(2, 4)))
        values = tuple("{" + ", ".join(map(str, s)) + "}" if s else "set()" for s in chosen)
        return Slot(name, "set", values), f"alta.set_var({size}, [{', '.join(values)}], {self.start(list(values))})"

    def start(self, values: list[str]) -> str:
        ways = [f"default={self.rng.choice(values)}", self.looked_up("input_init_fn", values)]
        if self.position_range:
            ways.append(self.looked_up("position_init_fn", values))
        return self.rng.choice(ways)

    def looked_up(self, by: str, values: list[str]) -> str:
        table = self.rng.choices(values, k=self.rng.randint(1, 4))
        return f"{by}=lambda x: [{', '.join(table)}][x % {len(table)}]"

    def declare_heads(self) -> None:
        values = self.slots("category") + self.slots("number")
        for name in "hgf"[: self.rng.randint(0, 3)]:
            value = self.rng.choice(values)
            text, guard = self.relative_head(value) if self.chance(0.3) else self.matching_head(value)
            known, spec = value.values, ""
            if value.kind == "number" and self.chance(0.3):
                known = tuple(self.rng.sample(NUMBERS, self.rng.randint(2, 5)))
                spec = f", output_spec=alta.numeric_var([{', '.join(known)}])"
            elif value.kind == "category" and self.chance(0.1):
                known = (*known, str(len(known)))
                spec = f", output_spec=alta.var({len(known)})"
            self.heads[name] = Slot(name, value.kind, known, guard), f"alta.{text}{spec})"

    def relative_head(self, value: Slot) -> tuple[str, str | None]:
        offset = self.rng.randint(-2, 2)
        guard = f'z["place"] >= {-offset}' if offset < 0 and "place" in self.variables else None
        return f'v_relative("{value.name}", {offset}', guard if offset else ""

    def matching_head(self, value: Slot) -> tuple[str, str | None]:
        categories = self.slots("category")
        query = self.rng.choice(categories + self.slots("set"))
        key = self.variables["place"][0] if "place" in self.variables and self.chance(0.6) else self.rng.choice(categories)
        mask = f", {sorted(self.rng.sample(range(-3, 4), self.rng.randint(1, 4)))}" if self.chance(0.3) else ""
        guard = None
        if query == key and not mask and (key.name == "place" or value.kind == "number"):
            guard = ""
        elif key.name == "place" and not mask:
            guard = f"{query.read} == {'0' if query.kind == 'category' else '{0}'}"
        return f'qkv("{query.name}", "{key.name}", "{value.name}"{mask}', guard

    def declare_halting(self) -> tuple[str, int]:
        if self.chance(0.5):
            return "None", self.rng.randint(1, 4)
        if self.chance(0.2):  # may never halt
            slot = self.rng.choice(self.slots("category"))
            return f'alta.halt_spec("{slot.name}", {self.rng.choice(slot.values)})', 5
        size = self.rng.randint(2, 4)
        start = self.start([str(i) for i in range(size)])
        self.variables["clock"] = Slot("clock", "category", tuple(map(str, range(size)))), f"alta.var({size}, {start})"
        self.fixed.add("clock")
        return f'alta.halt_spec("clock", {size - 1})', 10

    # Expressions and statements

    def expand(self, template: str, depth: int) -> str:
        """The template with its holes filled."""
        return re.sub(r"\{([a-z])\}", lambda hole: self.fill(hole[1], depth - 1), template)

    def fill(self, hole: str, depth: int) -> str:
        if hole == "k":
            return str(self.rng.randint(0, 3))
        if hole in "ns":
            return self.rng.choice(self.reads("number" if hole == "n" else "set"))
        simple = [*self.names, *self.reads("category")]
        if hole == "i" and (depth <= 0 or self.chance(0.4)):
            return self.rng.choice(simple) if simple and self.chance(0.9) else str(self.rng.randint(0, 3))
        plain, deciding = (INTEGERS, DECIDING_INTEGERS) if hole == "i" else (CONDITIONS, DECIDING_CONDITIONS)
        forms = deciding if depth > 0 and self.budget > 0 and self.chance(0.3) else plain
        self.budget -= forms is deciding
        missing = {"{n}": not self.reads("number"), "{s}": not self.reads("set")}
        return self.expand(self.rng.choice([f for f in forms if not any(h in f and m for h, m in missing.items())]), depth)

    def reads(self, kind: str) -> list[str]:
        return [slot.read for slot in self.readable if slot.kind == kind]

    def say(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def function(self) -> str:
        reckless = self.chance(0.2)
        heads = [slot for slot, _ in self.heads.values()]
        self.readable = [s for s, _ in self.variables.values()] + [h for h in heads if reckless or h.guard == ""]
        self.say(0, "def mlp(z):")
        if "clock" in self.variables:
            self.say(1, f'z["clock"] = min(z["clock"] + 1, {len(self.variables["clock"][0].values) - 1})')
        self.block(1)
        for head in heads:
            if head.guard and not reckless and self.chance(0.7):
                self.guarded(1, head.guard, head)
        return "\n".join(self.lines) + "\n"

    def block(self, indent: int) -> None:
        known, names = self.readable, list(self.names)
        for _ in range(self.rng.randint(1, 3)):
            self.statement(indent)
        self.readable, self.names = known, names

    def guarded(self, indent: int, condition: str, *heads: Slot) -> None:
        self.budget -= 1
        self.say(indent, f"if {condition}:")
        self.readable = [*self.readable, *heads]
        self.block(indent + 1)
        self.readable = self.readable[: len(self.readable) - len(heads)]

    def statement(self, indent: int) -> None:
        if indent > 1 and self.chance(0.05):
            self.say(indent, "return")
        elif self.budget > 0 and indent < 4 and self.chance(0.4):
            self.guarded(indent, self.fill("c", 2))
            for word in ("elif", "else"):
                if self.budget > 0 and self.chance(0.4):
                    self.say(indent, f"elif {self.fill('c', 1)}:" if word == "elif" else "else:")
                    self.block(indent + 1)
        elif self.budget > 0 and self.chance(0.05):
            self.say(indent, f"if {self.fill('c', 1)}:")
            self.say(indent + 1, "return")
        elif self.chance(0.15):
            name = f"x{len(self.lines)}"
            self.say(indent, f"{name} = {self.fill('i', 2)}")
            self.names.append(name)
        else:
            self.write(indent)

    def write(self, indent: int) -> None:
        targets = [slot for slot, _ in self.variables.values() if slot.name not in self.fixed]
        target = self.rng.choice(targets or [self.variables["a"][0]])
        size = len(target.values)
        choices = [self.rng.choice(target.values)]
        choices += [s.read for s in self.readable if s.kind == target.kind and set(s.values) <= set(target.values)]
        if target.kind == "category":
            choices += [f"{self.fill('i', 3)} % {size}", f"({self.fill('i', 3)} + {self.fill('i', 2)}) % {size}"]
            choices += [self.fill("i", 2) + f" < {self.fill('i', 2)}"] * (size > 1)
        if self.budget > 0 and self.chance(0.3):
            self.budget -= 1
            whole = self.fill("i", 2)
            choices = [f"({', '.join(self.rng.choices(target.values, k=3))})[{whole} % 3]"]
            if target.kind == "category":
                choices += [f"clip({whole}, {size})", f"{whole} if 0 <= {whole} < {size} else {size - 1}"]
                choices += [f"{target.values}[{whole}] if {whole} in range({size}) else 0".replace("'", "")]
        value = self.rng.choice(choices)
        self.say(indent, f"{target.read} = {value}" if self.chance(0.9) else f'z.update({{"{target.name}": {value}}})')

    # Rules

    def rules(self) -> str:
        """Rules of one or two conditions or loops, of which no two with different results can hold at once."""
        slots = [s for s, _ in self.variables.values()]
        tested = slots + [s for s, _ in self.heads.values() if s.guard is not None or self.chance(0.2)]
        targets = [s for s in slots if s.name not in self.fixed] or [self.variables["a"][0]]
        rules: list[tuple[dict[str, str], str, str]] = []
        for _ in range(self.rng.randint(1, 12)):
            tests = {s.name: self.rng.choice(s.values) for s in self.rng.sample(tested, min(len(tested), self.rng.randint(0, 3)))}
            target = self.rng.choice(targets)
            value = self.rng.choice(target.values)
            together = [r for r in rules if r[1] == target.name and all(tests.get(n, v) == v for n, v in r[0].items())]
            if all(r[2] == value for r in together):
                rules.append((tests, target.name, value))
        self.say(0, "builder = alta.MLPBuilder(variables, heads)")
        if "clock" in self.variables:
            self.say(0, 'for clock in builder.get("clock"):')
            self.say(1, f'builder.set("clock", min(clock + 1, {len(self.variables["clock"][0].values) - 1}))')
        self.say(0, "rules = builder.rules + [")
        for tests, name, value in rules:
            antecedent = "".join(f'("{n}", {v}), ' for n, v in tests.items()).strip()
            self.say(1, f'alta.Rule(({antecedent}), "{name}", {value}),')
        self.say(0, "]")
        return "\n".join(self.lines) + "\n"
