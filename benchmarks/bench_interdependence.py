"""Interdependence of all pairs of words: seconds and pairs a second. Run with `kleene bench interdependence`.

An LSTM of 400 units with a vocabulary of 33,278 words, as on WikiText-2, at the hidden state: single sentences of 20, 40
and 80 words, then the test part of English-EWT and, unless quick, all of it. Without the treebank, sentences of the
built-in grammar stand in. The peer is a plain decomposition, three a pair, run on the same sentences.
"""

import sys
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from kleene.benchmarking import seconds
from kleene.errors import InputError
from kleene.memory import peak_memory_mb

VOCABULARY, HIDDEN = 33_278, 400
LENGTHS = (20, 40, 80)
AUTHORS_CODE = {20: 9.7, 40: 70.0}  # seconds for decompositions alone, one thread, measured when the aims were set
AIM = {"cpu": 180.0, "gpu": 10.0}  # seconds for all of EWT
PEER_STEPS = {True: 2_000, False: 15_000}  # by whether quick: more are not waited for
CHECKED = 1e-3  # how far single precision may be from the peer's: a ratio of small differences


def measure(quick: bool = False) -> Iterator[dict[str, Any]]:
    """Every measurement as a row."""
    import jax

    from kleene.machines.lstm import LSTM

    place = "cpu" if jax.default_backend() == "cpu" else "gpu"
    model = jax.block_until_ready(LSTM.random(VOCABULARY, HIDDEN, outputs=1, key=jax.random.key(0)))
    rng = np.random.default_rng(0)
    for length in LENGTHS:
        yield from _one_sentence(model, rng.integers(0, VOCABULARY, length).tolist(), quick)
    yield from _corpora(model, place, quick)
    yield {"name": "peak memory of all this, jax included", "value": peak_memory_mb(), "unit": "MB"}


def _one_sentence(model: Any, codes: list[int], quick: bool) -> Iterator[dict[str, Any]]:
    from kleene.explaining.pairwise import interdependence

    name = f"one sentence, n = {len(codes)}"
    started = time.perf_counter()
    found = interdependence(model, codes)
    first = time.perf_counter() - started
    taken = seconds(lambda: interdependence(model, codes), repeats=7)
    yield {"name": f"{name}: compile", "value": first - taken, "unit": "s"}
    row = {
        "name": name,
        "value": taken * 1000,
        "unit": "ms",
        "pairs_a_second": len(codes) * (len(codes) - 1) / 2 / taken,
    }
    if len(codes) not in AUTHORS_CODE:
        yield row
        return
    peer, share = _peer(model, codes, found, PEER_STEPS[quick])
    timed = "all" if share == 1 else f"from {share:.0%}"
    yield {"name": f"{name}, plain numpy, three a pair", "value": peer * 1000, "unit": "ms", "remark": f"{timed} of it"}
    row |= {"peer": peer * 1000, "times_better_than_peer": peer / taken}
    yield row | {
        "remark": f"{peer / taken:,.0f}× plain numpy in this run; the authors' code {AUTHORS_CODE[len(codes)]} s"
    }


def _peer(model: Any, codes: list[int], found: np.ndarray, most_steps: int) -> tuple[float, float]:
    """Seconds that a plain decomposition takes for all pairs, and the share of the steps that this was measured on."""
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        from peer_decomposition import PlainDecomposition
    finally:
        sys.path.pop(0)
    plain, pairs = PlainDecomposition(model), list(combinations(range(len(codes)), 2))
    steps = [3 * (r + 1) for _, r in pairs]
    some = slice(None, None, -(-sum(steps) // most_steps))
    started = time.perf_counter()
    said = [plain.interdependence(codes, *pair) for pair in pairs[some]]
    taken, share = time.perf_counter() - started, sum(steps[some]) / sum(steps)
    ours = [found[pair] for pair in pairs[some]]
    assert np.allclose(said, ours, atol=CHECKED), f"the peer says otherwise: {np.abs(np.subtract(said, ours)).max()}"
    return taken / share, share


def _corpora(model: Any, place: str, quick: bool) -> Iterator[dict[str, Any]]:
    from kleene.explaining.pairwise import interdependence_batch

    for number, (name, codes) in enumerate(_read(quick)):
        if number == 0:
            started = time.perf_counter()
            interdependence_batch(model, codes)
            first = time.perf_counter() - started
        started = time.perf_counter()
        interdependence_batch(model, codes)
        taken = time.perf_counter() - started
        if number == 0:
            yield {"name": f"{name}: compile", "value": first - taken, "unit": "s"}
        pairs = sum(len(words) * (len(words) - 1) // 2 for words in codes)
        row = {
            "name": f"{name}, {pairs:,} pairs, {place}",
            "value": taken,
            "unit": "s",
            "pairs_a_second": pairs / taken,
        }
        row |= {"sentences_a_second": len(codes) / taken}
        told = f"{pairs / taken:,.0f} pairs/s, {len(codes) / taken:,.0f} sentences/s"
        if name == "all of EWT":
            row |= {"aim": AIM[place], "reached": taken <= AIM[place]}
            told += f"; aim {AIM[place]:.0f} s: {'reached' if taken <= AIM[place] else 'not reached'}"
        yield row | {"remark": told}


def _read(quick: bool) -> Iterator[tuple[str, list[list[int]]]]:
    """Corpora by name. Which word of the vocabulary a word is changes no time, so they are numbered as they come."""
    from kleene.tasks.grammar import sentences
    from kleene.tasks.treebanks import treebank

    try:
        corpora = [("EWT test", treebank("ud-ewt", "test"))]
        corpora += [] if quick else [("all of EWT", treebank("ud-ewt", "all"))]
    except InputError:
        corpora = [("2,000 sentences of the grammar", sentences(2_000))]
    for name, found in corpora:
        numbers: dict[str, int] = {}
        yield name, [[numbers.setdefault(word, len(numbers)) % VOCABULARY for word in one.words] for one in found]
