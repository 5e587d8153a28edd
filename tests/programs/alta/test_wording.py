"""Rules in words: what is said of a case is what it does, in the user's names and symbols."""

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kleene.programs import alta
from kleene.programs.alta.cases import View, act
from kleene.programs.alta.library import entries, get
from kleene.programs.alta.wording import action_text, condition_text
from tests.programs.alta.test_random_functions import SIZES, VARIABLES, Writer, function_of

MOST = 20_000  # assignments of a case that are tried


def said(text: str, values: dict) -> object:
    """What a formula of ours comes to."""
    for old, new in (("≠", "!="), ("≤", "<="), ("≥", ">="), (" mod ", " % "), (" div ", " // "), ("·", "*")):
        text = text.replace(old, new)
    text = re.sub(r"(?<![<>!=:]) = ", " == ", text)
    text = re.sub(r" in (-?\d+)\.\.(-?\d+)", r" in range(\1, \2 + 1)", text)
    text = re.sub(r"\|(.+?)\|", r"abs(\1)", text)
    if cut := re.fullmatch(r"(.*?)((?:,| and) at (?:least|most) .*)", text):
        number = eval(cut[1], {}, values)
        for bound, limit in re.findall(r"at (least|most) (-?\d+)", cut[2]):
            number = max(number, int(limit)) if bound == "least" else min(number, int(limit))
        return number
    if listed := re.fullmatch(r"(.+ for .+) of (\w+)", text):
        pairs = (part.split(" for ") for part in listed[1].split(", "))
        return next(int(new) for new, old in pairs if int(old) == values[listed[2]])
    return eval(text, {"Fraction": Fraction}, values)


def check(program: alta.Program) -> int:
    """Compare every case with its words; returns how many were compared."""
    compared = 0
    for target, cases in program.updates.items():
        for c in cases:
            names = sorted(c.variables | {target})
            domains = [program.domains[n].domain for n in names]
            where, writes = condition_text(program, c, target), action_text(program, target, c).split(" := ", 1)[1]
            whole = all(isinstance(v, int) for d in domains for v in d)
            if not whole or "f(" in where + writes or "…" in where or np.prod([len(d) for d in domains]) > MOST:
                continue
            compared += 1
            grid = np.meshgrid(*(np.arange(len(d)) for d in domains), indexing="ij")
            codes = {n: g.ravel() for n, g in zip(names, grid)}
            view, written = View(codes), np.broadcast_to(act(c, codes), codes[target].shape)
            holds = np.ones(len(codes[target]), dtype=bool)
            for feature, allowed in c.where:
                holds &= view.condition(feature, allowed)
            for i, values in enumerate(itertools.product(*domains)):
                given_ = dict(zip(names, values))
                told = where == "always" or bool(said(where, given_))
                if told and holds[i]:
                    assert said(writes, given_) == program.domains[target].domain[written[i]], (writes, given_)
                elif told != holds[i]:  # only where nothing would change
                    assert written[i] == codes[target][i], (where, writes, given_)
    return compared


@pytest.mark.parametrize("name", [n for n in entries() if n not in ("scan", "scan_shift_reduce", "subleq")])
def test_the_words_for_the_rules_of_the_library_s_programs_are_true(name):
    check(get(name).build())


@settings(max_examples=60)
@given(st.integers(0, 10**9))
def test_the_words_for_the_rules_of_a_random_function_are_true(seed):
    writer = Writer(seed)
    check(alta.program_spec(VARIABLES, writer.heads, function_of(writer.source), "o", max(SIZES.values())))


A_AND_B = {"a": alta.input_var(12), "b": alta.position_var(12), "c": alta.var(2), "out": alta.var(200)}


def rules(ffn_fn, variables=A_AND_B, **options):
    program = alta.program_spec(variables, {}, ffn_fn, "out", 12, 12, **options)
    return [(action_text(program, "out", c), condition_text(program, c, "out")) for c in program.updates["out"]]


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (lambda a, b: a == b, "a = b"), (lambda a, b: a != b, "a ≠ b"), (lambda a, b: a < b, "a < b"),
        (lambda a, b: a >= b, "a ≥ b"), (lambda a, b: a == b + 2, "a = b + 2"), (lambda a, b: a + b == 7, "a + b = 7"),
        (lambda a, b: a + b > 9, "a + b ≥ 10"), (lambda a, b: a == 3 and b > 9, "a = 3 and b in {10, 11}"),
        (lambda a, b: a == b and a != 4, "a ≠ 4 and a = b"),
    ],
)  # fmt: skip
def test_conditions_are_said_as_a_person_would(condition, words):
    def ffn_fn(z):
        if condition(z["a"], z["b"]):
            z["out"] = 1

    assert [where for _, where in rules(ffn_fn)] == [words]


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (lambda a, b: a + b, "a + b"), (lambda a, b: a - b + 11, "a - b + 11"), (lambda a, b: 11 - a, "11 - a"),
        (lambda a, b: (a + b) % 10, "(a + b) mod 10"), (lambda a, b: (a + b) // 10, "(a + b) div 10"),
        (lambda a, b: a * b, "a · b"), (lambda a, b: a % 3, "a mod 3"), (lambda a, b: abs(a - b), "|a - b|"),
        (lambda a, b: max(a - b, 0), "a - b, at least 0"), (lambda a, b: 2 if a > b else 5, "5 if a ≤ b else 2"),
    ],
)  # fmt: skip
def test_what_is_written_is_said_as_a_formula(formula, words):
    def ffn_fn(z):
        z["out"] = formula(z["a"], z["b"])

    found = rules(ffn_fn)
    assert words in [writes.removeprefix("out := ") for writes, _ in found], found


def test_symbols_stand_where_the_user_gave_them():
    def ffn_fn(z):
        if z["letter"] == 1 and z["letter_left"] != 1:
            z["out"] = 2

    variables = {"letter": alta.input_var(3), "out": alta.input_var(3)}
    program = alta.program_spec(
        variables, {"letter_left": alta.v_relative("letter", -1)}, ffn_fn, "out", 3, alphabet="xyz"
    )
    (c,) = program.updates["out"]
    assert condition_text(program, c, "out") == "letter = y and letter_left ≠ y"
    assert action_text(program, "out", c) == "out := z"
