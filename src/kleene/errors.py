"""The errors and warnings of Kleene, and suggestions for names that are not known.

A message says what was wrong, where, what was expected and what to do.
"""

from collections.abc import Iterable
from difflib import SequenceMatcher
from enum import IntEnum


class KleeneError(Exception):
    """The base class of every error that Kleene raises on purpose."""


class KleeneWarning(UserWarning):
    """The base class of every warning of Kleene; the command line prints it as one line on stderr."""


class ProgramError(KleeneError):
    """A program was refused when it was built."""


class FunctionError(ProgramError):
    """An MLP function does something that cannot be turned into rules; the message names the source line."""


class InputError(KleeneError, ValueError):
    """An input that a program or network cannot take."""


class EditError(InputError):
    """An intervention that a run cannot take."""


class MemoryLimitError(InputError):
    """What was asked for takes more memory than there is."""


class RunError(KleeneError):
    """A run could not go on."""


class UnfinishedError(RunError):
    """Work was left for later: the time was up, or only a piece of it was asked for."""


class OutgrownError(RunError):
    """A floating network is exact only for shorter words, or shorter tapes of a Turing machine."""


class Reason(IntEnum):
    """Why a head's output is undefined at a position. A fault belongs to no head, and has one reason everywhere."""

    NO_MATCH = 1
    SEVERAL = 2
    EDGE = 3
    BETWEEN = 4
    FAULT = 5

    def __str__(self) -> str:
        return {
            Reason.NO_MATCH: "no position matches its query",
            Reason.SEVERAL: "several positions match its query",
            Reason.EDGE: "the positions it may read lie off the edge of the sequence",
            Reason.BETWEEN: "the average it read lies between two declared values",
            Reason.FAULT: "a write fired that the program may not make",
        }[self]


class UndefinedAttentionError(RunError):
    """A program used the output of a head that found no single position to read. `rasp`: it was written in RASP."""

    def __init__(
        self,
        program: str,
        head: str,
        reason: Reason,
        *,
        layer: int,
        position: int,
        sequence: int = 0,
        rasp: bool = False,
    ):
        self.layer, self.position, self.head, self.reason, self.sequence = layer, position, head, reason, sequence
        advice = _RASP_ADVICE.get(reason) if rasp else None
        super().__init__(
            f"{program}: in layer {layer}, at position {position} of input {sequence}, the MLP uses head {head!r}, "
            f"which is undefined there: {reason}. "
            f"{advice or 'Guard the use with a condition, or make the query match exactly once.'}"
        )


_RASP_ADVICE = {
    Reason.SEVERAL: (
        "The aggregate selected one position in all inputs that were tried, and its means are too many for a network. "
        "RASP's evaluation may have a value here. Map what it reads to fewer values, or compile for a smaller "
        "vocabulary or max_length."
    ),
    Reason.BETWEEN: (
        "The aggregate selects several different values that are not all numbers, which have no mean in RASP either."
    ),
}


class WriteError(RunError):
    """A write is outside its variable's range, or contradicts another write.

    Only programs with ALTA's own semantics can make such writes; Kleene's refuses them when the program is built.
    """

    def __init__(self, problem: str, *, program: str = "", layer: int = 0, position: int = 0, sequence: int = 0):
        self.problem, self.layer, self.position, self.sequence = problem, layer, position, sequence
        place = f"{program}: in layer {layer}, at position {position} of input {sequence}, " if program else ""
        super().__init__(f"{place}{problem}")


class HaltError(RunError):
    """A program with a halting condition did not halt within `max_layers`."""

    def __init__(self, program: str, sequence: int, max_layers: int):
        self.sequence, self.max_layers = sequence, max_layers
        super().__init__(
            f"{program}: input {sequence} has not halted after {max_layers} layers; "
            f"give a larger max_layers if it needs more, or look at its trace to see why it goes on"
        )


class CompileError(KleeneError):
    """A program cannot be compiled exactly for the number type or options asked for."""


class ModelFileError(KleeneError):
    """A file is missing, truncated, corrupt or of another kind than expected."""


class UnknownWordsWarning(KleeneWarning):
    """A network does not know most words of a sentence that it was given."""


CLOSE = 0.72  # similarity from which a name is suggested; 1 is equality


def close_names(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names that are similar, on any shelf: the most similar first, those of the same shelf before others.

    A name is also compared with the beginnings of longer ones.

    >>> close_names("pariti", ["addition", "parity_relative", "dfa:parity"])
    ['parity_relative', 'dfa:parity']
    """
    asked, shelf = _bare(name), _shelf(name)
    scores = {
        other: (_score(asked, _bare(other)), _shelf(other) == shelf, _ratio(asked, _bare(other))) for other in known
    }
    close = [other for other, score in scores.items() if score[0] >= CLOSE]
    best = max((scores[other][0] for other in close), default=0.0)
    return sorted((o for o in close if scores[o][0] > best - 0.1), key=lambda o: scores[o], reverse=True)[:most]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown name: similar names, or all known ones."""
    known = list(known)
    close = close_names(name, known)
    return f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(known)}"


def typed_option(name: str) -> str:
    """The option as it is typed.

    >>> typed_option("max_length")
    '--max-length'
    """
    return f"--{name.replace('_', '-')}"


def _bare(name: str) -> str:
    return name.rpartition(":")[2].lower()


def _shelf(name: str) -> str:
    return name.rpartition(":")[0].removeprefix("circuit")  # circuits go without a prefix


def _score(asked: str, other: str) -> float:
    """How similar two names are: the whole names, or the first and as many letters of the other."""
    return max(_ratio(asked, other), _ratio(asked, other[: len(asked)]) if len(asked) > 3 else 0.0)


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()
