"""Which words of a sentence belong together: a heat map over pairs of words, under the arcs of the sentence's tree."""

import math
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.pictures.figures import new_figure, save_figure, set_title
from kleene.pictures.style import INK, PLAIN, QUIET, SHADES, SMALL, letters, shortened, write_number

FEW = 12  # up to this many words, cells show their values, and labels are horizontal if they are short
CELL, LETTER = 0.27, 0.075  # inches
WIDEST = 24.0  # the largest width of all cells in inches, because memory grows with the area
LINE = 0.1  # inches that the smallest label needs; where cells are smaller, some words have no label
LONGEST = 40  # longer words are cut
SMALL_PER_INCH = 17  # letters of the note in an inch
LEVEL = 0.16  # inches that an arc rises above those that it spans
ASIDE = 0.14  # how far from the middle of its word an arc ends, so that several arcs stay distinct


def heat_map(
    words: Sequence[str],
    matrix: np.ndarray,
    path: Any,
    *,
    heads: Sequence[int] | None = None,
    title: str = "",
    note: str = "",
) -> Path:
    """Draw a number for every two words into a .svg, .png or .pdf file and return the path; NaN and infinity are blank.

    With `heads` (from 1, and 0 for the root, as in CoNLL-U), the arcs of the tree stand above, an arrow at each
    dependent. Rows and columns are the words from left to right; `note` goes below.
    """
    values = np.where(np.isfinite(matrix), matrix, np.nan)
    if values.shape != (len(words), len(words)) or (heads is not None and len(heads) != len(words)):
        also = "" if heads is None else f", and {len(heads)} heads"
        raise InputError(f"a heat map of {len(words)} words was given a matrix of shape {values.shape}{also}")
    few, longest = len(words) <= FEW, min(max(map(letters, words), default=0), LONGEST)
    flat = few and LETTER * (longest + 1) * len(words) <= WIDEST / 2  # phrases may be too long to be written flat
    cell = max(2 * CELL, LETTER * (longest + 1) * flat) if few else min(CELL, WIDEST / len(words))
    high = (CELL * 1.2 if few else cell) * len(words)
    above = 0.0 if heads is None else min(LEVEL * (max(arc_levels(heads), default=0) + 2), WIDEST / 4)
    labels = 0.3 if flat else LETTER * longest + 0.1
    figure = new_figure(cell * len(words) + LETTER * longest + 1.3, high + above + labels + 0.8)
    rows = figure.subplots(1 if heads is None else 2, 1, squeeze=False, height_ratios=_ratios(above, high))[:, 0]
    _draw_cells(figure, rows[-1], words, values, flat)
    if heads is not None:
        _draw_arcs(rows[0], heads)
    if note:
        wide = max(40, int(figure.get_figwidth() * SMALL_PER_INCH))
        lines = [fill(line, wide) for line in shortened(note).splitlines()]
        rows[-1].set_xlabel("\n".join(lines), fontsize=SMALL, color=QUIET, loc="left")
    set_title(figure, title)
    return save_figure(figure, path)


def _ratios(above: float, high: float) -> list[float]:
    return [above, high] if above else [high]


def _draw_cells(figure: Any, ax: Any, words: Sequence[str], values: np.ndarray, flat: bool) -> None:
    few, places = len(words) <= FEW, _labelled(len(words))
    shown_words = [shortened(words[n], LONGEST) for n in places]
    font = PLAIN if len(words) * LINE * 1.2 <= WIDEST else SMALL
    top = float(np.nanmax(values)) if np.isfinite(values).any() else 1.0
    # Without interpolation an SVG keeps a pixel for each cell, and a PNG has the nearest.
    shown = ax.imshow(values, cmap=SHADES, vmin=0, vmax=top or 1.0, aspect="auto", interpolation="none")
    if few:
        for (row, column), value in np.ndenumerate(values):
            if not np.isnan(value):
                write_number(ax, column, row, f"{value:.2f}", float(value / (top or 1.0)))
    ax.set_xticks(places, shown_words, fontsize=font, rotation=0 if flat else 90)
    ax.set_yticks(places, shown_words, fontsize=font)
    ax.tick_params(length=0, top=True, bottom=False, labeltop=True, labelbottom=False)
    for side in ax.spines.values():
        side.set_visible(False)
    bar = figure.colorbar(shown, ax=ax, pad=0.02, aspect=30)
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_visible(False)


def _labelled(words: int) -> range:
    """The positions of the words that label the axes: all of them where there is room.

    >>> _labelled(240), _labelled(450)
    (range(0, 240), range(0, 450, 2))
    """
    return range(0, words, math.ceil(LINE * words / WIDEST))


def _draw_arcs(ax: Any, heads: Sequence[int]) -> None:
    """Draw arcs from heads to dependents, with an arrow at the dependent, and a straight arrow at the root."""
    from matplotlib.patches import FancyArrowPatch, PathPatch
    from matplotlib.path import Path as Outline

    levels = arc_levels(heads)
    roof = max(levels, default=0) + 1
    for place, (head, level) in enumerate(zip(heads, levels)):
        start = (place, roof)
        if head:
            toward = np.sign(place - (head - 1))
            first, last = head - 1 + ASIDE * toward, place - ASIDE * toward
            # A cubic curve reaches three quarters of the height of its inner points.
            corners = [(first, 0), (first, level / 0.75), (last, level / 0.75), (last, 0)]
            curve = Outline(corners, [Outline.MOVETO, *[Outline.CURVE4] * 3])
            ax.add_patch(PathPatch(curve, fill=False, edgecolor=INK, linewidth=0.9))
            place, start = last, (last, 0.3)
        line = 0 if head else 0.9
        style = {"arrowstyle": "-|>", "mutation_scale": 7, "shrinkA": 0, "shrinkB": 0, "linewidth": line}
        ax.add_patch(FancyArrowPatch(start, (place, 0), color=INK, **style))
    ax.set_xlim(-0.5, len(heads) - 0.5)
    ax.set_ylim(0, roof + 0.1)
    ax.axis("off")


def arc_levels(heads: Sequence[int]) -> list[int]:
    """The level of the arc from each word's head: one above the arcs that it spans; 0 for the root, which has none.

    >>> arc_levels([2, 0, 5, 5, 2])
    [1, 0, 2, 1, 3]
    """
    spans = [tuple(sorted((place, head))) if head else None for place, head in enumerate(heads, start=1)]
    found = [0] * len(heads)
    for place, span in sorted(((p, s) for p, s in enumerate(spans) if s), key=lambda pair: pair[1][1] - pair[1][0]):
        inside = [
            found[other]
            for other, inner in enumerate(spans)
            if inner and other != place and span[0] <= inner[0] and inner[1] <= span[1]
        ]
        found[place] = 1 + max(inside, default=0)
    return found
