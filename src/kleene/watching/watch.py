"""The verb `watch`: a page that steps through a run of a program, of its network, or of both."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase as fnmatch
from typing import Any

from kleene import kinds, naming
from kleene.errors import EditError, InputError, KleeneError
from kleene.notation.edits import Edit
from kleene.programs.alta.program import Program
from kleene.running import Outcome, read_edits, run, typed_input
from kleene.watching.cutting import Cut
from kleene.watching.document import ViewParts, check_size, document, with_edits
from kleene.watching.page import WatchPage

EXAMPLE = 5  # the size of a random input


def watch(
    subject: Any,
    input: Any = (),
    *,
    compiled: bool = False,
    both: bool = False,
    channels: str | None = None,
    positions: str | None = None,
    steps: str | None = None,
    edits: Sequence[Edit | str] = (),
    inputs: Any = None,
    **options: Any,
) -> WatchPage:
    """A page that steps through a run; it shows itself in a notebook, and `save` writes one file of HTML.

    Subject, input and options are those of `kleene.run`, but a circuit's number of steps is `max_steps`. Without an
    input, a transformer program runs on its example in the library, or on a random one of the inputs that it declares,
    or of `inputs`: what `alta.program_spec` takes, or FILE.py:NAME. With `compiled` the network is shown, with `both`
    program and network side by side. `channels` ("token,ptr_*"), `positions` ("0-39") and `steps` ("10-20") show a
    part. Under `edits` the page marks what differs from the run without them.

    >>> watch("parity_relative", "101")
    <WatchPage of parity_relative: 3 layers>
    """
    parts: dict[str, Any] = {"compiled": compiled, "both": both, "edits": edits, "inputs": inputs}
    parts |= {"channels": channels, "positions": positions, "steps": steps}
    found, left = naming.taken(subject, options)
    return watch_found(found, naming.name_of(subject), input, **parts, **left)


def watch_found(
    found: naming.Found,
    name: str,
    input: Any = (),
    *,
    compiled: bool = False,
    both: bool = False,
    channels: str | None = None,
    positions: str | None = None,
    steps: str | None = None,
    edits: Sequence[Edit | str] = (),
    inputs: Any = None,
    **options: Any,
) -> WatchPage:
    """The page of a program or network that was found already, under that name."""
    if compiled and both:
        raise InputError("--compiled shows the network and --both shows it beside the program; give one of the two")
    cut = Cut.read(channels, positions, steps)
    if found.kind.watched is None:
        shown = ", ".join(f"{kind.name}s" for kind in kinds.known() if kind.watched is not None)
        raise InputError(f"{name!r} is a {found.kind.name}, and pages show {shown}")
    if both and not found.is_program:
        raise InputError(f"{name!r} is a network already, and its program is not in it; leave --both out")
    given = {key: value for key, value in options.items() if value is not None}
    if "steps" in found.kind.run_options and "max_steps" in given:  # `steps` is the part that a page shows
        given["steps"] = given.pop("max_steps")
    running = {key: value for key, value in given.items() if key in found.kind.run_options}
    input = _some_input(found, name, inputs) if _is_empty(input) else input
    read = read_edits(edits, name, found, found.subject, running)
    given |= {"edits": read} if read else {}
    there = dict.fromkeys(options)  # None for what was not given, so that errors know which options there are
    own = running | {"edits": read} if both else given
    outcomes = [] if compiled else [_ran(found, name, input, **there | own)]
    if compiled or both:
        outcomes.append(_ran(found, name, input, compiled=True, **there | given))
    program = found.subject if found.is_program else None
    return page_of(outcomes, cut, _typed(input) or _typed(outcomes[0].input), program, running if read else None)


def _is_empty(input: Any) -> bool:
    return isinstance(input, (list, tuple)) and not input


def _some_input(found: naming.Found, name: str, inputs: Any) -> Any:
    """The example of a transformer program, or a random one of its inputs; nothing for other programs."""
    inputs = naming.inputs_in_file(inputs) if isinstance(inputs, str) and ".py:" in inputs else inputs
    program = kinds.lowered(found.subject) if found.is_program else None
    if not isinstance(program, Program):
        if inputs is not None:
            raise InputError(f"{name!r} is no transformer program, and --inputs is for these; type an input")
        return ()
    if inputs is None and found.entry is not None:
        return found.entry.example
    program = program if inputs is None else program.taking(inputs)
    tokens = () if program.inputs is None else program.inputs.sample(random.Random(0), EXAMPLE)
    return [program.alphabet[token] if program.alphabet and isinstance(token, int) else token for token in tokens]


def _ran(found: naming.Found, name: str, input: Any, **options: Any) -> Outcome:
    """The outcome of a run, as `kleene.run` has it for the name; what was found is not built again."""
    try:
        outcome = run(found.subject, typed_input(input, found.subject, found.entry, found.kind), **options)
    except InputError as error:
        if "how many steps it runs" in str(error):
            raise InputError(f"{name!r} does not say how many steps it runs; give --max-steps") from None
        raise
    return replace(outcome, name=name, entry=found.entry)


def _without_edits(outcome: Outcome, options: Mapping[str, Any]) -> Outcome | None:
    """The same run without its edits; None where that one fails."""
    try:
        trace = outcome.kind.runner(outcome.subject, outcome.input, name=outcome.name, **options)
    except KleeneError:
        return None
    return replace(outcome, trace=trace, edits=())


def page_of(
    outcomes: Sequence[Outcome],
    cut: Cut,
    typed: str,
    program: Any = None,
    options: Mapping[str, Any] | None = None,
) -> WatchPage:
    """The page of runs that were made already: one, or a program's and its network's on the same input.

    `typed` is the input as a person types it, and `program` the program, where it is known. With the `options` of the
    runs, those that had edits are run again without them, so that the page can mark what differs.
    """
    first = outcomes[0]
    assert first.kind.watched is not None
    traces = [outcome.trace for outcome in outcomes]
    check_size(traces, cut)
    parts: ViewParts = first.kind.watched(outcomes, cut, program)
    if parts.view == "sentence" and any(outcome.edits for outcome in outcomes):
        raise EditError("a page of a sentence shows which words interact, without edits; `kleene run` takes them")
    content = document(
        traces, parts, cut, kind=first.kind.name, title=_title(first.name), input=typed, answer=first.answer
    )
    patterns = first.kind.editable if parts.view != "sentence" else ()
    content["editable"] = [c.name for c in traces[0].channels if any(fnmatch(c.name, p) for p in patterns)]
    if options is not None:
        plain = [_without_edits(outcome, options) for outcome in outcomes]
        edits = [str(edit) for edit in first.edits]
        content = with_edits(content, cut, edits, [None if one is None else one.trace for one in plain])
        content["before"] = None if plain[0] is None else plain[0].answer
    return WatchPage(content)


def _title(name: str) -> str:
    """The name of a subject without the folder that its file lies in.

    >>> _title("runs/copy.safetensors"), _title("examples/caesar.py:program"), _title("dfa:a/b")
    ('copy.safetensors', 'caesar.py:program', 'dfa:a/b')
    """
    is_file = name.endswith(".safetensors") or name.partition(":")[0].endswith(".py")
    return name.rpartition("/")[2] if is_file else name


def _typed(given: Any) -> str:
    """An input as a person types it."""
    return given if isinstance(given, str) else " ".join(map(str, given))
