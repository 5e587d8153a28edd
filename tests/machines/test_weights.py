"""Any class of weights is saved and loaded by its own annotations."""

from dataclasses import dataclass
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float, Int

from kleene.errors import InputError, ModelFileError
from kleene.machines.weights import Format, arrays_of, declared, evaluated, plain, typed
from kleene.tensors import read_tensors, write_tensors


@dataclass(frozen=True)
class Reader:
    """A frozen dataclass in a header."""

    name: str
    sizes: tuple[int, ...] = ()
    side: Literal["left", "right"] | None = None


class Layer(eqx.Module):
    gates: Float[Array, "4*hidden entry"]
    bias: Float[Array, " hidden"]


class Stack(eqx.Module):
    start: Float[Array, " hidden"]
    layers: tuple[Layer, ...]
    table: Int[np.ndarray, "rows 2"]
    more: Float[Array, " rows"] | None
    reader: Reader = eqx.field(static=True)
    depth: int = eqx.field(static=True, default=1)


FORMAT = Format("stack", "stack", own=("entry",))


def stack(hidden=3, entries=(5, 3), more=False) -> Stack:
    layers = tuple(Layer(jnp.ones((4 * hidden, entry)) * entry, jnp.zeros(hidden)) for entry in entries)
    table = np.arange(4).reshape(2, 2)
    return Stack(jnp.zeros(hidden), layers, table, jnp.ones(2) if more else None, Reader("r", (1, 2), "left"), 7)


@pytest.mark.parametrize("more", [False, True])
def test_a_class_that_only_has_annotations_comes_back(tmp_path, more):
    made = stack(more=more)
    back = FORMAT.load(Stack, FORMAT.save(made, tmp_path / "s"))
    assert (back.reader, back.depth) == (made.reader, 7)
    assert type(back.table) is np.ndarray
    assert isinstance(back.start, jnp.ndarray)
    assert (back.more is None) == (not more)
    for name, array in arrays_of(made).items():
        assert np.array_equal(array, arrays_of(back)[name]), name


def test_arrays_are_named_by_the_path_of_their_field():
    assert list(arrays_of(stack())) == [
        "start", "layers.0.gates", "layers.0.bias", "layers.1.gates", "layers.1.bias", "table",
    ]  # fmt: skip
    assert [entry.name for entry in declared(Stack)] == ["start", "layers", "table", "more"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda h, a: a.update({"layers.1.gates": np.zeros((12, 9), "f4")}), None),  # entry is each layer's own
        (
            lambda h, a: a.update({"layers.1.gates": np.zeros((11, 3), "f4")}),
            r"layers.1.gates has shape .11, 3., and 12",
        ),
        (lambda h, a: a.update({"layers.1.bias": np.zeros(4, "f4")}), "layers.1.bias has shape .4,., and 3 hidden"),
        (lambda h, a: a.update({"table": np.zeros((2, 3), int)}), "table has shape .2, 3., and . rows × 2 2"),
        (lambda h, a: a.update({"table": np.zeros((2, 2), "f4")}), "table holds float32, and Int was expected"),
        (lambda h, a: a.update({"more": np.zeros(3, "f4")}), "more has shape .3,., and 2 rows"),
        (lambda h, a: a.update({"start": np.zeros((2, 3), "f4")}), "start has shape .2, 3., and . hidden"),
        (lambda h, a: h.update(depth="7"), "its depth is '7', and int was expected"),
        (lambda h, a: h.update(reader={"name": 3}), "its name is 3, and str was expected"),
        (lambda h, a: h.update(reader={"name": "r", "side": "up"}), "its side is 'up'"),
        (lambda h, a: h.update(reader={"name": "r", "colour": "red"}), "its reader has 'colour'"),
    ],
)
def test_what_does_not_fit_the_annotations_is_named(tmp_path, change, complaint):
    header, arrays = read_tensors(FORMAT.save(stack(), tmp_path / "s"), "stack")
    change(header, arrays)
    header.pop("kind")
    file = write_tensors(tmp_path / "t", "stack", header, arrays)
    if complaint is None:
        assert FORMAT.load(Stack, file).layers[1].gates.shape == (12, 9)
        return
    with pytest.raises(ModelFileError, match=complaint):
        FORMAT.load(Stack, file)


def test_an_expression_of_axes_that_is_none_is_refused():
    assert evaluated("2*(a+b)//3", {"a": 4, "b": 5}) == 6
    with pytest.raises(ValueError, match="no sum or product"):
        evaluated("a**b", {"a": 4, "b": 5})


def test_what_json_does_not_have_is_not_saved():
    assert typed(Reader, plain(Reader("r", (1,), "left")), "reader") == Reader("r", (1,), "left")
    with pytest.raises(InputError, match="cannot be saved"):
        plain((1, {2}))
    with pytest.raises(ValueError, match="its depth is True, and int was expected"):
        typed(int, True, "depth")
