"""Simple recurrent networks, with exact or floating weights."""

from kleene.machines.rnn.simple_rnn import SimpleRNN as SimpleRNN
from kleene.notation.exact import ExactMatrix as ExactMatrix
