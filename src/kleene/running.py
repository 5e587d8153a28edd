"""The verb `run`, on typed input too; compiling with a report of sizes; and the list of all that can be run."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from kleene import kinds, naming
from kleene.compiling import check_options, compile
from kleene.errors import EditError, InputError, typed_option
from kleene.kinds import Kind
from kleene.limits import peak_memory_mb
from kleene.notation.console import Entry, Telling
from kleene.notation.edits import Edit
from kleene.traces import Trace
from kleene.traces.markup import html_facts, html_text
from kleene.traces.storage import as_json

FROM = "from:"  # before the input of another run, in an edit


@dataclass(frozen=True)
class Outcome:
    """A run: the subject, its input, the trace, and the answer for people and as plain data.

    >>> outcome = run("addition", "12 34", compiled=True)
    >>> outcome.answer, outcome.trace.steps
    ('46', 5)
    """

    name: str
    kind: Kind
    subject: Any
    entry: Entry | None
    input: Any
    trace: Trace
    seconds: float
    edits: tuple[Edit, ...] = ()  # the interventions on the run

    @property
    def compiled(self) -> bool:
        """Whether a network ran, rather than its program."""
        return not self.kind.is_program(self.subject)

    @cached_property
    def telling(self) -> Telling:
        return self.kind.telling(self)

    @property
    def output(self) -> Any:
        return self.telling.facts["output"]

    @property
    def answer(self) -> str:
        """The output in the form that people read."""
        return self.telling.answer

    @property
    def closing(self) -> str:
        """A line that says what ran and how long it took."""
        runner = "network" if self.compiled else self.kind.noun
        return f"{runner} {self.telling.deed} in {self.seconds * 1000:.1f} ms{self.telling.remark}"

    def table(self) -> Any:
        """The trace as a table for the terminal, or as lines of text."""
        from kleene.traces.tables import as_table  # rich takes time to import

        if self.telling.lines is not None:
            return "\n".join(self.telling.lines(200, None))
        shown = tuple(c for c in self.trace.channels if c.name not in self.telling.hidden)
        return as_table(replace(self.trace, channels=shown) if self.telling.hidden else self.trace)

    def as_json(self, *, with_trace: bool = False) -> dict[str, Any]:
        typed = list(self.input) if isinstance(self.input, tuple) else self.input
        facts = {"program": self.name, "input": typed} | dict(self.telling.facts)
        facts |= {"edits": [str(edit) for edit in self.edits]} if self.edits else {}
        facts |= {"compiled": self.compiled, "seconds": round(self.seconds, 6)}
        if not with_trace:
            return facts
        return facts | ({"trace": as_json(self.trace)} if self.telling.stored is None else self.telling.stored())

    def __str__(self) -> str:
        return f"{self.answer}\n{self.closing}"

    def __repr__(self) -> str:
        return f"<Outcome of {self.name}: {self.answer}>"

    def _repr_html_(self) -> str:
        return html_text(self) + self.trace._repr_html_()


def run(
    subject: Any, input: Any = (), *, compiled: bool = False, edits: Sequence[Edit | str] = (), **options: Any
) -> Outcome:
    """Run a program or a network; with `compiled`, compile the program and run its network.

    `subject` is a program or network, or what the command line calls one: "addition", "dfa:(a|b)*abb", "tm:copy",
    "model.safetensors". `input` is the subject's own (tokens, a word, a memory), or typed as on the command line.
    Options are those of the kind's run (`max_layers`, `max_steps`, `steps`) and, if compiled, of `kleene.compile`; an
    s-op of RASP needs `vocab` and `max_length`. `edits` are interventions on the way, each a `kleene.Edit` or typed:
    "parity@3,5=1", or "parity@3,5=from:110" for the value that a run on another input has there.
    """
    found, options = naming.taken(subject, options)
    name = naming.name_of(subject)
    how, making = _split(name, found, options, compiled)
    runner = compile(found.subject, **making) if compiled and found.is_program else found.subject
    entered = typed_input(input, runner, found.entry, found.kind)
    read = read_edits(edits, name, found, runner, how)
    how |= {"edits": read} if read else {}
    started = time.perf_counter()
    trace = found.kind.runner(runner, entered, name=name, **how)
    seconds = time.perf_counter() - started
    return Outcome(name, found.kind, runner, found.entry, entered, trace, seconds, read)


def read_edits(
    edits: Sequence[Edit | str], name: str, found: naming.Found, runner: Any, how: Mapping[str, Any]
) -> tuple[Edit, ...]:
    """The edits as `Edit`s; typed ones may name another input, on which the subject is run for their values."""
    if edits and not found.kind.editable:
        raise EditError(f"{name!r} is {found.kind.indefinite}, whose runs take no edits")
    read = [Edit.parse(edit) if isinstance(edit, str) else edit for edit in edits]
    for place, edit in enumerate(read):
        if isinstance(edit.value, str) and edit.value.startswith(FROM):
            other = typed_input([edit.value.removeprefix(FROM)], runner, found.entry, found.kind)
            source = found.kind.runner(runner, other, name=name, **how)
            places = {"layer": edit.layer, "position": edit.position}
            read[place] = Edit(edit.name, **places, source=source, origin=edit.value)
    return tuple(read)


def typed_input(given: Any, subject: Any, entry: Entry | None = None, kind: Kind | None = None) -> Any:
    """Typed words as an input of the subject; anything else is returned unchanged. `kind` is the subject's, if known.

    >>> typed_input("110", naming.find("dfa:1*0").subject), typed_input([1, 0], naming.find("sort").subject)
    ('110', [1, 0])
    """
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        return given
    if entry is not None and entry.read is not None:
        return entry.read(words)
    return (kind or kinds.of(subject)).read(words, subject)


def _split(
    name: str, found: naming.Found, options: Mapping[str, Any], compiled: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of the run, and those of the compiler; an option that has no meaning here is refused."""
    check_options(found.kind, options, also=found.kind.run_options, name=name)
    given = {key: value for key, value in options.items() if value is not None}
    making = {key: value for key, value in given.items() if key not in found.kind.run_options}
    if making and not found.is_program:
        first = typed_option(next(iter(making)))
        raise InputError(f"{first} says how to compile a program, and {name!r} is a network already; leave it out")
    if making and not compiled:
        first = typed_option(next(iter(making)))
        raise InputError(f"{first} says how to compile a program; add --compiled to run the network")
    return {key: value for key, value in given.items() if key not in making}, making


@dataclass(frozen=True)
class Compiled:
    """A network, with its size and what compiling it cost."""

    network: Any
    facts: Mapping[str, Any]

    def __str__(self) -> str:
        facts = self.facts.items()
        return "\n".join(f"{key:16} {value:,}" if type(value) is int else f"{key:16} {value}" for key, value in facts)

    def _repr_html_(self) -> str:
        return html_facts(self.facts)

    def __repr__(self) -> str:
        return f"<Compiled {self.facts['program']}: {self.network!r}>"

    def as_json(self) -> dict[str, Any]:
        return dict(self.facts)

    def saved(self, path: Any) -> "Compiled":
        """Save the network; the result also names the file."""
        self.network.save(path)
        return replace(self, facts={**self.facts, "file": str(path)})


def compiled(subject: Any, **options: Any) -> Compiled:
    """Compile a program, and measure the network's size, the seconds and the memory."""
    found, options = naming.taken(subject, options)
    name = naming.name_of(subject)
    if isinstance(found.kind.compiler, kinds.late):
        kinds.resolved(found.kind.compiler.reference)  # import first, because the seconds should be those of compiling
    started = time.perf_counter()
    if not found.is_program:
        raise InputError(f"{name!r} is a network already; compile takes a program")
    check_options(found.kind, options, name=name)
    chosen = {key: value for key, value in options.items() if value is not None}
    network = compile(found.subject, **chosen)
    seconds = round(time.perf_counter() - started, 4)
    defaults = {key: found.kind.options[key][0] for key in found.kind.stated}
    facts = {"program": name, **defaults, **chosen, **found.kind.sizes(network)}
    return Compiled(network, facts | {"seconds": seconds, "peak_memory_mb": peak_memory_mb()})


def listed() -> list[dict[str, Any]]:
    """A row for every program and network of the shelves, with an input to try it on."""
    return [
        {"name": name, "summary": entry.summary, "example": list(entry.example), "kind": kind.name}
        for name, entry, kind in naming.shelves()
    ]


def as_typed(words: Sequence[str], subject: Any) -> str:
    """The words as they were typed: the default `Kind.read`."""
    return " ".join(words)


def plain_run(subject: Any, entered: Any, *, name: str, **options: Any) -> Trace:
    """The subject's own run: the default `Kind.runner`."""
    return subject.run(entered, **options)


def plain_telling(outcome: Outcome) -> Telling:
    """The output and the number of steps: the default `Kind.telling`."""
    output = outcome.trace.labelled_output
    answer = " ".join(map(str, output)) if isinstance(output, list) else str(output)
    facts = {"output": output, "steps": outcome.trace.steps}
    return Telling(facts, answer, f"took {outcome.trace.steps} steps")


def plain_sizes(network: Any) -> dict[str, Any]:
    """The machine's own `size`: the default `Kind.sizes`."""
    return asdict(network.size)
