"""The verb `compile`: from a program to a machine that does exactly the same."""

from collections.abc import Mapping, Sequence
from typing import Any

from kleene import kinds
from kleene.errors import CompileError, InputError, typed_option
from kleene.kinds import Kind


def compile(program: Any, **options: Any) -> Any:
    """A machine that does exactly what the program does.

    - A transformer program becomes a `UniversalTransformer`; options: `dtype` ("float32", "float64", "bfloat16"),
      `rules` ("compact", "paper"), `activation` ("clipped", "relu"), `attention_scalar` (ALTA's λ, 100). With
      `layers="unrolled"` it becomes an `UnrolledTransformer`, whose layers have weights of their own; options:
      `max_length`, `causal`, `depth`.
    - A `DFA` becomes a `SimpleRNN` (Chiang's notes, Theorem 4.4), or an `LSTM`; options: `machine` ("rnn", "lstm"),
      `form` ("live", "textbook") and, for the RNN, `activation` ("relu", "slu"), `dtype` ("exact", "float32",
      "float64").
    - A `TuringMachine` becomes a `TuringRNN` (Theorem 4.11); options: `construction` ("compact", "merged"), `dtype`
      ("exact", "float32", "float64": floats hold tapes of limited length, and refuse longer ones).
    - A RASP program, or an s-op with `vocab` and `max_length` (and `causal`), becomes a `UniversalTransformer` too.
    - A `Circuit` becomes an `NRAM` whose controller makes the circuit's connections at every step.

    >>> import kleene
    >>> from kleene.programs.alta.library import parity
    >>> network = kleene.compile(parity.absolute(positions=8))
    >>> network.run([1, 0, 1]) == parity.absolute(positions=8).run([1, 0, 1])
    True
    """
    program, options = kinds.taken(program, options)
    kind = kinds.find(program)
    if kind is None or kind.compiler is None or not kind.is_program(program):
        raise TypeError(
            f"kleene.compile takes a program, such as alta.program_spec returns, a kleene.DFA or a "
            f"kleene.TuringMachine, and got {type(program).__name__}"
        )
    for name in options:
        if name not in kind.options:
            known = ", ".join((*kind.adoption, *kind.options)) or "none"
            raise CompileError(f"{kind.indefinite} has no compile option {name!r}; its options are {known}")
    return kind.compiler(program, **options)


def check_options(kind: Kind, options: Mapping[str, Any], *, name: str, also: Sequence[str] = ()) -> None:
    """Refuse an option that the kind of `name` does not have.

    One that is None was not given, as a command passes all of its own: the error then names only options among them.
    """
    known = (*also, *kind.options)
    unfit = next((key for key, value in options.items() if value is not None and key not in known), None)
    if unfit is not None:
        all_its_own = None in options.values()
        there = ", ".join(typed_option(key) for key in known if key in options or not all_its_own)
        raise InputError(f"{typed_option(unfit)} has no meaning for {name!r}; there are {there or 'none'}")
