"""SUBLEQ in ALTA's style: mem[b] -= mem[a]; jump to c where the result is not positive, and stop where c is negative.

The function asks for mem[a] with what a head has just read; the rules keep that in variables. Both set pointers past
the end of their range on paths that no sensible program takes.
"""

from kleene.programs.alta import compat as pb

LEAST, MOST = -16, 16
CELLS = 16
VALUES = MOST - LEAST + 1
FETCH, SUBTRACT, MOVE, STOP, STATES = range(5)


def encode(value):
    return value - LEAST


def decode(code):
    return code + LEAST


def _variables():
    return {
        "cell": pb.input_var(VALUES),
        "address": pb.position_var(VALUES, init_fn=encode),
        "at_a": pb.var(VALUES, default=encode(0)),
        "at_b": pb.var(VALUES, default=encode(1)),
        "at_c": pb.var(VALUES, default=encode(2)),
        "state": pb.var(STATES),
        "jump": pb.var(2),
    }


def _operands():
    return {name: pb.qkv(f"at_{name}", "address", "cell") for name in ("a", "b", "c")}


def _go_to(z, first):
    z["at_a"] = first
    z["at_b"] = first + 1
    z["at_c"] = first + 2
    z["state"] = FETCH


def ffn_fn(z):
    if z["state"] == FETCH:
        valid = decode(z["a"]) >= 0 and decode(z["b"]) >= 0
        z["state"] = SUBTRACT if valid else STOP
    elif z["state"] == SUBTRACT:
        difference = decode(z["cell_b"]) - decode(z["cell_a"])
        if z["address"] == z["b"]:
            z["cell"] = encode(difference)
        z["jump"] = int(difference <= 0)
        z["state"] = MOVE
    elif z["state"] == MOVE:
        if not z["jump"]:
            _go_to(z, z["at_a"] + 3)
        elif decode(z["c"]) < 0:
            z["state"] = STOP
        else:
            _go_to(z, z["c"])


def by_function():
    heads = _operands() | {f"cell_{name}": pb.qkv(name, "address", "cell") for name in ("a", "b")}
    halt = pb.halt_spec("state", halt_value=STOP)
    return pb.program_spec(_variables(), heads, ffn_fn, "cell", VALUES, CELLS, halt=halt, generate_rules=False)


def _moving_rules(x, first):
    for name, value in (("at_a", first), ("at_b", first + 1), ("at_c", first + 2)):
        x.set(name, value)


def _add_rules(x):
    for name in ("a", "b"):
        for code in x.get(name):
            x.set(f"kept_{name}", encode(max(0, decode(code))))
    for state in x.get("state"):
        if state == FETCH:
            for a, b in x.get("a", "b"):
                x.set("state", SUBTRACT if min(decode(a), decode(b)) >= 0 else STOP)
        elif state == SUBTRACT:
            for a, b in x.get("cell_a", "cell_b"):
                x.set("jump", int(decode(b) - decode(a) <= 0))
            for address, b in x.get("address", "b"):
                if address == b:
                    for cell, a in x.get("cell", "cell_a"):
                        x.set("cell", encode(decode(cell) - decode(a)))
            x.set("state", MOVE)
        elif state == MOVE:
            for jump in x.get("jump"):
                if not jump:
                    for first in x.get("at_a"):
                        _moving_rules(x, first + 3)
                    x.set("state", FETCH)
                    continue
                for c in x.get("c"):
                    if decode(c) >= 0:
                        _moving_rules(x, c)
                    x.set("state", FETCH if decode(c) >= 0 else STOP)


def by_rules():
    variables = _variables() | {"kept_a": pb.var(VALUES), "kept_b": pb.var(VALUES)}
    heads = _operands() | {f"cell_{name}": pb.qkv(f"kept_{name}", "address", "cell") for name in ("a", "b")}
    x = pb.MLPBuilder(variables, heads)
    _add_rules(x)
    halt = pb.halt_spec("state", halt_value=STOP)
    return pb.program_spec_from_rules(variables, heads, x.rules, "cell", VALUES, CELLS, halt)
