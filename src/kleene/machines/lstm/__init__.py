"""The LSTM (Hochreiter & Schmidhuber 1997), its training streams, and its way to and from PyTorch."""

from kleene.machines.lstm.lstm import LSTM as LSTM
