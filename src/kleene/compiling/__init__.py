"""From a program to a machine that does exactly the same, and the check that it does."""

from typing import Any

from kleene.errors import CompileError

OPTIONS = {
    "transformer program": ("dtype", "rules", "activation"),
    "DFA": ("form", "activation", "dtype"),
    "TuringMachine": ("construction", "dtype"),
    "Circuit": (),
}


def compile(program: Any, **options: Any) -> Any:
    """The machine that does exactly what the program does.

    - A transformer program becomes a `UniversalTransformer`; options: `dtype` ("float32", "float64", "bfloat16"),
      `rules` ("compact", "paper"), `activation` ("clipped", "relu").
    - A `DFA` becomes a `SimpleRNN` (Theorem 4.4); options: `form` ("live", "textbook"), `activation` ("relu", "slu"),
      `dtype` ("exact", "float32", "float64").
    - A `TuringMachine` becomes a `TuringRNN` (Theorem 4.11); options: `construction` ("compact", "merged"), `dtype`
      ("exact", "float32", "float64": floats hold tapes of limited length, and refuse longer ones).
    - A `Circuit` becomes an `NRAM` whose controller wires it, step by step.

    >>> import kleene
    >>> from kleene.programs.alta.library import parity
    >>> network = kleene.compile(parity.absolute(positions=8))
    >>> network.run([1, 0, 1]) == parity.absolute(positions=8).run([1, 0, 1])
    True
    """
    from kleene.programs.alta.compat import Program as AltaProgram
    from kleene.programs.alta.program import Program
    from kleene.programs.automata import DFA
    from kleene.programs.circuits import Circuit
    from kleene.programs.turing import TuringMachine

    if isinstance(program, AltaProgram):
        program = program.lowered
    if isinstance(program, Program):
        _check_options("transformer program", options)
        from kleene.compiling.alta.compiler import compile_program

        return compile_program(program, **options)
    if isinstance(program, DFA):
        _check_options("DFA", options)
        return _compile_dfa(program, **options)
    if isinstance(program, Circuit):
        _check_options("Circuit", options)
        from kleene.compiling.circuits.compiler import compile_circuit

        return compile_circuit(program)
    if isinstance(program, TuringMachine):
        _check_options("TuringMachine", options)
        from kleene.compiling.turing import compile_turing

        return compile_turing(program, numbers=options.pop("dtype", "exact"), **options)
    raise TypeError(
        f"kleene.compile takes a program, such as alta.program_spec returns, a kleene.DFA or a kleene.TuringMachine, "
        f"and got {type(program).__name__}"
    )


def _compile_dfa(dfa: Any, *, dtype: str = "exact", **options: Any) -> Any:
    from kleene.compiling.automata.compiler import compile_dfa

    if dtype not in ("exact", "float32", "float64"):
        raise CompileError(f"an automaton is compiled to exact, float32 or float64 weights, not {dtype!r}")
    network = compile_dfa(dfa, **options)
    return network if dtype == "exact" else network.to_float(dtype)


def _check_options(kind: str, options: dict[str, Any]) -> None:
    for name in options:
        if name not in OPTIONS[kind]:
            known = ", ".join(OPTIONS[kind]) or "none"
            raise CompileError(f"a {kind} is compiled without an option {name!r}; there are {known}")
