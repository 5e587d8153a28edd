"""Random automata and words, the same for the same seed: what the property tests feed on."""

import random

from kleene.programs.automata.dfa import DFA
from kleene.programs.automata.nfa import NFA


def random_dfa(rng: random.Random, states: int = 6, symbols: int = 2) -> DFA:
    """An automaton of at most so many states and symbols.

    Half of them are sparse: most transitions are lost in one dead state, as regular expressions make them. States
    that cannot be reached, several dead ones, and automata that accept nothing or everything all occur.
    """
    count, alphabet = rng.randint(1, states), "abcdefghijklmnopqrstuvwxyz"[: rng.randint(1, symbols)]
    names = [f"q{number}" for number in range(count)]
    lost = rng.choice(names) if rng.random() < 0.5 else None
    transitions = {}
    for state in names:
        for symbol in alphabet:
            stray = lost is not None and (state == lost or rng.random() < 0.5)
            transitions[state, symbol] = lost if stray else rng.choice(names)
    share = rng.choice([0.0, 0.2, 0.5, 0.8, 1.0])
    accept = [state for state in names if rng.random() < share and state != lost]
    return DFA(states=names, alphabet=alphabet, transitions=transitions, start=rng.choice(names), accept=accept)  # type: ignore[arg-type]


def random_word(rng: random.Random, alphabet: tuple[str, ...], longest: int) -> str:
    """A word of at most that length, each length as likely as any other."""
    return "".join(rng.choice(alphabet) for _ in range(rng.randint(0, longest)))


def random_nfa(rng: random.Random, states: int = 5, symbols: int = 2) -> NFA:
    """A nondeterministic automaton of at most so many states and symbols; half of them have ε."""
    names, alphabet = [f"q{number}" for number in range(rng.randint(1, states))], "ab"[: rng.randint(1, symbols)]
    table = {}
    for symbol in [*alphabet, *([""] if rng.random() < 0.5 else [])]:
        for state in names:
            table[state, symbol] = {name for name in names if rng.random() < rng.choice([0.0, 0.2, 0.5])}
    accept = [state for state in names if rng.random() < 0.4]
    return NFA(states=tuple(names), alphabet=tuple(alphabet), transitions=table, start=rng.choice(names), accept=accept)
