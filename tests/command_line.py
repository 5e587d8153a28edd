"""Calling the command line in a test, and what a refusal looks like."""

import json
from typing import NamedTuple


class Result(NamedTuple):
    """What a call came to."""

    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def assert_refused(result: Result, *told: str) -> None:
    """Bad input is one message on stderr, without a traceback, and exit status 2."""
    assert result.status == 2
    assert result.out == ""
    assert result.err.startswith("kleene: ")
    assert len(result.err.splitlines()) == 1
    assert "an error of Kleene's own" not in result.err
    for words in told:
        assert words in result.err
