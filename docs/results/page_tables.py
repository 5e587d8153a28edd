"""More tables of pages of this folder, from its JSON files; see tables.py."""

from collections.abc import Callable

TABLES: dict[str, Callable[[], str]] = {}
