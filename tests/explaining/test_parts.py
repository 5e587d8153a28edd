"""The parts of the room know of each other, and of other rooms, only what they need."""

import subprocess
import sys

import pytest

from tests.test_imports import imports, modules


def below(names: set[str], *packages: str) -> set[str]:
    return {name for name in names if (name + ".").startswith(tuple(f"{package}." for package in packages))}


def loaded_by(code: str) -> set[str]:
    """All modules that some code has loaded, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('MODULES', *sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return set(done.stdout.split("MODULES", 1)[1].split())


def test_the_room_itself_loads_no_part():
    assert below(loaded_by("import kleene.explaining"), "jax", "kleene.programs", "kleene.machines") == set()


def test_explaining_words_loads_no_programs_no_compiler_and_no_picture():
    found = loaded_by("import kleene; kleene.explain(None, 'a man sleeps')")
    unknown = ("kleene.programs", "kleene.compiling", "kleene.teaching", "matplotlib")
    assert "kleene.explaining.words.explanation" in found
    assert below(found, *unknown) == set()


@pytest.mark.parametrize(
    ("part", "unknown"),
    [
        ("words", ("kleene.programs", "kleene.compiling", "kleene.explaining.automata", "kleene.explaining.programs")),
        ("automata", ("kleene.compiling.alta", "kleene.explaining.words", "kleene.explaining.programs")),
        (
            "programs",
            ("kleene.machines", *(f"kleene.explaining.{p}" for p in ("words", "automata", "networks")), "jax"),
        ),
        ("networks", ("kleene.compiling", "kleene.teaching", "kleene.explaining.words", "kleene.explaining.automata")),
    ],
)
def test_a_part_does_not_import_what_it_must_not_know(part, unknown):
    here = [module for module in modules() if f"{module}.".startswith(f"kleene.explaining.{part}.")]
    assert here
    assert below({name for module in here for name, _ in imports(module)}, *unknown) == set()
