"""Transformer programs taken apart."""
