from kleene.programs import alta

AVERAGES = sorted({ones / length for length in range(1, 9) for ones in range(length + 1)})


def decide(z):
    z["answer"] = 1 if z["average"] > 0.5 else 0


majority = alta.program_spec(
    variables={
        "one": alta.numeric_var(values=(0, 1), input_init_fn=lambda token: token),
        "same": alta.var(1),
        "answer": alta.var(2),
    },
    heads={"average": alta.qkv("same", "same", "one", output_spec=alta.numeric_var(values=AVERAGES))},
    ffn_fn=decide,
    output_name="answer",
    input_range=2,
    position_range=8,
    name="majority",
)
