"""Which words a network takes together, on the command line: the matrix, its picture, and what words in focus say."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kleene.commands.sentences import read_sentence
from kleene.counts import read_count
from kleene.errors import InputError

METHODS = ("interdependence", "erasure", "gradient")
LIKELIEST = 8  # next words that are shown
NUMBER = 4  # characters that a number takes in the table, with the space after it


@dataclass(frozen=True)
class Explained:
    """A sentence, the numbers of its pairs of words, and what the words in focus say, if some are."""

    words: list[str]
    unknown: list[int]
    matrix: np.ndarray
    facts: dict[str, Any]
    heads: list[int] | None = None
    focus: dict[str, Any] | None = None

    @property
    def marked(self) -> list[str]:
        """The words, with a star at those that the model does not know."""
        return [word + "*" * (place in self.unknown) for place, word in enumerate(self.words)]

    @property
    def title(self) -> str:
        method, at, step = (self.facts[name] for name in ("method", "at", "step"))
        if method != "interdependence":
            return f"Interaction by {'erasure' if method == 'erasure' else 'gradient × input'}"
        when = "" if step is None else " after the last word" if step == "last" else f" after word {step}"
        return f"Interdependence at the {'hidden state' if at == 'hidden' else 'logits'}{when}"

    @property
    def note(self) -> str:
        """Which words were read as `<unk>`."""
        words = dict.fromkeys(self.words[place] for place in self.unknown)
        return f"* read as <unk>: {', '.join(words)}" if words else ""

    def draw(self, path: str) -> Path:
        from kleene.pictures.interdependence import heat_map

        return heat_map(self.marked, self.matrix, path, heads=self.heads, title=self.title, note=self.note)

    def as_json(self) -> dict[str, Any]:
        rows = [[float(value) if np.isfinite(value) else None for value in row] for row in self.matrix]
        found = {"words": self.words, "unknown": self.unknown} | self.facts | {"matrix": rows}
        optional = {"heads": self.heads, "focus": self.focus}
        return found | {name: value for name, value in optional.items() if value is not None}

    def tables(self, width: int) -> list[Any]:
        """What is printed: the matrix, the note on unknown words, and the words that the focus makes likely.

        Columns are headed by words if these fit into the width, else by numbers; if they do not fit either, the matrix
        is cut into blocks of columns.
        """
        from rich.text import Text

        left = len(str(len(self.words))) + max(map(len, self.marked)) + 2
        by_words = left + sum(max(len(word) + 1, NUMBER) for word in self.marked) <= width
        most = len(self.words) if by_words else max(1, (width - left) // NUMBER)
        blocks = np.array_split(np.arange(len(self.words)), -(-len(self.words) // most))
        note = [Text(self.note, style="dim")] if self.note else []
        found = [self._block(block.tolist(), by_words) for block in blocks] + note
        return found + ([] if self.focus is None else [self._likeliest()])

    def _block(self, places: list[int], by_words: bool) -> Any:
        from rich.table import Table
        from rich.text import Text

        table = Table("" if by_words else "#", "", box=None, padding=(0, 1, 0, 0), header_style="bold")
        for place in places:
            table.add_column(Text(self.marked[place] if by_words else str(place)), justify="right")
        for row, word in enumerate(self.marked):
            largest = np.nanmax(self.matrix[row], initial=0)
            cells = [_cell(value, bool(value == largest)) for value in self.matrix[row, places]]
            table.add_row(Text(str(row), style="dim"), Text(word, style="bold"), *cells)
        return table

    def _likeliest(self) -> Any:
        from rich.table import Table
        from rich.text import Text

        assert self.focus is not None
        said = ", ".join(self.words[place] for place in self.focus["positions"])
        last = self.words[self.focus["step"]]
        title = Text(f"\nWhat would come after {last!r}, going by: {said}", style="not italic")
        heads = ("next word", "P by focus", "P by all", "logit", "= focus", "+ the rest", "+ bias")
        table = Table(title=title, title_justify="left", box=None, header_style="bold")
        for place, head in enumerate(heads):
            table.add_column(head, justify="right" if place else "left")
        for row in self.focus["next"]:
            chances = [f"{row[name]:.3f}" for name in ("by_focus", "by_all")]
            parts = [f"{row[name]:+.2f}" for name in ("logit", "focus", "rest", "bias")]
            table.add_row(Text(str(row["word"])), *chances, *parts)
        return table


def explain_named(
    text: str | None,
    *,
    model: str | None,
    method: str,
    at: str | None,
    step: str | None,
    layer: int | None,
    focus: str | None,
    heads: str | None,
    conllu: str | None,
) -> Explained:
    """A text, or a sentence of a treebank file, explained by a network in a file, or by the one that ships."""
    _check_method(method, at=at, step=step, layer=layer)
    sentence, tree = read_sentence(text, heads=heads, conllu=conllu)
    network = _network(model)
    tokens, unknown = _tokens(network, sentence)
    words = [str(token) for token in tokens]
    if tree is not None and len(tree) != len(words):
        raise InputError(f"--heads has {len(tree)} numbers, and the sentence has {len(words)} words; give one for each")
    when = _step(step)
    positions = None if focus is None else _positions(focus, words)
    if positions is not None and len(getattr(network, "decoder_bias", ())) != len(network.alphabet):
        raise InputError("--focus asks for the next word, and this network is no language model; leave it out")
    return Explained(
        words=words,
        unknown=unknown,
        matrix=_matrix(network, tokens, method, at or "hidden", when, layer),
        facts={"model": model or "grammar", "method": method, "at": at or "hidden", "step": when, "layer": layer},
        heads=tree,
        focus=None if positions is None else _said_by(network, tokens, positions, when),
    )


def check_plot(path: str) -> None:
    """Refuse a file that no picture can be written to."""
    if Path(path).suffix not in (".svg", ".png", ".pdf"):
        raise InputError(f"--plot is {path!r}; give a file that ends with .svg, .png or .pdf")


def _check_method(method: str, **given: Any) -> None:
    if method not in METHODS:
        raise InputError(f"--method is {method!r}; there are {', '.join(METHODS)}")
    named = next((name for name, value in given.items() if value is not None), None)
    if method != "interdependence" and named:
        raise InputError(
            f"--{named} is for --method interdependence; {method} is taken at the top layer's hidden state, when the "
            f"later word has been read"
        )


def _network(path: str | None) -> Any:
    from kleene.explaining.sentences import checked_model
    from kleene.machines.loading import load
    from kleene.machines.pretrained import grammar_model
    from kleene.machines.rnn.simple_rnn import SimpleRNN

    network = grammar_model() if path is None else load(path)
    if isinstance(network, SimpleRNN) and network.is_exact:
        network = network.to_float()
    try:
        return checked_model(network)
    except InputError as error:
        raise InputError(f"the network in {path!r} cannot be explained: {error}") from None


def _tokens(network: Any, sentence: str | list[str]) -> tuple[list[Any], list[int]]:
    """The tokens of a sentence, and the places of those that the model reads as `<unk>`."""
    from kleene.explaining.sentences import read_sentences, words_of

    spelled = {str(token): token for token in network.alphabet}  # tokens may be numbers
    tokens = [spelled.get(str(word), word) for word in words_of(network, sentence)]
    read_sentences(network, [tokens])  # refuses what cannot be read
    known = set(network.alphabet)
    return tokens, [place for place, token in enumerate(tokens) if token not in known]


def _matrix(network: Any, tokens: list[Any], method: str, at: Any, step: Any, layer: int | None) -> np.ndarray:
    if method == "interdependence":
        from kleene.explaining import interdependence

        return interdependence(network, tokens, at=at, step=step, layer=layer)
    from kleene.explaining.baselines import erasure, gradient_times_input

    return (erasure if method == "erasure" else gradient_times_input)(network, tokens)


def _step(step: str | None) -> Any:
    if step is None or step == "last":
        return step
    place = read_count(step)
    if place is not None:
        return place
    raise InputError(f"--step is {step!r}; give the number of a word, counted from 0, or last")


def _positions(focus: str, words: list[str]) -> list[int]:
    """The positions that a focus names: numbers, or words that occur once."""
    found = []
    for part in focus.replace(",", " ").split():
        places = [place for place, word in enumerate(words) if word == part]
        place = read_count(part)
        if place is not None:
            places = [place]
        if len(places) > 1:
            raise InputError(f"--focus has the word {part!r}, which is at {places}; give the position that you mean")
        if not places or places[0] >= len(words):
            raise InputError(
                f"--focus has {part!r} in it, and the sentence has {len(words)} words: give some of them, or "
                f"positions 0..{len(words) - 1}"
            )
        found += places
    if not found:
        raise InputError("--focus is empty; give words of the sentence, or their positions, counted from 0")
    return sorted(set(found))


def _said_by(network: Any, tokens: list[Any], positions: list[int], step: Any) -> dict[str, Any]:
    """The words that are likeliest to come next by the words in focus, and how each one's logit is made up."""
    from kleene.explaining import decompose

    after = len(tokens) - 1 if step in (None, "last") else step
    found = decompose(network, tokens, positions)
    mine, rest, bias = found.logits[after], found.irrelevant_logits[after], np.asarray(network.decoder_bias)
    logits, by_focus = mine + rest + bias, found.probabilities[after]
    by_all = np.exp(logits - logits.max())
    columns = {"by_focus": by_focus, "by_all": by_all / by_all.sum(), "logit": logits}
    columns |= {"focus": mine, "rest": rest, "bias": bias}
    best = np.argsort(-by_focus, kind="stable")[:LIKELIEST]
    rows = [{"word": network.alphabet[i]} | {name: float(part[i]) for name, part in columns.items()} for i in best]
    return {"positions": positions, "step": after, "next": rows}


def _cell(value: float, largest: bool) -> Any:
    """Two decimals without the 0 before them, so that many fit side by side."""
    from rich.text import Text

    if np.isnan(value):
        return Text("·", style="dim")
    shown = f"{value:.2f}".removeprefix("0") if value < 1 else f"{value:.1f}"
    return Text(shown, style="bold" if largest else "")
