"""How docstrings become the reference: examples as blocks of code, and a list of its modules below each room."""

from collections.abc import Iterator

import griffe


class RoomLists(griffe.Extension):
    """Adds to the docstring of every room a table of its modules, each with the first line of its own docstring."""

    def on_package(self, *, pkg: griffe.Module, **kwargs) -> None:
        for room in pkg.modules.values():
            if not room.is_alias and room.is_subpackage:
                said = room.docstring.value if room.docstring else ""
                room.docstring = griffe.Docstring(f"{said}\n\n{module_table(room)}", parent=room)


class FencedExamples(griffe.Extension):
    """Puts the examples of every docstring between fences: Markdown would read `>>>` as three quotations."""

    def on_object(self, *, obj: griffe.Object, **kwargs) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def module_table(room: griffe.Module) -> str:
    rows = [f"| `{module.path}` | {first_line(module)} |" for module in modules_of(room) if first_line(module)]
    return "\n".join(["| module | |", "| --- | --- |", *rows])


def modules_of(package: griffe.Module) -> Iterator[griffe.Module]:
    for _, module in sorted(package.modules.items()):
        if not module.is_alias:  # a module that is only imported there
            yield module
            yield from modules_of(module)


def first_line(module: griffe.Module) -> str:
    lines = module.docstring.value.splitlines() if module.docstring else []
    return lines[0].replace("|", "&#124;") if lines else ""


def fenced(text: str) -> str:
    """The text with each run of lines from `>>>` to the next empty line as a block of Python."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if not inside and line.lstrip().startswith(">>>"):
            lines += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)
