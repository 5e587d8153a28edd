"""The numbers in sentences on NRAMs, Neural GPUs and states as hints; see sentences.py."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from sentences import Sentence  # these two lie beside this file
from tables import NRAM, hinted, stored

from kleene_papers.traces import neural_gpu, nram_runs

STATED = "-stated"
ALL_SHOWN = ("paper", "on", "each")  # the variants that hint every connection of a circuit
NEEDED_SHOWN = ("holes", "stated")  # those that hint only the connections that the circuit needs


def errors(task: str, *kinds: str, variant: str = "", digits: int = 1) -> list[str]:
    """The errors of an NRAM with each kind of hint, in %, as the paper trains or in a variant."""
    found = stored(f"figure-12-{task}{variant}")["errors"]
    return [f"{found[kind]:.{digits}f}" for kind in kinds]


def of_paper(task: str, *kinds: str, digits: int = 1) -> list[str]:
    """The paper's errors with each kind of hint, in %."""
    found = stored(f"figure-12-{task}")["paper"]
    return [f"{found[kind]:.{digits}f}" for kind in kinds]


def with_paper(task: str, *kinds: str, digits: int = 1) -> list[str]:
    """The errors with each kind of hint as the paper trains, then the paper's, in %."""
    return [*errors(task, *kinds, digits=digits), *of_paper(task, *kinds, digits=digits)]


def updates(task: str, *kinds: str) -> list[str]:
    """The mean number of updates after which training ended with each kind of hint."""
    found = nram_runs.updates(stored(f"figure-12-{task}"))
    return [f"{found[kind]:.0f}" for kind in kinds]


def updates_of_full() -> list[str]:
    """The fewest and the most updates that full hints need, over the tasks of the paper's figure 11."""
    found = [nram_runs.updates(stored(f"figure-12-{task}"))["full"] for task in nram_runs.SECONDS]
    return [f"{min(found):.0f}", f"{max(found):.0f}"]


def some_updates_of_increment() -> list[str]:
    """The updates until training on Increment ended with full or single hints, to the nearest ten."""
    found = nram_runs.updates(stored("figure-12-increment"))
    mean = np.mean([found[kind] for kind in ("full", "single_hint", "single_timestep")])
    return [f"{round(mean, -1):.0f}"]


def completed(variant: str = "", tasks: Iterable[str] = NRAM.values()) -> tuple[int, int]:
    """How many runs of these tasks did not diverge, and how many were begun."""
    found = [nram_runs.completed_of_begun(stored(f"figure-12-{task}{variant}")) for task in tasks]
    return sum(right for right, _ in found), sum(begun for _, begun in found)


def diverged(variant: str = "", tasks: Iterable[str] = NRAM.values()) -> list[str]:
    """How many runs of these tasks diverged, and how many were begun."""
    right, begun = completed(variant, tasks)
    return [str(begun - right), str(begun)]


def setting(task: str, kind: str, variant: str = "") -> dict[str, Any]:
    """What is stored on the runs of a task with a kind of hint."""
    (row,) = hinted(stored(f"figure-12-{task}{variant}"), kind)
    return row


def corners_of_permute() -> list[str]:
    """How many runs of Permute with corners generalise, and how many did not diverge."""
    row = setting("permute", "corners", STATED)
    return [str(row["generalised"]), str(row["seeds"] - len(row["diverged"]))]


def learned_and_lost() -> list[str]:
    """PermuteNoise with full hints: the errors in the end, runs that ever generalise, all, and those in the end."""
    row = setting("permute_noise", "full", STATED)
    ever = sum(hit is not None for hit in row["first_hit"])
    return [*errors("permute_noise", "full", variant=STATED, digits=0), str(ever), str(row["seeds"]),
            str(row["generalised"])]  # fmt: skip


def lowest_probabilities() -> list[str]:
    """The negative probabilities of right values that ended runs, the lowest first, with two digits that count."""
    found = stored("diverged")["as it was"]["lowest probability of a right value in the next batch"]
    below = sorted(value for value in found if value < 0)
    return [np.format_float_positional(v, 2, fractional=False, trim="-").replace("-", "−") for v in below]


def by_variant(name: str, kind: str) -> dict[str, tuple[float, int, int]]:
    """Errors in %, runs that generalise, and all runs, by what differs from the paper's training."""
    content = stored(name)
    ((_, found),) = content["errors"].items()
    rows = zip(found, hinted(content, kind), strict=True)
    return {variant: (found[variant][kind], row["generalised"], row["seeds"]) for variant, row in rows}


def errors_of_variants(name: str, kind: str) -> list[float]:
    """The errors of all variants in %, the smallest first."""
    return sorted(error for error, _, _ in by_variant(name, kind).values())


def paper_of_variants(name: str, kind: str, digits: int = 0) -> str:
    """The paper's error in the task whose training was varied, in %."""
    ((_, found),) = stored(name)["paper"].items()
    return f"{found[kind]:.{digits}f}"


def corners_if_all_are_shown() -> list[str]:
    """The fewest and the most errors with corners in Increment if every connection is hinted, in %."""
    found = by_variant("nram-deviations", "corners")
    wrong = [found[variant][0] for variant in ALL_SHOWN]
    return [f"{min(wrong):.0f}", f"{max(wrong):.0f}"]


def corners_by_connections() -> list[str]:
    """As above, and a whole number that the errors are below if only the needed connections are hinted, in %."""
    found = by_variant("nram-deviations", "corners")
    return [*corners_if_all_are_shown(), str(math.ceil(max(found[variant][0] for variant in NEEDED_SHOWN)))]


def corners_that_generalise() -> list[str]:
    """The runs with corners in Increment that generalise, of all: with the needed connections, and with all of them."""
    found = by_variant("nram-deviations", "corners")
    counts = [sum(found[v][place] for v in variants) for variants in (NEEDED_SHOWN, ALL_SHOWN) for place in (1, 2)]
    return [str(count) for count in counts]


def claimed_deviations() -> list[str]:
    """Errors with corners in %: Increment with all connections, with the needed ones, the paper's, and Permute's."""
    needed = by_variant("nram-deviations", "corners")["holes"][0]
    papers = (paper_of_variants(name, "corners") for name in ("nram-deviations", "nram-deviations-permute"))
    return [*corners_if_all_are_shown(), f"{needed:.0f}", *papers]


def deviations_of_permute() -> list[str]:
    """Errors in Permute in %: corners at least, at most, in the paper; single hints at most, in the paper."""
    name = "nram-deviations-permute"
    corners, single = (errors_of_variants(name, kind) for kind in ("corners", "single_hint"))
    ours = [f"{corners[0]:.0f}", f"{corners[-1]:.0f}", paper_of_variants(name, "corners")]
    return [*ours, f"{single[-1]:.0f}", paper_of_variants(name, "single_hint")]


def right_on_some(machine: str, beyond: int = 0) -> tuple[int, int]:
    """The runs of a machine of figure 18 that are right on some memory of a greater difficulty than this, and all."""
    (row,) = (row for name, row in stored("figure-18")["errors"].items() if name.startswith(machine))
    wrong = np.array(row["each"])[:, np.array(row["difficulty"]) > beyond]
    return int((wrong < 100).any(axis=1).sum()), row["runs"]


def nrams_on_merge() -> tuple[int, int, int]:
    """All NRAMs of figure 18, those that are right on some memory, and those that are so beyond the training."""
    hardest = stored("figure-18")["plans"][1]["lesson"]["end"]
    (right, runs), (beyond, _) = right_on_some("NRAM"), right_on_some("NRAM", hardest)
    return runs, right, beyond


def claimed_merge() -> list[str]:
    """The NRAMs of figure 18 that are right on some memory beyond the training, all of them, and all Neural GPUs."""
    runs, _, beyond = nrams_on_merge()
    return [str(beyond), str(runs), str(right_on_some("Neural GPU")[1])]


def time_of_repeated() -> list[str]:
    """The updates of a Neural GPU a second, and the hours that runs on repeated examples take at that speed."""
    rate, (_, runs) = stored("figure-18")["settings"][0]["iterations_per_second"], neural_gpu.SIZES["full"]
    return [f"{rate:.0f}", f"{runs * neural_gpu.REPEATED['full'] / rate / 3600:.0f}"]


PAGE = [
    Sentence("With hints on modules the paper's Increment has {}% errors, ours {}%.",
             lambda: [*of_paper("increment", "modules"), *errors("increment", "modules", variant=STATED)]),
    Sentence("updates became {}% at 100. That is training for too long",
             lambda: errors("permute_noise", "full", variant=STATED, digits=0)),
    Sentence("stops at the last difficulty, they end after {} updates on average and leave {}%.",
             lambda: [*updates("permute_noise", "full"), *errors("permute_noise", "full")]),
    Sentence("Some runs diverged, {} of {}:", lambda: diverged(STATED)),
    Sentence("bad without the diverged runs too: at most {} of the {} others generalise", corners_of_permute),
    Sentence("the four seeds that had diverged ({}, {}, {}, {};",
             lambda: [str(seed) for seed in setting("permute", "none", STATED)["diverged"]]),
    Sentence("the lowest probability of a right value, computed once more, was {}, {} and {}.", lowest_probabilities),
    Sentence("The {} runs have not been taught again.", lambda: diverged(STATED)[:1]),
    Sentence("{} of the {} runs of Permute and PermuteNoise diverged, all without hints",
             lambda: diverged("", ("permute", "permute_noise"))),
    Sentence("Increment ends after some {} updates with full or single hints.", some_updates_of_increment),
    Sentence("Full hints then leave {}% of errors, nearer to the paper's {}% than the {}% of our variant, but corners "
             "leave {}%, where the paper has {}%. NoisyFull leaves {}%, no more than full hints",
             lambda: [*with_paper("increment", "full"), *errors("increment", "full", variant=STATED),
                      *with_paper("increment", "corners"), *errors("increment", "noisy_full")]),
    Sentence("In Swap only full hints are learned from, after {} of 100 updates on average",
             lambda: updates("swap", "full")),
    Sentence("In PermuteNoise full hints leave {}%, where our variant leaves {}%",
             lambda: [*errors("permute_noise", "full"), *errors("permute_noise", "full", variant=STATED)]),
    Sentence("updates became {}% at 100, and {} of its {} runs generalise at some test but {} at the last",
             learned_and_lost),
    Sentence("The paper's own {}% is nearer to our variant's.", lambda: of_paper("permute_noise", "full")),
    Sentence("Merge is learned by no run, and a little with full hints: {}% of errors, where our variant leaves {}% "
             "and the paper {}%.",
             lambda: [*errors("merge", "full"), *errors("merge", "full", variant=STATED), *of_paper("merge", "full")]),
    Sentence("Corners leave {} to {}% wrong if every connection of the circuit is hinted, also those that do not "
             "matter, and less than {}% in the two variants that hint only those that do", corners_by_connections),
    Sentence("(`holes` and `stated`: {} of {} runs generalise, in the other three {} of {})", corners_that_generalise),
    Sentence("Single hints leave at most {}% wrong in any variant, where the paper has {}%",
             lambda: [f"{errors_of_variants('nram-deviations', 'single_hint')[-1]:.1f}",
                      paper_of_variants("nram-deviations", "single_hint", digits=1)]),
    Sentence("corners leave {} to {}% wrong in all of them, in the paper {}%, and single hints at most {}%, in the "
             "paper {}%.", deviations_of_permute),
    Sentence("single timesteps, which end Increment and Permute early here too, after {} and {} updates",
             lambda: [*updates("increment", "single_timestep"), *updates("permute", "single_timestep")]),
    Sentence("most of its runs never leave the first difficulty ({} is the mean that they reach)",
             lambda: [f"{stored('figure-18')['settings'][1]['difficulty']:.1f}"]),
    Sentence("Of the {} NRAMs {} are right on some memory at the last test, and {} of them on some that are larger",
             lambda: [str(count) for count in nrams_on_merge()]),
    Sentence("at the speed of the first, {} updates of a run a second, it takes {} hours", time_of_repeated),
]  # fmt: skip
CLAIMS = [
    Sentence("Full traces and single timesteps leave {}% and {}% of errors in PermuteNoise, in the paper {}% and {}%",
             lambda: with_paper("permute_noise", "full", "single_timestep")),
    Sentence("Corners leave {}%, where the paper calls them nearly optimal",
             lambda: errors("permute_noise", "corners")),
    Sentence("Of ours {} of {} completed in our variant and {} of {} as the paper trains.",
             lambda: [str(count) for count in (*completed(STATED), *completed())]),
    Sentence("full traces end training sooner in all four tasks, after {} to {} of 100", updates_of_full),
    Sentence("NoisyFull does as well as full traces ({}% and {}% of errors), as there, and in ListK nearly as well "
             "({}% and {}%); corners leave {}%, in the paper {}%.",
             lambda: [*errors("increment", "noisy_full", "full"), *errors("list_k", "noisy_full", "full"),
                      *with_paper("increment", "corners")]),
    Sentence("Full traces leave {}% of errors, in the paper {}%; corners leave {}% ({}%), single hints and timesteps "
             "{}% and {}% ({}% and {}%).",
             lambda: [*with_paper("permute", "full"), *with_paper("permute", "corners"),
                      *with_paper("permute", "single_hint", "single_timestep")]),
    Sentence("the others hardly, as there: {}% and {}% of errors, in the paper {}% and {}%. Single hints leave {}%, in "
             "the paper {}%.",
             lambda: [*with_paper("list_k", "full", "single_timestep"), *with_paper("list_k", "single_hint")]),
    Sentence("except a little with full traces, as there: they leave {}% of errors, in the paper {}%",
             lambda: with_paper("merge", "full", digits=0)),
    Sentence("Beyond the difficulties of training {} of {} NRAMs are right on some memories, of {} Neural GPUs none",
             claimed_merge),
    Sentence("In Increment corners leave {} to {}% wrong if all connections are hinted, and {}% if only those are that "
             "the circuit needs (`holes`), in the paper {}%. In Permute no variant is near the paper's {}% for corners",
             claimed_deviations),
]  # fmt: skip
