"""From a recurrent network back to a finite automaton."""
