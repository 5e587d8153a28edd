"""Frozen dataclasses of numpy weights that are pytrees of jax, defined without importing jax.

A compiled Transformer runs in numpy; importing jax would take longer than the run. So its classes are plain
dataclasses, and they are registered with jax as soon as a program uses both.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)

_unregistered: list[type] = []


def static(**options: Any) -> Any:
    """A field that is not a weight: for jax it is part of the tree's structure. Options as for `field`."""
    return field(metadata={"static": True}, **options)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field, static))
def pytree(cls: Class) -> Class:
    """The class as a frozen dataclass whose fields, except static ones, are the children of a tree.

    >>> @pytree
    ... class Affine:
    ...     weights: Any
    ...     name: str = static(default="")
    >>> import jax
    >>> jax.tree.map(lambda leaf: 2 * leaf, Affine(3.0, "map"))
    Affine(weights=6.0, name='map')
    """
    cls.__post_init__ = _registered_if_jax_is_here
    made = dataclass(frozen=True, eq=False, repr=cls.__repr__ is object.__repr__)(cls)
    _unregistered.append(made)
    return made


def mapped(function: Callable[[Any], Any], module: Any) -> Any:
    """The module with the function applied to each of its weights, like `jax.tree.map`."""
    if module is None:
        return None
    if isinstance(module, tuple):
        return tuple(mapped(function, item) for item in module)
    if not is_dataclass(module) or isinstance(module, type):
        return function(module)
    names = [f.name for f in fields(module) if not f.metadata.get("static")]
    return replace(module, **{name: mapped(function, getattr(module, name)) for name in names})


def register_all() -> None:
    """Register every such class with jax. Modules that pass such objects to jax call it when they are imported."""
    while _unregistered:
        _register(_unregistered.pop())


def _registered_if_jax_is_here(_: Any) -> None:
    if _unregistered and "jax" in sys.modules:
        register_all()


def _register(cls: type) -> None:
    from jax.tree_util import GetAttrKey, register_pytree_with_keys

    weights = tuple(f.name for f in fields(cls) if not f.metadata.get("static"))
    rest = tuple(f.name for f in fields(cls) if f.metadata.get("static"))

    def flatten(module: Any) -> tuple[Any, Any]:
        children = [(GetAttrKey(name), getattr(module, name)) for name in weights]
        return children, tuple(getattr(module, name) for name in rest)

    def unflatten(described: Any, children: Any) -> Any:
        module = object.__new__(cls)  # without checks: leaves may be tracers or placeholders of jax
        for name, value in zip((*weights, *rest), (*children, *described)):
            object.__setattr__(module, name, value)
        return module

    register_pytree_with_keys(cls, flatten, unflatten)
