"""`kleene.sweep`: what is run, what is not run again, and what a plan says before."""

import numpy as np
import pytest

import kleene
from kleene.errors import InputError, KleeneError, MemoryLimitError, UnfinishedError
from kleene.sweeping import packs, sweep, worker
from kleene.sweeping.store import CellStore, line_of, row_of
from kleene.sweeping.sweep import plan_sweep, swept_plans
from kleene.teaching import loop
from kleene.teaching.lessons import lesson
from kleene.teaching.plan import Plan
from kleene.teaching.reports import TeachingReport

SMALL = {"task": "dfa:tomita_1", "hidden": 4, "batch": 4, "iterations": 6, "test_every": 3}
TWO = {"settings": SMALL, "grid": {"hints": ["none", "states"], "seeds": 2}}


@pytest.fixture
def taught(monkeypatch):
    """The number of runs of each pack that is taught."""
    seen, teach = [], loop.teach

    def counted(plan, **options):
        seen.append(plan.runs)
        return teach(plan, **options)

    monkeypatch.setattr(worker.loop, "teach", counted)
    return seen


def test_only_what_is_not_there_is_run(tmp_path, taught):
    assert kleene.sweep(TWO, store=tmp_path / "s").done == 4
    again = kleene.sweep(TWO, store=tmp_path / "s")
    assert (again.done, again.finished, taught) == (4, True, [4])
    more = kleene.sweep(TWO | {"grid": {"hints": ["none", "states"], "seeds": 3}}, store=tmp_path / "s")
    assert (more.done, taught) == (6, [4, 2])
    assert sorted(path.name for path in (tmp_path / "s" / "claims").iterdir()) == []


def of_the_old_form(store, names):
    """Turn a store into one of an earlier version, in which the names of cells depended on the source of Kleene."""
    (file,) = (store / "rows").glob("*.jsonl")
    rows = [row_of(line) for line in file.read_bytes().splitlines()]
    file.write_bytes(b"".join(line_of(row | {"cell": name}) for row, name in zip(rows, names)))
    (store / "store.json").write_text('{"format": "kleene.sweep/1", "kleene": "0.2.0"}\n')


def test_the_finished_cells_of_an_old_store_are_not_run_again(tmp_path, taught):
    kleene.sweep(TWO, store=tmp_path / "s")
    of_the_old_form(tmp_path / "s", "abcd")
    more = kleene.sweep(TWO | {"grid": {"hints": ["none", "states"], "seeds": 3}}, store=tmp_path / "s")
    assert (more.done, taught) == (6, [4, 2])
    assert len(kleene.results(tmp_path / "s").cells) == 6


def test_cells_of_an_old_store_with_a_file_of_the_users_are_run_again(tmp_path, taught):
    (tmp_path / "own.py").write_text("def mine(trace):\n    return {}\n")
    given = {"settings": SMALL | {"hints": f"{tmp_path / 'own.py'}:mine", "seed": 0}}
    kleene.sweep(given, store=tmp_path / "s")
    of_the_old_form(tmp_path / "s", "a")
    kleene.sweep(given, store=tmp_path / "s")
    assert taught == [1, 1]


def test_a_sweep_of_a_plan_has_the_report_that_the_loop_gives(tmp_path, taught):
    plans = [
        Plan.grid(lesson("dfa:tomita_1", hidden=4, batch=4), kinds=kinds, seeds=seeds, iterations=6, test_every=3)
        for kinds, seeds in ((("none",), 3), (("none", "states"), 2))
    ]
    reports = swept_plans(plans, tmp_path / "s")
    assert taught == [5]  # two runs without hints are in both plans
    for plan, report in zip(plans, reports):
        alone = TeachingReport(plan, loop.teach(plan)[0])
        assert report.rows() == alone.rows()
        for ours, theirs in zip(report.settings(), alone.settings()):
            assert ours | {"iterations_per_second": 0} == theirs | {"iterations_per_second": 0}


def test_a_plan_in_pieces_has_the_report_of_the_whole_once_all_are_there(tmp_path, taught):
    made = lesson("dfa:tomita_1", hidden=4, batch=4, lengths=range(1, 4))
    plan = Plan.grid(made, kinds=("none", "states"), seeds=3, iterations=4, test_every=2)
    with pytest.raises(UnfinishedError, match=r"3 of 6 cells are done.*run the other pieces"):
        swept_plans([plan], tmp_path / "s", piece="1/2")
    (report,) = swept_plans([plan], tmp_path / "s", piece="2/2")
    assert taught == [3, 3]
    assert report.rows() == TeachingReport(plan, loop.teach(plan)[0]).rows()
    with pytest.raises(InputError, match="the piece is '3/2'"):
        swept_plans([plan], tmp_path / "s", piece="3/2")


def test_a_plan_whose_time_is_up_says_that_the_same_command_goes_on(tmp_path):
    plan = Plan.grid(lesson("dfa:tomita_1", hidden=4, batch=4), seeds=2, iterations=4, test_every=2)
    with pytest.raises(UnfinishedError, match=r"0 of 2 cells are done.*the same command goes on"):
        swept_plans([plan], tmp_path / "s", minutes=0)
    assert len(swept_plans([plan], tmp_path / "s", minutes=60)) == 1


def test_an_experiment_is_a_cell_of_its_own(tmp_path):
    source = {"verb": "reproduce", "settings": {"experiment": "ours-states-tomita_3-rnn", "iterations": 2}}
    swept = kleene.sweep(source, store=tmp_path / "s")
    (row,) = swept.rows.values()
    assert row["content"]["name"] == "ours-states-tomita_3-rnn"
    assert kleene.sweep(source, store=tmp_path / "s").done == 1


def test_a_plan_is_measured_and_leaves_no_store(tmp_path):
    plan = plan_sweep(TWO, store=tmp_path / "s")
    assert not (tmp_path / "s").exists()
    assert plan.cells == 4
    assert plan.seconds > 0
    (probe,) = plan.probes.values()
    assert probe.most > 4
    assert "4 to run in 1 pack on 1 worker" in str(plan)


def test_a_pack_that_memory_does_not_hold_is_split(tmp_path, monkeypatch, taught):
    teach = worker.loop.teach

    def small_machine(plan, **options):
        if plan.runs > 2:
            raise MemoryLimitError("too many")
        return teach(plan, **options)

    monkeypatch.setattr(worker.loop, "teach", small_machine)
    swept = kleene.sweep(TWO, store=tmp_path / "s")
    assert (swept.done, taught) == (4, [2, 2])
    assert CellStore(tmp_path / "s").failures() == {}


def test_cells_that_were_set_aside_are_tried_again_when_asked_for(tmp_path, monkeypatch):
    broken, teach = True, loop.teach

    def now_and_then(plan, **options):
        if broken:
            raise ValueError("broken on purpose")
        return teach(plan, **options)

    monkeypatch.setattr(worker.loop, "teach", now_and_then)
    assert len(kleene.sweep(TWO, store=tmp_path / "s").aside) == 4
    broken = False
    assert len(kleene.sweep(TWO, store=tmp_path / "s").aside) == 4
    again = kleene.sweep(TWO, store=tmp_path / "s", retry=True)
    assert (again.done, dict(again.aside)) == (4, {})


def test_nothing_is_begun_after_the_deadline(tmp_path, taught):
    swept = kleene.sweep(TWO, store=tmp_path / "s", minutes=0)
    assert (swept.done, swept.finished, taught) == (0, False, [])
    assert "the same command goes on" in str(swept)


def test_the_parts_of_a_shard_are_the_whole(tmp_path):
    parts = [kleene.sweep(TWO, store=tmp_path / "s", shard=f"{n}/3") for n in (1, 2, 3)]
    assert sum(len(part.cells) for part in parts) == 4
    assert len({name for part in parts for name in part.rows}) == 4


def test_a_swept_table_drawn_and_counted(tmp_path):
    swept = kleene.sweep(TWO, store=tmp_path / "s")
    assert len(swept.runs) == 4
    assert swept.as_json()["done"] == 4
    rows = packs.progress_of([*swept.rows.values()])
    assert np.asarray(rows.tests[-1]["loss"]).shape == (4,)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"workers": 0}, "workers is 0"),
        ({"shard": "4/3"}, "the shard is '4/3'"),
        ({"shard": "x"}, "the shard is 'x'"),
        ({"shard": "²/3"}, "the shard is '²/3'"),
        ({"shard": "1/" + "9" * 5000}, "the shard is '1/999"),
        ({"workers": 2, "ray": True}, "--workers is for processes"),
        ({"ray": "nowhere"}, "give HOST:PORT"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_made(tmp_path, given, words):
    with pytest.raises(InputError, match=words):
        kleene.sweep(TWO, store=tmp_path / "s", **given)
    assert not (tmp_path / "s").exists()


def test_durations_are_said_as_people_say_them():
    assert [sweep.in_words(s) for s in (5, 99, 100, 5400)] == ["5 s", "99 s", "2 min", "1.5 h"]


def test_a_cell_of_an_experiment_that_was_set_aside_is_an_error(tmp_path, monkeypatch):
    def broken(plan, **options):
        raise ValueError("broken on purpose")

    monkeypatch.setattr(worker.loop, "teach", broken)
    plan = Plan.grid(lesson("dfa:tomita_1", hidden=4, batch=4), seeds=2, iterations=3)
    with pytest.raises(KleeneError, match="broken on purpose"):
        swept_plans([plan], tmp_path / "s")


def test_a_piece_whose_cells_were_set_aside_is_an_error_while_other_pieces_are_left(tmp_path, monkeypatch):
    def broken(plan, **options):
        raise ValueError("broken on purpose")

    monkeypatch.setattr(worker.loop, "teach", broken)
    plan = Plan.grid(lesson("dfa:tomita_1", hidden=4, batch=4), seeds=2, iterations=3)
    with pytest.raises(KleeneError, match="broken on purpose") as found:
        swept_plans([plan], tmp_path / "s", piece="1/2")
    assert "the same command goes on" not in str(found.value)


def test_a_row_that_was_cut_short_is_told_with_the_plan_and_run_again(tmp_path):
    plans = []
    kleene.sweep(TWO, store=tmp_path)
    (rows,) = (tmp_path / "rows").glob("*.jsonl")
    rows.write_bytes(rows.read_bytes()[:-20])
    assert kleene.sweep(TWO, store=tmp_path, on_plan=plans.append).finished
    told = f"line 4 of {str(rows)!r} is cut short, and its cell counts as absent"
    assert (plans[0].done, plans[0].damaged) == (3, (told,))
    assert str(plans[0]).splitlines()[-1] == f"passed over: {told}"
