"""Random interventions on transformer programs, for the tests of programs and of networks."""

import random

from kleene.errors import HaltError, InputError, RunError, UndefinedAttentionError
from kleene.notation.edits import Edit


def some_places(rng: random.Random, first: int, count: int):
    """One place, several, or all."""
    choice = rng.random()
    if choice < 0.6:
        return rng.randrange(first, count)
    return None if choice < 0.8 else tuple(sorted(rng.sample(range(first, count), rng.randint(1, count - first))))


def random_edits(rng: random.Random, program, plain, other=None) -> list[Edit]:
    """One to three edits of variables and heads' outputs, in the layers of the plain run, perhaps from another run."""
    edits = []
    for _ in range(rng.randint(1, 3)):
        name = rng.choice([*program.domains])
        first, positions = (1 if name in program.heads else 0), plain[program.output_name].shape[1]
        if plain.steps < first:
            continue
        position = some_places(rng, 0, positions)
        if other is not None and other.steps >= first and rng.random() < 0.4:
            layer = rng.randint(first, min(plain.steps, other.steps))
            if _is_defined(other, name, layer):
                edits.append(Edit.from_run(name, other, layer=layer, position=position))
                continue
        value = rng.choice(program.domains[name].domain)
        edits.append(Edit(name, layer=some_places(rng, first, plain.steps + 1), position=position, value=value))
    return edits


def _is_defined(trace, name, layer) -> bool:
    entries = trace[name][layer]
    kind = trace.channel(name).kind
    return kind == "set" or bool((entries >= 0).all() if kind == "category" else (entries == entries).all())


def outcome(run):
    """The trace of a run, or the error that ended it."""
    try:
        return run()
    except (UndefinedAttentionError, HaltError, InputError) as error:
        return error
    except RunError as error:
        raise AssertionError(f"an unexpected refusal: {error}") from error


def disagreement(first, second) -> str | None:
    """How two outcomes differ: in the trace, or in the error and where it was met.

    Where two heads are undefined at once, the reference names the one that the function looked at first.
    """
    if isinstance(first, Exception) or isinstance(second, Exception):
        return None if _fault(first) == _fault(second) else f"{first!r}\n  but\n{second!r}"
    return first.difference(second)


def _fault(found):
    if isinstance(found, UndefinedAttentionError):
        return "undefined", found.layer, found.position
    return str(found)
