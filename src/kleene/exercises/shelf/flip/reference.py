"""The tape that `flip` has to leave."""


def reference(word: str) -> str:
    return word.translate(str.maketrans("01", "10"))
