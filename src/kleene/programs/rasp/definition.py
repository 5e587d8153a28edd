"""What makes an expression a program: the tokens that it may be given, how many, and whether attention is causal."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kleene.errors import InputError, ProgramError
from kleene.limits import checked_count
from kleene.notation.words import PrefixedVocabulary
from kleene.programs.rasp.evaluating import evaluate, evaluated
from kleene.programs.rasp.expressions import LengthType, SOp
from kleene.programs.rasp.graph import RASPExpr, parts_of
from kleene.traces.values import unboxed, value_key


@dataclass(frozen=True, eq=False, repr=False)
class RaspDefinition:
    """An s-op with its vocabulary and greatest length. The vocabulary is a string or any collection of values.

    Causal programs are masked as in Tracr: a position selects only itself and those before it, so that a selector of
    later positions selects nothing. The s-op `length` cannot be masked, and a causal program that reads it is refused.
    """

    expression: SOp
    vocab: tuple
    max_length: int
    causal: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.expression, SOp):
            raise ProgramError(
                f"a RASP program is an s-op, and this is {self.expression!r}; a selector is read by an Aggregate or a "
                f"SelectorWidth"
            )
        length = checked_count(self.max_length, "max_length", "it is the greatest number of tokens, 1 or more", 1)
        object.__setattr__(self, "vocab", vocabulary(self.vocab))
        object.__setattr__(self, "max_length", length)
        object.__setattr__(self, "name", self.name or self.expression.name)
        ahead = [part for part in self.parts if isinstance(part, LengthType)] if self.causal else []
        if ahead:
            readers = [part for part in self.parts if set(part.children) & set(ahead)]
            shown = readers[0].described if readers else "the program"
            raise ProgramError(
                f"{shown} reads `length`, which looks ahead, and the program is causal. For the number of positions so "
                f"far use SelectorWidth(Select(tokens, tokens, Comparison.TRUE))"
            )

    @cached_property
    def parts(self) -> list[RASPExpr]:
        """All expressions of the program, each once, those that are read before those that read them."""
        return parts_of(self.expression)

    def check_tokens(self, tokens: Iterable[Any]) -> list:
        """The input as a list; an InputError if a token is not in the vocabulary, or there are too many."""
        given = [unboxed(token) for token in tokens]
        for place, token in enumerate(given):
            if self._words.place(token) is None:
                raise InputError(
                    f"{self.name}: the token {token!r} at position {place} is not in the vocabulary, which is "
                    f"{shown_vocabulary(self.vocab)}"
                )
        if len(given) > self.max_length:
            raise InputError(f"{self.name}: the input has {len(given)} tokens, and max_length is {self.max_length}")
        return given

    @cached_property
    def _words(self) -> PrefixedVocabulary:
        return PrefixedVocabulary(self.vocab, self.max_length)

    def evaluate(self, tokens: Iterable[Any]) -> list:
        """What RASP says, computed without a network and without what the program is compiled from.

        >>> from kleene.programs import rasp
        >>> RaspDefinition(rasp.indices * 2, "ab", 5).evaluate("abba")
        [0, 2, 4, 6]
        """
        return evaluate(self.expression, self.check_tokens(tokens), self.causal)

    def evaluated(self, tokens: Iterable[Any]) -> dict[RASPExpr, list]:
        """What RASP says of every expression of the program."""
        return evaluated(self.expression, self.check_tokens(tokens), self.causal)


def vocabulary(given: Any) -> tuple:
    """The tokens in the order in which they were given; those of a set are sorted.

    >>> vocabulary("abc"), vocabulary({3, 1, 2}), vocabulary(range(2))
    (('a', 'b', 'c'), (1, 2, 3), (0, 1))
    """
    if not isinstance(given, Iterable):
        raise ProgramError(f"vocab is {given!r}; it is a collection of tokens, such as 'abc' or [1, 2, 3]")
    tokens = tuple(unboxed(token) for token in given)
    if isinstance(given, (set, frozenset)):
        try:
            tokens = tuple(sorted(tokens))
        except TypeError:
            tokens = tuple(sorted(tokens, key=lambda token: (type(token).__name__, repr(token))))
    if not tokens:
        raise ProgramError("the vocabulary is empty; give at least one token")
    seen = set()
    for token in tokens:
        try:
            hash(token)
        except TypeError:
            raise ProgramError(f"the vocabulary has {token!r}, which has no hash; a tuple can be a token") from None
        if token is None or value_key(token) in seen:
            why = "None is no token" if token is None else f"{token!r} is in it twice"
            raise ProgramError(f"the vocabulary {shown_vocabulary(tokens)} is refused: {why}")
        seen.add(value_key(token))
    return tokens


def shown_vocabulary(tokens: Sequence[Any], most: int = 20) -> str:
    """The tokens as an error lists them."""
    shown = " ".join(token if isinstance(token, str) else repr(token) for token in tokens[:most])
    return f"{shown} …" if len(tokens) > most else shown
