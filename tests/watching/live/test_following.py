"""Runs that are followed: typed inputs, files that are saved, broken and mended, and runs that do not end."""

import json
import os
import socket
import subprocess
import sys
import threading
import time

import pytest

from kleene.errors import InputError, RunError
from kleene.watching.live.following import live_run
from kleene.watching.live.processes import RunProcesses
from kleene.watching.live.saving import file_of
from kleene.watching.live.worker import answer
from kleene.watching.page import document_in

GOOD = """
from kleene import DFA
from helper import PATTERN

def machine():
    return DFA.from_regex(PATTERN)
"""


@pytest.fixture
def file(tmp_path):
    sys.modules.pop("helper", None)  # of the test before; a run has a process of its own
    (tmp_path / "helper.py").write_text('PATTERN = "(a|b)*abb"\n')
    (tmp_path / "mine.py").write_text(GOOD)
    return tmp_path / "mine.py"


def asked(target, *words, **options):
    return answer({"target": str(target), "words": list(words), "options": options})


def test_an_answer_has_the_document_and_the_files(file):
    found = asked(f"{file}:machine", "aabb")
    assert found["document"]["answer"] == "accept"
    assert found["files"] == [str(file.parent / "helper.py"), str(file)]


@pytest.mark.parametrize(
    ("name", "text", "line", "message"),
    [
        ("mine.py", "x = 1\nx = (\n", 2, "SyntaxError: '(' was never closed"),
        ("helper.py", "PATTERN = 'a'\nPATTERN = unknown\n", 2, "NameError: name 'unknown' is not defined"),
        ("helper.py", "def f(:\n", 1, "SyntaxError: invalid syntax"),
        ("mine.py", "\ndef machine():\n    return 1 / 0\n", 3, "ZeroDivisionError: division by zero"),
        ("mine.py", "raise SystemExit(3)\n", 1, "SystemExit: 3"),
    ],
)
def test_a_problem_says_where_it_lies(file, name, text, line, message):
    (file.parent / name).write_text(text)
    found = asked(f"{file}:machine", "aabb")
    assert (found["problem"]["file"], found["problem"]["line"]) == (name, line)
    assert found["problem"]["message"] == message
    assert found["problem"]["text"] == text.splitlines()[line - 1]
    assert found["problem"]["of"] == "program"
    assert str(file.parent / name) in found["files"]  # so that it is seen when it is mended


def test_a_module_that_is_missing_is_waited_for(file):
    (file.parent / "helper.py").unlink()
    found = asked(f"{file}:machine", "aabb")
    assert "No module named 'helper'" in found["problem"]["message"]
    assert str(file.parent / "helper.py") in found["files"]


def test_a_bad_input_has_the_message_of_its_kind():
    problem = asked("parity_relative", "12")["problem"]
    assert problem["of"] == "input"
    assert problem["message"].startswith("'2' is none of the bits 0 and 1")
    assert asked("dfa:(a|b)*abb", "abc")["problem"]["of"] == "input"


def test_files_are_known_from_the_name(tmp_path):
    (tmp_path / "copy.tm").touch()
    assert str(file_of(f"tm:{tmp_path}/copy.tm")) == f"{tmp_path}/copy.tm"
    assert str(file_of("net.safetensors")) == "net.safetensors"
    assert file_of("dfa:(ab)*") is None


def test_a_run_that_does_not_end_is_stopped(tmp_path):
    (tmp_path / "endless.py").write_text("while True: pass\n")
    processes = RunProcesses(0.5)
    try:
        request = {"target": f"{tmp_path}/endless.py:program", "words": [], "options": {}}
        with pytest.raises(RunError, match=r"longer than 0\.5 s and was stopped"):
            processes.run(request)
        assert processes.run(request, lambda: True) is None
        (tmp_path / "endless.py").write_text("import os; os._exit(7)\n")
        with pytest.raises(RunError, match="ended without an answer"):
            processes.run(request)
    finally:
        processes.close()


def test_what_a_program_prints_does_not_spoil_the_answer(file, capfd):
    file.write_text(GOOD + "print('hello')\nimport os; os.write(1, b'there')\n")
    processes = RunProcesses()
    try:
        found = processes.run({"target": f"{file}:machine", "words": ["abb"], "options": {}})
        assert found is not None
        assert found["document"]["answer"] == "accept"
    finally:
        processes.close()
    assert "there" in capfd.readouterr().err


def test_a_typed_input_is_run_and_a_bad_one_is_told(live_server):
    visitor = live_server("parity_relative", "10110")
    visitor.good(1)
    assert document_in(visitor.ask().text)["input"] == "10110"
    assert visitor.choose("1 1").status == 202
    assert visitor.good(2)["input"] == "1 1"
    assert document_in(visitor.ask().text)["answer"] == "1 0"
    visitor.choose("<script>")
    assert visitor.problem()["of"] == "input"
    assert document_in(visitor.ask().text)["input"] == "1 1"  # the last good run


def test_edits_are_made_kept_for_the_next_input_and_removed(live_server):
    visitor = live_server("parity_relative", "10110")
    assert visitor.good(1)["edits"] == []
    assert visitor.choose("10110", ["parity@3,3=1"]).status == 202
    assert visitor.good(2)["edits"] == ["parity@3,3=1"]
    document = document_in(visitor.ask().text)
    assert (document["edits"], document["before"], document["answer"]) == (["parity@3,3=1"], "1 1 0 1 1", "1 1 1 0 0")
    visitor.choose("1111")  # without a word about edits: they stay
    assert visitor.good(3)["edits"] == ["parity@3,3=1"]
    visitor.choose("1", ["parity@3,3=1"])
    problem = visitor.problem()
    assert (problem["of"], "input 0 has 2 positions" in problem["message"]) == ("edit", True)
    assert visitor.until(lambda entry: not entry["running"])["edits"] == ["parity@3,3=1"]  # of the last good run
    visitor.choose("1", [])
    assert visitor.good(4)["edits"] == []
    assert "edits" not in document_in(visitor.ask().text)


def test_a_page_may_begin_with_edits(live_server):
    visitor = live_server("dfa:(a|b)*abb", "bbb", edits=["state@1=q1"])
    assert visitor.good(1)["edits"] == ["state@1=q1"]
    assert document_in(visitor.ask().text)["answer"] == "accept"


def test_a_file_is_followed_while_it_breaks_and_is_mended(live_server, file):
    visitor = live_server(f"{file}:machine", "aabb")
    visitor.good(1)
    assert document_in(visitor.ask().text)["answer"] == "accept"
    (file.parent / "helper.py").write_text('PATTERN = "(a|b)*aab"\n')
    visitor.good(2)
    assert document_in(visitor.ask().text)["answer"] == "reject"
    file.write_text("def broken(:\n")
    problem = visitor.problem()
    assert (problem["file"], problem["line"]) == ("mine.py", 1)
    assert document_in(visitor.ask().text)["answer"] == "reject"
    file.write_text(GOOD.replace("PATTERN)", "'a*b*')"))
    assert visitor.good(3)["problem"] is None
    assert document_in(visitor.ask().text)["answer"] == "accept"
    assert not (file.parent / "__pycache__").exists()  # two saves within a second look the same to it


def test_a_save_after_a_bad_input_runs_the_last_good_one(live_server, file):
    visitor = live_server(f"{file}:machine", "aabb")
    visitor.good(1)
    visitor.choose("abc")
    assert visitor.problem()["of"] == "input"
    file.write_text(GOOD + "\n")
    found = visitor.good(2)
    assert (found["input"], found["problem"]) == ("aabb", None)


def test_a_program_that_raises_keeps_the_input_that_was_typed(live_server, file):
    visitor = live_server(f"{file}:machine", "aabb")
    visitor.good(1)
    file.write_text("raise ValueError\n")
    assert visitor.problem()["message"] == "ValueError"
    visitor.choose("bb")
    visitor.until(lambda entry: entry["input"] == "bb" and not entry["running"])
    file.write_text(GOOD)
    assert visitor.good(2)["input"] == "bb"


def test_a_file_that_is_broken_from_the_start_has_a_page(live_server, file):
    file.write_text("import nowhere_to_be_found\n")
    visitor = live_server(f"{file}:machine", "aabb")
    assert "nowhere_to_be_found" in visitor.problem()["message"]
    assert visitor.ask().status == 200
    file.write_text(GOOD)
    assert visitor.good(1)["problem"] is None


def test_an_endless_run_gives_way_to_the_next_save(live_server, file):
    file.write_text("while True: pass\n")
    visitor = live_server(f"{file}:machine", "aabb", seconds=600.0)
    visitor.until(lambda entry: entry["running"])
    time.sleep(0.3)
    file.write_text(GOOD)
    visitor.good(1)


def test_a_port_in_use_is_refused(live_server):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} cannot be used .*in use"):
            live_server("parity_relative", "1", port=port)
    assert not [thread for thread in threading.enumerate() if thread.name == "kleene-live"]


def test_a_name_that_is_not_known_is_refused_before_anything_is_served(live_server):
    with pytest.raises(InputError, match="parity_relative"):
        live_server("parity_relativ", "1")
    with pytest.raises(InputError, match="there is no file"):
        live_server("nowhere.py:program", "1")
    with pytest.raises(InputError, match="give one of the two"):
        live_server("parity_relative", "1", both=True, compiled=True)


def test_without_the_extra_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr("kleene.watching.live.server.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'kleene\[live\]'"):
        live_run("parity_relative", ["1"])


def test_ctrl_c_ends_the_command(live_server, tmp_path):
    code = "from kleene.cli import main; main()"
    words = [sys.executable, "-c", code, "watch", "parity_relative", "101", "--live"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("live at http://127.0.0.1:")
    with socket.create_connection(("127.0.0.1", int(line.split(":")[2].split("/")[0])), timeout=20) as stream:
        path = line.strip().partition("127.0.0.1:")[2].partition("/")
        stream.sendall(f"GET /{path[2]}events HTTP/1.1\r\nHost: 127.0.0.1:{path[0]}\r\n\r\n".encode())
        assert b"200" in stream.recv(100)  # an open stream does not hold it up
        os.kill(process.pid, 2)
        _, problems = process.communicate(timeout=20)
    assert (process.returncode, problems) == (0, "")
    assert not list(tmp_path.iterdir())


def test_the_data_of_a_page_is_data_only(live_server):
    visitor = live_server("parity_relative", "101")
    visitor.good(1)
    visitor.choose("</script><b>")
    visitor.problem()
    text = visitor.ask().text
    assert "</script><b>" not in text
    assert json.dumps("</script>") not in text


def test_a_document_with_what_is_no_text_is_a_problem_and_the_page_goes_on(tmp_path, live_server):
    (tmp_path / "odd.py").write_text(
        "from kleene import DFA\n"
        'moves = {("p", "a"): "\\ud800", ("\\ud800", "a"): "p"}\n'
        'odd = DFA(states=("p", "\\ud800"), alphabet="a", transitions=moves, start="p", accept={"p"})\n'
    )
    visitor = live_server(f"{tmp_path / 'odd.py'}:odd", "a")
    assert "is no character" in visitor.problem()["message"]
    assert visitor.ask().status == 200
