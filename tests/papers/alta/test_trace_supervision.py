"""ALTA's Table 2 and figure 4: the settings are the paper's, and a tiny run leaves its numbers and its picture."""

from dataclasses import replace

from kleene_papers.alta import trace_supervision as module
from kleene_papers.alta.trace_supervision import COLUMNS, bits, rows, summary, trace_supervision
from kleene_papers.registry import studies
from kleene_papers.stored import Result
from kleene_papers.study import run


def test_full_size_has_the_hyperparameters_of_table_1():
    found = {row.title: (*row.full.values(), row.steps["full"]) for row in rows().values()}
    assert [*rows()["parity_relative"].full] == ["depth", "hidden", "rate", "optimiser"]
    assert found == {
        "Sequential (Relative)": (2, 128, 1e-2, "adafactor", 50_000),
        "Sequential (Absolute)": (4, 4_096, 1e-4, "adam", 50_000),
        "Sum + Modulo": (4, 4_096, 1e-4, "adam", 400_000),
    }
    (plan,) = trace_supervision("full", names=["parity_sum_modulo"]).plans
    assert (plan.iterations, plan.lesson.facts()["batch"], plan.lesson.facts()["noise"]) == (400_000, 256, 0.1)
    assert rows()["parity_sum_modulo"].paper == (100, 78, 50)


def test_every_number_of_ones_has_as_many_words():
    found = bits(20, 5, seed=0)
    assert [sum(sum(row) == ones for row in found) for ones in range(21)] == [5] * 21
    assert all(1 <= len(row) <= 20 for row in found)
    assert bits(20, 5, seed=0) == found != bits(20, 5, seed=1)


def test_a_line_has_the_mean_the_range_the_minimal_version_and_the_paper():
    found = {
        "minimal": {"table": {column: [60.0] for column in COLUMNS}},
        "taught": {"table": {column: [90.0, 100.0] for column in COLUMNS}},
    }
    (line,) = summary({"Sum + Modulo": dict.fromkeys(COLUMNS, 78)}, {"Sum + Modulo": found})
    assert line.startswith("Sum + Modulo, 2 seeds: length <= 20: 95% (90–100), minimal 60%, paper 78%; length > 20")


def test_a_tiny_run_leaves_its_numbers_and_its_picture(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LONGEST", 3)
    monkeypatch.setattr(module, "FARTHEST", 6)
    tiny = {"depth": 1, "hidden": 8, "rate": 1e-3, "optimiser": "adam"}
    small = {name: replace(row, quick=tiny) for name, row in rows().items()}
    monkeypatch.setattr(module, "rows", lambda: small)
    content = run(studies()["alta-table-2"], trace_supervision(iterations=2, seeds=2, tests=3), tmp_path)
    kept = Result.load(tmp_path / "alta-table-2.json")
    assert kept["rows"] == content["rows"]
    assert [*kept["rows"]] == ["Sequential (Relative)", "Sequential (Absolute)", "Sum + Modulo"]
    found = kept["rows"]["Sum + Modulo"]
    assert found["words"] == 7 * 3
    assert [*found["taught"]["by_ones"]] == [*"0123456"]
    assert len(found["taught"]["table"]["length > 20"]) == 2
    assert found["original"]["table"]["ones > 20"] == [100]
    assert found["minimal"]["by_ones"]["5"] == [0]  # 3 ones at most in training
    assert kept["rows"]["Sequential (Relative)"]["minimal"]["table"]["ones > 20"] == [100]
    picture = (tmp_path / "alta-table-2.svg").read_text()
    assert all(word in picture for word in ("minimal version", "taught by trace supervision", "Sum + Modulo"))
