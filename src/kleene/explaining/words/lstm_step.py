"""One step of an LSTM's layer, decomposed: the one place that says how its gates, cells and hidden states are shared.

`parts` takes it for any focus, with both parts at hand. `lstm_pairs` takes it for all pairs of words, where the state
of the network is known already and the irrelevant part is what is left of it.
"""

from typing import Any, NamedTuple

from kleene.explaining.words.sharing import Shares, Sharing, multiply, sigmoid, split, split_in_two, tanh

Both = tuple[Any, Any]  # the relevant and the irrelevant part, [batch, width] each


class KnownStep(NamedTuple):
    """What the layer computes in the step, whatever is in focus."""

    open: Any  # φ of the four gates with their bias, in the order of the weights
    cell: Any
    shown: Any  # tanh of the cell


def lstm_step(
    sharing: Sharing, gates: Both, bias: Any, cells: Both, in_focus: Any, known: KnownStep | None = None
) -> tuple[Both, Both]:
    """The hidden state and the cell after a step, each as relevant and irrelevant.

    `gates` are the parts of what the gates sum up, without the bias; the output gate's may be left out if it is taken
    whole and the step is known. If it is known, the irrelevant cell is the cell minus the relevant one, and nothing of
    the whole is computed again; else each part has its own formula, so that an empty part stays exactly 0.
    """
    width, whole_gate = cells[0].shape[-1], sharing.output_gate == "whole"
    places = [slice(index * width, (index + 1) * width) for index in range(4)]
    shares = []
    for index, gate in enumerate(places[:3] if whole_gate else places):
        parts = gates[0][..., gate], gates[1][..., gate], bias[gate]
        shares.append(
            split(tanh if index == 2 else sigmoid, sharing, *parts, None if known is None else known.open[..., gate])
        )
    written = multiply(sharing, shares[0], shares[2], in_focus)
    kept = multiply(sharing, shares[1], Shares(*cells, None), in_focus)
    relevant = written[0] + kept[0]
    irrelevant = written[1] + kept[1] if known is None else known.cell - relevant
    shown = split_in_two(tanh, relevant, irrelevant, None if known is None else known.shown)
    if not whole_gate:
        return multiply(sharing, shares[3], shown, in_focus), (relevant, irrelevant)
    if known is None:
        read = sigmoid(gates[0][..., places[3]] + gates[1][..., places[3]] + bias[places[3]])
    else:
        read = known.open[..., places[3]]
    return (read * shown.relevant, read * shown.irrelevant), (relevant, irrelevant)
