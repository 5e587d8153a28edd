"""Interdependence of all pairs of words: seconds and pairs a second. Run with `kleene bench interdependence`.

An LSTM of 400 units with a vocabulary of 33,278 words, as on WikiText-2, at the hidden state: single sentences of 20,
40 and 80 words, then the test part of English-EWT and, unless quick, all of it. Without the treebank, sentences of the
built-in grammar stand in. The peer is a plain decomposition, three a pair, run on the same sentences.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kleene.benchmarking import measured, seconds
from kleene.errors import InputError
from kleene.limits import peak_memory_mb

VOCABULARY, HIDDEN = 33_278, 400
LENGTHS = (20, 40, 80)
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
AUTHORS_CODE = {20: 9.7, 40: 70.0}  # seconds for decompositions alone, one thread, measured when the aims were set
NO_PEER = "compiling, or memory, or too long for plain numpy"
AIM = {"cpu": 180.0, "gpu": 10.0}  # seconds for all of EWT
PEER_STEPS = {True: 2_000, False: 15_000}  # by whether quick: more are not waited for
CHECKED = 1e-3  # how far single precision may be from the peer's: a ratio of small differences


def measure(quick: bool = False) -> Iterator[dict[str, Any]]:
    """Every measurement as a row."""
    import jax

    from kleene.machines.lstm.lstm import LSTM

    place = "cpu" if jax.default_backend() == "cpu" else "gpu"
    model = jax.block_until_ready(LSTM.random(VOCABULARY, HIDDEN, outputs=1, key=jax.random.key(0)))
    rng = np.random.default_rng(0)
    for length in LENGTHS:
        yield from _one_sentence(model, rng.integers(0, VOCABULARY, length).tolist(), quick)
    yield from _corpora(model, place, quick)
    yield {"name": "peak memory of all this, jax included", "value": peak_memory_mb(), "unit": "MB"}


def _one_sentence(model: Any, codes: list[int], quick: bool) -> Iterator[dict[str, Any]]:
    from kleene.explaining.words.pairwise import interdependence

    name = f"one sentence, n = {len(codes)}"
    started = time.perf_counter()
    found = interdependence(model, codes)
    first = time.perf_counter() - started
    taken = seconds(lambda: interdependence(model, codes), repeats=7)
    yield {"name": f"{name}: compile", "value": first - taken, "unit": "s"}
    pairs = len(codes) * (len(codes) - 1) / 2
    rate: dict[str, Any] = {"pairs_a_second": pairs / taken}
    if len(codes) not in AUTHORS_CODE:
        yield measured(name, taken * 1000, "ms", **rate)
        return
    peer, share = _peer(model, codes, found, PEER_STEPS[quick])
    partly = {} if share == 1 else {"remark": f"measured on {share:.0%} of the steps"}
    yield {"name": f"{name}, plain numpy, three a pair", "value": peer * 1000, "unit": "ms"} | partly
    given: dict[str, Any] = {"peer": peer * 1000, "peer_name": "plain numpy, three a pair"}
    remark = f"the authors' code: {AUTHORS_CODE[len(codes)]:.0f} s, on another machine"
    yield measured(name, taken * 1000, "ms", **given, remark=remark, **rate)


def _peer(model: Any, codes: list[int], found: np.ndarray, most_steps: int) -> tuple[float, float]:
    """Seconds that a plain decomposition takes for all pairs, and the share of the steps that this was measured on."""
    pairs = list(combinations(range(len(codes)), 2))
    steps = [3 * (r + 1) for _, r in pairs]
    some = slice(None, None, -(-sum(steps) // most_steps))
    given: dict[str, Any] = {name: getattr(model.layers[0], name) for name in ("inputs", "recurrent", "bias")}
    given |= {"entries": model.embedding[np.array(codes)], "pairs": pairs[some]}
    with TemporaryDirectory() as folder:
        np.savez(file := Path(folder) / "peer.npz", **given)
        command = [sys.executable, str(Path(__file__).parent / "peer_decomposition.py"), str(file)]
        answer = json.loads(
            subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, check=True).stdout
        )
    ours = [found[pair] for pair in pairs[some]]
    assert np.allclose(answer["values"], ours, atol=CHECKED), "the peer and the library differ"
    share = sum(steps[some]) / sum(steps)
    return answer["seconds"] / share, share


def _corpora(model: Any, place: str, quick: bool) -> Iterator[dict[str, Any]]:
    from kleene.explaining.words.pairwise import interdependence_batch

    for number, (name, codes) in enumerate(_read(quick)):
        started = time.perf_counter()
        interdependence_batch(model, codes)
        taken = first = time.perf_counter() - started
        if number == 0 or place == "gpu":  # on a CPU the first has compiled nearly all, and the second takes long
            started = time.perf_counter()
            interdependence_batch(model, codes)
            taken = time.perf_counter() - started
            yield {"name": f"{name}: compile", "value": first - taken, "unit": "s"}
        pairs = sum(len(words) * (len(words) - 1) // 2 for words in codes)
        row = {"name": f"{name}, {pairs:,} pairs, {place}", "value": taken, "unit": "s"}
        row |= {"pairs_a_second": pairs / taken, "sentences_a_second": len(codes) / taken}
        remark = f"{pairs / taken:,.0f} pairs/s, {len(codes) / taken:,.0f} sentences/s"
        if name == "all of EWT":
            row |= {"aim": AIM[place], "reached": taken <= AIM[place]}
            remark += f"; aim {AIM[place]:.0f} s: {'reached' if taken <= AIM[place] else 'not reached'}"
        yield row | {"remark": remark}


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
