"""An unrolled network as the plain blocks of TransformerLens: softmax attention, one hidden layer of ReLU, no norms.

What those blocks lack is made of what they have, exactly:

- a bias for each distance: positions are one-hot in the residual stream, a key has its own position, and a query the
  row of biases for its position;
- a clipped unit: two ReLU units, `relu(p) - relu(p - 1)`, exact because p is a whole number;
- an expansion: blocks of its own whose attention writes nothing. Steps on numbers are differences of large numbers, so
  a further block rounds them to 0 or 1;
- the heads' outputs are cleared by `relu(x)` and `relu(-x)`, whatever they are.

Nothing there refuses an input: where the program ends with an error, the output means nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.machines.modeling import imported_torch
from kleene.machines.transformer.parameters import Parameters
from kleene.machines.transformer.pytorch import meanings

SCALE = 2.0  # by which TransformerLens divides all scores; queries are multiplied by it
NOISE = 1 / 4  # of a step on numbers, which is then rounded; up to 3/8 would do


@dataclass(frozen=True, eq=False)
class ReluUnits:
    """Hidden units of plain ReLU: (width, units), (units), (units, width), and a constant that the MLP adds."""

    inputs: np.ndarray
    bias: np.ndarray
    outputs: np.ndarray
    constant: np.ndarray

    def beside(self, *others: "ReluUnits") -> "ReluUnits":
        every = (self, *others)
        return ReluUnits(
            np.concatenate([u.inputs for u in every], axis=1),
            np.concatenate([u.bias for u in every]),
            np.concatenate([u.outputs for u in every]),
            np.sum([u.constant for u in every], axis=0),
        )


@dataclass(frozen=True, eq=False)
class PlainBlock:
    """One block: (heads, width, d_head) three times, (heads, d_head, width), and the MLP. `heads` are their names."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    out: np.ndarray
    mlp: ReluUnits
    heads: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PlainModel:
    """All blocks, the embeddings, what is read off at the end, and what each dimension means.

    `attending` has the block of each of the network's layers, in which its heads read.
    """

    tokens: np.ndarray
    positions: np.ndarray
    blocks: tuple[PlainBlock, ...]
    readout: np.ndarray  # (values, width)
    labels: tuple[str, ...]
    attending: tuple[int, ...]


def plain_model(network: Any) -> PlainModel:
    """The network as plain blocks; refuses one that would not be exact."""
    layout = network.layout
    if layout.max_length is None:
        raise InputError(
            f"{layout.name}: TransformerLens has a fixed number of positions; compile the program with max_length=…"
        )
    if network.activation != "clipped":
        raise InputError(f"{layout.name}: compile the program with activation='clipped'; its units become ReLU here")
    layers = [network.layer(index) for index in range(len(network.layers))]
    room = _Room(layout.width, layout.max_length, max((_scratch(layer) for layer in layers), default=0))
    d_head = max(room.needed(layer) for layer in layers)
    count = max(1, *(len(layer.layout.heads) for layer in layers))
    blocks: list[PlainBlock] = []
    attending = []
    for layer in layers:
        attending.append(len(blocks))
        attention = _attention(layer, room, d_head, count)
        for number, units in enumerate(_mlps(layer, room, layout)):
            query, key, value, out = attention if number == 0 else [np.zeros_like(part) for part in attention]
            blocks.append(PlainBlock(query, key, value, out, units, layer.layout.heads if number == 0 else ()))
    tokens, positions = room.embeddings(network)
    segment = layout.program.segment(layout.output_name)
    readout = np.zeros((segment.width, room.width))  # logits of all values, those that cannot be among them
    for place, dim in enumerate(layout.dims):
        if segment.start <= dim < segment.stop:
            readout[dim - segment.start, place] = 1
    labels = (
        *meanings(layout.program, layout.dims),
        *(f"position={place}" for place in range(room.places)),
        *(f"scratch {number}" for number in range(room.scratch)),
    )
    return PlainModel(tokens, positions, tuple(blocks), readout, labels, tuple(attending))


def _scratch(layer: Parameters) -> int:
    """The dimensions that the features of a layer need, and its steps where they are rounded."""
    e = layer.expansion
    return 0 if e is None else e.constant.size + (e.bias.size if _is_noisy(layer) else 0)


def _is_noisy(layer: Parameters) -> bool:
    e = layer.expansion
    return e is not None and any((a != np.round(a)).any() for a in (e.inputs, e.bias))


@dataclass(frozen=True)
class _Room:
    """The dimensions: those of the network, one for each position, and scratch."""

    own: int
    places: int
    scratch: int

    @property
    def width(self) -> int:
        return self.own + self.places + self.scratch

    def needed(self, layer: Parameters) -> int:
        """The numbers of a head: its key and, if it has distances, positions; or the entries that it reads."""
        distances = self.places if layer.relative.any() else 0
        return max(2, layer.query.shape[2] + distances, layer.value.shape[2])

    def embeddings(self, network: Any) -> tuple[np.ndarray, np.ndarray]:
        tokens = np.zeros((len(network.tokens), self.width))
        tokens[:, : self.own] = network.tokens
        positions = np.zeros((self.places, self.width))
        positions[:, self.own : self.own + self.places] = np.eye(self.places)
        if network.positions is not None:
            positions[:, : self.own] = network.positions[: self.places]
        return tokens, positions

    def units(self, inputs: np.ndarray, bias: np.ndarray, outputs: np.ndarray) -> ReluUnits:
        return ReluUnits(inputs, bias, outputs, np.zeros(self.width))

    def clipped(self, inputs: np.ndarray, bias: np.ndarray, outputs: np.ndarray) -> ReluUnits:
        """Each clipped unit as a difference of two ReLU units: relu(p) - relu(p - 1)."""
        return self.units(inputs, bias, outputs).beside(self.units(inputs, bias - 1, -outputs))

    def clearing(self, dims: Sequence[int]) -> ReluUnits:
        """Units that subtract from each of these dimensions what it holds."""
        inputs, outputs = np.zeros((self.width, 2 * len(dims))), np.zeros((2 * len(dims), self.width))
        for u, dim in enumerate(dims):
            for unit, sign in ((2 * u, 1.0), (2 * u + 1, -1.0)):
                inputs[dim, unit], outputs[unit, dim] = sign, -sign
        return self.units(inputs, np.zeros(2 * len(dims)), outputs)


def _attention(layer: Parameters, room: _Room, d_head: int, count: int) -> list[np.ndarray]:
    """Queries, keys, values and outputs of every head; a head that the layer lacks is all zeros."""
    query, key, value = (np.zeros((count, room.width, d_head)) for _ in range(3))
    out = np.zeros((count, d_head, room.width))
    columns, reach = layer.query.shape[2], layer.relative.shape[1] // 2
    distance = np.arange(room.places)[None, :] - np.arange(room.places)[:, None]
    for h in range(len(layer.layout.heads)):
        query[h, : room.own, :columns] = SCALE * layer.query[h]
        key[h, : room.own, :columns] = layer.key[h]
        value[h, : room.own, : layer.value.shape[2]] = layer.value[h]
        out[h, : layer.value.shape[2], : room.own] = layer.out[h]
        if layer.relative[h].any():
            at = slice(room.own, room.own + room.places), slice(columns, columns + room.places)
            query[h][at] = SCALE * layer.relative[h][np.clip(distance, -reach, reach) + reach]
            key[h][at] = np.eye(room.places)
    return [query, key, value, out]


def _mlps(layer: Parameters, room: _Room, layout: Any) -> list[ReluUnits]:
    """The MLPs of one layer: those of its expansion, and the one that writes."""
    e, found = layer.expansion, []
    first = room.own + room.places
    features = 0 if e is None else e.constant.size
    scratch = list(range(first, first + features))
    if e is not None:
        inputs = np.zeros((room.width, e.bias.size))
        inputs[: room.own] = e.inputs
        bias, onto = e.bias.astype(np.float64), np.zeros((e.bias.size, room.width))
        onto[:, first : first + features] = e.outputs
        constant = np.zeros(room.width)
        constant[first : first + features] = e.constant
        if _is_noisy(layer):
            _refuse_noise(layer, layout)
            steps = [first + features + number for number in range(e.bias.size)]
            raw = np.zeros((e.bias.size, room.width))
            raw[np.arange(e.bias.size), steps] = 1
            found.append(room.clipped(inputs, bias, raw))
            inputs = np.zeros((room.width, e.bias.size))
            inputs[steps, np.arange(e.bias.size)] = 4
            rounding = room.clipped(inputs, np.full(e.bias.size, -1.5), onto)
            made = rounding.beside(room.clearing(steps))
        else:
            made = room.clipped(inputs, bias, onto)
        found.append(ReluUnits(made.inputs, made.bias, made.outputs, constant))
    return [*found, _writing(layer, room, layout, scratch)]


def _writing(layer: Parameters, room: _Room, layout: Any, scratch: list[int]) -> ReluUnits:
    """The units that write, and those that clear the heads' outputs and the features."""
    heads = [
        place
        for place, dim in enumerate(layout.dims)
        if any(s.start <= dim < s.stop for s in layer.layout.head_segments)
    ]
    writes = ~(layer.mlp_out[:, heads] != 0).any(axis=1)
    inputs = np.zeros((room.width, int(writes.sum())))
    inputs[: room.own] = layer.mlp_in[: room.own][:, writes]
    inputs[scratch] = layer.mlp_in[room.own :][:, writes]
    outputs = np.zeros((int(writes.sum()), room.width))
    outputs[:, : room.own] = layer.mlp_out[writes]
    bias = layer.mlp_bias[writes].astype(np.float64)
    return room.clipped(inputs, bias, outputs).beside(room.clearing([*heads, *scratch]))


def _refuse_noise(layer: Parameters, layout: Any) -> None:
    """Refuse steps whose numbers are so large that their difference is not 0 or 1 to within 1/4."""
    e = layer.expansion
    assert e is not None
    reach = np.abs(e.inputs).max(axis=0, initial=0) * _largest(layout) + np.abs(e.bias) + 1
    off = 4 * float(np.finfo(layer.tokens.dtype).eps) * float(reach.max(initial=0))
    if off > NOISE:
        raise InputError(
            f"{layout.name}: plain ReLU in {layer.tokens.dtype} cannot tell its declared numbers apart (a step may be "
            f"off by {off:.2g}); compile the program for float64, or declare numbers that lie further apart"
        )


def _largest(layout: Any) -> float:
    numbers = [abs(v) for c in layout.program.channels if c.values is not None for v in c.values]
    return max([1.0, *numbers])


def bridge(network: Any) -> Any:
    """A `TransformerBridge` of TransformerLens with these blocks; see `UnrolledTransformer.to_transformer_lens`."""
    model = plain_model(network)
    torch = imported_torch("to_transformer_lens")
    config, boot = _imported()
    first = model.blocks[0]
    units = max(block.mlp.bias.size for block in model.blocks)
    described = config(
        d_model=len(model.labels), n_layers=len(model.blocks), n_heads=len(first.query), d_mlp=max(1, units),
        d_head=first.query.shape[2], n_ctx=len(model.positions), d_vocab=len(model.tokens),
        d_vocab_out=len(model.readout), act_fn="relu", normalization_type=None, attn_scale=SCALE, init_weights=False,
        attention_dir="causal" if network.layout.causal else "bidirectional", positional_embedding_type="standard",
        model_name=network.layout.name,
    )  # fmt: skip
    made = boot(described, dtype=getattr(torch, network.dtype))
    with torch.no_grad():
        _fill(made.original_model, model, max(1, units), torch)
    made.residual_labels = list(model.labels)
    made.head_labels = [list(block.heads) for block in model.blocks]
    made.attending_blocks = list(model.attending)
    return made


def _imported() -> tuple[Any, Any]:
    try:
        from transformer_lens.config import TransformerBridgeConfig  # pyright: ignore[reportMissingImports]
        from transformer_lens.model_bridge import TransformerBridge  # pyright: ignore[reportMissingImports]
        from transformer_lens.model_bridge.sources import native  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InputError(
            "to_transformer_lens needs TransformerLens 4: pip install 'kleene[torch,transformer-lens]'"
        ) from None
    assert native.boot is not None  # importing it gives the bridge its `boot_native`
    return TransformerBridgeConfig, TransformerBridge.boot_native


def _fill(native: Any, model: PlainModel, units: int, torch: Any) -> None:
    """Write the weights into the model behind a bridge."""

    def put(module: Any, name: str, array: np.ndarray) -> None:
        while hasattr(module, "original_component") and module.original_component is not None:
            module = module.original_component
        held = getattr(module, name)
        held.copy_(torch.from_numpy(np.ascontiguousarray(array)).to(held.dtype))

    put(native.tok_embed, "weight", model.tokens)
    put(native.pos, "weight", model.positions)
    for layer, block in zip(native.layers, model.blocks):
        for part, array in (("q", block.query), ("k", block.key), ("v", block.value)):
            put(getattr(layer.attn, part), "weight", array.transpose(0, 2, 1).reshape(-1, array.shape[1]))
            put(getattr(layer.attn, part), "bias", np.zeros(array.shape[0] * array.shape[2]))
        put(layer.attn.o, "weight", block.out.reshape(-1, block.out.shape[2]).T)
        put(layer.attn.o, "bias", np.zeros(block.out.shape[2]))
        more = units - block.mlp.bias.size
        put(layer.mlp.fc_in, "weight", np.pad(block.mlp.inputs.T, ((0, more), (0, 0))))
        put(layer.mlp.fc_in, "bias", np.pad(block.mlp.bias, (0, more)))
        put(layer.mlp.fc_out, "weight", np.pad(block.mlp.outputs.T, ((0, 0), (0, more))))
        put(layer.mlp.fc_out, "bias", block.mlp.constant)
    put(native.head, "weight", model.readout)
    if getattr(native.head, "bias", None) is not None:
        put(native.head, "bias", np.zeros(len(model.readout)))
