"""From a program to a machine that does exactly the same, and the check that it does."""

from typing import Any


def compile(program: Any, **options: Any) -> Any:
    """The machine that does exactly what the program does.

    A transformer program becomes a `UniversalTransformer`; options: `dtype` ("float32", "float64", "bfloat16"),
    `rules` ("compact", "paper"), `activation` ("clipped", "relu").

    >>> import kleene
    >>> from kleene.programs.alta.library import parity
    >>> network = kleene.compile(parity.absolute(positions=8))
    >>> network.run([1, 0, 1]) == parity.absolute(positions=8).run([1, 0, 1])
    True
    """
    from kleene.programs.alta.program import Program

    if isinstance(program, Program):
        from kleene.compiling.transformer import compile_program

        return compile_program(program, **options)
    raise TypeError(
        f"kleene.compile takes a program, such as alta.program_spec returns, and got {type(program).__name__}"
    )
