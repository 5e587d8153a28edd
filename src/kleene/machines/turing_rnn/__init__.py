"""Simple recurrent networks that run Turing machines (Chiang, Theorem 4.11).

`turing_rnn` is the network and `reading` says what its numbers mean; `simulation` puts a computation together from the
network's ticks. Exact ticks are traced once (`exact_ticks`), become Python code (`exact_code`) and are run by
`exact_execution`; `float_execution` runs floating ones, each checked to be exact.
"""

from kleene.machines.turing_rnn.turing_rnn import TuringRNN as TuringRNN
