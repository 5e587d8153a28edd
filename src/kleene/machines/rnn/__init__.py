"""Simple recurrent networks (Elman 1990), with exact or floating weights.

`simple_rnn` is the network. `execution` runs it and reads its trace back; `exact_execution`
steps exact weights. `library` has networks that count, which no finite automaton can.
"""

from kleene.machines.rnn.simple_rnn import SimpleRNN as SimpleRNN
from kleene.notation.exact import ExactMatrix as ExactMatrix
