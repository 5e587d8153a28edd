"""Random automata of few states, which hypothesis can make simpler, and words to try them on."""

import random

from hypothesis import strategies as st

from kleene.programs.automata import DFA


@st.composite
def dfas(draw, most_states=5, most_symbols=3):
    """Any table at all: unreachable states, no accepting states, several dead states and dead cycles included."""
    states, symbols = draw(st.integers(1, most_states)), draw(st.integers(1, most_symbols))
    state = st.integers(0, states - 1)
    table = draw(st.lists(st.lists(state, min_size=symbols, max_size=symbols), min_size=states, max_size=states))
    return DFA(
        states=tuple(f"q{q}" for q in range(states)),
        alphabet=tuple("abc"[:symbols]),
        transitions={(f"q{q}", "abc"[a]): f"q{r}" for q, row in enumerate(table) for a, r in enumerate(row)},
        start=f"q{draw(state)}",
        accept=frozenset(f"q{q}" for q in draw(st.sets(state, max_size=states))),
    )


def long_words(alphabet, count=5, length=40):
    rng = random.Random(7)
    return ["".join(rng.choice(alphabet) for _ in range(rng.randint(length // 2, length))) for _ in range(count)]
