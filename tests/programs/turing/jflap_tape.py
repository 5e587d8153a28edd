"""A JFLAP drawing run as JFLAP runs it, on a tape without ends, straight from the drawing."""

import random
from typing import NamedTuple

from kleene.programs.jflap import JflapDrawing, JflapState, JflapTransition


class JflapRun(NamedTuple):
    """The verdict; the number of steps, and of those that stay; the cells that are not blank; the leftmost visited."""

    verdict: str
    steps: int
    stays: int
    tape: dict[int, str]
    leftmost: int


def jflap_run(drawing: JflapDrawing, word: str, most: int) -> JflapRun:
    """What JFLAP does on the word: the first transition that fits is taken, those with ! last."""
    state, head, tape = drawing.start, 0, dict(enumerate(word))
    finals = {q.name for q in drawing.states if q.is_final}
    stays = leftmost = 0
    for step in range(most + 1):
        if state in finals:
            return JflapRun("accept", step, stays, _used(tape), leftmost)
        under = tape.get(head, "")
        own = [arrow for arrow in drawing.transitions if arrow.source == state]
        fitting = [arrow for arrow in own if arrow.read in (under, "~")]
        fitting += [arrow for arrow in own if arrow.read.startswith("!") and arrow.read[1:] != under]
        if not fitting:
            return JflapRun("reject", step, stays, _used(tape), leftmost)
        tape[head] = under if fitting[0].write == "~" else fitting[0].write
        head += {"L": -1, "R": 1, "S": 0}[fitting[0].move]
        stays += fitting[0].move == "S"
        state, leftmost = fitting[0].target, min(leftmost, head)
    return JflapRun("running", most, stays, _used(tape), leftmost)


def _used(tape: dict[int, str]) -> dict[int, str]:
    return {cell: symbol for cell, symbol in sorted(tape.items()) if symbol}


def random_drawing(rng: random.Random, states: int = 4, letters: str = "ab") -> JflapDrawing:
    """A deterministic machine with gaps, moves of all kinds, and any number of final states and dead ends."""
    names = [f"q{number}" for number in range(rng.randint(1, states))]
    arrows = []
    for state in names:
        if rng.random() < 0.15:
            continue
        reads = [symbol for symbol in (*letters, "") if rng.random() < 0.8]
        if rng.random() < 0.15:
            reads = ["~"]
        elif rng.random() < 0.15:
            reads.append(f"!{rng.choice(letters)}")
        for read in reads:
            write = rng.choice([*letters, "", "~"])
            arrows.append(JflapTransition(state, rng.choice(names), read, write, rng.choice("LLRRS")))
    final = rng.choice([0.0, 0.2, 0.4])
    drawn = tuple(JflapState(q, (9.0 * n, 0.0), n == 0, rng.random() < final) for n, q in enumerate(names))
    return JflapDrawing("turing", drawn, tuple(arrows))
