"""Which words `fourth_from_end` has to accept."""


def reference(word: str) -> bool:
    return word[-4:-3] == "a"
