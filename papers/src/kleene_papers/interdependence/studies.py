"""The studies of this text by name, and the functions that its pages use."""

from kleene_papers.interdependence import english
from kleene_papers.study import Study

STUDIES: tuple[Study, ...] = english.STUDIES
WORDS: tuple = english.WORDS
