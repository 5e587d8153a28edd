"""What `majority` has to compute."""


def reference(tokens: list) -> list:
    return [int(2 * sum(tokens) > len(tokens))] * len(tokens)
