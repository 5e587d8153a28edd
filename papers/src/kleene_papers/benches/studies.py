"""The studies of this room by name, and the functions that its pages use. None is run by `kleene reproduce --run`."""

from pathlib import Path

from kleene.pictures.plots import cost_curves
from kleene_papers.benches import checks, plans
from kleene_papers.benches.compiled import programs_expressed, turing_cells, turing_sizes
from kleene_papers.benches.rows import by_name, shown, tables, times
from kleene_papers.stored import Result, stored
from kleene_papers.study import Study

MACHINES = {"2-cores": "2 cores", "h200": "one H200"}
BENCHES = {  # the machines on which each was run, and what it measures
    "all": (("2-cores",), "All benchmarks in one run"),
    "alta": (("2-cores",), "Sizes and speed of transformer programs and their networks"),
    "automata": (("2-cores",), "Sizes and speed of networks of automata and Turing machines"),
    "interdependence": (("2-cores", "h200"), "How fast interdependence of all pairs of words is"),
    "learnability": (("2-cores",), "How fast Transformers are taught, and pairs of the MLP are found"),
    "scan": (("2-cores", "h200"), "Both programs for SCAN on all 20,910 commands, and how the network's time grows"),
    "sweep": (("2-cores",), "What a sweep costs beside the teaching itself"),
    "teach": (("2-cores", "h200"), "How fast NTMs and NRAMs are taught"),
}
FIGURE_9 = ("9a-8000", "9b-8000", "9c-after", "9d-7000", "9e")


def growth(result: Result, path: Path) -> Path:
    """Draw how the time of a network grows with positions, batch and layers."""
    return cost_curves(
        result.rows, path, title=f"addition in the network, {MACHINES[result.name[len('bench-scan-') :]]}"
    )


def bench(name: str, what: str) -> str:
    """What a stored benchmark measured, with its unit."""
    return shown(by_name(stored(name).rows)[what])


def bench_times(name: str, what: str) -> str:
    """How many times as good as its peer a stored benchmark was."""
    return times(by_name(stored(name).rows)[what])


STUDIES: tuple[Study, ...] = (
    *(
        Study(
            name=f"bench-{name}-{machine}",
            shows=f"{shows}, on {MACHINES[machine]}",
            tables=tables,
            draw=growth if name == "scan" else None,
        )
        for name, (machines, shows) in BENCHES.items()
        for machine in machines
    ),
    Study("bench-sweep-h200", "What sweeps take on one H200", checks.sweep_h200),
    Study(
        "bench-10000-cells",
        "What a sweep of 10,000 cells would take on H200s, by measured rates",
        plans.large_sweep,
        of=("bench-teach-h200", "bench-sweep-h200"),
    ),
    Study(
        "bench-figure-9",
        "How fast the grids of figure 9 of the partial-traces paper are on one H200, and what they take in pieces",
        plans.figure_9,
        of=("bench-teach-h200", *(f"traces-figure-{name}" for name in FIGURE_9)),
    ),
    Study("ours-sweeps-kills", "Nothing is lost or done twice where workers and drivers are killed", checks.kills),
    Study("ours-random-programs", "A million random programs agree with their networks", checks.random_programs),
    Study("ours-copy-500", "Copy is learned sooner with address hints, on two cores", checks.copy),
    Study("ours-diverged", "Why runs of the NRAM diverged", checks.diverged),
)
WORDS = (bench, bench_times, programs_expressed, turing_cells, turing_sizes)
