"""Lemma 4.5: a recurrent step of two layers becomes a simple recurrent network with one unit more."""

from dataclasses import dataclass
from typing import Any

from kleene.errors import CompileError
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.notation.exact import ExactMatrix


@dataclass(frozen=True)
class TwoLayerStep:
    """g = σ(V h + W x + b), h' = U g + c, starting from h = s; the output is readout · h + readout_bias."""

    recurrent: ExactMatrix
    inputs: ExactMatrix
    bias: ExactMatrix
    outer: ExactMatrix
    outer_bias: ExactMatrix
    start: ExactMatrix
    readout: ExactMatrix
    readout_bias: ExactMatrix

    def __post_init__(self) -> None:
        inner, width = self.recurrent.shape
        symbols, outputs = self.inputs.shape[1], self.readout.shape[0]
        expected = {
            "inputs": (inner, symbols), "bias": (inner, 1), "outer": (width, inner), "outer_bias": (width, 1),
            "start": (width, 1), "readout": (outputs, width), "readout_bias": (outputs, 1),
        }  # fmt: skip
        for name, shape in expected.items():
            if getattr(self, name).shape != shape:
                raise CompileError(
                    f"{name} of a two-layer step has shape {getattr(self, name).shape}, and {shape} was expected "
                    f"beside a recurrent of shape {self.recurrent.shape}"
                )


def as_simple_rnn(step: TwoLayerStep, **description: Any) -> SimpleRNN:
    """The simple RNN that computes what the step does: its hidden vectors are (start flag, g).

    The outer layer moves into the next step. Nothing comes before the first step, so a flag that is 1 at the start and
    0 ever after brings s in: the outer layer is [s − c | U] acting on (flag, g), plus c. The output before the first
    symbol is thus that of s. `description` are the network's other fields: activation, alphabet, threshold, reading.
    """
    outer = ExactMatrix.hstack([step.start - step.outer_bias, step.outer])
    return SimpleRNN(
        recurrent=_under_zero(step.recurrent @ outer),
        inputs=_under_zero(step.inputs),
        bias=_under_zero(step.bias + step.recurrent @ step.outer_bias),
        start=ExactMatrix.from_entries((outer.shape[1], 1), {(0, 0): 1}),
        readout=step.readout @ outer,
        readout_bias=step.readout_bias + step.readout @ step.outer_bias,
        **description,
    )


def _under_zero(matrix: ExactMatrix) -> ExactMatrix:
    """The matrix under a row of zeros: what the start flag's unit is given."""
    return ExactMatrix.vstack([ExactMatrix.zeros(1, matrix.shape[1]), matrix])
