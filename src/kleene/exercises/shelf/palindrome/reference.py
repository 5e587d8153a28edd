"""Which words `palindrome` has to accept."""


def reference(word: str) -> bool:
    return word == word[::-1]
