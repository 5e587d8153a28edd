"""The cases of a program in words: when each holds, and what it writes."""

from itertools import pairwise
from typing import Any

from kleene.programs.alta.cases import Case, Constant, Feature, Lookup
from kleene.programs.alta.definition import Definition
from kleene.programs.alta.sums import Sum
from kleene.programs.alta.variables import Head
from kleene.traces.markup import html_facts, html_table


def program_html(program: Definition) -> str:
    """The variables, heads and cases of a program as tables for a notebook."""
    halt = program.halt
    facts = {"input": f"tokens 0..{program.input_range - 1}", "output": program.output_name}
    facts |= {} if program.position_range is None else {"positions": f"up to {program.position_range:,}"}
    facts["layers"] = f"up to {program.max_layers:,}"
    facts |= {} if halt is None else {"halts": f"when {halt.variable} = {halt.value} at every position"}
    variables = [(name, v.expected, _start_text(v)) for name, v in program.variables.items()]
    heads = [(name, *_head_texts(head)) for name, head in program.heads.items()]
    cases = [
        (action_text(program, name, case), condition_text(program, case))
        for name, found in program.updates.items()
        for case in found
    ]
    parts = [
        html_facts(facts, caption=f"program {program.name}"),
        html_table([("variable", "values", "starts as"), *variables]),
        html_table([("head", "query", "key", "reads", "distances"), *heads]) if heads else "",
        html_table([("rule writes", "where"), *cases]),
    ]
    return "".join(parts)


def _start_text(variable: Any) -> str:
    if variable.input_init_fn is not None:
        return "a function of the token"
    if variable.position_init_fn is not None:
        return "a function of the position"
    return _value_text(variable.default)


def _head_texts(head: Head) -> tuple[str, str, str, str]:
    offsets = _set_text(sorted(head.offsets)) if head.offsets else "any"
    return head.query or "·", head.key or "·", head.value, offsets


def condition_text(program: Definition, c: Case) -> str:
    """The conditions of a case as a person would write them."""
    return " and ".join(_feature_text(program, f, allowed) for f, allowed in c.where) or "always"


def _feature_text(program: Definition, feature: Feature, allowed: frozenset[int]) -> str:
    if isinstance(feature, Sum):
        return f"{_sum_text(feature)} in {_set_text(sorted(allowed))}"
    domain = program.domains[feature].domain
    values = [domain[i] for i in sorted(allowed)]
    if len(values) == 1:
        return f"{feature} = {_value_text(values[0])}"
    if len(domain) - len(values) == 1:
        missing = next(v for i, v in enumerate(domain) if i not in allowed)
        return f"{feature} ≠ {_value_text(missing)}"
    return f"{feature} in {_set_text(values)}"


def _value_text(value: Any) -> str:
    return (
        f"{value:.4g}"
        if isinstance(value, float)
        else (str(set(value) or "{}") if isinstance(value, frozenset) else str(value))
    )


def _set_text(values: list[Any]) -> str:
    whole = all(isinstance(v, int) for v in values)
    if whole and len(values) > 2 and values == list(range(values[0], values[-1] + 1)):
        return f"{values[0]}..{values[-1]}"
    shown = [_value_text(v) for v in values[:8]] + (["…"] if len(values) > 8 else [])
    return "{" + ", ".join(shown) + "}"


def _sum_text(total: Sum) -> str:
    parts = []
    for name, term in total.terms:
        slope = term[1] - term[0] if len(term) > 1 else 0
        straight = all(b - a == slope for a, b in pairwise(term))
        parts.append(
            f"{'-' if slope < 0 else '+'} {'' if abs(slope) == 1 else f'{abs(slope)}·'}{name}"
            if straight and slope
            else f"+ f({name})"
        )
    return " ".join(parts).removeprefix("+ ")


def action_text(program: Definition, target: str, c: Case) -> str:
    """What a case writes, in words."""
    domain = program.domains[target].domain
    if isinstance(c.action, Constant):
        return f"{target} := {_value_text(domain[c.action.code])}"
    if isinstance(c.action, Lookup):
        of = c.action.feature if isinstance(c.action.feature, str) else _sum_text(c.action.feature)
        same = isinstance(c.action.feature, str) and all(a == b for a, b in c.action.codes)
        return f"{target} := {of}" if same else f"{target} := f({of})"
    return f"{target} := f({', '.join(c.action.support)})"
