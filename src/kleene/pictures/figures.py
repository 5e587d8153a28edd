"""Figures in one style, written atomically as .svg, .png or .pdf, or as a page of HTML."""

import io
import threading
import warnings
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from textwrap import fill
from typing import Any

from kleene.errors import InputError
from kleene.files import write_atomically
from kleene.pictures.fonts import OWN, SHOWN, families_for
from kleene.pictures.hovering import with_values
from kleene.pictures.pages import figure_page, is_page
from kleene.pictures.style import COLOURS as COLOURS
from kleene.pictures.style import INK, LARGE, PER_INCH, SMALL, letters, shortened

ENDINGS = (".svg", ".png", ".pdf", ".html")
_SETTINGS = threading.Lock()  # matplotlib's settings and the filters of warnings belong to all threads
ENTRY = 0.15  # inches that a row of the legend is high


def check_picture(path: Any, name: str = "the picture's file") -> None:
    """Refuse a file name whose ending is no format of pictures; a name without an ending means SVG."""
    ending = Path(path).suffix.lower()
    if ending and ending not in ENDINGS:
        raise InputError(f"{name} is {str(path)!r}, and pictures are written as {', '.join(ENDINGS)}; give such a name")


@dataclass(frozen=True)
class Picture:
    """A picture that shows itself: as SVG in a notebook, by its title and caption in a terminal.

    `figure` makes the same picture as a matplotlib figure, for .png and .pdf files. `facts` go into `as_json`. `path`
    is the file that holds the picture, if it was saved when it was made.
    """

    title: str
    svg: str
    figure: Callable[[], Any]
    caption: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None

    def __repr__(self) -> str:
        return f"<Picture: {self.title}>"

    def __str__(self) -> str:
        return f"{self.title}\n{self.caption}" if self.caption else self.title

    def _repr_svg_(self) -> str:
        return self.svg

    @property
    def image(self) -> str:
        """The picture as an image in HTML; inside one, its styles do not change those of the page."""
        content = b64encode(self.svg.encode()).decode()
        return f'<img alt="{escape(self.title)}" src="data:image/svg+xml;base64,{content}">'

    def as_json(self) -> dict[str, Any]:
        """The file that holds the picture, if it was saved, and the facts."""
        return ({} if self.path is None else {"file": str(self.path)}) | dict(self.facts)

    def save(self, path: Any) -> Path:
        """Save the picture as the name ends: .svg, .png, .pdf or a page, .html; SVG without an ending.

        Returns the path.
        """
        check_picture(path)
        if is_page(path):
            return write_atomically(path, figure_page(self.svg, self.title))
        if Path(path).suffix.lower() in ("", ".svg"):
            return write_atomically(path, self.svg)
        return save_figure(self.figure(), path)


def new_figure(width: float, height: float) -> Any:
    """An empty figure, its size in inches; it opens no window."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def set_title(figure: Any, title: str) -> None:
    """Write a title above all panels, wrapped to the figure's width."""
    if title:
        wrapped = fill(shortened(title), max(20, int(figure.get_figwidth() * PER_INCH)))
        figure.suptitle(wrapped, fontsize=LARGE, color=INK)


def set_legend(figure: Any, handles: Mapping[str, Any]) -> None:
    """Put a legend of named handles below all panels, where it covers no line; the figure grows by its height."""
    for name, handle in handles.items():
        handle.set_label(name)  # for the values on hover
    if handles:
        one = 0.06 * max(map(letters, handles)) + 0.55  # inches of an entry
        columns = max(1, min(len(handles), int(figure.get_figwidth() / one)))
        figure.set_figheight(figure.get_figheight() + ENTRY * -(-len(handles) // columns))
        look = {"fontsize": SMALL, "frameon": False, "handlelength": 2.8, "labelcolor": INK}  # long enough for dashes
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns, **look)


def save_figure(figure: Any, path: Any) -> Path:
    """Save the figure and return the path. The same figure gives the same file."""
    check_picture(path)
    path = Path(path)
    if is_page(path):
        svg = with_values(figure, figure_bytes(figure).decode())
        return write_atomically(path, figure_page(svg, _title_of(figure)))
    ending = path.suffix.lower().removeprefix(".") or "svg"
    try:
        content = figure_bytes(figure, ending)
    except ValueError as error:
        raise InputError(f"a picture cannot be written as {path.name!r}: {error}") from None
    return write_atomically(path, content)


def figure_bytes(figure: Any, ending: str = "svg") -> bytes:
    """The figure as a file of that kind: svg, png or pdf. All its text has the fonts of `kleene.pictures.fonts`."""
    from matplotlib import rc_context
    from matplotlib.text import Text

    texts = figure.findobj(Text)
    small = {text.get_text() for text in texts if text.get_fontsize() < SMALL} - {""}
    assert not small, f"text is too small to read at half a page: {small}"
    families = [*([OWN] if ending == "svg" else families_for(text.get_text() for text in texts)), "sans-serif"]
    for text in texts:
        text.set_text(shortened(text.get_text()))
        text.set_fontfamily(families)
        text.set_parse_math(False)  # "$5 or $10" is no formula
    stream = io.BytesIO()
    # Without a date and with a fixed salt, the same figure gives the same file.
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    style: Any = {"svg.hashsalt": "kleene", "svg.fonttype": "none", "font.sans-serif": SHOWN, "font.family": families}
    with _SETTINGS, rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # `families_for` warned
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        figure.savefig(stream, format=ending, dpi=150, metadata=undated.get(ending))
    return stream.getvalue()


def _title_of(figure: Any) -> str:
    """The title above all panels, or those of the panels."""
    above = figure.get_suptitle()
    return " ".join((above or ", ".join(filter(None, (ax.get_title() for ax in figure.axes)))).split())
