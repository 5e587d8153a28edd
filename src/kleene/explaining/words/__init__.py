"""Which words of a sentence a network takes together: contextual decomposition and interdependence."""
