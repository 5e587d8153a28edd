"""The tables of measurements that are not benchmarks: kills, random programs, Copy on two cores, runs that diverged."""

from collections.abc import Mapping
from typing import Any

from kleene_papers.stored import Result
from kleene_papers.tables import Table


def kills(found: Result) -> list[Table]:
    """What is left of a sweep whose workers and drivers were killed."""
    in_flight = found["cells_in_flight_at_each_kill"]
    attempts = "; ".join(str(count) for count in found["attempts"].values())
    times = f"{found['seconds_disturbed']:.0f} s; {found['seconds_undisturbed']:.0f} s"
    lines = {
        "workers killed; drivers killed": f"{found['workers_killed']}; {found['drivers_killed']}",
        "cells in flight with the killed, fewest and most": f"{min(in_flight)}; {max(in_flight)}",
        "cells; lines in the files of rows; set aside": f"{found['cells']}; {found['rows']}; {found['set_aside']}",
        "cells done at the first, second, third and fourth attempt": attempts,
        "measurements equal to those of the undisturbed sweep, bit by bit": "all"
        if found["equal_to_undisturbed"]
        else "not all",
        "time, with kills; undisturbed": f"{times} (load {found['load_average']:.0f} on 2 cores)",
    }
    return [Table(["", ""], [*lines.items()], "kills")]


def sweep_h200(found: Result) -> list[Table]:
    """What sweeps took on one H200."""
    lines = []
    for name, row in found.found.items():
        if "probes" in row:
            (probe,) = row["probes"].values()
            rate = probe["runs"] / probe["seconds_per_iteration"]
            time = f"{row['wall']:.0f} s, estimate for all {row['seconds']:.0f} s"
            lines.append([name, time, f"{rate:,.0f} with {probe['runs']} cells"])
        else:
            lines.append([name.replace(" x ", " × "), f"{row['seconds']:.1f} s", f"{row['rate']:,.0f}"])
    return [Table(["cells × iterations", "time", "cell·iterations a second"], lines, "sweeps")]


def random_programs(found: Result) -> list[Table]:
    """Tallies of random programs. The part of the million that was run again counts as it came out then."""
    attack, million, again = found.found.values()
    rest = million["done"] - again["done"]
    assert million["agree"] + len(million["failures"]) == million["done"]
    assert all(one["program"] % 1_000_000_000 <= again["done"] for one in million["failures"])
    counted = million | {
        "agree": rest + again["agree"],
        "refused": million["refused"] + again["refused"],
        "inputs": million["inputs"] * rest // million["done"] + again["inputs"],
    }
    tallies = {"compared with their networks": counted, "the part of these that was run again": again}
    tallies["certified, and attacked"] = attack
    head = ["random programs", "programs", "agree, or certificate stood", "refused, or not certified", "inputs", "time"]
    return [Table(head, [_tally(*item) for item in tallies.items()], "tallies")]


def _tally(name: str, of: Mapping[str, Any]) -> list[str]:
    return [name, *(f"{of[key]:,}" for key in ("done", "agree", "refused", "inputs")), f"{of['seconds']:,.0f} s"]


def copy(found: Result) -> list[Table]:
    """Copy on two cores: machines that pass the last test, from when on, and how sharp the reading head is."""

    def cells(row: Mapping[str, Any]) -> list[str]:
        reached = [hit for hit in row["first_hit"] if hit is not None]
        low, high = (100 * end for end in row["interval"])
        passed = f"{row['generalised']} of {row['seeds']} ({low:.0f}–{high:.0f}%)"
        first = str(reached[0]) if min(reached) == max(reached) else f"{min(reached)} to {max(reached)}"
        return [row["hints"], passed, f"{len(reached)} of {row['seeds']}, first at {first}", f"{row['peak']:.3f}"]

    head = ["hints", f"pass after {found['iterations']} iterations (95%)", "pass at some test", "read peak"]
    return [Table(head, [cells(row) for row in found.rows], "Copy on two cores")]


def diverged(found: Result) -> list[Table]:
    """Runs of the NRAM by what was changed: the update at which each diverged, or that it did not."""
    ways = {name: row for name, row in found.found.items() if name != "seeds"}
    lines = [
        [name, *(f"none in {n}" if alive else f"at {n}" for n, alive in zip(row["updates"], row["alive"], strict=True))]
        for name, row in ways.items()
    ]
    lowest = "lowest probability of a right value in the next batch"
    lines += [[f"{name}: {lowest}", *(f"{p:g}" for p in row[lowest])] for name, row in ways.items() if lowest in row]
    return [Table(["updates until it diverged", *(f"seed {seed}" for seed in found["seeds"])], lines, "diverged")]
