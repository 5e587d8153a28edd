"""The minimal version of a program with respect to a data set (ALTA, Appendices B.3 and C.2).

Transition rules that never fired are dropped. Tokens and positions that were never seen start every variable at its
default. With `constraints`, conditions of rules that no example needs are dropped as well, which is the whole of
Definition 1. What no rule covers leaves a variable as it is.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kleene.explaining.programs.constraints import SeenAssignments, without_spare
from kleene.explaining.programs.rule_log import RuleLog, named_rules
from kleene.explaining.programs.watching import Codes, OnInputs, RuleProgram, rule_program, watch
from kleene.explaining.programs.wording import meaning_of, numbers_text, rule_lines, rule_text, value_text, values_text
from kleene.notation.words import Tokens
from kleene.programs.alta.program import Program, program_spec_from_rules
from kleene.programs.alta.rules import Rule, RuleSet
from kleene.programs.alta.variables import Variable
from kleene.traces.markup import html_text


@dataclass(frozen=True, repr=False)
class Minimal:
    """The minimal version of a program, what was dropped, and the rule log.

    `rules` are the rules that were kept, in ALTA's form, those that empty the outputs of heads last; `fired` and
    `first` say how often each one fired and on which input first.
    """

    original: Program
    inputs: int
    log: RuleLog
    tokens: tuple[int, ...]
    positions: int
    rules: RuleSet
    loosened: tuple[tuple[Rule, str], ...] = ()  # rules as they were, each with the variable that it no longer tests

    @property
    def fired(self) -> np.ndarray:
        return self.log.counts[self.log.fired]

    @property
    def first(self) -> np.ndarray:
        return self.log.first[self.log.fired]

    @cached_property
    def program(self) -> Program:
        """The minimal program, which runs and compiles as any other."""
        original = self.original
        made = program_spec_from_rules(
            {n: _restricted(v, self.tokens, self.positions) for n, v in original.variables.items()},
            original.heads, named_rules(original, self.rules, np.ones(len(self.rules), dtype=bool)),
            original.output_name, original.input_range, original.position_range, original.halt,
            max_layers=original.max_layers, name=f"{original.name} (minimal)",
            alphabet=original.alphabet, output_alphabet=original.output_alphabet,
        )  # fmt: skip
        return replace(made, vocabulary=original.vocabulary, meanings=original.meanings)

    @property
    def dropped_rules(self) -> list[Rule]:
        """The rules that never fired, without those that empty the outputs of heads."""
        return named_rules(self.original, self.log.rules, ~self.log.fired)

    @property
    def dropped_tokens(self) -> tuple[Any, ...]:
        """Tokens that were never seen; those of a RASP program as they stand in its vocabulary."""
        dropped = [t for t in range(self.original.input_range) if t not in set(self.tokens)]
        vocabulary = self.original.vocabulary
        return tuple(dropped if vocabulary is None else (vocabulary.values[t - 1] for t in dropped))

    @property
    def dropped_positions(self) -> tuple[int, ...]:
        """Positions that were never seen; none where no variable starts by position."""
        by_position = any(v.position_init_fn for v in self.original.variables.values())
        start = self.original.prefix  # a start token is no position of the word
        return tuple(range(self.positions - start, (self.original.position_range or 0) - start)) if by_position else ()

    @property
    def unseen(self) -> dict[str, tuple[Any, ...]]:
        """The values that a variable, or the output of a head, never had; only for those that can change at all."""
        domains, seen = self.original.domains, self.log.seen_after_all()
        fixed = {n for n, (by, _) in self.original.starts.items() if by == "default" and n not in self.original.updates}
        found = {n: tuple(v for v, s in zip(domains[n].domain, seen[n]) if not s) for n in domains if n not in fixed}
        return {name: values for name, values in found.items() if values}

    @property
    def dropped(self) -> dict[str, Any]:
        """What the data set leaves open, for other programs."""
        return {
            "rules": int((~self.log.fired).sum()),
            "by_variable": {v: int(n) for v, n in self._counts(~self.log.fired).items()},
            "tokens": list(self.dropped_tokens),
            "positions": list(self.dropped_positions),
            "values": {n: [_plain(v) for v in values] for n, values in self.unseen.items()},
            "constraints": len(self.loosened),
        }

    def _counts(self, chosen: np.ndarray) -> dict[str, int]:
        targets = np.bincount(self.log.rules.targets[chosen], minlength=len(self.log.rules.variables))
        return {n: c for n, c in zip(self.log.rules.variables, targets.tolist()) if c}

    def __repr__(self) -> str:
        kept = f"{len(self.rules):,} of {len(self.log.rules):,} rules"
        return f"<Minimal {self.original.name}: {kept} on {self.inputs:,} inputs>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, most: int = 3) -> list[str]:
        """The report, a line for each thing; at most so many rules of each kind are written out."""
        name, all_rules = self.original.name, len(self.log.rules)
        found = [f"{name}: {len(self.rules):,} of {all_rules:,} rules fired on {self.inputs:,} inputs"]
        found += rule_lines(self.log, most)
        if self.dropped_tokens:
            found.append(f"tokens never seen: {values_text(self.dropped_tokens)}; their variables start at defaults")
        if self.dropped_positions:
            shown = numbers_text(self.dropped_positions)
            found.append(f"positions never seen: {shown}; their variables start at defaults")
        for variable, values in self.unseen.items():
            role = "head" if variable in self.original.outputs else "variable"
            shown = values_text([meaning_of(self.original, variable, value) for value in values])
            found.append(f"{role} {variable} never was {shown}")
        if self.loosened:
            found.append(f"{len(self.loosened):,} constraints that no example needs were dropped:")
            found += [
                f"  {rule_text(rule, self.original)}: without {variable}" for rule, variable in self.loosened[:most]
            ]
            found += ["  …"] * (len(self.loosened) > most)
        return found

    def _repr_html_(self) -> str:
        return html_text(self)

    def as_json(self) -> dict[str, Any]:
        counts, first = self.fired.tolist(), self.first.tolist()
        return {
            "program": self.original.name,
            "inputs": self.inputs,
            "rules": len(self.log.rules),
            "minimal_rules": len(self.rules),
            "dropped": self.dropped,
            "log": [
                {"rule": text, "fired": n, "first": f} for text, n, f in zip(self._rule_texts(), counts, first)
            ],
        }  # fmt: skip

    def _rule_texts(self) -> Iterable[str]:
        every = named_rules(self.original, self.rules, np.ones(len(self.rules), dtype=bool))
        written = (rule_text(rule, self.original) for rule in every)
        for target, result, row in zip(self.rules.targets, self.rules.results, self.rules.antecedents):
            name = self.rules.variables[target]
            yield (
                next(written)
                if result >= 0
                else f"empty {name} where {name} = {value_text(self._value(name, row[target]))}"
            )

    def _value(self, name: str, code: int) -> Any:
        return self.original.domains[name].domain[code]


def minimal(
    program: RuleProgram,
    inputs: Sequence[Tokens],
    *,
    constraints: bool = False,
    on_inputs: OnInputs | None = None,
) -> Minimal:
    """The minimal version of the program with respect to the inputs.

    By default as in ALTA's Appendix C.2: rules that never fired are dropped, and tokens and positions that were not
    seen. With `constraints`, so are conditions that no example needs; the program must then have no numeric variables.
    Of a RASP program it is the minimal version of the transformer program that it is lowered to. `on_inputs` is called
    with the number of inputs whose runs have ended.

    >>> from kleene.programs.alta.library import parity
    >>> found = minimal(parity.sum_modulo(), [[2, 1, 0], [2, 1, 1, 1]])
    >>> found
    <Minimal parity_sum_modulo: 4 of 202 rules on 2 inputs>
    >>> found.program.run([2, 0, 1, 1, 1]).output, found.program.run([2, 1, 1, 1, 1, 1]).output
    ([1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0])
    """
    inputs = list(inputs)
    program = rule_program(program, inputs)
    log, examples = RuleLog(program), SeenAssignments(program) if constraints else None
    watch(program, inputs, _both(log.see, examples.see) if examples else log.see, on_inputs=on_inputs)
    checked = [program.check_input(sequence) for sequence in inputs]
    tokens = tuple(sorted(set().union(*checked)))
    rules = _chosen(log.rules, log.fired)
    loosened: tuple[tuple[Rule, str], ...] = ()
    if examples is not None:
        before = rules
        rules, dropped = without_spare(rules, examples.array)
        loosened = tuple((_rule(program, before, r), before.variables[v]) for r, v in dropped)
    return Minimal(program, len(inputs), log, tokens, max(map(len, checked)), rules, loosened)


def _both(first: Callable, second: Callable) -> Callable:
    def see(rows: np.ndarray, codes: Codes, inside: np.ndarray) -> None:
        first(rows, codes, inside)
        second(rows, codes, inside)

    return see


def _chosen(rules: RuleSet, which: np.ndarray) -> RuleSet:
    return RuleSet(rules.variables, rules.antecedents[which], rules.targets[which], rules.results[which])


def _rule(program: Program, rules: RuleSet, number: int) -> Rule:
    return named_rules(program, rules, np.arange(len(rules)) == number)[0]


def _restricted(variable: Variable, tokens: Sequence[int], positions: int) -> Variable:
    """The variable, started at its default by tokens and positions that were not seen."""
    known, default = frozenset(tokens), variable.default
    if variable.code(default) is None:  # a default that was never used, and never checked
        default = variable.domain[0]
    by_token, by_position = variable.input_init_fn, variable.position_init_fn
    if by_token is not None:
        return replace(variable, input_init_fn=lambda x: by_token(x) if x in known else default)
    if by_position is not None:
        return replace(variable, position_init_fn=lambda x: by_position(x) if x < positions else default)
    return variable


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, frozenset) else value
