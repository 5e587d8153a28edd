"""Which words `divisible_by_7` has to accept."""


def reference(word: str) -> bool:
    return int(word or "0", 2) % 7 == 0
