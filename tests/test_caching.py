"""Compiled programs are kept between runs: found again, bounded, and never trusted when damaged."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from jax._src import compilation_cache

from kleene.caching import CompiledPrograms, cache_folder, keep_compiled_programs

HITS, MISSES = "/jax/compilation_cache/cache_hits", "/jax/compilation_cache/cache_misses"


@pytest.fixture
def events():
    """The names of jax's events, as they happen."""
    found: list[str] = []
    jax.monitoring.register_event_listener(lambda name, **_: found.append(name))
    return found


@pytest.fixture
def without_cache():
    """A jax that keeps nothing yet; afterwards it keeps what it compiles where it did before."""
    before, otherwise = jax.config.jax_compilation_cache_dir, compilation_cache.get_file_cache
    jax.config.update("jax_compilation_cache_dir", None)
    compilation_cache.reset_cache()
    yield
    jax.config.update("jax_compilation_cache_dir", before)
    compilation_cache.get_file_cache = otherwise
    compilation_cache.reset_cache()


def compiled_anew(value: float = 2.0) -> float:
    """A small program, which jax compiles anew, or loads, at each call."""
    return float(jax.jit(lambda x: jnp.sin(x) * 3 + jnp.cosh(x))(value))


def damage(folder: Path, how: str) -> int:
    files = sorted(folder.rglob("*.compiled"))
    for file in files:
        content = file.read_bytes()
        garbled = content[:40] + bytes([content[40] ^ 255]) + content[41:]
        file.write_bytes({"garbled": garbled, "cut": content[: len(content) // 2], "empty": b""}[how])
    return len(files)


def test_a_program_is_loaded_and_not_compiled_the_second_time(tmp_path, without_cache, events):
    assert keep_compiled_programs(tmp_path) == tmp_path / "compiled"
    first = compiled_anew()
    assert HITS not in events
    assert MISSES in events
    events.clear()
    assert compiled_anew() == first
    assert HITS in events
    assert MISSES not in events


@pytest.mark.parametrize("how", ["garbled", "cut", "empty"])
def test_a_damaged_entry_is_compiled_again_without_a_word_and_replaced(how, tmp_path, without_cache, events, recwarn):
    keep_compiled_programs(tmp_path)
    first = compiled_anew()
    assert damage(tmp_path, how)
    events.clear()
    assert compiled_anew() == first
    assert HITS not in events
    assert compiled_anew() == first
    assert HITS in events
    assert not recwarn.list


def test_a_folder_that_cannot_be_made_leaves_jax_without_a_cache(tmp_path, without_cache):
    (tmp_path / "file").write_text("")
    assert keep_compiled_programs(tmp_path / "file") is None
    assert jax.config.jax_compilation_cache_dir is None
    assert compiled_anew() == compiled_anew()


def test_a_folder_that_vanishes_is_no_error(tmp_path, without_cache, recwarn):
    folder = keep_compiled_programs(tmp_path)
    folder.rmdir()
    assert compiled_anew() == compiled_anew()
    assert not recwarn.list


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, without_cache, mode):
    (tmp_path / "compiled").mkdir()
    (tmp_path / "compiled").chmod(mode)
    assert keep_compiled_programs(tmp_path) is None


def test_a_folder_that_the_user_gave_jax_stays(tmp_path, without_cache):
    own = str(tmp_path / "own")
    jax.config.update("jax_compilation_cache_dir", own)
    assert keep_compiled_programs(tmp_path) is None
    assert jax.config.jax_compilation_cache_dir == own


def test_a_folder_that_the_user_gives_jax_later_is_used_by_jax_itself(tmp_path, without_cache):
    folder = keep_compiled_programs(tmp_path)
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "own"))
    compiled_anew()
    assert list((tmp_path / "own").iterdir())
    assert not list(folder.iterdir())


def test_the_entries_that_were_not_used_for_longest_go_first(tmp_path):
    store = CompiledPrograms(tmp_path, most_bytes=10_000)
    for number in range(20):
        store.put(f"key {number}", bytes(1000))
        for file in tmp_path.iterdir():  # as if each entry came a minute after the one before
            os.utime(file, (file.stat().st_atime, file.stat().st_mtime - 60))
        assert store.get("key 0") is not None
        assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 10_000
    assert store.get("key 19") is not None
    assert store.get("key 1") is None


def test_an_entry_larger_than_a_quarter_of_the_bound_is_not_kept(tmp_path):
    store = CompiledPrograms(tmp_path, most_bytes=4000)
    store.put("large", bytes(1001))
    store.put("small", bytes(1000))
    assert store.get("large") is None
    assert store.get("small") == bytes(1000)


def test_a_part_that_a_killed_process_left_is_removed_in_time(tmp_path):
    store = CompiledPrograms(tmp_path, most_bytes=4000)
    old, new = tmp_path / "old.part", tmp_path / "new.part"
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (0, 0))
    for number in range(5):
        store.put(str(number), bytes(1000))
    assert not old.exists()
    assert new.exists()


def test_the_environment_says_where_the_folder_is(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("KLEENE_CACHE", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "kleene"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert cache_folder() == tmp_path / "elsewhere" / "kleene"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert cache_folder() == tmp_path / ".cache" / "kleene"
    monkeypatch.setenv("KLEENE_CACHE", "~/own")
    assert cache_folder() == tmp_path / "own"
    monkeypatch.setenv("KLEENE_CACHE", "off")
    assert cache_folder() is None


SCRIPT = """
import contextlib, io, json, sys
from pathlib import Path
from kleene.cli import main  # before jax, as on the command line

folder = Path(sys.argv[1])
sys.argv = ["kleene", "explain", "the man laughs", "--json", "--plot", str(folder / "found.svg")]
outputs, damaged = [], []
for how in ("", "garbled", "cut"):
    if how:
        import jax
        from tests.test_caching import damage

        jax.clear_caches()
        damaged.append(damage(folder, how))
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        main()
    outputs.append(output.getvalue())
print(json.dumps({"outputs": outputs, "damaged": damaged}))
"""


def test_a_command_gives_the_same_answer_from_a_cache_whose_files_are_all_damaged(tmp_path):
    environment = os.environ | {"KLEENE_CACHE": str(tmp_path)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    root = Path(__file__).parents[1]
    environment["PYTHONPATH"] = f"{root}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    words = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True, timeout=300)
    found = json.loads(done.stdout)
    assert all(found["damaged"])
    assert json.loads(found["outputs"][0])
    assert len(set(found["outputs"])) == 1
    assert done.stderr == ""
