from kleene.programs import alta


def step(z):
    if not z["done"] and z["done_right"]:
        if z["carry_right"] and z["bit"] < 2:
            z["carry"] = z["bit"]
            z["bit"] = 1 - z["bit"]
        z["done"] = 1


plus_one = alta.program_spec(
    variables={
        "bit": alta.input_var(3),
        "carry": alta.var(2, input_init_fn=lambda token: token == 2),
        "done": alta.var(2, input_init_fn=lambda token: token == 2),
    },
    heads={"done_right": alta.v_relative("done", 1), "carry_right": alta.v_relative("carry", 1)},
    ffn_fn=step,
    output_name="bit",
    input_range=3,
    position_range=8,
    halt=alta.halt_spec("done"),
    name="plus_one",
)
