"""Interchange interventions: does a network compute what a program does when a value is swapped in from another input?

`counterfactuals` has the program's side, exact and computed once; `alignment` says where in a network the program's
variables and heads live; `accuracy` counts on how many pairs of inputs the two agree.
"""
