"""The Neural Turing Machine (Graves et al. 2014).

`ntm` is the machine: a feed-forward controller, a tape of vectors, a head that reads and one that writes. `addressing`
is one step of the heads on the tape, with a gradient written by hand.
"""

from kleene.machines.ntm.ntm import NTM as NTM
