"""The LSTM (Hochreiter and Schmidhuber 1997), as a language model or an acceptor.

`lstm` is the network, `streams` reads many streams of tokens side by side for training, and `pytorch` converts models
to and from PyTorch.
"""

from kleene.machines.lstm.lstm import LSTM as LSTM
