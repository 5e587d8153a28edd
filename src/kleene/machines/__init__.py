"""Machines: everything that has weights, a module or a folder for each.

Every machine answers one protocol (`protocol`): it runs to a trace, saves to one file format (`weights`), has a size
and shows itself. `ncm` defines machines of a controller and a processor, so that all can be taught alike.
"""

from kleene.machines.transformer.universal_transformer import UniversalTransformer as UniversalTransformer
