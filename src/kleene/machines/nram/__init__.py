"""The neural random-access machine (Kurach et al. 2016).

`nram` is the machine: at each step a controller wires up a circuit of modules. `modules` has those modules, which
compute with distributions over the integers modulo M.
"""

from kleene.machines.nram.nram import NRAM as NRAM
