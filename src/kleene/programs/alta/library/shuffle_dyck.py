"""Are brackets balanced, where brackets of different kinds need not nest? Two layers, a dozen dimensions.

For each kind, the height at a position is the number of brackets opened so far less the number closed. Only its sign
matters, and that is the sign of the average of +1 for open and -1 for closed over all positions up to here. Layer 1
marks positions where some height is below zero, layer 2 asks whether there is a mark up to here. At each position
the prefix that ends there is

- FAILED if some height was ever below zero, because nothing that follows can repair that;
- BALANCED if all heights are zero;
- OPEN otherwise, because what follows may still balance it.
"""

from collections.abc import Sequence

from kleene.programs.alta import Program, numeric_var, program_spec, qkv, var
from kleene.programs.alta.library.counting import up_to_here

BRACKETS = "(){}"  # token 2k opens kind k, token 2k + 1 closes it
FAILED, OPEN, BALANCED = range(3)
LONGEST = 32


def one(longest: int = LONGEST) -> Program:
    """Balanced round brackets.

    >>> one().run([0, 1, 0]).output == [OPEN, BALANCED, OPEN]
    True
    """
    return _build(1, longest)


def two(longest: int = LONGEST) -> Program:
    """Balanced round and curly brackets, each kind by itself.

    >>> two().run([0, 2, 1, 3]).output == [OPEN, OPEN, OPEN, BALANCED]
    True
    """
    return _build(2, longest)


def _build(kinds: int, longest: int) -> Program:
    def step_of(kind: int):
        return lambda token: {2 * kind: 1, 2 * kind + 1: -1}.get(token, 0)

    least = 1 / longest  # no average of whole numbers over `longest` positions is nearer to zero
    so_far = up_to_here(longest)
    variables = {f"step_{k}": numeric_var(values=(-1, 0, 1), input_init_fn=step_of(k)) for k in range(kinds)}
    variables |= {"below": numeric_var(values=(0, 1)), "same": var(1), "status": var(3)}
    sign, some = numeric_var(values=(-least, 0, least)), numeric_var(values=(0, least))
    heads = {f"height_{k}": qkv("same", "same", f"step_{k}", so_far, output_spec=sign) for k in range(kinds)}
    heads |= {"ever_below": qkv("same", "same", "below", so_far, output_spec=some)}

    def check(z):
        heights = [z[f"height_{k}"] for k in range(kinds)]
        z["below"] = 1 if any(height < 0 for height in heights) else 0
        if z["ever_below"] > 0:
            z["status"] = FAILED
        elif all(height == 0 for height in heights):
            z["status"] = BALANCED
        else:
            z["status"] = OPEN

    return program_spec(
        variables, heads, check, "status", input_range=2 * kinds, position_range=longest, max_layers=2,
        name=f"shuffle_dyck_{kinds}",
    )  # fmt: skip


def reference(tokens: Sequence[int]) -> list[int]:
    """The status of each prefix, by keeping the heights."""
    heights, failed, found = [0, 0], False, []
    for token in tokens:
        heights[token // 2] += 1 - 2 * (token % 2)
        failed |= min(heights) < 0
        found.append(FAILED if failed else OPEN if any(heights) else BALANCED)
    return found
