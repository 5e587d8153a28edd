"""The loop: runs keep apart, resume exactly, and spread over devices; one that diverges stops alone."""

import json
import os
import re
import resource
import subprocess
import sys
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from kleene.errors import InputError, ModelFileError
from kleene.teaching.lesson import Measured
from kleene.teaching.lessons import lesson
from kleene.teaching.loop import Stretch, check_room, teach, teaching_program
from kleene.teaching.plan import KIND, Plan, Progress, restored, stored
from kleene.teaching.reports import TeachingReport, interval
from kleene.teaching.results import file_name, listed, load, store
from kleene.tensors import read_tensors, write_tensors


class Slope:
    """A lesson small enough to see through: find the slope of a line; hints tell it, and kind 2 ruins it."""

    name, kinds, iterations, lengths = "slope", ("none", "hinted", "poison"), 40, (1, 2)
    optimiser = optax.sgd(0.1)

    def __init__(self, slope=3.0):
        self.slope = slope

    def facts(self):
        return {"slope": self.slope}

    def fresh(self, key):
        return {"slope": jax.random.normal(key)}

    def beginning(self):
        return jnp.array(0)

    def advance(self, model, progress, key):
        return progress + 1

    def finished(self, progress):
        return False

    def reached(self, progress):
        return {}

    def examples(self, key, progress, setting):
        return jax.random.normal(key, (4,))

    def loss(self, model, batch, setting):
        error = (batch * (model["slope"] - self.slope)) ** 2
        hinted = jnp.where(setting.kind == 1, setting.strength * (model["slope"] - self.slope) ** 2, 0.0)
        ruin = jnp.where(setting.kind == 2, jnp.log(-jnp.ones(())), 0.0)
        return error.mean() + hinted + ruin, Measured((error < 0.01).mean())

    def test(self, model, key, setting):
        error = jnp.abs(model["slope"] - self.slope)
        return {"accuracy_by_length": jnp.stack([error < 0.01, error < 0.001]).astype(jnp.float32), "error": error}

    def generalises(self, tested):
        return (tested["accuracy_by_length"] == 1).all(axis=-1)


def plan(lesson=None, **options):
    return Plan.grid(
        lesson or Slope(), **{"kinds": ("none", "hinted"), "seeds": 3, "iterations": 30, "test_every": 10} | options
    )


def weights(learners):
    return np.asarray(learners.model["slope"])


def test_a_grid_has_every_setting_with_every_seed_and_none_once():
    made = plan(densities=(1.0, 0.5), strengths=(1.0, 0.1))
    assert [(s["kind"], s["density"], s["strength"]) for s in made.settings] == [
        ("none", 0, 0), ("hinted", 1, 1), ("hinted", 1, 0.1), ("hinted", 0.5, 1), ("hinted", 0.5, 0.1),
    ]  # fmt: skip
    assert made.runs == 15
    assert made.setting().kind.tolist() == [0] * 3 + [1] * 12


def test_hints_help_and_the_report_says_so():
    made = plan()
    progress, _ = teach(made)
    none, hinted = TeachingReport(made, progress).settings()
    assert hinted["generalised"] == 3
    assert none["generalised"] < 3 or max(hinted["first_hit"]) <= min(hit for hit in none["first_hit"] if hit)
    assert set(hinted["accuracy_by_length"]) == {"1", "2"}
    assert hinted["diverged"] == []


def test_a_run_among_many_is_the_run_that_it_would_be_alone():
    _, together = teach(plan())
    _, alone = teach(plan(kinds=("hinted",), seeds=1, first_seed=2))
    assert weights(together)[5] == pytest.approx(weights(alone)[0], rel=1e-6)


def test_runs_of_a_seed_begin_alike_and_hints_of_no_strength_change_nothing():
    _, with_none = teach(plan(kinds=("none",)))
    _, with_nothing = teach(plan(kinds=("hinted",), strengths=(0.0,)))
    assert (weights(with_none) == weights(with_nothing)).all()


def test_a_run_that_diverges_stops_alone_and_is_named():
    made = plan(kinds=("poison", "hinted"))
    progress, learners = teach(made)
    poisoned, hinted = TeachingReport(made, progress).settings()
    assert (poisoned["diverged"], poisoned["generalised"], poisoned["loss"]) == ([0, 1, 2], 0, None)
    assert (hinted["diverged"], hinted["generalised"]) == ([], 3)
    assert np.isfinite(weights(learners)).all()


class Killed(Exception):
    pass


def test_a_plan_that_was_killed_goes_on_to_the_very_same_result(tmp_path):
    file = tmp_path / "slope.safetensors"

    def kill(progress):
        if progress.iteration == 20:
            raise Killed

    with pytest.raises(Killed):
        teach(plan(), checkpoint=file, on_test=kill)
    seen = []
    progress, resumed = teach(plan(), checkpoint=file, on_test=lambda p: seen.append(p.iteration))
    whole, at_once = teach(plan())
    assert seen == [30]
    for a, b in zip(jax.tree.leaves(resumed), jax.tree.leaves(at_once)):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
    assert [t["error"].tolist() for t in progress.tests] == [t["error"].tolist() for t in whole.tests]
    assert [t["generalises"].dtype for t in progress.tests] == [np.dtype(bool)] * 3


def test_a_checkpoint_of_another_plan_or_that_is_damaged_is_refused(tmp_path):
    file = tmp_path / "slope.safetensors"
    teach(plan(), checkpoint=file)
    with pytest.raises(ModelFileError, match="another plan: seeds differ"):
        teach(plan(seeds=4), checkpoint=file)
    with pytest.raises(ModelFileError, match="another plan: lesson differ"):
        teach(plan(Slope(2.0)), checkpoint=file)
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(ModelFileError, match="damaged"):
        teach(plan(), checkpoint=file)


@pytest.mark.parametrize(("short", "long"), [(20, 40), (15, 40)])
def test_a_finished_plan_is_extended_to_the_very_result_of_a_longer_one(tmp_path, short, long):
    file = tmp_path / "slope.safetensors"
    teach(plan(iterations=short), checkpoint=file)
    progress, extended = teach(plan(iterations=long), checkpoint=file)
    whole, at_once = teach(plan(iterations=long))
    assert weights(extended).tobytes() == weights(at_once).tobytes()
    assert extended.key.tobytes() == at_once.key.tobytes()
    measured = {int(test["iteration"]): test["error"].tolist() for test in progress.tests}
    assert measured.items() >= {int(test["iteration"]): test["error"].tolist() for test in whole.tests}.items()
    with pytest.raises(ModelFileError, match="has 40 iterations already, and 20 were asked for; ask for 40 or more"):
        teach(plan(iterations=20), checkpoint=file)


def test_a_checkpoint_between_two_tests_is_gone_on_from_and_can_be_an_end(tmp_path):
    file = tmp_path / "slope.safetensors"
    _, learners = teach(plan(iterations=15, test_every=15))
    stored(file, plan(), Progress(15, 1.0, []), learners)
    progress, resumed = teach(plan(), checkpoint=file)
    _, at_once = teach(plan())
    assert [test["iteration"] for test in progress.tests] == [15, 20, 30]
    assert weights(resumed).tobytes() == weights(at_once).tobytes()
    stored(file, plan(), Progress(15, 1.0, []), learners)
    assert [test["iteration"] for test in teach(plan(iterations=15), checkpoint=file)[0].tests] == [15]


@pytest.mark.parametrize("iterations", [1, 3, 1000])
def test_what_is_learned_does_not_depend_on_how_iterations_are_grouped(iterations):
    _, expected = teach(plan())
    _, found = teach(plan(), stretch=Stretch(iterations))
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_a_stretch_gets_longer_until_it_takes_its_time_and_shorter_past_it():
    setting, learners, advance = teaching_program(plan())
    patient, hasty, progress = Stretch(aim=1e6), Stretch(8, aim=0.0), Progress()
    for _ in range(3):
        learners = patient.taught(advance, setting, learners, progress, 100)
    assert (patient.iterations, progress.iteration) == (8, 7)
    learners = hasty.taught(advance, setting, learners, progress, 100)
    assert (hasty.iterations, progress.iteration) == (4, 15)
    hasty.taught(advance, setting, learners, progress, 16)
    assert (hasty.iterations, progress.iteration) == (1, 16)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The learners of a plan as they were in the end, the header of its checkpoint, and its arrays."""
    file = tmp_path_factory.mktemp("finished") / "slope.safetensors"
    _, learners = teach(plan(), checkpoint=file)
    return learners, *read_tensors(file, KIND)


def restored_with(file, finished, change):
    """What is restored when the header is changed so; None takes a key away."""
    learners, header, arrays = finished
    changed = {key: value for key, value in (header | change).items() if value is not None}
    write_tensors(file, KIND, changed, arrays)
    return restored(file, plan(), learners)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"types": None}, "does not name the type of each array"),
        ({"types": []}, "does not name the type of each array"),
        ({"types": {"learner.0": "float32"}}, "does not name the type of each array"),
        ({"iteration": None}, "its iteration is None, and a whole number"),
        ({"iteration": -5}, "its iteration is -5, and a whole number"),
        ({"iteration": 1.5}, "its iteration is 1.5, and a whole number"),
        ({"iteration": True}, "its iteration is True, and a whole number"),
        ({"iteration": 31}, "its iteration is 31 of a plan of 30"),
        ({"iteration": 29}, "the iterations of its tests do not count up to its own"),
        ({"seconds": None}, "its seconds are None, and a number"),
        ({"seconds": float("nan")}, "its seconds are nan, and a number"),
        ({"seconds": float("inf")}, "its seconds are inf, and a number"),
        ({"seconds": -1.0}, "its seconds are -1.0, and a number"),
        ({"seconds": "1"}, "its seconds are '1', and a number"),
        ({"plan": None}, "of another plan: lesson, settings, seeds differ"),
        ({"plan": [1]}, "of another plan: lesson, settings, seeds differ"),
    ],
)
def test_a_header_that_makes_no_sense_is_refused(tmp_path, finished, change, message):
    assert restored_with(tmp_path / "whole.safetensors", finished, {})[0].iteration == 30
    with pytest.raises(ModelFileError, match=message):
        restored_with(tmp_path / "changed.safetensors", finished, change)


@pytest.mark.parametrize("kind", ["float64", "object", "i4,i4", 7, ["float32"]])
def test_a_type_that_the_learners_or_tests_do_not_have_is_refused(tmp_path, finished, kind):
    for name in ("learner.0", "tests.alive"):
        with pytest.raises(ModelFileError, match="does not hold a whole checkpoint"):
            restored_with(tmp_path / "changed.safetensors", finished, {"types": finished[1]["types"] | {name: kind}})


def test_a_full_disk_leaves_the_checkpoint_before_it(tmp_path):
    file = tmp_path / "slope.safetensors"
    teach(plan(iterations=10), checkpoint=file)
    before = file.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))  # the disk is full halfway through
        with pytest.raises(ModelFileError, match=r"the checkpoint could not be written: .*File too large.*Make room"):
            teach(plan(), checkpoint=file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]
    _, resumed = teach(plan(), checkpoint=file)
    assert weights(resumed).tobytes() == weights(teach(plan())[1]).tobytes()


def test_a_plan_stops_early_when_all_have_generalised():
    made = plan(kinds=("hinted",), iterations=1000)
    progress, _ = teach(made, stop_after=2)
    assert progress.iteration < 1000
    assert all(test["generalises"].all() for test in progress.tests[-2:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": ("shouted",)}, "no hints of kind 'shouted' for slope; there are none, hinted, poison"),
        ({"densities": (1.5,)}, "the density is 1.5"),
        ({"strengths": (-1.0,)}, "the strength is -1.0"),
        ({"strengths": (float("nan"),)}, "the strength is nan"),
        ({"seeds": 0}, "seeds is 0"),
        ({"iterations": 0}, "iterations is 0"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(options, message):
    with pytest.raises(InputError, match=message.replace(".", r"\.")):
        plan(**options)


def test_results_are_stored_once_for_each_plan_and_read_again(tmp_path):
    made = plan()
    progress, _ = teach(made)
    file = store(TeachingReport(made, progress), tmp_path)
    assert store(TeachingReport(made, progress), tmp_path) == file
    content = load(file)
    assert len(content["rows"]) == 3 * made.runs
    assert content["rows"][-1].keys() >= {"iteration", "seed", "kind", "density", "strength", "loss", "accuracy_at_2"}
    assert content["versions"].keys() >= {"kleene", "jax", "python", "device"}
    (tmp_path / "other.json").write_text("{}")
    assert listed(tmp_path) == ([(file, content)], [])
    earlier = file.rename(tmp_path / "slope-0123abcd.json")  # as an earlier version named it
    assert [path for path, _ in listed(tmp_path)[0]] == [earlier]
    with pytest.raises(ModelFileError, match="not a results file"):
        load(tmp_path / "other.json")


NAMES = ["(a|b)*/../../evil rnn", "/etc/passwd", "..", "x" * 5000, "ö", "a\0b", "CON", ".hidden", "a b", "a-b"]


def test_a_results_file_has_a_short_plain_name_of_its_own_whatever_the_lesson_is_called():
    found = [file_name(name, {"seeds": [seed]}) for name in NAMES for seed in (0, 1)]
    assert len(set(found)) == 2 * len(NAMES)
    for name in found:
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]*\.json", name)
        assert len(name) < 100


def test_the_interval_of_a_share_holds_the_share_and_is_never_empty():
    for hits in range(11):
        low, high = interval(hits, 10)
        assert 0 <= low <= hits / 10 <= high <= 1
        assert high - low > 0.2


SPREAD = """
import json, sys, jax
sys.path.insert(0, ".")
from tests.teaching.test_loop import plan, weights
from kleene.teaching.loop import teach
progress, learners = teach(plan(seeds=4))
print(json.dumps([len(learners.model["slope"].sharding.device_set), weights(learners).tolist()]))
"""


def test_runs_are_spread_over_devices_without_changing_what_they_learn():
    found = []
    for devices in (1, 4):
        several = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count={devices}"
        done = subprocess.run(
            [sys.executable, "-c", SPREAD],
            env=os.environ | {"XLA_FLAGS": several, "JAX_PLATFORMS": "cpu"},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        found.append(SimpleNamespace(**dict(zip(("devices", "weights"), json.loads(done.stdout)))))
    assert [one.devices for one in found] == [1, 4]
    assert found[0].weights == pytest.approx(found[1].weights, rel=1e-6)


def rnn_plan(seeds: int = 10, **options) -> Plan:
    return Plan.grid(lesson("dfa:tomita_3", **options), seeds=seeds, iterations=5)


def test_a_network_of_too_many_units_is_refused_by_its_weights():
    with pytest.raises(InputError, match=r"teaching 1 run of tomita_3 rnn takes about 33,528 GiB of memory"):
        teach(rnn_plan(1, hidden=1_000_000))


def test_a_batch_too_large_for_its_gradient_is_refused_by_what_an_update_keeps():
    check_room(rnn_plan(1), most=1 << 30)
    check_room(rnn_plan(1, batch=20_000), most=1 << 30)  # the rough guess is larger than that
    with pytest.raises(
        InputError, match=r"teaching 1 run of tomita_3 rnn takes about .* GiB of memory, and 1.0 are left"
    ):
        check_room(rnn_plan(1, batch=1_000_000), most=1 << 30)


def test_many_runs_take_as_much_more():
    check_room(rnn_plan(10), most=10_000_000)
    with pytest.raises(InputError, match="teaching 1,000 runs of tomita_3 rnn takes about"):
        check_room(rnn_plan(1000), most=10_000_000)


LOOK = "import jax; from kleene.teaching.loop import use_all_cores; {0}use_all_cores(); print(len(jax.devices()))"


@pytest.mark.parametrize(
    ("before", "flags", "devices"),
    [
        ("", "", len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        ("", "--xla_force_host_platform_device_count=3", 3),
        ("jax.devices(); ", "", 1),
    ],
)
def test_every_core_is_a_device_unless_it_is_too_late_or_was_said_otherwise(before, flags, devices):
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", LOOK.format(before)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert int(done.stdout) == devices
