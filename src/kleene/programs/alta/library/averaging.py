"""The average of all positions up to here, used as it is: which fraction is a letter, and are brackets balanced?

Both are a layer or two deep and a few dimensions wide.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from kleene.programs.alta import Program, numeric_var, program_spec, qkv, var
from kleene.programs.alta.library.counting import up_to_here
from kleene.programs.alta.library.inputs import Brackets, letters

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
LETTER, LONGEST_WORD = "l", 16
BRACKETS = "(){}"  # token 2k opens kind k, token 2k + 1 closes it
FAILED, OPEN, BALANCED = range(3)
LONGEST_BRACKETS = 32


@cache
def fractions(longest: int = LONGEST_WORD) -> tuple[Fraction, ...]:
    """All fractions from 0 to 1 with denominators up to `longest`, in order.

    >>> [str(fraction) for fraction in fractions(3)]
    ['0', '1/3', '1/2', '2/3', '1']
    """
    return tuple(sorted({Fraction(a, b) for b in range(1, longest + 1) for a in range(b + 1)}))


def fraction_previous(letter: str = LETTER, longest: int = LONGEST_WORD) -> Program:
    """Which fraction of the tokens so far, the current one included, is a given letter? The letters are a..z as 0..25.

    A head averages a flag that is 1 at the letter, and so reads the fraction itself. The declared values are all
    fractions with denominators up to the longest input; the output is the index of the one that was read.

    >>> hello = [ALPHABET.index(letter) for letter in "hello"]
    >>> [str(fractions()[index]) for index in fraction_previous().run(hello).output]
    ['0', '0', '1/3', '1/2', '2/5']
    """
    index = {float(fraction): i for i, fraction in enumerate(fractions(longest))}
    wanted = ALPHABET.index(letter)
    variables = {
        "hit": numeric_var(values=(0, 1), input_init_fn=lambda token: token == wanted),
        "same": var(1),  # query and key of a head that selects by distance alone
        "fraction": var(len(index)),
    }
    heads = {"average": qkv("same", "same", "hit", up_to_here(longest), output_spec=numeric_var(values=index))}

    def look_up(z):
        z["fraction"] = index[z["average"]]

    return program_spec(
        variables, heads, look_up, "fraction", input_range=len(ALPHABET), position_range=longest,
        name="fraction_previous", inputs=letters(len(ALPHABET), "hello", longest),
    )  # fmt: skip


def shuffle_dyck_1(longest: int = LONGEST_BRACKETS) -> Program:
    """Are round brackets balanced?

    >>> shuffle_dyck_1().run([0, 1, 0]).output == [OPEN, BALANCED, OPEN]
    True
    """
    return _shuffle_dyck(1, longest)


def shuffle_dyck_2(longest: int = LONGEST_BRACKETS) -> Program:
    """Are round and curly brackets balanced, each kind by itself?

    >>> shuffle_dyck_2().run([0, 2, 1, 3]).output == [OPEN, OPEN, OPEN, BALANCED]
    True
    """
    return _shuffle_dyck(2, longest)


def _shuffle_dyck(kinds: int, longest: int) -> Program:
    """The status of the prefix that ends at each position; brackets of different kinds need not nest.

    For each kind, the height at a position is the number of brackets opened so far less the number closed. Only its
    sign matters, and that is the sign of the average of +1 for open and -1 for closed. Layer 1 marks positions where
    some height is below zero, layer 2 asks whether there is a mark up to here. A prefix is

    - FAILED if some height was ever below zero, because nothing that follows can repair that;
    - BALANCED if all heights are zero;
    - OPEN otherwise, because what follows may still balance it.
    """

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
        name=f"shuffle_dyck_{kinds}", inputs=_brackets(kinds, longest),
    )  # fmt: skip


def _brackets(kinds: int, longest: int) -> Brackets:
    expected, example = (("the brackets ( and )", "'(())'"), ("the brackets ( ) { and }", "'({)}'"))[kinds - 1]
    return Brackets(BRACKETS[: 2 * kinds], expected, example, longest)


def fractions_so_far(tokens: Sequence[int], letter: str = LETTER, longest: int = LONGEST_WORD) -> list[int]:
    """What `fraction_previous` gives, computed by counting."""
    wanted, known = ALPHABET.index(letter), fractions(longest)
    return [known.index(Fraction(tokens[:n].count(wanted), n)) for n in range(1, len(tokens) + 1)]


def statuses(tokens: Sequence[int]) -> list[int]:
    """What the two `shuffle_dyck` programs give, by keeping the heights."""
    heights, failed, found = [0, 0], False, []
    for token in tokens:
        heights[token // 2] += 1 - 2 * (token % 2)
        failed |= min(heights) < 0
        found.append(FAILED if failed else OPEN if any(heights) else BALANCED)
    return found
