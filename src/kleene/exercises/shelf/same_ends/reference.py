"""Which words `same_ends` has to accept."""


def reference(word: str) -> bool:
    return word != "" and word[0] == word[-1]
