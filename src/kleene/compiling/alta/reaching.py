"""Which codes a variable can hold at each position before each layer, found without running the program on inputs.

A `Places` state has, for every variable and position, a set of codes that contains all that any input leads to. A layer
maps such states to such states: a head reads the union of what it may find, and a case writes what its action gives for
the codes that are possible. So the sets may be too large, and are never too small.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kleene.programs.alta.cases import Action, Case, CodeTable, Constant, Feature, Lookup, View, act
from kleene.programs.alta.program import Program
from kleene.programs.alta.sums import Sum
from kleene.programs.alta.variables import Head, Numeric, SetValued

Codes = frozenset[int]
Sets = Mapping[str, Codes]  # of the variables and the heads at one position
Places = dict[str, list[Codes]]  # of the variables, position by position

UNDEFINED = -1  # stands in a head's set where its output may be undefined
ENUMERATED = 1 << 12  # assignments of a variable's cases that are tried one by one
MOST_PLACES = 64  # positions that are told apart


def possible(c: Case, sets: Sets, *, undefined: bool = False) -> dict[Feature, Codes] | None:
    """The values that the features of a case can have where it holds; None if it cannot hold.

    With `undefined`, a condition that reads a head which may be undefined counts as one that holds.
    """
    found: dict[Feature, Codes] = {}
    for feature, allowed in c.where:
        if undefined and any(UNDEFINED in sets[name] for name in names_of(feature)):
            continue
        values = values_of(feature, sets) & allowed
        if not values:
            return None
        found[feature] = values
    narrowed = dict(sets) | {f: s for f, s in found.items() if isinstance(f, str)}
    for feature in [f for f in found if isinstance(f, Sum)]:
        found[feature] &= values_of(feature, narrowed)
        if not found[feature]:
            return None
    return found


def certain(c: Case, sets: Sets) -> bool:
    """Whether the case holds for all codes that are possible."""
    names = {name for feature, _ in c.where for name in names_of(feature)}
    return all(UNDEFINED not in sets[n] for n in names) and all(values_of(f, sets) <= a for f, a in c.where)


def names_of(feature: Feature) -> tuple[str, ...]:
    """The variables that a feature depends on."""
    return (feature,) if isinstance(feature, str) else feature.variables


def values_of(feature: Feature, sets: Sets) -> Codes:
    """The values that a feature can have where it is defined."""
    if isinstance(feature, str):
        return sets[feature] - {UNDEFINED}
    return feature.reachable({name: sets[name] - {UNDEFINED} for name in feature.variables})


def written(action: Action, where: Mapping[Feature, Codes], sets: Sets) -> Codes:
    """The codes that an action can write where the features have these values."""
    if isinstance(action, Constant):
        return frozenset({action.code})
    if isinstance(action, Lookup):
        narrowed = dict(sets) | {f: s for f, s in where.items() if isinstance(f, str)}
        values = where.get(action.feature, values_of(action.feature, narrowed))
        return frozenset(action.by_value[v] for v in values if v in action.by_value)
    assert isinstance(action, CodeTable)
    axes = [sorted(where.get(name, values_of(name, sets))) for name in action.support]
    return frozenset(np.unique(action.array[np.ix_(*axes)]).tolist())


@dataclass
class Reaching:
    """The layers of a program on sets of codes, for inputs of up to `places` tokens, or of any length (None).

    With `whole`, every input has exactly `places` tokens; otherwise a position to the right may be missing.
    """

    program: Program
    places: int | None
    whole: bool = False
    _known: dict = field(default_factory=dict)

    @cached_property
    def count(self) -> int:
        """The positions that are told apart: one stands for all of them where they are too many."""
        return 1 if self.places is None or self.places > MOST_PLACES else self.places

    @property
    def _is_one_for_all(self) -> bool:
        return self.places != self.count

    @cached_property
    def _relevant(self) -> dict[str, tuple[str, ...]]:
        """The variables and heads that the cases of each variable look at, itself included."""
        updates = self.program.updates
        return {t: tuple(sorted({t, *(n for c in cases for n in c.variables)})) for t, cases in updates.items()}

    def start(self, tokens: Sequence[Codes] | None = None) -> Places:
        """The codes before the first layer, for every input or for those with one of `tokens` at each position."""
        state: Places = {}
        for name, (by, table) in self.program.starts.items():
            variable = self.program.variables[name]
            codes = variable.bucket(table) if isinstance(variable, Numeric) else np.asarray(table)
            state[name] = [
                frozenset(codes[self._rows(by, place, len(codes), tokens)].tolist()) for place in range(self.count)
            ]
        return state

    def _rows(self, by: str, place: int, size: int, tokens: Sequence[Codes] | None) -> list[int]:
        if by == "input":
            return sorted(self.tokens_at(place) if tokens is None else tokens[place])
        return [place] if by == "position" and not self._is_one_for_all else list(range(size))

    def tokens_at(self, place: int) -> Codes:
        """The tokens that can be at a position: a program that puts a start before its inputs has it there alone."""
        every = frozenset(range(self.program.input_range))
        if not self.program.prefix or self._is_one_for_all:
            return every
        return frozenset({0}) if place < self.program.prefix else every - {0}

    def layer(self, state: Places) -> tuple[Places, Places]:
        """What the heads can read in a layer, and the codes after it."""
        read = {name: [self._read(name, head, state, p) for p in range(self.count)] for name, head in self._heads()}
        after = dict(state)
        for target in self.program.updates:
            after[target] = [self._after(target, self.at(p, state, read)) for p in range(self.count)]
        return read, after

    def _heads(self) -> list[tuple[str, Head]]:
        return list(self.program.heads.items())

    def at(self, place: int, state: Places, read: Places) -> Sets:
        """The sets of one position."""
        return {name: sets[place] for name, sets in (*state.items(), *read.items())}

    def _after(self, target: str, sets: Sets) -> Codes:
        key = (target, *(sets[name] for name in self._relevant[target]))
        if key not in self._known:
            found = [self._after_one(target, {**sets, target: frozenset({old})}, old) for old in sets[target]]
            self._known[key] = frozenset().union(*found)
        return self._known[key]

    def _after_one(self, target: str, sets: Sets, old: int) -> Codes:
        """The codes that the target can have after a layer in which it had the code `old`."""
        cases = [(c, where) for c in self.program.updates[target] if (where := possible(c, sets)) is not None]
        sure = next((item for item in cases if certain(item[0], sets)), None)
        if sure is not None:  # the others exclude it
            return written(sure[0].action, sure[1], sets)
        names = sorted({name for c, _ in cases for name in c.variables})
        if cases and math.prod(len(sets[name]) for name in names) <= ENUMERATED:
            return _tried([c for c, _ in cases], {name: sets[name] for name in names}, old)
        return frozenset({old}).union(*(written(c.action, where, sets) for c, where in cases))

    def keeps(self, target: str, sets: Sets) -> bool:
        """Whether the target surely keeps its code in a layer."""
        return all(self._after_one(target, {**sets, target: frozenset({c})}, c) <= {c} for c in sets[target])

    # --- what heads read ------------------------------------------------------------------------------------------

    def _read(self, name: str, head: Head, state: Places, place: int) -> Codes:
        sources = list(self._sources(head, place))
        queries: list[Codes | None] = [None]
        if head.query is not None:
            queries = [self._members(head.query, code) for code in state[head.query][place]]
        found: set[int] = set()
        for wanted in queries:
            may, must = [], []
            for q, is_there in sources:
                keys = None if head.key is None else state[head.key][q]
                if wanted is None or keys is None or keys & wanted:
                    may.append(q)
                    must += [q] if is_there and (wanted is None or keys is None or keys <= wanted) else []
            found |= self._found(name, head, state, may, must)
        return frozenset(found)

    def _sources(self, head: Head, place: int) -> Iterator[tuple[int, bool]]:
        """The positions that a head may look at, and whether each is there in every input that has this position."""
        if self._is_one_for_all:
            yield 0, False
            return
        offsets = head.offsets or range(-place, self.count - place)
        for q in sorted(place + offset for offset in offsets):
            if 0 <= q < self.count:
                yield q, self.whole or q <= place

    def _members(self, query: str, code: int) -> Codes:
        variable = self.program.variables[query]
        return variable.values[code] if isinstance(variable, SetValued) else frozenset({code})

    def _found(self, name: str, head: Head, state: Places, may: list[int], must: list[int]) -> Codes:
        """What one query reads where it may match the positions `may`, and surely matches `must`."""
        value, output = self.program.variables[head.value], self.program.outputs[name]
        codes = frozenset().union(*(state[head.value][q] for q in may))
        if not isinstance(value, Numeric) or not isinstance(output, Numeric):
            return codes if len(may) == len(must) == 1 else codes | {UNDEFINED}
        numbers = sorted(self._numbers(head.value, codes))
        alone = len(numbers) == 1 or (len(may) == 1 and not self._is_one_for_all)
        if alone:
            found, blurred = output.bucket(numbers).tolist(), bool(output.blurred(numbers).any())
        else:  # a mean may lie anywhere between
            ends = output.bucket([numbers[0], numbers[-1]]) if numbers else [0, -1]
            found, blurred = range(int(ends[0]), int(ends[1]) + 1), True
        return frozenset(found) | (frozenset() if must and not blurred else {UNDEFINED})

    def _numbers(self, name: str, codes: Codes) -> list[float]:
        """The numbers that a variable holds for these codes; one that is never written keeps those of its start."""
        variable = self.program.variables[name]
        assert isinstance(variable, Numeric)
        if self.program.updates.get(name):
            return [variable.values[code] for code in codes]
        table = np.unique(self.program.starts[name][1])
        return [x for x, code in zip(table.tolist(), variable.bucket(table).tolist()) if code in codes]

    def looks_at_undefined(self, head: str, sets: Sets) -> bool:
        """Whether the MLP may look at this head at a position where it is undefined."""
        cases = self.program.reads.get(head, ())
        return UNDEFINED in sets[head] and any(possible(c, sets, undefined=True) is not None for c in cases)


def _tried(cases: Sequence[Case], sets: Sets, old: int) -> Codes:
    """The codes after cases that were tried on every assignment of the possible codes."""
    grids = np.meshgrid(*(np.array(sorted(codes), dtype=np.int64) for codes in sets.values()), indexing="ij")
    codes = {name: grid.ravel() for name, grid in zip(sets, grids)}
    view, new = View(codes), np.full(grids[0].size, old)
    for c in cases:
        holds = view.holds(c)
        new = np.where(holds, act(c, codes), new)
    return frozenset(np.unique(new).tolist()) - {UNDEFINED}


def united(sets: Sequence[Codes]) -> Codes:
    """The codes that are possible at any position."""
    return frozenset().union(*sets)
