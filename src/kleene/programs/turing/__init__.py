"""Turing machines as Sipser defines them, with a tape that has a left end."""

from kleene.programs.turing.machine import TuringMachine as TuringMachine
