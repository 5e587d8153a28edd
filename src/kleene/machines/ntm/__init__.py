"""The Neural Turing Machine (Graves et al. 2014)."""

from kleene.machines.ntm.ntm import NTM as NTM
