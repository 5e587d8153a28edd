"""Sweeps: many runs of `teach` or `reproduce`, described in one file and kept in one store."""
