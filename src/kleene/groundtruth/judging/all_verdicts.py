"""Verdicts on interactions and on circuits, side by side, and as a page to look at."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kleene.errors import InputError
from kleene.explaining.circuits.verdicts import CircuitVerdicts
from kleene.explaining.interactions.verdicts import InteractionVerdicts
from kleene.files import write_atomically
from kleene.pictures.pages import is_page, page


@dataclass(frozen=True)
class AllVerdicts:
    """The verdicts on measures of interaction and those on methods for circuits."""

    interactions: InteractionVerdicts
    circuits: CircuitVerdicts

    def __str__(self) -> str:
        return f"INTERACTIONS OF INPUTS\n\n{self.interactions}\n\n\nCIRCUITS\n\n{self.circuits}"

    def __repr__(self) -> str:
        return f"<AllVerdicts: {self.interactions!r}, {self.circuits!r}>"

    def _repr_html_(self) -> str:
        parts = {"Interactions of inputs": self.interactions, "Circuits": self.circuits}
        return "".join(f"<h2>{title}</h2>{found._repr_html_()}" for title, found in parts.items())

    def as_json(self) -> dict[str, Any]:
        return {"interactions": self.interactions.as_json(), "circuits": self.circuits.as_json()}


def save_page(verdicts: InteractionVerdicts | CircuitVerdicts | AllVerdicts, path: Any) -> Path:
    """Save the tables as a page and return its path."""
    return write_atomically(path, saved_page(verdicts))


def saved_page(verdicts: InteractionVerdicts | CircuitVerdicts | AllVerdicts) -> str:
    """The text of the page."""
    return page("Explanations judged", f"<section>{verdicts._repr_html_()}</section>")


def check_page(path: Any) -> None:
    """Refuse a file that cannot become a page, before anything is judged."""
    if not is_page(path):
        raise InputError(f"the tables are written as a page, and not as {str(path)!r}; give a name that ends in .html")
    if not os.path.isdir(Path(path).resolve().parent):
        raise InputError(f"there is no folder for {str(path)!r}; make it first")
