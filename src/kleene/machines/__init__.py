"""Machines: what has weights, a folder for each.

Every machine answers one protocol (`protocol`): it runs to a trace, saves to one file format (`weights`), has a size
and shows itself. `ncm` says what a machine of a controller and a processor is, so that all can be taught alike.
"""

from kleene.machines.transformer.universal_transformer import UniversalTransformer as UniversalTransformer
