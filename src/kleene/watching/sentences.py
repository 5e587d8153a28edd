"""What the page of a language model shows: how much each pair of words interacts, and the likeliest next words."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kleene.explaining.words.explanation import explain
from kleene.running import Outcome
from kleene.traces import Trace
from kleene.watching.columns import packed
from kleene.watching.cutting import Cut
from kleene.watching.document import ViewParts
from kleene.watching.states import word_parts

LIKELIEST = 8  # next words that are shown


def parts(outcomes: Sequence[Outcome], cut: Cut, program: Any | None) -> ViewParts:
    """The view of a sentence, or for an acceptor that of a word. Of the trace of a sentence only the words are kept,
    unless channels are named: a model's predictions are a number for every word that it knows."""
    outcome = outcomes[0]
    if outcome.trace.output_name == "accepting":
        return word_parts(outcomes, cut, program)
    found = explain(outcome.subject, list(outcome.input))
    following = likeliest(outcome.trace, cut)
    word, share = following[-1][0] if following[-1] else ("", 0.0)
    more = {
        "words": found.marked,
        "note": " ".join(part for part in (found.note, found.warning) if part),
        "measure": found.title,
        "matrix": packed(np.asarray(found.matrix, dtype=np.float64)),
        "next": following,
    }
    return ViewParts(view="sentence", step="word", channels=("word",), answer=f"{word} ({share:.2f})", more=more)


def likeliest(trace: Trace, cut: Cut) -> list[list[list[Any]]]:
    """The likeliest next words after each step, with their probabilities; none where the model predicts nothing, as a
    Transformer does before the first word."""
    labels, steps = trace.channel("next").labels, cut.step_range(trace.steps)
    found = []
    for probabilities in trace["next"][steps.start : steps.stop]:
        best = np.argsort(-probabilities, kind="stable")[: 0 if np.isnan(probabilities).any() else LIKELIEST]
        found.append([[labels[i] if labels else str(i), round(float(probabilities[i]), 4)] for i in best.tolist()])
    return found
