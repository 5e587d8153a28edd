"""The published text of wikitext-2 for tests: where it is missing they are skipped, not in continuous integration."""

import os

import pytest

from kleene.errors import InputError
from kleene.tasks.data import data_folder


def need_wikitext() -> None:
    """Skip the test where wikitext-2 is not on this machine; in continuous integration it must be."""
    try:
        data_folder("wikitext-2")
    except InputError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))
