"""Teaching on the command line."""

import json
import os
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console

from kleene.machines.lstm.lstm import LSTM
from kleene.teaching import loop
from kleene.teaching.lesson import Lesson, Task, Trainable
from kleene.teaching.plan import Learner, Plan, Progress
from kleene.teaching.reports import TeachingReport, summary_of, table_of
from kleene.teaching.teach import Taught
from tests.command_line import assert_refused

SMALL = ("dfa:tomita_1", "--seeds", "2", "--iterations", "6", "--test-every", "3", "--batch", "4")
ROW = {
    "hints": "none",
    "density": 0.0,
    "strength": 0.0,
    "seeds": 1,
    "generalised": 0,
    "interval": [0.0, 1.0],
    "accuracy_by_length": {"1": 0.0},
    "first_hit": [None],
    "loss": 1.0,
    "diverged": [],
}  # of what a plan came to


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_grid_is_taught_kept_and_listed(run):
    found = run("teach", *SMALL, "--hints", "none,states", "--density", "1,0.5", "--results", "kept", "--json").json
    assert [(row["hints"], row["density"]) for row in found["settings"]] == [
        ("none", 0),
        ("states", 1),
        ("states", 0.5),
    ]
    for row in found["settings"]:
        assert {
            "seeds",
            "generalised",
            "interval",
            "first_hit",
            "accuracy_by_length",
            "loss",
            "iterations_per_second",
        } <= row.keys()
        assert row["diverged"] == []
    rows = json.loads(Path(found["file"]).read_text())["rows"]
    assert len(rows) == 2 * 3 * 2
    listed = run("results", "kept", "--json").json
    assert [one["lesson"] for one in listed] == ["tomita_1 rnn"]
    assert "tomita_1 rnn" in run("results", "kept").out


def test_a_checkpoint_is_gone_on_from_and_one_of_another_plan_refused(run):
    first = run("teach", *SMALL, "--checkpoint", "c.safetensors", "--json").json
    again = run("teach", *SMALL, "--checkpoint", "c.safetensors", "--json").json
    assert again["settings"][0]["accuracy_by_length"] == first["settings"][0]["accuracy_by_length"]
    assert_refused(
        run("teach", *SMALL, "--checkpoint", "c.safetensors", "--first-seed", "7"), "another plan: seeds differ"
    )


@pytest.fixture
def untaught(monkeypatch):
    """Leaves out the teaching, which takes long to compile."""

    def teach(plan, **_):
        right = np.ones(plan.runs)
        test = {"alive": right > 0, "generalises": right > 0, "loss": right, "accuracy": right}
        test |= {"accuracy_by_length": np.ones((plan.runs, len(plan.lesson.lengths))), "iteration": np.array(1)}
        return Progress(1, 1.0, [test]), loop.fresh_learners(plan)

    monkeypatch.setattr(loop, "teach", teach)


EVIL = "(a|b|/../../../|" + "ab|" * 150 + "a)*"


@pytest.mark.parametrize("language", [EVIL, "[ab]*", r"^(\[/a\])*$"])
def test_results_of_any_language_are_kept_in_the_folder_and_listed(run, untaught, language):
    found = run("teach", f"dfa:{language}", "--seeds", "1", "--results", "in/kept", "--json").json
    assert Path(found["file"]).parent == Path("in/kept")
    assert [str(path) for path in Path().rglob("*.json")] == [found["file"]]
    assert [one["lesson"] for one in run("results", "in/kept", "--json").json] == [f"{language} rnn"]
    shown = run("results", "in/kept")
    assert shown.status == 0
    assert "".join(line[:20].strip() for line in shown.out.splitlines()[1:]).startswith(language[:15])


BROKEN = [b"{", b"", b"\xff\xfe", b"[" * 100_000, b'{"format": "kleene.results/1"}']
CHANGES = [
    {"loss": "1"},
    {"interval": [0]},
    {"accuracy_by_length": {}},
    {"first_hit": ["?"]},
    {"seeds": True},
    {"seeds": 0},
]
CHANGES += [{"perplexity": "low"}, {"hints": None}]
for row in (None, {}, *(ROW | change for change in CHANGES)):
    BROKEN.append(json.dumps({"format": "kleene.results/1", "lesson": "x", "settings": [row]}).encode())


@pytest.mark.parametrize("content", BROKEN)
def test_a_damaged_file_among_results_is_passed_over_and_named(run, content):
    good = {"format": "kleene.results/1", "lesson": "good", "settings": [ROW]}
    Path("good.json").write_text(json.dumps(good))
    Path("bad.json").write_bytes(content)
    Path("other.json").write_text("[1, 2]")
    for words in (("results", "."), ("results", ".", "--json")):
        found = run(*words)
        assert found.status == 0
        assert "good" in found.out
        assert len(found.err.splitlines()) == 1
        assert "passed over: 'bad.json'" in found.err
    Path("good.json").unlink()
    assert_refused(run("results", "."), "no results in '.'", "'bad.json'")


def test_what_cannot_be_kept_in_the_end_does_not_lose_the_rest(run, untaught, monkeypatch):
    from kleene.teaching import teach

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(teach, "store", full)
    found = run("teach", *SMALL, "--model", "m.safetensors", "--results", "kept", "--json")
    assert found.status == 2
    assert "the results could not be kept" in found.err
    assert "No space left on device" in found.err
    assert found.json["lesson"] == "tomita_1 rnn"
    assert Path("m.safetensors").is_file()


def test_results_are_kept_where_the_model_cannot_be(run, untaught, monkeypatch):
    from kleene.machines.rnn.simple_rnn import SimpleRNN

    def broken(*_):
        raise RuntimeError("no")

    monkeypatch.setattr(SimpleRNN, "save", broken)
    found = run("teach", *SMALL, "--model", "m.safetensors", "--results", "kept", "--json")
    assert found.status == 2
    assert found.err == "kleene: the model could not be kept (RuntimeError: no)\n"
    assert Path(found.json["file"]).is_file()


def test_the_most_accurate_run_is_kept_in_a_file(run):
    found = run("teach", *SMALL, "--machine", "lstm", "--hidden", "4", "--model", "m.safetensors", "--json")
    assert found.json["lesson"] == "tomita_1 lstm"
    assert LSTM.load("m.safetensors").alphabet == ("0", "1")


def test_of_all_runs_the_best_is_chosen_by_accuracy_then_loss_and_diverged_ones_last():
    kept = []

    class Machine(eqx.Module):
        number: np.ndarray

        def save(self, path):
            kept.append((path, int(self.number)))

    learners = Learner(Machine(np.arange(4)), (), (), jnp.zeros(4), jnp.ones(4, bool), jnp.zeros(4), jnp.zeros(4))
    test = {
        "alive": np.array([True, True, True, False]),
        "accuracy_by_length": np.array([[0.5, 0.6], [0.8, 0.9], [0.8, 0.9], [1, 1]]),
        "loss": np.array([0.1, 0.4, 0.3, 0.1]),
        "generalises": np.array([False, False, False, True]),
    }
    lesson = Lesson(Task(), Trainable())
    plan = Plan.grid(lesson, seeds=4)
    taught = Taught(plan, lesson, TeachingReport(plan, Progress(1, 1.0, [test])), learners)
    assert taught.save("file") == Path("file")
    assert kept == [("file", 2)]
    assert taught.report.best_run(0) == 2
    test["generalises"][0] = True  # the least accurate one
    assert taught.report.best_run(0) == 0


def test_a_language_model_is_taught_from_a_text_file_and_kept(run):
    Path("zoo.txt").write_text("the cat sees a bird .\nthe dog hears a mouse .\n" * 40)
    small = ("--hidden", "8", "--batch", "4", "--seeds", "2", "--iterations", "20", "--model", "zoo.safetensors")
    row = run("teach", "text:zoo.txt", *small, "--json").json["settings"][0]
    assert 1 < row["perplexity"] < 12
    assert row["unigram_perplexity"] < 12
    network = LSTM.load("zoo.safetensors")
    assert network.outputs(["the", "cat"]).shape == (3, len(network.vocabulary))
    shown = run("teach", "text:zoo.txt", *small[:-2]).out
    assert f"{row['unigram_perplexity']:.1f}" in shown.splitlines()[1]
    assert shown.splitlines()[0].split()[-2:] == ["perplexity", "unigrams"]
    assert_refused(run("teach", "text:none.txt"), "there is no file 'none.txt'")


def test_a_text_is_learned_far_below_its_frequencies_without_any_options(run):
    rng = np.random.default_rng(0)
    steps = rng.integers(1, 3, 6000).cumsum() % 50  # after a word there are two that may come
    Path("walk.txt").write_text("\n".join(" ".join(f"w{n}" for n in row) for row in steps.reshape(-1, 20)))
    row = run("teach", "text:walk.txt", "--iterations", "60", "--hidden", "32", "--json").json["settings"][0]
    assert row["perplexity"] < 0.2 * row["unigram_perplexity"]
    assert row["seeds"] == 1


def test_options_of_a_text_reach_its_lesson(run, untaught):
    Path("zoo.txt").write_text("the cat sees a bird .\nthe dog hears a mouse .\n" * 40)
    small = ("--hidden", "4", "--batch", "4", "--iterations", "2", "--results", "kept", "--model", "zoo.safetensors")
    options = ("--rate", "3", "--layers", "2", "--dropout", "0.5", "--vocabulary", "6")
    file = run("teach", "text:zoo.txt", *small, *options, "--json").json["file"]
    facts = json.loads(Path(file).read_text())["plan"]["lesson"]
    assert (facts["learning_rate"], facts["layers"], facts["dropout"]) == (3.0, 2, 0.5)
    assert LSTM.load("zoo.safetensors").vocabulary == ("<unk>", "<eos>", ".", "a", "the", "bird")
    taught = run("teach", *SMALL, "--rate", "0.5", "--results", "other", "--json").json["file"]
    assert json.loads(Path(taught).read_text())["plan"]["lesson"]["rate"] == 0.5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("dfa:tomita_1", "--rate", "0"), "--rate is 0.0; give a number above 0"),
        (("dfa:tomita_1", "--rate", "nan"), "--rate is nan"),
        (("dfa:tomita_1", "--layers", "2"), "'dfa:tomita_1' on 'rnn' has no option 'layers'"),
        (("dfa:tomita_1", "--model", "m", "--checkpoint", "./m"), "--checkpoint and --model both name 'm'"),
        (("dfa:tomita_1", "--model", "m" * 300), "cannot be written: File name too long"),
        (("dfa:tomita_1", "--checkpoint", "a\0b"), "cannot be"),
        (("cpoy",), "no task 'cpoy'"),
        (("dfa:tomita_1", "--hints", "shout"), "no hints of kind 'shout'"),
        (("dfa:tomita_1", "--machine", "ntm"), "not for the machine 'ntm'"),
        (("dfa:tomita_1", "--hints", "states", "--density", "2"), "the density is 2"),
        (("dfa:tomita_1", "--hints", "states", "--strength", "much"), "--strength is 'much'"),
        (("dfa:tomita_1", "--seeds", "0"), "seeds is 0"),
        (("dfa:tomita_1", "--first-seed", "4294967290"), "a seed is from 0 to 4294967295"),
        (("dfa:(tomita1)",), "'(tomita1)' accepts no word of 5, 10, 15, 20, 30, 40 symbols"),
        (("copy", "--hints", "shout"), "no hints of kind 'shout' for copy; there are none, read"),
        (("copy", "--hidden", "5"), "'copy' on 'ntm' has no option 'hidden'"),
        (("dfa:tomita_1", "--checkpoint", os.devnull), "is not a file"),
        (("dfa:tomita_1", "--model", "."), "'.' is a folder"),
        (("dfa:(0",), "(0"),
    ],
)
def test_bad_input_is_refused(run, words, message):
    assert_refused(run("teach", *words), message)


@pytest.mark.parametrize("option", ["--results", "--checkpoint", "--model", "--heads"])
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_taught(run, option, monkeypatch):
    monkeypatch.setattr(loop, "teach", None)
    Path("file").write_text("no folder")
    assert_refused(run("teach", "copy", option, "file/kept/it.svg"), "the folder 'file/kept")


def test_the_bar_tells_of_the_runs_that_have_not_diverged():
    test = {"alive": np.array([True, False]), "loss": np.array([2.0, np.nan]), "accuracy": np.array([0.5, 0.0])}
    test["generalises"] = np.array([True, False])
    assert summary_of(test) == "loss 2.000, accuracy 50%, 1 of 2 generalise, 1 diverged"
    assert summary_of(test | {"alive": np.array([False, False])}) == "all 2 runs diverged"


@pytest.mark.parametrize(
    ("hits", "shown"), [([30, 10, 20], "20"), ([None, 10, 20], "20"), ([None, None, 10], "·"), ([40], "40")]
)
def test_the_median_of_first_hits_is_over_all_seeds(hits, shown):
    table = table_of([{"lesson": "copy", "settings": [ROW | {"seeds": len(hits), "first_hit": hits}]}])
    assert _column(table, "first") == [shown]


def test_the_table_says_how_many_tests_were_right_and_names_divergence_where_there_is_any():
    row = ROW | {"seeds": 20, "generalised": 19, "interval": [0.764, 0.991], "accuracy_by_length": {"4": 1.0, "8": 0.5}}
    table = table_of([{"lesson": "copy", "settings": [row]}])
    assert _column(table, "right") == ["75.0%"]
    assert _column(table, "generalise (95%)") == ["19 of 20 (76–99%)"]
    assert "diverged" not in table.head
    diverged = table_of([{"lesson": "copy", "settings": [row, row | {"diverged": [3, 5]}]}])
    assert _column(diverged, "diverged") == ["0", "2"]


def test_in_a_narrow_terminal_the_table_loses_nothing(capsys):
    row = ROW | {"hints": "single_timestep", "seeds": 20, "generalised": 20, "interval": [0.839, 1.0]}
    row |= {"first_hit": [123456] * 20, "diverged": [7]}
    settings = [row, row | {"perplexity": 117.2}]
    Console(width=80).print(table_of([{"lesson": "figure-12-permute_noise", "settings": settings}]))
    shown = capsys.readouterr().out
    assert "…" not in shown
    for value in ("λ", "117.2", "123,456", "20 of 20"):
        assert value in shown


def _column(table, name: str) -> list[str]:
    return [row[table.head.index(name)] for row in table.rows]


def test_of_an_experiment_with_several_tasks_each_row_names_its_own():
    settings = [ROW | {"task": "copy"}, ROW | {"task": "reverse"}]
    both = table_of([{"lesson": "figure-4", "settings": settings}])
    assert _column(both, "lesson") == ["figure-4 copy", "figure-4 reverse"]
    assert _column(table_of([{"lesson": "figure-9a", "settings": settings[:1]}]), "lesson") == ["figure-9a"]


def test_the_table_of_language_models_names_texts_and_not_hints():
    language = ROW | {"hints": "k=2 familiar", "perplexity": 99.5}
    alone = table_of([{"lesson": "rules", "settings": [language]}])
    assert alone.head[:3] == ["lesson", "text", "right"]
    hinted = language | {"hints": "read"}
    del hinted["perplexity"]
    mixed = table_of([{"lesson": "rules", "settings": [language]}, {"lesson": "copy", "settings": [hinted]}])
    assert mixed.head[:4] == ["lesson", "hints", "density", "λ"]
    assert _column(mixed, "perplexity") == ["99.5", "·"]


def test_what_an_experiment_kept_is_listed_too(run):
    settings = [ROW]
    content = {"name": "figure-1", "paper": {}, "plans": [], "settings": settings}
    Path("one.json").write_text(json.dumps(content))
    Path("other.json").write_text(json.dumps({"name": "something else"}))
    assert [one["lesson"] for one in run("results", ".", "--json").json] == ["figure-1"]
    assert "figure-1" in run("results", ".").out


def test_a_folder_without_results_is_refused(run):
    assert_refused(run("results", "nowhere"), "no folder 'nowhere'")
    Path("empty").mkdir()
    assert_refused(run("results", "empty"), "no results in 'empty'")


def test_an_experiment_looks_at_language_models_alone(run):
    import jax

    import kleene
    from kleene.machines.lstm.pytorch import save_state_dict

    save_state_dict(LSTM.random("ab", 4, key=jax.random.key(0)), "torch.safetensors")
    kleene.compile(kleene.DFA.from_regex("(ab)*")).save("rnn.safetensors")
    asked = ("reproduce", "ours-english-grammar", "--run", "quick", "--model")
    assert_refused(run(*asked, "torch.safetensors"), "the weights of a PyTorch LSTM", "kleene.LSTM.from_torch(")
    assert_refused(run(*asked, "rnn.safetensors"), "holds a SimpleRNN, and the study looks at an LSTM")
