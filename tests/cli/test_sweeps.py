"""`kleene sweep`: its words, what it shows while it runs, and clusters that do not answer as they should."""

import sys
import time

import pytest
import ray
from rich.console import Console

from kleene.cli import sweeps
from kleene.errors import InputError
from kleene.sweeping import cluster
from kleene.sweeping.sweep import Status

STATUS = Status(cells=200, done=40, running=25, failed=2, aside=1, share=0.31, seconds_left=125.0)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("sweep a.toml --ray", "sweep a.toml --ray local"),
        ("sweep --ray a.toml", "sweep --ray local a.toml"),
        ("sweep a.toml --ray host:6379 --json", "sweep a.toml --ray host:6379 --json"),
        ("sweep a.toml --json", "sweep a.toml --json"),
        ("run --ray", "run --ray"),
        ("", ""),
    ],
)
def test_ray_without_an_address_is_a_cluster_here(words, meant):
    assert sweeps.spelled_out(words.split()) == meant.split()


def test_a_terminal_shows_a_table():
    console = Console(width=100)
    with console.capture() as captured:
        console.print(sweeps._table(STATUS))
    head, row = captured.get().splitlines()
    assert head.split() == ["done", "running", "failed", "set", "aside", "iterations", "time", "left"]
    assert row.split() == ["40", "of", "200", "25", "2", "1", "31%", "2", "min"]


def test_a_log_gets_a_line_a_minute(capsys, monkeypatch):
    clock = iter([0.0, 1.0, 59.0, 60.0, 60.0, 61.0, 121.0, 121.0])
    monkeypatch.setattr(sweeps.time, "monotonic", lambda: next(clock))
    show = sweeps._lines()
    for _ in range(5):
        show(STATUS)
    line = "kleene: done 40 of 200, running 25, failed 2, set aside 1, iterations 31%, time left 2 min"
    assert capsys.readouterr().err.splitlines() == [line, line]


def test_a_time_that_is_not_known_yet_is_said_so():
    unknown = Status(cells=1, done=0, running=1, failed=0, aside=0, share=0.0, seconds_left=None)
    assert sweeps._facts(unknown)["time left"] == "unknown"


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (
            RuntimeError("Version mismatch: cluster started with Ray: 2.9\nPython: 3.9"),
            "another version of Ray",
        ),
        (ConnectionError("refused"), "could not be reached: refused"),
    ],
)
def test_a_cluster_that_does_not_fit_is_refused_with_its_reason(monkeypatch, raised, words):
    def init(**options):
        raise raised

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(cluster, "_check_answers", lambda address: None)
    with pytest.raises(InputError, match=words):
        cluster.connected("host:6379")


def test_a_cluster_that_never_answers_is_given_up(monkeypatch):
    monkeypatch.setattr(ray, "init", lambda **options: time.sleep(30))
    monkeypatch.setattr(cluster, "_check_answers", lambda address: None)
    monkeypatch.setattr(cluster, "ANSWER", 0.1)
    with pytest.raises(InputError, match="did not answer within"):
        cluster.connected("host:6379")


def test_a_missing_ray_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'kleene\[sweeps\]'"):
        cluster.connected(None)
