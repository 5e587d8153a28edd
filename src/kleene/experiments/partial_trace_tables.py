"""What "Training Neural Machines with Partial Traces" reports, so that ours can stand beside it.

Percentages of runs that generalise, by hint kind, density and λ (figure 9). Cells that cannot be read in the text are
None, and so are the baselines, of which it gives two in words. Errors of the NRAM are percentages on its test set
(figure 12).
"""

from dataclasses import dataclass

DENSITIES = (1.0, 0.5, 0.1, 0.01)

Row = tuple[float | None, ...]


@dataclass(frozen=True)
class Table:
    """One part of figure 9: for each kind a row over densities, and within them strengths."""

    figure: str
    strengths: tuple[float, ...]
    rows: dict[str, Row]
    baseline: float | None = None

    @property
    def columns(self) -> list[tuple[float, float]]:
        """(density, strength) of each column."""
        return [(density, strength) for density in DENSITIES for strength in self.strengths]


NTM = {
    "copy": Table(
        "9a",
        (1.0, 0.3, 0.1, 0.01),
        {
            "addr+val": (100, 100, 100, 70, 100, 100, 100, 40, 60, 80, 40, 30, 30, 50, 60, 10),
            "address": (100, 100, 100, 50, 90, 100, 90, 30, 80, 90, 70, 30, 50, 30, 40, 50),
            "value": (100, 100, 70, 40, 80, 20, 40, 10, 10, 20, 40, 30, 60, 40, 20, 10),
            "read": (90, 80, 70, 50, 60, 20, 50, 20, 40, 40, 60, 20, 70, 30, 40, 10),
            "write": (60, 70, 80, 60, 80, 80, 40, 40, 50, 70, 50, 40, 50, 60, 50, 40),
            "corner": (100, 100, 100, 50, 100, 90, 60, 70, 70, 20, 50, 30, 50, 60, 20, 30),
        },
    ),
    "repeat_copy_twice": Table(
        "9b",
        (1.0, 0.3, 0.03),
        {
            "addr+val": (90, 100, 60, 90, 80, 40, 80, 20, 10, 10, 0, 0),
            "address": (90, 90, 90, 100, 100, 40, 100, 60, 0, 0, 20, 30),
            "value": (80, 70, 0, 50, 50, 10, 30, 30, 20, 10, 30, 0),
            "read": (50, 30, 30, 20, 60, 30, 20, 60, 10, 10, 10, 0),
            "write": (30, 30, 20, 10, 30, 40, 20, 0, 10, 10, 20, 20),
            "corner": (60, 50, 40, 50, 60, 10, 20, 40, 20, 10, 20, 0),
        },
        baseline=15.5,
    ),
    "dyck_words": Table(
        "9c",
        (1.0, 0.3, 0.1, 0.01),
        {
            "address": (None, 90, 60, 80, 90, 90, 90, 50, 80, 50, 90, 80, 100, 80, 70, 70),
            "read": (80, 90, 70, 70, 100, 100, 70, 50, 50, 60, 70, 70, 80, 70, 50, 50),
            "corner": (60, 100, 80, 80, 80, 90, 90, 90, 60, 60, 100, 50, 90, 80, 80, 50),
        },
    ),
    "flip_3rd": Table(
        "9d",
        (1.0, 0.3, 0.1, 0.03),
        {
            "addr+val": (30, 50, 50, 50, 50, 50, 70, 80, 60, 80, 40, 40, 40, 60, 40, 10),
            "address": (None, 60, 40, 40, 20, 70, 80, 90, 90, 70, 60, 50, 50, 50, 60, 60),
            "value": (60, 50, 40, 60, 80, 70, 40, 10, 50, 10, 40, 70, 50, 30, 40, 60),
            "read": (40, 60, 70, 40, 30, 80, 90, 90, 100, 70, 80, 50, 30, 50, 60, 30),
            "write": (None, 30, 50, 20, 30, 40, 60, 20, 40, 40, 40, 40, 20, 50, 70, 50),
            "corner": (50, 70, 80, 80, 40, 40, 90, 70, 80, 70, 60, 40, 50, 60, 60, 40),
        },
    ),
    "repeat_flip_3d": Table(
        "9e",
        (1.0, 0.5, 0.1, 0.03),
        {
            "addr+val": (30, 20, 20, 40, 30, 30, 10, 10, 40, 10, 0, 20, 10, 10, 0, 10),
            "address": (20, 50, 30, 30, 30, 40, 20, 40, 20, 40, 20, 0, 0, 0, 20, 0),
            "value": (None, 0, 20, 20, 0, 0, 0, 0, 10, 10, 10, 0, 0, 0, 0, 0),
            "read": (30, 10, 40, 20, 10, 30, 20, 40, 30, 10, 0, 10, 20, 0, 10, 20),
            "write": (None, 0, 0, 10, 0, 0, 0, 0, 10, 10, 0, 0, 20, 20, 30, 0),
            "corner": (40, 40, 60, 20, 50, 30, 10, 30, 10, 10, 0, 0, 0, 10, 0, 10),
        },
        baseline=5,
    ),
}

# Figure 12: the mean error on the test set in %, by kind.
NRAM = {
    "list_k": {"none": 95.08, "single_hint": 93.61, "corners": 94.47, "single_timestep": 36.91, "full": 12.77,
               "registers": 93.22, "modules": 93.70},
    "swap": {"none": 91.52, "single_hint": 2.41, "corners": 99.09, "single_timestep": 1.75, "full": 11.01,
             "registers": 93.44, "modules": 95.57},
    "permute": {"none": 99.97, "single_hint": 57.55, "corners": 16.40, "single_timestep": 47.79, "full": 7.83,
                "registers": 99.97, "modules": 86.48},
    "increment": {"none": 99.91, "single_hint": 14.86, "corners": 2.14, "single_timestep": 13.77, "full": 9.89,
                  "registers": 90.36, "modules": 40.87},
    "merge": {"none": 99.96, "single_hint": 100.0, "corners": 100.0, "single_timestep": 100.0, "full": 78.44},
    "permute_noise": {"none": 99.99, "single_hint": 56.90, "corners": 20.79, "single_timestep": 33.60, "full": 23.57},
}  # fmt: skip
