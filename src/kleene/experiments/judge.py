"""`kleene.judge`: which measures find the true interactions of inputs, on compiled and on taught networks.

The truth is known because the networks compute regular languages. Some are compiled from automata, others are taught
and then checked on every word of the length that is judged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from kleene import naming
from kleene.compiling import compile
from kleene.errors import InputError, did_you_mean
from kleene.explaining.interactions.judging import JudgedNetwork, judge_interactions
from kleene.explaining.interactions.measures import MEASURES, AlphabetWord, Measure
from kleene.explaining.interactions.verdicts import InteractionVerdicts
from kleene.kinds import AUTOMATA
from kleene.programs.automata import DFA
from kleene.teaching.teach import teach


@dataclass(frozen=True)
class JudgeSize:
    """How much is judged: languages by name, words of one length each, and how networks are taught."""

    languages: tuple[str, ...] = ("tomita_3", "tomita_4", "tomita_7", "(0|1)*011")
    length: int = 9
    words: int = 24
    seeds: int = 2
    iterations: int = 2_000
    hidden: int = 32
    machines: tuple[str, ...] = ("RNN", "LSTM")
    hints: tuple[str, ...] = ("none",)  # kinds of hints; each but "none" is a family of its own

    def __post_init__(self) -> None:
        least = {"length": 3, "words": 1, "seeds": 0, "iterations": 1, "hidden": 1}
        for name, smallest in least.items():
            if getattr(self, name) < smallest:
                raise InputError(f"{name} is {getattr(self, name)}, which is too small; give {smallest} or more")


QUICK = JudgeSize()
FULL = JudgeSize(
    (*QUICK.languages, "(0|1)*1(0|1){2}", "(0|1)*101(0|1)*", "contains_abba"),
    words=60, seeds=5, iterations=4_000, hints=("none", "states"),
)  # fmt: skip


def judge(
    methods: Sequence[str | Measure] | Mapping[str, Measure] | str | Measure = (),
    *,
    size: JudgeSize = QUICK,
    seed: int = 0,
    on_network: Callable[[str], None] | None = None,
) -> InteractionVerdicts:
    """The verdicts on measures of interaction, by default on all: rank correlations with the truth, and seconds.

    A method is the name of a measure, "FILE.py:NAME", or a function from a network and a list of words to scores
    [word, i, j]; several are given in a list, or in a dict by name.

    >>> small = JudgeSize(languages=("tomita_4",), length=5, words=3, seeds=0)
    >>> found = judge(["nearness", "shapley"], size=small)
    >>> found.of("shapley", "compiled LSTM").spearman["language"].mean.__round__(6)
    1.0
    """
    chosen = chosen_measures(methods)
    found = judge_interactions(list(_networks(size, seed, on_network)), chosen, on_network=on_network)
    return replace(found, size=asdict(size) | {"seed": seed})


def chosen_measures(methods: Any) -> dict[str, Measure]:
    """The measures that are meant, by name; all of Kleene's own if none is."""
    if isinstance(methods, Mapping):
        return dict(methods)
    given = [methods] if isinstance(methods, str) or callable(methods) else list(methods)
    found: dict[str, Measure] = {}
    for method in given:
        if callable(method):
            found[getattr(method, "__name__", repr(method))] = method
        elif method.partition(":")[0].endswith(".py"):
            found[method] = naming.function_in_file(method, "the method")
        elif method in MEASURES:
            found[method] = MEASURES[method]
        else:
            like = did_you_mean(method, MEASURES)
            raise InputError(f"no measure {method!r}, and FILE.py:NAME is one of your own; {like}")
    return found or dict(MEASURES)


def _networks(size: JudgeSize, seed: int, on_network: Callable[[str], None] | None) -> Iterator[JudgedNetwork]:
    languages = {name: naming.find_program(f"dfa:{name}", AUTOMATA).subject for name in size.languages}
    words = {name: drawn_words(dfa, size, seed) for name, dfa in languages.items()}
    for machine in size.machines:
        for name, dfa in languages.items():
            network = compile(dfa, machine=machine.lower(), dtype="float32")
            yield JudgedNetwork(name, f"compiled {machine}", network, dfa, words[name])
    for machine in size.machines if size.seeds else ():
        for kind in size.hints:
            family = f"taught {machine}" if kind == "none" else f"{machine}, {kind} hints"
            for name, dfa in languages.items():
                if on_network is not None:
                    on_network(f"teaching: {family}: {name}")
                for run, network in enumerate(_taught(name, machine.lower(), kind, size, seed)):
                    yield JudgedNetwork(f"{name} seed {seed + run}", family, network, dfa, words[name])


def _taught(name: str, machine: str, kind: str, size: JudgeSize, seed: int) -> list[Any]:
    lengths = (size.length, 2 * size.length)
    taught = teach(
        f"dfa:{name}", machine=machine, hints=kind, seeds=size.seeds, first_seed=seed, iterations=size.iterations,
        test_every=size.iterations, hidden=size.hidden, longest=max(10, size.length), lengths=lengths,
    )  # fmt: skip
    return [taught.machine(run) for run in range(size.seeds)]


def drawn_words(dfa: DFA, size: JudgeSize, seed: int) -> tuple[AlphabetWord, ...]:
    """Different random words of the size's length, as many as it says or as there are."""
    symbols = dfa.alphabet
    count = len(symbols) ** size.length
    places = np.random.default_rng(seed).choice(count, min(size.words, count), replace=False)
    codes = np.stack(np.unravel_index(places, (len(symbols),) * size.length), axis=1)
    return tuple(tuple(symbols[code] for code in row) for row in codes.tolist())
