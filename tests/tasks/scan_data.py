"""The published data of SCAN for tests: where it is missing they are skipped, but not in continuous integration."""

import os

import pytest

from kleene.errors import InputError
from kleene.tasks.data import data_folder


def need_scan() -> None:
    """Skip the test where SCAN is not on this machine; in continuous integration it must be."""
    try:
        data_folder("scan")
    except InputError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))
