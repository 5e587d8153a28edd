"""A plan that does not fit into memory is refused before anything is made."""

import pytest

from kleene.errors import InputError
from kleene.teaching.catalog import lesson
from kleene.teaching.loop import Plan, teach
from kleene.teaching.room import check_room


def plan(seeds: int = 10, **options) -> Plan:
    return Plan.grid(lesson("dfa:tomita_3", **options), seeds=seeds, iterations=5)


def test_a_network_of_too_many_units_is_refused_by_its_weights():
    with pytest.raises(InputError, match=r"teaching 1 run of tomita_3 rnn takes about 33,528 GiB of memory"):
        teach(plan(1, hidden=1_000_000))


def test_a_batch_too_large_for_its_gradient_is_refused_by_what_an_update_keeps():
    check_room(plan(1), most=1 << 30)
    check_room(plan(1, batch=20_000), most=1 << 30)  # the rough guess is larger than that
    with pytest.raises(
        InputError, match=r"teaching 1 run of tomita_3 rnn takes about .* GiB of memory, and 1.0 are left"
    ):
        check_room(plan(1, batch=1_000_000), most=1 << 30)


def test_many_runs_take_as_much_more():
    check_room(plan(10), most=10_000_000)
    with pytest.raises(InputError, match="teaching 1,000 runs of tomita_3 rnn takes about"):
        check_room(plan(1000), most=10_000_000)
