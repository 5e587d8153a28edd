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


# By the file's name: what writes the file.
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


@cache
def sample(name: str) -> bytes:
    """The content of a valid file."""
    if name == "program.py":
        return PROGRAM.encode()
    with tempfile.TemporaryDirectory() as folder:
        MAKERS[name](Path(folder, name))
        return Path(folder, name).read_bytes()
