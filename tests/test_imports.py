"""Which room may know of which, read from the imports of every module, those inside functions included."""

import ast
import subprocess
import sys
from collections.abc import Set
from functools import cache
from pathlib import Path

import pytest

import kleene

ROOT = Path(kleene.__file__).parent
ROOMS = sorted(folder.parent.name for folder in ROOT.glob("*/__init__.py"))


@cache
def imports(place: str, *, at_once: bool = False) -> frozenset[str]:
    """What a room or a module imports, `a.b.c` for `from a.b import c`; with `at_once` not what its functions do."""
    found = set()
    for file in [ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("*.py"):
        tree = ast.parse(file.read_text())
        for node in tree.body if at_once else ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


def below(names: Set[str], *packages: str) -> set[str]:
    return {name for name in names if (name + ".").startswith(tuple(f"{p}." for p in packages))}


@pytest.mark.parametrize("room", ROOMS)
def test_imports_are_absolute_so_that_they_can_be_read_here(room):
    assert not {name for name in imports(room) if name.startswith(".")}


def test_traces_import_only_themselves_and_what_stands_outside_all_rooms():
    found = below(imports("traces"), "kleene")
    ground = ("errors", "files", "counts", "memory")
    assert found == below(found, "kleene.traces", *(f"kleene.{name}" for name in ground))
    assert all(not below(imports(f"{name}.py"), *(f"kleene.{room}" for room in ROOMS)) for name in ground)


@pytest.mark.parametrize(
    ("room", "unknown"),
    [
        ("traces", ("jax", "equinox")),
        ("programs", ("kleene.machines", "kleene.compiling", "kleene.pictures", "jax", "equinox")),
        ("machines", ("kleene.programs", "kleene.compiling")),
    ],
)
def test_a_room_does_not_import_what_it_must_not_know(room, unknown):
    assert imports(room)
    assert below(imports(room), *unknown) == set()


def test_only_the_rooms_between_import_both_programs_and_machines():
    both = [r for r in ROOMS if all(below(imports(r), f"kleene.{part}") for part in ("programs", "machines"))]
    assert both == ["cli", "commands", "compiling", "explaining", "teaching"]


def test_what_is_taken_apart_need_not_have_been_taught_here():
    assert below(imports("explaining"), "kleene.teaching") == set()


@pytest.mark.parametrize("room", ["cli", "commands", "experiments"])
def test_nobody_but_the_command_line_imports_the_doors_of_the_house(room):
    assert not [r for r in ROOMS if r not in ("cli", "commands", room) and below(imports(r), f"kleene.{room}")]


def test_the_command_line_imports_nothing_heavy_before_a_command_needs_it():
    at_once = imports("cli", at_once=True)
    light = below(at_once, *sys.stdlib_module_names, "typer", "kleene.cli")
    assert at_once - light == below(at_once, "kleene.errors")


@pytest.mark.parametrize(
    "module",
    [
        "kleene",
        "kleene.traces",
        "kleene.programs.alta",
        "kleene.programs.alta.library.catalog",
        "kleene.programs.automata.library",
        "kleene.programs.turing.library",
        "kleene.pictures",
    ],
)
def test_what_needs_no_network_is_imported_without_jax(module):
    code = f"import {module}, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert module in done.stdout.split()
    assert below(set(done.stdout.split()), "jax", "equinox", "kleene.machines", "kleene.compiling") == set()
