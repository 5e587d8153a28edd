"""The simple RNN that runs a Turing machine (Chiang, Theorem 4.11), in exact or floating numbers."""

from kleene.machines.turing_rnn.turing_rnn import TuringRNN as TuringRNN
