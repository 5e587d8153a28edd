"""Small programs that look at the mean of numbers."""

from kleene.programs import alta


def mean_program(values, outputs=None, **options):
    """The output says which half of the declared values the mean of the whole input is nearest to."""
    told = sorted(outputs or values)

    def mlp(z):
        z["high"] = 1 if z["mean"] >= told[len(told) // 2] else 0

    variables = {
        "x": alta.numeric_var(options.pop("declared", values), input_init_fn=lambda token: values[token]),
        "same": alta.var(1),
        "high": alta.var(2),
    }
    spec = None if outputs is None else alta.numeric_var(outputs)
    heads = {"mean": alta.qkv("same", "same", "x", output_spec=spec)}
    return alta.program_spec(variables, heads, mlp, "high", len(values), name="mean", **options)
