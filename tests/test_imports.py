"""The whole order of the rooms, read from the imports of every module, late ones and those for types included."""

import ast
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import kleene
import kleene_papers
from tests.import_graph import LINES as ORDER

ROOT = Path(kleene.__file__).parent
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}
# Rooms of which one may not know the other, although the order would allow it.
STRANGERS = {
    ("programs", "machines"),
    ("machines", "programs"),
    ("machines", "pictures"),
    ("compiling", "pictures"),
    ("explaining", "teaching"),
    ("viewing", "teaching"),
}
ROOMS = sorted(
    {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    | {path.stem for path in ROOT.glob("*.py") if path.stem != "__init__"}
)


@cache
def modules() -> dict[str, Path]:
    found = {".".join(path.relative_to(ROOT.parent).with_suffix("").parts): path for path in ROOT.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for name, path in found.items()}


@cache
def imports(module: str) -> tuple[tuple[str, bool], ...]:
    """What a module imports, as `a.b.c` for `from a.b import c`, and whether a function does so."""
    found = []

    def look(node: ast.AST, inside: bool) -> None:
        if isinstance(node, ast.Import):
            found.extend((alias.name, inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.extend((f"{'.' * node.level}{node.module}.{alias.name}", inside) for alias in node.names)
        for child in ast.iter_child_nodes(node):
            look(child, inside or isinstance(node, ast.FunctionDef))

    look(ast.parse(modules()[module].read_text()), False)
    return tuple(found)


def room_of(name: str) -> str | None:
    """`traces` for `kleene.traces.trace`; None for what is not Kleene's, or is a name of the package itself."""
    parts = name.split(".")
    return parts[1] if parts[0] == "kleene" and len(parts) > 1 and parts[1] in RANK else None


def crossings() -> set[tuple[str, str, str]]:
    """(room, room that it imports, module that does) for all imports between rooms."""
    found = set()
    for module in modules():
        for name, _ in imports(module):
            here, there = room_of(module), room_of(name)
            if here is not None and there is not None and here != there:
                found.add((here, there, module))
    return found


def module_behind(name: str) -> str | None:
    """The module of ours that an import reaches: the name itself, or what it is taken from."""
    if name in modules():
        return name
    parent = name.rpartition(".")[0]
    return parent if parent in modules() and parent != "kleene" else None


def test_every_room_has_its_place_in_the_order():
    assert set(ROOMS) == set(RANK)


def test_imports_are_absolute_so_that_they_can_be_read_here():
    assert not [name for module in modules() for name, _ in imports(module) if name.startswith(".")]


def test_imports_point_up_the_order_only():
    wrong = {(here, there, module) for here, there, module in crossings() if RANK[there] > RANK[here]}
    assert not wrong


def test_rooms_that_must_not_know_each_other_do_not():
    assert not {(here, there, module) for here, there, module in crossings() if (here, there) in STRANGERS}


def test_programs_are_drawn_in_notebooks_only():
    drawing = [
        (module, inside)
        for module in modules()
        if room_of(module) == "programs"
        for name, inside in imports(module)
        if room_of(name) == "pictures"
    ]
    assert {inside for _, inside in drawing} == {True}


def test_nothing_in_kleene_names_the_papers_package_which_an_entry_point_finds():
    texts = {path: path.read_text() for path in ROOT.rglob("*") if path.suffix in (".py", ".toml")}
    assert [path.name for path, text in texts.items() if "kleene_papers" in text] == []
    assert [path.name for path, text in texts.items() if "kleene.reproductions" in text] == ["reproducing.py"]


def test_no_module_imports_itself_around_a_corner():
    graph = {module: {behind for name, _ in imports(module) if (behind := module_behind(name))} for module in modules()}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " → ".join((*path[path.index(module) :], module))
        if module not in done:
            for other in sorted(graph[module] - {module}):
                visit(other, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


LATE = ("jax", "jaxtyping", "equinox", "optax", "numpy", "matplotlib", "rich", "typer", "safetensors", "scipy")
LATE += ("uvicorn",)  # which is an extra


def test_an_import_inside_a_function_keeps_something_heavy_out_of_a_cold_start():
    """Of our own modules, those that load a heavy library; the command line loads every one of ours late."""
    heavy = {module for module in modules() if loads(module, LATE)}
    odd = [
        (module, name)
        for module in modules()
        if room_of(module) != "cli"
        for name, inside in imports(module)
        if inside and name.startswith("kleene.") and module_behind(name) not in heavy
    ]
    assert not odd


@cache
def loads(module: str, libraries: tuple[str, ...]) -> bool:
    """Whether importing a module imports one of these libraries."""
    seen, left = set(), [module]
    while left:
        now = left.pop()
        if now in seen:
            continue
        seen.add(now)
        for name, inside in imports(now):
            if inside:
                continue
            if name.split(".")[0] in libraries:
                return True
            behind = module_behind(name)
            left += [] if behind is None else [".".join(behind.split(".")[:n]) for n in range(2, behind.count(".") + 2)]
    return False


@pytest.mark.parametrize("room", ["traces", "notation", "programs", "kinds", "naming"])
def test_a_room_that_needs_no_network_never_imports_jax(room):
    names = {name.split(".")[0] for module in modules() if room_of(module) == room for name, _ in imports(module)}
    assert not names & {"jax", "equinox", "optax", "jaxtyping"}


def test_the_command_line_imports_nothing_heavy_before_a_command_needs_it():
    at_once = {name for m in modules() if room_of(m) == "cli" for name, inside in imports(m) if not inside}
    ours = {name for name in at_once if name.startswith("kleene.")}
    assert {room_of(name) for name in ours} <= {"cli", "errors", "users_code"}
    assert {name.split(".")[0] for name in at_once - ours} <= {*sys.stdlib_module_names, "typer", "kleene"}


@pytest.mark.parametrize(
    "module",
    [
        "kleene",
        "kleene.traces",
        "kleene.kinds",
        "kleene.naming",
        "kleene.programs.alta",
        "kleene.programs.alta.library",
        "kleene.programs.automata.library",
        "kleene.programs.turing.library",
        "kleene.pictures",
    ],
)
def test_what_needs_no_network_is_imported_without_jax(module):
    code = f"import {module}, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stdout.split())
    assert module in loaded
    assert not {name for name in loaded if name.split(".")[0] in ("jax", "equinox")}
    assert not {name for name in loaded if room_of(name) in ("machines", "compiling")}


def test_class_names_are_used_once():
    defined: dict[str, list[str]] = {}
    papers = {f"kleene_papers.{path.stem}": path for path in Path(kleene_papers.__file__).parent.glob("*.py")}
    for module, path in (modules() | papers).items():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                defined.setdefault(node.name, []).append(module)
    assert not {name: places for name, places in defined.items() if len(places) > 1}


def test_the_order_is_the_one_that_the_lines_above_say():
    assert all(RANK[above[0]] < RANK[below[0]] for above, below in pairwise(ORDER))
