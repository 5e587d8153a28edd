"""Networks that were taught a program and keep its algorithm, with their alignment: teach them, save them, load them.

A taught network is two files: the weights, and a JSON file with the program it was taught, the alignment and the counts
that verify it.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kleene.compiling.interchange.accuracy import (
    InterchangeAccuracy,
    Strictness,
    check_fit,
    interchange_accuracy,
    strictness,
)
from kleene.compiling.interchange.alignment import Alignment
from kleene.compiling.interchange.counterfactuals import Counterfactuals
from kleene.errors import InputError, ModelFileError, did_you_mean
from kleene.explaining.circuits.circuit import Carrier, TrueCircuit
from kleene.files import check_seal, make_folder, parsed_json, read_bytes, sealed_json, write_atomically
from kleene.machines.transformer.plain import PlainTransformer
from kleene.teaching.lessons import lesson
from kleene.teaching.plain_lessons import METHODS
from kleene.teaching.teach import Taught, teach

SHIPPED = Path(__file__).parent / "shipped"
PAIRS = 1024  # held-out pairs for each site, in the counts that are kept


@dataclass(frozen=True)
class TaughtSubject:
    """A program that networks are taught: its name as on the command line, and the options of its lesson."""

    program: str
    options: Mapping[str, Any]


def _rasp(name: str, vocab: Any = "abc", longest: int = 5, **more: Any) -> TaughtSubject:
    return TaughtSubject(f"rasp:{name}", {"vocab": vocab, "longest": longest} | more)


SUBJECTS: dict[str, TaughtSubject] = {
    "reverse": _rasp("reverse"),
    "hist": _rasp("hist"),
    "length": _rasp("length"),
    "count": _rasp("count"),
    "causal_hist": _rasp("causal_hist"),
    "shift": _rasp("shift"),
    "count_less_freq": _rasp("count_less_freq", longest=4),
    "detect_pattern": _rasp("detect_pattern"),
    "frac_prevs": _rasp("frac_prevs"),
    "sort_unique": _rasp("sort_unique", (1, 2, 3, 4), 4),
    "sort": _rasp("sort", (1, 2, 3), 4),
    "sort_freq": _rasp("sort_freq", longest=4),
    "pair_balance": _rasp("pair_balance", "()a", 4),
    "shuffle_dyck": _rasp("shuffle_dyck", "()", 6),
    "parity": TaughtSubject("parity_relative", {"longest": 5}),
    "parity_counted": TaughtSubject("parity_sum_modulo", {"longest": 6}),
    "parity_counted_in_steps": TaughtSubject("parity_sum_modulo_steps", {"longest": 6}),
    "induction": TaughtSubject("induction_head", {"longest": 5}),
    "histogram": TaughtSubject("histogram", {"longest": 4}),
    "double_histogram": TaughtSubject("double_histogram", {"longest": 4}),
}


@dataclass(frozen=True, eq=False)
class KeptNetwork:
    """A taught network with the alignment that it was taught, the program, and what was counted when it was kept."""

    name: str
    network: PlainTransformer
    alignment: Alignment
    program: str
    method: str
    options: Mapping[str, Any]
    counted: Mapping[str, Any]

    def table(self) -> Counterfactuals:
        """The program's own results under every swap, computed anew."""
        return _lesson_table(self.program, self.method, self.options)

    def words(self) -> list[list[Any]]:
        """The words that the network was taught, as it reads them; on others nothing is known of it."""
        return taught_words(self.network, self.program, self.method, self.options)

    def verify(self, *, pairs: int = 256, seed: int = 0) -> tuple[InterchangeAccuracy, Strictness]:
        """The interchange accuracy and the strictness on held-out pairs, counted anew."""
        table = self.table()
        given = (self.network, self.alignment, table)
        return interchange_accuracy(*given, pairs=pairs, seed=seed), strictness(*given, pairs=pairs, seed=seed)

    @property
    def verified(self) -> bool:
        """Whether every swap that was counted when the network was kept came out as in the program."""
        return all(found["right"] == found["pairs"] for found in self.counted.values())

    def circuit(self) -> TrueCircuit:
        """The circuit that the network was taught to have.

        All edges from the positions are positional: the same comes through them on every word, so that no swap tells
        whether they are used. Which variables the blocks carry is verified by `verify`, and so is that nothing comes
        through the edges outside.
        """
        graph = self.alignment.graph
        positional = graph.possible & (np.array(graph.sources) == "positions")
        carries = {
            name: Carrier(
                self.alignment.basis(name),
                tuple(f"{name} {number}" for number in range(len(dims))),
                self.alignment.writers.get(name, ()),
            )
            for name, dims in self.alignment.blocks.items()
        }
        return TrueCircuit(graph, self.alignment.edges | positional, positional, carries)

    def save(self, folder: Any) -> Path:
        """Save both files in a folder, and return the path of the network."""
        path = self.network.save(Path(folder) / f"{self.name}.safetensors")
        described = {"name": self.name, "program": self.program, "method": self.method, "options": dict(self.options)}
        described |= {"alignment": self.alignment.as_json(), "counted": dict(self.counted)}
        write_atomically(path.with_suffix(".json"), sealed_json(described))
        return path

    @classmethod
    def load(cls, path: Any) -> "KeptNetwork":
        """The network in a file that `save` wrote, with the JSON file beside it."""
        beside = Path(path).with_suffix(".json")
        try:
            content = read_bytes(beside)
            check_seal(beside, content)
            described = parsed_json(content)
            alignment = Alignment.from_json(described["alignment"])
            rest = {name: described[name] for name in ("name", "program", "method", "options", "counted")}
        except (OSError, ValueError, KeyError, TypeError, InputError) as error:
            raise ModelFileError(f"{beside}: this does not describe a taught network ({error})") from error
        network = PlainTransformer.load(path)
        check_fit(network, alignment)
        return cls(network=network, alignment=alignment, **rest)

    def __repr__(self) -> str:
        return f"<KeptNetwork {self.name}: {self.program}, {self.alignment.graph.layers} layers, by {self.method}>"


def taught_words(network: PlainTransformer, program: str, method: str, options: Mapping[str, Any]) -> list[list[Any]]:
    """The words of the lesson in which a network was taught a program, as the network reads them."""
    table, layout = _lesson_table(program, method, options), network.layout
    rows = zip(table.tokens.tolist(), table.lengths.tolist())
    words = [row[layout.prefix : length] for row, length in rows]
    if layout.vocabulary is None:
        return words if layout.alphabet is None else [[layout.alphabet[code] for code in word] for word in words]
    return [[layout.vocabulary.values[code - 1] for code in word] for word in words]


def _lesson_table(program: str, method: str, options: Mapping[str, Any]) -> Counterfactuals:
    return lesson(program, "plain", method=method, **options).task.table  # type: ignore[attr-defined]


def kept_network(taught: Taught, name: str, *, run: int | None = None, pairs: int = PAIRS) -> KeptNetwork:
    """A run of `kleene.teach(…, machine="plain")`, by default the best, and its counts on held-out pairs."""
    made = taught.lesson
    if made.recipe is None or not hasattr(made.task, "alignment"):
        raise InputError(f"{made.name!r} was not taught by name with machine='plain', so there is no alignment to keep")
    network = taught.best if run is None else taught.machine(run)
    alignment, table = made.task.alignment, made.task.table  # type: ignore[attr-defined]
    given = dict(made.recipe)
    program, method = given.pop("task"), given.pop("method", METHODS[0])
    given.pop("machine", None)
    counted = {
        "interchange": interchange_accuracy(network, alignment, table, pairs=pairs).as_json(),
        "strictness": strictness(network, alignment, table, pairs=pairs).as_json(),
    }
    return KeptNetwork(name, network, alignment, program, method, given, counted)


def shipped(name: str) -> KeptNetwork:
    """One of the taught networks that come with Kleene."""
    there = sorted(path.stem for path in SHIPPED.glob("*.safetensors"))
    if name not in there:
        raise InputError(f"no taught network {name!r} comes with Kleene; {did_you_mean(name, there)}")
    return KeptNetwork.load(SHIPPED / f"{name}.safetensors")


def teach_subjects(
    folder: Any,
    *,
    subjects: Sequence[str] = tuple(SUBJECTS),
    methods: Sequence[str] = METHODS,
    seeds: int = 4,
    iterations: int = 4000,
    part: int = 0,
    parts: int = 1,
    most_seconds: float | None = None,
    again: bool = True,
    on_row: Callable[[dict[str, Any]], None] | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Teach each subject by each method, and save the best network of each and a row of measurements.

    With `parts`, only every so many of the tasks are done, so that several processes share them. None is begun after
    `most_seconds`. Unless `again`, a row that the folder has of the same size is taken as it is.
    """
    started, rows = time.perf_counter(), []
    for name in subjects:
        if name not in SUBJECTS:
            raise InputError(f"no subject {name!r}; {did_you_mean(name, tuple(SUBJECTS))}")
    make_folder(folder)
    every = [(method, name) for method in methods for name in subjects]
    for method, name in every[part::parts]:
        if most_seconds is not None and time.perf_counter() - started > most_seconds:
            break
        place = Path(folder) / f"{name}.{method.replace(' ', '_')}.row.json"
        row = None if again else _kept_row(place, seeds, iterations, options)
        if row is None:
            row = _taught_row(folder, name, method, seeds, iterations, options)
            write_atomically(place, json.dumps(row) + "\n")
        rows.append(row)
        if on_row is not None:
            on_row(row)
    return rows


def file_of(name: str, method: str) -> str:
    """What the files of a subject's network are called, without their ending."""
    return name if method == METHODS[0] else f"{name}.{method.replace(' ', '_')}"


def _kept_row(place: Path, seeds: int, iterations: int, options: Mapping[str, Any]) -> dict[str, Any] | None:
    """The row of an earlier run of the same size, or None."""
    try:
        row = parsed_json(place.read_text())
        same = row["iterations"] == iterations and len(row["accuracy"]) == seeds and row["options"] == dict(options)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return row if same else None


def _taught_row(
    folder: Any, name: str, method: str, seeds: int, iterations: int, options: Mapping[str, Any]
) -> dict[str, Any]:
    subject, started = SUBJECTS[name], time.perf_counter()
    row: dict[str, Any] = {"subject": name, "method": method, "iterations": iterations, "options": dict(options)}
    try:
        given = dict(subject.options) | dict(options)
        taught = teach(subject.program, machine="plain", method=method, seeds=seeds, iterations=iterations, **given)
    except Exception as error:  # the other subjects go on
        return row | {"error": f"{type(error).__name__}: {error}"}
    last, report = taught.report.progress.tests[-1], taught.report.as_json()
    firsts = report["settings"][0].get("first_hit")
    kept = kept_network(taught, file_of(name, method))
    kept.save(folder)
    alignment = kept.alignment
    counts = {part: {k: found[k] for k in ("right", "pairs")} for part, found in kept.counted.items()}
    return row | {
        "layers": alignment.graph.layers,
        "width": alignment.width,
        "accuracy": last["accuracy_by_length"].mean(axis=-1).tolist(),
        "interchange": last["interchange"].tolist(),
        "strict": last["strict"].tolist(),
        "generalises": last["generalises"].tolist(),
        "first_hit": firsts,
        "best": counts,
        "teaching_seconds": report["seconds"],
        "seconds": round(time.perf_counter() - started, 1),
    }
