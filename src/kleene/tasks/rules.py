"""Corpora of random tokens with one long-distance rule, α Q ω: after α, a reader should expect ω k tokens later.

The k tokens Q between α and ω are a scaffold, one of a fixed set. In a *familiar* corpus the scaffolds are also common
outside the rule; in an unfamiliar one they appear nowhere else. An in-domain test has the scaffolds of the training
corpus, an out-domain test has random ones. (Saphra & Lopez 2020: "LSTMs Compose (and Learn) Bottom-Up", section 4;
their "Word Interdependence Exposes How LSTMs Compose Representations" calls scaffolds conduits.)

What the papers leave to chance is exact here: α and ω appear in rules only, every rule is intact, and a scaffold
appears as often as the settings say and never by accident. Two numbers are ours, because the papers give none: a test
has `test_rules` rules, and the scaffolds share the rules evenly.
"""

from dataclasses import dataclass, fields
from itertools import count

import numpy as np
from jaxtyping import Bool, Int

from kleene.errors import InputError

ROUNDS = 200  # of redrawing tokens; a corpus with room for its scaffolds needs fewer than ten

Numbers = Int[np.ndarray, " numbers"]
Tokens = Int[np.ndarray, " tokens"]
Scaffolds = Int[np.ndarray, "scaffolds length"]


@dataclass(frozen=True)
class RuleSettings:
    """The sizes of a corpus, by default those of the papers. Sizes that do not fit together are refused.

    `length` is k, and `copies` says how often each scaffold appears outside the rule in a familiar corpus.

    >>> RuleSettings(length=16, familiar=True)
    Traceback (most recent call last):
    kleene.errors.InputError: k = 16 does not fit: 1,000 rules of 18 tokens and 100 scaffolds × 1,000 copies of 16 ...
    """

    length: int
    familiar: bool = False
    rules: int = 1_000
    tokens: int = 1_000_000
    types: int = 1_000
    scaffolds: int = 100
    copies: int = 1_000
    test_tokens: int = 50_000
    test_rules: int = 500

    @classmethod
    def quick(cls, length: int, familiar: bool = False) -> "RuleSettings":
        """Sizes for a first look: 50,000 tokens of 100 types, 10 scaffolds."""
        return cls(
            length, familiar, rules=500, tokens=50_000, types=100, scaffolds=10, copies=400, test_tokens=5_000,
            test_rules=100,
        )  # fmt: skip

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "familiar" and (not isinstance(value, int) or value < 1):
                raise InputError(f"{field.name} is {value!r}; give a whole number, 1 or more")
        if self.scaffolds > min(self.rules, self.test_rules):
            raise InputError(
                f"{self.scaffolds} scaffolds cannot all appear in {self.rules:,} rules of the training text and "
                f"{self.test_rules:,} of a test. Take fewer `scaffolds`, or more `rules` and `test_rules`."
            )
        if self.scaffolds >= self.types**self.length:
            raise InputError(
                f"{self.types} types make {self.types**self.length:,} phrases of {self.length} tokens, and "
                f"{self.scaffolds} scaffolds must leave some for the rest of the text. Take more `types`."
            )
        self._check_fit("tokens", "rules", self.scaffolds * self.copies * self.length if self.familiar else 0)
        self._check_fit("test_tokens", "test_rules", 0)

    def _check_fit(self, tokens: str, rules: str, copied: int) -> None:
        room, count = getattr(self, tokens), getattr(self, rules)
        needed = count * (self.length + 2) + copied
        if needed > room:
            also = f" and {self.scaffolds} scaffolds × {self.copies:,} copies of {self.length} tokens" if copied else ""
            raise InputError(
                f"k = {self.length} does not fit: {count:,} rules of {self.length + 2} tokens{also} are {needed:,} "
                f"tokens, and `{tokens}` is {room:,}. Take a shorter `length`, fewer `{rules}`"
                f"{' or `copies`' if copied else ''}, or more `{tokens}`."
            )

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The name of every token: w0, w1, …, α, ω."""
        return (*(f"w{i}" for i in range(self.types)), "α", "ω")


@dataclass(frozen=True, eq=False)
class RuleText:
    """A text with rules: its tokens, and where each α stands, in order."""

    tokens: Tokens
    opens: Numbers
    length: int

    @property
    def closes(self) -> Numbers:
        """Where each ω stands."""
        return self.opens + self.length + 1

    @property
    def reads(self) -> Numbers:
        """Where each ω is predicted: at the last token of the scaffold, because the output after ω is too late."""
        return self.closes - 1

    @property
    def windows(self) -> Int[np.ndarray, "rules window"]:
        """The tokens α Q ω of each rule."""
        return self.tokens[self.opens[:, None] + np.arange(self.length + 2)]


@dataclass(frozen=True, eq=False)
class RuleCorpus:
    """A training text and its two tests. The last two tokens of the vocabulary are α and ω."""

    settings: RuleSettings
    seed: int
    scaffolds: Scaffolds
    train: RuleText
    in_domain: RuleText
    out_domain: RuleText

    @property
    def vocabulary(self) -> tuple[str, ...]:
        return self.settings.vocabulary


def rule_corpus(settings: RuleSettings, *, seed: int = 0) -> RuleCorpus:
    """A corpus drawn with a seed.

    The familiar and the unfamiliar corpus of a seed have the same scaffolds and the same tests. The tests have no
    copies of scaffolds outside their rules, and the out-domain test has no scaffold of the training text at all.

    >>> corpus = rule_corpus(RuleSettings.quick(length=2), seed=1)
    >>> corpus.train.tokens.shape, corpus.in_domain.opens.shape
    ((50000,), (100,))
    >>> [corpus.vocabulary[token] for token in corpus.in_domain.windows[0, [0, -1]]]
    ['α', 'ω']
    """
    draws = np.random.default_rng(seed).spawn(4)
    scaffolds = _draw_scaffolds(draws[0], settings)
    tests = settings.types, scaffolds, settings.test_tokens, settings.test_rules
    copies = settings.copies if settings.familiar else 0
    return RuleCorpus(
        settings,
        seed,
        scaffolds,
        train=_write_text(draws[1], settings.types, scaffolds, settings.tokens, settings.rules, copies),
        in_domain=_write_text(draws[2], *tests),
        out_domain=_write_text(draws[3], *tests, random_scaffolds=True),
    )


def occurrences(tokens: Tokens, phrases: Scaffolds) -> tuple[Numbers, Numbers]:
    """Every place where one of the phrases stands, in order, and which phrase it is. The phrases are distinct."""
    length = phrases.shape[1]
    base = int(max(tokens.max(initial=0), phrases.max(initial=0))) + 1
    places = np.arange(max(len(tokens) - length + 1, 0))
    # All places and phrases walk down a prefix tree at once; most places leave it after a token or two.
    nodes, phrase_nodes = np.zeros_like(places), np.zeros(len(phrases), np.int64)
    for depth in range(length):
        children = np.full((phrase_nodes.max() + 1) * base, -1)
        edges, phrase_nodes = np.unique(phrase_nodes * base + phrases[:, depth], return_inverse=True)
        children[edges] = np.arange(len(edges))
        nodes = children[nodes * base + tokens[places + depth]]
        places, nodes = places[nodes >= 0], nodes[nodes >= 0]
    return places, np.argsort(phrase_nodes)[nodes]


def _draw_scaffolds(draw: np.random.Generator, settings: RuleSettings) -> Scaffolds:
    """Distinct phrases, if possible such that no two of them side by side contain a third across their border."""
    phrases = draw.integers(settings.types, size=(settings.scaffolds, settings.length), dtype=np.int32)
    for attempt in count(1):
        again = _repeated(phrases)
        if attempt < ROUNDS:
            again |= _between_others(phrases)
        if not again.any():
            break
        phrases[again] = draw.integers(settings.types, size=(again.sum(), settings.length))
    if settings.familiar and _between_others(phrases).any():
        raise InputError(
            f"{len(phrases)} scaffolds of {settings.length} tokens from {settings.types} types also arise where two of "
            f"them stand side by side, so that copies cannot be counted. Take more `types`, or fewer `scaffolds`."
        )
    return phrases


def _repeated(phrases: Scaffolds) -> Bool[np.ndarray, " scaffolds"]:
    """Which phrases repeat an earlier one."""
    _, firsts = np.unique(phrases, axis=0, return_index=True)
    return ~np.isin(np.arange(len(phrases)), firsts)


def _between_others(phrases: Scaffolds) -> Bool[np.ndarray, " scaffolds"]:
    """Which phrases are the end of one phrase followed by the beginning of another, or of the same."""
    rows, found = [tuple(row) for row in phrases.tolist()], np.zeros(len(phrases), bool)
    for cut in range(1, phrases.shape[1]):
        ends, beginnings = {row[-cut:] for row in rows}, {row[:-cut] for row in rows}
        found |= [row[:cut] in ends and row[cut:] in beginnings for row in rows]
    return found


def _write_text(
    draw: np.random.Generator,
    types: int,
    scaffolds: Scaffolds,
    tokens: int,
    rules: int,
    copies: int = 0,
    random_scaffolds: bool = False,
) -> RuleText:
    """A text with this many rules, their scaffolds given or random, and this many copies of each scaffold."""
    number, length = scaffolds.shape
    opens, places = _places(draw, tokens, rules, number * copies, length)
    closes, chosen = opens + length + 1, draw.permutation(np.repeat(np.arange(number), copies))
    if not random_scaffolds:
        places = np.concatenate([places, opens + 1])
        chosen = np.concatenate([chosen, draw.permutation(np.arange(rules) % number)])
    text = draw.integers(types, size=tokens, dtype=np.int32)
    text[opens], text[closes] = types, types + 1
    text[_spans(places, length)] = scaffolds[chosen]
    fixed = np.concatenate([opens, closes, _spans(places, length).ravel()])
    _redraw_accidents(draw, types, text, scaffolds, places, fixed)
    return RuleText(text, opens, length)


def _redraw_accidents(
    draw: np.random.Generator, types: int, text: Tokens, scaffolds: Scaffolds, places: Numbers, fixed: Numbers
) -> None:
    """Redraw tokens that are not fixed, in place, until scaffolds stand at their places and nowhere else."""
    wanted, free = np.zeros(len(text), bool), np.ones(len(text), bool)
    wanted[places], free[fixed] = True, False
    for _ in range(ROUNDS):
        found, _ = occurrences(text, scaffolds)
        accidents = _spans(found[~wanted[found]], scaffolds.shape[1])
        if not len(accidents):
            return
        again = accidents[free[accidents]]
        text[again] = draw.integers(types, size=len(again))
    raise InputError(
        f"{len(scaffolds)} scaffolds of {scaffolds.shape[1]} tokens from {types} types cannot be kept out of the rest "
        f"of the text: {len(accidents)} accidental ones are left. Take more `types`, or fewer `scaffolds`."
    )


def _places(draw: np.random.Generator, tokens: int, rules: int, copies: int, length: int) -> tuple[Numbers, Numbers]:
    """Where the rules and the copies begin, in order; all arrangements without overlap are equally likely."""
    others = tokens - rules * (length + 2) - copies * length
    pieces = draw.permutation(np.repeat(np.arange(3, dtype=np.int8), [others, copies, rules]))
    widths = np.array([1, length, length + 2])[pieces]
    starts = np.cumsum(widths) - widths
    return starts[pieces == 2], starts[pieces == 1]


def _spans(starts: Numbers, length: int) -> Int[np.ndarray, "starts length"]:
    return starts[:, None] + np.arange(length)
