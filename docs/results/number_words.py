"""What the numbers of all claims share: a list in words, and the type of what a claim has."""

from collections.abc import Iterable

Numbers = dict[str, str]  # `paper` and `ours`, or one of them


def listed(parts: Iterable[str]) -> str:
    return "; ".join(parts)
