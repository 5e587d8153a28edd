"""Transformers that accept regular languages: automata compiled through a transformer program, and taught networks.

A compiled one carries the automaton's state along, one position a layer, so it has as many layers as a word has
symbols. A taught one is causal, has two layers, and learns to say of every prefix of a word whether it is accepted.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, PRNGKeyArray

from kleene.compiling import compile
from kleene.explaining.interactions.transformers import TransformerAcceptor
from kleene.machines.transformer.plain import PlainLayout, PlainTransformer
from kleene.programs.alta import Program, halt_spec, input_var, position_var, program_spec, qkv, var
from kleene.programs.automata import DFA
from kleene.teaching.acceptors import LanguageTask
from kleene.traces import Channel

SIZES = {"layers": 2, "heads": 4, "key_size": 8, "units": 64}
BATCH, RATE, CLIP = 64, 2e-3, 1.0


def automaton_program(dfa: DFA, length: int) -> Program:
    """The transformer program of an automaton: each position waits until the one on its left is done, then moves on.

    >>> automaton_program(DFA.from_regex("(a|b)*ab"), 4).run([0, 1, 1, 0]).output
    [0, 1, 0, 0]
    """
    start, table, accepting = dfa.start_code, dfa.table.tolist(), dfa.accepting.astype(int).tolist()

    def move(z: Any) -> None:
        if not z["done"]:
            if z["first"]:
                z["state"] = table[start][z["symbol"]]
                z["accepted"] = accepting[table[start][z["symbol"]]]
                z["done"] = 1
            elif z["done_left"]:
                z["state"] = table[z["state_left"]][z["symbol"]]
                z["accepted"] = accepting[table[z["state_left"]][z["symbol"]]]
                z["done"] = 1

    variables = {
        "symbol": input_var(len(dfa.alphabet)),
        "state": var(len(dfa.states)),
        "accepted": var(2),
        "first": var(2, position_init_fn=lambda i: i == 0),
        "done": var(2),
        "idx": position_var(length),
        "idx_left": position_var(length, lambda i: max(i - 1, 0)),
    }
    heads = {"state_left": qkv("idx_left", "idx", "state"), "done_left": qkv("idx_left", "idx", "done")}
    return program_spec(
        variables, heads, move, "accepted", input_range=len(dfa.alphabet), position_range=length,
        halt=halt_spec("done"), name="automaton",
    )  # fmt: skip


def compiled_transformer(dfa: DFA, length: int) -> TransformerAcceptor:
    """A Transformer that computes the automaton's states on words of up to this length, exactly."""
    network = compile(automaton_program(dfa, length), layers="unrolled", max_length=length)
    return TransformerAcceptor(PlainTransformer.from_unrolled(network), tuple(dfa.alphabet))


def taught_transformers(
    dfa: DFA, *, length: int, seeds: int, first_seed: int = 0, iterations: int = 2_000, width: int = 32
) -> list[TransformerAcceptor]:
    """Causal Transformers of two layers that were taught a language on words of up to this length, one for each seed.

    The label of every prefix is given, because a causal network answers at every position. Half of the words are drawn
    from the language, as in the lesson of recurrent networks.
    """
    task = LanguageTask(dfa, "language", length, (length,))
    layout = PlainLayout(
        "language", len(dfa.alphabet), length, Channel("accepted", "category", 2), True, tuple(dfa.alphabet)
    )
    keys = jax.vmap(jax.random.key)(jnp.arange(first_seed, first_seed + seeds))
    models = _learned(task, layout, keys, iterations, width)
    return [
        TransformerAcceptor(jax.tree.map(lambda leaf, run=run: leaf[run], models), tuple(dfa.alphabet))
        for run in range(seeds)
    ]


def _learned(task: LanguageTask, layout: PlainLayout, keys: Array, iterations: int, width: int) -> PlainTransformer:
    """The networks after training, stacked: a cosine schedule of Adam on fresh words in every update.

    `kleene.teaching.loop` would draw other words from the same seed, and so teach other networks than those of the
    stored results: it splits a learner's key in every update, and no lesson knows how many updates there are.
    """
    optimiser = optax.chain(
        optax.clip_by_global_norm(CLIP), optax.adam(optax.cosine_decay_schedule(RATE, iterations, 0.05))
    )
    accepting = jnp.asarray(task.dfa.accepting)

    def loss(model: PlainTransformer, key: PRNGKeyArray) -> Array:
        lengths = jnp.full(BATCH, task.longest)
        examples = task.examples(key, lengths, task.longest)
        logits = jax.vmap(model)(examples.inputs.symbols, examples.inputs.lengths)
        labels = accepting[examples.trace.targets["state"]].astype(jnp.int32)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    def one(key: PRNGKeyArray) -> PlainTransformer:
        model = PlainTransformer.random(layout, width=width, **SIZES, key=key)
        moments = optimiser.init(eqx.filter(model, eqx.is_array))

        def update(carry: Any, number: Array) -> tuple[Any, None]:
            model, moments = carry
            slopes = jax.grad(loss)(model, jax.random.fold_in(key, number))
            changes, moments = optimiser.update(slopes, moments)
            return (optax.apply_updates(model, changes), moments), None

        return jax.lax.scan(update, (model, moments), jnp.arange(iterations))[0][0]

    return jax.jit(jax.vmap(one))(keys)
