import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError
from kleene.notation.computations import Computation, Configuration, Configurations
from kleene.traces import Trace
from kleene.traces.storage import as_json
from kleene.traces.tables import as_text

STATES, SYMBOLS = ("go", "back", "halt"), ("_", "a", "b")


def moves(steps):
    """Steps (state, direction, symbol) played out on a list: compact arrays, and every configuration by hand."""
    cells, head, state = [1, 2], 0, 0
    states, heads, writes = [0], [0], []
    plain = [Configuration("go", 0, "ab")]
    for state, direction, symbol in steps:
        cells += [0] * (head + 1 - len(cells))
        cells[head] = symbol
        head = max(0, head + direction)
        states.append(state)
        heads.append(head)
        writes.append(symbol)
        plain.append(Configuration(STATES[state], head, "".join(SYMBOLS[c] for c in cells).rstrip("_")))
    return Configurations(STATES, SYMBOLS, "_", [1, 2], states, heads, writes), plain


step_lists = st.lists(st.tuples(st.integers(0, 2), st.sampled_from([-1, 1]), st.integers(0, 2)), max_size=30)


def computation(configurations, verdict="running", source="", steps=None) -> Computation:
    taken = len(configurations) - 1 if steps is None else steps
    return Computation(verdict, taken, configurations, STATES, SYMBOLS, "_", source)


RUN = moves([(1, 1, 2), (1, 1, 0), (2, -1, 1)])


@given(step_lists)
def test_configurations_are_rebuilt_as_they_were(steps):
    compact, plain = moves(steps)
    assert list(compact) == plain
    assert [compact[i] for i in range(len(plain))] == plain
    assert [compact[i - len(plain)] for i in range(len(plain))] == plain


@given(step_lists, st.slices(31))
def test_a_slice_of_the_configurations_is_a_slice_of_the_list(steps, where):
    compact, plain = moves(steps)
    assert compact[where] == plain[where]


def test_a_configuration_past_the_end_is_an_index_error():
    with pytest.raises(IndexError):
        RUN[0][4]


@given(step_lists, step_lists)
def test_compact_configurations_compare_as_the_plain_ones_do(first, second):
    (a, plain_a), (b, plain_b) = moves(first), moves(second)
    assert computation(a).difference(computation(b)) == computation(plain_a).difference(computation(plain_b))
    assert (computation(a) == computation(b)) == (plain_a == plain_b)


@given(step_lists)
def test_the_order_in_which_states_and_symbols_are_listed_makes_no_difference(steps):
    compact, _ = moves(steps)
    turned = Configurations(
        STATES[::-1],
        SYMBOLS[::-1],
        "_",
        2 - np.asarray(compact.start_tape),
        2 - np.asarray(compact.state_codes),
        compact.heads,
        2 - np.asarray(compact.writes),
    )
    assert computation(compact) == computation(turned)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ([(1, 1, 2), (1, 1, 1), (2, -1, 1)], "step 2: back, head 2, tape 'b' in the first but back, head 2, tape 'ba'"),
        ([(0, 1, 2), (1, 1, 0), (2, -1, 1)], "step 1: back, head 1, tape 'bb' in the first but go, head 1"),
        ([(1, 1, 2), (1, -1, 0), (2, -1, 1)], "step 2: back, head 2, tape 'b' in the first but back, head 0"),
        ([(1, 1, 2), (1, 1, 0)], "the first took 3 steps, the second 2"),
    ],
)
def test_the_first_difference_is_said_in_words(change, expected):
    difference = computation(RUN[0]).difference(computation(moves(change)[0]))
    assert difference is not None
    assert expected in difference


def test_the_verdict_counts_and_the_source_does_not():
    a = computation(RUN[0], "accept", source="program")
    assert a == computation(RUN[1], "accept", source="network")
    assert "'accept' in program but 'reject' in network" in str(a.difference(computation(RUN[1], "reject", "network")))


def test_a_run_that_was_not_recorded_has_its_last_configuration_alone():
    last = computation(RUN[1][-1:], "accept", steps=3)
    assert not last.recorded
    assert (last.state, last.head, last.tape) == ("halt", 1, "b_a")
    assert last == computation(RUN[1][-1:], "accept", steps=3)
    assert "recorded every configuration" in str(computation(RUN[0], "accept").difference(last))
    assert "step 3" in str(last.difference(computation(RUN[1][:1], "accept", steps=3)))
    assert "took 3 steps" in str(last.difference(computation(RUN[1][:1], "accept", steps=4)))
    with pytest.raises(ValueError, match="record=True"):
        _ = last.data


def test_the_trace_has_a_state_and_a_head_a_step_and_a_tape_with_positions():
    trace = computation(RUN[0], "accept")
    assert [c.name for c in trace.channels] == ["state", "head", "tape"]
    assert trace["state"].tolist() == [0, 1, 1, 2]
    assert trace["head"].tolist() == [0, 1, 2, 1]
    assert trace["tape"].tolist() == [[1, 2, 0], [2, 2, 0], [2, 0, 0], [2, 0, 1]]
    assert trace.halted
    assert not computation(RUN[0]).halted
    assert trace.output == trace.labelled_output == "accept"


@given(step_lists)
def test_traces_are_equal_where_computations_are_and_survive_being_stored(steps):
    compact, plain = moves(steps)
    trace = computation(compact)
    assert trace == computation(plain)
    assert Trace.from_json(as_json(trace)) == trace


def test_the_trace_prints_the_state_and_the_head_once_a_step():
    rows = [line.split() for line in as_text(computation(RUN[0])).splitlines()]
    assert rows[2:5] == [["0", "state", "go"], ["head", "0"], ["tape", "a", "b", "_"]]


def test_a_stored_trace_whose_state_is_longer_than_its_tape_is_refused():
    content = as_json(computation(RUN[0]))
    content["data"]["state"].append(0)
    with pytest.raises(ValueError, match="the data of channel 'state' is int32 of shape"):
        Trace.from_json(content)


def test_a_computation_prints_a_line_for_each_configuration_with_the_cell_under_the_head_in_brackets():
    assert str(computation(RUN[0], "accept")).splitlines() == [
        "0  go    [a]b",
        "1  back  b[b]",
        "2  back  b_[_]",
        "3  halt  b[_]a",
        "accept after 3 steps",
    ]


def test_the_middle_of_a_long_run_and_the_far_ends_of_a_long_tape_are_left_out():
    lines = computation(moves([(0, 1, 1)] * 200)[0]).lines(most=10)
    assert len(lines) == 11
    assert lines[5] == "…"
    assert [line.split()[0] for line in (lines[0], lines[-1])] == ["0", "200"]
    assert "…" in lines[-1]
    assert max(len(line) for line in lines) < 120
    assert len(repr(computation(moves([(0, 1, 1)] * 500)[0]))) < 200


def test_symbols_of_several_characters_make_a_tape_of_a_tuple():
    compact = Configurations(("q",), ("blank", "one"), "blank", [1, 1], [0, 0], [0, 1], [0])
    assert list(compact) == [Configuration("q", 0, ("one", "one")), Configuration("q", 1, ("blank", "one"))]
    shown = Computation("running", 1, compact, ("q",), ("blank", "one"), "blank")
    assert shown.lines()[1] == "1  q  blank [one]"


def test_a_million_steps_cost_a_few_megabytes():
    steps = 1_000_000
    zeros = np.zeros(steps + 1, dtype=np.int64)
    compact = Configurations(STATES, SYMBOLS, "_", [], zeros, zeros, zeros[1:])
    arrays = [np.asarray(a) for a in (compact.state_codes, compact.heads, compact.writes)]
    assert sum(array.nbytes for array in arrays) <= 6_000_010
    assert compact[-1] == Configuration("go", 0, "")


def test_ticks_are_carried_along_and_not_compared():
    a = computation(RUN[0])
    assert a.replaced(ticks=9) == a
    assert a.replaced(ticks=9).ticks == 9


def test_a_computation_is_a_trace_that_can_be_saved(tmp_path):
    run = computation(RUN[0], "accept", source="program")
    assert isinstance(run, Trace)
    for name in ("run.json", "run.npz"):
        assert run.save(tmp_path / name) == tmp_path / name
        back = Trace.load(tmp_path / name)
        assert type(back) is Trace
        assert back == run
        assert run == back
    other = Trace.load(computation(moves([(1, 1, 2), (1, 1, 1), (2, -1, 1)])[0], "accept").save(tmp_path / "o.json"))
    assert run != other
    assert "'tape' is _ in program but a" in str(run.difference(other))


def test_a_long_run_is_shown_and_compared_without_its_channels():
    zeros = np.zeros(1_000_001, dtype=np.int64)
    a, b = (computation(Configurations(STATES, SYMBOLS, "_", [], zeros, zeros, zeros[1:])) for _ in range(2))
    assert a == b
    assert "running after 1000000 steps" in str(a)
    assert len(repr(a)) < 100
    assert a._repr_html_().startswith("<pre>")
    assert (a.halted, a.output) == (False, "running")
    assert not {"data", "channels"} & {*vars(a), *vars(b)}


def test_a_trace_as_large_as_no_memory_is_refused_before_it_is_made():
    steps = 4_000_000
    heads = np.arange(steps + 1)
    codes = np.zeros(steps + 1, dtype=np.uint8)
    run = computation(Configurations(STATES, SYMBOLS, "_", [], codes, heads, codes[1:]))
    vars(run)["_width"] = steps + 1  # which takes a while to count
    with pytest.raises(InputError, match="GiB of memory"):
        _ = run.data
