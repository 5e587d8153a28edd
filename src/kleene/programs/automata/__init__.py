"""Finite automata: deterministic, complete, and easy to come by."""

from kleene.programs.automata.dfa import DFA as DFA
