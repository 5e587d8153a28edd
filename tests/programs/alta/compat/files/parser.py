"""A shift-reduce parser in ALTA's style, of `S -> a | b | S x | S and S`: which rules it applied, in their order.

Written as a function and as rules. The output has one value too few for the last rule of the grammar, which only some
inputs need; pointers run past their range where the input has no end; and a cell that is both popped and pushed to
would be set twice.
"""

from kleene.programs.alta import compat as pb

WORDS = ("a", "b", "x", "and", "eos", "pad")
EOS = WORDS.index("eos")
SYMBOLS = ("none", "S", *WORDS)
GRAMMAR = (("a",), ("b",), ("S", "x"), ("S", "and", "S"))
CELLS = 8
LOOK, MARK, ACT = range(3)


def encoded(text, padding=0):
    return [WORDS.index(word) for word in [*["pad"] * padding, *text.split(), "eos"]]


def decoded(outputs):
    return [" ".join(GRAMMAR[rule - 1]) for rule in outputs if rule]


def _matched(token, *top):
    """The number of the rule, from 1, whose right side is on top of the stack; 0 for none."""
    for number, right in enumerate(GRAMMAR, 1):
        if tuple(SYMBOLS[s] for s in reversed(top[: len(right)])) == right and (len(right) < 3 or token == EOS):
            return number
    return 0


def _pointers(z, top):
    for depth in range(4):
        z[f"top_{depth}"] = max(0, top - depth)


def ffn_fn(z):
    if z["done"]:
        return
    rule = _matched(z["token"], z["symbol_1"], z["symbol_2"], z["symbol_3"])
    if rule:
        length = len(GRAMMAR[rule - 1])
        if z["place"] == z["top_0"] - length:
            z["symbol"] = SYMBOLS.index("S")
        if z["place"] == z["tree"]:
            z["applied"] = rule
        z["tree"] += 1
        _pointers(z, z["top_0"] + 1 - length)
    elif z["token"] == EOS:
        z["done"] = 1
    else:
        if z["place"] == z["top_0"]:
            z["symbol"] = SYMBOLS.index(WORDS[z["token"]])
        z["input"] += 1
        _pointers(z, z["top_0"] + 1)


def _variables(cells=CELLS, padding=0):
    return {
        "word": pb.input_var(len(WORDS)),
        "place": pb.position_var(cells),
        "done": pb.var(2),
        **{f"top_{depth}": pb.var(cells, default=max(0, padding - depth)) for depth in range(4)},
        "tree": pb.var(cells),
        "input": pb.var(cells, default=padding),
        "applied": pb.var(len(GRAMMAR)),
        "symbol": pb.var(len(SYMBOLS)),
    }


def _heads():
    heads = {"token": pb.qkv("input", "place", "word")}
    return heads | {f"symbol_{depth}": pb.qkv(f"top_{depth}", "place", "symbol") for depth in (1, 2, 3)}


def by_function():
    return pb.program_spec(_variables(), _heads(), ffn_fn, "applied", len(WORDS), CELLS, generate_rules=False)


def only(x, name, value):
    """Goes once through the loop, where the variable has the value."""
    for found in x.get(name):
        if found == value:
            yield


def _looking_rules(x):
    for number, right in enumerate(GRAMMAR, 1):
        codes = [SYMBOLS.index(symbol) for symbol in reversed(right)]
        for _ in only(x, "symbol_1", codes[0]):
            if len(codes) == 1:
                x.set("rule", number)
            for _ in only(x, "symbol_2", codes[1]) if len(codes) > 1 else ():
                if len(codes) == 2:
                    x.set("rule", number)
                for _ in only(x, "symbol_3", codes[2]) if len(codes) > 2 else ():
                    for _ in only(x, "token", EOS):
                        x.set("rule", number)
    x.set("step", MARK)


def _marking_rules(x):
    for rule, place, top in x.get("rule", "place", "top_0"):
        length = len(GRAMMAR[rule - 1]) if rule else 0
        if rule and place == top - length:
            x.set("pushed", 1)
        if rule and top - length < place < top:
            x.set("popped", 1)
    x.set("step", ACT)


def _moved(x, by):
    for depth in range(4):
        for top in x.get(f"top_{depth}"):
            x.set(f"top_{depth}", top + by)


def _acting_rules(x):
    for rule in x.get("rule"):
        if rule:
            for _ in only(x, "popped", 1):
                x.set("symbol", 0)
            for _ in only(x, "pushed", 1):
                x.set("symbol", SYMBOLS.index("S"))
            for place, tree in x.get("place", "tree"):
                if place == tree:
                    x.set("applied", rule)
            for tree in x.get("tree"):
                x.set("tree", tree + 1)
            _moved(x, 1 - len(GRAMMAR[rule - 1]))
            x.set("step", LOOK)
            continue
        for token in x.get("token"):
            if token == EOS:
                x.set("done", 1)
                continue
            for place, top in x.get("place", "top_0"):
                if place == top:
                    x.set("symbol", SYMBOLS.index(WORDS[token]))
            for input in x.get("input"):
                x.set("input", input + 1)
            _moved(x, 1)
            x.set("step", LOOK)
    for name in ("rule", "pushed", "popped"):
        x.set(name, 0)


def by_rules(cells=CELLS):
    """The input begins with three tokens of padding, so that there is always something below the stack."""
    variables = _variables(cells, padding=3)
    variables |= {"step": pb.var(3), "rule": pb.var(len(GRAMMAR) + 1), "pushed": pb.var(2), "popped": pb.var(2)}
    x = pb.MLPBuilder(variables, _heads())
    for step in x.get("step"):
        (_looking_rules, _marking_rules, _acting_rules)[step](x)
    halt = pb.halt_spec("done")
    return pb.program_spec_from_rules(variables, _heads(), x.rules, "applied", len(WORDS), cells, halt)
