"""Turing machines into the weights of simple recurrent networks (Chiang's notes, Theorems 4.11 and 4.12)."""

from kleene.compiling.turing.compiler import compile_turing as compile_turing
