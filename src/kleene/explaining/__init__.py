"""Taking networks and programs apart: what they are made of, and what they do."""

from typing import TYPE_CHECKING, Any

from kleene.explaining.anatomy import anatomy as anatomy
from kleene.explaining.rules import Rules as Rules

if TYPE_CHECKING:
    from kleene.explaining.decomposition import decompose as decompose
    from kleene.explaining.decomposition import decompose_batch as decompose_batch
    from kleene.explaining.pairwise import interdependence as interdependence
    from kleene.explaining.pairwise import interdependence_batch as interdependence_batch

# What needs jax is imported on first use.
_LATE = {
    "decompose": "kleene.explaining.decomposition",
    "decompose_batch": "kleene.explaining.decomposition",
    "interdependence": "kleene.explaining.pairwise",
    "interdependence_batch": "kleene.explaining.pairwise",
}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        from importlib import import_module

        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module 'kleene.explaining' has no attribute {name!r}")
