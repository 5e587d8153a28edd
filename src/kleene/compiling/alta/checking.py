"""What transformer programs are checked on, and by whom: an independent interpreter, and a reference."""

import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any

from kleene.compiling.checking import REFERENCE, Ended, difference
from kleene.errors import InputError, RunError
from kleene.notation.console import Entry
from kleene.programs.alta.program import Program
from kleene.programs.alta.reference import reference_run

Judge = Callable[[list[int], Ended], str | None]


def inputs(program: Program, entry: Entry | None, samples: int, max_length: int, seed: int) -> list[list[int]]:
    """All short inputs, as many as there are samples, and as many random ones up to the greatest length."""
    chance = random.Random(seed)
    if entry is not None and entry.every is not None and entry.sample is not None:
        short = itertools.chain.from_iterable(entry.every(size) for size in (1, 2, 3, 4)[: max(1, max_length)])
        distinct = dict.fromkeys(tuple(x) for x in itertools.islice(short, 4 * samples))
        drawn = [entry.sample(chance, chance.randint(1, max_length)) for _ in range(samples)]
        return [list(x) for x in itertools.islice(distinct, samples)] + [list(x) for x in drawn]
    longest = min(max_length, program.position_range or max_length)
    every = (x for n in range(1, longest + 1) for x in itertools.product(range(program.input_range), repeat=n))
    short = [list(x) for x in itertools.islice(every, samples)]
    lengths = (chance.randint(1, longest) for _ in range(samples))
    return short + [[chance.randrange(program.input_range) for _ in range(n)] for n in lengths]


def judges(program: Program, entry: Entry | None, reference: Callable[[Any], Any] | None) -> dict[str, Judge]:
    """The interpreter that calls the MLP function itself, and the reference that was given or is the entry's own."""
    reference = reference or (None if entry is None else entry.reference)

    def interpreter(tokens: list[int], mine: Ended) -> str | None:
        return difference(_by_reference(program, tokens), mine)

    def plain(tokens: list[int], mine: Ended) -> str | None:
        if isinstance(mine, RunError):
            return None
        assert reference is not None
        answer = _answer(reference, tokens)
        same = answer == mine.output
        return None if same else f"the output is {mine.output}, but the plain reference says {answer}"

    return {"independent interpreter": interpreter} | ({} if reference is None else {REFERENCE: plain})


def _by_reference(program: Program, tokens: list[int]) -> Ended:
    try:
        return reference_run(program, tokens)
    except RunError as error:
        return error


def _answer(reference: Callable[[Sequence[int]], Any], tokens: list[int]) -> list[Any]:
    """What a reference says, which a user may have written."""
    try:
        return list(reference(list(tokens)))
    except Exception as error:
        called = getattr(reference, "__name__", "the reference")
        raise InputError(f"the reference {called}({tokens}) raised {type(error).__name__}: {error}") from error
