"""Pages of automata and Turing machines: the document equals the run, and the diagram has what the run visits."""

import json
from itertools import pairwise

import numpy as np
import pytest

import kleene
from kleene.errors import InputError
from kleene.naming import find
from kleene.watching.cutting import Cut, entry_count
from kleene.watching.document import check_size, traces_of
from kleene.watching.states import near_the_run

WATCHED = {
    "dfa:(a|b)*abb": "aabbabb",
    "dfa:tomita_7": "0110",
    "tm:copy": "abb",
    "tm:palindrome": "abba",
    "tm:bump": "1",
}


@pytest.mark.parametrize("name", WATCHED)
def test_the_document_of_two_runs_equals_their_traces(name):
    content = json.loads(json.dumps(kleene.watch(name, WATCHED[name], both=True).document))
    for number, found in enumerate(traces_of(content)):
        run = kleene.run(name, WATCHED[name], compiled=bool(number)).trace
        for channel in run.channels:
            assert (found[channel.name] == run[channel.name]).all()
            assert found.channel(channel.name) == channel
    assert content["different"] is None


@pytest.mark.parametrize("name", WATCHED)
def test_every_step_of_the_run_is_an_arrow_of_the_diagram(name):
    content = kleene.watch(name, WATCHED[name]).document
    trace, nodes = kleene.run(name, WATCHED[name]).trace, content["diagram"]["nodes"]
    states = [trace.channel("state").labels[code] for code in trace["state"]]
    arrows = {(nodes[a["source"]]["name"], nodes[a["target"]]["name"]) for a in content["diagram"]["arrows"]}
    assert set(pairwise(states)) <= arrows


def test_the_diagram_of_a_large_machine_has_what_the_run_visits():
    graph = find("dfa:divisible_by_20").subject.graph()
    names = [graph.nodes[n].name for n in (0, 1, 0, 3)]
    near = near_the_run(graph, names)
    assert [node.name for node in near.nodes] == [graph.nodes[n].name for n in (0, 1, 3)]
    assert all(len(line) <= 12 for arrow in near.arrows for line in arrow.lines)
    drawn = kleene.watch("dfa:divisible_by_20", "101").document
    assert len(drawn["diagram"]["nodes"]) < 20
    assert "does not visit" in drawn["undrawn"]


def test_a_machine_that_is_not_rejected_is_drawn_without_its_dead_states():
    drawn = kleene.watch("tm:sipser", "11").document
    assert not any(node["rejecting"] for node in drawn["diagram"]["nodes"])
    assert "Not shown" in drawn["undrawn"]
    assert any(n["rejecting"] for n in kleene.watch("tm:palindrome", "ab").document["diagram"]["nodes"])


def test_a_part_of_a_long_computation_is_taken_before_its_tapes_are_made():
    run = kleene.run("tm:copy", "abba").trace
    (part,) = traces_of(kleene.watch("tm:copy", "abba", steps="5-9", positions="1-3").document)
    assert (part["state"] == run["state"][5:10]).all()
    assert (part["tape"] == run["tape"][5:10, 1:4]).all()
    long = kleene.run("tm:copy", "ab" * 20)
    with pytest.raises(InputError, match=r"entries .* at most 1,000\. .*--steps"):
        check_size([long.trace], Cut(), most=1000)
    assert "data" not in vars(long.trace)
    assert entry_count(long.trace, Cut.read(steps="0-9", positions="0-3")) == 10 * (1 + 1 + 4)


def test_a_network_without_a_program_shows_its_units():
    content = kleene.watch("rnn:dyck1", "(())").document
    assert content["diagram"] is None
    (found,) = traces_of(content)
    assert np.array_equal(found["hidden"][:, 0], [0, 1, 2, 1, 0])
