"""Ours: what each way in which training an NRAM may differ from the paper's changes (`nram_lesson`), on two tasks."""

from pathlib import Path
from typing import Any

from kleene.pictures.plots import grouped_bars
from kleene.teaching.lessons import lesson
from kleene.teaching.memories import VARIANTS
from kleene.teaching.plan import Plan
from kleene_papers.stored import Result
from kleene_papers.study import Size, Study, Trained, Trial
from kleene_papers.tables import Table
from kleene_papers.traces.nram import NRAM, SWEPT, mean_errors

COMPARED = ("modules", "corners", "single_hint", "full")


def taught(task: str, size: Size, iterations: int | None = None, first_seed: int = 0) -> Trial:
    """An NRAM is taught a task in each variant, with four kinds of hints."""
    schedule: dict[str, Any] = {"seeds": 20 if size == "full" else 4, "first_seed": first_seed}
    plans = tuple(
        Plan.grid(lesson(task, variant=variant), kinds=COMPARED, strengths=(40.0,), iterations=iterations, **schedule)
        for variant in VARIANTS
    )
    return Trial(plans, {task: {kind: NRAM[task][kind] for kind in COMPARED}}, errors_of_variants, swept=True)


def errors_of_variants(found: Trained) -> dict[str, Any]:
    """The mean error over all tests in % by task, variant and kind of hint."""
    errors: dict[str, dict[str, dict[str, float]]] = {}
    for report in found.reports:
        facts = report.plan.lesson.facts()
        errors.setdefault(facts["name"], {})[facts["variant"]] = mean_errors(report.settings())
    lines = [
        f"{task}, {variant}: " + ", ".join(f"{kind} {error:.1f}%" for kind, error in found.items())
        for task, variants in errors.items()
        for variant, found in variants.items()
    ]
    return {"errors": errors, "summary": lines}


def tables_of_variants(result: Result) -> list[Table]:
    """Errors in % and runs that generalise, by what differs from the paper's training."""
    ((task, errors),) = result["errors"].items()
    rows, left = [], iter(result.rows)  # a row for each variant and kind
    for variant, found in errors.items():
        rows.append([variant, *(f"{found[kind]:.1f} ({next(left)['generalised']})" for kind in found)])
    paper = result.paper[task]
    rows.append(["paper's numbers", *(f"{paper[kind]:.1f}" for kind in COMPARED)])
    return [Table([task, *COMPARED], rows, "errors by variant")]


def draw_variants(result: Result, path: Path) -> Path:
    """Draw a group of bars for each kind of hint, with a bar for the paper and for each variant; return the path."""
    ((task, errors),) = result["errors"].items()
    bars = {"paper's numbers": [result.paper[task][kind] for kind in COMPARED]}
    bars |= {f"ours, {variant}": [found[kind] for kind in COMPARED] for variant, found in errors.items()}
    return grouped_bars([f"{kind}\n{task}" for kind in COMPARED], bars, path, up="% wrong", title=result.shows)


def _study(task: str, name: str, **given: Any) -> Study:
    return Study(
        f"ours-{name}",
        f"errors of an NRAM on {task} in % by how training differs from the paper's (ours)",
        tables_of_variants,
        draw_variants,
        lambda size, **options: taught(task, size, **options),
        takes=SWEPT,
        formerly=name,
        **given,
    )


STUDIES = (
    _study("increment", "nram-deviations", quick="445 s by the clock", full="1,190 s beside other work on 2 cores"),
    _study("permute", "nram-deviations-permute", full="1,905 s beside other work on 2 cores"),
)
