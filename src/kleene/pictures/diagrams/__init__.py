"""State diagrams of automata and Turing machines."""
