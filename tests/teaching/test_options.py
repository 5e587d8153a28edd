"""Records of options: what they refuse, what the command line makes of them, and the page that lists them."""

import json
from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.kinds import resolved
from kleene.tasks.memory import memory_tasks
from kleene.tasks.sequences import TASKS, VARIANTS
from kleene.teaching.lessons import lesson
from kleene.teaching.makers import BY_CLASS, MEMORIES, SEQUENCES, maker_named, tasks_by_machine
from kleene.teaching.memories import VARIANTS as NRAM_VARIANTS
from kleene.teaching.optimisers import RATES
from kleene.teaching.options import RECORDS, NramOptions, NtmOptions, Option, every_option
from tests.command_line import assert_refused

PAGE = Path(__file__).parents[2] / "docs" / "lesson-options.md"
NAMED = {"AcceptorOptions": "dfa:tomita_1", "NtmOptions": "copy", "NramOptions": "swap", "TextOptions": "text:FILE"}
NAMED |= {"NeuralGpuOptions": "reverse --machine neural_gpu", "TranslationOptions": "scan:length"}
NAMED |= {"TransformerOptions": "parity_relative"}
NAMED |= {f"{one.title()}Options": f"parity_relative --machine {one}" for one in ("encoder", "mlp", "plain")}


def page() -> str:
    """The page that lists the options of every lesson."""
    parts = ["# Options of each lesson\n", "`kleene teach TASK --help` shows those of a task."]
    parts[1] += " In Python they are arguments of `kleene.teach` with an underscore, and in a sweep settings.\n"
    for record in RECORDS:
        task = NAMED[record.__name__]
        parts += [f"## {task.split()[-1].partition(':')[0] if '--' in task else task}\n", f"{record.__doc__}\n"]
        parts += [f"`kleene teach {task}`\n", "| option | what it is | default | values |", "| --- | --- | --- | --- |"]
        for one in record.options().values():
            default = "" if one.default is None else json.dumps(one.default).strip('[]"')
            parts.append(f"| `{one.name}` | {one.help} | {default} | {one.words} |")
        parts.append("")
    return "\n".join(parts)


def test_the_page_lists_the_options_as_they_are():
    assert page() == PAGE.read_text(), "write it anew: python -m tests.teaching.test_options"


def test_names_and_values_that_are_written_down_without_jax_are_those_that_there_are():
    assert tuple(TASKS) == SEQUENCES
    assert tuple(memory_tasks()) == MEMORIES
    assert all(f"{(c := resolved(named)).__module__}:{c.__qualname__}" == named for named in BY_CLASS)
    assert NramOptions.options()["variant"].choices == tuple(NRAM_VARIANTS)
    assert all(name in NtmOptions.options()["variant"].help for name in VARIANTS["dyck_words"])
    assert {*RATES} == {*every_option()["optimiser"].choices}


@pytest.mark.parametrize("machine", [*tasks_by_machine()])
def test_the_help_of_every_task_shows_its_options_and_no_others(run, monkeypatch, machine):
    monkeypatch.setenv("COLUMNS", "100")
    task = tasks_by_machine()[machine][0]
    shown = run("teach", task, "--machine", machine, "--help")
    own = maker_named(task, machine).options(machine)
    assert shown.status == 0
    told = [line.split()[0] for line in shown.out.splitlines() if line.startswith("  --")]
    assert told[: told.index("--machine")] == [f"--{name.replace('_', '-')}" for name in own if own[name].typed]
    assert len(shown.out.splitlines()) <= 45


def test_without_a_task_tasks_are_listed_by_machine(run):
    assert run("teach", "--json").json["rnn"] == ["dfa:NAME", "dfa:REGEX"]
    assert "ntm" in run("teach").out


NUMBERS = (-1, 0, 1, 2.5, float("nan"), float("inf"), 10**20, np.int64(0))
VALUES = [None, True, *NUMBERS, "", "x", [], [0], (1, 2), ["x"], {}]


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_refuses_every_value_outside_its_bounds_by_name(record):
    for name, one in record.options().items():
        for value in VALUES:
            if one.problem(value) is None:
                record(**{name: value})
            else:
                with pytest.raises(InputError, match=f"^{name} is .*; give "):
                    record(**{name: value})


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        (Option("n", int, least=1), "3", 3),
        (Option("n", int, least=1), "0", "--n is 0; give 1 or more"),
        (Option("n", int), "9" * 5000, "--n is '999"),
        (Option("x", float, above=0, below=1), "0.5", 0.5),
        (Option("x", float, above=0, below=1), "1", "--x is 1.0; give a number below 1"),
        (Option("x", float), "nan", "--x is nan; give a number"),
        (Option("l", tuple[int, ...]), "1,2", (1, 2)),
        (Option("l", tuple[int, ...], least=1), "1,0", "--l is (1, 0); give 1 or more"),
        (Option("word", str, choices=("a", "b")), "c", "--word is 'c'; give a or b"),
        (Option("own", default=0.5), "0.25", 0.25),
    ],
)
def test_what_is_typed_is_read_by_its_type(option, text, value):
    if not isinstance(value, str):
        assert option.read(text) == value
    else:
        with pytest.raises(InputError) as refused:
            option.read(text)
        assert value in str(refused.value)
        assert len(str(refused.value)) < 200


OWN = """
from kleene.teaching.sequences import ntm_lesson

def made(rate=0.5, words: int = 2, big: bool = False):
    assert (rate, words, big) == (0.25, 3, True)
    return ntm_lesson("copy", rate=rate, longest=2, lengths=(1,), batch=2, tests=2, width=2)
"""


def test_a_function_of_ones_own_takes_its_options_from_the_command_line(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN)
    own = ("--rate", "0.25", "--words", "3", "--big")
    assert run("teach", "own.py:made", *own, "--seeds", "1", "--iterations", "1", "--json").json["lesson"] == "copy"
    assert run("teach", *own, "own.py:made", "--seeds", "1", "--iterations", "1", "--json").status == 0
    assert_refused(run("teach", "own.py:made", "--rat", "1"), "has no option '--rat'; did you mean --rate?")
    assert_refused(run("teach", "own.py:made", "--xyz", "1"), "its options are --rate, --words, --big")
    assert_refused(run("teach", "own.py:made", "--words", "x"), "--words is 'x'; give a whole number")
    assert "--words N" in run("teach", "own.py:made", "--help").out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("copy --hidden 3", "'copy' on 'ntm' has no option 'hidden'; its options are cells, test_cells, width"),
        ("copy --widht 3", "'copy' has no option '--widht'; did you mean --width?"),
        ("copy --xyz 3", "its options are --cells"),
        ("--batch 0 copy", "--batch is 0; give 1 or more"),
        ("swap --clip -1", "--clip is -1.0; give a number above 0"),
        ("cop --batch 3", "no task 'cop'; did you mean copy?"),
        ("copy --machine rnn", "'copy' is not for the machine 'rnn'; it is for ntm or neural_gpu"),
        ("copy --method none", "'copy' is not for the machine 'plain'"),
        ("parity_relative --method nothing", "give interchange, hints, strict hints or none"),
    ],
)
def test_an_option_that_does_not_apply_is_refused_with_those_that_do(run, words, problem):
    assert_refused(run("teach", *words.split()), problem)


def test_options_are_the_same_in_python_and_stored_as_they_were_given():
    facts = lesson("copy", rate=1, lengths=range(1, 3), controller=[4, 4]).facts()
    assert (facts["learning_rate"], facts["lengths"], facts["controller"]) == (1, [1, 2], [4, 4])
    with pytest.raises(InputError, match="rate is 0; give a number above 0"):
        kleene.teach("copy", rate=0)


if __name__ == "__main__":
    PAGE.write_text(page())
