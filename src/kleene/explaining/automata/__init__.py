"""Extracting a finite automaton from a recurrent network."""
