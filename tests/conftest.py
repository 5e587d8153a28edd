"""What all tests share: arrays are checked as the code runs, hypothesis is repeatable, jax keeps to the CPU."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

from hypothesis import settings
from jaxtyping import install_import_hook

# The machines' fields and functions say the shapes of their arrays. The other rooms refuse a user's bad input
# themselves, with better words, and there are tests that they do.
install_import_hook("kleene.machines", "beartype.beartype")

settings.register_profile("kleene", deadline=None, derandomize=True)
settings.load_profile("kleene")
