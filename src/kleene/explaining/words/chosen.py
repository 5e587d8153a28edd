"""Words, phrases, spans and sets of words of a sentence, as people name them: "sick", "chimney sweep", "0-2", "1,4"."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from kleene.errors import InputError
from kleene.limits import read_count


def chosen_words(name: str, given: Any, words: Sequence[str]) -> list[int]:
    """The positions, from 0, that `given` names; `name` is what an error calls it.

    A text has parts with commas between them, and all of them together are the set. A part is a position, a span of
    them ("0-2" has three), a phrase that stands in the sentence once, or several of these with spaces between. Numbers
    and other collections of parts do too.

    >>> words = "the old man near the station".split()
    >>> chosen_words("focus", "the old, 5", words), chosen_words("focus", "1-3", words), chosen_words("focus", 4, words)
    ([0, 1, 5], [1, 2, 3], [4])
    """
    if isinstance(given, str):
        given = given.split(",")
    elif not isinstance(given, Iterable):
        given = [given]
    found = [place for part in given for place in _places(name, str(part).split(), words)]
    if not found:
        raise InputError(f"{name} is empty; give words of the sentence, or their positions, counted from 0")
    return sorted(set(found))


def chosen_sets(name: str, given: Any, words: Sequence[str]) -> list[list[int]]:
    """The positions of two or more sets that share no word; in a text they have semicolons between them.

    >>> chosen_sets("sets", "the chimney sweep; 3; sick lungs", "the chimney sweep has sick lungs".split())
    [[0, 1, 2], [3], [4, 5]]
    """
    if isinstance(given, str):
        given = given.split(";")
    elif not isinstance(given, Iterable):
        raise InputError(f"{name} is {given!r}; give sets of words, such as ['the chimney sweep', (4, 5)]")
    found = [chosen_words(f"set {number} of {name}", part, words) for number, part in enumerate(given)]
    if len(found) < 2:
        raise InputError(
            f"{name} has {'one set' if found else 'no sets'}, and interdependence is between two; in a text they have "
            f"semicolons between them, as in '0-1; 3'"
        )
    owner: dict[int, list[int]] = {}
    for positions in found:
        for place in positions:
            if place in owner:
                both = " and in ".join(repr(label(words, one)) for one in (owner[place], positions))
                raise InputError(
                    f"{name} has {words[place]!r}, position {place}, in {both}; sets must not share a word"
                )
            owner[place] = positions
    return found


def label(words: Sequence[str], positions: Sequence[int], between: str = " … ") -> str:
    """The words at these positions, with `between` where some are left out.

    >>> label("the chimney sweep has sick lungs".split(), [1, 2, 4])
    'chimney sweep … sick'
    """
    runs = groupby(enumerate(positions), key=lambda numbered: numbered[1] - numbered[0])
    return between.join(" ".join(words[place] for _, place in run) for _, run in runs)


def _places(name: str, parts: list[str], words: Sequence[str]) -> list[int]:
    """The positions that the parts of a text name: as one phrase if they are one, else each by itself."""
    phrases = [at for at in range(len(words) - len(parts) + 1) if list(words[at : at + len(parts)]) == parts]
    if len(parts) > 1 and not all(_span(part) for part in parts) and phrases:
        if len(phrases) > 1:
            spans = " and ".join(f"{at}-{at + len(parts) - 1}" for at in phrases)
            raise InputError(
                f"{name} has the phrase {' '.join(parts)!r}, which is at {spans}; give the span that you mean"
            )
        return list(range(phrases[0], phrases[0] + len(parts)))
    return [place for part in parts for place in _one(name, part, words)]


def _one(name: str, part: str, words: Sequence[str]) -> list[int]:
    """The positions of one position, span or word."""
    span = _span(part)
    places = [at for at, word in enumerate(words) if word == part] if span is None else list(span)
    if span is not None and span[1] < span[0]:
        raise InputError(f"{name} has the span {part!r}, which ends before it begins; give {span[1]}-{span[0]}")
    if span is None and len(places) > 1:
        raise InputError(f"{name} has the word {part!r}, which is at {places}; give the position that you mean")
    if not places or places[-1] >= len(words):
        raise InputError(
            f"{name} has {part!r} in it, and the sentence has {len(words)} words: give some of them, or positions "
            f"0..{len(words) - 1}"
        )
    return list(range(places[0], places[-1] + 1))


def _span(part: str) -> tuple[int, int] | None:
    """The first and the last position of "3" or "3-5"; None if it is neither.

    >>> _span("3"), _span("3-5"), _span("well-known")
    ((3, 3), (3, 5), None)
    """
    first, dash, last = part.partition("-")
    ends = read_count(first), read_count(last if dash else first)
    return None if ends[0] is None or ends[1] is None else (ends[0], ends[1])
