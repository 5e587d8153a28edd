"""Transformer programs in the ALTA language: variables, attention heads, and an MLP as a Python function.

The names are those of ALTA, so that a program can be moved by changing the import line. From a function to a program,
each step with its modules:

    function ─ answers_of ──▶ cases     asking: it is run on all values of all that it reads
    rules    ─ cases_of ────▶ cases     rules.py, rule_tables.py
    cases    ─ program_spec ▶ Program   cases.py, sums.py, variables.py, definition.py, program.py
    Program  ─ run ─────────▶ Trace     interpreter.py (reference.py slow and plain)
"""

from kleene.programs.alta.asking.plain import apply as apply
from kleene.programs.alta.definition import halt_spec as halt_spec
from kleene.programs.alta.program import Program as Program
from kleene.programs.alta.program import program_spec as program_spec
from kleene.programs.alta.program import program_spec_from_rules as program_spec_from_rules
from kleene.programs.alta.rules import MLPBuilder as MLPBuilder
from kleene.programs.alta.rules import Rule as Rule
from kleene.programs.alta.variables import Head as Head
from kleene.programs.alta.variables import input_var as input_var
from kleene.programs.alta.variables import numeric_var as numeric_var
from kleene.programs.alta.variables import position_var as position_var
from kleene.programs.alta.variables import qkv as qkv
from kleene.programs.alta.variables import relative_v as relative_v
from kleene.programs.alta.variables import set_var as set_var
from kleene.programs.alta.variables import v_relative as v_relative
from kleene.programs.alta.variables import var as var
