"""Interactions of inputs: the truth about pairs of symbols of a word, and measures of it.

`shapley` computes the true interactions of any function of words, `structure` those of an automaton's states,
and `measures` has what explanations say. `kleene.groundtruth.judging` compares the two.
"""

from kleene.explaining.interactions.shapley import sampled_interactions as sampled_interactions
from kleene.explaining.interactions.shapley import shapley_interactions as shapley_interactions
