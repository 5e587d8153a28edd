"""Batches of sequence examples with a program's trace, and which part of it each kind of hint tells (Appendix F)."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

CHANNELS = ("read", "write", "value")
KINDS = {
    "none": (),
    "read": ("read",),
    "write": ("write",),
    "address": ("read", "write"),
    "value": ("value",),
    "addr+val": ("read", "write", "value"),
    "corner": ("read", "write"),  # at a few steps alone
}


class Examples(eqx.Module):
    """Words with their answers and the program's trace: the step is the first axis, the batch the last.

    Where nothing is asked, or nothing hinted, a number stands that does not matter.
    """

    symbols: Int[Array, "step batch"]
    answers: Int[Array, "step batch"]
    answering: Bool[Array, "step batch"]
    read: Int[Array, "step batch"]  # the cell that the reading head is on
    write: Int[Array, "step batch"]
    value: Int[Array, "step batch"]  # the symbol that the cell under the writing head holds after the write
    live: Bool[Array, "step batch"]  # not yet past the end of the answer
    corner: Bool[Array, "step batch"]
    read_known: Bool[Array, "step batch"]  # a program may not care where its reading head is
    consulted: Bool[Array, "step batch"]  # what is read makes a symbol of the answer

    def weights(self, kinds: Sequence[str], kind: Int[Array, ""]) -> dict[str, Float[Array, "step batch"]]:
        """The hints' weights for each channel, 1 or 0. `kind` counts along `kinds` and may be traced."""
        told = jnp.array([[channel in KINDS[name] for name in kinds] for channel in CHANNELS])[:, kind]
        only_corners = jnp.array([name == "corner" for name in kinds])[kind]
        steps = jnp.where(only_corners, self.corner, self.live)
        where = {"read": steps & self.read_known, "write": steps, "value": steps}
        return {channel: (where[channel] & told[i]).astype(jnp.float32) for i, channel in enumerate(CHANNELS)}
