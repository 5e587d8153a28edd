"""The LSTM (Hochreiter and Schmidhuber 1997), as a language model or an acceptor.

`lstm` is the network, `streams` reads many texts side by side for training, and `pytorch` brings models to and from
PyTorch.
"""

from kleene.machines.lstm.lstm import LSTM as LSTM
