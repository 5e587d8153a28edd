"""Machines: what has weights. Each can be run, trained, saved, and record a trace."""

from kleene.caching import keep_compiled_programs_unless_jax_came_first
from kleene.machines.transformer.universal_transformer import UniversalTransformer as UniversalTransformer

keep_compiled_programs_unless_jax_came_first()
