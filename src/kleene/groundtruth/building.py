"""A network of the collection, made: compiled, hidden or taught, with its truth and how often it is right."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.compiling import compile
from kleene.compiling.automata import some_words
from kleene.explaining.circuits.circuit import TrueCircuit
from kleene.explaining.circuits.truth import true_circuit
from kleene.groundtruth.catalog import HIDING, TAUGHT_PLAIN, TEACHING_AUTOMATA, TEACHING_PLAIN, Form, KnownProgram
from kleene.groundtruth.hide import hide, valid_inputs
from kleene.groundtruth.taught import SHIPPED, SUBJECTS, kept_network, shipped
from kleene.groundtruth.transformers import logits_of
from kleene.groundtruth.truths import StateCircuit, circuit_onto, state_circuit
from kleene.machines.transformer.plain import PlainTransformer
from kleene.naming import Found
from kleene.teaching.teach import teach

SAMPLES, LONGEST = 200, 16  # words of automata: the shortest ones, and as many random ones
Truth = TrueCircuit | StateCircuit


@dataclass(frozen=True, eq=False)
class Made:
    """A network, its truth, on how many inputs its answer is the program's, and facts for its card."""

    network: Any
    truth: Truth
    inputs: int
    right: int
    facts: dict[str, Any]


def make(known: KnownProgram, form: Form, seed: int = 0) -> Made:
    """The network of a program in one form. The same seed gives the same network on one machine.

    The facts of a taught one say whether it is `verified`: right on every sample input, and, if it is a Transformer,
    under every swap that was tried. Teaching may fail, and then the truth is only what was taught.
    """
    found, options = known.find()
    if known.machine == "plain":
        return _transformer(known, found, options, form, seed)
    return _acceptor(known, found, options, form, seed)


def _transformer(known: KnownProgram, found: Found, options: dict[str, Any], form: Form, seed: int) -> Made:
    if form == "taught":
        return _taught_transformer(known, found, seed)
    unrolled = compile(found.subject, **(options | {"layers": "unrolled"}))
    network = PlainTransformer.from_unrolled(unrolled)
    words = valid_inputs(found, network, seed=seed)
    truth, facts = true_circuit(network, words), {}
    if form == "hidden":
        hidden = hide(network, seed=seed, words=words, **HIDING[known.machine])
        network, truth = hidden.network, circuit_onto(truth, hidden.map)
        facts = {"hiding": hidden.options, "equality": hidden.equality, "difference": hidden.difference}
    return Made(network, truth, len(words), _right(found.subject, network, words), facts)


def _right(program: Any, network: Any, words: list[Any]) -> int:
    """On how many words the network has the program's output at every position."""
    answers = network.run_batch(words)
    return sum(answer.output == program.run(word).output for answer, word in zip(answers, words))


def _taught_transformer(known: KnownProgram, found: Found, seed: int) -> Made:
    """The network that comes with Kleene, or else one that is taught now."""
    name = TAUGHT_PLAIN[known.name]
    if (SHIPPED / f"{name}.safetensors").exists():
        kept = shipped(name)
    else:
        subject = SUBJECTS[name]
        given = dict(subject.options) | dict(TEACHING_PLAIN)
        kept = kept_network(teach(subject.program, machine="plain", first_seed=seed, **given), name)
    table = kept.table()
    rows = zip(table.tokens.tolist(), table.lengths.tolist())
    inputs, right = len(table.tokens), _right_tokens(kept.network, [row[:n] for row, n in rows], table.outputs)
    facts = {"method": kept.method, "teaching": dict(kept.options), "counted": dict(kept.counted)}
    facts["verified"] = kept.verified and right == inputs
    return Made(kept.network, kept.circuit(), inputs, right, facts)


def _right_tokens(network: PlainTransformer, rows: list[list[int]], outputs: np.ndarray) -> int:
    """On how many rows of codes the network's output is that of the table, which is -1 where nothing is asked."""
    lengths = np.array([len(row) for row in rows], np.int32)
    tokens = np.zeros((len(rows), int(lengths.max(initial=0))), np.int32)
    for row, codes in zip(tokens, rows):
        row[: len(codes)] = codes
    found = np.asarray(logits_of(network, tokens, lengths)).argmax(axis=-1)
    wanted = np.asarray(outputs)[:, : tokens.shape[1]]
    return int(((found == wanted) | (wanted < 0)).all(axis=1).sum())


def _acceptor(known: KnownProgram, found: Found, options: dict[str, Any], form: Form, seed: int) -> Made:
    dfa = found.subject
    facts: dict[str, Any] = {}
    words = some_words(dfa.alphabet, SAMPLES, LONGEST, seed)
    if form == "taught":
        taught = teach(known.program, machine=known.machine, first_seed=seed, **TEACHING_AUTOMATA)
        network, truth = taught.best, StateCircuit(tuple(str(state) for state in dfa.states))
        facts = {"teaching": dict(TEACHING_AUTOMATA)}
    else:
        network = compile(dfa, **options)
        truth = state_circuit(network)
    if form == "hidden":
        hidden = hide(network, seed=seed, **HIDING[known.machine])
        facts = {"hiding": hidden.options, "equality": hidden.equality, "difference": hidden.difference}
        network, truth = hidden.network, state_circuit(network, hidden.map)
    right = int((network.accepts_batch(words) == dfa.accepts_batch(words)).sum())
    if form == "taught":
        facts["verified"] = right == len(words)
    return Made(network, truth, len(words), right, facts)
