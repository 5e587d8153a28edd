import ast
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from beartype.roar import BeartypeCallHintReturnViolation
from jaxtyping import Float

import kleene
from kleene.errors import InputError, close_names
from tests.typechecking import OFTEN, UNCHECKED, Violation, begin_test, checked


def test_an_argument_that_does_not_fit_is_refused_in_the_functions_own_words():
    @checked
    def half(number: int) -> float:
        if isinstance(number, str):
            raise InputError("half of a word was asked for")
        return number / 2

    assert half(3) == 1.5
    with pytest.raises(InputError, match="half of a word"):
        half("three")


def test_an_argument_that_is_silently_taken_or_fails_in_another_way_is_a_violation():
    @checked
    def doubled(number: int) -> object:
        return number * 2

    with pytest.raises(Violation, match="number='ab'"):
        doubled("ab")
    with pytest.raises(Violation, match='number="None"'):
        doubled(None)


def test_a_violation_is_raised_once_and_the_function_called_once():
    calls = []

    @checked
    def inner(number: int) -> None:
        calls.append(number)

    @checked
    def outer(number: object) -> None:
        inner(number)

    with pytest.raises(Violation, match="inner"):
        outer("a")
    assert calls == ["a"]


def test_a_result_that_does_not_fit_is_a_violation():
    @checked
    def name() -> str:
        return 1  # pyright: ignore

    with pytest.raises(BeartypeCallHintReturnViolation):
        name()


def test_an_integer_is_a_float_and_an_axis_has_one_size_in_a_call():
    @checked
    def scaled(vector: Float[np.ndarray, " n"], other: Float[np.ndarray, " n"], by: float) -> Float[np.ndarray, " n"]:
        return vector * other[: len(vector)] * by

    assert scaled(np.ones(2), np.ones(2), 2).tolist() == [2, 2]
    with pytest.raises(Violation):
        scaled(np.ones(2), np.ones(3), 2)


def test_a_dataclass_may_take_more_than_its_fields_hold():
    @checked
    @dataclass(frozen=True)
    class Word:
        symbols: tuple[str, ...]
        times: int = 1

        def __post_init__(self):
            object.__setattr__(self, "symbols", tuple(self.symbols))

    assert Word("ab").symbols == ("a", "b")
    with pytest.raises(Violation, match=r"Word\.times is 'twice'"):
        Word("ab", "twice")


def test_a_generator_runs_when_it_is_asked():
    ran = []

    @checked
    def count(to: int) -> Iterator[int]:
        ran.append(to)
        yield from range(to)

    counting = count(2)
    assert ran == []
    assert list(counting) == [0, 1]
    assert ran == [2]


def test_the_first_calls_of_a_test_are_checked():
    @checked
    def taken(number: int) -> None:
        pass

    for _ in range(OFTEN):
        taken(1)
    taken("a")
    begin_test()
    with pytest.raises(Violation):
        taken("a")


def test_the_functions_of_kleene_are_checked():
    with pytest.raises(Violation, match=r"close_names\(\) parameter most='all'"):
        close_names("parity", ["parity"], most="all")


def test_modules_that_are_not_checked_exist():
    assert not [name for name in UNCHECKED if importlib.util.find_spec(name) is None]


def test_every_public_function_says_what_it_takes_and_returns():
    bare = [
        f"{path.stem}.{function.name}"
        for path in Path(kleene.__file__).parent.rglob("*.py")
        for function, bound in public_functions(ast.parse(path.read_text()))
        if function.returns is None or any(parameter.annotation is None for parameter in parameters(function)[bound:])
    ]
    assert not bare


def public_functions(scope: ast.Module | ast.ClassDef) -> Iterator[tuple[ast.FunctionDef, bool]]:
    """The public functions of a module and of its public classes, and whether the first parameter is bound."""
    for node in scope.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            if isinstance(node, ast.ClassDef):
                yield from public_functions(node)
            else:
                static = any(ast.unparse(decorator) == "staticmethod" for decorator in node.decorator_list)
                yield node, isinstance(scope, ast.ClassDef) and not static


def parameters(function: ast.FunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
