"""Theorem 4.12 of Chiang's notes: any language at all is decided by a network with one real vector, its start.

The start holds the whole language as an endless list of its words on the right stack; for an alphabet of one symbol, as
an endless row of bits. All other weights are small rationals. A real number cannot be written down, so the list is only
as long as the words so far needed. If the network reaches the end of the list before it has decided, it reports that,
the list is made longer, and the network starts again. It never takes the end of the list for an answer.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice, product
from typing import Any

from kleene.compiling.turing.compiler import end_symbol
from kleene.compiling.turing.constructions import BOTTOM, LOAD, Compact
from kleene.compiling.turing.formulas import Affine, StepFormulas
from kleene.errors import InputError, RunError
from kleene.machines.protocol import Size
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.turing_rnn.exact_execution import ExactExecution
from kleene.notation.words import Word, word_codes

Predicate = Callable[[Any], bool]
BASE = 3
BLANK, WALL, COMMA, FULL_STOP = ("blank",), ("wall",), ("comma",), ("full stop",)
FETCH, SKIP, DROP, RESTORE, ENDED = ("fetch",), ("skip",), ("drop",), ("restore",), ("ended",)
ACCEPT, REJECT, MORE = "accept", "reject", "more"


def compile_language(
    predicate: Predicate, alphabet: Sequence[str], *, longest: int | None = None, patience: int = 200_000
) -> "ListedLanguage | UnaryOracle":
    """A network that accepts the words for which the predicate holds.

    The predicate gets strings if every symbol is one character, and tuples of symbols otherwise. For a finite language
    give the length of its longest word as `longest`: its list then has an end. Without `longest`, the search for the
    next word gives up after `patience` words that are not in the language.

    >>> network = compile_language(lambda word: word == word[::-1], "ab")
    >>> [word for word in ["", "ab", "aba", "abb", "baab"] if network.accepts(word)]
    ['', 'aba', 'baab']
    """
    symbols = tuple(alphabet)
    if not symbols or len(set(symbols)) < len(symbols) or not all(isinstance(s, str) and s for s in symbols):
        raise InputError(f"the alphabet is {alphabet!r}; give one symbol or more, each of them once")
    if len(symbols) == 1:
        return UnaryOracle(predicate, symbols)
    return ListedLanguage(predicate, symbols, longest=longest, patience=patience)


def lookup_rules(alphabet: tuple[str, ...]) -> dict:
    """The rules of a machine that looks for the word left of a wall in the list right of it, written backwards.

    It fetches the next symbol of the list and compares it with the last unmarked symbol of the word. It takes a fetched
    symbol out of the tape, so the list moves up to the wall.
    """
    marked = {a: ("marked", a) for a in alphabet}
    carry = {a: ("carry", a) for a in alphabet}
    rules: dict = {(FETCH, WALL): (FETCH, WALL, "R"), (SKIP, WALL): (SKIP, WALL, "R"), (DROP, WALL): (SKIP, WALL, "R")}
    rules |= {
        (RESTORE, WALL): (FETCH, WALL, "R"),
        (FETCH, COMMA): (ENDED, None, "L"),
        (SKIP, COMMA): (RESTORE, None, "L"),
    }
    rules |= {(FETCH, FULL_STOP): (REJECT, FULL_STOP, "R")}
    rules |= {(state, BLANK): (MORE, BLANK, "R") for state in (FETCH, SKIP)}
    rules |= {(ENDED, WALL): (ENDED, WALL, "L"), (ENDED, BOTTOM): (ACCEPT, BOTTOM, "R")}
    for a, m in marked.items():
        rules |= {(FETCH, a): (carry[a], None, "L"), (FETCH, m): (FETCH, m, "R")}
        rules |= {(SKIP, a): (DROP, None, "L"), (SKIP, m): (SKIP, a, "R"), (RESTORE, m): (RESTORE, a, "R")}
        rules |= {(ENDED, m): (ENDED, m, "L"), (ENDED, a): (RESTORE, a, "R")}
        # Words are listed by length, so at the first longer one the word is not in the list.
        rules |= {(carry[a], WALL): (carry[a], WALL, "L"), (carry[a], BOTTOM): (REJECT, BOTTOM, "R")}
        rules |= {(carry[a], other): (carry[a], other, "L") for other in marked.values()}
        rules |= {(carry[a], other): (SKIP, other, "R") for other in alphabet if other != a}
        rules |= {(carry[a], a): (FETCH, m, "R")}
    return rules


class ListedLanguage:
    """A network whose start lists the language; `words` are the words listed so far."""

    def __init__(self, predicate: Predicate, alphabet: tuple[str, ...], *, longest: int | None, patience: int):
        self.predicate, self.alphabet, self.longest, self.patience = predicate, alphabet, longest, patience
        self.words: list[Sequence[str]] = []
        self.complete = False
        self._coming = self._members()
        made = Compact(
            lookup_rules(alphabet),
            inputs=alphabet,
            symbols=(*alphabet, *(("marked", a) for a in alphabet), WALL, COMMA, FULL_STOP, BLANK),
            blank=BLANK,
            end=end_symbol(alphabet),
            first=(FETCH, WALL),
            halting=(ACCEPT, REJECT, MORE),
            base=BASE,
            keeps_right=True,
        )
        self._made = made
        self._outputs = _outputs(made.halted(ACCEPT), made.halted(REJECT))
        self._halted = {made.formulas.variables["halted", state]: state for state in (ACCEPT, REJECT, MORE)}
        layers = made.formulas.step({}, self._outputs)
        self._execution = ExactExecution(self.rnn, inner=layers.recurrent, outer=layers.outer, stop=self._halted)

    @property
    def rnn(self) -> SimpleRNN:
        """The network with the list at its present length."""
        return self._made.formulas.simple_rnn(self._outputs, self._start())

    @property
    def size(self) -> Size:
        return self.rnn.size

    def accepts(self, word: Word) -> bool:
        """Whether the network accepts the word; the list grows as far as needed."""
        codes = word_codes(word, self.alphabet)
        while True:
            variables = self._made.formulas.variables
            self._execution.begin({variables[name]: value for name, value in self._start().items() if value})
            self._execution.read([*codes, len(self.alphabet)])
            while not self._execution.stopped:
                self._execution.run(len(self.alphabet), 1 << 20)
            (verdict,) = (state for k, state in self._halted.items() if self._execution.coordinates.get(k))
            if verdict != MORE:
                return verdict == ACCEPT
            self._extend()

    def _start(self) -> dict[Any, Fraction]:
        """The variables before the first symbol, with the list on the right stack."""
        listed: list[Any] = [symbol for word in self.words for symbol in (*reversed(word), COMMA)]
        listed += [FULL_STOP] if self.complete else []
        right = {("right", x): 0 for x in (*self.alphabet, COMMA, FULL_STOP)}
        for symbol in listed:
            for name in right:
                right[name] = right[name] * BASE + (BASE - 1) * (name[1] == symbol)
        over = BASE ** len(listed)
        stacks = {name: Fraction(number, over) for name, number in right.items()}
        return {LOAD: Fraction(1), ("left", BOTTOM): self._made.formulas.top_digit} | stacks

    def _extend(self) -> None:
        """List as many words again, at least 8; refuse if none is found."""
        wanted = max(8, len(self.words))
        more = list(islice(self._coming, wanted))
        self.words += more
        self.complete = self.longest is not None and len(more) < wanted
        if not more and not self.complete:
            raise RunError(
                f"none of the next {self.patience} words after {self.words[-1:] or 'the first'} is in the language, so "
                f"that its list cannot be made longer. If the language is finite, give the length of its longest word "
                f"as `longest`; else a larger `patience`."
            )

    def _members(self) -> Iterator[Sequence[str]]:
        """The words of the language, shorter ones first, until the last word or until patience ends."""
        plain, length, failed = all(len(a) == 1 for a in self.alphabet), 0, 0
        while self.longest is None or length <= self.longest:
            for symbols in product(self.alphabet, repeat=length):
                word = "".join(symbols) if plain else symbols
                if self.predicate(word):
                    failed = 0
                    yield word
                else:
                    failed += 1
                    if failed >= self.patience and self.longest is None:
                        return
            length += 1


class UnaryOracle:
    """A network of 7 units for a language over one symbol: bit n of its start is 1 if the word of length n is in it.

    The verdict comes with the end of the input; after that the output is NUL again.
    """

    def __init__(self, predicate: Predicate, alphabet: tuple[str, ...]):
        self.predicate, self.alphabet = predicate, alphabet
        self.bits: list[bool] = []
        self._formulas = formulas = StepFormulas((*alphabet, end_symbol(alphabet)), BASE)
        bits = formulas.variable("bits")
        reads, ends = (formulas.variable(LOAD) + formulas.input(symbol) - 1 for symbol in formulas.symbols)
        formulas.add(LOAD, formulas.gate(reads))
        formulas.add("bits", BASE * formulas.where(reads, bits) + (1 - BASE) * formulas.top(reads, bits))
        inside = formulas.top(ends, bits)
        formulas.add(ACCEPT, inside)
        formulas.add(REJECT, formulas.gate(ends) - inside)
        self._outputs = _outputs(formulas.variable(ACCEPT), formulas.variable(REJECT))

    @property
    def rnn(self) -> SimpleRNN:
        """The network with its present number of bits."""
        number = 0
        for bit in self.bits:
            number = number * BASE + (BASE - 1) * bit
        start = {LOAD: 1, "bits": Fraction(number, BASE ** len(self.bits))}
        return self._formulas.simple_rnn(self._outputs, start)

    @property
    def size(self) -> Size:
        return self.rnn.size

    def accepts(self, word: Word) -> bool:
        """Whether the network accepts the word; bits are added up to its length."""
        codes = word_codes(word, self.alphabet)
        plain = len(self.alphabet[0]) == 1
        for length in range(len(self.bits), len(codes) + 1):
            repeated = self.alphabet * length
            self.bits.append(bool(self.predicate("".join(repeated) if plain else repeated)))
        outputs = self.rnn.outputs([*word, self._formulas.symbols[-1]])[-1].tolist()
        if outputs not in ([1, 0, 0], [0, 1, 0]):
            raise RunError(f"the network's outputs after the word are {outputs}, neither ACC nor REJ")
        return outputs == [1, 0, 0]


def _outputs(accepted: Affine, rejected: Affine) -> list[Affine]:
    """The outputs ACC, REJ and NUL."""
    return [accepted, rejected, -1 * accepted - rejected + 1]
