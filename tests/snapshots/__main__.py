"""`python -m tests.snapshots [-k words]` takes the snapshots again, or those whose names have the words."""

import os
import sys
from pathlib import Path

import pytest

from tests.snapshots.storing import REWRITE

if __name__ == "__main__":
    os.environ[REWRITE] = "1"
    here = str(Path(__file__).parent)
    sys.exit(pytest.main([here, "-n", "0", "-p", "no:cacheprovider", *sys.argv[1:]]))
