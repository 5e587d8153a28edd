"""Finite automata into the weights of simple RNNs: Theorem 4.4."""
