"""Certificates hold for what the compiler makes, refuse what they cannot promise, and notice a changed weight."""

import copy
import dataclasses
import json
import operator
from typing import Any

import equinox as eqx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.compiling.alta.attacks import attack
from kleene.compiling.alta.certificates import exclusive
from kleene.compiling.alta.conditions.units import SeenUnits
from kleene.compiling.alta.conditions.updates import updates
from kleene.errors import CompileError, InputError
from kleene.machines.weights import arrays_of
from kleene.programs import alta
from kleene.programs.alta.library import entries, get, parity
from kleene.programs.alta.random_programs import generate


@pytest.mark.parametrize("name", [n for n in entries() if n != "scan_shift_reduce"])
def test_every_program_of_the_library_is_certified(name):
    program = get(name).build()
    length = min(program.position_range or 1000, 1000)
    certificate = kleene.certify(kleene.compile(program), length=length)
    assert certificate, str(certificate)


@pytest.mark.parametrize(
    "way", [{"dtype": "float64"}, {"activation": "relu"}, {"rules": "paper"}, {"dtype": "bfloat16"}]
)
def test_every_way_of_compiling_is_certified(way):
    for name in ("parity_relative", "sort", "shuffle_dyck_2"):
        certificate = kleene.certify(kleene.compile(get(name).build(), **way), length=30)
        assert certificate, str(certificate)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**9))
def test_random_programs_are_certified(seed):
    generated = generate(seed)
    certificate = kleene.certify(kleene.compile(generated.program), length=4)
    assert certificate, f"{certificate}\n{generated.source}"


NETWORK = kleene.compile(get("sort").build())
PLACES = [
    n
    for n, a in (NETWORK.weights() | arrays_of(NETWORK.probe, "probe.") | {"halt": NETWORK.halt}).items()
    if a is not None
]


@settings(max_examples=80)
@given(data=st.data())
def test_a_change_of_one_weight_anywhere_is_noticed(data):
    where = data.draw(st.sampled_from(PLACES))
    array = np.array(eval(f"NETWORK.{where}"))
    index = tuple(data.draw(st.integers(0, n - 1)) for n in array.shape)
    array[index] += data.draw(st.sampled_from([1.0, -1.0, 0.5, 1e-3]))
    tampered = eqx.tree_at(lambda n: eval(f"n.{where}"), NETWORK, array)
    certificate = kleene.certify(tampered, length=20)
    assert not certificate.valid
    assert certificate.first_failure is not None
    assert where in certificate.first_failure.detail


def test_the_mlp_itself_is_run_and_not_only_compared():
    program = get("addition").build()
    network = kleene.compile(program)
    segment = network.layout.segment("value_carry")
    unit = int(np.flatnonzero(network.mlp_out[:, segment.start])[0])
    for field, place in (("mlp_in", (segment.start, unit)), ("mlp_bias", (unit,)), ("mlp_out", (unit, segment.start))):
        array = np.array(getattr(network, field))
        array[place] += 100
        broken = eqx.tree_at(lambda n, field=field: getattr(n, field), network, array)
        assert not updates(SeenUnits(broken, program)).holds


def narrowed(network, *names):
    """The network with some weights in a type in which they have the same values."""
    for name in names:
        get_field = operator.attrgetter(name)
        network = eqx.tree_at(get_field, network, np.asarray(get_field(network)).astype(np.int8))
    return network


def altered(network, **fields):
    """The network with some fields changed, whatever their types should be."""
    found = copy.copy(network)
    for name, value in fields.items():
        object.__setattr__(found, name, value)
    return found


@pytest.mark.parametrize("field", ["mlp_out", "mlp_in", "expansion.outputs", "probe.guards", "relative", "halt"])
def test_a_change_of_number_type_is_noticed_though_the_values_are_the_same(field):
    network = kleene.compile(get("sort").build())
    failure = kleene.certify(narrowed(network, field), length=20).first_failure
    assert failure is not None
    assert failure.detail.startswith(f"{field} is in int8")


def test_a_network_wholly_in_another_number_type_has_no_certificate():
    network = kleene.compile(parity.relative())
    whole = narrowed(network, "tokens", "mlp_in", "mlp_bias", "mlp_out", "value", "out")
    assert not kleene.certify(whole, length=5)
    assert not kleene.certify(altered(whole, origin=None), length=5, program=parity.relative())


@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_another_activation_is_noticed(activation):
    network = altered(kleene.compile(parity.relative()), activation=activation)
    failure = kleene.certify(network, length=5).first_failure
    assert (failure.name, failure.detail.split()[0]) == ("weights", "activation")


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_layers", 3), ("halts", False), ("queries", (False,) * 5), ("output_name", "done"), ("number_steps", ()),
     ("input_range", 7), ("position_range", 9)],
)  # fmt: skip
def test_a_changed_layout_is_noticed_and_named(name, value):
    network = kleene.compile(get("sort").build())
    changed = dataclasses.replace(network, layout=dataclasses.replace(network.layout, **{name: value}))
    failure = kleene.certify(changed, length=5).first_failure
    assert f"layout.{name}" in failure.detail


def test_changed_slots_are_noticed():
    network = kleene.compile(get("sort").build())
    first, second, *rest = network.layout.segments
    moved = (
        dataclasses.replace(first, channel=second.channel),
        dataclasses.replace(second, channel=first.channel),
        *rest,
    )
    changed = dataclasses.replace(network, layout=dataclasses.replace(network.layout, segments=moved))
    assert "layout.segments" in kleene.certify(changed, length=5).first_failure.detail


def test_a_removed_probe_or_mask_is_noticed():
    network = kleene.compile(get("sort").build())
    assert "probe" in kleene.certify(dataclasses.replace(network, probe=None), length=5).first_failure.detail
    unmasked = dataclasses.replace(network, relative=np.zeros_like(network.relative))
    assert "relative" in kleene.certify(unmasked, length=5).first_failure.detail


def test_the_program_of_another_network_is_not_certified():
    network = kleene.compile(parity.relative())
    assert not kleene.certify(network, length=5, program=parity.absolute(positions=8)).valid


def test_a_network_from_a_file_is_certified_with_its_program(tmp_path):
    network = kleene.compile(parity.relative(), rules="paper")
    network.save(tmp_path / "parity.safetensors")
    loaded = kleene.UniversalTransformer.load(tmp_path / "parity.safetensors")
    with pytest.raises(InputError, match="does not know its program"):
        kleene.certify(loaded, length=5)
    assert kleene.certify(loaded, length=5, program=parity.relative())


def test_a_length_past_the_positions_or_the_number_type_is_refused_by_name():
    refused = kleene.certify(kleene.compile(parity.absolute(positions=8)), length=9)
    assert (refused.valid, refused.first_failure.name) == (False, "length")
    assert "at most 8 positions" in refused.first_failure.detail
    refused = kleene.certify(kleene.compile(parity.relative()), length=1 << 25)
    assert "at most 16,777,216 positions" in refused.first_failure.detail
    with pytest.raises(InputError):
        kleene.certify(kleene.compile(parity.relative()), length=0)


def test_averages_that_rounding_could_push_over_a_step_are_refused_with_the_length_that_can_be_had():
    program = alta.program_spec(
        {
            "x": alta.numeric_var([0.1, 0.3, 1 / 3], input_init_fn=lambda t: [0.1, 0.3, 1 / 3][t]),
            "same": alta.var(1),
            "y": alta.var(3),
        },
        {"mean": alta.qkv("same", "same", "x", output_spec=alta.numeric_var([v / 1000 for v in range(334)]))},
        lambda z: z.update({"y": 0 if z["mean"] < 0.2 else 1}),
        "y",
        3,
    )
    network = kleene.compile(program)
    longest = kleene.certify(network).length
    assert longest > 10
    assert kleene.certify(network, length=longest)
    refused = kleene.certify(network, length=1_000_000)
    assert refused.first_failure.name == "averages"
    assert f"at most {longest:,} positions, not 1,000,000" in refused.first_failure.detail


def test_a_certificate_can_be_read_by_programs_and_people():
    certificate = kleene.certify(kleene.compile(parity.relative()), length=7)
    content = json.loads(json.dumps(certificate.as_json()))
    assert content["valid"] is True
    assert content["first_failure"] is None
    assert {c["name"] for c in content["conditions"]} >= {"selection", "steps", "exclusive", "MLP", "halting"}
    assert "network equals program for every input up to length 7" in str(certificate)


def test_cases_that_can_hold_at_once_are_found():
    program = parity.relative()
    twice = dataclasses.replace(program, updates={v: c + c for v, c in program.updates.items()})
    assert not exclusive(kleene.compile(program), twice, 5).holds


def test_without_a_length_the_certificate_is_for_the_longest_input_that_there_can_be():
    assert kleene.certify(kleene.compile(parity.absolute(positions=8))).length == 8
    assert kleene.certify(kleene.compile(parity.relative())).length == 1 << 24
    assert kleene.certify(kleene.compile(parity.relative(), dtype="float64")).length == 1 << 53


@pytest.mark.parametrize("size", [5, 100, 300])
def test_the_certificate_says_on_how_many_combinations_the_function_was_run(size):
    def step(z):
        z["out"] = (z["a"] * z["b"]) % 3

    variables = {"a": alta.input_var(size), "b": alta.var(size, default=1), "out": alta.var(3)}
    certificate = kleene.certify(kleene.compile(alta.program_spec(variables, {}, step, "out", size)), length=5)
    said = next(c.detail for c in certificate.conditions if c.name == "function")
    assert certificate.exhaustive
    assert f"{size**2:,} combinations" in said


def test_what_cannot_be_compiled_has_no_certificate():
    with pytest.raises(CompileError):
        kleene.certify(kleene.compile(parity.sum_modulo(), dtype="bfloat16"), length=5)


def test_networks_of_other_kinds_have_no_certificate():
    network = kleene.compile(kleene.DFA.from_regex("a*"))
    with pytest.raises(InputError, match="this is a SimpleRNN"):
        kleene.certify(network, length=3)


@pytest.mark.parametrize(("name", "needed"), [("parity_relative", 7.3), ("addition", 10.2), ("histogram", 10.2)])
def test_the_certificate_says_from_which_attention_scalar_on_softmax_is_hard(name, needed):
    program = get(name).build()
    soft = kleene.certify(kleene.compile(program, attention_scalar=needed - 0.2)).first_failure
    assert soft is not None
    assert soft.detail.endswith(f"compile with attention_scalar from λ = {needed} on")
    hard = kleene.certify(kleene.compile(program, attention_scalar=needed))
    assert hard
    assert hard.length < kleene.certify(kleene.compile(program, attention_scalar=needed + 1.5)).length


@settings(max_examples=30)
@given(scalar=st.floats(8.0, 30.0), dtype=st.sampled_from(["float32", "float64", "bfloat16"]), data=st.data())
def test_with_any_attention_scalar_that_is_certified_network_equals_program(scalar, dtype, data, tmp_path_factory):
    program = get(data.draw(st.sampled_from(["addition", "shuffle_dyck_1", "histogram", "sort"]))).build()
    made = kleene.compile(program, attention_scalar=scalar, dtype=dtype)
    path = tmp_path_factory.getbasetemp() / "scalar.safetensors"
    made.save(path)
    network: Any = kleene.load(path)
    certificate = kleene.certify(network, program=program)
    assert certificate.first_failure is None or certificate.first_failure.name == "selection"
    if certificate:
        assert attack(network, certificate=certificate, program=program, seconds=0.2)


def test_a_small_attention_scalar_attends_softly():
    network = kleene.compile(parity.relative(), attention_scalar=1)
    with pytest.raises(kleene.KleeneError, match="its attention is soft"):
        network.run([2, 1, 0, 1])


@pytest.mark.parametrize("scalar", [0, -1, float("nan"), float("inf")])
def test_an_attention_scalar_is_a_number_above_0(scalar):
    with pytest.raises(CompileError, match="attention_scalar is λ, a number above 0"):
        kleene.compile(parity.relative(), attention_scalar=scalar)
    with pytest.raises(CompileError, match="an option of shared layers"):
        kleene.compile(parity.relative(), attention_scalar=scalar, layers="unrolled", max_length=5)
