"""One file format for the weights of all machines: an array for each field, checked against the field's annotation.

The class is the whole specification: `recurrent: Float[Array, "hidden hidden"]` is an array named "recurrent" of
floating-point numbers, and `hidden` has one size in the whole file. Weights within weights are named by their path
(`layers.0.bias`); static fields stand in the JSON header. Opening a file never runs code.
"""

import ast
import functools
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
from jaxtyping import AbstractArray

from kleene.errors import InputError, KleeneError, ModelFileError
from kleene.tensors import read_tensors, write_tensors
from kleene.traces.channels import nested_tuple
from kleene.users_code import PARSING

Arrays = dict[str, np.ndarray]
Header = dict[str, Any]

# The errors that inconsistent files may cause while they are read.
BROKEN = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, KleeneError)
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}


@dataclass(frozen=True)
class Format:
    """How the machines of one class are stored. `kind` names them in the header, `name` in errors.

    `relations` are axes that follow from others (`{"gates": "4*hidden"}`), `sizes` those that the header states, `own`
    those whose size may differ between the items of a tuple. `renamed` maps names of arrays in older files to fields.
    `given` reads further sizes from the header, and `statics` the static fields, once the arrays are known to fit; by
    default the header has each under its own name.
    """

    kind: str
    name: str
    version: int = 1
    relations: Mapping[str, str] = field(default_factory=dict)
    sizes: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    given: Callable[[Header, Arrays], Mapping[str, int]] | None = None
    statics: Callable[[Header, "Axes"], Mapping[str, Any]] | None = None
    remedy: str = "make it again"
    may_be_empty: bool = False

    def save(self, machine: Any, path: Any, header: Header | None = None) -> Path:
        """Save the machine and return the path. By default the header has the static fields."""
        arrays, axes = arrays_of(machine), Axes(self, {})
        for name, array in arrays.items():
            if array.ndim > axes.rank(type(machine), name):
                raise InputError(
                    f"{name} has shape {array.shape}: these are several machines in one; save them one by one"
                )
        axes.bind(type(machine), arrays)
        described = static_header(machine) if header is None else header
        described = {"version": self.version} | {name: axes.found[name] for name in self.sizes} | described
        return write_tensors(path, self.kind, described, arrays)

    def load(self, cls: type, path: Any) -> Any:
        """The machine in a file; refuses one whose arrays are not those that the class declares."""
        header, arrays = read_tensors(path, self.kind)
        try:
            check_version(header, self.version)
            arrays = {self.renamed.get(name, name): array for name, array in arrays.items()}
            given = {name: _size(header, name) for name in self.sizes}
            axes = Axes(self, given | dict(self.given(header, arrays) if self.given else {}))
            weights = axes.bind(cls, arrays)
            statics = (self.statics or _named_statics(cls))(header, axes)
            return cls(**weights, **statics)
        except BROKEN as error:
            raise ModelFileError(f"{str(path)!r} does not hold a whole {self.name} ({error}); {self.remedy}") from None


def check_version(header: Mapping[str, Any], version: int) -> None:
    """Refuse a file of another version than `version`."""
    if header["version"] != version:
        raise ValueError(f"its version is {header['version']}, and this Kleene reads version {version}")


def _size(header: Header, name: str) -> int:
    size = header[name]
    if type(size) is not int or size < 1:
        raise ValueError(f"its {name} is {size!r}, and a whole number, 1 or more, was expected")
    return size


class Declared(NamedTuple):
    """The declaration of one field of weights: an array, other weights, or a tuple of them."""

    name: str
    is_optional: bool
    array: type[AbstractArray] | None
    weights: type | None
    is_tuple: bool

    @property
    def dims(self) -> list[str]:
        """The axes of one machine; `*batch` is left out."""
        assert self.array is not None
        return [axis for axis in self.array.dim_str.split() if not axis.startswith(("*", "..."))]


@functools.cache
def declared(cls: type) -> tuple[Declared, ...]:
    """The fields of weights of a class.

    >>> from jaxtyping import Float
    >>> @dataclass
    ... class Layer:
    ...     weights: Float[np.ndarray, "hidden entry"]
    >>> [(found.name, found.dims) for found in declared(Layer)]
    [('weights', ['hidden', 'entry'])]
    """
    hints, declarations = get_type_hints(cls), []
    for found in fields(cls):
        if found.metadata.get("static"):
            continue
        members = _members(hints[found.name])
        arrays = [m for m in members if isinstance(m, type) and issubclass(m, AbstractArray)]
        tuples = [get_args(m)[0] for m in members if get_origin(m) is tuple]
        weights = [m for m in (*members, *tuples) if isinstance(m, type) and is_dataclass(m)]
        array, inner = (*arrays, None)[0], (*weights, None)[0]
        inner = inner if array is None else None
        declarations.append(Declared(found.name, NoneType in members, array, inner, bool(tuples)))
    return tuple(declarations)


def _members(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def arrays_of(module: Any, prefix: str = "") -> Arrays:
    """All weights in numpy, by the path of their field."""
    found: Arrays = {}
    for entry in declared(type(module)):
        value, path = getattr(module, entry.name), prefix + entry.name
        if value is None:
            continue
        if entry.array is not None:
            found[path] = np.asarray(value)
        elif entry.is_tuple:
            for number, item in enumerate(value):
                found |= arrays_of(item, f"{path}.{number}.")
        else:
            found |= arrays_of(value, f"{path}.")
    return found


class Axes:
    """The sizes of a file's axes, bound by the first array that has them; later arrays must agree."""

    def __init__(self, format: Format, given: Mapping[str, int]):
        self.format, self.found = format, dict(given)

    def __getitem__(self, axis: str) -> int:
        return self.found[axis]

    def rank(self, cls: type, name: str) -> int:
        """The number of axes of the array of that name."""
        first, *rest = name.split(".")
        entry = next(entry for entry in declared(cls) if entry.name == first)
        if entry.array is not None:
            return len(entry.dims)
        assert entry.weights is not None
        return self.rank(entry.weights, ".".join(rest[entry.is_tuple :]))

    def bind(self, cls: type, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """The fields of weights, made of these arrays; a ValueError if one is missing, misshapen or not expected."""
        left = dict(arrays)
        weights = self._fields(cls, left, "")
        if left:
            raise ValueError(f"{', '.join(sorted(left))} not expected")
        for axis, expression in self.format.relations.items():
            if axis in self.found and (value := self._value(expression)) not in (None, self.found[axis]):
                raise ValueError(f"there are {self.found[axis]} {axis}, and {expression} = {value} was expected")
        return weights

    def _fields(self, cls: type, left: Arrays, prefix: str) -> dict[str, Any]:
        return {entry.name: self._field(entry, left, prefix) for entry in declared(cls)}

    def _field(self, entry: Declared, left: Arrays, prefix: str) -> Any:
        path = prefix + entry.name
        if entry.array is not None:
            if entry.is_optional and path not in left:
                return None
            if path not in left:
                raise ValueError(f"{path} is missing")
            return self._array(entry, path, left.pop(path), prefix)
        assert entry.weights is not None
        if not entry.is_tuple:
            present = any(name.startswith(f"{path}.") for name in left)
            return entry.weights(**self._fields(entry.weights, left, f"{path}.")) if present else self._no_part(entry)
        numbers = {match[1] for name in left if (match := re.match(rf"{re.escape(path)}\.([0-9]+)\.", name))}
        if self.found.setdefault(entry.name, len(numbers)) != len(numbers) or not numbers:
            raise ValueError(f"it has {len(numbers)} {path}, and {self.found[entry.name] or 'some'} were expected")
        items = [f"{path}.{number}." for number in range(len(numbers))]
        return tuple(entry.weights(**self._fields(entry.weights, left, item)) for item in items)

    @staticmethod
    def _no_part(entry: Declared) -> None:
        if not entry.is_optional:
            raise ValueError(f"{entry.name} is missing")

    def _array(self, entry: Declared, name: str, array: np.ndarray, prefix: str) -> Any:
        assert entry.array is not None
        names = [prefix + axis if prefix and axis in self.format.own else axis for axis in entry.dims]
        if len(names) != array.ndim or not all(map(self._fits, names, array.shape)):
            sizes = [self._value(axis) for axis in names]
            wanted = " × ".join(f"{'?' if n is None else n} {axis}" for n, axis in zip(sizes, entry.dims)) or "a number"
            raise ValueError(f"{name} has shape {array.shape}, and {wanted} was expected")
        if str(array.dtype) not in entry.array.dtypes:
            raise ValueError(f"{name} holds {array.dtype}, and {entry.array.__name__.split('[')[0]} was expected")
        return array if entry.array.array_type is np.ndarray else _for_jax(name, array)

    def _fits(self, axis: str, size: int) -> bool:
        expected = self._value(axis)
        if expected is None and _is_name(axis):
            expected = self.found[axis] = size
        return expected in (None, size) and (size > 0 or self.format.may_be_empty)

    def _value(self, axis: str) -> int | None:
        """The size of an axis: bound already, or the value of its expression; None if it is not known yet."""
        if axis in self.found:
            return self.found[axis]
        if _is_name(axis) and axis not in self.format.relations:
            return None
        expression = self.format.relations.get(axis, axis)
        return evaluated(expression, self.found)


def _is_name(axis: str) -> bool:
    return all(part.isidentifier() or part.isdigit() for part in axis.split(".")) and not axis.isdigit()


def evaluated(expression: str, sizes: Mapping[str, int]) -> int | None:
    """The value of an expression of axes; None if one of them is not known.

    >>> evaluated("4*width + 12", {"width": 8}), evaluated("4*width", {})
    (44, None)
    """

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            return sizes[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError(f"the axis {expression!r} is no sum or product of axes")

    with PARSING:
        tree = ast.parse(expression, mode="eval")
    try:
        return value(tree.body)
    except KeyError:
        return None


def _for_jax(name: str, array: np.ndarray) -> Any:
    import jax.numpy as jnp

    weight = jnp.asarray(array)
    if weight.dtype != array.dtype:
        raise ValueError(f"{name} holds {array.dtype}, and floating-point numbers that jax would not round are needed")
    return weight


def static_header(module: Any) -> Header:
    """The static fields as plain data."""
    return {f.name: plain(getattr(module, f.name)) for f in fields(module) if f.metadata.get("static")}


def _named_statics(cls: type) -> Callable[[Header, Axes], Mapping[str, Any]]:
    hints = get_type_hints(cls)
    names = [f.name for f in fields(cls) if f.metadata.get("static")]
    return lambda header, axes: {name: typed(hints[name], header[name], name) for name in names}


def plain(value: Any) -> Any:
    """The value as plain JSON data: dataclasses as objects, tuples as lists; refuses what JSON cannot hold.

    A field that says it is `sparse` is left out where it has its default, so that files stay as they were before it. A
    named tuple or a token of a user's own class is refused, because it would come back as something else.
    """
    found = _plain(value)
    if is_dataclass(value) and not _comes_back(value, found):
        kind = type(value).__name__
        raise InputError(f"the {kind} cannot be saved: a value in it, such as a token of an own class, would be lost")
    return found


def _comes_back(value: Any, found: Any) -> bool:
    try:
        return typed(type(value), found, type(value).__name__) == value
    except ValueError:
        return False


def _plain(value: Any) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is tuple:
        return [_plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        kept = [f for f in fields(value) if not (f.metadata.get("sparse") and getattr(value, f.name) == f.default)]
        return {f.name: _plain(getattr(value, f.name)) for f in kept}
    raise InputError(f"{value!r} cannot be saved: only numbers, strings, tuples and dataclasses of them can")


def typed(hint: Any, value: Any, name: str) -> Any:
    """The value that `plain` turned into JSON, of the annotated type; a ValueError names a field of another type.

    >>> typed(tuple[int, ...], [1, 2], "sizes")
    (1, 2)
    """
    for member in _members(hint):
        try:
            return _typed_as(member, value, name)
        except LookupError:
            continue
    raise ValueError(f"its {name} is {value!r}, and {getattr(hint, '__name__', str(hint))} was expected")


def _typed_as(member: Any, value: Any, name: str) -> Any:
    if get_origin(member) is tuple and isinstance(value, list):
        items = get_args(member)
        each = [items[0]] * len(value) if items[-1] is Ellipsis else items
        if len(each) == len(value):
            return tuple(typed(hint, item, name) for hint, item in zip(each, value))
    elif member is tuple and isinstance(value, list):
        return nested_tuple(value)
    elif is_dataclass(member) and isinstance(member, type) and isinstance(value, dict):
        hints = get_type_hints(member)
        unknown = sorted(set(value) - {f.name for f in fields(member)})
        if unknown:
            raise ValueError(f"its {name} has {unknown[0]!r}, which is not known")
        return member(**{key: typed(hints[key], item, key) for key, item in value.items()})
    elif _is_plain(member, value):
        return value
    raise LookupError


def _is_plain(member: Any, value: Any) -> bool:
    if get_origin(member) is Literal:
        return isinstance(value, str | int) and value in get_args(member)
    if member is NoneType:
        return value is None
    if member is float:
        return type(value) in (float, int)
    return type(value) is member if member in (bool, int, str) else False
