"""A network that runs a Turing machine (Theorem 4.11): the simple RNN, and how its numbers are read as a tape."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from kleene.counts import checked_count
from kleene.errors import InputError, RunError
from kleene.machines.protocol import Shown, Size, shown_names
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.turing_rnn.exact_execution import ExactExecution
from kleene.machines.turing_rnn.float_ticks import FloatExecution
from kleene.machines.turing_rnn.reading import TapeReading
from kleene.machines.turing_rnn.simulation import Execution, Simulation, step_of
from kleene.notation.computations import Computation, Configuration, accepted, continued
from kleene.notation.exact import ExactMatrix
from kleene.notation.words import Word, word_codes


@dataclass(frozen=True, eq=False, repr=False)
class TuringRNN(Shown):
    """A simple RNN that reads a word and the end of the input, and then computes until it accepts or rejects.

    Its outputs are (ACC, REJ, NUL). After the word it is given the last symbol of its alphabet, the end of the input,
    and goes on with whatever it is given then: we give it the same symbol again. Its variables are outer · h, and its
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

    def run(self, word: Word, max_steps: int = 10_000, record: bool = True) -> Computation:
        """What the network does on the word, as configurations of its machine; `ticks` counts those after the end.

        Up to `max_steps` steps of the machine are taken; then the verdict is "running". With `record=False` only the
        last configuration is kept.
        """
        budget = checked_count(max_steps, "max_steps", "it is a number of steps, 0 or more")
        codes = word_codes(word, self.input_alphabet, "the input alphabet of the network")
        simulation = self._simulation
        simulation.load(codes)
        first = simulation.configuration()
        self._check_start(first, codes)
        return simulation.computation(first, len(codes) + self.reading.lead, budget, record)

    def resume(self, computation: Computation, max_steps: int = 10_000) -> Computation:
        """The computation taken up to `max_steps` steps further; one that has halted comes back as it is.

        It may be the machine's own, of which no ticks were counted: then none are counted here.
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
        """The run on each word. What was worked out for one word makes the next ones faster."""
        return [self.run(word, max_steps, record) for word in words]

    def accepts(self, word: Word, max_steps: int = 10_000) -> bool:
        """Whether the network accepts the word; a RunError where it has not halted within `max_steps`."""
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
        from kleene.machines.turing_rnn.storage import save

        return save(self, path)

    @staticmethod
    def load(path: Any) -> "TuringRNN":
        """The network in a safetensors file that `save` wrote. Opening a file never runs code."""
        from kleene.machines.turing_rnn.storage import load

        return load(path)
