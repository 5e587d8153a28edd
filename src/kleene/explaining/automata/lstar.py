"""Angluin's L*: the automaton of a trained network, learned from its answers without opening it.

The observation table and the treatment of counterexamples (Rivest and Schapire's) are aalpy's. Ours are the teacher,
which asks the network in batches, and the report.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.explaining.automata.teachers import Places, Teacher, Tester, Word, random_words
from kleene.limits import checked_count
from kleene.programs.automata import DFA

FRESH = (10, 20, 40, 80)  # the lengths of the words that judge the result: up to 10, 11 to 20, and so on
EACH = 600  # words of each length, without those that were asked before


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
