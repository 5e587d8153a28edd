"""Finite automata, deterministic and not: from tables, regular expressions, files or automata-lib."""

from kleene.programs.automata.dfa import DFA as DFA
from kleene.programs.automata.nfa import NFA as NFA
