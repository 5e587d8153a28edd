"""The check of automata and Turing machines: program, network and independent references do the same on every word."""

import contextlib
import itertools
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kleene.compiling import compile
from kleene.compiling.reports import REFERENCE, Report
from kleene.errors import CompileError, OutgrownError
from kleene.notation.computations import Computation
from kleene.programs.automata import DFA
from kleene.programs.turing import TuringMachine

MAX_STEPS = 2_000  # of a Turing machine; one that is still running then is compared as far as it went


def check_automaton(
    dfa: DFA,
    *,
    name: str = "automaton",
    contains: Callable[[Any], bool] | None = None,
    samples: int = 100,
    max_length: int = 8,
    seed: int = 0,
    on_input: Callable[[], None] | None = None,
    **options: Any,
) -> Report:
    """Compare the traces of automaton and network, what automata-lib and `contains` say, and the automaton extracted.

    >>> bool(check_automaton(DFA.from_regex("(0|10*1)*"), samples=10))
    True
    """
    from kleene.explaining.automata.extraction import extract

    started = time.perf_counter()
    network, peer = compile(dfa, **options), dfa.to_automata()
    words = some_words(dfa.alphabet, samples, max_length, seed)
    problems = []
    for word, mine, theirs in zip(words, dfa.run_batch(words), network.run_batch(words)):
        accepted = bool(mine.output)
        problem = mine.difference(theirs)
        if problem is None and peer.accepts_input(word) != accepted:
            problem = f"the automaton says {accepted}, automata-lib {not accepted}"
        if problem is None and contains is not None and contains("".join(word)) != accepted:
            problem = f"the automaton says {accepted}, the plain reference {not accepted}"
        problems.append(problem and f"{name} on {_shown(word)}: {problem}")
        if on_input is not None:
            on_input()
    if network.is_exact:
        apart = extract(network).distinguishing_word(dfa)
        problems.append(None if apart is None else f"{name}: the automaton extracted differs on {_shown(apart)}")
    compared = ("automaton", "network", "automata-lib", *([REFERENCE] if contains else []))
    return _report(name, problems, started, compared)


def check_machine(
    machine: TuringMachine,
    *,
    name: str = "machine",
    contains: Callable[[Any], bool] | None = None,
    samples: int = 100,
    max_length: int = 8,
    seed: int = 0,
    on_input: Callable[[], None] | None = None,
    **options: Any,
) -> Report:
    """Compare machine and network configuration by configuration, and their verdicts with `contains`.

    A word on which every floating network says that its tape is too long is counted as refused.
    """
    started = time.perf_counter()
    if "construction" in options:
        networks = [compile(machine, **options)]
    else:
        networks = [compile(machine, construction="compact", **options)]
        with contextlib.suppress(CompileError):  # too large for it
            networks.append(compile(machine, construction="merged", **options))
    problems, refused = [], 0
    for word in some_words(machine.input_alphabet, samples, max_length, seed):
        mine = machine.run(word, max_steps=MAX_STEPS)
        theirs = [run for network in networks if (run := _run(network, word)) is not None]
        refused += not theirs
        if theirs:
            problem = next((found for run in theirs if (found := mine.difference(run))), None)
            if problem is None and contains is not None and mine.verdict != "running":
                expected = "accept" if contains("".join(word)) else "reject"
                if mine.verdict != expected:
                    problem = f"the verdict is {mine.verdict}, the plain reference says {expected}"
            problems.append(problem and f"{name} on {_shown(word)}: {problem}")
        if on_input is not None:
            on_input()
    compared = ("machine", "network", *([REFERENCE] if contains else []))
    return _report(name, problems, started, compared, refused)


def _run(network: Any, word: Sequence[str]) -> Computation | None:
    try:
        return network.run(word, max_steps=MAX_STEPS)
    except OutgrownError:
        return None


def some_words(alphabet: tuple[str, ...], samples: int, longest: int, seed: int) -> list[tuple[str, ...]]:
    """The shortest words, as many as there are samples, and as many random ones up to the greatest length."""
    chance = random.Random(seed)
    short = list(itertools.islice(_all_words(alphabet, longest), samples))
    drawn = [chance.choices(alphabet, k=chance.randint(0, longest)) if alphabet else () for _ in range(samples)]
    return short + [tuple(word) for word in drawn]


def _all_words(alphabet: tuple[str, ...], longest: int) -> Iterator[tuple[str, ...]]:
    for length in range(longest + 1):
        yield from itertools.product(alphabet, repeat=length)


def _shown(word: Sequence[str]) -> str:
    return repr("".join(word)) if all(len(symbol) == 1 for symbol in word) else repr(list(word))


def _report(
    name: str, problems: list[str | None], started: float, compared: tuple[str, ...], refused: int = 0
) -> Report:
    agree = sum(problem is None for problem in problems)
    first = next((problem for problem in problems if problem), None)
    return Report(name, agree, len(problems), first, round(time.perf_counter() - started, 3), refused, compared)
