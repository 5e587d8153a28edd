"""The cases of a program in words, in its user's names and symbols: when each holds, and what it writes."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.programs.alta.cases import Case, CodeTable, Constant, Lookup
from kleene.programs.alta.definition import Definition
from kleene.programs.alta.formulas import (
    FREE,
    Total,
    of_two,
    reciprocal,
    relation,
    sums_and_differences,
    total_of,
    value_of,
)
from kleene.programs.alta.sums import Sum
from kleene.programs.alta.variables import Head, Numeric, unchanged
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
        (action_text(program, name, case), condition_text(program, case, name))
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
    return _plain(variable.default)


def _head_texts(head: Head) -> tuple[str, str, str, str]:
    offsets = _set_text(sorted(head.offsets), _plain) if head.offsets else "any"
    return head.query or "·", head.key or "·", head.value, offsets


Codes = Mapping[str, Sequence[int]]
MOST_LISTED = 4  # values of a variable, up to which what is written for each is listed


def condition_text(program: Definition, c: Case, target: str | None = None) -> str:
    """The conditions of a case as a person would write them; where it writes what the target has, either will do."""
    words = _Words(program, c, target)
    sums = {f: words.sum_condition(f, allowed) for f, allowed in c.where if isinstance(f, Sum)}
    told = {name for _, names in sums.values() for name in names}
    plain = [words.codes(f, allowed) for f, allowed in c.where if isinstance(f, str) and f not in told]
    return " and ".join(plain + [text for text, _ in sums.values() if text]) or "always"


def action_text(program: Definition, target: str, c: Case) -> str:
    """What a case writes, in words."""
    return f"{target} := {_Words(program, c, target).written(target)}"


def labels_of(program: Definition, name: str) -> Sequence[str] | None:
    """The symbols of a variable's values: those of the output, or of tokens that it holds as they are."""
    labels = next((channel.labels for channel in program.channels if channel.name == name), None)
    if labels is not None or program.alphabet is None:
        return labels
    source = program.heads[name].value if name in program.heads else name
    tokens = program.variables[source].input_init_fn is unchanged
    return program.alphabet if tokens and program.sizes[name] == len(program.alphabet) else None


@dataclass(frozen=True)
class _Words:
    """The words for one case, whose conditions leave each variable certain codes."""

    program: Definition
    case: Case
    target: str | None = None

    def codes(self, name: str, allowed: frozenset[int]) -> str:
        """That a variable has one of some codes."""
        domain, shown = self.program.domains[name].domain, self.shown(name)
        values = [domain[i] for i in sorted(allowed)]
        missing = [value for i, value in enumerate(domain) if i not in allowed]
        if len(values) == 1:
            return f"{name} = {shown(values[0])}"
        if len(missing) == 1:
            return f"{name} ≠ {shown(missing[0])}"
        if isinstance(self.program.domains[name], Numeric):  # in order: one bound says it
            low, high = sorted(allowed)[0], sorted(allowed)[-1]
            if high == len(values) - 1 or low == len(missing):
                return f"{name} ≤ {shown(values[-1])}" if low == 0 else f"{name} ≥ {shown(values[0])}"
        return f"{name} in {_set_text(values, shown)}"

    def sum_condition(self, total: Sum, allowed: frozenset[int]) -> tuple[str, Collection[str]]:
        """A condition on a sum, and the variables of which it says all that the case does."""
        given = {f: codes for f, codes in self.case.where if isinstance(f, str) and f in total.variables}
        codes = self._codes(total.variables)
        every = dict(codes) | {n: range(self.program.sizes[n]) for n in given}
        whole = self._relation(total, allowed, every, given)
        if whole is not None and "f(" not in whole:
            return whole, total.variables
        text = self._relation(total, allowed, codes, {})
        if text is not None and "f(" not in text:
            alike = " = " in text and len(set(given.values())) == 1 < len(given)
            return text, total.variables[1:] if alike else ()
        if len(every) == 2 and (box := self._box(total, allowed, every, given)):
            return box, total.variables
        if text is not None:
            return text, ()
        summed = self._total(total, codes)
        return f"{summed or _opaque(total)} in {self._met(total, summed, allowed, codes)}", ()

    def _relation(self, total: Sum, allowed: frozenset[int], codes: Codes, given: Mapping[str, Any]) -> str | None:
        summed = self._total(total, codes)
        if summed is None:
            return None
        holds = self._holds(total, allowed, codes, given).astype(int)
        holds[self._keeps(codes)] = FREE
        return relation(summed, holds, _plain)

    def _holds(self, total: Sum, allowed: frozenset[int], codes: Codes, given: Mapping[str, Any]) -> np.ndarray:
        grid = self._grid(codes)
        holds = np.isin(total.total(grid), list(allowed))
        for name, found in given.items():
            holds &= np.isin(grid[name], list(found))
        return holds

    def _keeps(self, codes: Codes) -> np.ndarray:
        """Where the case writes what its target has already, as far as these variables tell."""
        grid, action, target = self._grid(codes), self.case.action, self.target
        source = action.feature if isinstance(action, Lookup) else None
        if not isinstance(action, Lookup) or not isinstance(source, str) or source not in codes or target not in grid:
            return np.zeros([len(found) for found in codes.values()], dtype=bool)
        return np.append(action.table, -1)[np.minimum(grid[source], len(action.table))] == grid[target]

    def _box(self, total: Sum, allowed: frozenset[int], codes: Codes, given: Mapping[str, Any]) -> str | None:
        """A condition on two variables that is one on each of them, or the opposite of such."""
        holds = self._holds(total, allowed, codes, given)
        for found, form in ((holds, "{}"), (~holds, "not ({})")):
            sides = found.any(axis=1), found.any(axis=0)
            if np.array_equal(np.logical_and.outer(*sides), found):
                texts = [
                    self.codes(n, frozenset(np.flatnonzero(s).tolist())) for n, s in zip(codes, sides) if not s.all()
                ]
                return form.format(" and ".join(texts))
        return None

    def _met(self, total: Sum, summed: Total | None, allowed: frozenset[int], codes: Codes) -> str:
        table = None if summed is None else summed.table(self._holds(total, allowed, codes, {}).astype(int))
        return _set_text(sorted(allowed) if table is None else [value for value, held in table.items() if held], _plain)

    def written(self, target: str) -> str:
        """What is written to a variable."""
        domain, shown, action = self.program.domains[target].domain, self.shown(target), self.case.action
        if isinstance(action, Constant):
            return shown(domain[action.code])
        if isinstance(action, CodeTable):
            return self._of_table(action, domain)
        if isinstance(action.feature, Sum):
            return self._of_sum(action.feature, action, domain)
        values = self.program.domains[action.feature].domain
        met = self.case.conditions.get(action.feature, range(len(values)))
        pairs = [(values[code], domain[new]) for code, new in action.codes if code in met]
        if len({new for _, new in pairs}) == 1:
            return shown(pairs[0][1])
        if all(old == new or (_numbers([old, new]) and math.isclose(old, new)) for old, new in pairs):
            return action.feature
        codes = {action.feature: [code for code, _ in action.codes if code in met]}
        text = self._of_values(codes, np.array([new for _, new in pairs], dtype=object)) if _numbers(values) else None
        if text is not None:
            return text
        if len(pairs) <= MOST_LISTED:
            looked = self.shown(action.feature)
            return f"{', '.join(f'{shown(new)} for {looked(old)}' for old, new in pairs)} of {action.feature}"
        return f"f({action.feature})"

    def _of_values(self, codes: Codes, outcome: np.ndarray) -> str | None:
        for total in sums_and_differences(self._axes(codes)):
            for found in (total, reciprocal(total)):
                if found is not None and (text := value_of(found, outcome, _plain)) is not None:
                    return text
        return None

    def _of_sum(self, feature: Sum, action: Lookup, domain: Sequence[Any]) -> str:
        codes = self._codes(feature.variables)
        summed = self._total(feature, codes)
        if summed is not None:
            totals = feature.total(self._grid(codes))
            met = np.isin(totals, list(self.case.conditions.get(feature, action.by_value)))
            outcome = np.array([domain[action.by_value[t]] for t in totals[met].tolist()], dtype=object)
            text = value_of(Total(summed.factors, summed.values[met]), outcome, _plain)
            if text is not None:
                return text
        return f"f({', '.join(feature.variables)})"

    def _of_table(self, action: CodeTable, domain: Sequence[Any]) -> str:
        codes = self._codes(action.support)
        axes = self._axes(codes)
        outcome = np.array(domain, dtype=object)[action.array[np.ix_(*codes.values())]]
        if all(map(_numbers, (domain, *axes.values()))):
            text = self._of_values(codes, outcome) or (of_two(axes, outcome) if len(axes) == 2 else None)
            if text is not None:
                return text
        return f"f({', '.join(action.support)})"

    def shown(self, name: str) -> Callable[[Any], str]:
        """How a value of a variable is written."""
        labels = labels_of(self.program, name)
        return _plain if labels is None else lambda value: str(labels[value])

    def _codes(self, names: Iterable[str]) -> Codes:
        given = self.case.conditions
        return {n: sorted(given[n]) if n in given else range(self.program.sizes[n]) for n in names}

    def _axes(self, codes: Codes) -> dict[str, list[Any]]:
        return {n: [self.program.domains[n].domain[i] for i in found] for n, found in codes.items()}

    def _total(self, total: Sum, codes: Codes) -> Total | None:
        return total_of({n: [term[i] for i in codes[n]] for n, term in total.terms}, self._axes(codes))

    def _grid(self, codes: Codes) -> dict[str, np.ndarray]:
        return dict(zip(codes, np.meshgrid(*map(np.array, codes.values()), indexing="ij")))


def _opaque(total: Sum) -> str:
    """A sum of which no more is known than its variables."""
    return " + ".join(f"f({name})" for name in total.variables)


def _numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, (int, float)) for value in values)


def _plain(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    return str(set(value) or "{}") if isinstance(value, frozenset) else str(value)


def _set_text(values: Sequence[Any], shown: Callable[[Any], str]) -> str:
    whole = all(isinstance(v, int) for v in values)
    if whole and len(values) > 2 and list(values) == list(range(values[0], values[-1] + 1)):
        return f"{shown(values[0])}..{shown(values[-1])}"
    told = [shown(v) for v in values[:8]] + (["…"] if len(values) > 8 else [])
    return "{" + ", ".join(told) + "}"
