"""How hard XLA tries when it compiles what runs for seconds, not hours."""

import os
from typing import Any

import jax


def compiler_options() -> dict[str, Any]:
    """On a CPU, LLVM's first level: as fast to run, and a fifth of the time to compile. Random bits are to blame: each
    call of `jax.random` takes three seconds of the third level. A level set in XLA_FLAGS stands."""
    if jax.default_backend() != "cpu" or "xla_backend_optimization_level" in os.environ.get("XLA_FLAGS", ""):
        return {}
    return {"xla_backend_optimization_level": 1}
