"""Bad input on the command line: one clear line, and exit status 2."""

from pathlib import Path

import pytest

import kleene
from kleene.errors import InputError
from kleene.programs.alta.library import parity
from tests.command_line import assert_refused


def test_a_token_out_of_range_is_refused(run, mine):
    assert_refused(run("run", f"{mine}:make", "1", "2"), "mine: token 1 is 2, and tokens are in 0..1")


def test_a_negative_token_is_refused(run, mine):
    assert_refused(run("run", f"{mine}:make", "1", "-1"), "mine: token 1 is -1, and tokens are in 0..1")


def test_an_empty_sequence_is_refused(run, mine):
    assert_refused(run("run", f"{mine}:make", ""), "mine: the input is empty")
    assert_refused(run("run", "parity_relative", ""), "there is no input")


def test_what_is_not_a_number_is_refused(run, mine):
    assert_refused(run("run", f"{mine}:make", "1", "one"), "the input 'one' is not a token")
    assert_refused(run("run", f"{mine}:make", "0.5"), "the input '0.5' is not a token")
    assert_refused(run("run", "addition", "seven", "8"), "give two whole numbers")


def test_what_the_library_program_does_not_take_is_refused_with_an_example(run):
    assert_refused(run("run", "parity_relative", "1", "3"), "'3' is none of the bits 0 and 1", "for example: 1 0 1 1")
    assert_refused(run("run", "subleq", "9", "99", "-1"), "99 is out of range")


@pytest.mark.parametrize("options", [(), ("--compiled",)])
def test_a_sequence_too_long_for_the_position_range_is_refused(run, mine, options):
    result = run("run", f"{mine}:make", *"1010101", *options)
    assert_refused(result, "mine: the input has 7 tokens, but the program was built for at most 6 positions")


def test_an_unknown_program_is_refused_and_a_close_one_suggested(run):
    assert_refused(run("run", "adition", "1", "2"), "no program 'adition' in the library; did you mean addition?")
    assert_refused(run("compile", "xyzzy"), "no program 'xyzzy' in the library; there are parity_absolute")
    assert_refused(run("check", "parity_relativ"), "did you mean parity_relative")


@pytest.mark.parametrize("options", [(), ("--compiled",)])
def test_an_undefined_head_that_is_used_is_named(run, mine, options):
    result = run("run", f"{mine}:looks_off_the_edge", "1", "0", *options)
    assert_refused(result, "edge: in layer 1, at position 0", "head 'left'", "off the edge of the sequence")


@pytest.mark.parametrize("options", [(), ("--compiled",)])
def test_a_run_that_does_not_halt_within_max_layers_gives_the_output_so_far_and_says_so(run, options):
    result = run("run", "parity_relative", "1", "0", "1", "--max-layers", "2", *options)
    assert (result.status, result.err) == (0, "")
    assert "ran 2 layers and had not halted in " in result.out


def test_a_negative_number_of_layers_is_refused(run):
    assert_refused(run("run", "parity_relative", "1", "--max-layers", "-1"), "max_layers is -1")


def test_a_program_file_that_does_not_exist_is_refused(run):
    assert_refused(run("run", "nowhere.py:make", "1"), "there is no file 'nowhere.py'", "FILE.py:NAME")


def test_a_name_that_the_file_does_not_define_is_refused(run, mine):
    assert_refused(run("run", f"{mine}:nothing", "1"), "'mine.py' defines no 'nothing'")
    Path("empty.py").write_text("")
    assert_refused(run("compile", "empty.py"), "'empty.py' defines no 'program'")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def (", "SyntaxError"),
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("raise SystemExit(0)", "SystemExit"),
        ("\0", "could not be run"),
    ],
)
def test_a_program_file_that_cannot_be_run_is_refused(run, mine, content, message):
    Path("bad.py").write_text(content)
    assert_refused(run("run", "bad.py:make", "1"), "'bad.py' could not be run", message)


def test_a_function_in_the_file_that_raises_is_refused(run, mine):
    assert_refused(
        run("run", f"{mine}:broken", "1"), "calling broken() in 'mine.py' raised RuntimeError: nothing works"
    )
    assert_refused(run("run", f"{mine}:leaving", "1"), "calling leaving() in 'mine.py' raised SystemExit")


def test_a_program_in_a_file_that_kleene_refuses_is_told_in_its_own_words(run, mine):
    Path("bad.py").write_text("from kleene.programs import alta\nalta.var(0)")
    assert_refused(run("run", "bad.py", "1"), "a categorical variable needs a range of at least 1, and got 0")


def test_what_is_not_a_program_is_refused(run, mine):
    assert_refused(run("run", f"{mine}:number", "1"), "'mine.py:number' gave int, and a program was expected")
    assert_refused(run("run", f"{mine}:alta", "1"), "gave module")


def test_a_file_that_is_not_python_is_not_run(run, mine):
    Path("notes.py.txt").write_text("hello")
    assert_refused(run("run", "notes.py.txt:make", "1"), "no program 'notes.py.txt:make'")


@pytest.mark.parametrize("length", [0, 5, 100, 2000])
def test_a_truncated_model_file_is_refused(run, tmp_path, length):
    file = tmp_path / "parity.safetensors"
    kleene.compile(parity.relative()).save(file)
    file.write_bytes(file.read_bytes()[:length])
    assert_refused(run("run", str(file), "2", "1"), "parity.safetensors", "make it again")


def test_a_corrupt_a_foreign_and_a_missing_model_file_are_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("noise.safetensors").write_bytes(bytes(range(256)) * 8)
    assert_refused(run("run", "noise.safetensors", "1"), "is not a file that Kleene wrote, or it is damaged")
    parity.relative().rules().save("rules.safetensors")
    assert_refused(run("run", "rules.safetensors", "1"), "holds a rule set, and not a network")
    assert_refused(run("run", "nowhere.safetensors", "1"), "there is no file 'nowhere.safetensors'")
    Path("folder.safetensors").mkdir()
    assert_refused(run("run", "folder.safetensors", "1"), "cannot be read: Is a directory")


def test_a_token_out_of_the_range_of_a_network_in_a_file_is_refused(run, tmp_path):
    file = tmp_path / "parity.safetensors"
    kleene.compile(parity.relative()).save(file)
    assert_refused(run("run", str(file), "2", "7"), "parity_relative: token 1 is 7, and tokens are in 0..2")


def test_an_output_that_cannot_be_written_is_refused(run, tmp_path):
    assert_refused(run("compile", "parity_relative", "-o", str(tmp_path)), "cannot be written: Is a directory")


@pytest.mark.parametrize(
    "words", [("compile", "sort"), ("run", "sort", "1", "2", "--compiled"), ("check", "sort", "--samples", "1")]
)
def test_an_unknown_number_type_is_refused(run, words):
    assert_refused(run(*words, "--dtype", "float16"), "there is no number type 'float16' here; choose one of float32")


@pytest.mark.parametrize("option", ["--rules", "--activation"])
def test_an_unknown_way_to_compile_is_refused(run, option):
    assert_refused(run("compile", "sort", option, "best"), "rules is 'compact' or 'paper'", "'best'")


def test_a_benchmark_that_does_not_exist_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(run("bench", "nothing"), "no benchmark 'nothing'; there are alta")


@pytest.mark.parametrize(
    ("words", "lacking", "having"),
    [
        (("run", "rasp:hist", "abac", "--construction", "merged"), "--layers", "--dtype"),
        (("run", "sort", "3", "1", "--steps", "2"), "--attention-scalar", "--max-layers"),
        (("check", "sort", "--machine", "rnn"), "--attention-scalar", "--depth"),
        (("watch", "rasp:hist", "abac", "--max-layers", "1"), "--activation", "--dtype"),
        (("watch", "sort", "3", "--both", "--max-steps", "1"), "--activation", "--max-layers"),
        (("compile", "tm:bump", "--layers", "shared"), "--rules", "--construction"),
    ],
)
def test_an_error_about_an_option_names_those_that_the_command_has(run, words, lacking, having):
    result = run(*words)
    assert_refused(result, f"{words[-2]} has no meaning for", having)
    assert lacking not in result.err


def test_without_a_command_all_options_of_a_kind_are_named():
    with pytest.raises(InputError, match=r"--steps has no meaning for 'sort'; .*--attention-scalar"):
        kleene.run("sort", "3 1", steps="2")


def test_an_option_is_named_as_it_is_typed(run):
    assert "--max-length says how to compile a program" in run("run", "sort", "3", "1", "--max-length", "3").err


@pytest.mark.parametrize("words", [("--piece", "nonsense"), ("--run", "full"), ("alta", "--json", "--minutes", "1")])
def test_options_of_a_result_are_refused_where_none_is_named(run, words):
    option = next(word for word in words if word.startswith("--") and word != "--json")
    assert_refused(run("reproduce", *words), f"{option} is for one table or figure")


@pytest.mark.parametrize(
    "line",
    [
        "teach NAME.py:lesson --iterations 1",
        "teach dfa:tomita_1 --hints NAME.py:policy --iterations 1",
        "explain sort --train NAME --test length<=2",
        "sweep SWEEP --store NAME",
        "watch sort 3 -o NAME.html",
        "watch NAME.py --live",
        "judge eap --of circuits --taught NAME --words 4 --seeds 0 --hide 0",
        "bench cold -o y/NAME/z.html",
    ],
)
def test_a_name_that_is_too_long_for_a_file_is_refused(run, tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text('[settings]\ntask = "copy"\n')
    words = line.replace("NAME", "x" * 5000).replace("SWEEP", "s.toml").split()
    assert_refused(run(*words), "xxx")


def test_inputs_that_are_none_are_refused_before_a_certificate_is_shown(run):
    assert_refused(run("certify", "sort", "--attack", "--inputs", "nowhere.py:inputs"), "nowhere.py")
