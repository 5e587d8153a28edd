"""Random Turing machines, the same for the same seed: what the property tests feed on."""

import random

from kleene.programs.turing.machine import TuringMachine


def random_machine(rng: random.Random, states: int = 4, symbols: int = 3) -> TuringMachine:
    """A machine of at most so many states that do not halt, and so many tape symbols, the blank included.

    A uniformly random machine halts at once or stays where it is. These mostly go left (and so bump into the left end
    of the tape again and again), mostly go right (far past the word), or have states that run on in one direction,
    and they halt only now and then.
    """
    names = [f"q{number}" for number in range(rng.randint(1, states))]
    letters = "abcdefghijklmnopqrstuvwxyz"[: max(1, rng.randint(2, max(2, symbols)) - 1)]
    inputs = letters[: rng.randint(1, len(letters))]
    rightward = rng.choice([0.15, 0.5, 0.5, 0.85])
    transitions = {}
    for state in names:
        runs = rng.choice(["L", "R"]) if rng.random() < 0.3 else None
        for symbol in (*letters, "_"):
            stays_in_it = runs is not None and rng.random() < 0.7
            target = state if stays_in_it else rng.choice(names)
            if rng.random() < 0.12:
                target = rng.choice(["accept", "reject"])
            move = runs if stays_in_it else "R" if rng.random() < rightward else "L"
            transitions[state, symbol] = (target, rng.choice([symbol, rng.choice([*letters, "_"])]), move)
    return TuringMachine(
        transitions=transitions,
        start=names[0],
        accept="accept",
        reject="reject",
        input_alphabet=tuple(inputs),
        name="a random machine",
    )


def random_input(rng: random.Random, machine: TuringMachine, longest: int = 6) -> tuple[str, ...]:
    """A word for the machine, of at most that length."""
    return tuple(rng.choice(machine.input_alphabet) for _ in range(rng.randint(0, longest)))
