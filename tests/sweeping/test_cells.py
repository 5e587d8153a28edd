"""Cells: the same run has one name, and whatever decides its result changes it."""

import importlib
from dataclasses import replace
from pathlib import Path

import pytest

from kleene.sweeping import cells as module
from kleene.sweeping.cells import cells_of, cells_of_plan, experiment_cell, lesson_of, teaching_cell
from kleene.teaching.lessons import lesson
from kleene.teaching.plan import Plan

COPY = {"task": "copy", "hints": "address", "iterations": 100, "seed": 1}
OWN = """
from kleene.programs.automata.library import get
from helper import NAME
def language(name=NAME):
    return get(name).build()
def first(trace):
    return {}
"""


def name(**settings):
    return teaching_cell(COPY | settings).name


def test_defaults_written_out_make_no_difference():
    plain = name()
    assert plain == name(density=1.0, strength=1.0, test_every=10, width=8, batch=32, clip=10.0)
    assert name(hints="none") == name(hints="none", density=0.3) == name(hints="none", strength=7.0)


@pytest.mark.parametrize(
    "change",
    [
        {"task": "reverse"}, {"hints": "read"}, {"density": 0.5}, {"strength": 0.1}, {"seed": 2}, {"iterations": 101},
        {"test_every": 20}, {"width": 9}, {"rate": 0.1}, {"lengths": [1, 2]}, {"hints": "none"},
    ],
)  # fmt: skip
def test_whatever_decides_the_result_changes_the_name(change):
    assert name(**change) != name()


def test_a_range_among_the_settings_is_kept_as_a_list():
    assert name(lengths=range(1, 4)) == name(lengths=[1, 2, 3])
    assert teaching_cell(COPY | {"lengths": range(1, 4)}).settings["lengths"] == [1, 2, 3]


def test_cells_share_a_program_unless_shapes_or_schedule_differ():
    first = teaching_cell(COPY)
    assert teaching_cell(COPY | {"hints": "none"}).program == first.program
    assert teaching_cell(COPY | {"density": 0.1, "seed": 9}).program == first.program
    assert teaching_cell(COPY | {"width": 9}).program != first.program
    assert teaching_cell(COPY | {"iterations": 7}).program != first.program


@pytest.fixture
def own(tmp_path) -> Path:
    (tmp_path / "helper.py").write_text('NAME = "tomita_1"\n')
    (tmp_path / "mine.py").write_text(OWN)
    return tmp_path / "mine.py"


def test_a_changed_module_beside_a_file_is_run_anew(own):
    made = lesson_of({"task": f"{own}:language"})
    (own.parent / "helper.py").write_text('NAME = "contains_abba"\n')
    cells_of("teach", [])  # forgets what was read
    assert made.task.dfa.accepts("11") is True
    assert lesson_of({"task": f"{own}:language"}).task.dfa.accepts("abba") is True


def of_own(path, **settings):
    given = {"task": f"{path}:language", "iterations": 5, "seed": 0} | settings
    return cells_of("teach", [given])[0].name


def test_a_changed_file_is_another_cell_and_so_is_a_changed_module_beside_it(own):
    before = of_own(own)
    assert of_own(own) == before
    own.write_text(OWN + "\n# changed\n")
    changed = of_own(own)
    assert changed != before
    (own.parent / "helper.py").write_text('NAME = "tomita_1"\n# changed\n')
    assert of_own(own) not in (before, changed)


def test_what_a_file_imports_counts_however_far_and_what_others_import_does_not(tmp_path, monkeypatch):
    for package in ("parts", "parts/inner"):
        (tmp_path / package).mkdir()
    files = {
        "mine.py": "def language():\n    from parts.inner import deep\n",
        "parts/__init__.py": "",
        "parts/inner/__init__.py": "",
        "parts/inner/deep.py": "from . import beside\nfrom .. import above\n",
        "parts/inner/beside.py": "import mine\n",  # in a circle
        "parts/above.py": "import json, numpy\n",
        "plots.py": "",
        "json.py": "",  # shadows a module of Python's own, as a file beside a script does
    }
    for file, text in files.items():
        (tmp_path / file).write_text(text)

    def code():
        module._file_code.cache_clear()
        return module._file_code(str(tmp_path / "mine.py"))

    before = code()
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("plots")  # by a notebook in the same folder, say
    assert code() == before
    for file in files:
        (tmp_path / file).write_text(files[file] + "\n# changed\n")
        assert (code() != before) == (file != "plots.py"), file
        (tmp_path / file).write_text(files[file])
    assert code() == before
    (tmp_path / "parts" / "inner" / "beside.py").write_text("no Python (")
    assert code() != before


def test_the_place_of_a_file_makes_no_difference(own, tmp_path):
    before = of_own(own)
    there = tmp_path / "elsewhere"
    there.mkdir()
    for file in ("mine.py", "helper.py"):
        (there / file).write_text((own.parent / file).read_text())
    assert of_own(there / "mine.py") == before


def test_hints_of_ones_own_are_known_by_their_code(own):
    plain = teaching_cell(COPY | {"hints": f"{own}:first"})
    own.write_text(OWN + "\n# changed\n")
    for cached in (module._lesson, module._file_code):
        cached.cache_clear()
    assert teaching_cell(COPY | {"hints": f"{own}:first"}).name != plain.name
    assert module.kind_of(plain) == "first"


def test_the_data_that_a_setting_names_is_part_of_the_name(tmp_path):
    text = tmp_path / "corpus.txt"
    text.write_text("the cat sat on the mat\n" * 200)
    given = {"task": f"text:{text}", "iterations": 3, "seed": 0, "hidden": 4}
    (before,) = cells_of("teach", [given])
    text.write_text("the dog sat on the mat\n" * 200)
    (after,) = cells_of("teach", [given])
    assert before.name != after.name


def test_a_version_that_is_raised_makes_another_cell(monkeypatch):
    taught, measured = name(), experiment_cell({"experiment": "ntm-copy"}).name
    monkeypatch.setitem(module.VERSIONS, "teach", 2)
    assert name() != taught
    assert experiment_cell({"experiment": "ntm-copy"}).name == measured
    monkeypatch.setitem(module.VERSIONS, "reproduce", 2)
    assert experiment_cell({"experiment": "ntm-copy"}).name != measured


def test_a_lesson_whose_version_is_raised_makes_another_cell(monkeypatch):
    before, made = name(), module.lesson_of
    monkeypatch.setattr(module, "lesson_of", lambda settings: replace(made(settings), version=2))
    assert name() != before


def test_names_stay_as_they_are_from_one_release_to_the_next():
    """They name the finished cells of users' stores: if they must change, read the old ones in `name_today`."""
    assert name() == "3d5ffd593a7e3a1c"
    assert experiment_cell({"experiment": "ntm-copy"}).name == "414a7af38eaa7310"


def test_the_cells_of_a_plan_are_its_runs():
    taught = lesson("copy", hints=("read",), lengths=range(1, 5))
    plan = Plan.grid(taught, kinds=("none", "read"), densities=(1.0, 0.5), seeds=2, iterations=10)
    cells = cells_of_plan(plan)
    assert len({cell.name for cell in cells}) == plan.runs == 6
    assert [cell.settings["seed"] for cell in cells] == [0, 1] * 3
    assert [cell.settings["hints"] for cell in cells] == ["none"] * 2 + ["read"] * 4
    assert lesson_of(cells[-1].settings).facts() == taught.facts()


def test_an_experiment_is_a_cell():
    quick = experiment_cell({"experiment": "ntm-copy"})
    assert quick.verb == "reproduce"
    assert quick.name != experiment_cell({"experiment": "ntm-copy", "full": True}).name
