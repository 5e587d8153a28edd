"""All studies by name, those of each text in the order of its tables and figures."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from kleene.errors import InputError
from kleene_papers.study import Study

ROOMS = ("alta", "traces", "interdependence", "judged", "benches")  # each has a tuple STUDIES in its module `studies`


@cache
def studies() -> Mapping[str, Study]:
    """Every study by its name."""
    found = [study for room in ROOMS for study in import_module(f"kleene_papers.{room}.studies").STUDIES]
    named = {study.name: study for study in found}
    assert len(named) == len(found), "two studies have one name"
    return named


def study_of(name: str) -> Study | None:
    """The study of that name; one that had the name before is refused with today's."""
    for study in studies().values():
        if name and study.formerly == name:
            raise InputError(f"{name!r} is called {study.name} now: kleene reproduce {study.name}")
    return studies().get(name)
