"""Parity in ALTA's style: a sequential one by absolute and by relative positions, and one by counting."""

from kleene.programs.alta import compat as pb

START = END = 2
DONE = 1


def _running(z):
    if z["done"] != DONE and z["done_before"] == DONE:
        z["bit"] = z["bit"] ^ z["bit_before"]
        z["done"] = DONE


def absolute(halting=False, longest=12, generate_rules=True):
    variables = {
        "bit": pb.input_var(2),
        "done": pb.position_var(2, init_fn=lambda i: i == 0),
        "here": pb.position_var(longest),
        "before": pb.position_var(longest, init_fn=lambda i: max(i - 1, 0)),
    }
    heads = {
        "bit_before": pb.qkv("before", "here", "bit"),
        "done_before": pb.qkv("before", "here", "done"),
    }
    return pb.program_spec(
        variables=variables,
        heads=heads,
        ffn_fn=_running,
        output_name="bit",
        input_range=2,
        position_range=longest,
        halt=pb.halt_spec("done", halt_value=DONE) if halting else None,
        generate_rules=generate_rules,
    )


def relative(halting=False, generate_rules=True):
    variables = {
        "bit": pb.input_var(2, init_fn=lambda x: 0 if x == START else x),
        "done": pb.input_var(var_range=2, init_fn=lambda x: x == START),
    }
    heads = {"bit_before": pb.v_relative("bit", -1), "done_before": pb.v_relative(value="done", position=-1)}
    return pb.program_spec(
        variables,
        heads,
        _running,
        "bit",
        3,
        halt=pb.halt_spec(halt_var="done", halt_value=DONE) if halting else None,
        generate_rules=generate_rules,
    )


def _counting_parts(longest, scale=1):
    variables = {
        "odd": pb.var(2),
        "end": pb.numeric_var(input_init_fn=lambda x: float(x == END), values=(0, 1)),
        "counted": pb.input_var(2, init_fn=lambda x: x in {1, END}),
        "one": pb.var(2, default=1),
    }
    shares = pb.numeric_var(values=tuple(sorted(scale / n for n in range(1, longest + 2))))
    return variables, {"share": pb.qkv("one", "counted", "end", output_spec=shares)}


def counting(longest=50, generate_rules=True):
    variables, heads = _counting_parts(longest)

    def ffn_fn(z):
        z["odd"] = int((round(1 / z["share"]) - 1) % 2)

    return pb.program_spec(variables, heads, ffn_fn, "odd", 3, generate_rules=generate_rules)


def counting_in_steps(longest=50):
    """The count is kept in a variable of its own, and the numbers are large."""
    scale = 1000
    variables, heads = _counting_parts(longest, scale)
    variables |= {
        "end": pb.numeric_var(values=(0, scale), input_init_fn=lambda x: scale * float(x == END)),
        "step": pb.var(2),
        "ones": pb.var(longest + 1),
    }

    def ffn_fn(z):
        if z["step"] == 0:
            z["ones"] = round(scale / z["share"]) - 1
            z["step"] = 1
        else:
            z["odd"] = int(z["ones"] % 2 != 0)

    return pb.program_spec(variables, heads, ffn_fn, "odd", 3, generate_rules=False)


def _running_rules(variables, heads):
    x = pb.MLPBuilder(variables, heads)
    for done in x.get("done"):
        if done == DONE:
            continue
        for done_before in x.get("done_before"):
            if done_before == DONE:
                x.set("done", DONE)
                for bit, bit_before in x.get("bit", "bit_before"):
                    x.set("bit", bit ^ bit_before)
    return x.rules


def absolute_rules(halting=False, longest=12):
    dense = absolute(halting, longest)
    variables = {n: dense.variables[n] for n in ("bit", "done", "here", "before")}
    heads = {"bit_before": pb.qkv("before", "here", "bit"), "done_before": pb.qkv("before", "here", "done")}
    rules = _running_rules(variables, heads)
    return pb.program_spec_from_rules(variables, heads, rules, "bit", 2, longest, dense.halt_spec)


def relative_rules(halting=False):
    dense = relative(halting)
    variables = {n: dense.variables[n] for n in ("bit", "done")}
    heads = {"bit_before": pb.v_relative("bit", -1), "done_before": pb.v_relative("done", -1)}
    rules = _running_rules(variables, heads)
    return pb.program_spec_from_rules(variables, heads, rules, "bit", 3, halt=dense.halt_spec)


def counting_rules(longest=100):
    variables, heads = _counting_parts(longest)
    x = pb.MLPBuilder(variables, heads)
    for share in x.get("share"):
        x.set("odd", (round(1 / share) - 1) % 2)
    return pb.program_spec_from_rules(variables, heads, x.rules, "odd", 3)
