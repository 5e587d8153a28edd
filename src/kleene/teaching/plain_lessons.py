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
from kleene.teaching.options import PlainOptions
from kleene.teaching.program_words import check_longest
from kleene.teaching.transformers import schedule

METHODS = PlainOptions.options()["method"].choices
STRICT = ("interchange", "strict hints")
DRAWS = 50  # for each word of a size, before all of that size are taken to be found


def plain_lesson(program: Program | RaspProgram, **options: Any) -> Lesson:
    """The lesson of a plain Transformer that learns a program on words of sizes 1 to `longest`.

    The network has the layers of the unrolled program and `spare` more heads in each; the alignment gives each variable
    that matters a block of at most `block` dimensions, and `free` dimensions are added. With `method="interchange"` it
    is taught by swaps (SIIT), whose losses have the weights `swaps` and `strict`; with "hints" by readings of the
    blocks; with "strict hints" by these and the strict loss; with "none" by the outputs alone.

    All words are used if there are at most `words`, else as many random ones. The tests are on these words and on
    `pairs` held-out pairs for each variable at each layer and each head. `vocab` is for RASP programs: another
    vocabulary. `inputs` says which words of a transformer program are drawn, as in `alta.program_spec`. The options are
    `PlainOptions`.
    """
    given = PlainOptions(**options)
    lowered, network, drawn = _unrolled(program, given.vocab, given.inputs, given.longest, given.words)
    table, sizes = _table(lowered, network, drawn)
    alignment = taught_alignment(network, table, block=given.block, free=given.free, spare=given.spare)
    table = table.only(table.matters & np.array([alignment.aligned(site) for site in table.sites], dtype=bool))
    if not table.sites:
        raise InputError(f"{lowered.name}: nothing in it depends on the word, so there is nothing to swap")
    method = given.method
    known = KnownValues.of(table, alignment) if "hints" in method else None
    traced = None if known is None else known.trace
    name = f"{lowered.name} plain"
    task = AlignedTask(table, alignment, sizes, given.swaps, given.strict, given.pairs, name, traced)
    shape = {"width": alignment.width, "layers": alignment.graph.layers, "heads": alignment.graph.heads}
    shape |= given.stored(key="key_size", hidden="units")
    parts = (PlainLayout.of(network), shape, alignment, table, method == "interchange", method in STRICT)
    config = {"name": name, "machine": "plain", "shape": shape, "table": table.digest, "alignment": alignment.as_json()}
    return Lesson(
        task,
        AlignedTransformer(*parts) if known is None else HintedTransformer(*parts, known),
        {} if known is None else known.policies,
        criterion=perfect if method == "none" else keeps_the_algorithm,
        optimiser=optax.chain(optax.clip_by_global_norm(given.clip), optax.adam(schedule(given.rate))),
        name=f"{name}, {'no method' if method == 'none' else method}",
        batch=given.batch,
        tests=1,
        iterations=3_000,
        seeds=4,
        usual_hints=None if known is None else "full",
        config=config | given.stored("method", "batch", "rate", "clip", "swaps", "strict"),
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
