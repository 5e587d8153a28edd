"""Circuits: straight-line programs over registers, modules and a memory, as an NRAM runs them (Appendix K)."""

from kleene.programs.circuits.blocks import Block as Block
from kleene.programs.circuits.circuit import Circuit as Circuit
