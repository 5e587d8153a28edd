"""The neural random-access machine (Kurach et al. 2016).

`nram` is the machine: a controller that wires up a circuit of modules at each step. `modules` are those modules, on
distributions over the integers modulo M.
"""

from kleene.machines.nram.nram import NRAM as NRAM
