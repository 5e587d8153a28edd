"""How many steps a circuit runs: a sum of a number, the size M of the memory, and what a cell says at the start."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kleene.counts import read_count
from kleene.errors import InputError, ProgramError
from kleene.memory import check_memory

MOST_STEPS = 100_000  # of one run, each of which is recorded
TERM = re.compile(r"([0-9]+)|(M)|memory\[([0-9]+)\]")


@dataclass(frozen=True)
class Steps:
    """So many steps: `constant`, and M as often as `sizes` says, and what each of `cells` holds at the start.

    >>> Steps.parse("memory[1] + 5")([7, 3, 2, 0])
    8
    """

    constant: int = 0
    sizes: int = 0
    cells: tuple[int, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Steps":
        """The number of steps that a text such as `7`, `M + 2` or `memory[1] + 5` says."""
        found = [(term, TERM.fullmatch(term.strip())) for term in text.split("+")]
        constant, sizes, cells = 0, 0, []
        for term, said in found:
            if said is None:
                raise ProgramError(
                    f"the number of steps is {text.strip()!r}, and {term.strip()!r} is not understood; write a sum of "
                    f"whole numbers, M (the size of the memory) and memory[1] (what cell 1 holds at the start)"
                )
            numbers = [read_count(digits or "0") for digits in said.group(1, 3)]
            if None in numbers:
                raise ProgramError(
                    f"the number of steps has a term of {len(term.strip())} characters; a run has at most "
                    f"{MOST_STEPS:,} steps"
                )
            constant += numbers[0] or 0
            sizes += bool(said[2])
            cells += [numbers[1] or 0] if said[3] else []
        return cls(constant, sizes, tuple(cells))

    def __call__(self, memory: Sequence[int]) -> int:
        missing = [cell for cell in self.cells if cell >= len(memory)]
        if missing:
            raise InputError(
                f"the number of steps is {self}, and the memory has {len(memory)} cells: give a larger memory"
            )
        return self.constant + self.sizes * len(memory) + sum(int(memory[cell]) for cell in self.cells)

    def __str__(self) -> str:
        terms = ["M"] * self.sizes + [f"memory[{cell}]" for cell in self.cells]
        return " + ".join([*terms, *([str(self.constant)] if self.constant or not terms else [])])


def check_steps(steps: Sequence[int] | None, runs: int) -> None:
    """Refuse numbers of steps, where they are given, that are not one for each run, or less than 0."""
    if steps is not None and len(steps) != runs:
        raise InputError(f"steps has {len(steps)} numbers for {runs} memories; give one for each, or leave it out")
    for taken in steps or ():
        if taken < 0:
            raise InputError(f"steps is {taken}; give 0 or more")


def check_run(taken: Sequence[int], entries: int) -> None:
    """Refuse, before it begins, a run of too many steps, or one whose record would not fit into memory.

    `entries` is how many numbers are recorded at each step of all runs together.
    """
    longest = max(taken, default=0)
    if longest > MOST_STEPS:
        raise InputError(f"the run takes {longest:,} steps, and {MOST_STEPS:,} is the most; give fewer with steps=")
    what = f"the record of {longest:,} steps with {entries:,} numbers each"
    check_memory(longest * entries * 16.0, what, "give a smaller memory or fewer steps")
