"""One layer of an LSTM, and what it carries from step to step."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


class Memory(eqx.Module):
    """What an LSTM carries from step to step."""

    hidden: Float[Array, "*batch layers hidden"]
    cell: Float[Array, "*batch layers hidden"]


class Layer(eqx.Module):
    """One layer; rows of the weights are the gates i, f, g, o one after another, as in `torch.nn.LSTM`.

    c' = σ(f)·c + σ(i)·tanh(g) and h' = σ(o)·tanh(c'). PyTorch's two biases are one here, their sum.
    """

    inputs: Float[Array, "gates entry"]
    recurrent: Float[Array, "gates hidden"]
    bias: Float[Array, " gates"]

    def __call__(
        self, hidden: Float[Array, " hidden"], cell: Float[Array, " hidden"], entry: Float[Array, " entry"]
    ) -> tuple[Float[Array, " hidden"], Float[Array, " hidden"]]:
        gates = self.inputs @ entry + self.recurrent @ hidden + self.bias
        input_gate, forget_gate, candidate, output_gate = jnp.split(gates, 4)
        cell = jax.nn.sigmoid(forget_gate) * cell + jax.nn.sigmoid(input_gate) * jnp.tanh(candidate)
        return jax.nn.sigmoid(output_gate) * jnp.tanh(cell), cell
