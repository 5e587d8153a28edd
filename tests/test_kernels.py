"""Libraries that a compiler makes of a source at first use."""

import os
import shutil
import subprocess
import sys
import time

import pytest

from kleene import kernels

needs_gcc = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler, g++, to build with")
COMMAND = (shutil.which("g++") or "", "-O0", "-shared", "-fPIC")


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "said.h").write_text("#define SAID 1\n")
    file = tmp_path / "one.cc"
    file.write_text('#include "said.h"\nextern "C" int said() { return SAID; }\n')
    return file


def kept(folder):
    return [file for file in (folder / "cache").rglob("*") if file.is_file()]


@needs_gcc
def test_a_library_is_built_once_and_then_taken_from_the_cache(source, tmp_path):
    library, digest = kernels.loaded_library(source, COMMAND)
    assert library.said() == 1
    (file,) = kept(tmp_path)
    written = file.stat().st_ino  # another file would be moved into its place
    assert kernels.loaded_library(source, COMMAND)[1] == digest == file.stem
    assert [file.stat().st_ino for file in kept(tmp_path)] == [written]


@needs_gcc
def test_the_cache_keeps_the_libraries_that_were_used_last(source, tmp_path):
    def load(number):
        return kernels.loaded_library(source, (*COMMAND, f"-DNUMBER={number}"), most=2)[1]

    first, second = load(1), load(2)
    for seconds, name in ((20, first), (10, second)):
        (file,) = (file for file in kept(tmp_path) if file.stem == name)
        os.utime(file, (time.time() - seconds,) * 2)
    assert load(1) == first  # used now, so that the second is the oldest
    third = load(3)
    assert {file.stem for file in kept(tmp_path)} == {first, third}


@needs_gcc
def test_a_damaged_library_is_built_again(source, tmp_path):
    kernels.loaded_library(source, COMMAND)
    (file,) = kept(tmp_path)
    other = file.with_name("other.so")
    file.replace(other)  # the loader keeps what it has loaded
    file.write_bytes(b"")
    assert kernels.loaded_library(source, COMMAND)[0].said() == 1


@needs_gcc
def test_without_a_cache_nothing_is_left_behind_when_the_process_ends(source, tmp_path):
    built = f"kernels.loaded_library(Path({str(source)!r}), {COMMAND!r})"
    code = f"from pathlib import Path; from kleene import kernels; {built}"
    subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"KLEENE_CACHE": "off", "TMPDIR": str(tmp_path)},
        check=True,
    )
    assert not list(tmp_path.glob("kleene-kernel-*"))


@needs_gcc
def test_another_flag_or_another_included_file_is_another_library(source):
    included = source.with_name("said.h")
    _, first = kernels.loaded_library(source, COMMAND, depends=[included.read_text()])
    _, flagged = kernels.loaded_library(source, (*COMMAND, "-DMORE"), depends=[included.read_text()])
    included.write_text("#define SAID 2\n")
    changed, other = kernels.loaded_library(source, COMMAND, depends=[included.read_text()])
    assert len({first, flagged, other}) == 3
    assert changed.said() == 2


@needs_gcc
def test_a_source_that_does_not_compile_leaves_nothing_in_the_cache(source, tmp_path):
    source.write_text("this is no program")
    with pytest.raises(subprocess.CalledProcessError):
        kernels.loaded_library(source, COMMAND)
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file() or file.parent.name == "kernels"]


def test_the_compiler_is_found_in_the_home_of_cuda(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    compiler = tmp_path / "bin" / "nvcc"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    assert kernels.cuda_compiler() == str(compiler)
