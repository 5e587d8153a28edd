"""The numbers in sentences on both papers on interdependence; see sentences.py."""

from sentences import Sentence, signed  # these two lie beside this file
from tables import stored


def at_distances(name: str, measure: str, group: str, *distances: int, digits: int = 2) -> list[str]:
    """The mean of a measure in a kind of network for words so many apart."""
    means = {row["distance"]: row["mean"] for row in stored(name)["measures"][measure][group]["distance"]}
    return [f"{means[distance]:.{digits}f}" for distance in distances]


def with_edges(name: str, measure: str, group: str, classes: str, *distances: int) -> list[str]:
    """The rank correlation with edges of the tree in a class of pairs, for words so many apart."""
    rows = stored(name)["measures"][measure][group]["syntax_trends"]
    found = {row["distance"]: row["correlation"] for row in rows if row["classes"] == classes}
    return [signed(found[distance]) for distance in distances]


PAGE = [
    Sentence("at the hidden state from {} for neighbours to {} eight words apart, at the logits from {} to {}.",
             lambda: [*at_distances("english", "hidden", "trained", 1, 8),
                      *at_distances("english", "logits", "trained", 1, 8)]),
    Sentence("mixed neighbours without an arc between them depend on each other *more* ({}), open ones a little ({})",
             lambda: [*with_edges("english", "hidden", "trained", "mixed", 1),
                      *with_edges("english", "hidden", "trained", "open", 1)]),
]  # fmt: skip
CLAIMS: list[Sentence] = []
