"""What `in_order` has to compute."""


def reference(tokens: list) -> list:
    return sorted(tokens)
