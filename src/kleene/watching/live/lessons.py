"""`kleene teach --watch`: a page on which the curves of a plan grow while it is taught.

After each test the page gets the loss, the accuracy and the share of seeds that generalise, for each setting, and the
heads of the best run on one word where the machine has heads.
"""

import base64
from collections.abc import Callable, Mapping
from math import ceil
from typing import Any

import jax
import numpy as np

from kleene.teaching.plan import Learner, Plan, Progress
from kleene.teaching.reports import TeachingReport, interval
from kleene.teaching.sequences import example_run, one_hot
from kleene.watching.live.board import LiveBoard
from kleene.watching.live.server import LiveServer, check_installed
from kleene.watching.live.shell import teaching_page

MOST_HEADS = 8 * 2**20  # bytes of heads that a page is sent in all
HEADS = ("read", "write")


class TeachingWatch:
    """The page of one plan: `begin` serves it, `tested` adds a test, `end` says that there will be no more."""

    def __init__(self, told: Callable[[str], None], *, port: int | None = None) -> None:
        check_installed()
        self._told, self._port = told, port
        self.board = LiveBoard()
        self._server: LiveServer | None = None
        self._plan: Plan | None = None
        self._word: list[int] | None = None
        self._sent = 0  # tests that the page has

    def begin(self, plan: Plan) -> None:
        """Serve the page of this plan, and tell its address. A port in use is refused before anything is taught."""
        self._plan = plan
        facts = facts_of_plan(plan)
        if "heads" in getattr(plan.lesson, "pictures", {}):
            self._word, program = example_run(plan.lesson)  # type: ignore[arg-type]
            cells = program.channel("read").size
            assert cells is not None
            facts["word"] = self._word
            facts["program"] = packed_heads({name: one_hot(program[name][1:], cells) for name in HEADS})
        title = f"teaching {plan.lesson.name}"
        self._server = LiveServer(self.board, lambda: teaching_page(title, facts), port=self._port)
        self._server.start()
        self._told(f"watch it at {self._server.url}")

    def tested(self, progress: Progress, learners: Learner) -> None:
        """Tell the page of the last test, and of those that a checkpoint had before it.

        A fault here does not end the teaching: the page goes without heads then.
        """
        try:
            heads = self._heads(progress, learners)
        except Exception as error:
            self._word, heads = None, None
            self._told(f"the page shows no heads from here on: {type(error).__name__}: {error}")
        self._catch_up(progress, heads)

    def end(self, progress: Progress | None = None, line: str = "") -> None:
        """Tell the page that it has everything, and stop serving."""
        if progress is not None and self._plan is not None:
            self._catch_up(progress)
        if self._server is not None:
            self.board.publish({"over": True, "line": line})
            self._server.close()

    def _catch_up(self, progress: Progress, heads: Mapping[str, Any] | None = None) -> None:
        assert self._plan is not None
        for number in range(self._sent, len(progress.tests)):
            is_last = number == len(progress.tests) - 1
            entry = {"test": facts_of_test(self._plan, progress.tests[number]), "seconds": round(progress.seconds, 1)}
            self.board.publish(entry | ({"heads": heads} if is_last and heads is not None else {}))
        self._sent = len(progress.tests)

    def _heads(self, progress: Progress, learners: Learner) -> dict[str, Any] | None:
        """The heads of the best run, at as many tests as the page has room for."""
        if self._word is None or self._plan is None:
            return None
        report = TeachingReport(self._plan, progress)
        run = report.best_run()
        model = jax.tree.map(lambda leaf: leaf[run], learners.model)
        trace = self._plan.lesson.machine.trace(model, self._word)  # type: ignore[attr-defined]
        packed = packed_heads({name: trace[name][1:] for name in HEADS})
        tests = ceil(self._plan.iterations / self._plan.test_every)
        every = ceil(tests * (len(packed["read"]) + len(packed["write"])) / MOST_HEADS)
        is_last = progress.iteration >= self._plan.iterations
        return packed | {"title": report.title(run)} if is_last or len(progress.tests) % every == 0 else None


def facts_of_plan(plan: Plan) -> dict[str, Any]:
    """What the page knows from the start: the settings by name, the seeds and the number of iterations."""
    names = []
    for setting in plan.settings:
        shown = "no hints" if setting["kind"] == "none" else setting["kind"]
        alike = [other for other in plan.settings if other["kind"] == setting["kind"]]
        names.append(shown + (f", {setting['density']:g}, λ={setting['strength']:g}" if len(alike) > 1 else ""))
    return {
        "lesson": plan.lesson.name,
        "settings": names,
        "seeds": len(plan.seeds),
        "iterations": plan.iterations,
        "test_every": plan.test_every,
    }


def facts_of_test(plan: Plan, test: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """One test: for each setting the mean of its seeds with the lowest and the highest, and the share that generalises.

    Seeds that diverged count as not generalising, and are left out of loss and accuracy.
    """
    seeds, settings = len(plan.seeds), []
    for number in range(len(plan.settings)):
        runs = slice(number * seeds, (number + 1) * seeds)
        alive, hits = test["alive"][runs], int(test["generalises"][runs].sum())
        low, high = interval(hits, seeds)
        found: dict[str, Any] = {"generalises": [_rounded(hits / seeds), _rounded(low), _rounded(high)]}
        for name in ("loss", "accuracy"):
            values = test[name][runs][alive].astype(float)
            values = values[np.isfinite(values)]
            parts = (values.mean(), values.min(), values.max()) if len(values) else (None, None, None)
            found[name] = [None if part is None else _rounded(part) for part in parts]
        settings.append(found | {"diverged": int((~alive).sum())})
    return {"iteration": int(test["iteration"]), "settings": settings}


def packed_heads(heads: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The weights of each head, step by cell, in 255ths, a byte each.

    >>> packed_heads({"read": np.array([[0.0, 1.0]])})
    {'shape': [1, 2], 'read': 'AP8='}
    """
    shape = next(iter(heads.values())).shape
    bytes_of = {name: np.rint(np.clip(array, 0, 1) * 255).astype(np.uint8).tobytes() for name, array in heads.items()}
    return {"shape": list(shape), **{name: base64.b64encode(data).decode() for name, data in bytes_of.items()}}


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
