"""What a person may have meant by a name that is not there."""

from collections.abc import Iterable
from difflib import SequenceMatcher

CLOSE = 0.72  # of 1, at which letters are the same


def close_names(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names that come close, on any shelf: the closest first, and those of the same shelf before others.

    What follows after as many letters as were given may be missing.

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
    """The end of an error about a name that is not known."""
    known = list(known)
    close = close_names(name, known)
    return f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(known)}"


def _bare(name: str) -> str:
    return name.rpartition(":")[2].lower()


def _shelf(name: str) -> str:
    return name.rpartition(":")[0].removeprefix("circuit")  # circuits go without a prefix


def _score(asked: str, other: str) -> float:
    """How close two names are, or what was asked and as many letters of the other."""
    return max(_ratio(asked, other), _ratio(asked, other[: len(asked)]) if len(asked) > 3 else 0.0)


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()
