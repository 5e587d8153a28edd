"""The lesson of a plain Transformer that learns a program: by swaps or hints that keep the algorithm, or freely."""

import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import optax

from kleene.compiling.alta.compiler import compile_program
from kleene.compiling.interchange.alignment import sites_of, taught_alignment
from kleene.compiling.interchange.counterfactuals import Counterfactuals, counterfactuals
from kleene.errors import InputError
from kleene.machines.transformer.plain import PlainLayout
from kleene.machines.transformer.unrolled import UnrolledTransformer
from kleene.programs.alta import Program
from kleene.programs.rasp.program import RaspProgram, as_program
from kleene.teaching.block_readings import HintedTransformer, KnownValues
from kleene.teaching.interchange import AlignedTask, AlignedTransformer, keeps_the_algorithm
from kleene.teaching.lesson import Lesson, perfect
from kleene.teaching.program_words import check_longest
from kleene.teaching.transformers import check_positive, schedule

METHODS = ("interchange", "hints", "strict hints", "none")
STRICT = ("interchange", "strict hints")
LONGEST = 4  # the size of the longest words
DRAWS = 50  # for each word of a size, before all of that size are taken to be found


def plain_lesson(
    program: Program | RaspProgram,
    *,
    method: str = "interchange",
    inputs: Any = None,
    longest: int = LONGEST,
    vocab: Any = None,
    words: int = 512,
    block: int = 4,
    free: int = 8,
    spare: int = 1,
    key: int = 8,
    hidden: int = 64,
    batch: int = 64,
    rate: float = 3e-3,
    clip: float = 1.0,
    swaps: float = 1.0,
    strict: float = 0.4,
    pairs: int = 128,
) -> Lesson:
    """The lesson of a plain Transformer that learns a program on words of sizes 1 to `longest`.

    The network has the layers of the unrolled program and `spare` more heads in each; the alignment gives each variable
    that matters a block of at most `block` dimensions, and `free` dimensions are added. With `method="interchange"` it
    is taught by swaps (SIIT), whose losses have the weights `swaps` and `strict`; with "hints" by readings of the
    blocks; with "strict hints" by these and the strict loss; with "none" by the outputs alone.

    All words are used if there are at most `words`, else as many random ones. The tests are on these words and on
    `pairs` held-out pairs for each variable at each layer and each head. `vocab` is for RASP programs: another
    vocabulary. `inputs` says which words of a transformer program are drawn, as in `alta.program_spec`.
    """
    if method not in METHODS:
        raise InputError(f"method is {method!r}; it is {', '.join(map(repr, METHODS[:-1]))} or {METHODS[-1]!r}")
    check_positive(longest=longest, words=words, block=block, key=key, hidden=hidden, batch=batch, pairs=pairs)
    if free < 0 or spare < 0:
        raise InputError(f"free is {free} and spare is {spare}; give 0 or more")
    if batch < 2:
        raise InputError("batch is 1; give 2 or more, because its halves are swapped in different ways")
    lowered, network, drawn = _unrolled(program, vocab, inputs, longest, words)
    table, sizes = _table(lowered, network, drawn)
    alignment = taught_alignment(network, table, block=block, free=free, spare=spare)
    table = table.only(table.matters & np.array([alignment.aligned(site) for site in table.sites], dtype=bool))
    if not table.sites:
        raise InputError(f"{lowered.name}: nothing in it depends on the word, so there is nothing to swap")
    known = KnownValues.of(table, alignment) if "hints" in method else None
    task = AlignedTask(
        table, alignment, sizes, swaps, strict, pairs, f"{lowered.name} plain", None if known is None else known.trace
    )
    shape = {"width": alignment.width, "layers": alignment.graph.layers, "heads": alignment.graph.heads}
    shape |= {"key_size": key, "units": hidden}
    given = (PlainLayout.of(network), shape, alignment, table, method == "interchange", method in STRICT)
    config = {"name": task.name, "machine": "plain", "method": method, "shape": shape, "batch": batch, "rate": rate}
    config |= {"clip": clip, "swaps": swaps, "strict": strict, "table": table.digest, "alignment": alignment.as_json()}
    return Lesson(
        task,
        AlignedTransformer(*given) if known is None else HintedTransformer(*given, known),
        {} if known is None else known.policies,
        criterion=perfect if method == "none" else keeps_the_algorithm,
        optimiser=optax.chain(optax.clip_by_global_norm(clip), optax.adam(schedule(rate))),
        name=f"{lowered.name} plain, {'no method' if method == 'none' else method}",
        batch=batch,
        tests=1,
        iterations=3_000,
        seeds=4,
        usual_hints=None if known is None else "full",
        config=config,
    )


def _unrolled(
    program: Program | RaspProgram, vocab: Any, inputs: Any, longest: int, most: int
) -> tuple[Program, UnrolledTransformer, list[tuple[int, list[Any]]]]:
    """The transformer program, its unrolled network, and words with their sizes."""
    if isinstance(program, RaspProgram):
        if inputs is not None:
            raise InputError(f"{program.name}: the words of a RASP program are all that its vocabulary makes")
        program = as_program(program, vocab, longest)
        drawn = _every_word(program.vocab, longest, most)
        network = compile_program(program.lowered, layers="unrolled", max_length=longest, causal=program.causal)
        return program.lowered, network, drawn
    if vocab is not None:
        raise InputError(f"{program.name} is not a RASP program, and has no other vocabulary")
    sample = (program if inputs is None else program.taking(inputs)).words.sample
    if inputs is None:
        check_longest(program, sample, longest)
    drawn = _distinct(sample, longest, most)
    return program, compile_program(program, layers="unrolled", max_length=max(len(w) for _, w in drawn)), drawn


def _every_word(vocab: Sequence[Any], longest: int, most: int) -> list[tuple[int, list[Any]]]:
    """All words up to a length, or `most` random ones, as evenly over the lengths as there are words."""
    total = sum(len(vocab) ** size for size in range(1, longest + 1))
    if total <= most:
        every = ((n, w) for n in range(1, longest + 1) for w in itertools.product(vocab, repeat=n))
        return [(size, list(word)) for size, word in every]
    return _distinct(lambda rng, size: [rng.choice(vocab) for _ in range(size)], longest, most)


def _distinct(sample: Any, longest: int, most: int) -> list[tuple[int, list[Any]]]:
    """Up to `most` different random words, as evenly over the sizes as there are words, with their sizes."""
    rng, found = random.Random(0), {}
    for left, size in zip(range(longest, 0, -1), range(1, longest + 1)):
        goal = len(found) + (most - len(found)) // left
        for _ in range(DRAWS * (goal - len(found))):
            if len(found) >= goal:
                break
            word = list(sample(rng, size))
            found.setdefault(tuple(word), (size, word))
    return list(found.values())


def _table(
    program: Program, network: UnrolledTransformer, drawn: list[tuple[int, list[Any]]]
) -> tuple[Counterfactuals, tuple[int, ...]]:
    """The swaps at all sites, and the sizes of the words."""
    layers, own = len(network.layers), network.layout.own
    table = counterfactuals(program, [word for _, word in drawn], sites_of(network), layers=layers, halts=bool(own))
    return table, tuple(size for size, _ in drawn)
