"""Snapshots hold what a user gets, so annotations are not checked meanwhile; the other tests check them."""

import pytest

from tests.typechecking import paused


@pytest.fixture(autouse=True)
def as_a_user_runs_it():
    with paused():
        yield
