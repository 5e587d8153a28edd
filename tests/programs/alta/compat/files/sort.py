"""Sorting distinct numbers in ALTA's style: count the smaller ones by a set of keys, then fetch by rank.

Nothing says which values `first` can have: the program is only interpreted.
"""

from kleene.programs.alta import compat as pb

BEGIN = 0
NUMBERS = 12


def _up_to(token):
    return frozenset(range(token + 1))


def build(values=None, generate_rules=False):
    variables = {
        "number": pb.input_var(NUMBERS),
        "place": pb.position_var(NUMBERS),
        "step": pb.var(2),
        "smaller": pb.set_var(range=NUMBERS, values=frozenset(map(_up_to, range(NUMBERS))), input_init_fn=_up_to),
        "first": pb.numeric_var(position_init_fn=lambda i: float(i == 0), values=values),
        "rank": pb.var(NUMBERS),
        "sorted": pb.var(NUMBERS),
    }
    shares = None if values is None else pb.numeric_var(values=tuple(1 / n for n in range(1, NUMBERS + 1)))
    heads = {
        "share": pb.qkv("smaller", "number", "first", output_spec=shares),
        "mine": pb.qkv("place", "rank", "number"),
    }

    def ffn_fn(z):
        if z["step"] == 0:
            z["rank"] = round(1 / z["share"]) - 1
            z["step"] = 1
        else:
            z["sorted"] = z["mine"]

    return pb.program_spec(variables, heads, ffn_fn, "sorted", NUMBERS, NUMBERS, generate_rules=generate_rules)
