"""The studies of this text by name, and the functions that its pages use."""

from kleene_papers.study import Study
from kleene_papers.traces import grids, neural_gpu, nram, nram_deviations, nram_runs, ntm, readings, states

STUDIES: tuple[Study, ...] = (
    *ntm.STUDIES,
    *nram.STUDIES,
    *nram_runs.STUDIES,
    *neural_gpu.STUDIES,
    *readings.STUDIES,
    *nram_deviations.STUDIES,
    *states.STUDIES,
)
WORDS: tuple = (grids.grid, ntm.beside_none, *nram.WORDS, *nram_runs.WORDS, *neural_gpu.WORDS, *states.WORDS)
