"""Networks that run Turing machines: their runs, what their numbers say, and their files."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from safetensors.numpy import load_file

from kleene.compiling.turing import compile_turing
from kleene.errors import InputError, ModelFileError, OutgrownError, RunError
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.machines.turing_rnn.turing_rnn import TuringRNN
from kleene.notation.exact import ExactMatrix
from kleene.programs.turing import TuringMachine
from kleene.programs.turing.library import ping_pong_word, stored
from kleene.tensors import read_tensors, write_tensors

MACHINES = {name: stored(name) for name in ("sipser", "palindrome", "bump", "ping_pong")}
NETWORKS = {
    (name, c): compile_turing(machine, construction=c)
    for name, machine in MACHINES.items()
    for c in ("compact", "merged")
}
WORDS = {"sipser": "1111", "palindrome": "abba", "bump": "111", "ping_pong": "x11x"}
every_network = pytest.mark.parametrize(("name", "construction"), NETWORKS)


def variables(network, hidden):
    """outer · h, by hand."""
    found = {}
    for (k, unit), weight in network.outer.entries().items():
        found[k] = found.get(k, 0) + Fraction(weight) * hidden[unit]
    return {k: value for k, value in found.items() if value}


@every_network
def test_recorded_configurations_are_those_of_the_hidden_vectors(name, construction):
    network, word = NETWORKS[name, construction], WORDS[name]
    done = network.run(word, max_steps=60)
    hidden = network.rnn.hidden([*word, *[network.end] * (1 + done.ticks)])
    begins = 2 * len(word) + 1 + network.reading.lead
    decoded = []
    for vector in hidden[begins:]:
        at = variables(network, vector)
        if network.reading.scanned(at) != network.reading.bottom:  # not about to bounce back
            decoded.append(network.reading.configuration(at))
    assert decoded[: done.steps + 1] == list(done.configurations)


@every_network
def test_a_configuration_and_its_code_are_one_to_one(name, construction):
    network = NETWORKS[name, construction]
    for configuration in network.run(WORDS[name], max_steps=60).configurations:
        if configuration.state not in (network.reading.accept, network.reading.reject):
            assert network.reading.configuration(network.reading.coordinates(configuration)) == configuration


@every_network
def test_a_run_that_was_interrupted_ends_as_if_it_had_not_been(name, construction):
    network, machine, word = NETWORKS[name, construction], MACHINES[name], WORDS[name]
    whole = network.run(word, max_steps=40)
    for first in (0, 1, 7):
        part = network.run(word, max_steps=first)
        assert (part.verdict, part.steps) == ("running", first)
        resumed = network.resume(network.resume(part, max_steps=3), max_steps=37 - first)
        assert resumed == whole == machine.run(word, max_steps=40)
        assert resumed.ticks == whole.ticks
    assert (network.resume(whole) is whole) == (whole.verdict != "running")


@every_network
def test_without_a_record_the_last_configuration_is_kept(name, construction):
    network, word = NETWORKS[name, construction], WORDS[name]
    quick, full = network.run(word, 50, record=False), network.run(word, 50)
    assert (quick.verdict, quick.steps, quick.ticks) == (full.verdict, full.steps, full.ticks)
    assert list(quick.configurations) == [full.configurations[-1]]
    assert quick == MACHINES[name].run(word, 50, record=False)


@every_network
def test_a_saved_network_is_loaded_exactly(name, construction, tmp_path):
    network, word = NETWORKS[name, construction], WORDS[name]
    loaded = TuringRNN.load(network.save(tmp_path / "network.safetensors"))
    assert loaded.rnn.weights() == network.rnn.weights()
    assert (loaded.inner, loaded.outer, loaded.reading) == (network.inner, network.outer, network.reading)
    assert loaded.run(word, 50) == network.run(word, 50)


def test_a_saved_file_holds_integers_and_a_floating_one_floats(tmp_path):
    exact, floating = (compile_turing(MACHINES["sipser"], dtype=n) for n in ("exact", "float32"))
    stored_exact = load_file(exact.save(tmp_path / "exact.safetensors"))
    assert {array.dtype for array in stored_exact.values()} == {np.dtype(np.int64)}
    loaded = TuringRNN.load(floating.save(tmp_path / "floating.safetensors"))
    assert loaded.rnn.recurrent.dtype == np.float32
    assert loaded.reading.limit == floating.reading.limit
    assert loaded.run("11") == MACHINES["sipser"].run("11")


def test_long_tapes_are_right_to_the_last_digit():
    machine, network = MACHINES["ping_pong"], NETWORKS["ping_pong", "compact"]
    word = ping_pong_word(300)
    assert network.run(word, 5000) == machine.run(word, 5000)
    assert network.run(word, 200_001, record=False) == machine.run(word, 200_001, record=False)


def test_many_words_are_run_at_once():
    words = ["", "1", "11", "111"]
    runs = NETWORKS["sipser", "compact"].run_batch(words)
    assert [run.verdict for run in runs] == ["reject", "accept", "accept", "reject"]


def test_accepts_says_yes_no_or_that_it_does_not_know():
    assert NETWORKS["palindrome", "merged"].accepts("abba")
    assert not NETWORKS["palindrome", "merged"].accepts("ab")
    with pytest.raises(RunError, match="not halted on 'x11x' after 50 steps"):
        NETWORKS["ping_pong", "compact"].accepts("x11x", max_steps=50)


def test_bad_words_and_budgets_are_refused():
    network = NETWORKS["palindrome", "compact"]
    with pytest.raises(InputError, match="'c'"):
        network.run("abc")
    with pytest.raises(InputError, match="max_steps is -1"):
        network.run("ab", max_steps=-1)
    with pytest.raises(InputError, match="another machine"):
        network.resume(NETWORKS["sipser", "compact"].run("1", max_steps=1))


def broken(change):
    """A hidden vector in the middle of a run, changed."""
    network = NETWORKS["sipser", "compact"]
    reading = network.reading
    at = reading.coordinates(network.run("1111", max_steps=3).last)
    change(reading, at)
    return reading, at


def half_a_state(reading, at):
    hot = next(k for k in at if reading.state_of[k] >= 0)
    at[hot] = Fraction(1, 2)


def two_states(reading, at):
    at[next(k for k in range(len(reading.state_of)) if reading.state_of[k] >= 0 and k not in at)] = Fraction(1)


def no_state(reading, at):
    del at[next(k for k in at if reading.state_of[k] >= 0)]


def a_digit_of_one(reading, at):
    at[next(k for k in at if reading.left_of[k] >= 0)] += Fraction(1, 3**9)


def no_bottom(reading, at):
    del at[next(k for k in at if reading.left_of[k] == reading.bottom)]


def two_symbols_in_one_cell(reading, at):
    for k in reading.right_stack:
        at[k] = Fraction(2, 3)


@pytest.mark.parametrize(
    "change", [half_a_state, two_states, no_state, a_digit_of_one, no_bottom, two_symbols_in_one_cell]
)
def test_a_vector_that_is_no_code_is_not_read_as_one(change):
    reading, at = broken(change)
    with pytest.raises(RunError, match="the hidden vector is no configuration"):
        reading.configuration(at)


def test_a_network_whose_weights_were_changed_is_found_out():
    network = NETWORKS["sipser", "compact"]
    entries = network.inner.entries()
    place = next(p for p, value in entries.items() if value == 3)
    inner = ExactMatrix.from_entries(network.inner.shape, entries | {place: 2})
    weights = network.rnn.weights() | {"recurrent": inner @ network.outer}
    changed = replace(network, inner=inner, rnn=SimpleRNN(**weights, **network.rnn.description()))
    for word in ("1", "11", "1111", "111111"):
        try:
            assert changed.run(word, 200) == network.run(word, 200)
        except RunError:
            return
    pytest.fail("it was not found out")


def with_a_wall() -> TuringMachine:
    """It goes right until a y after the first one, rubbing out what it passes, and comes back to the wall of x."""
    table = {
        ("s", "x"): ("s", "x", "R"), ("s", "y"): ("go", "y", "R"), ("go", "e"): ("go", "_", "R"),
        ("go", "y"): ("back", "y", "L"), ("back", "_"): ("back", "_", "L"), ("back", "y"): ("back", "y", "L"),
        ("back", "x"): ("Y", "x", "R"),
    }  # fmt: skip
    rest = {(q, a): ("N", a, "R") for q in ("s", "go", "back") for a in "xye_" if (q, a) not in table}
    return TuringMachine(transitions=table | rest, start="s", accept="Y", reject="N")


def test_a_floating_network_does_not_take_up_a_tape_that_it_cannot_hold():
    machine = with_a_wall()
    word, near = "xy" + "e" * 40 + "y", "xyeey"
    network = compile_turing(machine, dtype="float32")
    with pytest.raises(OutgrownError, match="outgrown"):
        network.resume(machine.run(word, machine.run(word).steps - 1, record=False))
    done = network.resume(machine.run(near, machine.run(near).steps - 1, record=False))
    assert done == machine.run(near, record=False)


def test_of_a_computation_of_the_machine_no_ticks_are_counted():
    machine, network = MACHINES["palindrome"], NETWORKS["palindrome", "compact"]
    assert network.resume(machine.run("abba", 4)) == machine.run("abba")
    assert network.resume(machine.run("abba", 4)).ticks is None


def test_a_run_whose_steps_do_not_lead_to_its_end_is_told_to_the_user(monkeypatch):
    simulation = compile_turing(MACHINES["sipser"])._simulation
    simulation.load([0, 0])
    first = simulation.configuration()
    monkeypatch.setattr(simulation, "configuration", lambda: first)
    with pytest.raises(RunError, match="its steps lead to"):
        simulation.computation(first, 0, 5, True)


def test_a_limit_beyond_the_number_type_is_refused(tmp_path):
    path = compile_turing(MACHINES["sipser"], dtype="float32").save(tmp_path / "network.safetensors")
    header, arrays = read_tensors(path, "turing rnn")
    header["reading"]["limit"] = 10**9
    write_tensors(path, "turing rnn", {k: v for k, v in header.items() if k != "kind"}, arrays)
    with pytest.raises(ModelFileError, match="limit is larger"):
        TuringRNN.load(path)
