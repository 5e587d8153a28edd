"""The numbers in sentences on NTMs in "Training Neural Machines with Partial Traces"; see sentences.py."""

from collections.abc import Iterable
from math import ceil

import numpy as np
from grid_shares import (  # these four lie beside this file
    COPY,
    FLIP,
    ONLINE,
    REPEAT,
    TWICE,
    at_some_test,
    beside_paper,
    cell,
    cells,
    count_in_paper,
    in_paper,
    kinds,
    passed,
    percent,
    percent_in_paper,
    rarest,
    shares,
    tally,
    without_hints,
    without_hints_in_paper,
)
from rate_tables import grid_rates
from sentences import Sentence, agreed
from tables import EARLIER, against_none, baseline, hinted, stored

from kleene.notation.shares import interval

TASKS = {TWICE: "repeat_copy_twice", REPEAT: "repeat_flip_3d"}  # in figure 4


def rounded(values: Iterable[float]) -> list[str]:
    """The numbers without decimals."""
    return [f"{value:.0f}" for value in values]


def span(values: Iterable[float]) -> list[str]:
    """The smallest and the largest, without decimals."""
    found = [*values]
    return rounded([min(found), max(found)])


def count(name: str, kind: str, density: float, strength: float) -> str:
    """How many runs of a cell of figure 9 generalise."""
    return str(cell(name, kind, density, strength)["generalised"])


def lost(name: str) -> list[str]:
    """The runs without hints, those of them that pass some test, and those of these that fail at the last one."""
    row = baseline(stored(name))
    return [str(row["seeds"]), str(passed(row)), str(passed(row) - row["generalised"])]


def oftener() -> list[str]:
    """In how many cells of Copy, of how many, more of our runs generalise than of the paper's, and as many."""
    ours, paper = beside_paper(COPY).T
    return [str(np.sum(ours > paper)), str(len(ours)), str(np.sum(ours == paper))]


def all_of_copy() -> list[str]:
    """The smallest and the largest share of Copy with all hints and λ = 1, ours and the paper's."""
    found = [cell(COPY, kind, 1, 1) for kind in kinds(COPY)]
    return span(percent(row) for row in found) + span(row["paper"] for row in found)


def rare_and_weak() -> list[str]:
    """DyckWords with the rarest and weakest hints: our runs with address and with corner hints, then the paper's."""
    found = [cell(ONLINE, kind, 0.01, 0.01) for kind in ("address", "corner")]
    return [agreed(str(row["generalised"]) for row in found), *rounded(map(count_in_paper, found))]


def rows_of_9c() -> list[str]:
    """The means of rows of DyckWords, ours and the paper's, and our share without hints."""
    rows = ("address", "read", "corner")
    return [*rounded(shares(ONLINE, *rows) + in_paper(ONLINE, *rows)), without_hints(ONLINE)]


def other_seeds() -> list[str]:
    """DyckWords on other seeds: runs that generalise with corners and with address hints, with read hints, without."""
    (found,) = stored("dyck-readings-online_walks")["choices"].values()
    right = {kind: str(row["generalised"]) for kind, row in found.items()}
    return [agreed([right["corner"], right["address"]]), right["read"], right["none"]]


def pointed_out() -> list[str]:
    """Two cells of Flip3rd, each with our share and the paper's."""
    found = [cell(FLIP, kind, 0.1, 1) for kind in ("read", "corner")]
    return rounded(share for row in found for share in (percent(row), row["paper"]))


def far_apart() -> list[str]:
    """How far cells of Flip3rd are from the paper's in the mean, and how far a share of as many seeds may be off."""
    ours, paper = beside_paper(FLIP).T
    seeds = cell(FLIP, "read", 1, 1)["seeds"]
    off = max(right / seeds - interval(right, seeds)[0] for right in range(seeds + 1))
    return rounded([float(np.mean(abs(ours - paper))), 100 * off])


def changed() -> str:
    """How far the means of rows of Flip3rd are from those of its shorter training at most, in points."""
    return str(ceil(max(abs(now - before) for now, before in zip(shares(FLIP), shares(EARLIER[FLIP]), strict=True))))


def corners_of_9e() -> list[str]:
    (right, runs), none = tally(cells(REPEAT, "corner")), baseline(stored(REPEAT))
    ours, bare = (rounded(100 * end for end in ends) for ends in (interval(right, runs), none["interval"]))
    found = [*rounded(shares(REPEAT, "corner")), str(right), str(runs), *ours, *rounded(in_paper(REPEAT, "corner"))]
    return [*found, str(none["generalised"]), str(none["seeds"]), *bare]


def places_of_9e() -> list[str]:
    """The smallest and the largest mean of the rows that say where the reading head is, the paper's and ours."""
    where = ("address", "read", "addr+val")
    return span(in_paper(REPEAT, *where)) + span(shares(REPEAT, *where))


def frequent_corners() -> list[str]:
    """Corners on half of the examples or more and rarer ones: the paper's means, our counts, and the runs of each."""
    rows = cells(REPEAT, "corner")
    frequent, rare = ([row for row in rows if (row["density"] >= 0.5) == often] for often in (True, False))
    (many, of_many), (few, of_few) = tally(frequent), tally(rare)
    means = rounded([percent_in_paper(*frequent), percent_in_paper(*rare)])
    return [*means, str(many), str(few), agreed([str(of_many), str(of_few)])]


def some_test_of_9e() -> list[str]:
    """The share right at some test with corners, and the smallest and the largest with other kinds of hints."""
    others = [kind for kind in kinds(REPEAT) if kind != "corner"]
    return rounded(at_some_test(REPEAT, "corner")) + span(at_some_test(REPEAT, *others))


def beside_none() -> list[str]:
    """Kinds of hints of figure 4, over all tasks, that do better than none, all of them, those as good, and worse."""
    rows = stored("figure-4")["settings"]
    tasks = dict.fromkeys(row["task"] for row in rows)
    better, equal, worse = np.sum([against_none([r for r in rows if r["task"] == task]) for task in tasks], axis=0)
    return rounded([better, better + equal + worse, equal, worse])


def improved(name: str, *of: str) -> str:
    """How many runs of figure 4 generalise with each of these kinds of hint."""
    rows = stored("figure-4")["settings"]
    return agreed(str(row["generalised"]) for row in rows if row["task"] == TASKS[name] and row["hints"] in of)


def six_of_ten() -> list[str]:
    """Runs of RepeatCopyTwice in figure 4 that generalise without hints, and the interval of their share."""
    (row,) = (row for row in hinted(stored("figure-4"), "none") if row["task"] == TASKS[TWICE])
    return [str(row["generalised"]), *rounded(100 * end for end in row["interval"])]


def taught_again() -> list[str]:
    """Runs that generalise with all hints and λ = 1, in figure 9 and in figure 4."""
    cases = ((TWICE, "corner"), (TWICE, "write"), (TWICE, "addr+val"), (REPEAT, "corner"))
    return [right for name, kind in cases for right in (count(name, kind, 1, 1), improved(name, kind))]


def gain_of_kernel() -> list[str]:
    """How many times as fast the kernel makes the grids, at least and at most."""
    fast, plain = grid_rates()
    return span(fast[task] / plain[task] for task in plain)


PAGE = [
    Sentence("Ours generalise more often in {} of the {} cells and as often in {}", oftener),
    Sentence("**Without hints {}% of ours generalise**", lambda: [without_hints(COPY)]),
    Sentence("corners bring {}% in the mean of their row, values {}%",
             lambda: rounded(shares(COPY, "corner", "value"))),
    Sentence("Runs with read hints on 1% of the examples lose it most often: {} to {} of 10 are left",
             lambda: span(row["generalised"] for row in rarest(COPY, "read"))),
    Sentence("Without hints {}% generalise, where the paper has {}%, and no kind of hint is clearly above that",
             lambda: [without_hints(TWICE), without_hints_in_paper(TWICE)]),
    Sentence("read hints with λ = 0.3 and read hints on a tenth of the examples with λ = 1 ({} of 10 seeds each)",
             lambda: [agreed([count(TWICE, "read", 1, 0.3), count(TWICE, "read", 0.1, 1)])]),
    Sentence("Hints on 1% of the examples are worse than none: {} to {}% by kind",
             lambda: span(percent(*rarest(TWICE, kind)) for kind in kinds(TWICE))),
    Sentence("After 8,000 iterations, on other seeds, {}% generalise without hints and up to {}% with them",
             lambda: [without_hints(EARLIER[TWICE]), *rounded([max(shares(EARLIER[TWICE]))])]),
    Sentence("Of the {} runs without hints {} pass some test, and {} of these are no longer right",
             lambda: lost(TWICE)),
    Sentence("even on 1% of the examples with λ = 0.01 ({} of 10 seeds each; paper {} and {})", rare_and_weak),
    Sentence("read hints most of them, and without hints {}% generalise", lambda: [without_hints(ONLINE)]),
    Sentence("Read hints on 1% of the examples with λ = 0.01 are where it ends ({} of 10; paper {})",
             lambda: [count(ONLINE, "read", 0.01, 0.01), str(count_in_paper(cell(ONLINE, "read", 0.01, 0.01)))]),
    Sentence("the paper's, in which even 1% of corner hints give {}–{}%",
             lambda: span(row["paper"] for row in rarest(ONLINE, "corner"))),
    Sentence("there corners and reading have {}% each and writing {}%",
             lambda: [agreed(rounded(in_paper(FLIP, "corner", "read"))), *rounded(in_paper(FLIP, "write"))]),
    Sentence("The mean over all cells that can be read is {}%, in the paper {}%",
             lambda: rounded(beside_paper(FLIP).mean(axis=0))),
    Sentence("Address hints are the exception: {}%, in the paper {}%",
             lambda: rounded(shares(FLIP, "address") + in_paper(FLIP, "address"))),
    Sentence("Without hints {}% generalise, and the paper prints no such number", lambda: [without_hints(FLIP)]),
    Sentence("with λ = 1, read hints on 10% of the examples give {}% (paper {}), and corners give {}% (paper {})",
             pointed_out),
    Sentence("Single cells differ much, by {} points in the mean: with 10 seeds a share may be off by up to {} points",
             far_apart),
    Sentence("except with hints on writing ({}%) and on addresses ({} and {}%)",
             lambda: rounded(at_some_test(FLIP, "write", "addr+val", "address"))),
    Sentence("All address hints with λ = 1 give {} seeds of 10", lambda: [count(FLIP, "address", 1, 1)]),
    Sentence("After 7,000 iterations, on other seeds, row means are within {} points of these, and {}% generalise "
             "without hints", lambda: [changed(), without_hints(EARLIER[FLIP])]),
    Sentence("**Without hints {}% generalise, as many as in the paper",
             lambda: [agreed([without_hints(REPEAT), without_hints_in_paper(REPEAT)])]),
    Sentence("Corners are best, with {}% ({} of {} runs, {} to {}%), where the paper has {}%; {} of {} runs without "
             "hints ({} to {}%) are not clearly fewer", corners_of_9e),
    Sentence("In the paper address and read hints and addr+val bring {} to {}% as well, here {} to {}%", places_of_9e),
    Sentence("Value and write hints bring {}% each, in the paper {} and {}%",
             lambda: [agreed(rounded(shares(REPEAT, "value", "write"))), *rounded(in_paper(REPEAT, "value", "write"))]),
    Sentence("In the paper corners on half of the examples or more bring {}%, and rarer ones {}%; ours bring {} and {} "
             "of {} runs", frequent_corners),
    Sentence("Of the {} runs without hints {} are right at some test, and {} of these lose it again",
             lambda: lost(REPEAT)),
    Sentence("with corners {}% are right at some test, with the other kinds {} to {}%", some_test_of_9e),
    Sentence("by the kernel with the imprecise tanh: {} of {} instead of {}, with other cells",
             lambda: [*map(str, tally(cells(f"{REPEAT}-corner", "corner"))),
                      str(tally(cells(REPEAT, "corner"))[0])]),
    Sentence("In the paper hints help in all but three of the {} cases", lambda: beside_none()[1:2]),
    Sentence("Without hints {} of 10 runs generalise, where the paper has {}%, so there is less to gain",
             lambda: [improved(TWICE, "none"), without_hints_in_paper(TWICE)]),
    Sentence("stays hard: {} of 10 without hints (paper: {}%), {} with corners or values",
             lambda: [improved(REPEAT, "none"), without_hints_in_paper(REPEAT), improved(REPEAT, "corner", "value")]),
    Sentence("{} of 10 has an interval of {} to {}%", six_of_ten),
    Sentence("There corners bring {} of 10 in RepeatCopyTwice instead of {}, write hints {} instead of {}, and "
             "addr+val {} instead of {}; in RepeatFlip3d corners bring {} instead of {}", taught_again),
    Sentence("The kernel makes grids {} to {} times as fast", gain_of_kernel),
    Sentence("in the table above {} of 10 do, with all address hints and λ = 1",
             lambda: [str(passed(cell(TWICE, "address", 1, 1)))]),
]  # fmt: skip
CLAIMS = [
    Sentence("on fresh seeds {} of {} kinds of hints do better than none, {} as well and {} worse", beside_none),
    Sentence("with corners or values {} of 10 learn RepeatFlip3d, without hints {}",
             lambda: [improved(REPEAT, "corner", "value"), improved(REPEAT, "none")]),
    Sentence("{} to {}% generalise with all hints and λ = 1, in the paper {} to {}%", all_of_copy),
    Sentence("without hints {}% do, so that hints have little to add", lambda: [without_hints(COPY)]),
    Sentence("{}% generalise without hints, where the paper has {}%, and {} to {}% in the mean of each kind of hint",
             lambda: [without_hints(TWICE), without_hints_in_paper(TWICE), *span(shares(TWICE))]),
    Sentence("After 8,000 updates, on other seeds, hints are ahead: {} to {}% against {}%",
             lambda: [*span(shares(EARLIER[TWICE])), without_hints(EARLIER[TWICE])]),
    Sentence("row means of {}, {} and {}% with address, read and corner hints, in the paper {}, {} and {}%, and {}% "
             "without hints", rows_of_9c),
    Sentence("one column comes out again (corners and address {}, read {}, without hints {} of 20)", other_seeds),
    Sentence("the mean over all cells that can be read is the same ({} and {}%)",
             lambda: rounded(beside_paper(FLIP).mean(axis=0))),
    Sentence("Address hints bring {}%, in the paper {}%, and without hints {}% generalise",
             lambda: [*rounded(shares(FLIP, "address") + in_paper(FLIP, "address")), without_hints(FLIP)]),
    Sentence("so that only corners ({}%) add much", lambda: rounded(shares(FLIP, "corner"))),
    Sentence("{}% generalise without hints, as in the paper",
             lambda: [agreed([without_hints(REPEAT), without_hints_in_paper(REPEAT)])]),
    Sentence("and with corners {}%, not clearly more than that (in the paper {}%)",
             lambda: rounded(shares(REPEAT, "corner") + in_paper(REPEAT, "corner"))),
    Sentence("addr+val, which bring {} to {}% there, bring {} to {}% here", places_of_9e),
]  # fmt: skip
