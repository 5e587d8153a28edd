"""A trained Transformer compared with the program that taught it: what it computes, layer by layer.

Its own readings decode a trace, which may equal the program's. Beyond that, linear probes say which variables of the
program lie in its residual stream, whether or not the network was taught to say them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kleene import kinds
from kleene.errors import InputError
from kleene.explaining.networks.agreement import TraceAgreement, TraceDifference, agreement_of, check_variables
from kleene.explaining.networks.readings import StepReading, VariableReading, mean_of, readings_of
from kleene.explaining.programs.watching import program_inputs
from kleene.explaining.programs.wording import numbers_text
from kleene.notation.words import Tokens
from kleene.pictures.pages import drawn_with_tables, figure_of
from kleene.programs.alta.program import Program
from kleene.programs.alta.variables import Categorical
from kleene.traces.markup import html_table, html_text

READ = 0.99  # of the tested entries, from which a variable counts as read
PROBED = 512  # words whose residual streams are kept for the probes
DRAWN = 6  # variables in a picture


@dataclass(frozen=True, repr=False)
class ProgramComparison:
    """A network compared with its program: its decoded traces, and probes of its residual stream.

    It is true where the decoded traces of all words equal the program's.
    """

    program: str
    agreement: TraceAgreement
    readings: list[VariableReading]
    probed: int
    left_out: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.agreement.first is None

    @property
    def first(self) -> TraceDifference | None:
        """Where the traces first differ, on the shortest word on which they do; None where all are equal."""
        return self.agreement.first

    @cached_property
    def _own(self) -> dict[str, float]:
        return self.agreement.by_variable

    def __repr__(self) -> str:
        words = len(self.agreement.words)
        return f"<ProgramComparison with {self.program}: {self.agreement.entries:.1%} of entries on {words:,} words>"

    def __str__(self) -> str:
        return "\n".join([*self._trace_lines(), *self._probe_lines()])

    def _trace_lines(self) -> list[str]:
        found = self.agreement
        names = ", ".join(found.variables)
        lines = [
            f"the network's trace ({names}) on {len(found.words):,} words: {_percent(found.entries)} of its entries "
            f"are those of {self.program}; all are at {_percent(found.positions)} of positions and in "
            f"{_percent(found.whole_words)} of words",
            f"output right: {_percent(float(found.right_outputs.mean()))} of words",
            f"by layer: {_runs(list(range(len(found.by_layer))), found.by_layer)}",
        ]
        by_length = found.by_length
        lines.append(f"by length: {_runs(list(by_length), [share['entries'] for share in by_length.values()])}")
        lines.append(f"first difference: {found.first or 'none'}")
        return lines

    def _probe_rows(self) -> list[tuple[str, ...]]:
        heading = ("", "its own reading", "probe, same layer", "best layer", "untrained", "most frequent value")
        rows: list[tuple[str, ...]] = [heading]
        for reading in self.readings:
            own = self._own.get(reading.name)
            shares = [float("nan") if own is None else own, mean_of(reading.same, "accuracy"), reading.accuracy]
            shares += [mean_of(reading.best, what) for what in ("untrained", "majority")]
            rows.append((reading.name + " (head)" * reading.is_head, *map(_percent, shares)))
        return rows

    def _probe_lines(self) -> list[str]:
        rows = self._probe_rows()
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = [f"linear probes of the residual stream, on {self.probed:,} words, half of them to fit:"]
        lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        lines += [f"{reading.name}: {_where(reading.best)}" for reading in self.readings]
        if self.left_out:
            lines.append(f"not compared, because they are numbers or sets: {', '.join(self.left_out)}")
        return lines

    def _repr_html_(self) -> str:
        return figure_of(self.draw) + self.html_tables()

    @property
    def page_title(self) -> str:
        """What a page about this is called."""
        return f"A network compared with {self.program}"

    def html_tables(self) -> str:
        """The traces in words, and the probes as a table."""
        left_out = f"not compared, because they are numbers or sets: {', '.join(self.left_out)}"
        parts = [html_text("\n".join(self._trace_lines())), html_table(self._probe_rows(), most=None)]
        return "".join(parts + ([html_text(left_out)] if self.left_out else []))

    def as_json(self) -> dict[str, Any]:
        first = self.first
        return {
            "program": self.program,
            "equal": bool(self),
            "words": len(self.agreement.words),
            "trace": self.agreement.as_json(),
            "first_difference": None if first is None else first.as_json(),
            "probed": self.probed,
            "probes": [reading.as_json() for reading in self.readings],
            "left_out": list(self.left_out),
        }

    @drawn_with_tables
    def draw(self, path: Any) -> Path:
        """Draw program and network side by side on one word, and the probes of each variable; returns the path.

        The word is that of the first difference, or the longest where there is none.
        """
        from kleene.pictures.compared import VariablePanel, compared_panels

        found, row = self.agreement, self.agreement.first_row
        if row is None:
            row = max(range(len(found.words)), key=lambda n: len(found.words[n]))
        panels = []
        for reading in self.readings[:DRAWN]:
            steps, positions = int(found.layers[row]) + 1, len(found.words[row])
            program, network = (
                _part(table, reading.name, row, steps, positions) for table in (found.wanted, found.found)
            )
            control = reading.control
            lines = {
                "network": _by_layer(reading, reading.scores.tested),
                "untrained": None if control is None else _by_layer(reading, control.tested),
                "most frequent value": _by_layer(reading, reading.scores.majority),
            }
            name = reading.name + " (head)" * reading.is_head
            scores = reading.scores.tested
            panels.append(VariablePanel(name, program, network, reading.layers, reading.steps, scores, lines))
        return compared_panels(panels, found.words[row], path, title=f"{self.program} and a network")


def _part(table: dict[str, np.ndarray], name: str, row: int, steps: int, positions: int) -> np.ndarray | None:
    """A variable of one word; None if the network does not read it."""
    return table[name][row, :steps, :positions] if name in table else None


def _by_layer(reading: VariableReading, scores: np.ndarray) -> list[float]:
    """After each layer, the share for the program's step of the same number, or the nearest that was probed."""
    columns = [min(range(len(reading.steps)), key=lambda n: abs(reading.steps[n] - layer)) for layer in reading.layers]
    return [float(scores[row, column]) for row, column in enumerate(columns)]


def _where(best: Sequence[StepReading]) -> str:
    """For how many steps a variable is read, and at which layers."""
    read = [one for one in best if one.accuracy >= READ]
    found = f"{READ:.0%} of its entries or more are read for {len(read)} of {len(best)} steps that were probed"
    if not read:
        return found
    if all(one.step == one.layer for one in read):
        return f"{found}, at the layers of the same number"
    return f"{found}, at layers {numbers_text(sorted({one.layer for one in read}))}"


def _percent(share: float) -> str:
    if np.isnan(share):
        return "·"
    return f"{np.floor(1000 * share) / 10:.1f}%"  # 100 only where all are right


def _runs(numbers: Sequence[int], shares: Sequence[float]) -> str:
    """Runs of numbers with the same share: `0..20: 100.0%`."""
    runs: list[tuple[int, int, str]] = []
    for number, share in zip(numbers, map(_percent, shares)):
        if runs and runs[-1][2] == share:
            runs[-1] = (runs[-1][0], number, share)
        else:
            runs.append((number, number, share))
    shown = [f"{a if a == b else f'{a}..{b}'}: {share}" for a, b, share in runs]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:11], "…", shown[-1]])


def compare_with_program(
    network: Any,
    program: Program,
    inputs: Sequence[Tokens],
    *,
    length: Callable[[list[int]], int] = len,
    probed: int = PROBED,
    most: int = 16,
    seed: int = 0,
) -> ProgramComparison:
    """How a trained Transformer compares with a program on some inputs, which the program must take.

    Probes are fitted and tested on at most `probed` of the words, at up to `most` layers and for up to `most` steps,
    evenly spaced. A network of the same shape with random weights is the control. The compiled network of the program
    may be given too: its traces are equal. `length` is the length of an input, for the report.

    >>> import kleene
    >>> from kleene.programs.alta.library import parity
    >>> words = [[2, *map(int, f"{n:04b}")] for n in range(16)]
    >>> compare_with_program(kleene.compile(parity.relative()), parity.relative(), words)
    <ProgramComparison with parity_relative: 100.0% of entries on 16 words>
    """
    kind = kinds.find(network)
    if kind is None or kind.streams is None:
        what = type(network).__name__ if kind is None else kind.name
        raise InputError(
            f"the network is {'an' if what[0] in 'aeiou' else 'a'} {what}, and only a Transformer that was taught or "
            f"compiled can be compared with a transformer program"
        )
    program_inputs(program, list(inputs), "test")
    words = [program.check_input(tokens) for tokens in inputs]
    if len(words) < 2:
        raise InputError("a comparison needs two inputs at least, because probes are fitted on half of them")
    check_variables(program, network.run_batch(words[:1]))
    chosen = np.sort(np.random.default_rng(seed).permutation(len(words))[:probed]).tolist()
    some = [words[n] for n in chosen]
    streams = kind.streams(network, some)
    if streams.symbols != program.input_range:
        raise InputError(
            f"the network reads {streams.symbols} tokens, and {program.name} {program.input_range}; compare it with "
            f"the program that taught it"
        )
    control = None if kind.untrained is None else kind.streams(kind.untrained(network, seed), some)
    agreement = agreement_of(program, program.run_batch(words), network.run_batch(words), words, [*map(length, words)])
    readings = readings_of(program, program.run_batch(some), streams, control, most=most, seed=seed)
    left_out = tuple(name for name, variable in program.domains.items() if not isinstance(variable, Categorical))
    return ProgramComparison(program.name, agreement, readings, len(some), left_out)
