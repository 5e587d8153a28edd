from kleene.programs import alta


def step(z):
    if not z["done"] and z["done_left"]:
        z["largest"] = max(z["largest"], z["left"])
        z["done"] = 1


largest_so_far = alta.program_spec(
    variables={"largest": alta.input_var(3), "done": alta.position_var(2, lambda i: i == 0)},
    heads={"left": alta.v_relative("largest", -1), "done_left": alta.v_relative("done", -1)},
    ffn_fn=step,
    output_name="largest",
    input_range=3,
    position_range=8,
    halt=alta.halt_spec("done"),
    name="largest_so_far",
)
