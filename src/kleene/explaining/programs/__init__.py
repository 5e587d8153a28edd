"""What is said of transformer programs: their anatomy, and what training data say about them."""

from kleene.explaining.programs.anatomy import Anatomy as Anatomy
from kleene.explaining.programs.anatomy import Cost as Cost
from kleene.explaining.programs.anatomy import Fired as Fired
from kleene.explaining.programs.anatomy import action_text as action_text
from kleene.explaining.programs.anatomy import anatomy as anatomy
from kleene.explaining.programs.anatomy import condition_text as condition_text
from kleene.explaining.programs.learnable import Learnability as Learnability
from kleene.explaining.programs.learnable import learnable as learnable
from kleene.explaining.programs.minimal import Minimal as Minimal
from kleene.explaining.programs.minimal import minimal as minimal
from kleene.explaining.programs.pairs import MLPPairs as MLPPairs
from kleene.explaining.programs.pairs import mlp_pairs as mlp_pairs
from kleene.explaining.programs.splits import SplitLearnability as SplitLearnability
from kleene.explaining.programs.splits import learnable_on_split as learnable_on_split
from kleene.explaining.programs.theorems import Improvement as Improvement
from kleene.explaining.programs.theorems import MinimalityCheck as MinimalityCheck
from kleene.explaining.programs.theorems import Unneeded as Unneeded
from kleene.explaining.programs.theorems import check_minimality as check_minimality
