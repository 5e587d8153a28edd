"""The pages of Neural Turing Machines and circuits in a real browser."""

import jax
import pytest

import kleene
from kleene.machines.ntm.ntm import NTM

pytestmark = pytest.mark.browser


def test_a_neural_turing_machine_shows_its_heads_and_what_they_read(tab, tmp_path):
    machine = NTM.random(3, width=4, hidden=(6, 5), key=jax.random.key(0))
    trace = machine.run([0, 1, 2], cells=5)
    tab.open(kleene.watch(machine, [0, 1, 2], cells=5).save(tmp_path / "ntm.html"))
    for step in range(1, 4):
        tab.press("ARROW_RIGHT")
        for row, name in (("readrow", "read"), ("writerow", "write")):
            assert tab.texts(f".memory .{row} td") == [
                f"{weight:.2f}" if weight >= 0.005 else "" for weight in trace[name][step]
            ]
        shown = [float(text) for text in tab.texts(".memory tbody td:last-child")[2:]]
        assert shown == pytest.approx(trace["read"][step] @ trace["tape"][step - 1], abs=0.006)
        assert tab.texts(".grid td.lit")[0] == str(trace["output"][step].argmax())


def test_a_circuit_shows_its_wires_values_and_block(tab, tmp_path):
    words = ["3", "1", "4", "1", "5", "0"]
    trace = kleene.run("increment", words).trace
    tab.open(kleene.watch("increment", words).save(tmp_path / "increment.html"))
    assert "nothing has run" in tab.text(".main")
    for step in range(1, trace.steps + 1):
        tab.press("ARROW_RIGHT")
        cells = [str(trace[name][step]) for name in ("r0", "r1")] + [str(value) for value in trace["memory"][step]]
        assert tab.texts(".grid td") == cells
        boxes = dict(zip(tab.texts(".box .boxlabel"), tab.texts(".box .boxvalue")))
        assert (boxes["r0 ="], boxes["r1 ="]) == (cells[0], cells[1])
        assert "WRITE" in boxes
        assert tab.texts(".line.wrote")[0].endswith("when - 0:\n" if trace["r1"][step - 1] == 0 else "when - !0:\n")
