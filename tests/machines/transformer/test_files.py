import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load, save

import kleene
from kleene.errors import ModelFileError
from kleene.machines import UniversalTransformer
from kleene.machines.weights import arrays_of
from kleene.programs import alta
from kleene.programs.alta.library import parity
from kleene.programs.alta.rules import RuleSet
from kleene.tensors import write_tensors
from tests.sealing import resealed, without_seal


def flip() -> alta.Program:
    """No heads, hence no probe; no positions, no halting."""

    def mlp(z):
        z["bit"] = 1 - z["bit"]

    return alta.program_spec({"bit": alta.input_var(2)}, {}, mlp, "bit", 2, max_layers=3)


PROGRAMS = {
    "halting, without positions": (parity.relative, [2, 1, 0, 1]),
    "halting, with positions": (lambda: parity.absolute(positions=8), [1, 0, 1]),
    "with an expansion, without halting": (lambda: parity.sum_modulo(most_ones=3), [2, 1, 0, 1]),
    "without heads": (flip, [1, 0, 1]),
}


@pytest.fixture(scope="module")
def network() -> UniversalTransformer:
    """One that has everything but an expansion."""
    return kleene.compile(parity.absolute(positions=8))


@pytest.fixture(scope="module")
def expanded() -> UniversalTransformer:
    return kleene.compile(parity.sum_modulo(most_ones=3))


def saved(network: UniversalTransformer, folder: Path) -> Path:
    path = folder / "network.safetensors"
    network.save(path)
    return path


def parts(path: Path) -> tuple[dict[str, np.ndarray], dict]:
    """The arrays and Kleene's header of a file, read without Kleene."""
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return dict(load(content)), json.loads(header["__metadata__"]["kleene"])


def rewritten(path: Path, arrays: dict[str, np.ndarray], header: dict) -> Path:
    path.write_bytes(resealed(save(arrays, {"kleene": json.dumps(header)})))
    return path


def all_arrays(network: UniversalTransformer) -> dict[str, np.ndarray | None]:
    probe = {} if network.probe is None else arrays_of(network.probe, "probe.")
    return network.weights() | {"halt": network.halt} | probe


@pytest.mark.parametrize("activation", ["clipped", "relu"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("which", PROGRAMS)
def test_a_saved_network_comes_back_with_equal_arrays_layout_and_runs(tmp_path, which, dtype, activation):
    build, tokens = PROGRAMS[which]
    network = kleene.compile(build(), dtype=dtype, activation=activation)
    found = UniversalTransformer.load(saved(network, tmp_path))
    assert (found.layout, found.activation, found.dtype) == (network.layout, activation, dtype)
    before, after = all_arrays(network), all_arrays(found)
    assert before.keys() == after.keys()
    for name, array in before.items():
        if array is None:
            assert after[name] is None
        else:
            assert (after[name].dtype, after[name].shape) == (array.dtype, array.shape), name
            assert after[name].tobytes() == array.tobytes(), name
    assert found.size == network.size
    if dtype != "bfloat16" or activation == "clipped":  # those run in jax, which compiles: half of them will do
        assert found.run(tokens).difference(network.run(tokens)) is None


def test_the_networks_that_are_saved_here_have_and_lack_every_part(network, expanded):
    headless, relative = kleene.compile(flip()), kleene.compile(parity.relative())
    assert network.expansion is headless.expansion is None
    assert expanded.expansion is not None
    assert headless.probe is None
    assert network.probe is not None
    assert relative.positions is None
    assert network.positions is not None
    assert expanded.halt is None
    assert network.halt is not None


def test_a_network_is_an_ordinary_safetensors_file(network, tmp_path):
    arrays, header = parts(saved(network, tmp_path))
    assert np.array_equal(arrays["mlp_in"], network.mlp_in)
    assert header["layout"]["segments"][0]["channel"]["name"] == "parity"


def test_a_truncated_network_file_is_refused_with_a_clear_message(network, tmp_path):
    path = saved(network, tmp_path)
    content = path.read_bytes()
    for length in [*range(0, 64), *range(64, len(content), 997), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match=r"network\.safetensors' is .*make it again"):
            UniversalTransformer.load(path)


def test_a_network_file_with_something_after_its_end_is_refused(network, tmp_path):
    path = saved(network, tmp_path)
    path.write_bytes(path.read_bytes() + b"more")
    with pytest.raises(ModelFileError, match="damaged"):
        UniversalTransformer.load(path)


@pytest.mark.filterwarnings("ignore:.* has no checksum")
@given(data=st.data())
def test_a_changed_byte_in_the_header_gives_a_network_or_is_refused(network, tmp_path_factory, data):
    path = saved(network, tmp_path_factory.mktemp("changed"))
    content = bytearray(without_seal(path.read_bytes()))
    place = data.draw(st.integers(0, 8 + int.from_bytes(content[:8], "little") - 1))
    content[place] = data.draw(st.integers(0, 255) | st.sampled_from(b'0123456789"[]{},'))
    path.write_bytes(content)
    try:
        found = UniversalTransformer.load(path)
    except ModelFileError:
        return
    assert isinstance(found, UniversalTransformer)


def test_a_changed_length_of_the_header_is_refused(network, tmp_path):
    path = saved(network, tmp_path)
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    for wrong in (0, 1, length - 1, length + 1, len(content), 2**63):
        path.write_bytes(wrong.to_bytes(8, "little") + content[8:])
        with pytest.raises(ModelFileError, match="is damaged"):
            UniversalTransformer.load(path)


def test_a_rule_set_is_not_a_network_and_a_network_is_not_a_rule_set(network, tmp_path):
    parity.relative().rules().save(tmp_path / "rules.safetensors")
    with pytest.raises(ModelFileError, match="holds a rule set, and a universal transformer was expected"):
        UniversalTransformer.load(tmp_path / "rules.safetensors")
    with pytest.raises(ModelFileError, match="holds a universal transformer, and a rule set was expected"):
        RuleSet.load(saved(network, tmp_path))


class Trap:
    """An object whose unpickling leaves a mark."""

    def __reduce__(self):
        return (Path.touch, (Path("sprung"),))


@pytest.mark.parametrize("kind", [UniversalTransformer, RuleSet])
@pytest.mark.parametrize("content", [b"", b"hello", pickle.dumps(Trap()), pickle.dumps({"tokens": [1.0]}), bytes(1000)])
def test_a_file_of_something_else_is_refused_and_nothing_in_it_is_run(tmp_path, monkeypatch, kind, content):
    monkeypatch.chdir(tmp_path)
    Path("x.safetensors").write_bytes(content)
    told = ": it looks like one of torch.save or pickle" if content.startswith(b"\x80") else ", or it is damaged"
    with pytest.raises(ModelFileError, match=rf"'x\.safetensors' is not a file that Kleene wrote{told}"):
        kind.load("x.safetensors")
    assert not Path("sprung").exists()


@pytest.mark.parametrize("kind", [UniversalTransformer, RuleSet])
def test_a_missing_file_and_a_folder_are_refused(tmp_path, kind):
    with pytest.raises(ModelFileError, match=r"there is no file '.*nowhere'"):
        kind.load(tmp_path / "nowhere")
    with pytest.raises(ModelFileError, match="cannot be read"):
        kind.load(tmp_path)


@pytest.mark.parametrize("which", PROGRAMS)
def test_a_saved_rule_set_comes_back(tmp_path, which):
    rules = PROGRAMS[which][0]().rules()
    rules.save(tmp_path / "rules.safetensors")
    found = RuleSet.load(tmp_path / "rules.safetensors")
    assert (found.variables, len(found)) == (rules.variables, len(rules))
    for name in ("antecedents", "targets", "results"):
        assert np.array_equal(getattr(found, name), getattr(rules, name))


@pytest.mark.parametrize("name", ["antecedents", "targets", "results"])
def test_a_rule_set_without_one_of_its_arrays_is_refused_and_it_is_named(tmp_path, name):
    parity.relative().rules().save(tmp_path / "rules.safetensors")
    arrays, header = parts(tmp_path / "rules.safetensors")
    del arrays[name]
    with pytest.raises(ModelFileError, match=f"'{name}' is missing"):
        RuleSet.load(rewritten(tmp_path / "x", arrays, header))


def test_a_truncated_rule_set_is_refused(tmp_path):
    path = tmp_path / "rules.safetensors"
    parity.relative().rules().save(path)
    content = path.read_bytes()
    for length in range(0, len(content), 5):
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match="make it again"):
            RuleSet.load(path)


def test_a_rule_set_whose_arrays_do_not_fit_together_is_refused(tmp_path):
    zeros = np.zeros((2, 3), np.int32)
    odd = {"antecedents": zeros, "targets": zeros[0], "results": zeros}
    for variables, arrays in ((3, odd), (["a"], odd)):
        write_tensors(tmp_path / "x", "rule set", {"variables": variables}, arrays)
        with pytest.raises(ModelFileError):
            RuleSet.load(tmp_path / "x")
