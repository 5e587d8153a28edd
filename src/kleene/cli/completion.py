"""What a shell offers when Tab is pressed after a command that takes a program: names, and files of programs."""

from collections.abc import Iterator
from pathlib import Path

FILES = (".py", ".safetensors")


def complete_program(incomplete: str) -> list[str]:
    """The names on the shelves that begin so, and files."""
    from kleene.naming import listed_names

    return _beginning(incomplete, iter(listed_names()))


def complete_transformer(incomplete: str) -> list[str]:
    """The names of transformer programs that begin so, and files."""
    from kleene.programs.alta.library import entries

    return _beginning(incomplete, iter(entries()))


def _beginning(incomplete: str, names: Iterator[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)] + _files(incomplete)


def _files(incomplete: str) -> list[str]:
    """Files of programs and networks whose path begins so, and folders, which may have some in them."""
    folder, _, start = incomplete.rpartition("/")
    where = Path(folder or ("/" if incomplete.startswith("/") else "."))
    try:
        found = sorted(file for file in where.iterdir() if file.name.startswith(start) and file.name[0] != ".")
    except OSError:
        return []
    before = incomplete[: len(incomplete) - len(start)]
    return [before + file.name + "/" * file.is_dir() for file in found if file.suffix in FILES or file.is_dir()]
