"""Verbs called from eight threads at once answer as they do from one, and leave the process as it was."""

import os
import random
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import pytest

import kleene
from kleene.errors import UnknownWordsWarning
from kleene.programs import alta, rasp

THREADS = 8
PROGRAM = """
from beside import SIZE
from kleene.programs import alta

def add(z):
    print("asked for", z["a"])
    z["total"] = (z["a"] + z["b"]) % SIZE

variables = {"a": alta.input_var(SIZE), "b": alta.position_var(SIZE), "total": alta.var(SIZE)}
program = alta.program_spec(variables, {}, add, "total", SIZE, SIZE, max_layers=1)
"""


def built() -> list[int]:
    """The answer of a program whose function prints while it is asked."""

    def add(z: Any) -> None:
        print(z["a"], end="")
        z["total"] = (z["a"] + z["b"]) % 5

    variables = {"a": alta.input_var(5), "b": alta.position_var(5), "total": alta.var(5)}
    return alta.program_spec(variables, {}, add, "total", 5, 5, max_layers=1).run([1, 2, 3]).output


def mapped() -> list[int]:
    """The answer of a RASP program whose map prints while it is asked."""
    program = rasp.Map(lambda t: (print(end=""), t + 1)[1], rasp.tokens)
    return kleene.compile(program, vocab=(1, 2, 3), max_length=3).run([1, 2]).output


def taught() -> dict[str, Any]:
    """What a short training run measured, but how long it took."""
    small = {"seeds": 1, "iterations": 2, "longest": 3, "hidden": 4, "pool": 8}
    (setting,) = kleene.teach("parity_relative", machine="mlp", **small).as_json()["settings"]
    return {name: value for name, value in setting.items() if "second" not in name}


def unknown() -> str | None:
    """What is said of a sentence whose words a model does not know."""
    return kleene.explain(None, "Xyzzy plugh frobnicates qwertz").warning


def verbs(folder: Path) -> dict[str, Callable[[], Any]]:
    """What each verb answers, as plain data; `judge`, which takes minutes, is made of these."""
    folder.joinpath("own.py").write_text(PROGRAM)
    folder.joinpath("beside.py").write_text("SIZE = 5\n")
    parity = kleene.run("parity_relative", "0110").subject
    network = kleene.compile(parity)
    saved = network.save(folder / "parity.safetensors")
    ending = kleene.compile(kleene.DFA.from_regex("(0|1)*011"))
    sentence = kleene.explain(None, "The chimney sweep has sick lungs")
    mine = lambda name: folder / f"{threading.get_ident()}{name}"  # noqa: E731
    return {
        "build": built,
        "map": mapped,
        "run": lambda: kleene.run("addition", "12 34", compiled=True).output,
        "run a file": lambda: kleene.run(f"{folder / 'own.py'}:program", "1 2 3").output,
        "run jax": lambda: network.run([2, 1, 0, 1], backend="jax").output,
        "compile": lambda: kleene.compile(parity).size,
        "certify": lambda: str(kleene.certify(network)),
        "attack": lambda: kleene.attack(network, length=5, inputs=10).inputs,
        "check": lambda: kleene.check("dfa:tomita_4", samples=5, max_length=4).of,
        "extract": lambda: kleene.extract(ending).states,
        "explain": unknown,
        "draw": lambda: sentence.draw(mine(".svg")).read_bytes(),
        "export": lambda: str(kleene.export(parity, "torch", mine("-torch"))).replace(str(threading.get_ident()), ""),
        "load": lambda: kleene.load(saved).run([2, 1, 1]).output,
        "view": lambda: kleene.view("dfa:tomita_4").svg,
        "watch": lambda: kleene.watch("parity_relative", "0110").html,
        "teach": taught,
    }


def of_the_process() -> dict[str, Any]:
    """What all threads share."""
    return {
        "stdout": sys.stdout,
        "stderr": sys.stderr,
        "filters": list(warnings.filters),
        "shown by": warnings.showwarning,
        "path": list(sys.path),
        "environment": dict(os.environ),
        "matplotlib": dict(matplotlib.rcParams),
        "tracing": (sys.gettrace(), threading.gettrace()),
        "folder": os.getcwd(),
        "recursion": sys.getrecursionlimit(),
    }


def in_threads(jobs: dict[str, Callable[[], Any]]) -> list[dict[str, Any]]:
    """What each job answered in each thread, or raised; every thread has an order of its own."""
    answers: list[dict[str, Any]] = [{} for _ in range(THREADS)]
    together = threading.Barrier(THREADS)

    def work(index: int) -> None:
        order = random.Random(index).sample(sorted(jobs), len(jobs))
        together.wait()
        for name in order:
            try:
                answers[index][name] = jobs[name]()
            except BaseException as error:
                answers[index][name] = error

    threads = [threading.Thread(target=work, args=(index,)) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


@pytest.fixture
def often_switched():
    """Threads take turns every 10 microseconds."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_every_verb_answers_in_eight_threads_as_in_one(tmp_path, often_switched):
    jobs = verbs(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownWordsWarning)
        expected = {name: job() for name, job in jobs.items()}
        before = of_the_process()
        answers = in_threads(jobs)
        assert of_the_process() == before
    for answer in answers:
        assert answer.keys() == expected.keys()
        for name, value in answer.items():
            assert not isinstance(value, BaseException), (name, value)
            assert value == expected[name], name
