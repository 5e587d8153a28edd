"""Short training runs of lessons, and what they measure as plain data."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import kleene
from tests.snapshots.normalising import normalised
from tests.snapshots.storing import FAULT

SHORT: dict[str, Any] = {"seeds": 2, "iterations": 4, "test_every": 2}
MEANT = ("machine", "method", "variant")  # the options that say which lesson is meant


def measured(listed: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The lesson, what its settings came to, and its tests; the files that it needs are written into the folder."""
    given = dict(listed)
    subject, fault = given.pop("teach"), given.pop(FAULT, None)
    for file, content in given.pop("files", {}).items():
        (folder / file).write_text(content)
    taught = kleene.teach(subject, **SHORT | given)
    answer = {"teach": subject, "options": given} | ({} if fault is None else {FAULT: fault})
    answer |= {"lesson": normalised(taught.plan.facts()["lesson"], folder)}
    return answer | {"settings": normalised(taught.report.settings()), "tests": normalised(taught.report.rows())}


def defaults(listed: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Which lesson is meant, in words, and its plan where no other option is given; nothing is taught."""
    meant = {name: listed[name] for name in MEANT if name in listed}
    plans: list[Any] = []

    def stop(plan: Any) -> None:
        plans.append(plan)
        raise _Planned

    with suppress(_Planned):
        kleene.teach(listed["teach"], on_plan=stop, **meant)
    return " ".join([listed["teach"], *meant.values()]), normalised(plans[0].facts())


class _Planned(Exception):
    """The plan is made, which is all that is asked for."""
