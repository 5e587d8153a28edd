"""A Turing machine: its table, checked when it is built, and its run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from kleene.counts import checked_count
from kleene.errors import InputError, ProgramError
from kleene.notation.computations import Computation, accepted
from kleene.notation.words import Word, word_codes
from kleene.programs.turing import simulator
from kleene.programs.turing.validation import checked_alphabet, checked_name, checked_transitions, missing

Move = Literal["L", "R"]


@dataclass(frozen=True, kw_only=True)
class TuringMachine:
    """A machine as Sipser defines it: the tape has a left end, and a move left from there stays there.

    Every state but `accept` and `reject` needs a transition for every tape symbol. The tape symbols are those of the
    transitions; words are written in the `input_alphabet`, which is all of them but the blank where it is not given.
    A run begins in `start` on cell 0.

    >>> odd = TuringMachine(
    ...     transitions={("even", "1"): ("odd", "1", "R"), ("even", "_"): ("no", "_", "R"),
    ...                  ("odd", "1"): ("even", "1", "R"), ("odd", "_"): ("yes", "_", "R")},
    ...     start="even", accept="yes", reject="no")
    >>> odd.run("111")
    <Computation: accept after 4 steps, yes, head 4, tape '111'>
    """

    transitions: Mapping[tuple[str, str], tuple[str, str, Move]]
    start: str
    accept: str
    reject: str
    blank: str = "_"
    input_alphabet: tuple[str, ...] = ()
    name: str = field(default="the machine", compare=False)
    states: tuple[str, ...] = field(init=False)
    tape_alphabet: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        for role in ("start", "accept", "reject", "blank"):
            checked_name(getattr(self, role), role)
        table = checked_transitions(self.transitions)
        self._check_halting(table)
        written = [*(a for _, a in table), *(b for _, b, _ in table.values())]
        found = tuple(dict.fromkeys(symbol for symbol in written if symbol != self.blank))
        inputs = checked_alphabet(self.input_alphabet, self.blank) or found
        entered = [*(q for q, _ in table), *(r for r, _, _ in table.values())]
        working = [q for q in dict.fromkeys([self.start, *entered]) if q not in (self.accept, self.reject)]
        object.__setattr__(self, "transitions", MappingProxyType(table))
        object.__setattr__(self, "input_alphabet", inputs)
        object.__setattr__(self, "states", (*working, self.accept, self.reject))
        object.__setattr__(self, "tape_alphabet", (*dict.fromkeys((*inputs, *found)), self.blank))
        gaps = missing(table, working, self.tape_alphabet)
        if gaps:
            raise ProgramError(gaps)

    def _check_halting(self, table: Mapping[tuple[str, str], Any]) -> None:
        if self.accept == self.reject:
            raise ProgramError(f"accept and reject are both {self.accept!r}; a machine needs one state for each")
        for state, symbol in table:
            if state in (self.accept, self.reject):
                role = "accept" if state == self.accept else "reject"
                raise ProgramError(
                    f"there is a transition from ({state!r}, {symbol!r}), but {state!r} is the {role} state, where the "
                    f"machine halts. Remove the transition, or name another {role} state."
                )

    def __hash__(self) -> int:
        return hash((self.states, self.tape_alphabet, self.input_alphabet, tuple(self.transitions.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and pickles, which cannot be made of the read-only view of the transitions."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        return partial(TuringMachine, **given | {"transitions": dict(self.transitions)}), ()

    def __repr__(self) -> str:
        states, symbols = len(self.states), " ".join(self.tape_alphabet)
        return f"<TuringMachine {self.name}: {states} states, tape symbols {symbols}>"

    def run(self, word: Word, max_steps: int = 10_000, record: bool = True) -> Computation:
        """What the machine does on the word, up to `max_steps` steps; then the verdict is "running".

        With `record=False` only the last configuration is kept: faster, and no memory but the tape.
        """
        budget = checked_count(max_steps, "max_steps", "it is a number of steps, 0 or more")
        whose = f"the input alphabet of {self.name}"
        codes = word_codes(word, self.input_alphabet, whose)
        return simulator.run(self, self._linked, codes, budget, record)

    def resume(self, computation: Computation, max_steps: int = 10_000) -> Computation:
        """The computation taken up to `max_steps` steps further; one that has halted comes back as it is.

        What was recorded before stays recorded, and what comes after is recorded only then.
        """
        budget = checked_count(max_steps, "max_steps", "it is a number of steps, 0 or more")
        if (computation.states, computation.symbols) != (self.states, self.tape_alphabet):
            raise InputError(
                f"the computation is one of another machine: its states are {' '.join(computation.states)}, those of "
                f"{self.name} are {' '.join(self.states)}"
            )
        if computation.verdict != "running":
            return computation
        return simulator.resume(self, self._linked, computation, budget)

    def run_batch(self, words: Iterable[Word], max_steps: int = 10_000, record: bool = True) -> list[Computation]:
        """The run on each word."""
        return [self.run(word, max_steps, record) for word in words]

    def accepts(self, word: Word, max_steps: int = 10_000) -> bool:
        """Whether the machine accepts the word; a RunError where it has not halted within `max_steps`."""
        return accepted(self.run(word, max_steps, record=False), self.name, word, max_steps)

    @cached_property
    def _linked(self) -> simulator.Linked:
        return simulator.linked(self)

    @staticmethod
    def from_text(text: str, name: str = "the machine") -> "TuringMachine":
        """The machine that a text describes; see `kleene.programs.turing.text` for the format."""
        from kleene.programs.turing.text import parse

        return parse(text, name)

    def to_text(self) -> str:
        """The machine as a text that `from_text` reads."""
        from kleene.programs.turing.text import as_text

        return as_text(self)

    @staticmethod
    def load(path: Any) -> "TuringMachine":
        """The machine in a text file, usually one that ends in `.tm`; it has the file's name."""
        from kleene.programs.turing.text import load

        return load(Path(path))

    def save(self, path: Any) -> Path:
        """The path of the text file now holding the machine and its checksum."""
        from kleene.files import SEAL, sealed, write_atomically

        return write_atomically(Path(path), sealed(f"// {SEAL}\n{self.to_text()}"))
