"""Sweep files: what their cells are, and what is said about mistakes."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError, KleeneError
from kleene.files import MOST_TEXT
from kleene.sweeping.cells import cells_of
from kleene.sweeping.definition.reading import read_sweep

EXAMPLE = Path(__file__).parents[2] / "examples" / "copy.toml"
OWN = """
from kleene.teaching.lessons import lesson as made

def small(hidden: int = 4, twist: float = 1.0):
    return made("dfa:tomita_1", hidden=hidden)

def automaton():
    import kleene
    return kleene.DFA.from_regex("(ab)*")

def broken():
    raise OSError("no disk")

def picky(size: int = 0, rows: int = 1):
    return [made("dfa:tomita_1")][size]

def all_states(trace):
    return {}

constant = 3
"""


def written(folder: Path, text: str, name: str = "sweep.toml") -> Path:
    (folder / "own.py").write_text(OWN)
    (folder / name).write_text(text)
    return folder / name


def settings(content: dict) -> list[dict]:
    return list(read_sweep(content).settings)


def test_the_example_has_the_cells_that_its_comments_say():
    sweep = read_sweep(EXAMPLE)
    expected = [("none", None), *itertools.product(("address", "read"), (1.0, 0.3, 0.1))]
    found = [(cell["hints"], cell.get("density"), cell["seed"]) for cell in sweep.settings]
    assert found == [(*setting, seed) for setting in expected for seed in range(5)]
    assert (sweep.name, sweep.verb, sweep.store) == ("copy", "teach", Path("results/copy"))
    assert (sweep.folder, sweep.cpus, sweep.gpus) == (EXAMPLE.parent, 1.0, 0.0)
    assert len({cell.name for cell in cells_of("teach", sweep.settings)}) == len(sweep.settings) == 35


def test_the_parts_that_the_example_comments_out_can_be_used(tmp_path):
    text = EXAMPLE.read_text()
    start = text.index("# [[cells]]")
    used = [line[2:] if line[2:3] == "[" or " = " in line else line for line in text[start:].splitlines()]
    found = read_sweep(written(tmp_path, text[:start] + "\n".join(used))).settings
    assert len(found) == 7 * 20 * 5 + 5
    assert found[-1] == {
        "task": "copy", "iterations": 500, "test_every": 100, "hints": "read", "strength": 0.3, "seed": 4
    }  # fmt: skip


def test_every_table_adds_its_cells_in_the_order_of_the_file(tmp_path):
    path = written(
        tmp_path,
        """
        name = "mine"
        store = "kept/here"
        [settings]
        task = "dfa:tomita_4"
        [grid]
        machine = ["rnn", "lstm"]
        rate = [1, 0.5]
        seed = [7, 2]
        [[cells]]
        hints = "states"
        density = 1
        seeds = 2
        first_seed = 100
        [[cells]]
        hidden = 8
        seed = 3
        [[cells]]
        hidden = 9
        [resources]
        cpus = 2
        gpus = 0.5
        """,
    )
    sweep, task = read_sweep(path), {"task": "dfa:tomita_4"}
    grid = [{"machine": m, "rate": r, "seed": s} for m in ("rnn", "lstm") for r in (1.0, 0.5) for s in (7, 2)]
    cells = [{"hints": "states", "density": 1.0, "seed": s} for s in (100, 101)]
    cells += [{"hidden": 8, "seed": 3}, {"hidden": 9, "seed": 7}, {"hidden": 9, "seed": 2}]
    assert list(sweep.settings) == [task | cell for cell in grid + cells]
    assert (sweep.name, sweep.store, sweep.cpus, sweep.gpus) == ("mine", Path("kept/here"), 2.0, 0.5)


def test_a_list_of_cells_alone_is_a_sweep_of_these_cells_only():
    content = {"settings": {"seeds": 1}, "cells": [{"task": "copy"}, {"task": "swap", "hidden": 8}]}
    assert settings(content) == [{"task": "copy", "seed": 0}, {"task": "swap", "hidden": 8, "seed": 0}]


def test_without_seeds_a_lesson_has_as_many_as_teach_gives_it(tmp_path):
    assert [cell["seed"] for cell in settings({"settings": {"task": "copy"}})] == list(range(10))
    assert [cell["seed"] for cell in settings({"settings": {"task": "copy", "first_seed": 5}})] == list(range(5, 15))
    (tmp_path / "words.txt").write_text("a b")
    path = written(tmp_path, 'settings = {task = "text:words.txt", vocabulary = 3}')
    assert list(read_sweep(path).settings) == [{"task": f"text:{tmp_path}/words.txt", "vocabulary": 3, "seed": 0}]


@pytest.mark.parametrize("hints", [{}, {"hints": "none"}])
def test_runs_without_hints_are_made_once_and_not_once_a_density(hints):
    content = {"settings": {"task": "copy", "seeds": 2, **hints}, "grid": {"density": [1.0, 0.1], "strength": [1, 2]}}
    assert settings(content) == [{"task": "copy", **hints, "seed": 0}, {"task": "copy", **hints, "seed": 1}]


def test_a_whole_density_is_the_same_cell_as_a_real_one():
    content = {"settings": {"task": "copy", "seeds": 1, "hints": "read"}, "grid": {"density": [1, 1.0]}}
    assert json.dumps(settings(content)) == '[{"task": "copy", "hints": "read", "density": 1.0, "seed": 0}]'


def test_the_same_cell_twice_is_one_cell_however_it_is_written():
    grid = {"rate": [1, 1.0], "hidden": [4, 4]}
    cells = [{"hidden": 4, "rate": 1}, {"rate": 1.0, "hidden": 4, "hints": "none", "density": 0.5}]
    first, *others = settings({"settings": {"task": "swap", "seeds": 1}, "grid": grid, "cells": cells})
    assert json.dumps(first) == '{"task": "swap", "rate": 1.0, "hidden": 4, "seed": 0}'
    assert others == [{**first, "hints": "none"}]  # a default that is written out stays, and
    assert len(cells_of("teach", [first, *others])) == 1  # makes no other cell


def test_files_beside_the_sweep_are_found_from_anywhere(tmp_path, monkeypatch):
    text = """
    [settings]
    seeds = 1
    [[cells]]
    task = "own.py:small"
    hints = "own.py:all_states"
    twist = 2
    [[cells]]
    task = "own.py:automaton"
    hidden = 5
    """
    path = written(tmp_path, text)
    monkeypatch.chdir("/")
    small, automaton = read_sweep(path).settings
    own = f"{tmp_path}/own.py"
    assert small == {"task": f"{own}:small", "hints": f"{own}:all_states", "twist": 2.0, "seed": 0}
    assert automaton == {"task": f"{own}:automaton", "hidden": 5, "seed": 0}
    monkeypatch.chdir(tmp_path)
    assert settings({"settings": {"task": "own.py:small", "seed": 1}}) == [{"task": small["task"], "seed": 1}]


def test_a_reproduce_sweep_has_experiments_and_no_seeds(tmp_path):
    (tmp_path / "lm.safetensors").write_text("")
    text = 'verb = "reproduce"\n[settings]\niterations = 5\n[grid]\n'
    text += 'experiment = ["rules", "english"]\nfull = [true, false]'
    found = [{"iterations": 5, "experiment": e, "full": f} for e in ("rules", "english") for f in (True, False)]
    assert list(read_sweep(written(tmp_path, text), experiments=["rules", "english"]).settings) == found
    with pytest.raises(InputError, match=r"line 5: no experiment 'rules'; did you mean rule-corpora\?"):
        read_sweep(written(tmp_path, text), experiments=["rule-corpora", "english"])
    cell = 'verb = "reproduce"\n[[cells]]\nexperiment = "english"\nmodel = "lm.safetensors"'
    assert read_sweep(written(tmp_path, cell)).settings[0]["model"] == f"{tmp_path}/lm.safetensors"
    assert read_sweep(written(tmp_path, f"{cell}\nnetworks = 3")).settings[0]["networks"] == 3
    with pytest.raises(InputError, match="how many networks, a whole number above 0"):
        read_sweep(written(tmp_path, f"{cell}\nnetworks = 0"))


def test_arrays_tuples_and_paths_are_taken_in_a_dict(tmp_path):
    path = written(tmp_path, "")
    content = {"settings": {"task": f"{path.parent / 'own.py'}:small"}, "grid": {"twist": np.array([1.0, 2.0])}}
    content["grid"] |= {"seed": range(2), "hidden": (3, 4)}
    found = [(cell["twist"], cell["hidden"], cell["seed"]) for cell in settings(content)]
    assert found == list(itertools.product((1.0, 2.0), (3, 4), (0, 1)))
    assert read_sweep(content | {"store": tmp_path}).store == tmp_path


def test_a_list_that_is_one_value_is_written_inside_another():
    content = {"settings": {"task": "copy", "seeds": 1}, "grid": {"lengths": [[5, 10], [5]]}}
    assert [cell["lengths"] for cell in settings(content)] == [[5, 10], [5]]


# draws


def drawn(random: dict, **grid) -> list[dict]:
    return settings({"settings": {"task": "swap", "seed": 0, "hints": "full"}, "grid": grid, "random": random})


def test_draws_stay_between_their_bounds_and_whole_bounds_give_whole_numbers():
    spreads = {
        "strength": {"from": 0, "to": 1},
        "rate": {"from": 0.001, "to": 0.1, "scale": "log"},
        "hidden": {"from": 2, "to": 4},
        "batch": {"from": 1, "to": 100, "scale": "log"},
        "tests": {"choose": [8, 16]},
    }
    cells = drawn({"draws": 300, **spreads})
    found = {name: [cell[name] for cell in cells] for name in spreads}
    assert set(found["hidden"]) == {2, 3, 4}
    assert set(found["tests"]) == {8, 16}
    assert all(isinstance(value, int) and 1 <= value <= 100 for value in found["batch"])
    assert all(0.001 <= value <= 0.1 for value in found["rate"])
    assert all(isinstance(value, float) and 0 <= value <= 1 for value in found["strength"])
    assert len(set(found["strength"])) > 290  # real numbers, although the bounds are whole
    assert sum(value < 0.01 for value in found["rate"]) in range(110, 190)  # the middle of the log scale
    assert sum(value < 10 for value in found["batch"]) in range(110, 190)


def test_draws_depend_on_the_seed_and_on_the_own_name_only():
    rate = {"rate": {"from": 0.0, "to": 1.0}}
    alone = [cell["rate"] for cell in drawn({"draws": 5, **rate})]
    assert [cell["rate"] for cell in drawn({"draws": 5, "noise": {"from": 0.0, "to": 1.0}, **rate})] == alone
    assert [cell["rate"] for cell in drawn({"draws": 9, **rate})][:5] == alone
    assert [cell["rate"] for cell in drawn({"draws": 5, "seed": 1, **rate})] != alone
    both = drawn({"draws": 5, "noise": {"from": 0.0, "to": 1.0}, **rate})
    assert all(cell["rate"] != cell["noise"] for cell in both)
    assert alone == [0.981314, 0.718291, 0.436996, 0.802948, 0.852337]  # other draws would be other cells of a store


def test_every_draw_is_combined_with_every_combination_of_the_grid():
    cells = drawn({"draws": 3, "hidden": {"from": 1, "to": 10**6}}, density=[1.0, 0.5])
    first, second = cells[:3], cells[3:]
    assert [cell["hidden"] for cell in first] == [cell["hidden"] for cell in second]
    assert [cell["density"] for cell in cells] == [1.0] * 3 + [0.5] * 3


# properties

GRIDS = st.fixed_dictionaries(
    {},
    optional={
        "hints": st.lists(st.sampled_from(["full", "corners", "registers"]), min_size=1, max_size=3),
        "density": st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=1, max_size=3),
        "hidden": st.lists(st.integers(1, 4), min_size=1, max_size=3),
        "rate": st.lists(st.sampled_from([0.5, 1e-3]), min_size=1, max_size=2),
    },
)


@st.composite
def sweeps(draw) -> dict:
    grid = draw(GRIDS)
    shared = {"task": "swap", "seeds": draw(st.integers(1, 3)), "first_seed": draw(st.integers(0, 9))}
    return {"settings": shared | ({} if "hints" in grid else {"hints": "full"}), "grid": grid}


@given(sweeps())
def test_every_combination_is_there_exactly_once(content):
    shared, grid = dict(content["settings"]), content["grid"]
    count, first = shared.pop("seeds"), shared.pop("first_seed")
    combinations = [shared | dict(zip(grid, values)) for values in itertools.product(*grid.values())]
    expected = [{**one, "seed": seed} for one in combinations for seed in range(first, first + count)]
    found = settings(content)
    assert all(one in found for one in expected)
    assert all(one in expected for one in found)
    assert len({json.dumps(one, sort_keys=True) for one in found}) == len(found)
    assert found == list({json.dumps(one): one for one in expected}.values())  # in the order of the file


def as_toml(content: dict) -> str:
    """The sweep as a file; JSON's numbers, texts and lists are TOML's."""
    tables = [(name, table) for name, table in content.items() if name != "cells"]
    shown = [f"[{name}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in table.items()) for name, table in tables]
    for cell in content.get("cells", []):
        shown.append("[[cells]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in cell.items()))
    return "\n".join(shown)


@given(sweeps(), st.lists(GRIDS, max_size=2))
def test_a_dict_and_a_file_give_the_same_cells(tmp_path_factory, content, cells):
    content["cells"] = [{key: values[0] for key, values in cell.items()} for cell in cells]
    path = written(tmp_path_factory.mktemp("sweep"), as_toml(content))
    assert json.dumps(settings(content)) == json.dumps(read_sweep(path).settings)


# mistakes

TASK = '[settings]\ntask = "copy"\n'  # lines 1 and 2
RANDOM = TASK + "[random]\ndraws = 5\n"  # lines 1 to 4
BROKEN = {
    "name = x": ["is not TOML", "line 1, column 8"],
    f"x = {'[' * 5000}": ["nested too deeply"],
    f"x = {'1' * 5000}": ["is not TOML", "digits"],
    "settings = 3": ["line 1", "settings is 3", "write [settings]"],
    "cells = 3": ["line 1", "[[cells]]"],
    'cells = ["copy"]': ["line 1", "[[cells]]"],
    "# a comment\nsetings = 3": ["line 2", "'setings'", "did you mean settings?"],
    "task = 'copy'": ["line 1", "task is a setting", "below [settings]"],
    TASK + "[resources]\ncpu = 1": ["line 4", "'cpu'", "did you mean cpus?"],
    TASK + "[resources]\ngpus = -1": ["line 4", "gpus is -1"],
    "name = 'a/b'\n" + TASK: ["line 1", "name is 'a/b'", "slash"],
    "\nverb = 'learn'\n" + TASK: ["line 2", "verb is 'learn'", "teach or reproduce"],
    "store = 3\n" + TASK: ["line 1", "store is 3"],
    "": ["there is no task", 'task = "copy"'],
    "[settings]\niterations = 3": ["line 1", "there is no task"],
    '[[cells]]\ntask = "copy"\n[[cells]]\nhints = "read"': ["line 3", "there is no task"],
    'verb = "reproduce"\n[settings]\nfull = true': ["line 2", "there is no experiment"],
    # settings
    TASK + "iteration = 5": ["line 3", "'copy' has no setting 'iteration'", "did you mean iterations?"],
    TASK + "hidden = 5": ["line 3", "'copy' has no setting 'hidden'", "width"],
    TASK + "[[cells]]\nhints = 'read'\n[[cells]]\n\nwidht = 4": ["line 7", "'widht'", "did you mean width?"],
    TASK + "[grid]\nwidht = [4]": ["line 4", "'widht'", "did you mean width?"],
    RANDOM + "widht = {choose = [4]}": ["line 5", "'widht'", "did you mean width?"],
    TASK + "stop_after = 3": ["line 3", "'stop_after'", "depend on the cells"],
    TASK + "checkpoint = 'x'": ["line 3", "'checkpoint'", "in its store"],
    TASK + "[grid]\nmodel = ['x']": ["line 4", "'model'", "in its store"],
    TASK + "results = 'x'": ["line 3", "'results'", "in its store"],
    RANDOM + "heads = {choose = ['x']}": ["line 5", "'heads'", "in its store"],
    TASK + "iterations = 0": ["line 3", "iterations is 0", "whole number"],
    TASK + f"iterations = {10**20}": ["line 3", f"iterations is {10**20}", "at most 1,000,000,000"],
    TASK + f"width = {10**20}": ["line 3", f"width is {10**20}", "10,000 at most"],
    TASK + "iterations = true": ["line 3", "iterations is True", "whole number"],
    TASK + "test_every = 1.5": ["line 3", "test_every is 1.5"],
    TASK + "density = 2": ["line 3", "density is 2", "from 0 to 1"],
    TASK + "strength = -1": ["line 3", "strength is -1"],
    TASK + "strength = inf": ["line 3", "strength is inf", "finite"],
    TASK + "width = 1e400": ["line 3", "width is inf", "finite"],
    TASK + "width = 2020-01-01": ["line 3", "width is datetime.date"],
    TASK + "width = {a = 1}": ["line 3", "width is {'a': 1}"],
    TASK + "width = 'wide'": ["line 3", "width is 'wide'", "a whole number, 1 to 10,000, for 'copy'"],
    TASK + "rate = 0": ["line 3", "rate is 0", "above 0"],
    TASK + "width = 4\nbatch = 0": ["line 4", "batch is 0"],
    "[settings]\ntask = 'swap'\n[grid]\nbatch = [4,\n0]": ["line 5", "batch is 0"],
    "[settings]\ntask = 'own.py:picky'\nrows = 3\nsize = 5": ["picky() in", "IndexError"],
    TASK + "hints = 'adress'": ["line 3", "'adress'", "did you mean address?"],
    TASK + "hints = 'none,read'": ["line 3", "'none,read'", "list in [grid]"],
    TASK + "hints = 'all'": ["line 3", "'all'", "list in [grid]"],
    TASK + "hints = 'own.py:constant'": ["line 3", "int; a policy is a function"],
    TASK + "hints = 'missing.py:x'": ["line 3", "there is no file 'missing.py'"],
    TASK + "machine = 'rnn'": ["line 3", "'copy' is not for the machine 'rnn'", "ntm"],
    "[settings]\n\ntask = 'coppy'": ["line 3", "no task 'coppy'", "did you mean copy?"],
    "[settings]\ntask = 3": ["line 2", "task is 3"],
    "[grid]\ntask = ['copy',\n'dfa:(']": ["line 3", "("],
    f"[settings]\ntask = 'text:{'x' * 5000}'": ["line 2", "there is no file"],
    "[settings]\ntask = 'text:missing.txt'": ["line 2", "there is no file 'missing.txt'"],
    "[settings]\ntask = 'circuit:missing.nram'": ["line 2", "missing.nram"],
    "[settings]\ntask = 'own.py:nothing'": ["line 2", "defines no 'nothing'"],
    "[settings]\ntask = 'own.py:constant'": ["line 2", "a int cannot be taught"],
    "[settings]\ntask = 'own.py:broken'": ["line 2", "broken()", "OSError: no disk"],
    "[settings]\ntask = 'own.py:small'\ntwits = 3": ["line 3", "'twits'", "did you mean twist?"],
    "[settings]\ntask = 'own.py:small'\ntwist = 'x'": ["line 3", "twist is 'x'", "a number"],
    "[settings]\ntask = 'own.py:small'\nbatch = 4": ["line 3", "no setting 'batch'"],
    # lists
    TASK + "density = [1.0]": ["line 3", "density is a list", "put it into [grid]"],
    TASK + "[[cells]]\nwidth = [4, 8]": ["line 4", "width is a list", "put it into [grid]"],
    TASK + "[grid]\ndensity = 1.0": ["line 4", "density is 1.0", "list", "[settings]"],
    TASK + "[grid]\ndensity = []": ["line 4", "density is []", "at least one value"],
    TASK + "[grid]\ndensity = [\n1.0,\n'dense']": ["line 6", "density is 'dense'"],
    TASK + "[grid]\ndensity = [[1.0, 0.5]]": ["line 4", "density is [1.0, 0.5]"],
    TASK + "[grid]\nwidth = [8,\n'wide']": ["line 5", "width is 'wide'"],
    TASK + "[grid]\nlengths = [5, 10]": ["line 4", "lengths is 5", "[[1, 2]]"],
    TASK + "width = 8\n[grid]\nwidth = [4, 8]": ["line 5", "width is in [settings] and in [grid]"],
    # seeds
    TASK + "seed = 1\nseeds = 3": ["line 4", "seed and seeds are both there"],
    TASK + "seeds = 3\n[grid]\nseed = [1]": ["line 5", "seeds and seed are both there"],
    TASK + "seed = 3\nfirst_seed = 3": ["line 4", "seed and first_seed"],
    TASK + "seeds = 3\n[grid]\nseeds = 4": ["line 5", "seeds is there twice"],
    TASK + "[[cells]]\nseed = 1\nseeds = 3": ["line 5", "seed and seeds"],
    TASK + "seed = [1, 2]": ["line 3", "seed is a list", "put it into [grid]"],
    TASK + "[grid]\nseed = 3": ["line 4", "seed is 3", "list"],
    TASK + "[grid]\nseed = [0,\n-1]": ["line 5", "seed is -1"],
    TASK + "seed = -1": ["line 3", "seed is -1", "from 0 to"],
    TASK + "seeds = 0": ["line 3", "seeds is 0"],
    TASK + "seeds = 'many'": ["line 3", "seeds is 'many'"],
    TASK + "first_seed = 4294967290": ["the seeds are 4294967290 to 4294967299"],
    TASK + "seeds = 4294967296": ["4,294,967,296 cells", "1,000,000"],
    "verb = 'reproduce'\n[settings]\nexperiment = 'rules'\nseeds = 3": ["line 4", "reproduce has no setting 'seeds'"],
    "verb = 'reproduce'\n[settings]\nexperiment = 'rules'\nful = true": ["line 4", "did you mean full?"],
    "verb = 'reproduce'\n[settings]\nexperiment = 'rules'\nfolder = 'x'": ["line 4", "'folder'", "in its store"],
    "verb = 'reproduce'\n[settings]\nexperiment = 'rules'\nfull = 1": ["line 4", "full is 1", "true or false"],
    # draws
    TASK + "[random]\nwidth = {choose = [4]}": ["line 3", "[random] has no draws"],
    TASK + "[random]\ndraws = 'many'": ["line 4", "draws is 'many'", "draws = 50"],
    TASK + "[random]\ndraws = 0": ["line 4", "draws is 0"],
    TASK + "[random]\ndraws = 1000000000000\nrate = {from = 1, to = 2}": ["1,000,000,000,000 cells"],
    RANDOM: ["line 3", "nothing to draw"],
    RANDOM + "seed = -1": ["line 5", "seed is -1"],
    RANDOM + "seeds = {from = 1, to = 3}": ["line 5", "seeds cannot be drawn"],
    RANDOM + "rate = 0.1": ["line 5", "rate is 0.1", "{from = 0.01, to = 1.0}"],
    RANDOM + "rate = {form = 1, to = 2}": ["line 5", "'form'", "did you mean from?"],
    RANDOM + "rate = {from = 1}": ["line 5", "rate has from", "{from = 0.01, to = 1.0}"],
    RANDOM + "rate = {from = 1, choose = [1]}": ["line 5", "rate has from and choose"],
    RANDOM + "rate = {}": ["line 5", "rate has no keys"],
    RANDOM + "rate = {from = 2, to = 1}": ["line 5", "from 2 to 1"],
    RANDOM + "rate = {from = '1', to = 2}": ["line 5", "from is '1'"],
    RANDOM + "rate = {from = 1, to = nan}": ["line 5", "to is nan"],
    RANDOM + "rate = {from = 0, to = 1, scale = 'log'}": ["line 5", "log scale begins above 0"],
    RANDOM + "[random.rate]\nfrom = 1\nto = 2\nscale = 'cubic'": ["line 8", "scale is 'cubic'", "linear"],
    RANDOM + "rate = {choose = []}": ["line 5", "choose is []"],
    RANDOM + "rate = {choose = 3}": ["line 5", "choose is 3"],
    RANDOM + "density = {from = 0, to = 2}": ["line 5", "density is 2"],
    RANDOM + "hints = {choose = ['none',\n'adress']}": ["line 5", "'adress'", "did you mean address?"],
    RANDOM + "density = {choose = [[1]]}": ["line 5", "density is [1]"],
    RANDOM + "rate = {from = 1, to = 2}\n[grid]\nrate = [1]": ["line 5", "rate is in [grid] and in [random]"],
}


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[-50:])
def test_a_broken_file_is_refused_by_line_and_key(tmp_path, monkeypatch, text):
    path = written(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as error:
        read_sweep(path)
    message = str(error.value)
    assert str(path) in message
    assert [words for words in BROKEN[text] if words not in message] == []


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with (tmp_path / "large.toml").open("wb") as file:
        file.truncate(MOST_TEXT + 1)
    expected = {"missing": "there is no file", "latin": "not a text in UTF-8", "large": "too large"}
    for name, words in expected.items():
        with pytest.raises(KleeneError, match=rf"{name}\.toml.*{words}|{words}.*{name}\.toml"):
            read_sweep(tmp_path / f"{name}.toml")
    with pytest.raises(KleeneError, match="directory"):
        read_sweep(tmp_path)


def test_a_mistake_in_a_dict_is_named_by_its_path():
    with pytest.raises(InputError, match=r"the sweep, in grid\.density\.1: density is 2"):
        read_sweep({"settings": {"task": "copy"}, "grid": {"density": [1, 2]}})
    with pytest.raises(InputError, match=r"the sweep, in grids: .*did you mean grid\?"):
        read_sweep({"grids": {}})


def test_the_most_cells_are_a_limit_after_cells_that_come_twice_are_dropped():
    content = {"settings": {"task": "copy", "seeds": 3}, "grid": {"hints": ["none", "read"], "density": [1, 1.0]}}
    assert len(read_sweep(content, most_cells=6).settings) == 6
    with pytest.raises(InputError, match="6 cells or more, and at most 5"):
        read_sweep(content, most_cells=5)


def test_files_from_other_systems_are_read(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_bytes(b"\xef\xbb\xbf[settings]\r\ntask = 'copy'\r\nwidht = 3\r\n")
    with pytest.raises(InputError, match="line 3: 'copy' has no setting 'widht'"):
        read_sweep(path)
