"""`kleene.teach`: teach a machine a task with any amount of hints, many seeds and settings at once."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax

from kleene.errors import InputError, KleeneError, ModelFileError
from kleene.pictures.figures import check_picture
from kleene.stopping import announce
from kleene.teaching import loop
from kleene.teaching.lesson import Lesson
from kleene.teaching.lessons import hint_kinds, lesson, with_policies
from kleene.teaching.plan import Learner, Plan, Progress
from kleene.teaching.reports import TeachingReport
from kleene.teaching.results import check_targets, store
from kleene.traces import Trace
from kleene.traces.markup import html_text


@dataclasses.dataclass(frozen=True, eq=False)
class Taught:
    """The result of teaching a grid of runs: the report, and every machine.

    `stored` is the file of the measurements, if they were saved; `failure` is an error if something was not saved.
    """

    plan: Plan
    lesson: Lesson
    report: TeachingReport
    learners: Learner
    stored: Path | None = None
    failure: KleeneError | None = None

    def model(self, run: int) -> Any:
        """The model of a run: the machine with its decoders."""
        return jax.tree.map(lambda leaf: leaf[run], self.learners.model)

    def machine(self, run: int) -> Any:
        """The machine of a run. Runs are numbered setting by setting: all seeds of the first, then of the next."""
        return self.lesson.machine.bare(self.model(run))

    @property
    def best(self) -> Any:
        """The machine of the most accurate run."""
        return self.machine(self.report.best_run())

    def trace(self, word: Any, run: int | None = None) -> Trace:
        """The trace of the machine of a run, by default the best, on an input."""
        return self.lesson.machine.trace(self.model(self.report.best_run() if run is None else run), word)

    def save(self, path: Any) -> Path:
        """Save the machine of the best run, and return the path."""
        _saver(self.best)(path)
        return Path(path)

    def store(self, folder: Any) -> Path:
        """Save all measurements in a folder of results, and return the path."""
        return store(self.report, folder)

    def draw(self, picture: str, path: Any) -> Path:
        """Draw one of the lesson's pictures, and return the path."""
        return _picture(self.lesson, picture)(self, path)

    def draw_heads(self, path: Any) -> Path:
        """Draw where the heads of the program and of the best run of each setting go, and return the path."""
        return self.draw("heads", path)

    def as_json(self) -> dict[str, Any]:
        return self.report.as_json() | ({} if self.stored is None else {"file": str(self.stored)})

    def __str__(self) -> str:
        return str(self.report) + ("" if self.stored is None else f"; kept in {self.stored}")

    def _repr_html_(self) -> str:
        kept = "" if self.stored is None else html_text(f"kept in {self.stored}")
        return self.report._repr_html_() + kept

    def __repr__(self) -> str:
        generalised = int(self.report.progress.tests[-1]["generalises"].sum())
        return f"<Taught {self.lesson.name}: {generalised} of {self.plan.runs} runs generalise>"


def teach(
    subject: Any,
    *,
    machine: str | None = None,
    hints: Any = None,
    density: float | Sequence[float] = 1.0,
    strength: float | Sequence[float] | None = None,
    seeds: int | None = None,
    first_seed: int = 0,
    iterations: int | None = None,
    test_every: int | None = None,
    stop_after: int | None = None,
    checkpoint: Any = None,
    results: Any = None,
    model: Any = None,
    heads: Any = None,
    on_test: Callable[[Progress], None] | None = None,
    on_plan: Callable[[Plan], None] | None = None,
    on_learners: Callable[[Progress, Learner], None] | None = None,
    **options: Any,
) -> Taught:
    """Teach every kind of hint with every density and strength, each with every seed, all at once.

    The subject is a `Lesson`, a program, an automaton, a Turing machine, a circuit, a task, or a name as on the command
    line: "copy", "dfa:(ab)*", "circuit:FILE.nram", "text:FILE", "FILE.py:NAME". `hints` are kinds of hints, or policies
    of your own: a function from a program's trace to weights, or a dict of several by name; a number is the kind
    "scattered" with that density. Other arguments default to the lesson's own. `options` are those that the lesson
    declares, such as `rate`, `batch` and `hidden`.

    `checkpoint` is a file to continue from, `results` a folder for the measurements, `model` a file for the machine of
    the best run, and `heads` a file for the picture of an NTM's heads. All paths are checked before training. If one of
    them cannot be written at the end, the others still are, and the error is the `failure` of the result.

    >>> taught = teach("dfa:tomita_1", hints="none,states", seeds=2, iterations=4, hidden=4, batch=4)
    >>> taught
    <Taught tomita_1 rnn: 0 of 4 runs generalise>
    >>> taught.best.accepts("11") in (True, False)
    True
    """
    if isinstance(hints, (int, float)) and not isinstance(hints, bool):
        hints, density = "scattered", float(hints)
    taught = lesson(subject, machine, **options)
    kinds = hint_kinds((taught.usual_hints or taught.kinds[0],) if hints is None else hints, taught.kinds)
    taught = with_policies(taught, kinds)
    plan = Plan.grid(
        taught,
        kinds=tuple(kinds),
        densities=_several(density),
        strengths=(taught.strength,) if strength is None else _several(strength),
        seeds=taught.seeds if seeds is None else seeds,
        first_seed=first_seed,
        iterations=iterations,
        test_every=test_every,
    )
    _check_kept(taught, model, heads)
    check_targets(results, {"--checkpoint": checkpoint, "--model": model, "--heads": heads})
    if on_plan is not None:
        on_plan(plan)
    progress, learners = loop.teach(
        plan, checkpoint=checkpoint, stop_after=stop_after, on_test=on_test, on_learners=on_learners
    )
    found = Taught(plan, taught, TeachingReport(plan, progress), learners)
    return _kept(found, results=results, model=model, heads=heads)


def _several(given: float | Sequence[float]) -> tuple[float, ...]:
    return (float(given),) if isinstance(given, (int, float)) else tuple(float(one) for one in given)


def _check_kept(taught: Lesson, model: Any, heads: Any) -> None:
    """Refuse a machine that cannot be saved and a picture that cannot be drawn; called before training."""
    if heads is not None:
        _picture(taught, "heads")
        check_picture(heads, "--heads")
    if model is not None:
        _saver(taught.machine.bare(jax.eval_shape(taught.fresh, jax.random.key(0))))


def _picture(taught: Lesson, name: str) -> Callable[..., Path]:
    if name not in taught.pictures:
        if name == "heads":
            raise InputError(f"{taught.name!r} is for a machine without heads; --heads is for the tasks of the NTM")
        raise InputError(f"{taught.name!r} has no picture {name!r}; it has {', '.join(taught.pictures) or 'none'}")
    return taught.pictures[name]


def _saver(machine: Any) -> Callable[[Any], Any]:
    save = getattr(machine, "save", None)
    if save is None:
        raise InputError(f"a {type(machine).__name__} has no `save`, so it cannot be kept in a file; leave --model out")
    return save


def _kept(taught: Taught, *, results: Any, model: Any, heads: Any) -> Taught:
    """Save model, results and picture where asked, and return `taught` with what was stored and what failed."""
    announce("stopped while what was learned was being kept", at_stake=True)
    steps = {"the model": (taught.save, model), "the results": (taught.store, results)}
    found, failures, cause = {}, [], None
    for what, (keep, place) in (steps | {"the picture": (taught.draw_heads, heads)}).items():
        try:
            found[what] = None if place is None else keep(place)
        except Exception as error:
            problem = str(error) if isinstance(error, KleeneError) else f"{type(error).__name__}: {error}"
            failures.append(f"{what} could not be kept ({problem})")
            cause = cause or error
    failure = ModelFileError("; ".join(failures)) if failures else None
    if failure is not None:
        failure.__cause__ = cause
    return dataclasses.replace(taught, stored=found.get("the results"), failure=failure)
