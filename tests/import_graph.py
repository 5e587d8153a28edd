"""The import graph of the house, between rooms and between modules, read from the source.

`python -m tests.import_graph` draws it as text, with counts; `--svg FILE` draws it as a picture.
"""

import argparse
import ast
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "kleene"
# The rooms in the order in which they may import: each only what stands in the lines before it, or in its own.
LINES = (
    ("errors",),
    ("reproducing",),
    ("limits",),
    ("files",),
    ("tensors", "data", "stopping", "caching", "benchmarking", "spawning", "users_code", "confining"),
    ("kernels",),
    ("doctor",),
    ("traces",),
    ("notation",),
    ("pictures",),
    ("benched",),
    ("programs", "machines"),
    ("kinds",),
    ("naming",),
    ("compiling",),
    ("running",),
    ("exporting",),
    ("tasks",),
    ("runs",),
    ("teaching",),
    ("sweeping",),
    ("explaining",),
    ("groundtruth",),
    ("watching",),
    ("viewing",),
    ("exercises",),
    ("cli",),
)
ORDER = tuple(room for line in LINES for room in line)


@dataclass(frozen=True)
class Import:
    """One import of one module of the package by another, as `a.b` without the package's own name."""

    importer: str
    imported: str
    late: bool  # inside a function
    for_types: bool  # under TYPE_CHECKING

    @property
    def rooms(self) -> tuple[str, str]:
        return room(self.importer), room(self.imported)


@dataclass
class House:
    """All modules with their numbers of lines, and all imports between them."""

    lines: dict[str, int]
    imports: list[Import] = field(default_factory=list)

    def between_rooms(self) -> Counter[tuple[str, str]]:
        """How many imports go from one room to another."""
        return Counter(i.rooms for i in self.imports if i.rooms[0] != i.rooms[1])

    def against_order(self) -> list[Import]:
        """The imports of what stands later in `ORDER`, and between programs and machines."""
        place = {name: number for number, name in enumerate(ORDER)}
        wrong = []
        for found in self.imports:
            importer, imported = found.rooms
            later = importer in place and imported in place and place[imported] > place[importer]
            if later or (importer, imported) == ("machines", "programs"):
                wrong.append(found)
        return wrong

    def cycles(self) -> list[list[str]]:
        """Groups of modules that all import each other, on however many steps; late imports count.

        The package itself, which has every name of the house, is left out: it imports at run time what is asked for.
        """
        graph: dict[str, set[str]] = {name: set() for name in self.lines}
        for found in self.imports:
            if found.importer not in ("", found.imported):
                graph[found.importer].add(found.imported)
        return components(graph)


def room(module: str) -> str:
    """The first part of a module's name: `machines` of `machines.rnn.execution`; the package itself is `kleene`."""
    return module.partition(".")[0] or "kleene"


def read(source: Path = SOURCE) -> House:
    """The house as its files are now."""
    files = {_name(file, source): file for file in sorted(source.rglob("*.py"))}
    trees = {name: file.read_text() for name, file in files.items()}
    house = House({name: text.count("\n") for name, text in trees.items()})
    for name, text in trees.items():
        house.imports += _imports(name, ast.parse(text), files.keys(), source.name)
    return house


def components(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one node, each sorted (Tarjan 1972)."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        numbers[node] = lowest[node] = len(numbers)
        stack.append(node)
        for target in graph[node]:
            if target not in numbers:
                visit(target)
                lowest[node] = min(lowest[node], lowest[target])
            elif target in stack:
                lowest[node] = min(lowest[node], numbers[target])
        if lowest[node] == numbers[node]:
            first = stack.index(node)
            component, stack[first:] = stack[first:], []
            if len(component) > 1:
                found.append(sorted(component))

    for node in graph:
        if node not in numbers:
            visit(node)
    return sorted(found)


def as_text(house: House) -> str:
    """The graph between rooms, one line a room, and the counts."""
    edges = house.between_rooms()
    rooms = sorted({room(name) for name in house.lines}, key=lambda r: (ORDER.index(r) if r in ORDER else 99, r))
    shown = []
    for name in rooms:
        modules = [module for module in house.lines if room(module) == name]
        targets = [f"{other} {edges[name, other]}" for other in rooms if edges[name, other]]
        size = f"{len(modules):3} modules {sum(house.lines[m] for m in modules):6,} lines"
        shown.append(f"{name:12} {size}  → {', '.join(targets) or '(nothing)'}")
    late = [found for found in house.imports if found.late]
    wrong, cycles = house.against_order(), house.cycles()
    shown += [
        "",
        f"modules                    {len(house.lines):6,}",
        f"lines                      {sum(house.lines.values()):6,}",
        f"imports of our own modules {len(house.imports):6,}",
    ]
    shown += [f"  inside functions         {len(late):6,}", f"imports against the order  {len(wrong):6,}"]
    shown += [f"  {i.importer} → {i.imported}{' (late)' * i.late}" for i in wrong]
    shown += [f"cycles of modules          {len(cycles):6,}", *(f"  {' ⇄ '.join(cycle)}" for cycle in cycles)]
    return "\n".join(shown)


def draw(house: House, path: str) -> None:
    """Write the graph between rooms as a picture: each room below those that it imports."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    edges = house.between_rooms()
    rooms = [name for name in ORDER if any(room(module) == name for module in house.lines)]
    height = {name: -number for number, name in enumerate(rooms)}
    figure, axes = pyplot.subplots(figsize=(7, 0.42 * len(rooms) + 0.6))
    for (importer, imported), count in edges.items():
        if importer in height and imported in height:
            rises = height[imported] > height[importer]
            arrow = {"arrowstyle": "->", "connectionstyle": "arc3,rad=0.45", "linewidth": 0.5 + min(count, 60) / 30}
            arrow |= {"color": "#4878a8" if rises else "#c03030", "alpha": 0.6}
            axes.annotate("", (0, height[imported]), (0, height[importer]), arrowprops=arrow)
    for name, y in height.items():
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "#444444"}
        axes.text(0, y, name, ha="center", va="center", bbox=box, fontsize=9)
    axes.set(xlim=(-1.5, 1.5), ylim=(-len(rooms), 1))
    axes.axis("off")
    figure.savefig(path, bbox_inches="tight")
    pyplot.close(figure)


def _name(file: Path, source: Path) -> str:
    parts = file.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(importer: str, tree: ast.Module, modules, package: str) -> list[Import]:
    """The imports of a module. `from a import b` imports `a.b` where that is a module, and `a` otherwise."""
    found = []

    def walk(node: ast.AST, late: bool, for_types: bool) -> None:
        for child in ast.iter_child_nodes(node):
            inside = late or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            typed = for_types or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test))
            for name in _imported(child, package):
                target = name if name in modules else name.rpartition(".")[0]
                if target in modules:
                    found.append(Import(importer, target, inside, typed))
            walk(child, inside, typed)

    walk(tree, False, False)
    return found


def _imported(node: ast.AST, package: str) -> list[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        return []
    return [name.removeprefix(f"{package}.") for name in names if name.startswith(f"{package}.")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--svg", metavar="FILE", help="draw the graph between rooms into this file")
    asked = parser.parse_args()
    found = read()
    print(as_text(found))
    if asked.svg:
        draw(found, asked.svg)
