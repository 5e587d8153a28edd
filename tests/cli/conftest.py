from pathlib import Path

import pytest

PROGRAM_FILE = """
from kleene.programs import alta

def _carry_along(z):
    if not z["done"] and z["done_left"]:
        z["parity"] = z["parity"] ^ z["parity_left"]
        z["done"] = 1

def make():
    variables = {
        "parity": alta.input_var(2),
        "done": alta.var(2, position_init_fn=lambda i: i == 0),
    }
    heads = {"parity_left": alta.v_relative("parity", -1), "done_left": alta.v_relative("done", -1)}
    halt = alta.halt_spec("done")
    return alta.program_spec(variables, heads, _carry_along, "parity", 2, position_range=6, halt=halt, name="mine")

program = make()
number = 7

def broken():
    raise RuntimeError("nothing works")

def leaving():
    raise SystemExit(0)

def looks_off_the_edge():
    def mlp(z):
        z["bit"] = z["left"]
    heads = {"left": alta.v_relative("bit", -1)}
    return alta.program_spec({"bit": alta.input_var(2)}, heads, mlp, "bit", 2, name="edge")
"""


@pytest.fixture
def mine(tmp_path, monkeypatch) -> str:
    """A file with programs, in the folder where one stands."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(PROGRAM_FILE)
    return "mine.py"
