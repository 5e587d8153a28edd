"""`kleene.judge`: measures of interaction and methods for circuits, judged on networks whose algorithm is known."""
