"""Circuits into the weights of an NRAM."""
