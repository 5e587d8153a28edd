"""The programs of the collection, and the forms in which each is a network."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from kleene import kinds, naming
from kleene.errors import InputError, did_you_mean
from kleene.groundtruth.rasp_programs import EXAMPLES
from kleene.naming import Found

Form = Literal["compiled", "hidden", "taught"]
FORMS: tuple[Form, ...] = ("compiled", "hidden", "taught")
# Options of `kleene.hide` for the hidden form, by machine.
HIDING: Mapping[str, Mapping[str, Any]] = {
    "plain": {"decoys": 2},
    "rnn": {"copies": 3, "decoys": 4},
    "lstm": {"copies": 3, "decoys": 4},
}
# How the taught form is taught. Options of `kleene.teach` for automata: hints on their states, as of old.
TEACHING_AUTOMATA: Mapping[str, Any] = {"hints": "states", "seeds": 3, "iterations": 2000}
TEACHING_PLAIN: Mapping[str, Any] = {"method": "interchange", "seeds": 4, "iterations": 4000}
# The subjects of `kleene.groundtruth.taught`, by the names of the collection.
TAUGHT_PLAIN: Mapping[str, str] = {
    f"rasp.{name}": name
    for name in (
        "reverse", "hist", "length", "count", "causal_hist", "shift", "count_less_freq", "detect_pattern", "frac_prevs",
        "sort_unique", "sort", "sort_freq", "pair_balance", "shuffle_dyck",
    )
} | {
    "alta.parity_relative": "parity",
    "alta.parity_sum_modulo": "parity_counted",
    "alta.parity_sum_modulo_steps": "parity_counted_in_steps",
    "alta.induction_head": "induction",
    "alta.histogram": "histogram",
    "alta.double_histogram": "double_histogram",
}  # fmt: skip
POSITIONS = 5  # the longest input of Transformers, the start included

_ALTA = (
    "parity_absolute", "parity_relative", "parity_sum_modulo", "parity_sum_modulo_steps", "addition", "histogram",
    "double_histogram", "reverse", "most_frequent_sort", "shuffle_dyck_1", "shuffle_dyck_2", "fraction_previous",
    "induction_head",
)  # fmt: skip
_RASP = (
    "reverse", "length", "hist", "count", "count_less_freq", "sort_unique", "sort", "sort_freq", "frac_prevs",
    "pair_balance", "shuffle_dyck", "shuffle_dyck2", "shift", "detect_pattern", "causal_hist",
)  # fmt: skip
_AUTOMATA = (
    "parity", "even_parity", "tomita_1", "tomita_2", "tomita_3", "tomita_4", "tomita_5", "tomita_6", "tomita_7",
    "divisible_by_3", "divisible_by_5", "contains_abba", "third_from_end", "brackets_3",
)  # fmt: skip
_REGEXES = {
    "ends_abb": ("(a|b)*abb", "words that end with abb"),
    "starts_ab": ("ab(a|b)*", "words that begin with ab"),
    "a_then_b": ("a*b*", "no a after a b"),
    "contains_aba": ("(a|b)*aba(a|b)*", "words with aba in them"),
    "even_length": ("((a|b)(a|b))*", "words of an even length"),
    "length_by_3": ("((a|b)(a|b)(a|b))*", "words whose length 3 divides"),
    "odd_a": ("b*a(b|ab*a)*", "an odd number of a"),
    "two_a": ("b*ab*ab*", "exactly two a"),
    "ends_as_begun": ("a|b|a(a|b)*a|b(a|b)*b", "the first letter is the last one"),
    "three_letters": ("(a|b|c)*cab", "words over three letters that end with cab"),
}


@dataclass(frozen=True)
class KnownProgram:
    """A program of the collection: its name there, what it computes, and how its network is made.

    `program` is its name on the command line, or a function that builds it; `options` are those of compiling.
    """

    name: str
    summary: str
    family: Literal["RASP", "ALTA", "automaton"]
    machine: Literal["plain", "rnn", "lstm"]
    program: str | Callable[[], Any]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms that can be built."""
        return FORMS if self.machine != "plain" or self.name in TAUGHT_PLAIN else FORMS[:2]

    @property
    def named(self) -> str:
        """What a card calls the program."""
        return self.program if isinstance(self.program, str) else self.name

    def find(self) -> tuple[Found, dict[str, Any]]:
        """The program, and the options of compiling it."""
        subject = self.program if isinstance(self.program, str) else self.program()
        return naming.taken(subject, dict(self.options))


@cache
def programs() -> dict[str, KnownProgram]:
    """Every program of the collection by its name."""
    found = [*_transformers(), *_automata("rnn"), *_automata("lstm")]
    return {one.name: one for one in found}


def names() -> list[str]:
    """The names of all entries: each program in each of its forms."""
    return [f"{name}.{form}" for name, known in programs().items() for form in known.forms]


def get(name: str) -> tuple[KnownProgram, tuple[Form, ...]]:
    """The program of a name such as `rasp.reverse`, with all forms that are built at once; or with the one form that
    the name ends with, such as `rasp.reverse.taught`."""
    there = programs()
    if name in there:
        return there[name], FORMS[:2]
    stem, _, form = name.rpartition(".")
    if stem not in there:
        raise InputError(f"there is no {name!r} in the collection; {did_you_mean(name, there)}")
    for known in there[stem].forms:
        if known == form:
            return there[stem], (known,)
    raise InputError(f"{stem!r} has the forms {', '.join(there[stem].forms)}, and not {form!r}")


def _transformers() -> list[KnownProgram]:
    rasp, alta = kinds.RASP.shelf, kinds.TRANSFORMERS.shelf
    assert rasp is not None
    assert alta is not None
    shelf = [
        KnownProgram(f"rasp.{name}", rasp()[name].summary, "RASP", "plain", f"rasp:{name}", {"max_length": POSITIONS})
        for name in _RASP
    ]
    own = [
        KnownProgram(f"rasp.{name}", example.summary, "RASP", "plain", lambda n=name, e=example: e.build(n))
        for name, example in EXAMPLES.items()
    ]
    written = [
        KnownProgram(f"alta.{name}", alta()[name].summary, "ALTA", "plain", name, {"max_length": POSITIONS})
        for name in _ALTA
    ]
    return [*shelf, *own, *written]


def _automata(machine: Literal["rnn", "lstm"]) -> list[KnownProgram]:
    shelf = kinds.AUTOMATA.shelf
    assert shelf is not None
    every = {name: (name, shelf()[name].summary) for name in _AUTOMATA} | _REGEXES
    return [
        KnownProgram(f"{machine}.{name}", summary, "automaton", machine, f"dfa:{spelled}", {"machine": machine})
        for name, (spelled, summary) in every.items()
    ]
