"""`alta.apply`, which programs of earlier versions call."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any


def apply(function: Callable[..., Any] | Mapping[Any, Any] | Sequence[Any], *arguments: Any) -> Any:
    """The result of a function, or the entry of a dict or list: a plain call.

    >>> apply(divmod, 7, 3), apply({(1, 2): "three"}, 1, 2), apply("abc", 1)
    ((2, 1), 'three', 'b')
    """
    if callable(function):
        return function(*arguments)
    key: Any = arguments[0] if len(arguments) == 1 else arguments
    return function[key]
