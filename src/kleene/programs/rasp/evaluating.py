"""What a RASP expression means on an input: RASP's own semantics in plain Python, with no network in sight."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from kleene.errors import InputError
from kleene.programs.rasp.graph import RASPExpr, values_on


def evaluate(expr: RASPExpr, xs: Sequence[Any], causal: bool = False) -> list:
    """The value of an expression on an input: an entry for each position, and for a selector a row for each.

    Causal evaluation masks every selector: a position reads only itself and those before it. The s-op `length` is the
    whole length all the same; a `SelectorWidth` of a selector that is always true is then the number of positions so
    far.

    >>> from kleene.programs import rasp
    >>> evaluate(rasp.length - rasp.indices, "abc")
    [3, 2, 1]
    >>> everything = rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.TRUE)
    >>> evaluate(rasp.SelectorWidth(everything), "abc", causal=True)
    [1, 2, 3]
    """
    return evaluated(expr, xs, causal)[expr]


class RASPEvaluator(ABC):
    """What gives values to expressions; Tracr's name, for code that brings its own."""

    @abstractmethod
    def evaluate(self, expr: RASPExpr, xs: Sequence[Any]) -> list:
        """The value of the expression on an input."""


class DefaultRASPEvaluator(RASPEvaluator):
    """RASP's own evaluation, which `evaluate` is."""

    def evaluate(self, expr: RASPExpr, xs: Sequence[Any]) -> list:
        """The value of the expression on an input."""
        return evaluate(expr, xs)


def evaluated(expr: RASPExpr, xs: Sequence[Any], causal: bool = False) -> dict[RASPExpr, list]:
    """The value of the expression and of all that it is made of, parts before what reads them."""
    if not isinstance(expr, RASPExpr):
        raise InputError(f"{expr!r} is not a RASP expression")
    return values_on(expr, xs, causal)
