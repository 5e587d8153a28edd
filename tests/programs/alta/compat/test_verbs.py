"""ALTA programs with the names of the paper's listings, and Kleene's verbs on programs with ALTA's own semantics."""

import itertools

import pytest

import kleene
from kleene.errors import ProgramError
from kleene.explaining.programs.learnable import learnable
from kleene.explaining.programs.minimal import minimal
from kleene.programs.alta import compat as pb
from kleene.teaching.lessons import lesson
from tests.programs.alta.compat.files import parity

WORDS = [bits for size in (1, 2, 3, 4) for bits in itertools.product(range(2), repeat=size)]


def as_printed(**names):
    """Parity with the parameter names of the paper's figures, which differ from those of ALTA's code."""

    def ffn_fn(z):
        if not z["done"] and z["done_before"]:
            z["bit"] = z["bit_before"] ^ z["bit"]
            z["done"] = 1

    variables = {
        "bit": pb.var(range=2, input_init_fn=lambda x: x),
        "done": pb.var(range=2, position_init_fn=lambda x: x == 0),
    }
    heads = {"bit_before": pb.relative_v("bit", -1), "done_before": pb.v_relative("done", -1)}
    return pb.program_spec(vars=variables, heads=heads, ffn_fn=ffn_fn, input_range=2, **names)


@pytest.mark.parametrize("positions", ["position_range", "pos_range"])
def test_a_program_is_built_by_the_names_of_the_paper(positions):
    program = as_printed(output="bit", halt_spec=pb.halt_spec("done", 1), **{positions: 20})
    activations = pb.initialize_activations(program, [1, 0, 1, 1])
    assert pb.run_transformer(program, activations, max_layers=None) == [1, 1, 0, 1]
    assert kleene.compile(program).run([1, 0, 1, 1]).output == [1, 1, 0, 1]


def test_a_parameter_is_given_by_one_of_its_names():
    with pytest.raises(ProgramError, match="'output' and 'output_name' mean the same"):
        as_printed(output="bit", output_name="bit", pos_range=20)


def test_numbers_have_the_paper_s_name_too():
    assert pb.numerical_var(values=(1, 0)) == pb.numeric_var(values=(0, 1))


@pytest.mark.parametrize("build", [parity.absolute, parity.absolute_rules])
def test_the_minimal_version_of_an_alta_program_does_what_it_does(build):
    program = build()
    found = minimal(program, WORDS)
    assert [found.program.run(w).output for w in WORDS] == [program.lowered.run(w).output for w in WORDS]
    assert not learnable(program, WORDS, [[1] * 9])


@pytest.mark.parametrize("machine", ["mlp", "transformer"])
def test_an_alta_program_is_taught(machine):
    assert lesson(parity.absolute(longest=60), machine).name.startswith("_running")
