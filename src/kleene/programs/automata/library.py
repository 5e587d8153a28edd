"""Automata for the command line: a shelf of examples, how a word is typed, and how a run is shown.

On the shelf are parity, Tomita's seven languages, divisibility and some classics. Recurrent networks that accept words
are typed and shown in the same way.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

from kleene.errors import InputError, close_names
from kleene.notation.console import Entry, Shelf, Telling, typed_word
from kleene.programs.automata.dfa import DFA
from kleene.programs.automata.nfa import NFA, drawn
from kleene.programs.automata.storage import ENDINGS
from kleene.programs.jflap import ENDING


def parity() -> DFA:
    """PARITY of Chiang's notes (figure 4.2): an odd number of 1s."""
    rows = [("q0", "0", "q0"), ("q0", "1", "q1"), ("q1", "0", "q1"), ("q1", "1", "q0")]
    return DFA.from_table(rows, start="q0", accept=["q1"])


def divisible_by(number: int, base: int = 2) -> DFA:
    """Numbers divisible by `number`, first digit first; a state for every remainder, and ε counts as 0."""
    if number < 1 or not 2 <= base <= 10:
        raise InputError(f"divisible_by({number}, base={base}): the number is 1 or more, the base 2 to 10")
    digits = [str(digit) for digit in range(base)]
    rows = [(str(r), d, str((r * base + int(d)) % number)) for r in range(number) for d in digits]
    return DFA.from_table(rows, start="0", accept=["0"], alphabet=digits)


def containing(part: str, alphabet: str = "ab") -> DFA:
    """Words with `part` in them; a state for how much of it was just read."""

    def after(read: int, symbol: str) -> int:
        if read == len(part):
            return read
        seen = part[:read] + symbol
        return max(length for length in range(len(seen) + 1) if part.startswith(seen[len(seen) - length :]))

    rows = [(str(read), a, str(after(read, a))) for read in range(len(part) + 1) for a in alphabet]
    return DFA.from_table(rows, start="0", accept=[str(len(part))], alphabet=alphabet)


def brackets(depth: int) -> DFA:
    """Well-nested brackets, at most `depth` deep; a state for every depth, and `lost` for what cannot be completed."""
    levels = [str(level) for level in range(depth + 1)]
    rows = [(level, "(", following) for level, following in zip(levels, [*levels[1:], "lost"])]
    rows += [(level, ")", before) for level, before in zip(levels, ["lost", *levels])]
    rows += [("lost", "(", "lost"), ("lost", ")", "lost")]
    return DFA.from_table(rows, start="0", accept=["0"], alphabet="()")


def counting(zeros: int, ones: int, accept: Callable[[int, int], bool]) -> DFA:
    """Words by their number of 0s modulo `zeros` and of 1s modulo `ones`."""
    pairs = list(product(range(zeros), range(ones)))
    names = {pair: f"{pair[0]},{pair[1]}" for pair in pairs}
    rows = [(names[z, o], "0", names[(z + 1) % zeros, o]) for z, o in pairs]
    rows += [(names[z, o], "1", names[z, (o + 1) % ones]) for z, o in pairs]
    return DFA.from_table(rows, start=names[0, 0], accept=[names[pair] for pair in pairs if accept(*pair)])


def tomita_3() -> DFA:
    """No odd run of 1s with an odd run of 0s right after it."""
    rows = [("even", "0", "even"), ("even", "1", "odd"), ("odd", "1", "even"), ("odd", "0", "odd0s")]
    rows += [("odd0s", "0", "even0s"), ("odd0s", "1", "lost"), ("even0s", "0", "odd0s"), ("even0s", "1", "odd")]
    rows += [("lost", "0", "lost"), ("lost", "1", "lost")]
    return DFA.from_table(rows, start="even", accept=["even", "odd", "even0s"])


def regex(expression: str, alphabet: str = "01") -> Callable[[], DFA]:
    return lambda: DFA.from_regex(expression, alphabet)


def matching(expression: str) -> Callable[[str], bool]:
    return lambda word: re.fullmatch(expression, word) is not None


def _no_odd_runs(word: str) -> bool:
    return not any(len(ones) % 2 and len(zeros) % 2 for ones, zeros in re.findall("(1+)(0+)", word))


def _nested(word: str, depth: int) -> bool:
    level = 0
    for symbol in word:
        level += 1 if symbol == "(" else -1
        if not 0 <= level <= depth:
            return False
    return level == 0


def _divides(number: int) -> Callable[[str], bool]:
    return lambda word: int(word or "0", 2) % number == 0


_SHELF = Shelf(
    "automaton",
    (
        Entry("parity", "an odd number of 1s", parity, ("110",), reference=lambda w: w.count("1") % 2 == 1),
        Entry(
            "even_parity",
            "an even number of 1s",
            regex("(0|10*1)*"),
            ("110",),
            reference=lambda w: w.count("1") % 2 == 0,
        ),
        Entry("tomita_1", "1s only", regex("1*"), ("111",), reference=lambda w: "0" not in w),
        Entry(
            "tomita_2", "10 again and again", regex("(10)*"), ("1010",), reference=lambda w: w == "10" * (len(w) // 2)
        ),
        Entry("tomita_3", "no odd run of 1s before an odd run of 0s", tomita_3, ("1100",), reference=_no_odd_runs),
        Entry(
            "tomita_4",
            "no three 0s in a row",
            lambda: containing("000", "01").complement(),
            ("1001",),
            reference=lambda w: "000" not in w,
        ),
        Entry(
            "tomita_5",
            "0s and 1s both even in number",
            lambda: counting(2, 2, lambda zeros, ones: zeros == ones == 0),
            ("0101",),
            reference=lambda w: w.count("0") % 2 == w.count("1") % 2 == 0,
        ),
        Entry(
            "tomita_6",
            "0s and 1s equal in number modulo 3",
            lambda: counting(3, 3, lambda zeros, ones: zeros == ones).minimise(),
            ("0101",),
            reference=lambda w: (w.count("0") - w.count("1")) % 3 == 0,
        ),
        Entry("tomita_7", "at most two turns: 0*1*0*1*", regex("0*1*0*1*"), ("0110",), reference=matching("0*1*0*1*")),
        Entry(
            "divisible_by_3", "binary numbers that 3 divides", lambda: divisible_by(3), ("110",), reference=_divides(3)
        ),
        Entry(
            "divisible_by_5", "binary numbers that 5 divides", lambda: divisible_by(5), ("1010",), reference=_divides(5)
        ),
        Entry(
            "divisible_by_20",
            "binary numbers that 20 divides",
            lambda: divisible_by(20),
            ("10100",),
            reference=_divides(20),
        ),
        Entry(
            "contains_abba",
            "words with abba in them",
            lambda: containing("abba"),
            ("babba",),
            reference=lambda w: "abba" in w,
        ),
        Entry(
            "third_from_end",
            "words whose last symbol but two is a",
            regex("(a|b)*a(a|b){2}", "ab"),
            ("babb",),
            reference=lambda w: w[-3:-2] == "a",
        ),
        Entry(
            "brackets_3",
            "brackets nested at most 3 deep",
            lambda: brackets(3),
            ("(()())",),
            reference=lambda w: _nested(w, 3),
        ),
    ),
)
entries, get = _SHELF.entries, _SHELF.get


def spelled(text: str) -> DFA | NFA:
    """The automaton in a .json, .dot, .gv or .jff file, or that of a regular expression.

    >>> spelled("(a|b)*abb")
    <DFA of 4 states over a b>
    """
    if text.endswith(ENDING):
        return drawn(text)
    if text.endswith(ENDINGS):
        return DFA.load(text)
    close = close_names(text, entries()) if len(text) > 3 and text.isidentifier() else []
    if close:  # a mistyped name is likelier than a language of one word
        meant = " or ".join(f"dfa:{name}" for name in close)
        raise InputError(
            f"no automaton {text!r} in the library; did you mean {meant}? If these letters are a regular expression, "
            f"put them into brackets: 'dfa:({text})'"
        )
    return DFA.from_regex(text)


def words(alphabet: tuple[str, ...], longest: int) -> Iterator[str]:
    """All words up to that length, short ones first."""
    for length in range(longest + 1):
        yield from ("".join(symbols) for symbols in product(alphabet, repeat=length))


def read(words: Sequence[str], subject: Any) -> str | list[str]:
    """The word that a person typed, over the subject's alphabet."""
    return typed_word(words, subject.alphabet)


def telling(outcome: Any) -> Telling:
    """Whether the word was accepted, and how long it is."""
    accepted = bool(outcome.trace.output)
    verdict = "accept" if accepted else "reject"
    facts = {"output": verdict, "verdict": verdict, "accepted": accepted, "steps": outcome.trace.steps}
    return Telling(facts, verdict, f"read {outcome.trace.steps} symbols")


def sizes(network: Any) -> dict[str, Any]:
    """How large a compiled network is, and whether its weights are exact."""
    return {"exact": network.is_exact, "activation": network.activation} | asdict(network.size)
