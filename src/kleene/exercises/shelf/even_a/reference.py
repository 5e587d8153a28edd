"""Which words `even_a` has to accept."""


def reference(word: str) -> bool:
    return word.count("a") % 2 == 0
