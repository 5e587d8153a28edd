"""The studies of this text by name, and the functions that its pages use."""

from kleene_papers.interdependence import english, rule_corpora, rule_numbers
from kleene_papers.study import Study

STUDIES: tuple[Study, ...] = (*rule_corpora.STUDIES, *english.STUDIES)
WORDS: tuple = (*rule_numbers.WORDS, *english.WORDS)
