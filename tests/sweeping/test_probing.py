"""Probes run in a process of their own."""

import subprocess
import sys

UNGUARDED = """
from kleene.errors import KleeneError
from kleene.sweeping.probing import probe_elsewhere

try:
    probe_elsewhere([None])
except KleeneError as error:
    print(error)
"""


def test_a_script_that_a_new_process_cannot_import_is_told_so_and_does_not_hang(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    found = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=True)
    assert "if __name__ == '__main__':" in found.stdout
