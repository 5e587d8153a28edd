"""Pools of new processes: what a script without a guard is told, and that nothing is left running."""

import operator
import subprocess
import sys
import time

import pytest

from kleene.spawning import spawned_pool

UNGUARDED = """
from kleene.errors import KleeneError
from {module} import {name}

try:
    {call}
except KleeneError as error:
    print(error)
"""
CALLS = {
    "a probe": ("kleene.sweeping.probing", "probe_elsewhere", "probe_elsewhere([None])"),
    "random programs": ("kleene.compiling.alta.fuzzing", "fuzz", "fuzz(4, workers=2)"),
}


@pytest.mark.parametrize("what", CALLS)
def test_a_script_that_a_new_process_cannot_import_is_told_so_and_does_not_hang(what, tmp_path):
    module, name, call = CALLS[what]
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED.format(module=module, name=name, call=call))
    found = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=True)
    assert "if __name__ == '__main__':" in found.stdout


def test_what_is_left_is_cancelled_when_the_block_ends():
    began = time.monotonic()
    with spawned_pool(1, "sleeps") as pool:
        assert pool.submit(operator.add, 1, 2).result() == 3
        left = [pool.submit(time.sleep, 1) for _ in range(20)]
    assert sum(future.cancelled() for future in left) >= 15
    assert time.monotonic() - began < 60
