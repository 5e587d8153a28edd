"""Machines on disk: every weight comes back, older files load, and files that do not fit together are refused."""

import re
from pathlib import Path

import jax
import numpy as np
import pytest

import kleene
from kleene.errors import InputError, ModelFileError
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.nram import NRAM
from kleene.machines.ntm.ntm import NTM
from kleene.machines.protocol import MACHINES as KINDS
from kleene.machines.transformer_lm import TransformerLM
from kleene.notation.wiring import Steps
from kleene.tensors import open_tensors, read_tensors, write_tensors
from tests.machines.samples import INPUTS, KEY, MACHINES, VARIANTS

OLDER = Path(__file__).parent / "files"
ALL = MACHINES | VARIANTS


def test_there_is_a_sample_of_every_kind():
    assert set(MACHINES) == set(KINDS)
    for kind, machine in MACHINES.items():
        module, _, name = KINDS[kind].partition(":")
        assert (type(machine).__module__, type(machine).__name__) == (module, name)


@pytest.mark.parametrize("which", ALL)
def test_a_saved_machine_comes_back_with_every_weight(tmp_path, which):
    path = ALL[which].save(tmp_path / "machine.safetensors")
    assert path == tmp_path / "machine.safetensors"
    again = kleene.load(path).save(tmp_path / "again.safetensors")
    assert type(kleene.load(path)) is type(ALL[which])
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kind", MACHINES)
def test_a_saved_machine_does_the_same(tmp_path, kind):
    path = MACHINES[kind].save(tmp_path / "machine.safetensors")
    assert open_tensors(path).kind == kind
    assert kleene.load(path).run(INPUTS[kind]) == MACHINES[kind].run(INPUTS[kind])


# What the arrays of files that version 0.1.0 wrote are called now.
RENAMED = {
    "ntm": {
        "heard": "input_weights", "read": "read_weights", "commands": "command_weights",
        "commands_bias": "command_bias", "said": "output_weights", "said_bias": "output_bias", "unread": "first_read",
    },
}  # fmt: skip


@pytest.mark.parametrize("file", sorted(OLDER.glob("*.safetensors")), ids=lambda file: file.stem)
def test_a_file_that_an_older_kleene_wrote_loads_with_every_number_in_its_place(tmp_path, file):
    machine = kleene.load(file)
    again = machine.save(tmp_path / "again.safetensors")
    kind, names = open_tensors(file).kind, RENAMED.get(file.stem, {})
    (header, before), (header_again, after) = read_tensors(file, kind), read_tensors(again, kind)
    assert header == header_again
    assert {names.get(name, name) for name in before} == set(after)
    for name, array in before.items():
        assert np.array_equal(array, after[names.get(name, name)]), name
    assert machine.run_batch([]) is not None


def test_older_files_of_every_kind_are_tried():
    assert {open_tensors(file).kind for file in OLDER.glob("*.safetensors")} == set(KINDS)


NRAM_ROWS = [
    (lambda header, arrays: header.update(registers=10**9), "first has shape (3, 2), and 3 hidden × 1000000000"),
    (lambda header, arrays: header.update(registers=True), "its registers is True"),
    (lambda header, arrays: header.update(modules=["DANCE"]), "DANCE"),
    (lambda header, arrays: header.update(modules=["READ"]), "connections and sources, and its modules have"),
    (lambda header, arrays: header.update(modules="def"), "not a list of names"),
    (lambda header, arrays: header.update(modules=[3]), ""),
    (lambda header, arrays: header.update(steps="many"), "'many' is not understood"),
    (lambda header, arrays: header.update(steps=4), ""),
    (lambda header, arrays: header.pop("hidden"), "hidden"),
    (lambda header, arrays: arrays.update(circuit=np.zeros((2, 3, 3), "f4")), "circuit_bias has shape"),
]
NTM_ROWS = [
    (lambda header, arrays: header.update(width=3), "read_weights has shape (5, 2), and 5 first × 3 width"),
    (lambda header, arrays: header.update(width="3"), "its width is '3'"),
    (lambda header, arrays: arrays.update(command_weights=np.zeros((3, 6), "f4")), "and 20 commands × 6 hidden"),
]
NEURAL_GPU_ROWS = [
    (lambda header, arrays: header.update(hidden=8), "embedding has shape (4, 7), and 4 symbols × 8 hidden"),
    (lambda header, arrays: header.update(outputs=0), "its outputs is 0"),
    (
        lambda header, arrays: arrays.update(gate_weights=np.zeros((5, 7, 7), "f4")),
        "gate_weights has shape (5, 7, 7), and 3 width × 7 hidden × 7 hidden",
    ),
]
LSTM_ROWS = [
    (lambda header, arrays: arrays.update({"layers.1.inputs": np.zeros((20, 3), "f4")}), "has 3 columns, and 5"),
    (lambda header, arrays: arrays.update({"layers.0.inputs": np.zeros((20, 5), "f4")}), "has 5 columns, and 3"),
    (lambda header, arrays: arrays.update({"layers.2.bias": np.zeros(20, "f4")}), "layers.2.inputs is missing"),
    (lambda header, arrays: arrays.update({"layers.7.bias": np.zeros(20, "f4")}), "layers.2.inputs is missing"),
    (lambda header, arrays: arrays.update({"layers.x.bias": np.zeros(20, "f4")}), "layers.x.bias not expected"),
    (lambda header, arrays: [arrays.pop(name) for name in [*arrays] if "layers" in name], "it has 0 layers"),
    (lambda header, arrays: header.update(vocabulary=["a", "a", "b"]), "a token twice"),
    (lambda header, arrays: header.update(vocabulary=["a", "b"]), "2 tokens, and embedding 3 rows"),
    (lambda header, arrays: header.update(vocabulary="abc"), "not a list of tokens"),
    (lambda header, arrays: header.update(threshold="high"), "its threshold is 'high', and float was expected"),
    (lambda header, arrays: header.pop("vocabulary"), "vocabulary"),
]
TRANSFORMER_LM_ROWS = [
    (lambda header, arrays: header.update(layers=10**9), "it has 2 layers, and 1000000000 were expected"),
    (lambda header, arrays: header.update(layers=1.0), "its layers is 1.0"),
    (lambda header, arrays: header.update(vocabulary=["a", "b"]), "2 tokens, and embedding 3 rows"),
    (lambda header, arrays: header.update(vocabulary=["a", "a", "b"]), "a token twice"),
    (lambda header, arrays: header.update(vocabulary="abc"), "not a list of tokens"),
    (lambda header, arrays: header.pop("layers"), "layers"),
]


def layout(**changes):
    return lambda header, arrays: header["layout"].update(changes)


TRANSFORMER_ROWS = [
    (lambda header, arrays: header.update(activation="tanh"), "its activation is 'tanh'"),
    (lambda header, arrays: header.update(layout=None), "its layout is None, and Layout was expected"),
    (lambda header, arrays: header.update(layout={}), ""),
    (layout(segments=[]), ""),
    (lambda header, arrays: header["layout"]["segments"].pop(0), "channel 'done' has dimensions 2..4"),
    (layout(output_name="nothing"), "a channel 'nothing', which it does not have"),
    (layout(heads=["parity_left", "nothing"]), "a channel 'nothing'"),
    (layout(queries=[True]), "its heads or its number of layers"),
    (layout(max_layers="many"), "its max_layers is 'many', and int was expected"),
    (layout(input_range=3), "tokens has shape"),
    (layout(position_range=9), "positions has shape"),
    (layout(number_steps=[[0, 0, 5]]), "head 0 has the expansion's units 0..5"),
    (layout(colour="red"), "colour"),
    (lambda header, arrays: arrays.update(mlp_out=arrays["mlp_out"].astype("f8")), "float64, and tokens float32"),
    (lambda header, arrays: header["origin"].update(options={}), "its origin is"),
]


def resized(array):
    return lambda header, arrays: arrays.update({array: arrays[array][1:].copy()})


def shape(**changes):
    return lambda header, arrays: header["shapes"].update(changes)


SIMPLE_RNN_ROWS = [
    (lambda header, arrays: arrays.pop("recurrent.rows"), "rows"),
    (resized("recurrent.numerators"), "do not go together"),
    (
        lambda header, arrays: arrays.update({"bias.numerators": arrays["bias.numerators"].astype("f4")}),
        "not fractions",
    ),
    (lambda header, arrays: arrays.update({"recurrent.rows": arrays["recurrent.rows"] + 100}), "lies outside"),
    (shape(bias=[5, 1]), "bias has shape"),
    (shape(recurrent=[2**40, 2**40]), "at most 10,000,000 units"),
    (shape(recurrent=[-1, 4]), "cannot have the shape"),
    (lambda header, arrays: header["denominators"].update(bias="0"), "not fractions"),
    (lambda header, arrays: header["denominators"].update(bias="__import__"), "invalid literal"),
    (lambda header, arrays: header.update(activation="exp"), "its activation is 'exp'"),
    (lambda header, arrays: header.update(activation="tanh"), "tanh of a rational"),
    (lambda header, arrays: header.update(alphabet=["a"]), "inputs has shape"),
    (lambda header, arrays: header.update(alphabet=["a", 1]), "its alphabet is"),
    (lambda header, arrays: header.update(threshold="1/0"), "Fraction(1, 0)"),
    (lambda header, arrays: header.update(threshold=float("nan")), "the threshold is nan"),
    (lambda header, arrays: header.update(threshold=float("inf")), "the threshold is inf"),
    (lambda header, arrays: header.update(threshold="1e999999999"), "more than 4,000 digits"),
    (lambda header, arrays: header.update(threshold="1e-999999999"), "more than 4,000 digits"),
    (lambda header, arrays: header.update(threshold="1" * 5000), "more than 4,000 digits"),
    (lambda header, arrays: header.update(threshold="half"), "half"),
    (lambda header, arrays: arrays.update({"reading.units": np.array([0])}), "the reading speaks of 1 units"),
    (lambda header, arrays: arrays.update({"reading.units": np.array([0, 1, 9, 0])}), "speaks of state number 9"),
    (lambda header, arrays: header["reading"].update(dead="q"), "its states are not described"),
]


def reading(**changes):
    return lambda header, arrays: header["reading"].update(changes)


def swapped(header, arrays):
    described = header["reading"]
    described["accept"], described["reject"] = described["reject"], described["accept"]


TURING_RNN_ROWS = [
    (lambda header, arrays: header.pop("reading"), "reading"),
    (reading(accept="nowhere"), "not among its states"),
    (reading(base=2), "its base, lead or limit is no number"),
    (reading(limit=9), "not those of a Turing machine's network"),
    (reading(symbols=[1, 2, 3]), ""),
    (lambda header, arrays: header["reading"]["symbols"].reverse(), ""),
    (swapped, "its outputs do not tell whether"),
    (lambda header, arrays: header["rnn"].update(threshold="1/0"), "Fraction(1, 0)"),
    (lambda header, arrays: arrays.pop("inner.rows"), "rows"),
    (lambda header, arrays: arrays.update({"reading.state_of": np.array([0, 1])}), "state_of of its reading"),
    (lambda header, arrays: arrays.update({"reading.left_of": arrays["reading.left_of"] + 90}), "left_of of its"),
    (lambda header, arrays: arrays.update({"inner.numerators": arrays["inner.numerators"] * 5}), "do not multiply"),
]
SHARED_ROWS = [
    (lambda header, arrays: header.update(output_name="sum"), "the output 'sum' is no variable; there are parity"),
    (lambda header, arrays: header.update(variables=[["parity", 9]]), "readings has 8 rows, and the variables have 12"),
    (lambda header, arrays: header.update(grows=1), "its grows is 1"),
    (lambda header, arrays: header.update(layers=-7), "its layers are -7"),
]

LEARNED_MLP_ROWS = [
    (lambda header, arrays: header.update(layout=None), "its layout is None, and Layout was expected"),
    (lambda header, arrays: header["layout"]["segments"].pop(0), "channel 'done' has dimensions 2..4"),
    (
        lambda header, arrays: header["layout"]["segments"][0]["channel"].update(per_step=True),
        "come after its variables",
    ),
    (layout(output_name="nothing"), "a channel 'nothing', which it does not have"),
    (layout(input_range=3), "tokens has shape"),
    (layout(position_range=9), "positions has shape"),
    (lambda header, arrays: header.update(grows=1), "its grows is 1"),
    (lambda header, arrays: header.update(layers=-7), "its layers are -7"),
    (
        lambda header, arrays: arrays.update({"mlp.output.weights": np.zeros((4, 20), "f4")}),
        "(4, 20), and (5, 20)",
    ),
    (lambda header, arrays: arrays.update({"mlp.hidden.2.bias": np.zeros(5, "f4")}), "mlp.hidden.2.weights is missing"),
]
ENCODER_ROWS = [
    (lambda header, arrays: header.update(layers=3), "stack has weights for 2 layers, and 3 or 1 were expected"),
    (lambda header, arrays: header.update(heads=4), "stack has queries of 6 numbers, which 4 heads do not share"),
    (lambda header, arrays: header.update(heads=3), "the distances are not those of 3 heads and 32 buckets"),
    (lambda header, arrays: header.update(places=6), "the positions are not the 6 that were expected"),
    (lambda header, arrays: arrays.pop("distances"), "the network needs either positions or distances"),
    (lambda header, arrays: header.update(output_name="sum"), "the output 'sum' is no variable; there are parity"),
]
ENCODER_DECODER_ROWS = [
    (lambda header, arrays: header.update(layers=3), "encoder has weights for 2 layers, and 3 or 1 were expected"),
    (lambda header, arrays: header.update(vocabulary=["jump", "jump"]), "its vocabulary are not 2 different words"),
    (lambda header, arrays: header.update(answers=["JUMP"]), "its answers are not 2 different words"),
    (lambda header, arrays: header.update(most=0), "its most is 0"),
    (lambda header, arrays: arrays.pop("distances"), "the network needs either positions or distances"),
    (
        lambda header, arrays: [arrays.pop(name) for name in [*arrays] if name.startswith("decoder.cross.")],
        "the decoder alone has a second attention, cross",
    ),
]
PLAIN_ROWS = [
    (layout(symbols=9), "tokens has shape"),
    (layout(positions=2), "positions has shape"),
    (layout(labels=["a"]), "its labels are 1, and"),
    (layout(heads=[]), "its heads are 0, and"),
    (layout(causal=1), "its causal is 1"),
    (lambda header, arrays: header["layout"]["output"].update(kind="number"), "is no category"),
    (lambda header, arrays: header["layout"]["output"].update(size=99), "readout has shape"),
    (lambda header, arrays: arrays.update(key=arrays["key"].astype("f8")), "key holds float64, and tokens float32"),
    (lambda header, arrays: arrays.pop("query"), "query"),
]
UNROLLED_ROWS = [
    (lambda header, arrays: header.update(activation="tanh"), "its activation is 'tanh'"),
    (layout(dims=[3, 2, 1]), "its dimensions are not some of the"),
    (layout(dims=[999]), "its dimensions are not some of the"),
    (layout(held=["nothing"]), "it names a channel that it does not have"),
    (lambda header, arrays: header["layout"]["layers"][0].update(heads=["sum"]), "a layer names a channel"),
    (lambda header, arrays: header["layout"]["layers"][0].update(queries=[]), "the heads of a layer are not described"),
    (lambda header, arrays: header["layout"]["layers"][0].update(number_steps=[[0, 0, 5]]), "no unit 4 in its expans"),
    (lambda header, arrays: header["layout"]["layers"].pop(), "it has 3 layers, and 2 were expected"),
    (lambda header, arrays: header["layout"]["program"].update(input_range=3), "tokens has shape"),
    (lambda header, arrays: header["layout"].update(causal=1), "its causal is 1"),
    (lambda header, arrays: arrays.pop("halt"), "halt is missing"),
    (lambda header, arrays: arrays.update(halt=arrays["halt"].astype("f8")), "halt holds float64, and tokens float32"),
    (lambda header, arrays: header.update(origin={"options": {"dtype": 3}, "digest": None}), "its origin is"),
]
ROWS = {
    "unrolled transformer": UNROLLED_ROWS,
    "plain transformer": PLAIN_ROWS,
    "transformer with a learned mlp": LEARNED_MLP_ROWS,
    "universal transformer": TRANSFORMER_ROWS,
    "shared transformer": SHARED_ROWS,
    "encoder": ENCODER_ROWS,
    "encoder-decoder": ENCODER_DECODER_ROWS,
    "simple rnn": SIMPLE_RNN_ROWS,
    "turing rnn": TURING_RNN_ROWS,
    "lstm": LSTM_ROWS,
    "transformer language model": TRANSFORMER_LM_ROWS,
    "nram": NRAM_ROWS,
    "ntm": NTM_ROWS,
    "neural gpu": NEURAL_GPU_ROWS,
}
EVERY = [
    (lambda header, arrays: header.update(version=9), "its version is 9, and this Kleene reads version 1"),
    (lambda header, arrays: header.pop("version"), "version"),
]
DECLARED = (
    "universal transformer", "unrolled transformer", "shared transformer", "transformer with a learned mlp", "encoder",
    "encoder-decoder", "lstm", "transformer language model", "nram", "ntm", "neural gpu",
)  # fmt: skip


def refused(folder, machine, change, complaint):
    """Check that the machine's file is refused after the change, by its own class and by `kleene.load`."""
    whole = folder / "whole"  # a test asks about one machine, often
    whole = whole if whole.exists() else machine.save(whole)
    kind = open_tensors(whole).kind
    header, arrays = read_tensors(whole, kind)
    change(header, arrays)
    header.pop("kind")
    file = write_tensors(folder / "broken", kind, header, arrays)
    for load in (type(machine).load, kleene.load):
        with pytest.raises(ModelFileError, match=rf"broken' does not hold a whole .*{re.escape(complaint)}"):
            load(file)


@pytest.mark.parametrize(("kind", "row"), [(kind, row) for kind, rows in ROWS.items() for row in [*EVERY, *rows]])
def test_a_file_that_does_not_fit_together_is_refused(tmp_path, kind, row):
    refused(tmp_path, MACHINES[kind], *row)


# How far a table of distances reaches, and how many positions a language model has, is their own affair.
FREE = {("relative", 1), ("positions", 0), ("distances", 1)}
FIRST = [
    *(MACHINES[kind] for kind in DECLARED),
    *(VARIANTS[which] for which in ("a Transformer with an expansion", "a learned MLP after an expansion")),
    VARIANTS["unrolled layers with expansions"],
]


def arrays_in(machine, folder):
    whole = machine.save(folder / "whole")
    return read_tensors(whole, open_tensors(whole).kind)[1]


@pytest.mark.parametrize("machine", FIRST, ids=lambda machine: type(machine).__name__)
def test_no_declared_array_may_be_missing_or_of_another_shape_or_type(tmp_path, machine):
    for name, array in arrays_in(machine, tmp_path).items():
        refused(tmp_path, machine, lambda header, arrays, name=name: arrays.pop(name), name.split(".")[0])
        axes = [axis for axis in range(array.ndim) if array.shape[axis] and (name.rpartition(".")[2], axis) not in FREE]
        for odd in (array[None], *(np.delete(array, 0, axis) for axis in axes)):
            refused(tmp_path, machine, lambda header, arrays, name=name, odd=odd: arrays.update({name: odd.copy()}), "")
        whole = array.astype(np.int32)
        refused(tmp_path, machine, lambda header, arrays, name=name, whole=whole: arrays.update({name: whole}), "int32")
    refused(tmp_path, machine, lambda header, arrays: arrays.update(more=array), "more not expected")


@pytest.mark.parametrize("kind", ["lstm", "nram", "ntm", "neural gpu", "transformer language model"])
def test_numbers_that_jax_would_round_are_refused(tmp_path, kind):
    machine = MACHINES[kind]
    name, array = next(iter(arrays_in(machine, tmp_path).items()))
    wide = array.astype(np.float64)
    refused(tmp_path, machine, lambda header, arrays: arrays.update({name: wide}), f"{name} holds float64, and")


@pytest.mark.parametrize("kind", ["lstm", "nram", "ntm", "neural gpu", "transformer language model"])
def test_several_machines_in_one_are_not_saved(tmp_path, kind):
    several = jax.tree.map(lambda leaf: np.stack([leaf, leaf]), MACHINES[kind])
    with pytest.raises(InputError, match="several machines in one"):
        several.save(tmp_path / "n")
    assert not (tmp_path / "n").exists()


@pytest.mark.parametrize("made", [LSTM.random([("a",), ("b",)], 2, key=KEY),
                                  TransformerLM.random([("a",), ("b",)], 2, 1, 1, key=KEY)])  # fmt: skip
def test_tokens_that_json_does_not_have_are_not_saved(tmp_path, made):
    with pytest.raises(InputError, match="only a vocabulary of strings and whole numbers"):
        made.save(tmp_path / "n")
    assert not (tmp_path / "n").exists()


MEMORY = [5, 1, 2, 0, 7, 3, 4, 8, 8]  # a list of three nodes, for list_k


def test_a_compiled_circuit_comes_back_as_the_machine_that_runs_it(tmp_path):
    from kleene.programs.circuits.library import get

    circuit = get("list_k").build()
    back = NRAM.load(kleene.compile(circuit).save(tmp_path / "n"))
    assert back.steps == circuit.steps == Steps(constant=5, cells=(1,))
    assert back.run(MEMORY) == circuit.run(MEMORY)


def test_a_machine_that_does_not_know_its_steps_stays_so(tmp_path):
    made = VARIANTS["an NRAM that does not say its steps"]
    back = NRAM.load(made.save(tmp_path / "n"))
    with pytest.raises(InputError, match="does not say how many steps"):
        back.run([1, 2, 0])
    assert back.run([1, 2, 0], steps=2) == made.run([1, 2, 0], steps=2)


def test_a_file_of_another_kind_or_cut_short_is_refused(tmp_path):
    file = MACHINES["ntm"].save(tmp_path / "n")
    with pytest.raises(ModelFileError, match="holds a ntm, and a nram was expected"):
        NRAM.load(file)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(ModelFileError, match="damaged or cut short"):
        kleene.load(file)
    assert NTM.load(MACHINES["ntm"].save(file)).width == 2
