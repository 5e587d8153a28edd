"""Addition digit by digit in ALTA's style, as a function and as rules."""

from kleene.programs.alta import compat as pb

BEGIN, PLUS, END, TOKENS = 10, 11, 12, 13
PLACE, ADD, LAST, READY, STEPS = range(5)


def encoded(a, b):
    width = len(str(max(a, b)))
    return [BEGIN, *map(int, str(a).zfill(width)), PLUS, *map(int, str(b).zfill(width)), END]


def decoded(outputs):
    return int("".join(map(str, outputs[:-1])))


def _variables():
    return {
        "token": pb.input_var(TOKENS),
        "step": pb.var(STEPS),
        "at_a": pb.var(2),
        "at_b": pb.var(2),
        "at_sum": pb.var(2),
        "carry": pb.var(10),
        "digit": pb.var(10),
        "yes": pb.var(var_range=2, default=1),
    }


def _heads():
    heads = {f"{name}_right": pb.v_relative(name, 1) for name in ("token", "at_a", "at_b", "at_sum")}
    return heads | {f"{name}_token": pb.qkv("yes", name, "token") for name in ("at_a", "at_b")}


def _place(z):
    if z["token"] != END:
        if z["token_right"] == PLUS:
            z["at_a"] = 1
        if z["token_right"] == END:
            z["at_b"] = 1
            z["at_sum"] = 1
    z["step"] = ADD


def _add(z):
    total = z["carry"] + z["at_a_token"] + z["at_b_token"]
    z["carry"] = total // 10
    if z["at_sum"]:
        z["digit"] = total % 10
    if z["token"] != END:
        for name in ("at_a", "at_b", "at_sum"):
            z[name] = z[name + "_right"]


def ffn_fn(z):
    if z["step"] == PLACE:
        _place(z)
    elif z["step"] == ADD:
        if z["at_a_token"] == BEGIN:
            z["step"] = LAST
        else:
            _add(z)
    elif z["step"] == LAST:
        if z["at_sum"]:
            z["digit"] = z["carry"]
        z["step"] = READY


def by_function():
    halt = pb.halt_spec("step", halt_value=READY)
    return pb.program_spec(_variables(), _heads(), ffn_fn, "digit", TOKENS, halt=halt, generate_rules=False)


def _placing_rules(x):
    for token, right in x.get("token", "token_right"):
        if token != END and right == PLUS:
            x.set("at_a", 1)
        if token != END and right == END:
            x.set("at_b", 1)
            x.set("at_sum", 1)
    x.set("step", ADD)


def _adding_rules(x, a):
    for carry, b in x.get("carry", "at_b_token"):
        total = a + b + carry
        x.set("carry", total // 10)
        for at_sum in x.get("at_sum"):
            if at_sum:
                x.set("digit", total % 10)
    for token in x.get("token"):
        if token != END:
            for name in ("at_a", "at_b", "at_sum"):
                for right in x.get(name + "_right"):
                    x.set(name, right)


def by_rules():
    variables, heads = _variables(), _heads()
    x = pb.MLPBuilder(variables, heads)
    for step in x.get("step"):
        if step == PLACE:
            _placing_rules(x)
        elif step == ADD:
            for a in x.get("at_a_token"):
                if a == BEGIN:
                    x.set("step", LAST)
                else:
                    _adding_rules(x, a)
        elif step == LAST:
            for at_sum in x.get("at_sum"):
                if at_sum:
                    for carry in x.get("carry"):
                        x.set("digit", carry)
            x.set("step", READY)
    halt = pb.halt_spec("step", halt_value=READY)
    return pb.program_spec_from_rules(variables, heads, x.rules, "digit", TOKENS, halt=halt)
