"""What `rank` has to compute."""


def reference(tokens: list) -> list:
    return [sum(other < token for other in tokens) for token in tokens]
