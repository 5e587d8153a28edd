"""Fast training of an LSTM on many streams of tokens side by side, with gradients written by hand.

The products with the inputs are computed for all steps at once, as one large product; only the recurrent product is in
the scan, forward and backward. The gradients equal those of autodiff, without adding up a matrix at each step.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kleene.machines.lstm.lstm import LSTM, Layer, Memory

Vectors = Float[Array, "step batch hidden"]


def still(network: LSTM, batch: int) -> Memory:
    """The memory of all streams before their first token: zeros, not the network's own start."""
    nothing = jnp.zeros((batch, len(network.layers), network.decoder.shape[1]), network.decoder.dtype)
    return Memory(nothing, nothing)


def read_streams(
    network: LSTM,
    tokens: Int[Array, "step batch"],
    memory: Memory,
    masks: tuple[Float[Array, "..."], ...] | None = None,
) -> tuple[Vectors, Memory]:
    """The top layer's hidden vectors after each token, and the memory after the last.

    `masks`, for dropout, multiply the embedded tokens and then each layer's hidden vectors on their way up.
    """
    entry, hidden, cell = network.embedding[tokens], [], []
    if masks is not None:
        entry = entry * masks[0]
    for number, layer in enumerate(network.layers):
        found, last = _read_layer(layer, entry, memory.hidden[:, number], memory.cell[:, number])
        hidden.append(found[-1])
        cell.append(last)
        entry = found if masks is None else found * masks[number + 1]
    return entry, Memory(jnp.stack(hidden, axis=1), jnp.stack(cell, axis=1))


def _read_layer(layer: Layer, entry: Array, hidden: Array, cell: Array) -> tuple[Vectors, Array]:
    steps, batch, width = entry.shape
    driven = entry.reshape(-1, width) @ layer.inputs.T + layer.bias  # one product for all steps
    return scan_layer(driven.reshape(steps, batch, -1), layer.recurrent, hidden, cell)


@jax.custom_vjp
def scan_layer(
    driven: Float[Array, "step batch gates"],
    recurrent: Float[Array, "gates hidden"],
    hidden: Float[Array, "batch hidden"],
    cell: Float[Array, "batch hidden"],
) -> tuple[Vectors, Float[Array, "batch hidden"]]:
    """The hidden vectors of one layer after each step and its last cell; `driven` is the inputs' part of its gates."""
    found, cells, _ = _scanned(driven, recurrent, hidden, cell)
    return found, cells[-1]


def _scanned(driven: Array, recurrent: Array, hidden: Array, cell: Array) -> tuple[Array, Array, Array]:
    """The hidden vectors, the cells and the opened gates after each step."""

    def step(now: tuple[Array, Array], driven: Array) -> tuple[tuple[Array, Array], tuple[Array, Array, Array]]:
        hidden, cell = now
        input_gate, forget_gate, candidate, output_gate = jnp.split(driven + hidden @ recurrent.T, 4, axis=-1)
        input_gate, forget_gate, output_gate = (
            jax.nn.sigmoid(input_gate),
            jax.nn.sigmoid(forget_gate),
            jax.nn.sigmoid(output_gate),
        )
        candidate = jnp.tanh(candidate)
        cell = forget_gate * cell + input_gate * candidate
        hidden = output_gate * jnp.tanh(cell)
        return (hidden, cell), (
            hidden,
            cell,
            jnp.concatenate([input_gate, forget_gate, candidate, output_gate], axis=-1),
        )

    return jax.lax.scan(step, (hidden, cell), driven)[1]


def _forward(driven: Array, recurrent: Array, hidden: Array, cell: Array):
    found, cells, gates = _scanned(driven, recurrent, hidden, cell)
    return (found, cells[-1]), (recurrent, gates, _before(hidden, found), _before(cell, cells), cells)


def _before(first: Array, found: Array) -> Array:
    """The values before each step."""
    return jnp.concatenate([first[None], found[:-1]])


def _backward(kept: tuple[Array, ...], wanted: tuple[Array, Array]):
    recurrent, gates, hidden_before, cells_before, cells = kept

    def step(later: tuple[Array, Array], now: tuple[Array, ...]) -> tuple[tuple[Array, Array], Array]:
        of_hidden, of_cell = later
        wanted, gates, cell_before, cell = now
        input_gate, forget_gate, candidate, output_gate = jnp.split(gates, 4, axis=-1)
        of_hidden, shown = of_hidden + wanted, jnp.tanh(cell)
        of_cell = of_cell + of_hidden * output_gate * (1 - shown * shown)
        of_gates = [
            of_cell * candidate * input_gate * (1 - input_gate),
            of_cell * cell_before * forget_gate * (1 - forget_gate),
            of_cell * input_gate * (1 - candidate * candidate),
            of_hidden * shown * output_gate * (1 - output_gate),
        ]
        of_gates_in = jnp.concatenate(of_gates, axis=-1)
        return (of_gates_in @ recurrent, of_cell * forget_gate), of_gates_in

    of_found, of_last_cell = wanted
    start = (jnp.zeros_like(of_last_cell), of_last_cell)
    (of_hidden, of_cell), of_driven = jax.lax.scan(step, start, (of_found, gates, cells_before, cells), reverse=True)
    of_recurrent = jnp.einsum("tbg,tbh->gh", of_driven, hidden_before)  # one product for all steps
    return of_driven, of_recurrent, of_hidden, of_cell


scan_layer.defvjp(_forward, _backward)


def next_token_losses(
    network: LSTM, found: Vectors, targets: Int[Array, "step batch"]
) -> tuple[Float[Array, "step batch"], Bool[Array, "step batch"]]:
    """-ln P(target) after each step, and whether the target was the most likely token."""
    rows = found.reshape(-1, found.shape[-1])
    losses, right = _losses(rows, network.decoder, network.decoder_bias, targets.reshape(-1))
    return losses.reshape(targets.shape), right.reshape(targets.shape)


@jax.custom_vjp
def _losses(rows: Array, decoder: Array, bias: Array, targets: Array) -> tuple[Array, Array]:
    losses, right, *_ = _scored(rows, decoder, bias, targets)
    return losses, right


def _scored(rows: Array, decoder: Array, bias: Array, targets: Array) -> tuple[Array, Array, Array, Array]:
    logits = rows @ decoder.T + bias
    highest = logits.max(axis=-1)
    total = highest + jnp.log(jnp.exp(logits - highest[:, None]).sum(axis=-1))
    target_logits = jnp.take_along_axis(logits, targets[:, None], axis=-1)[:, 0]
    return total - target_logits, target_logits >= highest, logits, total


def _losses_forward(rows: Array, decoder: Array, bias: Array, targets: Array):
    losses, right, logits, total = _scored(rows, decoder, bias, targets)
    return (losses, right), (rows, decoder, targets, logits, total)


def _losses_backward(kept: tuple[Array, ...], wanted: tuple[Array, Array]):
    rows, decoder, targets, logits, total = kept
    aimed = jnp.arange(logits.shape[-1]) == targets[:, None]
    of_logits = (jnp.exp(logits - total[:, None]) - aimed) * wanted[0][:, None]
    of_bias = jnp.ones_like(total) @ of_logits  # a sum over rows; as a product it is twenty times as fast on a CPU
    return of_logits @ decoder, of_logits.T @ rows, of_bias, None


_losses.defvjp(_losses_forward, _losses_backward)
