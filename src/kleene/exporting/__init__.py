"""Networks for other libraries: a folder that opens without Kleene, with the weights, a model's source and its card.

`export` is the verb. `folders` writes a folder in one step; `cards` writes what people read of it, and `sources` finds
the program's own text.
"""

from kleene.exporting.export import Exported as Exported
from kleene.exporting.export import export as export
