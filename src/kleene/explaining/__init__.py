"""Explaining networks and programs: what they are made of, and what they compute."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene.explaining.automata.extraction import extract as extract
    from kleene.explaining.automata.extraction import extraction as extraction
    from kleene.explaining.networks.compared import compare_with_program as compare_with_program
    from kleene.explaining.programs import anatomy as anatomy
    from kleene.explaining.programs import learnable as learnable
    from kleene.explaining.programs import minimal as minimal
    from kleene.explaining.words.decomposition import decompose as decompose
    from kleene.explaining.words.decomposition import decompose_batch as decompose_batch
    from kleene.explaining.words.decomposition import state_after as state_after
    from kleene.explaining.words.explanation import explain as explain
    from kleene.explaining.words.pairwise import interdependence as interdependence
    from kleene.explaining.words.pairwise import interdependence_batch as interdependence_batch
    from kleene.explaining.words.sharing import Sharing as Sharing

# Each name is imported on first use: words need jax, programs need the ALTA language, and neither needs the other.
_LATE = {
    "anatomy": "kleene.explaining.programs",
    "compare_with_program": "kleene.explaining.networks.compared",
    "decompose": "kleene.explaining.words.decomposition",
    "decompose_batch": "kleene.explaining.words.decomposition",
    "explain": "kleene.explaining.words.explanation",
    "extract": "kleene.explaining.automata.extraction",
    "extraction": "kleene.explaining.automata.extraction",
    "interdependence": "kleene.explaining.words.pairwise",
    "interdependence_batch": "kleene.explaining.words.pairwise",
    "learnable": "kleene.explaining.programs",
    "minimal": "kleene.explaining.programs",
    "Sharing": "kleene.explaining.words.sharing",
    "state_after": "kleene.explaining.words.decomposition",
}
__all__ = sorted(_LATE)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module 'kleene.explaining' has no attribute {name!r}")
