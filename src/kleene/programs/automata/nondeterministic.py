"""A nondeterministic automaton's table, checked when it is built, and the table of the DFA of its sets of states."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Self

from kleene.errors import ProgramError
from kleene.programs.automata.subsets import MOST_STATES, MOST_WORK, TooManySets, reached_sets
from kleene.programs.automata.table import (
    Positions,
    State,
    TransitionTable,
    checked_accept,
    checked_alphabet,
    checked_positions,
    checked_start,
    checked_states,
)

EPSILON = ""  # the symbol of a transition that reads nothing
NOWHERE = "∅"  # the name of the empty set of states


@dataclass(frozen=True, kw_only=True)
class NondeterministicTable:
    """States, symbols, and the set of next states for some pairs of them; `NFA` adds running, graphs and files.

    The symbol `""` is ε: a transition that reads nothing. A pair that is missing leads nowhere.
    """

    states: tuple[State, ...]
    alphabet: tuple[str, ...]
    transitions: Mapping[tuple[State, str], frozenset[State]]
    start: State
    accept: frozenset[State]
    positions: Positions | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        states, alphabet = checked_states(self.states), checked_alphabet(self.alphabet)
        found = {
            "states": states,
            "alphabet": alphabet,
            "transitions": MappingProxyType(_checked_transitions(self.transitions, states, alphabet)),
            "start": checked_start(self.start, states),
            "accept": checked_accept(self.accept, states),
            "positions": checked_positions(self.positions, states),
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, table: "NondeterministicTable") -> Self:
        """The same table as an instance of this class; it has been checked, so it is not checked again."""
        made = object.__new__(cls)
        made.__dict__.update(table.__dict__)
        return made

    def __hash__(self) -> int:
        return hash((self.states, self.alphabet, self.start, self.accept, frozenset(self.transitions.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles get a plain dict, because the read-only view of the transitions cannot be pickled."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        return partial(type(self), **given | {"transitions": dict(self.transitions)}), ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.states)} states over {' '.join(self.alphabet)}>"

    @property
    def is_deterministic(self) -> bool:
        """Whether there is no ε, and no symbol that leads from a state to two."""
        return all(symbol != EPSILON and len(targets) < 2 for (_, symbol), targets in self.transitions.items())

    def closure(self, states: Iterable[State]) -> frozenset[State]:
        """The states, and those that ε leads to from them, on any number of steps."""
        found = dict.fromkeys(states)
        for state in (waiting := list(found)):
            for target in self.transitions.get((state, EPSILON), ()):
                if target not in found:
                    found[target] = None
                    waiting.append(target)
        return frozenset(found)

    def following(self, states: Iterable[State], symbol: str) -> frozenset[State]:
        """The states in which it may be once it has read the symbol, from any of these."""
        return self.closure(target for state in states for target in self.transitions.get((state, symbol), ()))

    @cached_property
    def places(self) -> dict[State, int]:
        """The place of each state in `states`."""
        return {state: place for place, state in enumerate(self.states)}

    def set_name(self, states: Iterable[State]) -> str:
        """The name of a set of states: its members in their order.

        >>> table = NondeterministicTable(states=("p", "q"), alphabet="a", transitions={}, start="p", accept=[])
        >>> table.set_name({"q", "p"}), table.set_name(())
        ('{p,q}', '∅')
        """
        names = [str(state) for state in sorted(states, key=self.places.__getitem__)]
        return f"{{{','.join(names)}}}" if names else NOWHERE


def determinised(
    nfa: NondeterministicTable, *, most_states: int = MOST_STATES, most_work: int = MOST_WORK
) -> TransitionTable:
    """The automaton whose states are the sets of states that words lead to; ∅ is the last, where it is reached.

    It is given up after `most_states` sets, or `most_work` states looked at.
    """
    limits = {"most_states": most_states, "most_work": most_work}
    try:
        start = frozenset(nfa.places[q] for q in nfa.closure([nfa.start]))
        sets, steps = reached_sets(start, _followers(nfa, most_work), len(nfa.alphabet), **limits)
    except TooManySets as many:
        raise ProgramError(
            f"the automaton of {len(nfa.states):,} states is given up after {many.found:,} sets of them: a "
            f"deterministic automaton can be exponentially larger than a nondeterministic one. Use fewer states, or "
            f"fewer that a symbol leads to at once"
        ) from None
    members = [frozenset(nfa.states[place] for place in held) for held in sets]
    names = _distinct([nfa.set_name(held) for held in members])
    rows = [{a: steps[number].get(a) for a in nfa.alphabet} for number in range(len(sets))]
    if any(target is None for row in rows for target in row.values()):
        names = _distinct([*names, NOWHERE])
        rows = [*rows, dict.fromkeys(nfa.alphabet)]
    lost = names[-1]
    return TransitionTable(
        states=tuple(names),
        alphabet=nfa.alphabet,
        transitions={
            (name, a): lost if target is None else names[target]
            for name, row in zip(names, rows)
            for a, target in row.items()
        },
        start=names[0],
        accept=frozenset(name for name, held in zip(names, members) if not held.isdisjoint(nfa.accept)),
    )


def completed(nfa: NondeterministicTable) -> TransitionTable:
    """A deterministic table with its own states; missing transitions lead to a new state that accepts nothing."""
    assert nfa.is_deterministic
    step = {key: next(iter(targets)) for key, targets in nfa.transitions.items() if targets}
    states = nfa.states
    gaps = [(q, a) for q in states for a in nfa.alphabet if (q, a) not in step]
    if gaps:
        dead = _distinct([*map(str, states), "dead"])[-1]
        step |= dict.fromkeys(gaps, dead) | {(dead, a): dead for a in nfa.alphabet}
        states = (*states, dead)
    return TransitionTable(
        states=states,
        alphabet=nfa.alphabet,
        transitions=step,
        start=nfa.start,
        accept=nfa.accept,
        positions=nfa.positions,
    )


def _followers(nfa: NondeterministicTable, most_work: int) -> list[dict[str, list[int]]]:
    """Where each symbol leads from each state, by places; what ε adds is included."""
    followers: list[dict[str, list[int]]] = [{} for _ in nfa.states]
    closures: dict[State, list[int]] = {}
    work = 0
    for (state, symbol), targets in nfa.transitions.items():
        if symbol == EPSILON:
            continue
        reached: set[int] = set()
        for target in targets:
            if target not in closures:
                closures[target] = [nfa.places[q] for q in nfa.closure([target])]
            reached.update(closures[target])
            work += len(closures[target])
            if work > most_work:
                raise TooManySets(0)
        followers[nfa.places[state]][symbol] = sorted(reached)
    return followers


def _distinct(names: list[str]) -> list[str]:
    """The names, with a prime after each that occurred before."""
    found: dict[str, None] = {}
    for name in names:
        while name in found:
            name += "'"
        found[name] = None
    return list(found)


def _checked_transitions(
    transitions: Any, states: tuple[Hashable, ...], alphabet: tuple[str, ...]
) -> dict[tuple[Hashable, str], frozenset[Hashable]]:
    """A copy of the table, checked: a set of states for some pairs of a state and a symbol."""
    if not isinstance(transitions, Mapping):
        raise ProgramError(
            f"transitions is {transitions!r}; give a dict that maps (state, symbol) to a set of next states"
        )
    known, symbols = set(states), {*alphabet, EPSILON}
    for key, targets in transitions.items():
        _check_entry(key, targets, known, symbols)
    keys = ((q, a) for q in states for a in (EPSILON, *alphabet))
    return {key: frozenset(transitions[key]) for key in keys if transitions.get(key)}


def _check_entry(key: Any, targets: Any, states: set, symbols: set) -> None:
    if not isinstance(key, tuple) or len(key) != 2:
        raise ProgramError(f"the key {key!r} of transitions is not a pair (state, symbol)")
    state, symbol = key
    if state not in states:
        raise ProgramError(f"transitions has an entry for {key!r}, but {state!r} is not one of the states")
    if symbol not in symbols:
        raise ProgramError(
            f"transitions has an entry for {key!r}, but {symbol!r} is not in the alphabet; the symbol of a transition "
            f"that reads nothing is ''"
        )
    if not isinstance(targets, (set, frozenset, list)):
        raise ProgramError(f"{key!r} leads to {targets!r}; give a set of states, as in {{{targets!r}}}")
    for target in targets:
        try:
            missing = target not in states
        except TypeError:
            missing = True
        if missing:
            raise ProgramError(f"{key!r} leads to {target!r}, which is not one of the states; add it to `states`")
