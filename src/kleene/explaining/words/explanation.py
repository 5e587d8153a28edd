"""The verb `explain`: which words of a sentence interact in a network, as a table, JSON or a picture."""

import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from kleene.errors import InputError, UnknownWordsWarning
from kleene.explaining.words import baselines, decomposition, pairwise
from kleene.explaining.words.parts import Decomposable, decomposable
from kleene.explaining.words.sentences import (
    Index,
    listed,
    read_sentences,
    spelled_tokens,
    unknown_warning,
    vocabulary_of,
)
from kleene.limits import read_count
from kleene.machines.pretrained import grammar_model
from kleene.machines.protocol import load
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.pictures.pages import drawn_with_tables

NUMBER = 4  # characters that a number takes in the table, with the space after it
WIDTH = 120  # characters of a line where there is no terminal
METHODS = ("interdependence", "erasure", "gradient")
LIKELIEST = 8  # next words that are shown
Named = Callable[[str], str]


@dataclass(frozen=True, repr=False)
class Explained:
    """A sentence, a number for each pair of its words, and what the words in focus predict if there are some.

    It prints as a table, in colour in a notebook, and `draw` makes a heat map of it.
    """

    words: list[str]
    unknown: list[int]
    matrix: np.ndarray
    facts: dict[str, Any]
    heads: list[int] | None = None
    focus: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"Explained({' '.join(self.words)!r}, {self.facts.get('method')!r})"

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=WIDTH, file=io.StringIO(), color_system=None)
        console.print(self)
        return console.file.getvalue().rstrip("\n")  # pyright: ignore[reportAttributeAccessIssue]

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        yield from self.tables(options.max_width)

    def _repr_html_(self) -> str:
        """The matrix as a table; larger values have darker cells."""
        top = np.nanmax(self.matrix, initial=0) or 1.0
        heads = "".join(f"<th>{escape(word)}</th>" for word in self.marked)
        rows = [f"<tr><th></th>{heads}</tr>"]
        for word, values in zip(self.marked, self.matrix):
            cells = "".join(_html_cell(value, value / top) for value in values)
            rows.append(f"<tr><th style='text-align:left'>{escape(word)}</th>{cells}</tr>")
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return f"<table><caption>{escape(self.title)}</caption>{''.join(rows)}</table>{note}"

    @property
    def marked(self) -> list[str]:
        """The words, with a star at those that the model does not know."""
        return [word + "*" * (place in self.unknown) for place, word in enumerate(self.words)]

    @property
    def title(self) -> str:
        method, at, step = (self.facts.get(name) for name in ("method", "at", "step"))
        if method in ("erasure", "gradient"):
            return f"Interaction by {'erasure' if method == 'erasure' else 'gradient × input'}"
        when = "" if step is None else " after the last word" if step == "last" else f" after word {step}"
        return f"Interdependence at the {'logits' if at == 'logits' else 'hidden state'}{when}"

    @property
    def note(self) -> str:
        """Which words were read as `<unk>`."""
        return f"* read as <unk>: {listed(self.words[place] for place in self.unknown)}" if self.unknown else ""

    @property
    def warning(self) -> str | None:
        """A warning if the model does not know most of the words, else None."""
        return unknown_warning(self.words, self.unknown)

    @property
    def page_title(self) -> str:
        """What a page about this is called."""
        return f"{self.title}: {' '.join(self.words)}"

    html_tables = _repr_html_

    @drawn_with_tables
    def draw(self, path: Any) -> Path:
        """Draw a heat map, with the arcs of the tree above it if there is one, and return the path."""
        from kleene.pictures.interdependence import heat_map  # matplotlib is loaded for pictures only

        return heat_map(self.marked, self.matrix, path, heads=self.heads, title=self.title, note=self.note)

    def as_json(self) -> dict[str, Any]:
        rows = [[float(value) if np.isfinite(value) else None for value in row] for row in self.matrix]
        found = {"words": self.words, "unknown": self.unknown, "warning": self.warning} | self.facts | {"matrix": rows}
        optional = {"heads": self.heads, "focus": self.focus}
        return found | {name: value for name, value in optional.items() if value is not None}

    def tables(self, width: int) -> list[Any]:
        """What is printed: the matrix, the note on unknown words, and the words that the focus makes likely.

        Columns have words as headings if these fit into the width, and numbers otherwise. If numbers do not fit either,
        the matrix is cut into blocks of columns.
        """
        from rich.cells import cell_len
        from rich.text import Text

        left = len(str(len(self.words))) + max(map(cell_len, self.marked)) + 2
        by_words = left + sum(max(cell_len(word) + 1, NUMBER) for word in self.marked) <= width
        most = len(self.words) if by_words else max(1, (width - left) // NUMBER)
        blocks = np.array_split(np.arange(len(self.words)), -(-len(self.words) // most))
        note = [Text(self.note, style="dim")] if self.note else []
        found = [self._block(block.tolist(), by_words) for block in blocks] + note
        return found + ([] if self.focus is None else [self._likeliest(self.focus)])

    def _block(self, places: list[int], by_words: bool) -> Any:
        """Some columns of the matrix, written line by line because rich's own table takes seconds if it is long."""
        from rich.cells import cell_len
        from rich.text import Text

        marked, numbers = self.marked, "" if by_words else "#"
        heads = [marked[place] if by_words else str(place) for place in places]
        cells = [[_cell(value) for value in row] for row in self.matrix[:, places]]
        widths = [max(map(cell_len, column)) for column in zip(heads, *cells)]
        first, second = len(str(len(marked) - 1)), max(map(cell_len, marked))
        text = Text(no_wrap=True)
        text.append(" ".join([numbers.ljust(first), " " * second, *map(_right, heads, widths)]).rstrip(), "bold")
        for row, word in enumerate(marked):
            largest = np.nanmax(self.matrix[row], initial=0)
            text.append(f"\n{row:<{first}} ", "dim")
            text.append(word + " " * (second - cell_len(word)), "bold")
            for value, shown, wide in zip(self.matrix[row, places], cells[row], widths):
                text.append(" " + _right(shown, wide), "dim" if np.isnan(value) else "bold" if value == largest else "")
        return text

    def _likeliest(self, focus: dict[str, Any]) -> Any:
        from rich.table import Table
        from rich.text import Text

        words = ", ".join(self.words[place] for place in focus["positions"])
        title = Text(f"\nWhat would come after {self.words[focus['step']]!r}, going by: {words}", style="not italic")
        heads = ("next word", "P by focus", "P by all", "logit", "= focus", "+ the rest", "+ bias")
        table = Table(title=title, title_justify="left", box=None, header_style="bold")
        for place, head in enumerate(heads):
            table.add_column(head, justify="right" if place else "left")
        for row in focus["next"]:
            chances = [f"{row[name]:.3f}" for name in ("by_focus", "by_all")]
            parts = [f"{row[name]:+.2f}" for name in ("logit", "focus", "rest", "bias")]
            table.add_row(Text(str(row["word"])), *chances, *parts)
        return table


def _cell(value: float) -> str:
    """Two decimals without the leading 0, so that many columns fit."""
    if np.isnan(value):
        return "·"
    return f"{value:.2f}".removeprefix("0") if value < 1 else f"{value:.1f}"


def _right(text: str, wide: int) -> str:
    from rich.cells import cell_len

    return " " * (wide - cell_len(text)) + text


def _html_cell(value: float, share: float) -> str:
    shade = 0.0 if np.isnan(share) else float(share)
    colours = f"background:rgba(34,94,168,{shade:.2f});color:{'white' if shade > 0.6 else 'inherit'}"
    return f"<td style='text-align:right;{colours}'>{_cell(value)}</td>"


def explain(
    model: Any,
    sentence: Any,
    *,
    method: str = "interdependence",
    at: str | None = None,
    step: Any = None,
    layer: Index | None = None,
    focus: str | Iterable[Any] | int | None = None,
    heads: Sequence[int] | None = None,
    most_words: int = 500,
    most_by_pair: int = 100,
    named: Named = "`{}`".format,
) -> Explained:
    """How much each pair of words of a sentence interacts in a network, and what the words in `focus` alone predict.

    `model` is a network that `decompose` takes, the file of one, or None for the small one that ships with Kleene.
    `focus` has words that occur once, or positions from 0. `heads` is the sentence's tree for the picture: each word's
    head from 1, and 0 for the root. A sentence of more than `most_words` words is refused; the limit is `most_by_pair`
    if each pair runs through the whole sentence. `named` spells the names of arguments in errors.

    >>> found = explain(None, "The chimney sweep has sick lungs")
    >>> found
    Explained('The chimney sweep has sick lungs', 'interdependence')
    >>> [found.words[place] for place in np.unravel_index(np.nanargmax(found.matrix), (6, 6))]
    ['has', 'sick']
    """
    _check_method(named, method, at=at, step=step, layer=layer)
    step = _step(named, step)
    network, name = _network(model)
    about = _checked(network, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownWordsWarning)  # one warning at the end instead
        tokens = spelled_tokens(about.alphabet, sentence)
        read_sentences(about, [tokens])  # refuses what cannot be read
        words = [str(token) for token in tokens]
        _check_heads(named, heads, len(words))
        fast = method == "interdependence" and step is None and about.branch_off
        _check_length(named, len(words), most_words if fast else most_by_pair, "" if fast else f"{most_words:,}")
        positions = None if focus is None else _positions(named, focus, words, about)
        found = Explained(
            words=words,
            unknown=vocabulary_of(about.alphabet).unknown(tokens),
            matrix=_matrix(network, tokens, method, at or "hidden", step, layer),
            facts={"model": name, "method": method, "at": at or "hidden", "step": step, "layer": layer},
            heads=None if heads is None else list(heads),
            focus=None if positions is None else _predicted(network, about, tokens, positions, step),
        )
    if found.warning:
        warnings.warn(found.warning, UnknownWordsWarning, stacklevel=2)
    return found


def _check_method(named: Named, method: str, **given: Any) -> None:
    if method not in METHODS:
        raise InputError(f"{named('method')} is {method!r}; there are {', '.join(METHODS)}")
    chosen = next((name for name, value in given.items() if value is not None), None)
    if method != "interdependence" and chosen:
        raise InputError(
            f"{named(chosen)} is for {named('method')} interdependence; {method} is taken at the top layer's hidden "
            f"state, when the later word has been read"
        )


def _check_heads(named: Named, heads: Sequence[int] | None, words: int) -> None:
    if heads is not None and len(heads) != words:
        raise InputError(
            f"{named('heads')} has {len(heads)} numbers, and the sentence has {words} words; give one each"
        )


def _check_length(named: Named, words: int, most: int, otherwise: str) -> None:
    """Refuse a sentence that would take very long."""
    if words > most:
        other = f"; an LSTM takes {otherwise} without {named('method')} and {named('step')}" if otherwise else ""
        raise InputError(
            f"the sentence has {words:,} words, and all its pairs can be shown for {most:,} at most{other}. Give one "
            f"sentence at a time, or ask kleene.explaining.interdependence about the `sets` that you want"
        )


def _network(model: Any) -> tuple[Any, str]:
    """The network, and its name: its file, its class, or "grammar" for the one that ships."""
    if model is None:
        return grammar_model(), "grammar"
    if isinstance(model, str | Path):
        return _floating(load(model)), str(model)
    return model, type(model).__name__


@singledispatch
def _floating(network: Any) -> Any:
    return network


@_floating.register
def _(network: SimpleRNN) -> SimpleRNN:
    return network.to_float() if network.is_exact else network


def _step(named: Named, step: Any) -> Any:
    """The step, which may have been typed: a number or "last"."""
    if not isinstance(step, str) or step == "last":
        return step
    place = read_count(step)
    if place is None:
        raise InputError(f"{named('step')} is {step!r}; give the number of a word, counted from 0, or last")
    return place


def _checked(network: Any, name: str) -> Decomposable:
    try:
        return decomposable(network)
    except InputError as error:
        if name == type(network).__name__:
            raise
        raise InputError(f"the network in {name!r} cannot be explained: {error}") from None


def _matrix(network: Any, tokens: list[Any], method: str, at: Any, step: Any, layer: Index | None) -> np.ndarray:
    if method == "interdependence":
        return pairwise.interdependence(network, tokens, at=at, step=step, layer=layer)
    return (baselines.erasure if method == "erasure" else baselines.gradient_times_input)(network, tokens)


def _positions(named: Named, focus: Any, words: list[str], about: Decomposable) -> list[int]:
    """The positions that a focus names: numbers, or words that occur once."""
    given = focus.replace(",", " ").split() if isinstance(focus, str) else focus
    given = given if isinstance(given, Iterable) else [given]
    found = []
    for part in given:
        place = read_count(str(part))
        places = [place] if place is not None else [at for at, word in enumerate(words) if word == part]
        if len(places) > 1:
            raise InputError(
                f"{named('focus')} has the word {part!r}, which is at {places}; give the position that you mean"
            )
        if not places or places[0] >= len(words):
            raise InputError(
                f"{named('focus')} has {part!r} in it, and the sentence has {len(words)} words: give some of them, or "
                f"positions 0..{len(words) - 1}"
            )
        found += places
    if not found:
        raise InputError(f"{named('focus')} is empty; give words of the sentence, or their positions, counted from 0")
    if about.decoder_bias is None or len(about.decoder_bias) != len(about.alphabet):
        raise InputError(
            f"{named('focus')} asks for the next word, and this network is no language model; leave it out"
        )
    return sorted(set(found))


def _predicted(network: Any, about: Decomposable, tokens: list[Any], positions: list[int], step: Any) -> dict[str, Any]:
    """The next words that the words in focus make likeliest, and the parts of each one's logit."""
    after = len(tokens) - 1 if step in (None, "last") else step
    found = decomposition.decompose(network, tokens, positions)
    mine, rest, bias = found.logits[after], found.irrelevant_logits[after], np.asarray(about.decoder_bias)
    logits, by_focus = mine + rest + bias, found.probabilities[after]
    by_all = np.exp(logits - logits.max())
    columns = {"by_focus": by_focus, "by_all": by_all / by_all.sum(), "logit": logits}
    columns |= {"focus": mine, "rest": rest, "bias": bias}
    best = np.argsort(-by_focus, kind="stable")[:LIKELIEST]
    rows = [{"word": about.alphabet[i]} | {name: float(part[i]) for name, part in columns.items()} for i in best]
    return {"positions": positions, "step": after, "next": rows}
