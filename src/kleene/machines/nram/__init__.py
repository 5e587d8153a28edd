"""The neural random-access machine (Kurach et al. 2016)."""

from kleene.machines.nram.nram import NRAM as NRAM
