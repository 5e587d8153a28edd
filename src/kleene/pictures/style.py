"""The style of all figures, in one place: sizes, colours, marks and the look of axes.

A panel is half a page wide, and no text is smaller than 7 points at that size. Colours are told apart by readers with
protanopia and deuteranopia (`tests/pictures/test_style.py` computes it), and every colour has its own mark.
"""

from textwrap import fill
from typing import Any
from unicodedata import category, east_asian_width

PAGE = 6.8  # inches: the width of a page's text, and of two panels
PANEL, HIGH = PAGE / 2, 2.4  # inches of one panel
SMALL, PLAIN, LARGE = 7.0, 8.0, 9.0  # points: ticks, legends and numbers in cells; axes and panels; the figure's title
PER_INCH = 13  # letters of a title in an inch
MOST_LETTERS = 500  # of one text in a figure

INK, QUIET, GRID, PAPER = "#1f2937", "#555555", "#dddddd", "#ffffff"
WRONG, GROUND, CHANGED = "#c0392b", "#f1f5f9", "#fed7aa"
# The first four are Okabe and Ito's. Their yellow, orange and light blue are too light for lines on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#222222", "#4030c0", "#805500", "#3d5a80")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "p")  # of the colours of the same number
BLUE, ORANGE = COLOURS[:2]
SHADES, PALE_SHADES = "YlGnBu", "Blues"  # of heat maps: the larger, the darker
DARK = 0.6  # share of a heat map's scale from which numbers in its cells are white
LINE, THIN, HEAVY = 1.3, 0.6, 1.4  # points: a line; a grid or an edge; what one coinciding line adds to those below it
MARK, BAND = 3.5, 0.13  # points across a mark; the opacity of a band


def colour_of(number: int) -> str:
    """The colour of a series; after the last colour they begin again."""
    return COLOURS[number % len(COLOURS)]


def mark_of(number: int) -> str:
    """The mark of a series, which differs wherever colours differ."""
    return MARKS[number % len(MARKS)]


def on_shade(share: float) -> str:
    """The colour of a number in a heat map's cell, which is dark from `DARK` of the scale."""
    return PAPER if share > DARK else INK


def dress(ax: Any, across: str, up: str, *, name: str = "", grid: bool = True) -> None:
    """Give axes their labels, with units, their panel's name and a light grid; every plot is dressed here."""
    ax.set_xlabel(across, fontsize=PLAIN, color=INK)
    ax.set_ylabel(up, fontsize=PLAIN, color=INK)
    ax.tick_params(labelsize=SMALL, which="both", colors=INK)
    if name:
        wide = ax.get_figure().get_figwidth() / ax.get_gridspec().ncols
        ax.set_title(fill(name, max(12, int(wide * PER_INCH))), fontsize=PLAIN, color=INK)
    if grid:
        ax.grid(color=GRID, linewidth=THIN)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)


def write_number(ax: Any, column: float, row: float, text: str, share: float) -> None:
    """Write a number into a heat map's cell, light where the cell is dark."""
    ax.text(column, row, text, ha="center", va="center", fontsize=SMALL, color=on_shade(share))


def shortened(text: str, most: int = MOST_LETTERS) -> str:
    """The text as a figure shows it: a long one is cut, because what a text takes to draw grows with its length.

    >>> shortened("a word", 4)
    'a w…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def letters(text: str) -> int:
    """How many letters wide a text is shown: Chinese letters and emoji count twice, combining marks not at all.

    >>> letters("word"), letters("中文"), letters("नी")
    (4, 4, 2)
    """
    text = shortened(text)
    wide = sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
    return wide - sum(category(letter) in ("Mn", "Me", "Cf") for letter in text)
