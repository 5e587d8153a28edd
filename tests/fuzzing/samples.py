"""Valid files of every kind that Kleene reads, as bytes, each made once: what the hostile ones are made from."""

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import jax

import kleene
from kleene.compiling.alta.fuzzing import Tally
from kleene.files import sealed_json
from kleene.groundtruth import collection
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.neural_gpu import NeuralGPU
from kleene.machines.nram import NRAM
from kleene.machines.ntm.ntm import NTM
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.transformer_lm import TransformerLM
from kleene.programs.alta.library import parity
from kleene.programs.circuits.library import get as get_circuit
from kleene.programs.circuits.library import text_of
from kleene.programs.turing.library import get as get_machine
from kleene.sweeping.cells import cells_of
from kleene.sweeping.definition.reading import read_sweep
from kleene.sweeping.packs import packed
from kleene.sweeping.store import CellStore, line_of
from kleene.teaching.lessons import lesson
from kleene.teaching.loop import fresh_learners
from kleene.teaching.plan import Plan, Progress, stored

WORDS = ["<unk>", "<eos>", "the", "man", "laughs"]
EVEN = "(0|10*1)*"
TREE = """1 the the DET _ _ 2 det _ _
2 man man NOUN _ _ 3 nsubj _ _
3 laughs laugh VERB _ _ 0 root _ _
""".replace(" ", "\t")
PROGRAM = """from kleene.programs import alta

def flip(z):
    z["bit"] = 1 - z["bit"]

program = alta.program_spec({"bit": alta.input_var(2)}, {}, flip, "bit", 2, name="flip", max_layers=1)
"""


OWN = """from kleene.programs import rasp

backwards = rasp.Aggregate(
    rasp.Select(rasp.indices, rasp.length - rasp.indices - 1, rasp.Comparison.EQ), rasp.tokens
).named("backwards")
counted = rasp.SelectorWidth(rasp.Select(rasp.tokens, rasp.tokens, rasp.Comparison.EQ)).named("counted")
expression = "(a|b)*a"

def inputs(random, size):
    return [random.randrange(2) for _ in range(size)]

def reference(tokens):
    return [1 - token for token in tokens]

def measure(network, words):
    return [[(word, 0, 1)] for word in words]
"""
EXERCISE = """---
title: An odd number of a
kind: automaton
level: easy
learns: one bit
define: odd_a
alphabet: a b
longest: 5
exhaustive: 4
samples: 3
seconds: 10
ours: states 2
---

All words with an odd number of a.

## Stub

```python
odd_a = "(a|b)*"
```

## Hint

Each a needs a second one.
"""
SWEEP = """name = "small"

[settings]
task = "dfa:tomita_1"
iterations = 2
test_every = 1
batch = 2

[grid]
hidden = [2, 3]
seeds = 2

[resources]
cpus = 0.5
"""
DRAWS = """[settings]
task = "dfa:tomita_1"
iterations = 2

[random]
draws = 3
seed = 1
rate = { from = 0.001, to = 0.1, scale = "log" }

[[cells]]
hidden = 2
hints = "states"
density = 0.5
"""
ROW = {
    "lesson": "tomita_1 rnn",
    "lengths": [5, 10],
    "tests": {
        "accuracy_by_length": [[0.2, 0.25]],
        "generalises": [False],
        "loss": [0.8],
        "accuracy": [0.0],
        "alive": [True],
        "iteration": [2],
    },
    "seconds": 0.6,
    "runs": 1,
    "attempt": 1,
    "versions": {"kleene": "0.2.0", "python": "3.11.7", "device": "cpu", "jax": "0.10.2"},
}
# Files that are texts; those in a folder are used together with the others of it.
TEXTS = {
    "program.py": PROGRAM,
    "own.py": OWN,
    "even_a.py": '# exercise: even_a\neven_a = "(b|ab*a)*"\n',
    "other/even_a.py": '# exercise: even_a\neven_a = "(a|b)*"\n',
    "sweep.toml": SWEEP,
    "random.toml": DRAWS,
    "words.txt": "1 0 1\n0\n1 1\n",
    "split.json": '{"trainIdxs": [0, 2], "devIdxs": [], "testIdxs": [1]}',
    "lessons/odd_a/exercise.md": EXERCISE,
    "lessons/odd_a/reference.py": "def reference(word):\n    return word.count('a') % 2 == 1\n",
    "data/scan/tasks.txt": "IN: jump OUT: I_JUMP\nIN: walk twice OUT: I_WALK I_WALK\nIN: run OUT: I_RUN\n",
}


def key() -> Any:
    return jax.random.key(0)


@cache
def learning() -> tuple[Plan, Any]:
    """A small plan, and its learners before the first update."""
    plan = Plan.grid(lesson("dfa:tomita_1", hidden=2), seeds=1, iterations=2)
    return plan, fresh_learners(plan)


def _checkpoint(path: Path) -> None:
    plan, learners = learning()
    stored(path, plan, Progress(), learners)


def _circuit(path: Path) -> None:
    path.write_text(text_of("increment"))


def _results(path: Path) -> None:
    row = {"hints": "none", "density": 0.0, "strength": 0.0, "seeds": 1, "generalised": 1, "interval": [0.2, 1.0]}
    row |= {"first_hit": [2], "accuracy_by_length": {"3": 1.0}, "loss": 0.1, "diverged": []}
    test = {"iteration": 2, "seed": 0, "kind": "none", "density": 0.0, "strength": 0.0, "accuracy_at_3": 1.0}
    test |= {"generalises": True, "loss": 0.1, "accuracy": 1.0, "alive": True}
    rows = [test, test | {"seed": 1, "kind": "read", "density": 0.5}]
    plan = {"lesson": {"hidden": 4}, "iterations": 2}
    content = {"format": "kleene.results/1", "lesson": "copy", "plan": plan, "settings": [row], "rows": rows}
    path.write_text(json.dumps(content))


def _tally(path: Path) -> None:
    path.write_bytes(sealed_json(vars(Tally(seed=0, done=1, agree=1, inputs=5))))


def _store(folder: Path) -> None:
    """The store of `sweep.toml`, two of whose cells are done, one failed, and one is claimed by a worker."""
    folder.with_name("sweep.toml").write_text(SWEEP)
    sweep = read_sweep(folder.with_name("sweep.toml"))
    CellStore(folder)  # makes it
    cells = cells_of(sweep.verb, sweep.settings)
    packs = packed(cells, 1)
    (folder / "packs" / "a.json").write_text(json.dumps(packs[0].names))
    done = [{"cell": c.name, "program": c.program, "settings": dict(c.settings), "pack": packs[0].name} for c in cells]
    (folder / "rows" / "a.jsonl").write_bytes(b"".join(line_of(row | ROW) for row in done[:2]))
    failed = {"cell": cells[2].name, "reason": "it raised", "death": "", "attempt": 1}
    (folder / "failures" / "a.jsonl").write_bytes(line_of(failed))
    facts = {"machine": "another", "pid": 1, "started": "5", "facts": {"cells": [cells[3].name]}}
    (folder / "workers" / "a.json").write_text(json.dumps(facts))


def _older(folder: Path) -> None:
    """The same as the first version of the format has it: cells are named anew as they are read."""
    _store(folder)
    about = folder / "store.json"
    about.write_text(about.read_text().replace("kleene.sweep/2", "kleene.sweep/1"))


def _truths(folder: Path) -> None:
    collection.build("rnn.ends_abb.compiled", folder=folder)


# By the file's name: what writes the file. The files of a folder are written by the maker of the folder.
MAKERS: dict[str, Any] = {
    "exact.safetensors": lambda path: kleene.compile(kleene.DFA.from_regex(EVEN)).save(path),
    "float.safetensors": lambda path: SimpleRNN.random(WORDS, 3, key=key()).save(path),
    "turing.safetensors": lambda path: kleene.compile(get_machine("bump").build()).save(path),
    "transformer.safetensors": lambda path: kleene.compile(parity.relative()).save(path),
    "lstm.safetensors": lambda path: LSTM.random(WORDS, 3, key=key()).save(path),
    "lm.safetensors": lambda path: TransformerLM.random(WORDS, 4, 2, 1, positions=8, key=key()).save(path),
    "nram.safetensors": lambda path: NRAM.random(2, "R+INC+W", hidden=3, key=key()).save(path),
    "circuit.safetensors": lambda path: kleene.compile(get_circuit("increment").build()).save(path),
    "ntm.safetensors": lambda path: NTM.random(2, width=2, hidden=(2, 2), key=key()).save(path),
    "neural_gpu.safetensors": lambda path: NeuralGPU.random(2, hidden=3, key=key()).save(path),
    "rules.safetensors": lambda path: parity.relative().rules().save(path),
    "checkpoint.safetensors": _checkpoint,
    "automaton.json": lambda path: kleene.DFA.from_regex(EVEN).save(path),
    "automaton.dot": lambda path: kleene.DFA.from_regex(EVEN).save(path),
    "automaton.jff": lambda path: kleene.DFA.from_regex(EVEN).save(path),
    "machine.jff": lambda path: get_machine("bump").build().save(path),
    "machine.tm": lambda path: get_machine("bump").build().save(path),
    "circuit.nram": _circuit,
    "trace.json": lambda path: kleene.DFA.from_regex(EVEN).run("0110").save(path),
    "trace.npz": lambda path: kleene.DFA.from_regex(EVEN).run("0110").save(path),
    "tree.conllu": lambda path: path.write_text(TREE),
    "text.txt": lambda path: path.write_text("the man laughs\n" * 30),
    "results.json": _results,
    "tally.json": _tally,
}


FOLDERS: dict[str, Any] = {"store": _store, "older": _older, "truths": _truths}
INSIDE = (
    "store/store.json",
    "store/rows/a.jsonl",
    "store/failures/a.jsonl",
    "store/workers/a.json",
    "store/packs/a.json",
    "older/rows/a.jsonl",
    "truths/rnn.ends_abb.compiled/card.json",
    "truths/rnn.ends_abb.compiled/circuit.json",
    "truths/rnn.ends_abb.compiled/network.safetensors",
)
NAMES = (*MAKERS, *TEXTS, *INSIDE)


@cache
def folder(name: str) -> dict[str, bytes]:
    """The content of all files in a valid folder, by their paths."""
    with tempfile.TemporaryDirectory() as place:
        FOLDERS[name](Path(place, name))
        files = (file for file in sorted(Path(place, name).rglob("*")) if file.is_file())
        return {str(file.relative_to(place)): file.read_bytes() for file in files}


@cache
def sample(name: str) -> bytes:
    """The content of a valid file."""
    if name in TEXTS:
        return TEXTS[name].encode()
    if name in INSIDE:
        return folder(name.partition("/")[0])[name]
    with tempfile.TemporaryDirectory() as place:
        MAKERS[name](Path(place, name))
        return Path(place, name).read_bytes()
