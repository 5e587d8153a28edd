"""The studies of this text by name, and the functions and files that its pages use."""

from kleene_papers.judged import judged_figure, taught_algorithms, verdicts
from kleene_papers.study import Study

STUDIES: tuple[Study, ...] = (
    Study(
        name=verdicts.INTERACTIONS,
        shows=verdicts.SHOWS[verdicts.INTERACTIONS],
        tables=verdicts.interaction_tables,
        draw=judged_figure.draw,
    ),
    Study(
        name=verdicts.CIRCUITS,
        shows=verdicts.SHOWS[verdicts.CIRCUITS],
        tables=verdicts.circuit_tables,
        draw=judged_figure.draw_circuits,
    ),
    Study(
        name="ours-taught-algorithms",
        shows="interchange accuracy by way of teaching, and how much networks of known algorithm look trained",
        tables=taught_algorithms.tables,
        draw=taught_algorithms.draw,
        make=taught_algorithms.make,
        takes=("iterations",),
        quick="316 s",
        formerly="taught-algorithms",
    ),
)
WORDS = (verdicts.verdict, verdicts.agreement)
FILES = {"results/judged.html": verdicts.page_to_look_at}  # beside pages from templates
