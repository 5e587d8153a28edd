"""Finite automata: deterministic and complete, from tables, regular expressions, files or automata-lib."""

from kleene.programs.automata.dfa import DFA as DFA
