"""Simple recurrent networks that run Turing machines (Chiang's notes, Theorem 4.11).

`turing_rnn` is the network, which puts a computation together from its ticks, and `reading` says what its numbers and
its ticks mean. Exact ticks are traced once and become Python code (`exact_ticks`), which `exact_execution` runs.
"""

from kleene.machines.turing_rnn.turing_rnn import TuringRNN as TuringRNN
