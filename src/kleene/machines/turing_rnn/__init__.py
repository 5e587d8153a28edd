"""Simple recurrent networks that run Turing machines (Chiang's notes, Theorem 4.11).

`turing_rnn` is the network and `reading` says what its numbers and its ticks mean; `simulation` runs the network and
puts a computation together from its ticks. Exact ticks are traced once (`exact_ticks`), become Python code
(`exact_code`) and are run by `exact_execution`.
"""

from kleene.machines.turing_rnn.turing_rnn import TuringRNN as TuringRNN
