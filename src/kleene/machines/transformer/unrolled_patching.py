"""Patches and ablations in an unrolled network, whose layers have heads and units of their own."""

from typing import Any

import numpy as np

from kleene.errors import EditError, did_you_mean
from kleene.machines.transformer.parameters import Parameters
from kleene.machines.transformer.patching import Interventions, Patches, PatchTap, check_place, split_patches
from kleene.notation.edit_plans import includes


class LayerPatches:
    """The patches of a batch of inputs; `tap` has those of one layer, the first layer being 1."""

    def __init__(self, patches: Patches):
        self.patches = patches

    def tap(self, layer: Parameters, step: int, inside: np.ndarray) -> PatchTap:
        rows = np.arange(len(inside))
        here = [(patch, np.isin(rows, own)) for patch, own in self.patches if includes(patch.layer, step)]
        return PatchTap(layer, here, inside)

    def of_row(self, index: int) -> "LayerPatches":
        """Those of one input, as a batch of its own."""
        return LayerPatches([(patch, np.arange(1)) for patch, rows in self.patches if index in rows])


def checked_patches(network: Any, edits: Interventions, count: int, longest: int) -> LayerPatches | None:
    """The patches among the edits; None if there are none. Edits of variables, and patches of no layer, are refused."""
    named, patches = split_patches(edits, count)
    layout = network.layout
    if named:
        raise EditError(
            f"{layout.name}: the layers of an unrolled network have only what its own runs need, so an edit need not "
            f"be exact there; give it to the program, or to its network with layers='shared'. A Patch sets numbers"
        )
    heads = {head for layer in layout.layers for head in layer.heads}
    for patch, _ in patches:
        name = patch.head if patch.site == "head" else patch.pattern
        if isinstance(name, str) and name not in heads:
            raise EditError(f"{layout.name}: no layer has a head {name!r}; {did_you_mean(name, sorted(heads))}")
        last = -1 if patch.layer is None else np.max(np.atleast_1d(np.asarray(patch.layer)), initial=-1)
        if last > len(layout.layers):
            raise EditError(f"{layout.name}: {patch} is for layer {last}, and there are {len(layout.layers)}")
        check_place(layout.name, patch, longest)
    return LayerPatches(patches) if patches else None
