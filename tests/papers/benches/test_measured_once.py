"""Measurements that are not benchmarks, the plans of large runs, and what is compiled for pages."""

import json
from dataclasses import replace
from pathlib import Path

from kleene.benched import Benched
from kleene.benchmarking import measured
from kleene_papers.benches import checks, compiled, plans
from kleene_papers.benches.studies import FIGURE_9
from kleene_papers.stored import stored

README = Path(__file__).parents[3] / "README.md"


def test_the_plan_of_figure_9_has_the_rates_of_the_benchmark(tmp_path):
    rates = {"copy": 100_000.0, "repeat_copy_twice": 76_000.0, "dyck_words": 52_000.0, "flip_3rd": 10_000.0}
    found = [
        measured(f"{task}, the grid of figure {plans.FIGURE_9[task]}, 960 runs, gpu", rate, "seed·iterations/s")
        for task, rate in rates.items()
    ]
    rows = json.loads(Benched({"teach": found}, {}).save(tmp_path / "rows.json").read_text())
    grids = [stored(f"traces-figure-{name}") for name in FIGURE_9]
    _, pieces = plans.figure_9(replace(stored("bench-teach-h200"), rows=rows), *grids)
    copied, *_, flipped, repeated = pieces.rows
    command = "`kleene reproduce traces-figure-9a --run full --first-seed 1000 --minutes 28`"
    assert copied == ["9a", "1,000", "100,000", "17 min", "1", command]
    assert flipped[:5] == ["9d", "1,000", "10,000", "2.8 h", "10"]
    assert flipped[5].endswith("--piece i/10`")
    assert repeated[:3] == ["9e", "1,000", "10,000"]


def test_the_speed_of_grids_is_beside_that_of_their_tables():
    speeds, _ = plans.figure_9(stored("bench-teach-h200"), *(stored(f"traces-figure-{name}") for name in FIGURE_9))
    assert [row[-1] for row in speeds.rows] == ["reached", "reached", "reached", "missed"]
    assert speeds.rows[0][:4] == ["copy (9a)", "582,803", "133,371", "4.4"]


def test_a_large_sweep_costs_as_much_as_the_rates_say():
    (table,) = plans.large_sweep(stored("bench-teach-h200"), stored("bench-sweep-h200"))
    assert table.rows[0] == ["1", "10,000", "600,000 with 4,000", "28 min", "0.46"]


def test_programs_that_were_run_again_count_as_they_came_out_then():
    (table,) = checks.random_programs(stored("ours-random-programs"))
    assert table.rows[0][1:4] == ["1,000,000", "999,999", "1"]


def test_no_cell_is_lost_or_done_twice():
    ((*_, (_, equal), _),) = (table.rows for table in checks.kills(stored("ours-sweeps-kills")))
    assert equal == "all"


def test_a_run_that_did_not_diverge_has_all_its_updates():
    (table,) = checks.diverged(stored("ours-diverged"))
    assert table.rows[0] == ["as it was", "at 61", "none in 100", "at 82", "at 83"]
    assert table.rows[1][1:] == ["none in 100"] * 4


def test_the_readme_says_how_many_machines_learned_copy():
    readme, found = " ".join(README.read_text().split()), stored("ours-copy-500")
    passed = {row["hints"]: f"{row['generalised']} of {row['seeds']}" for row in found.rows}
    assert f"After {found['iterations']} updates {passed['address']} NTMs pass" in readme
    assert f"with address hints, and {passed['none']} without" in readme


def test_layers_of_scan_are_those_that_were_measured():
    layers = {row["what"]: row["ours"] for row in stored("bench-scan-2-cores").rows}["scan_shift_reduce: layers, most"]
    assert f"| SCAN by shift-reduce parsing |  | {layers} at most |" in compiled.programs_expressed()


def test_a_machine_that_is_too_large_is_refused():
    *_, universal = compiled.turing_sizes().splitlines()
    assert "| refused | 1,350 (121,050) |" in universal
