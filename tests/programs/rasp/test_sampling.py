"""Samples of inputs: all of them if they are few, every length always, and few long ones."""

import numpy as np

from kleene.programs.rasp.sampling import Sample


def test_few_inputs_are_all_there():
    sample = Sample.of(2, 3)
    assert len({tuple(row[inside]) for row, inside in zip(sample.words, sample.inside)}) == 2 + 4 + 8


def test_long_inputs_are_few_and_every_length_is_there():
    sample = Sample.of(3, 60, pairs=60**3 * 2)
    lengths = sample.inside.sum(axis=1)
    assert np.array_equal(np.unique(lengths), np.arange(1, 61))
    assert max(np.bincount(lengths)) <= 2
    assert sample.words.max() < 3


def test_named_words_are_drawn_alone_too():
    sample = Sample.of(50, 6, [7, 9])
    longest = sample.words[sample.inside.all(axis=1)]
    assert np.isin(longest, [7, 9]).all(axis=1).sum() >= 10
