"""Libraries that a compiler makes of a source at first use."""

import shutil
import subprocess

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


@needs_gcc
def test_a_library_is_built_once_and_then_taken_from_the_cache(source, tmp_path):
    first = kernels.library(source, COMMAND)
    written = first.stat().st_mtime_ns
    assert kernels.library(source, COMMAND) == first
    assert first.stat().st_mtime_ns == written
    assert [file for file in (tmp_path / "cache").rglob("*") if file.is_file()] == [first]


@needs_gcc
def test_another_flag_or_another_included_file_is_another_library(source):
    included = source.with_name("said.h")
    first = kernels.library(source, COMMAND, includes=[included])
    flagged = kernels.library(source, (*COMMAND, "-DMORE"), includes=[included])
    included.write_text("#define SAID 2\n")
    assert len({first, flagged, kernels.library(source, COMMAND, includes=[included])}) == 3


@needs_gcc
def test_a_source_that_does_not_compile_leaves_nothing_in_the_cache(source, tmp_path):
    source.write_text("this is no program")
    with pytest.raises(subprocess.CalledProcessError):
        kernels.library(source, COMMAND)
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file() or file.parent.name == "kernels"]


def test_the_compiler_is_found_in_the_home_of_cuda(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    compiler = tmp_path / "bin" / "nvcc"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    assert kernels.cuda_compiler() == str(compiler)
