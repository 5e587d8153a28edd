"""Angluin's L*: the automaton of a trained network, learned from its answers without opening it.

The observation table and the treatment of counterexamples (Rivest and Schapire's) are aalpy's. Ours are the teacher,
which asks the network in large batches and keeps its answers, and the report. No teacher can decide whether a network
and an automaton agree on all words, so a hypothesis is tested on all short words and on many random ones.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product, takewhile
from typing import Any

import numpy as np

from kleene.errors import InputError
from kleene.limits import checked_count
from kleene.programs.automata import DFA
from kleene.traces.markup import html_text

Word = str | tuple[str, ...]  # a string if every symbol is one character
Places = tuple[int, ...]  # a word as the places of its symbols in the alphabet

SHORT = 1000  # shortest words in a test
LENGTHS = (4, 8, 16, 32)  # of random words in a test: up to 4, 5 to 8, 9 to 16, 17 to 32
DRAWN = 150  # random words of each length
WALKS = 800  # words of the W-method that test a hypothesis
FRESH = (10, 20, 40, 80)  # the lengths of the words that judge the result: up to 10, 11 to 20, and so on
EACH = 600  # words of each length, without those that were asked before


class Teacher:
    """A network that is asked about each word once."""

    def __init__(self, alphabet: tuple[str, ...], accepts_batch: Callable[[list[Word]], Any]):
        self.alphabet, self.size = alphabet, len(alphabet)
        self.answers: dict[Places, bool] = {}
        self._accepts_batch = accepts_batch
        self._asked: set[Places] = set()
        self._joined = all(len(symbol) == 1 for symbol in alphabet)

    @classmethod
    def of(cls, network: Any, alphabet: Sequence[str] | None) -> "Teacher":
        """The teacher for a network with `accepts_batch`, or for a function of a word."""
        accepts_batch = getattr(network, "accepts_batch", None)
        if accepts_batch is None and not callable(network):
            raise InputError(
                f"a {type(network).__name__} cannot be asked about words: L* learns from what has `accepts_batch`, or "
                f"from a function of a word"
            )
        symbols = tuple(getattr(network, "alphabet", ()) if alphabet is None else alphabet)
        if not symbols or not all(isinstance(symbol, str) and symbol for symbol in symbols):
            raise InputError(
                f"L* needs an alphabet of texts, and this is {symbols!r}: give `alphabet=` with a function, which has "
                f"none of its own, and name a network's tokens by texts"
            )
        return cls(symbols, accepts_batch or (lambda words: [bool(network(word)) for word in words]))

    @property
    def queries(self) -> int:
        """How many words the learner asked about."""
        return len(self._asked)

    def word(self, places: Places) -> Word:
        symbols = tuple(self.alphabet[place] for place in places)
        return "".join(symbols) if self._joined else symbols

    def ask(self, words: Sequence[Places]) -> np.ndarray:
        """Whether the network accepts each word; new words are asked in one batch."""
        new = [word for word in dict.fromkeys(words) if word not in self.answers]
        if new:
            answers = np.asarray(self._accepts_batch([self.word(word) for word in new]), dtype=bool)
            self.answers |= zip(new, answers.tolist())
        return np.array([self.answers[word] for word in words], dtype=bool)

    def members(self, words: Sequence[Places]) -> np.ndarray:
        """Whether the network accepts each of the words that the learner asks about."""
        self._asked.update(words)
        return self.ask(words)


class Tester:
    """A search for a word on which an automaton and the network differ.

    It looks first at the words of earlier tests, whose answers are known, and then at new ones.
    """

    def __init__(self, teacher: Teacher, rng: np.random.Generator):
        self.teacher, self.rng = teacher, rng
        self.codes = np.zeros((0, 0), dtype=np.int32)  # the words of all tests, one per row, padded with 0
        self.lengths, self.accepted = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)
        self._words: dict[Places, None] = {}

    @property
    def queries(self) -> int:
        """How many different words have been in a test."""
        return len(self._words)

    def counterexample(self, dfa: DFA, access: Sequence[Places], suffixes: Sequence[Places]) -> Places | None:
        """The shortest word found on which the automaton is wrong, or None.

        `access` has a word that leads to each state, and `suffixes` distinguish the states.
        """
        if not self._words:
            short = islice(all_words(self.teacher.size), SHORT)
            self._add(list(takewhile(lambda word: len(word) <= LENGTHS[-1], short)))
        known = self._wrong(dfa)
        if known is not None:
            return known
        self._add(self._drawn(access, suffixes))
        return self._wrong(dfa)

    def _drawn(self, access: Sequence[Places], suffixes: Sequence[Places]) -> list[Places]:
        """New words: random words, random continuations of access words, and words of Chow's W-method.

        In the W-method a short walk from a state is followed by a suffix that distinguishes where it led.
        """
        size, rng = self.teacher.size, self.rng
        words = random_words(size, LENGTHS, DRAWN, rng)
        tails = random_words(size, LENGTHS, DRAWN, rng)
        words += [access[start] + tail for start, tail in zip(rng.integers(len(access), size=len(tails)), tails)]
        walks = list(islice(all_words(size), 1, 1 + size + size**2))
        parts = [rng.integers(len(part), size=WALKS) for part in (access, walks, suffixes)]
        return words + [access[a] + walks[b] + suffixes[c] for a, b, c in zip(*parts)]

    def _add(self, words: list[Places]) -> None:
        new = [word for word in dict.fromkeys(words) if word not in self._words]
        self._words |= dict.fromkeys(new)
        width = max([self.codes.shape[1], *map(len, new)])
        rows = np.zeros((len(new), width), dtype=np.int32)
        for row, word in zip(rows, new):
            row[: len(word)] = word
        old = np.pad(self.codes, ((0, 0), (0, width - self.codes.shape[1])))
        self.codes = np.concatenate([old, rows])
        self.lengths = np.append(self.lengths, [len(word) for word in new]).astype(np.int64)
        self.accepted = np.append(self.accepted, self.teacher.ask(new)).astype(bool)

    def _wrong(self, dfa: DFA) -> Places | None:
        state = np.full(len(self.codes), dfa.start_code)
        for position, column in enumerate(self.codes.T):
            state = np.where(position < self.lengths, dfa.table[state, column], state)
        differ = np.flatnonzero(dfa.accepting[state] != self.accepted)
        if not len(differ):
            return None
        row = differ[int(np.argmin(self.lengths[differ]))]
        return tuple(self.codes[row, : self.lengths[row]].tolist())


def all_words(size: int) -> Iterator[Places]:
    """All words over `size` symbols, shortest first, without end."""
    length = 0
    while True:
        yield from product(range(size), repeat=length)
        length += 1


def random_words(size: int, lengths: Sequence[int], each: int, rng: np.random.Generator) -> list[Places]:
    """`each` words for each of some rising lengths: at most that long, and longer than the length before.

    Half of them prefer some symbols to others, because in many languages, such as 1*, hardly any word is accepted whose
    symbols are all equally likely.
    """
    words = []
    for shorter, longest in zip((0, *lengths), lengths):
        shares = rng.dirichlet(np.full(size, 0.5), size=each)
        shares[::2] = 1 / size
        limits = np.cumsum(shares, axis=1)[:, None, :-1]
        drawn = (rng.random((each, longest, 1)) > limits).sum(axis=2)
        words += [tuple(row[:n]) for row, n in zip(drawn.tolist(), rng.integers(shorter + 1, longest + 1, size=each))]
    return words


@dataclass(frozen=True)
class LearningProgress:
    """The state of learning, given to `progress`."""

    rounds: int
    states: int
    membership_queries: int
    equivalence_queries: int
    seconds: float


Watcher = Callable[[LearningProgress], None]


@dataclass(frozen=True, repr=False)
class LearningReport:
    """An automaton learned from a network, and how far to trust it.

    `membership_queries` counts the words that L* asked about, and `equivalence_queries` the words that tested its
    hypotheses, one hypothesis in each of `rounds`. `agreement` is the share of fresh `words`, never asked about before,
    on which automaton and network agree; `by_length` has it for words of up to 10 symbols, 11 to 20, and so on. The
    other words are the `disagreements`, shortest first. `incomplete` means that learning stopped at the limit of
    states; the automaton is then the last hypothesis within it.
    """

    dfa: DFA
    states: int
    membership_queries: int
    equivalence_queries: int
    rounds: int
    agreement: float
    words: int
    by_length: dict[int, float]
    disagreements: tuple[Word, ...]
    seconds: float
    incomplete: bool = False

    def __repr__(self) -> str:
        return f"LearningReport({self.states} states, agreement {self.agreement:.2%} of {self.words:,} words)"

    def equivalent(self, other: Any) -> bool:
        """Whether the automaton learned accepts the same words as another one, or as another extraction's."""
        return self.dfa.equivalent(other.dfa if isinstance(other, LearningReport) else other)

    def _repr_html_(self) -> str:
        return html_text(self)

    def __str__(self) -> str:
        """The report in a few lines."""
        shares = ", ".join(f"up to {length}: {share:.2%}" for length, share in self.by_length.items())
        lines = [
            f"{self.states} states, agreeing with the network on {self.agreement:.2%} of {self.words:,} fresh words",
            f"by length of word: {shares}",
            f"{self.membership_queries:,} membership queries, {self.equivalence_queries:,} words in tests, "
            f"{self.rounds} rounds, {self.seconds:.1f} s",
        ]
        if self.disagreements:
            lines.insert(2, f"they differ on {', '.join(repr(word) for word in self.disagreements[:3])}…")
        if self.incomplete:
            lines.insert(1, "incomplete: the network needs more states than the limit, give a larger max_states")
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """The report without the automaton; of the disagreements, the ten shortest."""
        kept = {name: value for name, value in vars(self).items() if name not in ("dfa", "disagreements", "by_length")}
        shown = [word if isinstance(word, str) else list(word) for word in self.disagreements[:10]]
        return kept | {"by_length": {str(n): share for n, share in self.by_length.items()}, "disagreements": shown}


def learn(
    network: Any,
    *,
    alphabet: Sequence[str] | None = None,
    max_states: int = 100,
    seed: int = 0,
    progress: Watcher | None = None,
) -> LearningReport:
    """The automaton that a network behaves like, with a report.

    `network` has an `alphabet` and `accepts_batch(words)`, or is a function from a word to a bool, given with an
    `alphabet`. Learning ends when a hypothesis passes all tests, or at `max_states`. A network that counts, or that
    makes scattered errors, has no small automaton, and its report is `incomplete`. `progress` is called in every round.

    >>> found = learn(lambda word: word.count("a") % 3 == 0, alphabet="ab")
    >>> found.states, found.agreement, found.incomplete
    (3, 1.0, False)
    """
    needed = "give 2 at least, because the first hypothesis may need them"
    max_states = checked_count(max_states, "max_states", needed, least=2)
    teacher = Teacher.of(network, alphabet)
    tester = Tester(teacher, np.random.default_rng([seed, 0]))
    rounds = Rounds(teacher, tester, max_states, progress)
    complete = rounds.run()
    fresh = random_words(teacher.size, FRESH, EACH, np.random.default_rng([seed, 1]))
    fresh = [word for word in dict.fromkeys(fresh) if word not in teacher.answers]
    same = rounds.dfa.accepts_batch([teacher.word(word) for word in fresh]) == teacher.ask(fresh)
    bins = np.searchsorted(FRESH, [len(word) for word in fresh])
    return LearningReport(
        dfa=rounds.dfa,
        states=len(rounds.dfa.states),
        membership_queries=teacher.queries,
        equivalence_queries=tester.queries,
        rounds=rounds.count,
        agreement=float(same.mean()),
        words=len(fresh),
        by_length={FRESH[b]: float(same[bins == b].mean()) for b in np.unique(bins)},
        disagreements=tuple(teacher.word(w) for w in sorted((w for w, s in zip(fresh, same) if not s), key=len)),
        seconds=time.perf_counter() - rounds.began,
        incomplete=not complete,
    )


class Rounds:
    """L* between a teacher and a tester. After `run`, `dfa` is the last hypothesis within the limit of states."""

    def __init__(
        self, teacher: Teacher, tester: Tester, max_states: int, progress: Callable[[LearningProgress], None] | None
    ):
        self.teacher, self.tester, self.max_states, self.progress = teacher, tester, max_states, progress
        self.began, self.count = time.perf_counter(), 0
        self.dfa: DFA

    def run(self) -> bool:
        """Whether learning ended before the limit of states.

        aalpy's own loop asks for one word at a time and cannot be stopped, so the loop is here. Its parts are aalpy's.
        """
        from aalpy.learning_algs.deterministic.CounterExampleProcessing import rs_cex_processing

        table, questions = _table(self.teacher)
        while True:
            while (rows := table.get_rows_to_close("shortest_first")) is not None:
                table.S += rows
                if len(table.S) > self.max_states:
                    return False
                table.update_obs_table(s_set=[(*row, symbol) for row in rows for symbol in range(self.teacher.size)])
            hypothesis: Any = table.gen_hypothesis()
            wrong = self._counterexample(hypothesis)
            if wrong is None:
                return True
            suffixes = rs_cex_processing(questions, wrong, hypothesis, suffix_closedness=False)
            table.E += suffixes
            table.update_obs_table(e_set=suffixes)

    def _counterexample(self, hypothesis: Any) -> Places | None:
        self.dfa, access = _automaton(hypothesis, self.teacher.alphabet)
        self.count += 1
        found = self.tester.counterexample(self.dfa, access, hypothesis.characterization_set)
        if self.progress is not None:
            seconds = time.perf_counter() - self.began
            asked = self.teacher.queries, self.tester.queries
            self.progress(LearningProgress(self.count, len(self.dfa.states), *asked, seconds))
        return found


def _table(teacher: Teacher) -> tuple[Any, Any]:
    """aalpy's observation table, made to ask in batches, and the system that answers single queries."""
    from aalpy.base import SUL
    from aalpy.learning_algs.deterministic.ObservationTable import ObservationTable

    class Questions(SUL):
        def query(self, word: tuple) -> list:
            return teacher.members([word]).tolist()  # aalpy uses only the last of the outputs along the word

        def pre(self) -> None: ...
        def post(self) -> None: ...
        def step(self, letter: Any) -> None: ...

    class Table(ObservationTable):
        def update_obs_table(self, s_set: list | None = None, e_set: list | None = None) -> None:
            rows = s_set or [*self.S, *self.s_dot_a()]
            teacher.members([row + suffix for row in rows for suffix in e_set or self.E])
            super().update_obs_table(s_set, e_set)  # pyright: ignore[reportArgumentType]

    questions = Questions()
    table = Table(list(range(teacher.size)), questions, "dfa")
    table.update_obs_table()
    return table, questions


def _automaton(found: Any, alphabet: tuple[str, ...]) -> tuple[DFA, list[Places]]:
    """Our automaton for aalpy's, its states named breadth first, and a shortest word that reaches each."""
    reached: dict[Any, str] = {found.initial_state: "q0"}
    access: list[Places] = [()]
    for state, word in zip(queue := [found.initial_state], access):
        for place in range(len(alphabet)):
            target = state.transitions[place]
            if target not in reached:
                reached[target] = f"q{len(reached)}"
                queue.append(target)
                access.append((*word, place))
    transitions: dict[Any, Any] = {
        (name, symbol): reached[state.transitions[place]]
        for state, name in reached.items()
        for place, symbol in enumerate(alphabet)
    }
    accept = frozenset(name for state, name in reached.items() if state.is_accepting)
    states = tuple(reached.values())
    return DFA(states=states, alphabet=alphabet, transitions=transitions, start="q0", accept=accept), access
