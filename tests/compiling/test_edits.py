"""Program, reference interpreter and network agree under every intervention on a variable or a head's output."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kleene
from kleene.errors import CompileError, HaltError, InputError, ProgramError, UndefinedAttentionError
from kleene.notation.edits import Edit
from kleene.programs import alta
from kleene.programs.alta.library import entries, get, parity
from kleene.programs.alta.random_programs import generate, random_inputs
from kleene.programs.alta.reference import reference_run
from kleene.programs.rasp.library import entries as rasp_entries
from kleene.programs.rasp.program import RaspProgram
from kleene.programs.rasp.random_programs import random_program
from tests.programs.alta.random_edits import disagreement, outcome, random_edits

WAYS = [{}, {"rules": "paper"}, {"activation": "relu"}, {"dtype": "float64"}]
LARGE = ("scan_shift_reduce", "scan")  # seconds a run


def compare(program, network, word, rng, *, reference=True, source=""):
    """Run all of them under random edits; whether the run with edits was compared."""
    layers = 3 if program.halt is None else None
    plain = outcome(lambda: program.run(word, max_layers=layers))
    if isinstance(plain, Exception):
        return False
    other = outcome(lambda: program.run([rng.randrange(program.input_range) for _ in word]))
    edits = random_edits(rng, program, plain, None if isinstance(other, Exception) else other)
    ours = outcome(lambda: program.run(word, max_layers=layers, edits=edits))
    theirs = {"network": outcome(lambda: network.run(word, max_layers=layers, edits=edits))}
    theirs["softmax"] = outcome(lambda: network.run(word, max_layers=layers, edits=edits, attention="softmax"))
    # An InputError: the run ended before an edit, or a number lies between two declared ones.
    if reference and not isinstance(ours, InputError):
        theirs["reference"] = outcome(lambda: reference_run(program, word, max_layers=layers, edits=edits))
    for name, run in theirs.items():
        assert disagreement(ours, run) is None, f"{name}, {edits}: {disagreement(ours, run)}\n{source}"
    return True


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way.values()) or "default")
@settings(max_examples=25)
@given(seed=st.integers(0, 10**9))
def test_random_programs_and_their_networks_agree_under_random_edits(way, seed):
    generated = generate(seed, averaging=seed % 4 == 0)
    try:
        network = kleene.compile(generated.program, **way)
    except CompileError:
        return
    rng = random.Random(seed)
    for word in random_inputs(rng, generated.program, 3, 6):
        compare(generated.program, network, word, rng, source=generated.source)


@pytest.mark.parametrize("name", entries())
def test_programs_of_the_library_and_their_networks_agree_under_random_edits(name):
    entry = get(name)
    program = entry.build()
    network, rng = kleene.compile(program), random.Random(name)
    sizes = (2,) if name in LARGE else (2, 3, 4, 5, 2, 3, 4, 5)
    words = [program.inputs.sample(rng, n) for n in sizes]
    compared = [compare(program, network, word, rng, reference=name not in LARGE) for word in words]
    assert any(compared)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
def test_edits_in_jax_give_the_trace_of_the_program(dtype):
    entry, rng = get("shuffle_dyck_2"), random.Random(3)
    program = entry.build()
    network = kleene.compile(program, dtype=dtype)
    words = [entry.build().inputs.sample(rng, size) for size in (3, 5, 4)]
    plain = program.run_batch(words)
    edits = [[Edit(name, layer=1, position=1, value=program.domains[name].domain[-1])] for name in program.domains][:3]
    assert len(edits) == len(words)
    ours = program.run_batch(words, edits=edits)
    assert any(a != b for a, b in zip(ours, plain))
    for theirs in (network.run_batch(words, edits=edits, backend="jax", attention=a) for a in ("select", "softmax")):
        for a, b in zip(ours, theirs):
            assert a.difference(b) is None
    assert network.run_batch(words, edits=edits, backend="jax", record=False).outputs == ours.outputs


def test_an_edit_that_leaves_a_head_without_a_match_is_refused_at_the_same_place_by_both():
    program = get("subleq").build()
    network, word = kleene.compile(program), get("subleq").read(["9", "11", "-1", *["0"] * 6, "7", "0", "0"])
    refused = []
    for name, variable in program.variables.items():
        for value in variable.domain[:: max(1, len(variable.domain) // 4)]:
            edits = [Edit(name, layer=1, value=value)]
            ours = outcome(lambda edits=edits: program.run(word, edits=edits, max_layers=20))
            theirs = outcome(lambda edits=edits: network.run(word, edits=edits, max_layers=20))
            assert disagreement(ours, theirs) is None, edits
            refused += [ours] if isinstance(ours, UndefinedAttentionError) else []
    assert refused


def test_an_edit_can_end_a_run_early_and_keep_one_from_ending():
    program = parity.relative()
    network, word = kleene.compile(program), [2, 1, 0, 1]
    assert program.run(word).layers == 3
    for subject in (program, network):
        assert subject.run(word, edits=[Edit("done", layer=1, value=1)]).layers == 1
        assert subject.run(word, edits=[Edit("done", layer=3, position=3, value=0)]).layers == 4
        assert not subject.run(word, edits=[Edit("done", position=3, value=0)], max_layers=9).halted
    short = replace(program, max_layers=9)
    for subject in (short, kleene.compile(short)):
        with pytest.raises(HaltError):
            subject.run(word, edits=[Edit("done", position=3, value=0)])


def test_a_swap_from_another_input_gives_what_that_input_had():
    program = parity.absolute()
    network = kleene.compile(program)
    other = program.run([1, 1, 1, 0])
    for subject in (program, network):
        for source in (other, network.run([1, 1, 1, 0])):
            swapped = subject.run([0, 0, 0, 1], edits=[Edit.from_run("parity", source, layer=2, position=2)])
            assert swapped["parity"][2, 2] == other["parity"][2, 2] == 1
            assert swapped.output == [0, 0, 1, 0]


def test_a_batch_takes_edits_for_all_inputs_or_a_list_for_each():
    program = parity.absolute()
    words = [[1, 0, 1], [0, 0], [1, 1, 1, 1]]
    for subject in (program, kleene.compile(program)):
        for_all = subject.run_batch(words, edits=[Edit("parity", layer=0, position=1, value=1)])
        assert for_all.outputs == [
            subject.run(w, edits=[Edit("parity", layer=0, position=1, value=1)]).output for w in words
        ]
        each = [[Edit("parity", layer=1, position=0, value=n % 2)] for n in range(3)]
        assert subject.run_batch(words, edits=each) == subject.run_batch(words, edits=each, record=True)
        assert subject.run_batch(words, edits=each, record=False).outputs == [
            subject.run(word, edits=edits).output for word, edits in zip(words, each)
        ]
        with pytest.raises(InputError, match="2 lists of edits for 3 inputs"):
            subject.run_batch(words, edits=each[:2])


def sets_and_numbers():
    """A program whose MLP looks at a set and a number that it also writes, and at a mean."""

    def mlp(z):
        z["wide"] = {0, 1} if z["mean"] >= 0.5 else {1}
        if 0 in z["wide"]:
            z["level"] = 1 / 3
            z["out"] = 1

    variables = {
        "x": alta.numeric_var([0, 1], input_init_fn=lambda token: token),
        "level": alta.numeric_var([0, 1 / 3, 1]),
        "wide": alta.set_var(3, [{1}, {0, 1}]),
        "same": alta.var(1),
        "out": alta.var(2),
    }
    heads = {"mean": alta.qkv("same", "same", "x")}
    return alta.program_spec(variables, heads, mlp, "out", 2, max_layers=2, name="mixed")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            Edit("pariti", layer=0, value=1),
            "mixed: the edit pariti@0=1 is of 'pariti', which is not there; there",
        ),
        (Edit("levle", layer=0, value=1), "'levle', which is not there; did you mean level"),
        (Edit("out", layer=1, value=2), "'out' takes an integer in 0..1"),
        (Edit("out", layer=1, value="many"), "'out' takes an integer in 0..1"),
        (Edit("wide", layer=1, value={2}), "'wide' takes one of its declared sets: {1}, {0, 1}"),
        (Edit("wide", layer=1, value={7}), "'wide' takes a set of integers in 0..2"),
        (Edit("level", layer=1, value=0.9), "'level' takes one of its declared numbers: 0, 0.3333, 1"),
        (Edit("x", layer=1, value=0.5), "belongs to no declared value of 'x'"),
        (Edit("mean", layer=1, value=7), "belongs to no declared value of 'mean'"),
        (Edit("mean", layer=0, value=1), "of 'mean' at the start; a head reads in the layers from 1"),
        (Edit("out", layer=3, value=1), "is for layer 3, and the run on input 0 ended after layer 2"),
        (Edit("out", layer=range(2, 9), value=1), "is for layer 8, and the run on input 0 ended after layer 2"),
        (Edit("out", layer=1, position=4, value=1), "is for position 4, and input 0 has 3 positions"),
    ],
    ids=lambda given: str(given)[:40],
)
def test_program_and_network_refuse_the_same_edits_with_the_same_words(edit, said, tmp_path):
    program = sets_and_numbers()
    network = kleene.compile(program)
    loaded = kleene.load(network.save(tmp_path / "mixed.safetensors"))
    messages = []
    for subject in (program, network, loaded):
        with pytest.raises(InputError) as refused:
            subject.run([0, 1, 1], edits=[edit])
        messages.append(str(refused.value))
    assert said in messages[0]
    assert set(messages) == {messages[0]}


def test_numbers_and_sets_are_set_in_words_of_the_command_line_too():
    program = sets_and_numbers()
    network = kleene.compile(program)
    for typed, edit in {
        "level@1,0=1/3": Edit("level", layer=1, position=0, value=1 / 3),
        "wide@1={0,1}": Edit("wide", layer=1, value={0, 1}),
        "mean@1-2,1=0.9": Edit("mean", layer=(1, 2), position=1, value=0.9),
        "out@*,*=1": Edit("out", value=1),
    }.items():
        assert str(Edit.parse(typed)) == typed.replace(",*", "")
        expected = program.run([0, 0, 1], edits=[edit])
        assert program.run([0, 0, 1], edits=[Edit.parse(typed)]) == expected
        assert network.run([0, 0, 1], edits=[Edit.parse(typed)]).difference(expected) is None


@pytest.mark.parametrize("name", ["reverse", "hist", "sort_unique", "length"])
def test_rasp_programs_take_edits_in_their_own_values_as_their_networks_do(name):
    program, rng = rasp_entries()[name].build(), random.Random(name)
    network, agreed = kleene.compile(program), 0
    for _ in range(6):
        word = [rng.choice(program.vocab) for _ in range(rng.randint(1, 4))]
        edits = edits_in_values(rng, program, program.run(word))
        ours, theirs = (outcome(lambda s=s, w=word, e=edits: s.run(w, edits=e)) for s in (program, network))
        assert disagreement(ours, theirs) is None, edits
        agreed += not isinstance(ours, Exception)
    assert agreed


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), causal=st.booleans())
def test_random_rasp_programs_that_count_and_average_agree_with_their_networks_under_edits(seed, causal):
    made, rng = random_program(seed, size=5, max_length=3, causal=causal), random.Random(seed)
    program = RaspProgram(made.expression, made.vocab, made.max_length, causal)
    try:
        network = kleene.compile(program)
    except (ProgramError, CompileError):
        return
    for _ in range(3):
        word = [rng.choice(program.vocab) for _ in range(rng.randint(1, 3))]
        edits = edits_in_values(rng, program, program.run(word))
        ours, theirs = (outcome(lambda s=s, w=word, e=edits: s.run(w, edits=e)) for s in (program, network))
        assert disagreement(ours, theirs) is None, (seed, word, edits)


def edits_in_values(rng: random.Random, program: RaspProgram, plain) -> list[Edit]:
    """Random edits of a RASP program's run, in its own values."""
    edits = []
    for edit in random_edits(rng, program.lowered, plain):
        meanings = plain.channel(edit.name).meanings
        value = edit.value if meanings is None else meanings[edit.value]
        edits.append(Edit(edit.name, layer=edit.layer, position=edit.position, value=value))
    return edits


def test_an_edit_of_a_rasp_program_from_the_command_line_names_a_value():
    for compiled in (False, True):
        found = kleene.run("rasp:reverse", "abc", compiled=compiled, edits=["tokens@0,1=e"])
        assert found.trace.output == ["c", "b", "e"]
