"""The numbers in sentences on words of English and of the built-in grammar, in both papers; see sentences.py."""

from collections.abc import Iterable, Sequence

import numpy as np
from sentences import Sentence, agreed, signed  # these three lie beside this file
from tables import stored
from word_strata import (
    FULL,
    GRAMMAR,
    NEIGHBOURS,
    QUICK,
    SHIPPED,
    Row,
    apart,
    below_zero,
    correlations,
    extremes,
    frequency,
    half_width,
    means,
    over_strata,
    strata,
    times_untrained,
    with_ends,
)

from kleene_papers.interdependence.english_report import strata_means
from kleene_papers.interdependence.resampling import interval_over
from kleene_papers.interdependence.word_pairs import CLASSES

CONTROLS = ("untrained", "permuted", "shuffled")
WITH_OPEN = ("open", "mixed")  # classes
GIVEN_PLACE = "syntax_trends_given_place"


def spread_of_neighbours() -> list[str]:
    """Both ends of the interval of DI of neighbours in the grammar over networks, and over sentences."""
    row = apart(GRAMMAR, "hidden", "trained", 1)
    return [f"{end:.3f}" for end in (*row["over_networks"], row["low"], row["high"])]


def widths_of_strata() -> list[str]:
    """Half of the interval of a correlation in the grammar over networks and over sentences, the means over strata."""
    rows = strata(GRAMMAR, "hidden", "trained")
    ends = ([row["over_networks"] for row in rows], [(row["low"], row["high"]) for row in rows])
    return [f"{np.mean([half_width(one) for one in each]):.2f}" for each in ends]


def most_of_controls(name: str) -> str:
    """The highest rank correlation with edges of neighbours among open and mixed words in any control."""
    rows = [row for group in CONTROLS for row in strata(name, "hidden", group, NEIGHBOURS, WITH_OPEN)]
    return signed(max(row["correlation"] for row in rows))


def without_and_given_place(group: str, distances: Iterable[int], classes: Sequence[str]) -> list[str]:
    """The extremes of the correlations with edges in the model that ships, without and given the place."""
    both = ("syntax_trends", GIVEN_PLACE)
    return extremes(*(strata(SHIPPED, "hidden", group, distances, classes, trends) for trends in both))


def lowest_first(rows: Sequence[Row]) -> list[str]:
    """The lowest and the highest rank correlation of strata on both sides of 0."""
    found = [row["correlation"] for row in rows]
    return [signed(min(found)), signed(max(found))]


def closed_at_eight() -> list[str]:
    """The correlation with edges of closed words eight apart in the quick networks, and half of its interval."""
    row = strata(QUICK, "hidden", "trained", (8,), ("closed",))[0]
    return [signed(row["correlation"]), f"{half_width(row['over_networks']):.2f}"]


def epochs() -> list[str]:
    """The epochs of the networks of English, and the updates of each."""
    plan = stored(FULL)["plans"][0]
    return [f"{plan['iterations'] / plan['test_every']:.0f}", f"{plan['test_every']:,}"]


def pairs_to_a_stratum() -> list[str]:
    """The fewest and the most pairs of a stratum of English, and those with mutual information, in whole thousands."""
    sources = (strata(FULL, "hidden", "trained"), strata(FULL, "information", "text"))
    return [f"{round(end(row['cases'] for row in rows), -3):,}" for rows in sources for end in (min, max)]


def beside_permuted(distances: Iterable[int]) -> list[str]:
    """What a trained network of English has above its permuted weights in the mean over strata, and the interval."""
    trained, permuted = (strata_means(strata(FULL, "hidden", group, distances)) for group in ("trained", "permuted"))
    difference = trained - permuted
    return [signed(value, digits=3) for value in (difference.mean(), *interval_over(difference))]


# fmt: off
OF_GRAMMAR = [
    Sentence("and read {} other sentences ([the numbers](english-grammar.json))",
             lambda: [f"{stored(GRAMMAR)['sentences']:,}"]),
    Sentence("DI of neighbours is {}–{} over networks and {}–{} over sentences.", spread_of_neighbours),
    Sentence("both intervals are about as wide, ±{} over networks and ±{} over sentences in the mean",
             widths_of_strata),
    Sentence("Against untrained networks alone, trained ones seem to have {} times as much.",
             lambda: times_untrained(GRAMMAR, "hidden")),
    Sentence("have less DI, by {} to {} at the hidden state and {} to {} at the logits, with intervals below 0",
             lambda: extremes(strata(GRAMMAR, "hidden", "trained", range(4, 9), WITH_OPEN),
                              strata(GRAMMAR, "logits", "trained", range(4, 9), WITH_OPEN))),
    Sentence("With shuffled words {} to {} is left of it",
             lambda: extremes(strata(GRAMMAR, "hidden", "shuffled", range(4, 9), WITH_OPEN))),
    Sentence("Permuted weights have {} to {}. - Closed pairs",
             lambda: extremes(strata(GRAMMAR, "hidden", "permuted", range(4, 9), WITH_OPEN))),
    Sentence("about what permuted weights have: {} to {} from four words apart on, permuted {} to {}.",
             lambda: extremes(strata(GRAMMAR, "hidden", "trained", range(4, 9), ("closed",)),
                              strata(GRAMMAR, "hidden", "permuted", range(4, 9), ("closed",)))),
    Sentence("without an arc between them depend on each other *more* ({} and {}).",
             lambda: correlations(strata(GRAMMAR, "hidden", "trained", NEIGHBOURS, WITH_OPEN))),
    Sentence("The controls have at most {}, and erasure says the opposite ({} and {}).",
             lambda: [most_of_controls(GRAMMAR),
                      *correlations(strata(GRAMMAR, "erasure", "trained", NEIGHBOURS, WITH_OPEN))]),
    Sentence("Erasure has {} in the mean over all strata and is below 0 in {} of {}; gradient × input has {}, and "
             "DI {} at the hidden state and {} at the logits. Mutual information, which needs no network, has {}.",
             lambda: [*over_strata(GRAMMAR, "trained", "erasure"),
                      *below_zero(strata(GRAMMAR, "erasure", "trained")),
                      *over_strata(GRAMMAR, "trained", "gradient", "hidden", "logits"),
                      *over_strata(GRAMMAR, "text", "information")]),
    Sentence("At the logits it is smaller ({} instead of {} for neighbours)",
             lambda: [*means(GRAMMAR, "logits", "trained", 1), *means(GRAMMAR, "hidden", "trained", 1)]),
    Sentence("Word frequency has little to do with DI: {} and {} in the mean",
             lambda: over_strata(GRAMMAR, "trained", "hidden", "logits", trends="frequency_trends")),
]
OF_QUICK = [
    Sentence("The tree shows among mixed pairs alone: {} to {} from two words apart on at the hidden state, {} to {} "
             "at the logits. Untrained networks have {} to {} there and permuted ones {} to {},",
             lambda: extremes(strata(QUICK, "hidden", "trained", range(2, 9), ("mixed",)),
                              strata(QUICK, "logits", "trained", range(2, 9), ("mixed",)),
                              strata(QUICK, "hidden", "untrained", range(2, 9), ("mixed",)),
                              strata(QUICK, "hidden", "permuted", range(2, 9), ("mixed",)))),
    Sentence("closed ones none from four apart on except at eight ({} ±{})", closed_at_eight),
    Sentence("Erasure and gradient × input have {} in the mean over strata, DI {} at the hidden state and {} at the "
             "logits",
             lambda: [agreed(over_strata(QUICK, "trained", "erasure", "gradient")),
                      *over_strata(QUICK, "trained", "hidden", "logits")]),
    Sentence("Untrained networks have {} by any of these",
             lambda: [agreed(over_strata(QUICK, "untrained", "erasure", "gradient", "hidden", "logits"))]),
    Sentence("follow the tree among closed pairs too, from five words apart on ({} to {})",
             lambda: extremes(strata(QUICK, "erasure", "trained", range(5, 9), ("closed",))
                              + strata(QUICK, "gradient", "trained", range(5, 9), ("closed",)))),
    Sentence("Word frequency goes with DI: {} ({} to {} over networks) for neighbouring closed words at the hidden "
             "state ({} at the full size), {} ({} to {}) at the logits. Neighbouring open words have {} ({} to {})",
             lambda: [*with_ends(frequency(QUICK, "hidden", "trained", "closed", 1)),
                      *correlations(frequency(FULL, "hidden", "trained", "closed", 1)),
                      *with_ends(frequency(QUICK, "logits", "trained", "closed", 1)),
                      *with_ends(frequency(QUICK, "hidden", "trained", "open", 1))]),
]
OF_FULL = [
    Sentence("dropout 0.2, {} epochs of {} updates", epochs),
    Sentence("{} to {} pairs each ({} to {} for mutual information)", pairs_to_a_stratum),
    Sentence("at the hidden state from {} for neighbours to {} eight words apart, at the logits from {} to {}.",
             lambda: [*means(FULL, "hidden", "trained", 1, 8), *means(FULL, "logits", "trained", 1, 8)]),
    Sentence("In untrained networks it is {} times smaller for neighbours (at the logits {} times)",
             lambda: times_untrained(FULL, "hidden", "logits")),
    Sentence("at the hidden state {} for neighbours, {} four words apart, and then up to {} fifteen apart",
             lambda: means(FULL, "hidden", "permuted", 1, 4, 15)),
    Sentence("**Shuffled sentences have both** ({} for neighbours, {} eight words apart)",
             lambda: means(FULL, "hidden", "shuffled", 1, 8)),
    Sentence("From six words apart on trained networks have it in every class, by {} to {} at the hidden state",
             lambda: extremes(strata(FULL, "hidden", "trained", range(6, 9)))),
    Sentence("networks with the same weights in a random order have {} to {} there",
             lambda: extremes(strata(FULL, "hidden", "permuted", range(6, 9)))),
    Sentence("the trained networks differ from them by {} ({} to {} over networks), and eight words apart by {} "
             "({} to {})",
             lambda: [*beside_permuted(range(6, 9)), *beside_permuted((8,))]),
    Sentence("and shuffled sentences next to none ({} to {})",
             lambda: extremes(strata(FULL, "hidden", "shuffled", range(6, 9)))),
    Sentence("mixed pairs have {} to {} from two to six words apart, where permuted weights have nothing clear",
             lambda: extremes(strata(QUICK, "hidden", "trained", range(2, 7), ("mixed",)))),
    Sentence("mixed neighbours without an arc between them depend on each other *more* ({}), open ones a little ({}); "
             "the controls have at most {} there",
             lambda: [*correlations(strata(FULL, "hidden", "trained", NEIGHBOURS, ("mixed", "open"))),
                      most_of_controls(FULL)]),
    Sentence("Closed pairs up to four words apart have {} to {}, and {} to {} in shuffled sentences.",
             lambda: extremes(strata(FULL, "hidden", "trained", range(1, 5), ("closed",)),
                              strata(FULL, "hidden", "shuffled", range(1, 5), ("closed",)))),
    Sentence("Over all strata the mean is {}, with an interval that contains 0",
             lambda: over_strata(FULL, "trained", "hidden")),
    Sentence("better than its controls**: {} in the mean over strata, permuted {}, shuffled {}, and among open and "
             "mixed pairs {} to {} at every distance, permuted {} to {}.",
             lambda: [*over_strata(FULL, "trained", "erasure"), *over_strata(FULL, "permuted", "erasure"),
                      *over_strata(FULL, "shuffled", "erasure"),
                      *extremes(strata(FULL, "erasure", "trained", classes=WITH_OPEN),
                                strata(FULL, "erasure", "permuted", classes=WITH_OPEN))]),
    Sentence("Only neighbouring open words have as much when they are shuffled ({})",
             lambda: correlations(strata(FULL, "erasure", "shuffled", NEIGHBOURS, ("open",)))),
    Sentence("Gradient × input has {}, permuted {}. Mutual information, which needs no network, has {}, and most among",
             lambda: [*over_strata(FULL, "trained", "gradient"), *over_strata(FULL, "permuted", "gradient"),
                      *over_strata(FULL, "text", "information")]),
    Sentence("Two closed words next to each other have {}, falling to {} at distance 8 (at the logits from {} to {}), "
             "mixed ones {}, two apart {}, and {} at distance 8",
             lambda: correlations(frequency(FULL, "hidden", "trained", "closed", 1, 8)
                                  + frequency(FULL, "logits", "trained", "closed", 1, 8)
                                  + frequency(FULL, "hidden", "trained", "mixed", 1, 2, 8))),
    Sentence("Shuffled sentences have as much, {} in the mean over strata instead of {}.",
             lambda: [*over_strata(FULL, "shuffled", "hidden", trends="frequency_trends"),
                      *over_strata(FULL, "trained", "hidden", trends="frequency_trends")]),
    Sentence("Neighbouring open words have {}, where the quick networks have the opposite sign, and untrained ones "
             "have {}",
             lambda: correlations(frequency(FULL, "hidden", "trained", "open", 1)
                                  + frequency(FULL, "hidden", "untrained", "open", 1))),
    Sentence("in every class from seven words apart on ({} to {}), where permuted weights have {} to {}.",
             lambda: extremes(strata(FULL, "logits", "trained", range(7, 9)),
                              strata(FULL, "logits", "permuted", range(7, 9)))),
]
OF_PLACES = [
    Sentence("hardly clear in this network to begin with, {} to {} from six words apart on, and {} to {} given",
             lambda: without_and_given_place("permuted", range(6, 9), CLASSES)),
    Sentence("left among open and mixed pairs**: from four words apart on {} to {}, and {} to {} given the place",
             lambda: without_and_given_place("trained", range(4, 9), WITH_OPEN)),
    Sentence("Shuffled sentences have {} to {} given the place",
             lambda: lowest_first(strata(SHIPPED, "hidden", "shuffled", range(4, 9), WITH_OPEN, GIVEN_PLACE))),
    Sentence("Among closed pairs little is left, {} to {} from six words apart on",
             lambda: extremes(strata(SHIPPED, "hidden", "trained", range(6, 9), ("closed",), GIVEN_PLACE))),
    Sentence("permuted weights keep {} of {} in the mean over all strata, the trained network {} of {}",
             lambda: [number for group in ("permuted", "trained") for trends in (GIVEN_PLACE, "syntax_trends")
                      for number in over_strata(SHIPPED, group, "erasure", trends=trends)]),
]
PAGE = [*OF_GRAMMAR, *OF_QUICK, *OF_FULL, *OF_PLACES]
CLAIMS = [
    Sentence("In five networks of English from six words apart on, by {} to {}; but",
             lambda: extremes(strata(FULL, "hidden", "trained", range(6, 9)))),
    Sentence("It does in five networks of English: {} for neighbouring closed words, {} for mixed and {} for open "
             "ones; in five of the quick size {} for closed ones",
             lambda: correlations(frequency(FULL, "hidden", "trained", "closed", 1)
                                  + frequency(FULL, "hidden", "trained", "mixed", 1)
                                  + frequency(FULL, "hidden", "trained", "open", 1)
                                  + frequency(QUICK, "hidden", "trained", "closed", 1))),
    Sentence("from seven words apart on, among open and mixed pairs from four, by {} to {}; but",
             lambda: extremes(strata(FULL, "logits", "trained", range(4, 9), WITH_OPEN)
                              + strata(FULL, "logits", "trained", range(7, 9)))),
    Sentence("In five of the quick size mixed pairs have {} to {} from two words apart on",
             lambda: extremes(strata(QUICK, "logits", "trained", range(2, 9), ("mixed",)))),
]
# fmt: on
