"""What is in the libraries, with an input to try each program on."""

from typing import Any

# Stated here, so that listing them does not import jax.
COUNTERS = {
    "majority_relu": ("a network: strictly more 1s than 0s, with three integer ReLU units", "0110111"),
    "majority_slu": ("a network: the same with six SLU units over the rationals", "0110111"),
    "a_n_b_n": ("a network: as many b as a, after them, with four integer ReLU units", "aaabbb"),
    "dyck1": ("a network: balanced brackets of one kind, with three integer ReLU units", "(()())"),
}


def listed() -> list[dict[str, Any]]:
    """A row for every transformer program, automaton, Turing machine, circuit and network of the shelves."""
    from kleene.programs.alta import library as transformers
    from kleene.programs.automata import library as automata
    from kleene.programs.circuits import library as circuits
    from kleene.programs.turing import library as machines

    rows = [_row("transformer", e.name, e.summary, list(e.example)) for e in transformers.entries().values()]
    rows += [_row("automaton", f"dfa:{e.name}", e.summary, [e.example]) for e in automata.entries().values()]
    rows += [_row("machine", f"tm:{e.name}", e.summary, [e.example]) for e in machines.entries().values()]
    rows += [_row("circuit", e.name, e.summary, [*map(str, e.example)]) for e in circuits.entries().values()]
    rows += [_row("network", f"rnn:{name}", summary, [example]) for name, (summary, example) in COUNTERS.items()]
    return rows


def _row(kind: str, name: str, summary: str, example: list[str]) -> dict[str, Any]:
    return {"kind": kind, "name": name, "summary": summary, "example": example}
