from kleene.programs import alta


def step(z):
    if not z["first"]:
        z["token"] = z["left"]


copy_left = alta.program_spec(
    variables={"token": alta.input_var(3), "first": alta.position_var(2, lambda i: i == 0)},
    heads={"left": alta.v_relative("token", -1)},
    ffn_fn=step,
    output_name="token",
    input_range=3,
    position_range=8,
    name="copy_left",
)
