"""Numbers in sentences of pages, from the JSON files of this folder. `python docs/results/generate.py` writes them.

A sentence is some words of a page with {} in place of each number, and a function that has the numbers from the files.
Line breaks of the page do not matter. The modules `sentences_of_…` have all sentences.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from kleene_papers.interdependence import english_report

NUMBER = r"([+−]?\d(?:[\d.,]*\d)?)"  # without a unit, so that it ends in a digit


@dataclass(frozen=True)
class Sentence:
    """Words that stand in a page exactly once, and what belongs into their gaps."""

    words: str
    numbers: Callable[[], Sequence[str]]

    def filled(self, page: str) -> str:
        """The page with these numbers. Raises `ValueError` unless the words stand there once, with as many gaps."""
        found, numbers = [*self.pattern.finditer(page)], self.numbers()
        if len(found) != 1:
            raise ValueError(f"it stands {len(found)} times in its page")
        if len(numbers) != self.pattern.groups:
            raise ValueError(f"it has {self.pattern.groups} gaps and {len(numbers)} numbers")
        for gap in range(len(numbers), 0, -1):
            start, end = found[0].span(gap)
            page = f"{page[:start]}{numbers[gap - 1]}{page[end:]}"
        return page

    @property
    def pattern(self) -> re.Pattern[str]:
        """The words, with a group for each gap."""
        words = (NUMBER.join(map(re.escape, word.split("{}"))) for word in self.words.split())
        return re.compile(r"\s+".join(words))


def filled(page: str, sentences: Iterable[Sentence]) -> tuple[str, list[str]]:
    """The page with the numbers of these sentences, and what is wrong with those that cannot be filled."""
    problems = []
    for sentence in sentences:
        try:
            page = sentence.filled(page)
        except (ValueError, LookupError, StopIteration) as error:  # words or files are not as its function needs them
            problems.append(f"{sentence.words!r}: {error!r}")
    return page, problems


def agreed(numbers: Iterable[str]) -> str:
    """The number that these all are. Raises `ValueError` where they differ, because their sentence has one for all."""
    found = {*numbers}
    if len(found) != 1:
        raise ValueError(f"it has one number for {', '.join(sorted(found))}")
    return found.pop()


signed = partial(english_report.signed, digits=2)
