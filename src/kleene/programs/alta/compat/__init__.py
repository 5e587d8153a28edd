"""ALTA's own names and semantics, so that a program file for ALTA runs after changing only its import lines.

`from kleene.programs.alta import compat as pb` stands for ALTA's `program_builder`, and likewise for its modules
`program`, `mlp_rules`, `mlp_logger`, `program_utils`, `interpreter_utils`, `logger_utils`, `trace_utils`,
`compiler_config`, `compiler_utils` and `transformer_utils`: what programs and their tests call is here. Listings of the
ALTA paper run as they are printed.

`kleene.programs.alta` refuses a program that could write out of range or in conflict. Here, as in ALTA, that is an
error of the run in which it happens: a write that never happens is no error.

    MLPBuilder, program_spec ─▶ AltaProgram   specs.py, mlp.py, parts.py, program.py
    run_program              ─▶ outputs       interpreter.py, logs.py
    AltaProgram.lowered      ─▶ Program       lowering.py: Kleene's, to compile and explain
"""

from importlib import import_module
from typing import Any

from kleene.programs.alta.compat.interpreter import extract_traces as extract_traces
from kleene.programs.alta.compat.interpreter import initialize_activations as initialize_activations
from kleene.programs.alta.compat.interpreter import run_program as run_program
from kleene.programs.alta.compat.logs import ActivationsLogger as ActivationsLogger
from kleene.programs.alta.compat.logs import FFNTrace as FFNTrace
from kleene.programs.alta.compat.logs import read_traces_jsonl as read_traces_jsonl
from kleene.programs.alta.compat.logs import trace_from_dict as trace_from_dict
from kleene.programs.alta.compat.logs import write_traces_jsonl as write_traces_jsonl
from kleene.programs.alta.compat.mlp import RHS as RHS
from kleene.programs.alta.compat.mlp import AltaMLPBuilder as AltaMLPBuilder
from kleene.programs.alta.compat.mlp import AltaRule as AltaRule
from kleene.programs.alta.compat.mlp import LHSAtom as LHSAtom
from kleene.programs.alta.compat.mlp import MLPLogger as MLPLogger
from kleene.programs.alta.compat.mlp import RuleSet as RuleSet
from kleene.programs.alta.compat.program import AltaProgram as AltaProgram
from kleene.programs.alta.compat.program import program_spec as program_spec
from kleene.programs.alta.compat.program import program_spec_from_rules as program_spec_from_rules
from kleene.programs.alta.compat.specs import RELATIVE_QK as RELATIVE_QK
from kleene.programs.alta.compat.specs import Activations as Activations
from kleene.programs.alta.compat.specs import AttentionHead as AttentionHead
from kleene.programs.alta.compat.specs import CategoricalAttentionHeadSpec as CategoricalAttentionHeadSpec
from kleene.programs.alta.compat.specs import CategoricalVarSpec as CategoricalVarSpec
from kleene.programs.alta.compat.specs import HaltSpec as HaltSpec
from kleene.programs.alta.compat.specs import NumericalAttentionHeadSpec as NumericalAttentionHeadSpec
from kleene.programs.alta.compat.specs import NumericalVarSpec as NumericalVarSpec
from kleene.programs.alta.compat.specs import SetVarSpec as SetVarSpec
from kleene.programs.alta.compat.specs import VariablesMap as VariablesMap
from kleene.programs.alta.compat.specs import VarSpec as VarSpec
from kleene.programs.alta.compat.specs import VarValue as VarValue
from kleene.programs.alta.compat.specs import numeric_var as numeric_var
from kleene.programs.alta.compat.specs import numerical_var as numerical_var
from kleene.programs.alta.compat.specs import set_var as set_var
from kleene.programs.alta.definition import halt_spec as halt_spec
from kleene.programs.alta.variables import input_var as input_var
from kleene.programs.alta.variables import position_var as position_var
from kleene.programs.alta.variables import qkv as qkv
from kleene.programs.alta.variables import relative_v as relative_v
from kleene.programs.alta.variables import v_relative as v_relative
from kleene.programs.alta.variables import var as var

# ALTA's names for these
Program, Rule, MLPBuilder = AltaProgram, AltaRule, AltaMLPBuilder
_LATE = ("Config", "Parameters", "compile_transformer", "run_network", "run_transformer")


def __getattr__(name: str) -> Any:
    """The names that compile programs and run networks: imported late, because programs do not import compiling."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("kleene.compiling.alta.compat_networks"), name)
