"""Functions of values as tables, looked up without branching."""

from collections.abc import Callable
from typing import Any

from kleene.programs.alta.values import combined


def apply(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function (or a dict or list) gives for the values of variables, without a branch for each of them.

    In an MLP function `table[z["a"]]` runs the rest of the function once for every value of `a`. `apply` makes a table
    of the function over the variables that its arguments depend on instead. The function must not use `z` itself.

    >>> from kleene.programs import alta
    >>> def step(z): z["out"] = alta.apply(lambda a, b: (a * b) % 7, z["a"], z["b"])
    >>> variables = {"a": alta.input_var(5), "b": alta.var(5, default=3), "out": alta.var(7)}
    >>> alta.program_spec(variables, {}, step, "out", 5).run([0, 1, 2, 3, 4]).output
    [0, 3, 6, 2, 5]
    """
    look_up = function if callable(function) else _lookup(function)
    undefined = [a for a in arguments if hasattr(type(a), "passed_on")]  # a head that read nothing, in the reference
    return undefined[0].passed_on() if undefined else combined("apply", look_up, arguments)


def _lookup(table: Any) -> Callable[..., Any]:
    return lambda *keys: table[keys[0] if len(keys) == 1 else keys]
