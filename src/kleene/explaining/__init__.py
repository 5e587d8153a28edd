"""Taking networks and programs apart: what they are made of, and what they do."""

from typing import TYPE_CHECKING, Any

from kleene.explaining.programs.anatomy import anatomy as anatomy

if TYPE_CHECKING:
    from kleene.explaining.words.decomposition import decompose as decompose
    from kleene.explaining.words.decomposition import decompose_batch as decompose_batch
    from kleene.explaining.words.pairwise import interdependence as interdependence
    from kleene.explaining.words.pairwise import interdependence_batch as interdependence_batch
    from kleene.explaining.words.sharing import Rules as Rules

# What needs jax is imported on first use.
_LATE = {
    "decompose": "kleene.explaining.words.decomposition",
    "decompose_batch": "kleene.explaining.words.decomposition",
    "interdependence": "kleene.explaining.words.pairwise",
    "interdependence_batch": "kleene.explaining.words.pairwise",
    "Rules": "kleene.explaining.words.sharing",
}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        from importlib import import_module

        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module 'kleene.explaining' has no attribute {name!r}")
