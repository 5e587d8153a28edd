"""Figures 10 and 11 of the paper on partial traces: how many runs of the NRAM completed, and how long training took."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kleene.pictures.plots import grouped_bars

# Figure 10: the runs of the paper that completed, by task and kind of hint. How many were begun it does not say.
COMPLETED: dict[str, dict[str, int]] = {
    "permute": {"none": 36, "single_hint": 24, "corners": 29, "single_timestep": 21, "registers": 48, "modules": 48,
                "full": 26},
    "swap": {"none": 44, "single_hint": 38, "corners": 23, "single_timestep": 52, "registers": 58, "modules": 58,
             "full": 33},
    "increment": {"none": 58, "single_hint": 28, "corners": 36, "single_timestep": 29, "registers": 73, "modules": 107,
                  "full": 32},
    "list_k": {"none": 41, "single_hint": 22, "corners": 22, "single_timestep": 28, "registers": 54, "modules": 54,
               "full": 44, "noisy_full": 36},
    "merge": {"none": 13, "single_hint": 12, "corners": 9, "single_timestep": 12, "full": 21},
    "permute_noise": {"none": 12, "single_hint": 14, "corners": 17, "single_timestep": 13, "full": 14},
}  # fmt: skip

# Figure 11: the mean time until training ended, in seconds, on the authors' machine.
SECONDS: dict[str, dict[str, float]] = {
    "permute": {"none": 6290.29, "single_hint": 5565.22, "corners": 4468.85, "single_timestep": 6259.05,
                "registers": 6618.12, "modules": 6523.16, "full": 4919.33},
    "swap": {"none": 5505.22, "single_hint": 3700.64, "corners": 6195.75, "single_timestep": 2662.35,
             "registers": 5774.61, "modules": 5781.99, "full": 4110.14},
    "increment": {"none": 3500.13, "single_hint": 4318.20, "corners": 3199.86, "single_timestep": 4042.18,
                  "registers": 3839.18, "modules": 2335.99, "full": 3758.99},
    "list_k": {"none": 5880.11, "single_hint": 6574.59, "corners": 6601.16, "single_timestep": 5076.17,
               "registers": 6185.54, "modules": 6183.74, "full": 3216.01},
}  # fmt: skip


def completed(content: Mapping[str, Any]) -> dict[str, int]:
    """How many runs of a file of figure 12 did not diverge, by kind of hint."""
    return {row["hints"]: row["seeds"] - len(row["diverged"]) for row in content["settings"]}


def completed_of_begun(content: Mapping[str, Any]) -> tuple[int, int]:
    """How many runs of a file of figure 12 did not diverge, and how many were begun."""
    return sum(completed(content).values()), sum(row["seeds"] for row in content["settings"])


def updates(content: Mapping[str, Any]) -> dict[str, float]:
    """The mean number of updates until training ended, by kind of hint; of a file of the variant that stops."""
    return {row["hints"]: row["updates"] for row in content["settings"]}


def draw_completed(contents: Mapping[str, Mapping[str, Any]], path: Path, *, title: str) -> Path:
    """Draw how many runs completed by task, with a bar for each kind of hint, and return the path."""
    found = {task: completed(content) for task, content in contents.items()}
    kinds = list(dict.fromkeys(kind for runs in found.values() for kind in runs))
    bars = {kind: [runs.get(kind, 0) for runs in found.values()] for kind in kinds}
    return grouped_bars(list(found), bars, path, across="task", up="runs that completed", title=title)
