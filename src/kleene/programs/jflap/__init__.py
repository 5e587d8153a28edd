"""Files of JFLAP (`.jff`), as JFLAP 4 to 7 write them: drawings of automata and Turing machines, read and written.

`tree` reads the XML, `drawing` finds states and transitions in it and writes them again, and `placing` places states
that have no position. What a drawing means is said where the programs are: in `automata.jflap` and `turing.jflap`.
"""

from kleene.programs.jflap.drawing import ENDING as ENDING
from kleene.programs.jflap.drawing import JflapDrawing as JflapDrawing
from kleene.programs.jflap.drawing import JflapState as JflapState
from kleene.programs.jflap.drawing import JflapTransition as JflapTransition
from kleene.programs.jflap.drawing import check_text as check_text
from kleene.programs.jflap.drawing import load as load
from kleene.programs.jflap.drawing import prefix_of as prefix_of
from kleene.programs.jflap.drawing import read as read
from kleene.programs.jflap.drawing import refusal as refusal
from kleene.programs.jflap.drawing import save as save
from kleene.programs.jflap.drawing import unused_name as unused_name
from kleene.programs.jflap.drawing import written as written
from kleene.programs.jflap.placing import placed as placed
