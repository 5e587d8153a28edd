"""What can be set of a lesson: one record for each lesson, whose fields have a default, bounds and help.

A record checks itself. From it come the options of `kleene teach TASK`, the settings of sweep files, and the tables of
the docs. This module is read without jax.
"""

import inspect
import math
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cache
from numbers import Integral, Real
from typing import Any

from kleene.errors import InputError, typed_option
from kleene.kinds import resolved
from kleene.limits import printable

MOST, SHOWN = 10**9, 60  # the largest of any whole number, and the most letters of a value that an error shows
PLAIN = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


@dataclass(frozen=True)
class Option:
    """An option: its name, the type of its values, and what an `Options` record says of it.

    `reads` names the function that reads the text of a command line ("module:name"), where the type does not say how;
    `typed` is False for one that only Python can give.
    """

    name: str
    type: Any = Any
    default: Any = None
    help: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()
    off: str = ""  # what a switch is called that is turned off
    reads: str = ""
    typed: bool = True

    @property
    def types(self) -> tuple[Any, ...]:
        """The plain types of its values, `list` for a list; none where any value may do."""
        union = typing.get_origin(self.type) in (typing.Union, types.UnionType)
        parts = [one for one in (typing.get_args(self.type) if union else (self.type,)) if one is not type(None)]
        found = [list if typing.get_origin(one) in (list, tuple, Sequence) else one for one in parts]
        return tuple(found) if all(one is list or one in PLAIN for one in found) else ()

    @property
    def unbounded(self) -> "Option":
        """The option of that type with any value."""
        return Option(self.name, self.type, self.default, self.help, reads=self.reads, typed=self.typed, off=self.off)

    @property
    def bounds(self) -> str:
        """The bounds in words, or the choices.

        >>> Option("dropout", float, least=0, below=1).bounds, Option("rate", float, above=0).bounds
        ('0 or more, below 1', 'above 0')
        """
        if self.choices:
            return " or ".join(filter(None, (", ".join(self.choices[:-1]), self.choices[-1])))
        low = "" if self.least is None else f"{self.least:,}" if self.most is not None else f"{self.least:,} or more"
        within = low if self.most is None else f"{low} to {self.most:,}" if low else f"{self.most:,} at most"
        above = "" if self.above is None else f"above {self.above:,}"
        below = "" if self.below is None else f"below {self.below:,}"
        return ", ".join(filter(None, (within, above, below)))

    @property
    def words(self) -> str:
        """What a value has to be.

        >>> Option("hidden", int, least=1, most=9).words
        'a whole number, 1 to 9'
        """
        several = "a list of whole numbers" if int in self._items else "a list"
        named = " or ".join(several if one is list else PLAIN[one] for one in self.types)
        return self.bounds if self.choices else ", ".join(filter(None, (named, self.bounds)))

    def problem(self, value: Any) -> str | None:
        """Why this cannot be the value, as words that follow "is"; None if it can be.

        >>> hidden = Option("hidden", int, 8, least=1)
        >>> hidden.problem(0), hidden.problem("x"), hidden.problem(3)
        ('0; give 1 or more', "'x'; give a whole number, 1 or more", None)
        """
        if value is None and (self.default is None or type(None) in typing.get_args(self.type)):
            return None
        found = [self._advice(value, one) for one in self.types]
        if not found or None in found:
            return None
        return f"{printable(repr(value), SHOWN)}; give {min(filter(None, found), key=len)}"

    def check(self, value: Any) -> None:
        """Refuse a value that it cannot have."""
        problem = self.problem(value)
        if problem is not None:
            raise InputError(f"{self.name} is {problem}")

    def read(self, text: str) -> Any:
        """The value that was typed; an InputError says what is expected."""
        if self.reads:
            return resolved(self.reads)(text)
        found: list[Any] = []
        for one in self.types or (type(self.default),):
            with suppress(ValueError):
                found.append(_value(text, one, self._items))
        for value in found:
            if self.problem(value) is None:
                return value
        problem = self.problem(found[0]) if found else f"{printable(repr(text), SHOWN)}; give {self.words}"
        raise InputError(f"{typed_option(self.name)} is {problem}")

    @property
    def _items(self) -> tuple[Any, ...]:
        """The types of the entries of a list."""
        parts = [self.type, *typing.get_args(self.type)]
        listed = [one for one in parts if typing.get_origin(one) in (list, tuple, Sequence)]
        return tuple(item for one in listed for item in typing.get_args(one))

    def _advice(self, value: Any, one: Any) -> str | None:
        """What to give in place of a value that is not of that type, or outside the bounds; None where it fits."""
        if one is list:
            if isinstance(value, str) or not isinstance(value, Sequence) or not value:
                return self.words
            advice = (self._advice(item, int) for item in value if int in self._items)
            return next(filter(None, advice), None)
        if one in (int, float):
            fits = isinstance(value, Integral if one is int else Real) and not isinstance(value, bool)
            return self._outside(value, one) if fits and math.isfinite(value) else self.words
        fits = isinstance(value, one) and (not self.choices or value in self.choices)
        return None if fits else self.words

    def _outside(self, value: Any, one: Any) -> str | None:
        most = MOST if self.most is None and one is int else self.most
        if self.least is not None and value < self.least:
            return f"{self.least:,} or more"
        if most is not None and abs(value) > most:
            return f"{most:,} at most"
        if self.above is not None and value <= self.above:
            return f"a number above {self.above:,}"
        return None if self.below is None or value < self.below else f"a number below {self.below:,}"


def _value(text: str, one: Any, items: Sequence[Any]) -> Any:
    if one is list:
        return tuple(int(part) if int in items else part for part in text.split(","))
    if one is bool:
        return {"true": True, "false": False}[text] if text in ("true", "false") else int("")
    return text if one not in (int, float) else one(text)


def option(default: Any, help: str = "", **said: Any) -> Any:
    """A field of a record of options: its default, its help, and what else an `Option` says."""
    return field(default=default, metadata={"help": help, **said})


class Options:
    """A record of options: a frozen dataclass whose fields are made by `option`. Values are checked as it is made.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class Sizes(Options):
    ...     hidden: int = option(32, "hidden units", least=1)
    >>> Sizes(hidden=4), Sizes.options()["hidden"].bounds
    (Sizes(hidden=4), '1 or more')
    """

    def __post_init__(self) -> None:
        for name, one in self.options().items():
            value = getattr(self, name)
            one.check(value)
            if list in one.types and value is not None:
                object.__setattr__(self, name, tuple(value))

    @classmethod
    @cache
    def options(cls) -> dict[str, Option]:
        """The options by name."""
        types = typing.get_type_hints(cls)
        declared = fields(cls) if cls is not Options else ()  # type: ignore[arg-type]
        return {one.name: Option(one.name, types[one.name], one.default, **one.metadata) for one in declared}

    def filled(self, **usual: Any) -> Any:
        """The record with these values for options that are None."""
        missing = {name: value for name, value in usual.items() if getattr(self, name) is None}
        return replace(self, **missing)  # type: ignore[type-var]

    def stored(self, *names: str, **renamed: str) -> dict[str, Any]:
        """Options as plain values: those named, or all, some under another name."""
        chosen = {name: name for name in names or (() if renamed else self.options())} | renamed
        values = {chosen[name]: getattr(self, name) for name in chosen}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def declared(function: Callable[..., Any], *, keywords: bool = False) -> dict[str, Option]:
    """The options that a function of a user's own takes: its parameters, or those that are keywords only.

    >>> def made(rate: float = 0.5, depth=2): ...
    >>> [(one.name, one.types, one.default) for one in declared(made).values()]
    [('rate', (<class 'float'>,), 0.5), ('depth', (), 2)]
    """
    try:
        types = typing.get_type_hints(function)
    except Exception:  # a user's file may annotate with names that it does not import
        types = {}
    return {one.name: _of_parameter(one, types.get(one.name, Any)) for one in _parameters(function, keywords)}


def _parameters(function: Callable[..., Any], keywords: bool) -> Iterator[inspect.Parameter]:
    for one in inspect.signature(function).parameters.values():
        if one.kind is one.KEYWORD_ONLY or (one.kind is one.POSITIONAL_OR_KEYWORD and not keywords):
            yield one


def _of_parameter(one: inspect.Parameter, type: Any) -> Option:
    return Option(one.name, type, None if one.default is one.empty else one.default)


# What several lessons have.

RELATIVE = ("relative", "absolute")
OPTIMISERS = ("adam", "adafactor")
ANSWERS = ("all", "last")
THEIR_OWN = "by default the task's own"


def _count(default: int | None, help: str, most: int = 1000, least: int = 1) -> Any:
    return option(default, help, least=least, most=most)


def _hidden(default: int, help: str = "hidden units") -> Any:
    return _count(default, help, 10**6)


def _width(default: int, help: str = "width of the residual stream") -> Any:
    return _count(default, help, 10_000)


def _batch(default: int | None, least: int = 1) -> Any:
    return _count(default, "examples in an update" + ("; " + THEIR_OWN if default is None else ""), 10**6, least)


def _rate(default: float | None, help: str = THEIR_OWN) -> Any:
    return option(default, "learning rate" + ("; " + help if default is None else ""), above=0)


def _clip(default: float | None) -> Any:
    return option(default, "largest norm of a gradient" + ("; by default any" if default is None else ""), above=0)


def _noise(default: float, help: str) -> Any:
    return option(default, f"noise on {help} in training", least=0)


def _longest(default: int | None, help: str = THEIR_OWN) -> Any:
    return _count(default, "longest words in training" + ("; " + help if default is None else ""), 10_000)


def _lengths(default: tuple[int, ...] | None = None, help: str = THEIR_OWN) -> Any:
    words = "lengths of the tests" + ("; " + help if default is None else "")
    return option(default, words, least=1, most=100_000)


def _inputs() -> Any:
    return option(None, "words to draw, FILE.py:NAME: a function or grammar", reads="kleene.naming:inputs_in_file")


def _vocab() -> Any:
    return option(
        None, "RASP programs: the tokens, such as abc or 1,2,10", reads="kleene.notation.console:typed_vocabulary"
    )


def _shared() -> Any:
    return option(False, "layers with the same weights, or their own", off="own")


# The lessons.


@dataclass(frozen=True, kw_only=True)
class AcceptorOptions(Options):
    """A recurrent network learns which words an automaton accepts."""

    hidden: int = _hidden(32)
    longest: int = _longest(10)
    lengths: Sequence[int] = _lengths((5, 10, 15, 20, 30, 40))
    batch: int = _batch(32, least=2)  # half of it is accepted words
    rate: float = _rate(3e-3)
    clip: float = _clip(1.0)


@dataclass(frozen=True, kw_only=True)
class NtmOptions(Options):
    """A Neural Turing Machine learns a sequence task, with hints on its heads and its tape."""

    cells: int | None = _count(None, "cells of the tape; by default enough that no head wraps around", 10_000)
    test_cells: int | None = _count(None, "cells of the tape in tests; by default as many, or as needed", 100_000)
    width: int = _width(8, "numbers in a cell")
    controller: tuple[int, int] | None = option(
        None, "units of the controller's two layers; " + THEIR_OWN, least=1, most=10_000
    )
    decoder: int | None = _count(None, "hidden units of the decoder of value hints; by default affine", 10_000)
    batch: int = _batch(32)
    rate: float | None = _rate(None)
    clip: float = _clip(10.0)
    longest: int | None = _longest(None)
    lengths: Sequence[int] | None = _lengths()
    tests: int = _count(32, "words of each length in a test", 10**6)
    unroll: int = _count(1, "steps of the machine that are compiled as one")
    variant: str | None = option(None, "how dyck_words is read: pairs, walks, forgiving, turns, online, online_walks")


@dataclass(frozen=True, kw_only=True)
class NramOptions(Options):
    """A Neural Random Access Machine learns a memory task, with hints on the circuit that it wires."""

    hidden: int = _hidden(256)
    batch: int = _batch(50)
    rate: float | None = _rate(None)
    noise: float = _noise(0.3, "gradients")
    start: int | None = _count(None, "size of the memory at which training starts; " + THEIR_OWN, 10_000)
    end: int | None = _count(None, "and at which its curriculum ends; " + THEIR_OWN, 10_000)
    lengths: Sequence[int] | None = _lengths()
    tests: int = _count(50, "memories of each size in a test", 10**6)
    unroll: int = _count(1, "steps of the machine that are compiled as one")
    variant: str = option(
        "paper", "how training differs from the paper's", choices=("paper", "on", "holes", "each", "stated")
    )
    clip: float | None = _clip(None)


@dataclass(frozen=True, kw_only=True)
class NeuralGpuOptions(Options):
    """A Neural GPU learns a sequence or memory task from its answers alone."""

    hidden: int = _hidden(96, "numbers at a position")
    batch: int | None = _batch(None)
    rate: float | None = _rate(None, "by default 0.48 / hidden")
    dropout: float = option(0.1, "share of units left out in an update", least=0, below=1)
    saturation: float = option(1e-3, "weight of the cost of saturation", least=0)
    samples: int | None = _count(None, "different examples in training; by default any number", MOST)
    shortest: int | None = _count(None, "shortest words in training; " + THEIR_OWN, 10_000)
    longest: int | None = _longest(None)
    lengths: Sequence[int] | None = _lengths()
    tests: int = _count(50, "words of each length in a test", 10**6)


@dataclass(frozen=True, kw_only=True)
class TransformerOptions(Options):
    """A Transformer learns a program from its outputs, and from hints on its trace."""

    inputs: Any = _inputs()  # noqa: RUF009
    longest: int | None = _longest(None, "by default 10, or half of what it takes")
    lengths: Sequence[int] | None = _lengths(help="by default up to twice the longest")
    width: int = _width(32)
    attention: int = _count(2, "heads of attention")
    hidden: int = _hidden(64, "hidden units of the MLP")
    reach: int = _count(2, "distances that a head tells apart", 10_000, 0)
    layers: int | None = _count(None, "layers; by default as many as the program has")
    noise: float = _noise(0.7, "the residual stream")
    batch: int = _batch(32)
    rate: float = _rate(3e-3)
    clip: float = _clip(1.0)
    pool: int = _count(1024, "words of each size in training", MOST)
    answer: str = option("all", "positions at which the output is asked for", choices=ANSWERS)


@dataclass(frozen=True, kw_only=True)
class EncoderOptions(Options):
    """An ordinary encoder Transformer learns a program from its outputs."""

    inputs: Any = _inputs()  # noqa: RUF009
    longest: int | None = _longest(None, "by default 10, or half of what it takes")
    lengths: Sequence[int] | None = _lengths(help="by default up to twice the longest")
    layers: int = _count(4, "layers")
    shared: bool = _shared()
    positions: str = option("relative", "how positions are told", choices=RELATIVE)
    width: int = _width(64)
    attention: int = _count(4, "heads of attention")
    key: int = _count(16, "numbers in a key", 10_000)
    hidden: int = _hidden(128, "hidden units of each MLP")
    optimiser: str = option("adafactor", "optimiser", choices=OPTIMISERS)
    rate: float | None = _rate(None, "by default the optimiser's own")
    batch: int = _batch(64)
    pool: int = _count(1024, "words of each size in training", MOST)
    answer: str = option("all", "positions at which the output is asked for", choices=ANSWERS)


@dataclass(frozen=True, kw_only=True)
class MlpOptions(Options):
    """An MLP learns a program's transitions, while attention is compiled (trace supervision)."""

    words: Any = option(None, "a list of words whose runs are taught", typed=False)  # noqa: RUF009
    inputs: Any = _inputs()  # noqa: RUF009
    longest: int | None = _longest(None, "by default 10, or half of what it takes")
    lengths: Sequence[int] | None = _lengths(help="by default up to twice the longest")
    depth: int = _count(2, "hidden layers", 100)
    hidden: int = _hidden(128)
    noise: float = _noise(0.1, "what the MLP is given")
    batch: int = _batch(256)
    rate: float = _rate(1e-3)
    optimiser: str = option("adam", "optimiser", choices=OPTIMISERS)
    pool: int = _count(128, "words of each size in training", MOST)
    answer: str = option("all", "positions at which the output is asked for", choices=ANSWERS)


@dataclass(frozen=True, kw_only=True)
class PlainOptions(Options):
    """A plain Transformer learns a program: by swaps or hints that keep the algorithm, or freely."""

    method: str = option(
        "interchange",
        "how it keeps the algorithm",
        choices=("interchange", "hints", "strict hints", "none"),
    )
    inputs: Any = _inputs()  # noqa: RUF009
    longest: int = _longest(4)
    vocab: Any = _vocab()  # noqa: RUF009
    words: int = _count(512, "words at most, in training and in tests", 10**6)
    block: int = _count(4, "dimensions of a variable at most", 10_000)
    free: int = _count(8, "dimensions that no variable has", 10_000, 0)
    spare: int = _count(1, "heads in each layer that the program does not have", 1000, 0)
    key: int = _count(8, "numbers in a key", 10_000)
    hidden: int = _hidden(64, "hidden units of each MLP")
    batch: int = _batch(64, least=2)  # its halves are swapped in different ways
    rate: float = _rate(3e-3)
    clip: float = _clip(1.0)
    swaps: float = option(1.0, "weight of the loss of swaps")
    strict: float = option(0.4, "weight of the strict loss")
    pairs: int = _count(128, "held-out pairs of each variable and head in a test", 10**6)


@dataclass(frozen=True, kw_only=True)
class TranslationOptions(Options):
    """An encoder-decoder Transformer learns to translate."""

    layers: int = _count(2, "layers of the encoder, and of the decoder")
    shared: bool = _shared()
    positions: str = option("relative", "how the encoder is told positions", choices=RELATIVE)
    width: int = _width(64)
    attention: int = _count(4, "heads of attention")
    key: int = _count(16, "numbers in a key", 10_000)
    hidden: int = _hidden(128, "hidden units of each MLP")
    optimiser: str = option("adafactor", "optimiser", choices=OPTIMISERS)
    rate: float | None = _rate(None, "by default the optimiser's own")
    batch: int = _batch(64)


@dataclass(frozen=True, kw_only=True)
class LanguageOptions(Options):
    """An LSTM learns the next word of a text."""

    hidden: int = _hidden(200)
    layers: int = _count(1, "layers")
    batch: int = _batch(20)
    steps: int = _count(35, "words of each stream in an update", 10**6)
    rate: float = _rate(20.0)
    settling: int | None = _count(100, "updates after which the rate has fallen to 1/√2", MOST)
    steady: int | None = _count(None, "epochs with a constant rate, which replace settling", MOST, 0)
    decay: float = option(0.25, "factor of the rate before each epoch after these", above=0)
    clip: float = _clip(0.25)
    dropout: float = option(0.0, "share of units left out in an update", least=0, below=1)
    tied: bool = option(False, "the decoder is the embedding, or not")
    epochs: int = _count(40, "passes through the text", 10**6)
    test_streams: int | None = _count(None, "streams of a test; by default as many as the batch has", 10**6)


@dataclass(frozen=True, kw_only=True)
class TextOptions(LanguageOptions):
    """An LSTM learns the next word of a text in a file."""

    dropout: float = option(0.2, "share of units left out in an update", least=0, below=1)
    epochs: int = _count(10, "passes through the text", 10**6)
    vocabulary: int | None = _count(None, "words that it knows at most, the most frequent ones", 10**7, 2)


RECORDS: tuple[type[Options], ...] = (
    AcceptorOptions, NtmOptions, NramOptions, NeuralGpuOptions, TransformerOptions, EncoderOptions, MlpOptions,
    PlainOptions, TranslationOptions, TextOptions,
)  # fmt: skip


def every_option() -> dict[str, Option]:
    """One option of each name that some lesson has, if a command line can give it."""
    named = ((name, one) for record in RECORDS for name, one in record.options().items() if one.typed)
    return dict(named)
