"""The networks that measures of interaction are judged on: compiled, hidden and taught, by families.

All accept regular languages, so their true interactions are known. A hidden network computes what a compiled or a
taught one does, in other units. A softened LSTM is a hidden one whose gates are not saturated and whose weights are
noisy, so that it looks like a trained one.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from kleene import naming
from kleene.compiling import compile
from kleene.errors import InputError, did_you_mean
from kleene.explaining.interactions.measures import AlphabetWord
from kleene.groundtruth.judging.interactions import JudgedNetwork
from kleene.groundtruth.judging.transformers import compiled_transformer, taught_transformers
from kleene.groundtruth.recurrent import hide_recurrent
from kleene.groundtruth.transformers import hide_transformer
from kleene.kinds import AUTOMATA
from kleene.programs.automata import DFA
from kleene.teaching.teach import teach

HIDING: dict[str, Any] = {"copies": 2, "decoys": 8}  # 2 copies always: seeds have the same shape, compiled once
SOFTENING: dict[str, Any] = {"gates": 8.0, "noise": 0.03}
TRANSFORMER = "Transformer"
MOST_DRAWN = 1 << 62  # words from which different ones are drawn


@dataclass(frozen=True)
class JudgeSize:
    """How much is judged: languages by name, words of one length each, and how networks are taught."""

    languages: tuple[str, ...] = ("tomita_3", "tomita_4", "tomita_7", "(0|1)*011")
    length: int = 9
    words: int = 24
    seeds: int = 2
    iterations: int = 2_000
    transformer_iterations: int = 1_000
    hidden: int = 32
    machines: tuple[str, ...] = ("RNN", "LSTM", "Transformer")
    # Kinds of hints; each but "none" is a family of its own. A number is that share of all states.
    hints: tuple[str | float, ...] = ("none",)
    hide: int = 1  # hidden networks of each compiled one, with seeds of their own; 0 for none
    hide_taught: bool = False  # whether each network that was taught without hints is judged in other units as well

    def __post_init__(self) -> None:
        least = {"length": 3, "words": 1, "seeds": 0, "iterations": 1, "hidden": 1, "hide": 0}
        for name, smallest in least.items():
            if getattr(self, name) < smallest:
                raise InputError(f"{name} is {getattr(self, name)}, which is too small; give {smallest} or more")

    @property
    def recurrent(self) -> tuple[str, ...]:
        """The machines that are recurrent, which can be hidden and taught with hints."""
        return tuple(machine for machine in self.machines if machine != TRANSFORMER)

    @property
    def families(self) -> tuple[str, ...]:
        """The names of the families of networks, in their order."""
        made = [f"compiled {machine}" for machine in self.recurrent]
        if self.hide:
            made += [f"hidden {machine}" for machine in self.recurrent]
            made += ["softened LSTM"] if "LSTM" in self.machines else []
        for machine, kind in product(self.recurrent, self.hints if self.seeds else ()):
            made.append(hinted(machine, kind))
            if self.hide_taught and kind == "none":
                made.append(f"hidden taught {machine}")
        if TRANSFORMER in self.machines:
            known = {"compiled": True, "hidden": self.hide > 0, "taught": self.seeds > 0}
            made += [f"{kind} {TRANSFORMER}" for kind, there in known.items() if there]
        return tuple(made)


QUICK = JudgeSize()
FULL = JudgeSize(
    (*QUICK.languages, "(0|1)*1(0|1){2}", "(0|1)*101(0|1)*", "contains_abba"),
    words=60, seeds=5, iterations=3_000, hints=("none", "states", 0.25), hide=5, hide_taught=True,
)  # fmt: skip


def hinted(machine: str, kind: str | float) -> str:
    """The family of networks that were taught with these hints."""
    if kind == "none":
        return f"taught {machine}"
    return f"{machine}, {kind} hints" if isinstance(kind, str) else f"{machine}, {kind:.0%} of the states"


def networks(
    size: JudgeSize, seed: int, families: Iterable[str] = (), on_network: Callable[[str], None] | None = None
) -> Iterator[JudgedNetwork]:
    """The networks of these families, or of all, one after the other; families that are not asked for cost nothing."""
    wanted = checked_families(size, families)
    languages = {name: naming.find_program(f"dfa:{name}", AUTOMATA).subject for name in size.languages}
    words = {name: drawn_words(dfa, size, seed) for name, dfa in languages.items()}
    made = (
        _compiled(size, seed, wanted, languages),
        _taught(size, seed, wanted, languages, on_network),
        _transformers(size, seed, wanted, languages, on_network),
    )
    for family, name, label, network in (one for some in made for one in some):
        yield JudgedNetwork(label, family, network, languages[name], words[name])


def checked_families(size: JudgeSize, families: Iterable[str]) -> tuple[str, ...]:
    """The families, or all of them if none is named; refuses one that this size has not."""
    given = tuple(families)
    for family in given:
        if family not in size.families:
            raise InputError(f"no family of networks {family!r}; {did_you_mean(family, size.families)}")
    return given or size.families


Made = Iterator[tuple[str, str, str, Any]]  # the family, the language, the network's name, and the network


def _compiled(size: JudgeSize, seed: int, wanted: tuple[str, ...], languages: dict[str, DFA]) -> Made:
    """Compiled networks, then hidden ones, then softened ones."""
    hiding = {f"hidden {machine}": HIDING for machine in size.recurrent} | {"softened LSTM": HIDING | SOFTENING}
    for family in (one for one in size.families if one.split()[0] in ("compiled", "hidden", "softened")):
        if family not in wanted or "taught" in family or TRANSFORMER in family:
            continue
        for name, dfa in languages.items():
            network = compile(dfa, machine=family.split()[-1].lower(), dtype="float32")
            if family not in hiding:
                yield family, name, name, network
                continue
            for run in range(seed, seed + size.hide):
                yield family, name, f"{name} seed {run}", hide_recurrent(network, seed=run, **hiding[family]).network


def _taught(
    size: JudgeSize, seed: int, wanted: tuple[str, ...], languages: dict[str, DFA], tell: Callable[[str], None] | None
) -> Made:
    """Taught networks, and those without hints once more in other units."""
    for machine, kind in product(size.recurrent, size.hints if size.seeds else ()):
        family, disguised = hinted(machine, kind), f"hidden taught {machine}"
        also = size.hide_taught and kind == "none" and disguised in wanted
        if family not in wanted and not also:
            continue
        for name in languages:
            if tell is not None:
                tell(f"teaching: {family}: {name}")
            for run, network in enumerate(taught_networks(name, machine.lower(), kind, size, seed), start=seed):
                if family in wanted:
                    yield family, name, f"{name} seed {run}", network
                if also:
                    yield disguised, name, f"{name} seed {run}", hide_recurrent(network, seed=run, **HIDING).network


def _transformers(
    size: JudgeSize, seed: int, wanted: tuple[str, ...], languages: dict[str, DFA], tell: Callable[[str], None] | None
) -> Made:
    """Transformers: compiled, hidden, and then taught."""
    compiled, hidden = f"compiled {TRANSFORMER}", f"hidden {TRANSFORMER}"
    for name, dfa in languages.items() if {compiled, hidden} & {*wanted} else ():
        network = compiled_transformer(dfa, size.length)
        if compiled in wanted:
            yield compiled, name, name, network
        for run in range(seed, seed + size.hide) if hidden in wanted else ():
            turned = replace(network, model=hide_transformer(network.model, seed=run).network)
            yield hidden, name, f"{name} seed {run}", turned
    for name, dfa in languages.items() if f"taught {TRANSFORMER}" in wanted else ():
        if tell is not None:
            tell(f"teaching: taught {TRANSFORMER}: {name}")
        options = {"length": size.length, "seeds": size.seeds, "first_seed": seed, "width": size.hidden}
        taught = taught_transformers(dfa, iterations=size.transformer_iterations, **options)
        for run, network in enumerate(taught, start=seed):
            yield f"taught {TRANSFORMER}", name, f"{name} seed {run}", network


def taught_networks(name: str, machine: str, kind: str | float, size: JudgeSize, seed: int) -> list[Any]:
    """Networks that were taught a language, one for each seed."""
    lengths = (size.length, 2 * size.length)
    taught = teach(
        f"dfa:{name}", machine=machine, hints=kind, seeds=size.seeds, first_seed=seed, iterations=size.iterations,
        test_every=size.iterations, hidden=size.hidden, longest=max(10, size.length), lengths=lengths,
    )  # fmt: skip
    return [taught.machine(run) for run in range(size.seeds)]


def drawn_words(dfa: DFA, size: JudgeSize, seed: int) -> tuple[AlphabetWord, ...]:
    """Different random words of the size's length, as many as it says or as there are."""
    symbols, chance = dfa.alphabet, np.random.default_rng(seed)
    count = len(symbols) ** size.length
    if count > MOST_DRAWN:  # two that are the same are not to be expected
        codes = chance.integers(0, len(symbols), (size.words, size.length))
    else:
        places = chance.choice(count, min(size.words, count), replace=False)
        codes = places[:, None] // len(symbols) ** np.arange(size.length)[::-1] % len(symbols)
    return tuple(tuple(symbols[code] for code in row) for row in codes.tolist())
