"""Machines: what has weights. Each can be run, trained, saved, and record a trace."""

from kleene.machines.transformer.universal_transformer import UniversalTransformer as UniversalTransformer
