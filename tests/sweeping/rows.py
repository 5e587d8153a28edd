"""Rows of a sweep's store, made up for tests."""

from collections.abc import Mapping, Sequence
from typing import Any


def cell_row(
    settings: Mapping[str, Any],
    generalises: Sequence[bool] = (False, True),
    accuracy: Sequence[Any] = (0.5, 1.0),
    loss: Sequence[Any] = (1.0, 0.25),
    alive: Sequence[bool] | None = None,
    **further: Any,
) -> dict[str, Any]:
    """The row of a run with a test every 100 iterations, two lengths, and the further measurements by test."""
    tests = {
        "iteration": [100 * (n + 1) for n in range(len(generalises))],
        "loss": list(loss),
        "accuracy": [0.125] * len(generalises),
        "generalises": list(generalises),
        "alive": [True] * len(generalises) if alive is None else list(alive),
        "accuracy_by_length": [[mean, mean] for mean in accuracy],
        **further,
    }
    facts = {"task": "copy", "iterations": 200, "test_every": 100, "seed": 0} | dict(settings)
    name = "-".join(f"{key}={facts[key]}" for key in sorted(facts))
    versions = {"kleene": "0.1.0", "device": "cpu"}
    return {"cell": name, "lesson": "copy", "settings": facts, "lengths": [1, 2], "tests": tests} | {
        "seconds": 2.0,
        "runs": 4,
        "attempt": 1,
        "versions": versions,
    }


def by_cell(*rows: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["cell"]: row for row in rows}


def small_sweep() -> dict[str, dict[str, Any]]:
    """No hints (1 of 4 seeds generalises), and address hints at two densities (4 of 4, and 2 of 4)."""
    passed = {("none", None): 1, ("address", 1.0): 4, ("address", 0.1): 2}
    rows = []
    for (hints, density), count in passed.items():
        for seed in range(4):
            settings: dict[str, Any] = {"hints": hints, "seed": seed}
            settings |= {} if density is None else {"density": density, "strength": 0.3}
            ends = seed < count
            rows.append(cell_row(settings, (False, ends), (0.25, 1.0 if ends else 0.5), (1.0, 0.125 * (seed + 1))))
    return by_cell(*rows)
