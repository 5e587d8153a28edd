"""Standard streams that are full, closed or no longer read, words that are no UTF-8, and sizes that are absurd."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

import kleene
from tests.command_line import assert_refused
from tests.sealing import without_seal

COMMAND = str(Path(sys.executable).with_name("kleene"))


def shell(line: str, **options) -> subprocess.CompletedProcess:
    """Runs a line of bash in which $K is the command line."""
    environment = os.environ | {"K": COMMAND, "PYTHONPATH": str(Path(kleene.__file__).parents[1])}
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=120, env=environment, **options)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("$K list > /dev/full", "kleene: the output cannot be written: No space left on device\n"),
        ("$K list --json > /dev/full", "kleene: the output cannot be written: No space left on device\n"),
        ("$K --version >&-", "kleene: the output cannot be written: Bad file descriptor\n"),
        ("$K list >&-", "kleene: the output cannot be written: Bad file descriptor\n"),
        ("$K --help > /dev/full", "kleene: the output cannot be written: No space left on device\n"),
    ],
)
def test_an_output_that_cannot_be_written_is_one_line_and_status_two(line, message):
    done = shell(line)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


def test_what_a_users_file_prints_is_on_stderr_and_the_answer_stays_json(run, tmp_path):
    file = tmp_path / "loud.py"
    file.write_text(
        "from kleene.programs import alta\n"
        "print('loading')\n"
        "def flip(z):\n"
        "    print('asked')\n"
        "    z['bit'] = 1 - z['bit']\n"
        "variables = {'bit': alta.input_var(2)}\n"
        "program = alta.program_spec(variables, {}, flip, 'bit', 2, max_layers=1, name='flip')\n"
    )
    result = run("run", f"{file}:program", "1", "0", "--json")
    assert result.json["output"] == [0, 1]
    assert "loading" in result.err
    assert "asked" in result.err


def test_an_output_that_is_no_longer_read_ends_without_a_word():
    done = shell("{ $K list; echo $? >&2; } | true")
    assert done.stderr in ("2\n", "0\n")  # all of it may have been written before


def test_closed_input_and_closed_errors_do_not_matter():
    done = shell("$K --version <&- 2>&-")
    assert (done.returncode, done.stdout) == (0, f"kleene {kleene.__version__}\n")
    assert shell("$K run adition 1 2>&-").returncode == 2
    assert shell("$K run adition 1 2>/dev/full").returncode == 2


def test_no_file_gets_the_number_of_a_closed_stream(tmp_path):
    done = shell("$K extract dfa:ab -o out.json --json >&-", cwd=tmp_path)
    assert done.returncode == 2
    assert kleene.DFA.load(tmp_path / "out.json").accepts("ab")


def test_what_goes_to_the_output_as_a_file_stands_before_what_is_printed(tmp_path):
    shell("$K view dfa:ab -o /dev/stdout --json > out.txt", cwd=tmp_path)
    written = (tmp_path / "out.txt").read_text()
    assert written.startswith("<svg")
    assert '{"file": "/dev/stdout"' in written


def test_a_network_can_come_from_a_pipe(run, tmp_path):
    file = kleene.LSTM.random(["the", "man"], 3, key=jax.random.key(0)).save(tmp_path / "m.safetensors")
    reader, writer = os.pipe()
    os.write(writer, file.read_bytes())
    os.close(writer)
    try:
        done = run("explain", "the man", "--model", f"/dev/fd/{reader}", "--plot", str(tmp_path / "a.svg"), "--json")
    finally:
        os.close(reader)
    assert done.json["words"] == ["the", "man"]


def test_words_that_are_no_utf8_are_refused_by_their_number():
    done = subprocess.run([COMMAND, b"run", b"caf\xe9", b"1"], capture_output=True, timeout=60)
    assert done.returncode == 2
    assert (
        done.stderr == b"kleene: argument 2 is 'caf\\udce9', which is not UTF-8; give it, or name the file, in UTF-8\n"
    )


def test_half_a_character_in_a_file_is_printed_as_json_spells_it(run, tmp_path):
    dfa = {"states": ["q"], "alphabet": ["\ud800"], "start": "q", "accept": [], "transitions": [["q", "\ud800", "q"]]}
    (tmp_path / "odd.json").write_text(json.dumps(dfa))
    done = run("extract", f"dfa:{tmp_path / 'odd.json'}", "--json")
    assert done.status == 0
    assert json.loads(done.out)["automaton"]["alphabet"] == ["\ud800"]


def test_an_old_file_gives_one_line_of_warning(run, tmp_path):
    file = tmp_path / "even.safetensors"
    kleene.compile(kleene.DFA.from_regex("(0|10*1)*")).save(file)
    file.write_bytes(without_seal(file.read_bytes()))
    done = run("run", str(file), "11")
    assert done.status == 0
    assert done.err.startswith(f"kleene: warning: '{file}' has no checksum")
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("number", ["1" + "0" * 19, "9" * 5000])
@pytest.mark.parametrize(
    ("words", "option"),
    [
        *(("teach copy", option) for option in ("--seeds", "--first-seed", "--iterations", "--batch", "--test-every")),
        *(("check sort", option) for option in ("--samples", "--max-length", "--seed", "--random", "--workers")),
        ("teach copy", "--stop-after"),
        ("teach dfa:ab", "--hidden"),
        ("certify sort", "--length"),
        ("extract dfa:ab", "--max-states"),
        ("extract dfa:ab", "--seed"),
        ("explain a", "--layer"),
        ("run sort 1", "--max-layers"),
        ("run tm:bump 1", "--max-steps"),
        ("run swap 1 0", "--steps"),
        ("decode addition_decoded 1 2", "--tokens"),
        ("reproduce compose-figure-3", "--iterations"),
        ("reproduce compose-figure-3", "--networks"),
        ("reproduce compose-figure-7a", "--corpora"),
    ],
)
def test_an_absurd_number_is_refused_where_it_is_read(run, words, option, number):
    done = run(*words.split(), option, number)
    assert (done.status, done.out) == (2, "")
    assert f"Invalid value for '{option}'" in done.err or f"kleene: {option} is " in done.err


def test_a_network_that_no_memory_holds_is_refused(run):
    assert_refused(run("teach", "dfa:tomita_1", "--hidden", "100000", "--seeds", "1"), "takes about 335 GiB of memory")
    assert_refused(run("teach", "dfa:ab", "--hidden", "10000000"), "--hidden is 10000000; give 1,000,000 at most")


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "a", "--model", "/dev/zero"),
        ("explain", "--conllu", "/dev/zero"),
        ("teach", "text:/dev/zero"),
        ("run", "dfa:zero.json", "a"),
        ("run", "tm:zero.tm", "a"),
        ("run", "circuit:zero.nram", "1"),
        ("run", "zero.safetensors", "1"),
        ("check", "--random", "1", "--resume", "zero.json"),
    ],
)
def test_a_device_is_never_read_to_its_end(run, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    for ending in ("json", "tm", "nram", "safetensors"):
        Path(f"zero.{ending}").symlink_to("/dev/zero")
    assert_refused(run(*words), "is a device, which may never end")


def test_a_link_given_as_output_stays(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("link.svg").symlink_to("real.svg")
    assert run("view", "dfa:ab", "-o", "link.svg").status == 0
    assert Path("link.svg").is_symlink()
    assert Path("real.svg").read_text().startswith("<svg")
