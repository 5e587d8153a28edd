"""Contextual decomposition written out plainly in numpy, word by word and focus by focus, as the papers state it."""

import jax
import jax.numpy as jnp
import numpy as np

from kleene.machines.lstm.lstm import LSTM, Layer, Memory


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def three_way(phi, a, b, c):
    """The papers' split: the bias c comes first, a and b in both orders."""
    return (
        0.5 * (phi(a + c) - phi(c) + phi(a + b + c) - phi(b + c)),
        0.5 * (phi(b + c) - phi(c) + phi(a + b + c) - phi(a + c)),
        phi(c),
    )


def decomposition(model, codes, focus):
    """The relevant and irrelevant hidden states and cells, each [step, layers, hidden], with the papers' sharing."""
    layers = [[np.asarray(w, np.float64) for w in (one.inputs, one.recurrent, one.bias)] for one in model.layers]
    rel_h, rel_c = np.zeros(model.start.hidden.shape), np.zeros(model.start.hidden.shape)
    irr_h, irr_c = (np.array(start, np.float64) for start in (model.start.hidden, model.start.cell))
    found = []
    for t, code in enumerate(codes):
        x = np.asarray(model.embedding[code], np.float64)
        rel_x, irr_x = (x, 0 * x) if t in focus else (0 * x, x)
        for k, (inputs, recurrent, bias) in enumerate(layers):
            rel, irr = inputs @ rel_x + recurrent @ rel_h[k], inputs @ irr_x + recurrent @ irr_h[k]
            (a_i, a_f, a_g, a_o), (b_i, b_f, b_g, b_o) = np.split(rel, 4), np.split(irr, 4)
            c_i, c_f, c_g, c_o = np.split(bias, 4)
            ri, ii, bi = three_way(sigmoid, a_i, b_i, c_i)
            rf, jf, bf = three_way(sigmoid, a_f, b_f, c_f)
            rg, ig, bg = three_way(np.tanh, a_g, b_g, c_g)
            new_rel_c = ri * (rg + bg) + bi * rg + (bi * bg if t in focus else 0) + (rf + bf) * rel_c[k]
            whole = (ri + ii + bi) * (rg + ig + bg) + (rf + jf + bf) * (rel_c[k] + irr_c[k])
            rel_c[k], irr_c[k] = new_rel_c, whole - new_rel_c
            o = sigmoid(a_o + b_o + c_o)
            rel_h[k] = o * 0.5 * (np.tanh(rel_c[k]) + np.tanh(whole) - np.tanh(irr_c[k]))
            irr_h[k] = o * 0.5 * (np.tanh(irr_c[k]) + np.tanh(whole) - np.tanh(rel_c[k]))
            rel_x, irr_x = rel_h[k], irr_h[k]
        found.append(np.stack([rel_h, irr_h, rel_c, irr_c]).copy())
    return np.stack(found, 1)


def interdependence(model, codes, one, other, t, *, logits=False):
    """DI of two sets at step t, from three decompositions of the whole sentence."""
    states = [decomposition(model, codes, focus)[0, t, -1] for focus in ({*one, *other}, one, other)]
    both, first, second = (np.asarray(model.decoder, np.float64) @ h if logits else h for h in states)
    missed = np.linalg.norm(both - first - second)
    return missed / np.linalg.norm(both) if missed else 0.0


def double_lstm(seed, *, tokens=6, hidden=5, layers=1, scale=1.0, started=False, vocabulary=None):
    """A random LSTM in double precision; `started` gives it a random initial state."""
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return jnp.asarray(rng.normal(size=shape) * scale)

    with jax.enable_x64(True):
        start = draw(layers, hidden) * started, draw(layers, hidden) * started
        return LSTM(
            embedding=draw(tokens, hidden),
            layers=tuple(
                Layer(draw(4 * hidden, hidden), draw(4 * hidden, hidden), draw(4 * hidden)) for _ in range(layers)
            ),
            start=Memory(*start),
            decoder=draw(tokens, hidden),
            decoder_bias=draw(tokens),
            vocabulary=tuple(range(tokens)) if vocabulary is None else vocabulary,
        )


def single(model):
    """The same network in single precision."""
    return jax.tree.map(lambda w: jnp.asarray(np.asarray(w), jnp.float32), model)
