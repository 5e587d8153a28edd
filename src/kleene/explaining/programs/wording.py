"""Words for what a data set leaves open: rules by source line, ranges of numbers, values."""

import linecache
from collections.abc import Sequence
from typing import Any

import numpy as np

from kleene.explaining.programs.rule_log import RuleLog, named_rules
from kleene.programs.alta.program import Program
from kleene.programs.alta.rules import Rule


def numbers_text(numbers: Sequence[int]) -> str:
    """Integers in order, runs written as ranges.

    >>> numbers_text([0, 1, 2, 5, 7, 8])
    '0..2, 5, 7, 8'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [f"{run[0]}..{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return ", ".join(parts[:12] + ["…"] * (len(parts) > 12))


def value_text(value: Any) -> str:
    """One value: floats with four digits, sets with braces."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(set(value) or "{}") if isinstance(value, frozenset) else str(value)


def meaning_of(program: Program, variable: str, value: Any) -> Any:
    """What a value of a variable stands for in RASP, and nothing as "–"; any other value as it is."""
    meanings = program.meanings.get(variable)
    if meanings is None:
        return value
    meaning = "–" if value == 0 else meanings[value]
    return repr(meaning) if value and isinstance(meaning, str) else meaning


def rule_text(rule: Rule, program: Program | None = None) -> str:
    """A rule in words, with what values stand for in RASP where they have such meanings in the program.

    >>> rule_text(Rule((("bit", 0), ("mean", 1 / 3)), "bit", 1))
    'bit := 1 where bit = 0 and mean = 0.3333'
    """

    def shown(name: str, value: Any) -> str:
        return value_text(value if program is None else meaning_of(program, name, value))

    conditions = " and ".join(f"{name} = {shown(name, value)}" for name, value in rule.antecedent) or "always"
    return f"{rule.variable} := {shown(rule.variable, rule.value)} where {conditions}"


def values_text(values: Sequence[Any]) -> str:
    """Values of a variable: integers as ranges, a few of the others and how many there are."""
    if all(isinstance(v, int) for v in values):
        return numbers_text(values)
    shown = [value_text(v) for v in values[:6]]
    return ", ".join(shown) + (f", … ({len(values)} values)" if len(values) > 6 else "")


def rule_lines(log: RuleLog, most: int) -> list[str]:
    """What was dropped: for every source line how many of its rules fired, and the rules that never did."""
    found, heads = [], log.rules.results < 0
    for line in sorted(set(log.lines[~heads].tolist())):
        here = (log.lines == line) & ~heads
        idle = here & ~log.fired
        if not idle.any():
            continue
        source = _source(log, line)
        place = f"line {line}{f', `{source}`' if source else ''}" if line else "rules"
        found.append(f"{place}: {int(idle.sum()):,} of {int(here.sum()):,} rules never fired")
        first = np.zeros(len(idle), dtype=bool)
        first[np.flatnonzero(idle)[:most]] = True
        found += [f"  {rule_text(rule, log.program)}" for rule in named_rules(log.program, log.rules, first)]
        found += ["  …"] * bool(idle.sum() > most)
    idle = int((heads & ~log.fired).sum())
    if idle:
        found.append(f"{idle:,} of {int(heads.sum()):,} rules that empty the output of a head never fired")
    return found


def _source(log: RuleLog, line: int) -> str:
    code = getattr(log.program.mlp, "__code__", None)
    return linecache.getline(code.co_filename, line).strip() if code is not None and line else ""
