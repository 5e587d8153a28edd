"""Circuits: straight-line programs over registers, modules and a memory, for an NRAM (partial traces, Appendix K)."""

from kleene.programs.circuits.blocks import Block as Block
from kleene.programs.circuits.circuit import Circuit as Circuit
