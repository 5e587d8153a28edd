"""What `rotate` has to compute."""


def reference(tokens: list) -> list:
    return [*tokens[1:], tokens[0]]
