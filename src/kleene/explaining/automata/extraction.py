"""The verb `extract`: a finite automaton from a recurrent network, by its hidden vectors or by its answers."""

import json
from dataclasses import dataclass, replace
from functools import singledispatch
from pathlib import Path
from typing import Any

from kleene import kinds, naming
from kleene.compiling import compile
from kleene.errors import InputError
from kleene.explaining.automata.lstar import Watcher, learn
from kleene.explaining.automata.reachable import NOT_REGULAR, reachable_automaton
from kleene.explaining.automata.textbook import textbook_automaton
from kleene.machines.turing_rnn.turing_rnn import TuringRNN
from kleene.pictures.figures import ENDINGS as PICTURES
from kleene.programs.automata.storage import ENDINGS, check_ending
from kleene.traces.markup import html_text

MOST_SHOWN = 40  # states; the table of a larger automaton is not printed


def extract(network: Any, method: str = "reachable", **options: Any) -> Any:
    """The finite automaton that a recurrent network computes.

    "reachable" (Chiang's notes, Theorem 4.6) follows every hidden vector that a word can reach and returns an
    equivalent `DFA`; the weights must be exact integers. With SLU units it always ends. A ReLU network that counts
    reaches ever more vectors, and is refused at `max_states`. "textbook" returns the automaton as the notes write it,
    with all 2^d + 1 states for d SLU units. "lstar" asks a network of any kind, also a trained one,
    which words it accepts, and returns a report whose `dfa` is what it learned.

    >>> from kleene.compiling.automata import compile_dfa
    >>> from kleene.programs.automata import DFA
    >>> even = DFA.from_regex("(0|10*1)*")
    >>> extract(compile_dfa(even)).equivalent(even)
    True
    """
    _refuse_turing(network)
    if method == "reachable":
        return reachable_automaton(network, **options)
    if method == "textbook":
        return textbook_automaton(network, **options)
    if method == "lstar":
        return learn(network, **options)
    raise InputError(f"there is no extraction method {method!r}; the methods are 'reachable', 'textbook' and 'lstar'")


@singledispatch
def _refuse_turing(network: Any) -> None:
    """Refuse a network for which no method can work."""


@_refuse_turing.register
def _(network: TuringRNN) -> None:
    raise InputError(NOT_REGULAR)


@dataclass(frozen=True, repr=False)
class Extracted:
    """An automaton, the learner's report if it was learned, the file that holds it, and a note on what went wrong.

    It prints as the report and the automaton's table.
    """

    dfa: Any
    report: Any = None
    file: str | None = None
    note: str | None = None

    def __repr__(self) -> str:
        learned = "" if self.report is None else f", learned, agreement {self.report.agreement:.2%}"
        return f"Extracted({len(self.dfa.states)} states over {' '.join(self.dfa.alphabet)}{learned})"

    def __str__(self) -> str:
        found = f"{len(self.dfa.states)} states over {' '.join(self.dfa.alphabet)}"
        table = str(self.dfa) if len(self.dfa.states) <= MOST_SHOWN else "(save it with -o to see its table)"
        lines = [str(self.report or found), table, *([] if self.file is None else [f"wrote {self.file}"])]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.dfa._repr_html_() + html_text(self)

    def as_json(self) -> dict[str, Any]:
        facts = {"report": None if self.report is None else self.report.as_json(), "file": self.file, "note": self.note}
        found = {"states": len(self.dfa.states), "automaton": json.loads(self.dfa.to_json())}
        return found | {name: value for name, value in facts.items() if value is not None}

    def minimised(self) -> "Extracted":
        """The smallest automaton of the language; if that fails, the present one with a note."""
        try:
            return replace(self, dfa=self.dfa.minimise())
        except (KeyboardInterrupt, MemoryError, RecursionError) as error:
            why = "that was interrupted" if isinstance(error, KeyboardInterrupt) else "it needs too much memory"
            return replace(self, note=f"the automaton of {len(self.dfa.states):,} states is not minimised: {why}")

    def draw(self, path: str) -> Path:
        """Draw the automaton's diagram and return the path."""
        from kleene.pictures.diagrams import diagram  # matplotlib is loaded for pictures only

        return diagram(self.dfa.graph()).save(path)

    def saved(self, path: str) -> "Extracted":
        """Save or draw the automaton, as the path's ending says; one that is too large to draw is saved as JSON."""
        if Path(path).suffix in ENDINGS:
            return replace(self, file=str(self.dfa.save(path)))
        from kleene.pictures.diagrams import MANY  # matplotlib is loaded for pictures only

        if len(self.dfa.states) <= MANY:
            return replace(self, file=str(self.draw(path)))
        kept = str(self.dfa.save(f"{path}.json"))
        note = (
            f"a diagram of {len(self.dfa.states):,} states cannot be read, and {MANY} is the limit: {kept!r} has the "
            f"automaton. To draw it all the same: kleene view dfa:{kept} --force -o {path}"
        )
        return replace(self, file=kept, note=note)


def extraction(
    network: Any,
    method: str = "reachable",
    *,
    minimise: bool = False,
    max_states: int | None = None,
    seed: int = 0,
    output: str | None = None,
    progress: Watcher | None = None,
) -> Extracted:
    """`extract` with a report that shows itself, minimised on request, and saved to or drawn in `output`.

    `network` may also be a program, which is compiled, or the name of either as on the command line. For the method
    "textbook" an automaton is compiled with SLU units, which that method needs, and otherwise with ReLU.

    >>> from kleene.compiling.automata import compile_dfa
    >>> from kleene.programs.automata import DFA
    >>> extraction(compile_dfa(DFA.from_regex("(0|10*1)*")), minimise=True)
    Extracted(2 states over 0 1)
    """
    check_output(output)
    options: dict[str, Any] = {} if max_states is None else {"max_states": max_states}
    named = naming.subject_of(network)
    subject = _compiled(named, method) if named.is_program else named.subject
    found = _extracted(subject, method, options, seed, progress)
    if minimise:
        if output is not None and Path(output).suffix in ENDINGS:
            found = found.saved(output)  # so that it is kept if minimising fails
        found = found.minimised()
    return found if output is None else found.saved(output)


def _compiled(named: naming.Found, method: str) -> Any:
    saturating = method == "textbook" and named.kind is kinds.AUTOMATA
    return compile(named.subject, **({"activation": "slu"} if saturating else {}))


def check_output(path: str | None) -> None:
    """Refuse a file name that is for neither an automaton nor a picture, before the extraction starts."""
    if path is not None:
        check_ending(Path(path), (*ENDINGS, *PICTURES))


def _extracted(network: Any, method: str, options: dict[str, Any], seed: int, progress: Any) -> Extracted:
    if method != "lstar":
        return Extracted(extract(network, method, **options))
    report = extract(network, "lstar", seed=seed, progress=progress, **options)
    return Extracted(report.dfa, report)
