"""Every public function of Kleene, and of kleene-papers, is checked by beartype and jaxtyping as it is called.

`install()` has to come before the first import of Kleene. Each public function, method and constructor is then checked
by `checked`, which is built when the function is first called. Private functions are left alone, and so are functions
inside functions: their arguments come from a public one.

Kleene refuses a user's bad input itself, with better words than an annotation has. So an argument that does not fit
its annotation is still given to the function, which has to refuse it with an error of Kleene's. A function that takes
it silently, or fails at it in some other way, is a `Violation`, and so is a result that does not fit.
"""

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any, Self, get_type_hints

import numpy as np
import typer
from beartype import BeartypeConf, FrozenDict, beartype
from beartype.door import is_bearable
from beartype.roar import BeartypeCallHintParamViolation
from jaxtyping import jaxtyped

# Modules that are not checked, because some annotation of theirs does not yet say the truth.
UNCHECKED: tuple[str, ...] = ()

OFTEN = 20  # calls of one function that are checked in one test, because some are called a million times
# As type checkers have it, an int is a float; and NumPy's numbers are numbers.
NUMBERS = FrozenDict({int: int | np.integer, float: float | int | np.floating | np.integer})
# What Typer hands to a command that asks for its context is Click's, or its own copy of that.
CONF = BeartypeConf(hint_overrides=NUMBERS | {typer.Context: object})
_DECORATOR = "__checked__"
_paused = False
_test = 0  # the number of the test that runs


class Violation(AssertionError):
    """A function took an argument that does not fit its annotation."""


def install() -> None:
    """Check the modules of Kleene that are imported from now on."""
    sys.meta_path.insert(0, _Finder())


def checked(subject: Any) -> Any:
    """The same function with its calls checked, or the same dataclass with its fields checked once it is built."""
    if not isinstance(subject, type):
        return _checked(subject) if subject.__annotations__ else subject
    if is_dataclass(subject) and "__init__" in vars(subject):
        subject.__init__ = _checking_fields(subject, subject.__init__)
    return subject


def begin_test() -> None:
    """Functions that were called often in the test before are checked again."""
    global _test
    _test += 1


@contextmanager
def paused() -> Iterator[None]:
    """Nothing is checked meanwhile, so that work can be counted."""
    global _paused
    _paused = True
    try:
        yield
    finally:
        _paused = False


def _checked(function: Callable) -> Callable:
    checking, budget = None, _Budget()

    @wraps(function)
    def checked_call(*args, **kwargs):
        __tracebackhide__ = True
        nonlocal checking
        if _paused or not budget.spent_one():
            return function(*args, **kwargs)
        if checking is None:
            checking = _beartyped(function)
        with jaxtyped("context"):  # within one call, an axis of one name has one size
            try:
                return checking(*args, **kwargs)
            except BeartypeCallHintParamViolation as error:
                violation = error
        _refuse(function, args, kwargs, violation)

    return _as_part_of(function, checked_call)


class _Budget:
    """How many more calls of a function are checked in the test that runs."""

    def __init__(self) -> None:
        self.test, self.left = _test, OFTEN

    def spent_one(self) -> bool:
        """Whether this call is to be checked."""
        if self.test != _test:
            self.test, self.left = _test, OFTEN
        self.left -= 1
        return self.left >= 0


def _as_part_of(function: Callable, wrapper: Any) -> Callable:
    """The wrapper as if it stood in the function's file, because some functions look for the user's own line."""
    wrapper.__code__ = wrapper.__code__.replace(co_filename=function.__code__.co_filename)
    return wrapper


def _beartyped(function: Callable) -> Callable:
    if function.__annotations__.get("return") is Self:  # beartype knows it only where it decorates the whole class
        function.__annotations__["return"] = function.__qualname__.rpartition(".")[0]
    return _as_part_of(function, beartype(conf=CONF)(function))


def _checking_fields(made: type, construct: Callable) -> Callable:
    """The constructor of a dataclass. It may take more than its fields say, and make of it what they say."""
    hints, budget = None, _Budget()

    @wraps(construct)
    def checked_call(self, *args, **kwargs):
        __tracebackhide__ = True
        nonlocal hints
        construct(self, *args, **kwargs)
        if _paused or not budget.spent_one():
            return
        if hints is None:
            hints = get_type_hints(made)
        for base in reversed(type(self).__mro__):  # Equinox lets a module refuse its weights only after this
            vars(base).get("__check_init__", lambda _: None)(self)
        with jaxtyped("context"):
            for name, value in _held(self):
                if name in hints and not is_bearable(value, hints[name], conf=CONF):
                    raise Violation(f"{made.__qualname__}.{name} is {value!r}, which is no {hints[name]}")

    return checked_call


def _held(made: Any) -> Iterable[tuple[str, Any]]:
    """The attributes that an object holds, without those that it computes on demand."""
    return vars(made).items() if hasattr(made, "__dict__") else ((name, getattr(made, name)) for name in made.__slots__)


def _refuse(function: Callable, args: tuple, kwargs: dict, violation: Exception) -> None:
    """Raise what the function itself says of arguments that do not fit, or else the violation."""
    from kleene.errors import KleeneError

    try:
        function(*args, **kwargs)
    except KleeneError:
        raise
    except Exception as error:
        raise Violation(str(violation)) from error
    raise Violation(str(violation)) from None


class _Finder(MetaPathFinder):
    """Finds the modules of Kleene, to be loaded with their functions decorated."""

    def find_spec(self, fullname, path=None, target=None) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in ("kleene", "kleene_papers") or fullname in UNCHECKED:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    """Compiles a module anew with `checked` on its functions: what lies in `__pycache__` has none."""

    def get_code(self, fullname):
        tree = _Decorating().visit(ast.parse(self.get_data(self.path)))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)

    def exec_module(self, module):
        setattr(module, _DECORATOR, checked)
        super().exec_module(module)


class _Decorating(ast.NodeTransformer):
    """Puts the decorator nearest to a function, which still has its annotations, and farthest from a class."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if _is_public(node.name):
            node.decorator_list.append(_decorator(node))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        if _is_public(node.name):
            self.generic_visit(node)
            node.decorator_list.insert(0, _decorator(node))
        return node


def _decorator(node: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(_DECORATOR, ast.Load()), node)


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name.endswith("__")
