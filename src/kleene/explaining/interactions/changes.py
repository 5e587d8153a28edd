"""By how much a measure does better on one family of networks than on another, network by network.

Networks of two families go together if they have the same name: the same language and the same seed. What differs
between languages then cancels, so a change is seen that the intervals of the two families would hide.
"""

import numpy as np

from kleene.errors import InputError
from kleene.explaining.interactions.ranking import Interval, interval
from kleene.explaining.interactions.verdicts import BY_NETWORK, TRUTHS, InteractionVerdicts


def language_of(network: str) -> str:
    """The language of a network by the name that the judge gives it.

    >>> language_of("tomita_4 seed 3"), language_of("(0|1)*011")
    ('tomita_4', '(0|1)*011')
    """
    return network.partition(" seed ")[0]


def change(
    found: InteractionVerdicts, measure: str, family: str, of: str, *, what: str = "partial", truth: str = "language"
) -> Interval:
    """The mean difference between the networks of a family and those `of` another, and its 95% bootstrap interval.

    `what` is "spearman", or "partial", which is given the distance. Where the other family has one network for a
    language, such as the compiled one, all are compared with that.
    """
    if what not in BY_NETWORK or truth not in TRUTHS:
        raise InputError(
            f"a change of {what!r} for {truth!r}; there are {', '.join(BY_NETWORK)} for {' and '.join(TRUTHS)}"
        )
    place = BY_NETWORK.index(what) * len(TRUTHS) + TRUTHS.index(truth)
    ours, theirs = (found.of(measure, one).by_network for one in (family, of))
    pairs = {}
    for name, numbers in ours.items():
        other = theirs.get(name, theirs.get(language_of(name)))
        if other is not None and None not in (numbers[place], other[place]):
            pairs[name] = np.array([numbers[place] - other[place]])  # pyright: ignore
    return interval(list(pairs.values()), [language_of(name) for name in pairs])
