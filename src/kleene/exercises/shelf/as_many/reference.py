"""Which words `as_many` has to accept."""


def reference(word: str) -> bool:
    return word.count("a") == word.count("b")
