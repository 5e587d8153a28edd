"""Networks for other libraries: a folder that opens without Kleene, with the weights, a model's source and its card.

`export` is the verb. `folders` writes a folder in one step; `cards` writes what people read of it, `sources` finds the
program's own text, and `reaching` what its functions need to be read.
"""

from kleene.exporting.export import Exported as Exported
from kleene.exporting.export import export as export
