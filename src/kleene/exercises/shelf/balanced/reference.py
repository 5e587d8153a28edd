"""What `balanced` has to compute."""


def reference(tokens: list) -> list:
    depth, fell = 0, False
    for bracket in tokens:
        depth += 1 if bracket == "(" else -1
        fell = fell or depth < 0
    return [depth == 0 and not fell] * len(tokens)
