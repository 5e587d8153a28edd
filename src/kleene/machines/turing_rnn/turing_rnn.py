"""A network that runs a Turing machine (Chiang's notes, Theorem 4.11), with the reading of its numbers as a tape.

`Simulation` turns the network's ticks into configurations. `ExactExecution` runs exact networks; `FloatExecution` runs
floating ones and checks after every tick that its numbers are still exact.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError, ModelFileError, RunError
from kleene.limits import checked_count
from kleene.machines.protocol import Shown, Size, shown_names
from kleene.machines.rnn.simple_rnn import SimpleRNN, pack_matrix, packed, unpack_matrix, unpacked
from kleene.machines.turing_rnn.exact_execution import ExactExecution
from kleene.machines.turing_rnn.exact_ticks import Form
from kleene.machines.turing_rnn.reading import TapeReading, step_of
from kleene.machines.weights import BROKEN, check_version
from kleene.notation.computations import Computation, Configuration, Configurations, accepted, continued
from kleene.notation.edited_runs import edited_computation
from kleene.notation.edits import Edit
from kleene.notation.exact import ExactMatrix
from kleene.notation.words import Word, word_codes
from kleene.tensors import read_tensors, write_tensors

CHUNK = 1 << 16  # ticks between two evaluations of the trail
KIND = "turing rnn"
VERSION = 1
ROLES = ("state_of", "scanned_of", "left_of", "right_of")


class FloatExecution:
    """Steps a floating ReLU network; `check` may refuse its numbers after each tick.

    Its coordinates are outer · h, and its recurrent weights inner · outer.
    """

    def __init__(
        self,
        network: Any,
        *,
        inner: ExactMatrix,
        outer: ExactMatrix,
        stop: Iterable[int],
        describe: Callable[[Mapping[int, Form], Mapping[int, Form]], Any],
        check: Callable[[np.ndarray], None],
    ):
        weights = {name: np.asarray(weight) for name, weight in network.weights().items()}
        self.recurrent, self.start = weights["recurrent"], weights["start"]
        self.resting = (weights["inputs"] + weights["bias"][:, None]).T
        self.inner, self.outer = (matrix.to_float(self.recurrent.dtype) for matrix in (inner, outer))
        self.stop, self.describe, self.check = list(stop), describe, check
        self.labels: dict[int, Any] = {}
        self.begin()

    def begin(self, coordinates: Mapping[int, Fraction] | None = None) -> None:
        """Go back to the network's start, or to given coordinates if floats can hold them."""
        self.hidden = self.start if coordinates is None else None
        self.variables = self.outer @ self.start
        if coordinates is not None:
            self.variables = np.zeros(len(self.outer), dtype=self.recurrent.dtype)
            self.check(np.array(list(coordinates.values()), dtype=object))
            for k, value in coordinates.items():
                self.variables[k] = float(value)
        self.stopped = False

    @property
    def coordinates(self) -> dict[int, Fraction]:
        """The variables that are not 0, as the exact rationals that floats are."""
        return {int(k): Fraction(float(self.variables[k])) for k in np.flatnonzero(self.variables)}

    def read(self, symbols: Iterable[int]) -> None:
        """Read the symbols, given by their index in the alphabet, one tick each."""
        for symbol in symbols:
            self.run(symbol, 1)

    def run(self, symbol: int, ticks: int, trail: array | None = None) -> int:
        """Take up to `ticks` ticks with the same symbol and return their number: fewer if the run stopped."""
        for taken in range(ticks):
            if self.stopped:
                return taken
            before = self.coordinates if trail is not None else {}
            self._tick(symbol)
            if trail is not None:
                self._remember(before, trail)
        return ticks

    def _tick(self, symbol: int) -> None:
        if self.hidden is None:  # begun at given coordinates
            given = self.inner @ self.variables
        else:
            given = self.recurrent @ self.hidden
        self.hidden = np.maximum(given + self.resting[symbol], 0)
        self.check(self.hidden)
        self.variables = self.outer @ self.hidden
        self.check(self.variables)
        self.stopped = bool(self.variables[self.stop].any())

    def _remember(self, before: Mapping[int, Fraction], trail: array) -> None:
        forms = ({k: Form(value, {}) for k, value in at.items()} for at in (before, self.coordinates))
        number = len(trail)  # the trail is read and emptied before the labels are written again
        self.labels[number] = self.describe(*forms)
        trail.append(number)


Execution = ExactExecution | FloatExecution


class Simulation:
    """Runs of one network; the traced ticks of its execution are kept from one run to the next."""

    def __init__(self, reading: TapeReading, execution: Execution, end: int):
        self.reading, self.execution, self.end = reading, execution, end

    def load(self, word: list[int]) -> None:
        """Read the word, and continue until the machine begins."""
        self.execution.begin()
        self.execution.read([*word, self.end])
        self.execution.run(self.end, len(word) + self.reading.lead)

    def take_up(self, configuration: Configuration) -> None:
        self.execution.begin(self.reading.coordinates(configuration))

    def configuration(self) -> Configuration:
        return self.reading.configuration(self.execution.coordinates)

    def computation(self, first: Configuration, ticks: int, max_steps: int, record: bool) -> Computation:
        """The computation from that configuration on; `ticks` were taken before it."""
        reading, moves, trail, steps = self.reading, _Moves(self.reading, record), array("q"), 0
        while steps < max_steps and not self.execution.stopped:
            # Every step is one tick, or two at the left end: a step that has not yet bounced back is not counted.
            ticks += self.execution.run(self.end, min(max_steps - steps, CHUNK), trail)
            steps += moves.add(np.array(trail), self.execution.labels)
            del trail[:]
        last = self.configuration()
        kept = moves.configurations(first) if record else _alone(reading, last)
        if kept[-1] != last:
            raise RunError(f"the network ends with {last}, but its steps lead to {kept[-1]}; were its weights changed?")
        verdict: Any = reading.halting.get(reading.states.index(last.state), "running")
        names = (reading.states, reading.symbols, reading.blank)
        return Computation(verdict, steps, kept, *names, source="network", ticks=ticks)


class _Moves:
    """The states, moves and written symbols of each tick; a bump into the left end and its bounce are one step."""

    def __init__(self, reading: TapeReading, record: bool):
        self.reading, self.record = reading, record
        self.ticks = [np.zeros((0, 4), dtype=np.int32)]  # state, whether about to bounce, move, written
        self.seen: dict[int, list[int]] = {}

    def add(self, trail: np.ndarray, labels: Mapping[int, Any]) -> int:
        """Add the ticks of the trail and return how many steps they completed."""
        numbers, which = np.unique(trail, return_inverse=True)
        rows = np.array([self._row(number, labels) for number in numbers.tolist()], dtype=np.int32).reshape(-1, 4)
        if self.record:
            self.ticks.append(rows[which])
        return int((rows[which, 1] == 0).sum())

    def _row(self, number: int, labels: Mapping[int, Any]) -> list[int]:
        step = labels[number]
        if step is None:
            raise RunError(
                "the network did something that is no step of a Turing machine; its hidden vector is no configuration. "
                "Were its weights changed?"
            )
        return [step.state, step.scanned == self.reading.bottom, step.move, step.written]

    def configurations(self, first: Configuration) -> Configurations:
        reading = self.reading
        states, bounces, moves, written = np.concatenate(self.ticks).T
        kept = np.flatnonzero(bounces == 0)
        bumped = np.append(0, bounces)[kept] == 1  # then the step wrote at the tick before, and this one put $ back
        written = np.where(bumped, written[np.maximum(kept - 1, 0)], written[kept])
        heads = np.maximum(first.head + np.cumsum(moves), 0)[kept]  # a machine may halt with a bump
        tape = [reading.symbols.index(symbol) for symbol in first.tape]
        begins = reading.states.index(first.state)
        names = (reading.states, reading.symbols, reading.blank)
        return Configurations(*names, tape, np.append(begins, states[kept]), np.append(first.head, heads), written)


def _alone(reading: TapeReading, last: Configuration) -> Configurations:
    """The last configuration as the only one."""
    tape, state = [reading.symbols.index(symbol) for symbol in last.tape], reading.states.index(last.state)
    return Configurations(reading.states, reading.symbols, reading.blank, tape, [state], [last.head], [])


@dataclass(frozen=True, eq=False, repr=False)
class TuringRNN(Shown):
    """A simple RNN that reads a word and the end of the input, and then computes until it accepts or rejects.

    Its outputs are (ACC, REJ, NUL). After the word it reads the last symbol of its alphabet, the end of the input. It
    would compute on with any symbols after that; we give it the same symbol again. Its variables are outer · h, and its
    recurrent weights inner · outer; the `reading` says what the variables mean.
    """

    rnn: SimpleRNN
    inner: ExactMatrix
    outer: ExactMatrix
    reading: TapeReading

    @property
    def size(self) -> Size:  # type: ignore[override]
        return self.rnn.size

    def parameter_count(self) -> int:
        return self.rnn.parameter_count()

    def facts(self) -> dict[str, str]:
        states = shown_names(self.reading.states, "states")
        return {"reads": shown_names(self.input_alphabet, "symbols"), "answers": "accept or reject", "has": states}

    @property
    def input_alphabet(self) -> tuple[str, ...]:
        return self.rnn.alphabet[:-1]

    @property
    def end(self) -> str:
        """The symbol for the end of the input."""
        return self.rnn.alphabet[-1]

    def run(
        self, word: Word, max_steps: int = 10_000, record: bool = True, *, edits: Sequence[Edit] = ()
    ) -> Computation:
        """The network's computation on the word, as configurations of its machine; `ticks` counts those after the end.

        Up to `max_steps` steps of the machine are taken; then the verdict is "running". With `record=False` only the
        last configuration is kept. `edits` set the `state`, the `head` or cells of the `tape` after a step of the
        machine, and the network goes on from there: see `kleene.Edit`. All configurations are kept then.
        """
        budget = checked_count(max_steps, "max_steps", "it is a number of steps, 0 or more")
        codes = word_codes(word, self.input_alphabet, "the input alphabet of the network")
        if edits:
            halting = {self.reading.states[code]: verdict for code, verdict in self.reading.halting.items()}
            return edited_computation("the network", edits, partial(self.run, word), self.resume, budget, halting)
        simulation = self._simulation
        simulation.load(codes)
        first = simulation.configuration()
        self._check_start(first, codes)
        return simulation.computation(first, len(codes) + self.reading.lead, budget, record)

    def resume(self, computation: Computation, max_steps: int = 10_000) -> Computation:
        """The computation, continued by up to `max_steps` steps; one that has halted is returned unchanged.

        It may be the machine's own computation, which has no ticks: then none are counted here.
        """
        budget = checked_count(max_steps, "max_steps", "it is a number of steps, 0 or more")
        if (computation.states, computation.symbols) != (self.reading.states, self.reading.symbols):
            raise InputError("the computation is one of another machine; resume one that this network began")
        if computation.verdict != "running":
            return computation
        simulation, last = self._simulation, computation.last
        simulation.take_up(last)
        more = simulation.computation(last, computation.ticks or 0, budget, computation.recorded)
        done = continued(computation, more)
        return done if computation.ticks is not None else done.replaced(ticks=None)

    def run_batch(self, words: Iterable[Word], max_steps: int = 10_000, record: bool = True) -> list[Computation]:
        """The run on each word. Ticks traced for one word make the next ones faster."""
        return [self.run(word, max_steps, record) for word in words]

    def accepts(self, word: Word, max_steps: int = 10_000) -> bool:
        """Whether the network accepts the word; a RunError if it has not halted within `max_steps`."""
        return accepted(self.run(word, max_steps, record=False), "the network", word, max_steps)

    @cached_property
    def _simulation(self) -> Simulation:
        return Simulation(self.reading, self._execution(), len(self.input_alphabet))

    def _execution(self) -> Execution:
        layers: dict[str, Any] = {"inner": self.inner, "outer": self.outer, "stop": self.reading.stops}
        describe = partial(step_of, self.reading)
        if self.rnn.is_exact:
            return ExactExecution(self.rnn, **layers, describe=describe)
        return FloatExecution(self.rnn, **layers, describe=describe, check=self.reading.check)

    def _check_start(self, first: Configuration, word: list[int]) -> None:
        if first.head != 0 or [self.reading.symbols.index(s) for s in first.tape] != word:
            raise RunError(f"the network begins with {first}, and not with the word; were its weights changed?")

    def save(self, path: Any) -> Path:
        """Save the network and return the path; exact weights as integers and denominators, never rounded."""
        rnn, arrays = packed(self.rnn)
        header: dict[str, Any] = {"version": VERSION, "rnn": rnn, "layers": {}, "reading": {}}
        for name in ("inner", "outer"):
            matrix: ExactMatrix = getattr(self, name)
            header["layers"][name] = {"shape": list(matrix.shape), "denominator": format(matrix.denominator, "x")}
            arrays |= {f"{name}.{part}": array for part, array in pack_matrix(matrix).items()}
        for field in fields(TapeReading):
            value = getattr(self.reading, field.name)
            if field.name in ROLES:
                arrays[f"reading.{field.name}"] = np.array(value, dtype=np.int64)
            else:
                header["reading"][field.name] = list(value) if isinstance(value, tuple) else value
        return write_tensors(path, KIND, header, arrays)

    @classmethod
    def load(cls, path: Any) -> "TuringRNN":
        """The network in a file that `save` wrote; refuses one whose parts do not fit together."""
        header, arrays = read_tensors(path, KIND)
        try:
            check_version(header, VERSION)
            layers = {name: _layer(name, header, arrays) for name in ("inner", "outer")}
            rnn = SimpleRNN(**unpacked(header["rnn"], arrays))
            network = cls(rnn, **layers, reading=_reading(header["reading"], arrays))
            _check(network)
            return network
        except BROKEN as error:
            raise ModelFileError(f"{str(path)!r} does not hold a whole network ({error}); compile it again") from None


def _layer(name: str, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> ExactMatrix:
    parts = {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}
    described = header["layers"][name]
    return unpack_matrix(described["shape"], described["denominator"], parts)


def _reading(described: dict[str, Any], arrays: dict[str, np.ndarray]) -> TapeReading:
    roles: dict[str, Any] = {name: tuple(arrays[f"reading.{name}"].tolist()) for name in ROLES}
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in described.items()
    }
    names = (plain["accept"], plain["reject"], plain["blank"], *plain["states"], *plain["symbols"])
    if not all(isinstance(name, str) for name in names):
        raise ValueError("its states and symbols are not described")
    limit = plain.get("limit")
    whole = [plain["base"], plain["lead"], *([] if limit is None else [limit])]
    if not all(isinstance(value, int) and value > 0 for value in whole) or plain["base"] < 3:
        raise ValueError("its base, lead or limit is no number")
    return TapeReading(**plain, **roles)


def _check(network: TuringRNN) -> None:
    """Refuse a reading that does not fit the network, and layers that are not the network's."""
    reading, rnn = network.reading, network.rnn
    if reading.blank not in reading.symbols:
        raise ValueError("its states and symbols are not described")
    if not {reading.accept, reading.reject} <= set(reading.states) or reading.accept == reading.reject:
        raise ValueError("its accept and reject states are not among its states")
    highest = {"state_of": reading.setup, "scanned_of": reading.bottom} | dict.fromkeys(ROLES[2:], reading.bottom)
    for name in ROLES:
        codes = getattr(reading, name)
        if len(codes) != network.outer.shape[0] or not all(-1 <= code <= highest[name] for code in codes):
            raise ValueError(f"{name} of its reading does not fit")
    if network.input_alphabet != reading.symbols[: len(network.input_alphabet)]:
        raise ValueError("its input alphabet is not at the beginning of its symbols")
    if rnn.activation != "relu" or rnn.readout.shape[0] != 3 or (reading.limit is None) != rnn.is_exact:
        raise ValueError("its weights are not those of a Turing machine's network")
    if reading.limit is not None and reading.limit * (reading.base.bit_length() - 1) > _bits(rnn.recurrent):
        raise ValueError("its limit is larger than its numbers allow")
    if not _same(rnn.recurrent, network.inner @ network.outer):
        raise ValueError("its layers do not multiply to its recurrent weights")
    if not _same(rnn.readout, _verdicts(reading) @ network.outer):
        raise ValueError("its outputs do not tell whether its machine has halted")


def _verdicts(reading: TapeReading) -> ExactMatrix:
    """The map from coordinates to outputs: has accepted, has rejected, and, minus 1, neither of them."""
    entries = {}
    for k in reading.stops:
        row = 0 if reading.halting[reading.state_of[k]] == "accept" else 1
        entries |= {(row, k): 1, (2, k): -1}
    return ExactMatrix.from_entries((3, len(reading.state_of)), entries)


def _same(weight: Any, exact: ExactMatrix) -> bool:
    if isinstance(weight, ExactMatrix):
        return weight == exact
    return bool((weight == exact.to_float(weight.dtype)).all())


def _bits(weight: Any) -> int:
    """The number of binary digits of the weight's floats."""
    return int(np.finfo(weight.dtype).nmant) + 1
