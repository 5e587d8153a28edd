"""S-ops: expressions whose value is a sequence as long as the input.

Names and meaning are Tracr's. A function never sees None: where an input of a `Map` or `SequenceMap` is None, so is
its value. Operators make maps, with constants and between s-ops: `length - indices - 1`, `tokens == "a"`, `~x & y`.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, TypeVar

from kleene.errors import ProgramError
from kleene.programs.rasp.graph import Encoding, RaspError, RASPExpr, applied, called, needs, needs_function
from kleene.programs.rasp.wording import bracketed, function_text
from kleene.traces.values import unboxed

SOpT = TypeVar("SOpT", bound="SOp")


def _binary(symbol: str, function: Callable[[Any, Any], Any]) -> tuple[Callable, Callable]:
    """The methods for `s-op symbol other` and `other symbol s-op`."""

    def method(self: "SOp", other: Any) -> "SOp":
        if isinstance(other, SOp):
            return SequenceMap(shown_as(lambda x, y: function(x, y), lambda x, y: f"{x} {symbol} {y}"), self, other)
        _refuse_selector(self, symbol, other)
        return Map(shown_as(lambda x: function(x, other), lambda x: f"{x} {symbol} {other!r}"), self)

    def reflected(self: "SOp", other: Any) -> "SOp":
        _refuse_selector(self, symbol, other)
        return Map(shown_as(lambda x: function(other, x), lambda x: f"{other!r} {symbol} {x}"), self)

    return method, reflected


def _unary(function: Callable[[Any], Any], words: Callable[[str], str]) -> Callable:
    return lambda self: Map(shown_as(lambda x: function(x), words), self)


def shown_as(function: Callable, words: Callable[..., str]) -> Callable:
    """The function, which `written` shows in these words of its arguments."""
    function.words = words  # type: ignore[attr-defined]
    return function


def _refuse_selector(sop: "SOp", symbol: str, other: Any) -> None:
    if isinstance(other, RASPExpr):
        raise ProgramError(f"{sop.described} {symbol} {other.described}: a selector is combined only with selectors")


_EQUAL, _UNEQUAL = _binary("==", operator.eq)[0], _binary("!=", operator.ne)[0]


class SOp(RASPExpr):
    """A sequence operation: its value has an entry for every position of the input."""

    _default_name = "sop"

    # Comparisons reflect into each other, so that `1 < x` is `x > 1`.
    __lt__, __le__ = _binary("<", operator.lt)[0], _binary("<=", operator.le)[0]
    __gt__, __ge__ = _binary(">", operator.gt)[0], _binary(">=", operator.ge)[0]
    __add__, __radd__ = _binary("+", operator.add)
    __sub__, __rsub__ = _binary("-", operator.sub)
    __mul__, __rmul__ = _binary("*", operator.mul)
    __truediv__, __rtruediv__ = _binary("/", operator.truediv)
    __floordiv__, __rfloordiv__ = _binary("//", operator.floordiv)
    __mod__, __rmod__ = _binary("%", operator.mod)
    __pow__, __rpow__ = _binary("**", operator.pow)
    __and__, __rand__ = _binary("&", lambda x, y: x and y)
    __or__, __ror__ = _binary("|", lambda x, y: x or y)
    __invert__, __neg__ = _unary(operator.not_, "~{}".format), _unary(operator.neg, "-{}".format)
    __abs__ = _unary(abs, lambda x: f"abs{x}" if x.startswith("(") else f"abs({x})")
    __hash__ = RASPExpr.__hash__

    def __eq__(self, other: Any) -> "SOp":  # type: ignore[override]
        return _EQUAL(self, other)

    def __ne__(self, other: Any) -> "SOp":  # type: ignore[override]
        return _UNEQUAL(self, other)

    def __bool__(self) -> bool:
        raise ProgramError(
            f"{self.described} is neither true nor false: it has a value at every position. Use & | ~ between s-ops, "
            f"`is` to ask whether two are the same expression"
        )


class TokensType(SOp):
    """The input itself; `tokens` is the one that programs share."""

    _default_name = "tokens"

    def compute(self, xs: list, of: Mapping[RASPExpr, list], causal: bool) -> list:
        """The input."""
        return xs

    @property
    def label(self) -> str:
        """Its name: all of them have the same value."""
        return self.name

    def written(self, names: Mapping[RASPExpr, str]) -> str:
        """Its name."""
        return self.name


class IndicesType(SOp):
    """The position, from 0; `indices` is the one that programs share."""

    _default_name = "indices"

    def compute(self, xs: list, of: Mapping[RASPExpr, list], causal: bool) -> list:
        """0, 1, 2, …"""
        return list(range(len(xs)))

    @property
    def label(self) -> str:
        """Its name: all of them have the same value."""
        return self.name

    def written(self, names: Mapping[RASPExpr, str]) -> str:
        """Its name."""
        return self.name


class LengthType(SOp):
    """How long the input is, at every position; `length` is the one that programs share.

    It is the whole length also where evaluation is causal, so no causal network can compute it.
    """

    _default_name = "length"

    def compute(self, xs: list, of: Mapping[RASPExpr, list], causal: bool) -> list:
        """The length, as often as it says."""
        return [len(xs)] * len(xs)

    @property
    def label(self) -> str:
        """Its name: all of them have the same value."""
        return self.name

    def written(self, names: Mapping[RASPExpr, str]) -> str:
        """Its name."""
        return self.name


class Map(SOp):
    """A function of each value of an s-op. None stays None.

    A map of a map is one map of both functions, f(g(x)), unless `simplify` is False. Then f may see a None that g made.
    """

    _default_name = "map"

    def __init__(self, f: Callable[[Any], Any], inner: SOp, simplify: bool = True):
        super().__init__()
        needs_function(self, f)
        needs(self, inner, SOp, "inner")
        functions: tuple[Callable, ...] = (f,)
        if simplify and isinstance(inner, Map):
            functions, inner = (*inner.functions, f), inner.inner
        self.functions = functions  # the first applied first
        self.f = f if len(self.functions) == 1 else _composed(self.functions)
        self.inner = inner
        self.children = (inner,)

    def apply(self, x: Any) -> Any:
        """The value for one value of the inner s-op; a RaspError where the function raises."""
        return None if x is None else applied(self, self.f, x)

    def compute(self, xs: list, of: Mapping[RASPExpr, list], causal: bool) -> list:
        """The function at every position."""
        return [self.apply(x) for x in of[self.inner]]

    def written(self, names: Mapping[RASPExpr, str]) -> str:
        """Its functions around the inner s-op, operators as operators."""
        text = names[self.inner]
        for function in self.functions:
            words = getattr(function, "words", None)
            text = called(self, function_text(function), text) if words is None else words(bracketed(text))
        return text


def _composed(functions: tuple[Callable, ...]) -> Callable[[Any], Any]:
    def composed(x: Any) -> Any:
        for function in functions:
            x = function(x)
        return x

    return composed


class SequenceMap(SOp):
    """A function of the values of two s-ops at the same position. If one of them is None, so is the value."""

    _default_name = "sequence_map"

    def __init__(self, f: Callable[[Any, Any], Any], fst: SOp, snd: SOp):
        super().__init__()
        needs_function(self, f)
        needs(self, fst, SOp, "fst")
        needs(self, snd, SOp, "snd")
        self.f, self.fst, self.snd = f, fst, snd
        self.children = (fst, snd)

    def apply(self, x: Any, y: Any) -> Any:
        """The value for one value of each s-op; a RaspError where the function raises."""
        return None if x is None or y is None else applied(self, self.f, x, y)

    def compute(self, xs: list, of: Mapping[RASPExpr, list], causal: bool) -> list:
        """The function at every position."""
        return [self.apply(x, y) for x, y in zip(of[self.fst], of[self.snd], strict=True)]

    def written(self, names: Mapping[RASPExpr, str]) -> str:
        """Its function of both s-ops, an operator as an operator."""
        both, words = (names[self.fst], names[self.snd]), getattr(self.f, "words", None)
        return called(self, function_text(self.f), *both) if words is None else words(*both)


class LinearSequenceMap(SequenceMap):
    """`fst_fac` times one s-op plus `snd_fac` times another."""

    _default_name = "linear_sequence_map"

    def __init__(self, fst: SOp, snd: SOp, fst_fac: float, snd_fac: float):
        if not all(isinstance(factor, Real) for factor in (fst_fac, snd_fac)):
            raise ProgramError(f"the factors of a LinearSequenceMap are numbers, not {fst_fac!r} and {snd_fac!r}")
        weighted = shown_as(lambda x, y: fst_fac * x + snd_fac * y, lambda x, y: f"{fst_fac} * {x} + {snd_fac} * {y}")
        super().__init__(weighted, fst, snd)
        self.fst_fac, self.snd_fac = fst_fac, snd_fac


class Full(SOp):
    """The same value at every position."""

    _default_name = "full"

    def __init__(self, fill: Any):
        super().__init__()
        self.fill = unboxed(fill)

    def compute(self, xs: list, of: Mapping[RASPExpr, list], causal: bool) -> list:
        """The value, once for every position."""
        return [self.fill] * len(xs)

    def written(self, names: Mapping[RASPExpr, str]) -> str:
        """Its value."""
        return repr(self.fill)


class ConstantSOp(SOp):
    """The same sequence for every input, which has to be as long, or with `check_length=False` may be shorter."""

    _default_name = "constant_sop"

    def __init__(self, value: Sequence[Any], check_length: bool = True):
        super().__init__()
        self.value = tuple(map(unboxed, value))
        self.check_length = check_length

    def compute(self, xs: list, of: Mapping[RASPExpr, list], causal: bool) -> list:
        """The sequence, as much of it as the input is long."""
        if len(xs) > len(self.value) or (self.check_length and len(xs) != len(self.value)):
            raise RaspError(f"{self.described} has {len(self.value)} values, and the input has {len(xs)}")
        return list(self.value[: len(xs)])

    def written(self, names: Mapping[RASPExpr, str]) -> str:
        """The sequence."""
        return called(self, repr(list(self.value)))


tokens, indices, length = TokensType(), IndicesType(), LengthType()
for _primitive in (tokens, indices, length):
    _primitive._shared = True


def numerical(sop: SOpT) -> SOpT:
    """The s-op, its values held as numbers."""
    return sop.annotated(encoding=Encoding.NUMERICAL)


def categorical(sop: SOpT) -> SOpT:
    """The s-op, its values held as categories, as they are by default."""
    return sop.annotated(encoding=Encoding.CATEGORICAL)


def get_encoding(sop: SOp) -> Encoding:
    """How the s-op's values are held."""
    return sop.annotations["encoding"]


def is_numerical(sop: SOp) -> bool:
    """Whether the s-op's values are held as numbers."""
    return get_encoding(sop) is Encoding.NUMERICAL


def is_categorical(sop: SOp) -> bool:
    """Whether the s-op's values are held as categories."""
    return get_encoding(sop) is Encoding.CATEGORICAL


def sop_not(sop: SOp) -> SOp:
    """The opposite truth value at every position."""
    return ~sop
