"""Simple recurrent networks, with exact or floating weights."""

from kleene.machines.rnn.exact import ExactMatrix as ExactMatrix
from kleene.machines.rnn.simple_rnn import SimpleRNN as SimpleRNN
