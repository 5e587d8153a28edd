"""How often the trace that a network's own readings decode equals its program's, by layer and length, and where not."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Categorical
from kleene.traces import TraceBatch
from kleene.traces.markup import html_text

SHOWN = 24  # tokens of a word that are printed


@dataclass(frozen=True)
class TraceDifference:
    """The first place where a decoded trace differs from the program's, and both values."""

    tokens: list[int]
    layer: int
    position: int
    variable: str
    program: int
    network: int

    def _repr_html_(self) -> str:
        return html_text(self)

    def __str__(self) -> str:
        word = " ".join([*map(str, self.tokens[:SHOWN]), *["…"] * (len(self.tokens) > SHOWN)])
        where = "at the start" if not self.layer else f"after layer {self.layer}"
        value = "nothing" if self.network < 0 else self.network
        return (
            f"on {word}, {where}, at position {self.position}: {self.variable} is {self.program} in the program "
            f"and {value} in the network"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "input": self.tokens,
            "layer": self.layer,
            "position": self.position,
            "variable": self.variable,
            "program": self.program,
            "network": self.network,
        }


@dataclass(frozen=True, eq=False, repr=False)
class TraceAgreement:
    """Where the decoded traces of a network equal the program's: for each channel (batch, step, position).

    After its last step a program keeps its variables, and its heads read nothing. What the program leaves undefined is
    not compared. `wanted` are the program's values, -1 where nothing is compared, and `found` the network's.
    """

    words: list[list[int]]
    lengths: list[int]
    variables: tuple[str, ...]
    heads: tuple[str, ...]
    wanted: dict[str, np.ndarray]
    found: dict[str, np.ndarray]
    layers: np.ndarray
    outputs: np.ndarray  # of the program: (batch, position), -1 outside of a word
    output_name: str

    @cached_property
    def _wrong(self) -> dict[str, np.ndarray]:
        return {n: (self.wanted[n] >= 0) & (self.wanted[n] != self.found[n]) for n in self.wanted}

    def _over(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """The arrays of the variables, without the heads: (variables, batch, step, position)."""
        return np.stack([arrays[name] for name in self.variables])

    @cached_property
    def _stated(self) -> np.ndarray:
        return self._over(self.wanted) >= 0

    @property
    def entries(self) -> float:
        """The share of the entries of all variables that are equal."""
        return _share(self._over(self._wrong), self._stated)

    @property
    def positions(self) -> float:
        """The share of positions at which all variables are equal after every layer."""
        wrong, stated = (np.asarray(array.any(axis=(0, 2))) for array in (self._over(self._wrong), self._stated))
        return _share(wrong, stated)

    @property
    def whole_words(self) -> float:
        """The share of words whose whole trace is equal."""
        return float((~self._wrong_words).mean())

    @cached_property
    def _wrong_words(self) -> np.ndarray:
        return np.asarray(self._over(self._wrong).any(axis=(0, 2, 3)))

    @cached_property
    def right_outputs(self) -> np.ndarray:
        """Whether the output after the network's last layer is the program's at all positions, for each word."""
        last = self.found[self.output_name][np.arange(len(self.words)), self.layers]
        return np.asarray(((last == self.outputs) | (self.outputs < 0)).all(axis=1))

    @property
    def by_variable(self) -> dict[str, float]:
        """The share of equal entries of each variable and each head's output."""
        return {name: _share(self._wrong[name], self.wanted[name] >= 0) for name in (*self.variables, *self.heads)}

    @property
    def by_layer(self) -> list[float]:
        """The share of equal entries of all variables at the start and after each layer."""
        wrong = self._over(self._wrong)
        return [_share(wrong[:, :, step], self._stated[:, :, step]) for step in range(wrong.shape[2])]

    @property
    def by_length(self) -> dict[int, dict[str, float]]:
        """For each length the shares of entries, whole words and outputs that are equal."""
        wrong, lengths, found = self._over(self._wrong), np.array(self.lengths), {}
        for length in sorted(set(self.lengths)):
            here = lengths == length
            found[length] = {
                "entries": _share(wrong[:, here], self._stated[:, here]),
                "words": float((~self._wrong_words[here]).mean()),
                "outputs": float(self.right_outputs[here].mean()),
            }
        return found

    @cached_property
    def first_row(self) -> int | None:
        """The shortest word whose trace differs, the first of those; None where all are equal."""
        rows = np.flatnonzero(self._wrong_words).tolist()
        return min(rows, key=lambda row: (len(self.words[row]), row)) if rows else None

    @property
    def first(self) -> TraceDifference | None:
        """Where the shortest word with a difference first differs: by layer, then position, then variable."""
        if self.first_row is None:
            return None
        row = self.first_row
        places = np.argwhere(self._over(self._wrong)[:, row].transpose(1, 2, 0))
        layer, position, number = places[0].tolist()
        name = self.variables[number]
        values = (int(array[name][row, layer, position]) for array in (self.wanted, self.found))
        return TraceDifference(self.words[row], layer, position, name, *values)

    def as_json(self) -> dict[str, Any]:
        shares = {"entries": self.entries, "positions": self.positions, "words": self.whole_words}
        return {
            **{name: round(share, 6) for name, share in shares.items()},
            "outputs": round(float(self.right_outputs.mean()), 6),
            "by_variable": {name: round(share, 6) for name, share in self.by_variable.items()},
            "by_layer": [round(share, 6) for share in self.by_layer],
            "by_length": {
                str(n): {name: round(share, 6) for name, share in found.items()} for n, found in self.by_length.items()
            },
        }


def _share(wrong: np.ndarray, of: np.ndarray) -> float:
    return float(1 - wrong.sum() / max(1, of.sum()))


def agreement_of(
    program: Program, wanted: TraceBatch, found: TraceBatch, words: list[list[int]], lengths: Sequence[int]
) -> TraceAgreement:
    """The agreement of the traces of a network with those of its program on the same words.

    Layer n of the network is compared with step n of the program. A network that reads other variables than the
    program has is refused.
    """
    check_variables(program, found)
    counts, rows = np.asarray(found.steps), np.arange(len(words))[:, None]
    steps, positions = int(counts.max()) + 1, max(map(len, words))
    at = np.minimum(np.arange(steps), np.asarray(wanted.steps)[:, None])
    ran = np.arange(steps) <= counts[:, None]
    inside = np.arange(positions) < np.array([len(word) for word in words])[:, None]
    targets, readings, heads = {}, {}, []
    for channel in found.channels:
        if channel.kind != "category":
            continue
        values = np.asarray(wanted.data[channel.name])[rows, at][..., :positions]
        stated = ran[..., None] & inside[:, None]
        if channel.per_step:
            heads.append(channel.name)
            stated = stated & (np.arange(steps) <= np.asarray(wanted.steps)[:, None])[..., None]
        targets[channel.name] = np.where(stated, values, -1)
        readings[channel.name] = np.asarray(found.data[channel.name])[:, :steps, :positions]
    variables = tuple(name for name in targets if name not in heads)
    output = str(found.output_name)
    last = np.asarray(wanted.data[output])[rows[:, 0], np.asarray(wanted.steps), :positions]
    outputs = np.where(inside, last, -1)
    return TraceAgreement(words, [*lengths], variables, tuple(heads), targets, readings, counts, outputs, output)


def check_variables(program: Program, found: TraceBatch) -> None:
    """Refuse a network whose variables or output are not those of the program."""
    has = ", ".join(program.domains)
    for channel in found.channels:
        variable = program.domains.get(channel.name)
        if variable is None or isinstance(variable, Categorical) != (channel.kind == "category"):
            what = "has no such variable" if variable is None else "has it as another kind of value"
            raise InputError(
                f"the network reads {channel.name!r}, and {program.name} {what}; its variables are {has}. Compare the "
                f"network with the program that taught it"
            )
        if not isinstance(variable, Categorical):
            continue
        if channel.size != variable.range:
            raise InputError(
                f"{channel.name!r} has {channel.size} values in the network and {variable.range} in {program.name}; "
                f"compare the network with the program that taught it"
            )
    if not isinstance(program.domains[program.output_name], Categorical):
        raise InputError(f"{program.name} has numbers or sets as outputs, and only categories are compared")
    if found.output_name != program.output_name:
        raise InputError(f"the network's output is {found.output_name!r}, and {program.output_name!r} in the program")
