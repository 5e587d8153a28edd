"""Module sequences, and what may be connected with what."""

import pytest

from kleene.errors import InputError
from kleene.notation.wiring import ARITIES, Wiring, module_sequence


@pytest.mark.parametrize(
    ("text", "count", "ends"),
    [("def", 14, ("READ", "WRITE")), ("def+R", 15, ("READ", "READ")), ("R+def+R+W", 17, ("READ", "WRITE")),
     ("def*3", 42, ("READ", "WRITE")), (" INC * 2 + W", 3, ("INC", "WRITE"))],
)  # fmt: skip
def test_a_sequence_is_read(text, count, ends):
    modules = module_sequence(text)
    assert (len(modules), modules[0], modules[-1]) == (count, *ends)


@pytest.mark.parametrize("text", ["", "def+", "JUMP", "def*0", "def 3", "def+read"])
def test_a_sequence_with_an_unknown_part_is_refused(text):
    with pytest.raises(InputError, match="module sequence"):
        module_sequence(text)


def test_a_module_may_use_registers_and_earlier_modules_and_a_register_everything():
    wiring = Wiring(3, module_sequence("def*2"))
    for connection, allowed in zip(wiring.connections, wiring.allowed):
        names = {name for name, may in zip(wiring.sources, allowed) if may}
        assert {"r0", "r1", "r2"} <= names
        if connection.name.endswith(".c"):
            assert names == set(wiring.sources)
        else:
            place = wiring.names.index(connection.name.split(".")[0])
            assert names == {*wiring.sources[:3], *wiring.names[:place]}


def test_there_is_a_connection_for_every_argument_that_is_used_and_for_every_register():
    wiring = Wiring(4, module_sequence("R+def+R+W"))
    assert len(wiring.connections) == sum(ARITIES[kind] for kind in wiring.modules) + 4
    assert [len(places) for places in wiring.places[:3]] == [1, 1, 0]
    assert wiring.names.count("READ3") == wiring.names.count("WRITE2") == 1


@pytest.mark.parametrize(("registers", "modules"), [(0, ("READ",)), (1, ()), (1, ("JUMP",))])
def test_a_wiring_of_nothing_is_refused(registers, modules):
    with pytest.raises(InputError, match="wiring"):
        Wiring(registers, modules)


@pytest.mark.parametrize("text", ["def*36", "INC*501", "R*999999999999", "R*" + "9" * 5000, "+".join(["R"] * 501)])
def test_more_modules_than_the_bound_are_refused(text):
    assert len(module_sequence("INC*500")) == 500
    with pytest.raises(InputError, match="has more than 500 modules"):
        module_sequence(text)


def test_a_wiring_of_too_many_modules_is_refused():
    with pytest.raises(InputError, match="has 501 modules, and 500 is the most"):
        Wiring(1, ("READ",) * 501)
