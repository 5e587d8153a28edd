"""A RASP program becomes a Universal Transformer, by way of the transformer program that it is lowered to.

`inputs` and `judges` tell `kleene.check` what to run a RASP program on and what to compare it with: RASP's own
evaluation, which knows nothing of the network, and a reference if there is one.
"""

import itertools
import random
from collections.abc import Callable
from typing import Any

from kleene.compiling.alta.compiler import compile_program
from kleene.compiling.checking import REFERENCE, output_difference
from kleene.errors import InputError
from kleene.machines.transformer import UniversalTransformer
from kleene.machines.transformer.unrolled import UnrolledTransformer
from kleene.notation.console import Entry
from kleene.programs.rasp.program import RaspProgram
from kleene.traces import Trace
from kleene.traces.values import is_answer


def compile_rasp(program: RaspProgram, **options: Any) -> UniversalTransformer | UnrolledTransformer:
    """A network that takes the program's tokens and gives its values, for every input up to `max_length`.

    Unrolled layers of a causal program have a causal mask.
    """
    causal: dict[str, Any] = {"causal": True} if options.get("layers") == "unrolled" and program.causal else {}
    return compile_program(program.lowered, **(options | causal))


def inputs(program: RaspProgram, entry: Entry | None, samples: int, max_length: int, seed: int) -> list[list]:
    """The `samples` shortest inputs, and as many random ones, half of them as long as they may be."""
    chance = random.Random(seed)
    longest = min(max_length, program.max_length)
    every = (x for n in range(1, longest + 1) for x in itertools.product(program.vocab, repeat=n))
    short = [list(x) for x in itertools.islice(every, samples)]
    lengths = (longest if at % 2 else chance.randint(1, longest) for at in range(samples))
    return short + [[chance.choice(program.vocab) for _ in range(n)] for n in lengths]


def judges(program: RaspProgram, entry: Entry | None, reference: Callable[[Any], Any] | None) -> dict[str, Callable]:
    """RASP's own evaluation, and the reference: the given one, or the entry's own."""
    reference = reference or (None if entry is None else entry.reference)

    def evaluation(tokens: list, mine: Trace) -> str | None:
        return output_difference(mine.output, program.evaluate(tokens), "RASP")

    def plain(tokens: list, mine: Trace) -> str | None:
        assert reference is not None
        try:
            answer = list(reference(list(tokens)))
        except Exception as error:
            called = getattr(reference, "__name__", "the reference")
            raise InputError(f"the reference {called}({tokens}) raised {type(error).__name__}: {error}") from error
        return output_difference(mine.output, answer, "the plain reference", is_answer)

    return {"RASP": evaluation} | ({} if reference is None else {REFERENCE: plain})
