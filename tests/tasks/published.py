"""Published data for tests: where it is missing they are skipped, but not in continuous integration."""

import os

import pytest

from kleene.data import data_folder
from kleene.errors import InputError


def need(name: str) -> None:
    """Skip the test where a data set is not on this machine; in continuous integration it must be."""
    try:
        data_folder(name)
    except InputError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))
