"""The check that a program, its network and independent references agree: whole traces, not outputs alone."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from kleene import kinds, naming
from kleene.compiling import check_options, compile
from kleene.errors import HaltError, InputError, OutgrownError, RunError, UndefinedAttentionError, typed_option
from kleene.kinds import RASP, TRANSFORMERS
from kleene.programs.alta.inputs import declared, some_inputs
from kleene.programs.alta.program import Program
from kleene.traces import Trace
from kleene.traces.markup import html_facts
from kleene.traces.values import exact, is_same

REFERENCE = "reference"
MANY = 0.1  # the share of inputs that do not run from which a report warns
ADVICE = "say which inputs it takes, with inputs=… of alta.program_spec or kleene.check (--inputs FILE.py:NAME)"
Ended = Trace | RunError  # how a run ended: with a trace, or with an error


@dataclass(frozen=True)
class CheckReport:
    """How many inputs were compared, on how many everything agreed, and the first disagreement in words.

    `compared` names what was compared, a reference among it if there was one. Two counts are of further inputs:
    `errors`, on which all runs ended with the same error, and `refused`, on which nothing was compared, because the
    network refused (it cannot be exact there) or the program itself did. A report is true if every input that ran
    agreed, and at least one ran.
    """

    program: str
    agree: int
    of: int
    first_disagreement: str | None
    seconds: float
    refused: int = 0
    compared: tuple[str, ...] = ()
    errors: int = 0
    first_error: str | None = None

    @property
    def tried(self) -> int:
        """How many inputs there were."""
        return self.of + self.errors + self.refused

    @property
    def warning(self) -> str | None:
        """What is wrong with the inputs, if more than a tenth of them did not run."""
        left = self.errors + self.refused
        if left <= MANY * self.tried:
            return None
        return f"{self.program}: {left} of {self.tried} inputs did not run, so that little was compared; {ADVICE}"

    @property
    def has_reference(self) -> bool:
        """Whether an independent reference was compared, which knows only what the program should do."""
        return REFERENCE in self.compared

    def __bool__(self) -> bool:
        return self.agree == self.of > 0

    def __str__(self) -> str:
        mark = "DISAGREE" if self.agree < self.of else "agree" if self.of else "NONE RAN"
        mark += f", {self.refused} refused by network or program" if self.refused else ""
        shown = f"{self.program:26} {self.agree:5} of {self.of:5} {mark}  ({self.seconds:.1f} s)"
        if not self.errors:
            return shown
        return f"{shown}\n{self.of} of {self.tried} ran; {self.errors} ended with the same error: {self.first_error}"

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"warning": self.warning}

    def _repr_html_(self) -> str:
        facts = {"agree": f"{self.agree:,} of {self.of:,}", "refused": self.refused}
        facts |= {"ended with the same error": f"{self.errors:,}, the first: {self.first_error}"} if self.errors else {}
        facts |= {"compared": ", ".join(self.compared), "first disagreement": self.first_disagreement or "none"}
        return html_facts(facts | {"seconds": round(self.seconds, 1)}, caption=self.program)


def check(
    program: Any,
    *,
    name: str | None = None,
    samples: int = 100,
    max_length: int = 8,
    seed: int = 0,
    network: Any = None,
    reference: Callable[[Any], Any] | None = None,
    inputs: Any = None,
    on_input: Callable[[], None] | None = None,
    **options: Any,
) -> CheckReport:
    """Compare a program, its network and independent references on the shortest inputs and on random longer ones.

    `program` is a program of any kind, an entry of a shelf, which has its own reference, or the name of one. Whole
    traces are compared, and the errors of runs that end with one. `inputs` are the inputs themselves, or what they are
    drawn from, as for `alta.program_spec`; by default they are those that the program declares. `reference` computes
    the output independently, from the input alone. `on_input` is called after each input; `options` go to
    `kleene.compile`. An s-op of RASP needs `vocab`, and is compiled for `max_length`.

    >>> bool(check("parity_relative", samples=5, max_length=4))
    True
    """
    started = time.perf_counter()
    subject, entry = naming.looked_up(program)
    needs_length = kinds.is_relative(subject) and "max_length" in kinds.of(subject).adoption  # as an s-op does
    own_length = {"max_length": max_length} if needs_length else {}
    built, options = kinds.taken(subject, options | own_length)
    found = naming.Found(built, entry, kinds.of(built))
    kind = found.kind
    if not found.is_program or kind.inputs is None:
        raise TypeError(f"kleene.check takes a program that can be compiled, and got {type(built).__name__}")
    name = name or naming.name_of(program)
    tried = _inputs(found, inputs, samples, max_length, seed)
    if options.get("layers") == "unrolled" and "max_length" not in kind.adoption:  # a size may not be a length
        options["max_length"] = max(map(len, tried), default=1)
    networks = [network] if network is not None else (kind.networks or _one_network)(built, **options)
    judges = {} if kind.judges is None else kind.judges(built, found.entry, reference)
    by_program, *by_network = (outcomes(partial(one.run_batch, **kind.limits), tried) for one in (built, *networks))
    problems: list[str | None] = []
    errors: list[str] = []
    for entered, mine, *theirs in zip(tried, by_program, *by_network):
        exact = [(run, _held(one, mine)) for run, one in zip(theirs, networks) if not isinstance(run, OutgrownError)]
        if exact and not (kind.partial and isinstance(mine, RunError)):
            problem = _disagreement(entered, mine, exact, judges)
            if problem is None and isinstance(mine, RunError):
                errors.append(f"on {_shown(entered)}, {mine}")
            else:
                problems.append(problem and f"{name} on {_shown(entered)}: {problem}")
        if on_input is not None:
            on_input()
    refused = len(tried) - len(problems) - len(errors)
    if kind.whole is not None:
        apart = [kind.whole(built, one) for one in networks]
        problems += [problem and f"{name}: {problem}" for problem in apart]
    compared = (*kind.compared, *([REFERENCE] if REFERENCE in judges else []))
    first, first_error = next(filter(None, problems), None), next(iter(errors), None)
    seconds = round(time.perf_counter() - started, 3)
    return CheckReport(
        name, problems.count(None), len(problems), first, seconds, refused, compared, len(errors), first_error
    )


def _inputs(found: naming.Found, given: Any, samples: int, max_length: int, seed: int) -> list[Any]:
    """The inputs to run: the given ones, or as many as wanted of the language that was given or is the program's."""
    if given is None:
        assert found.kind.inputs is not None
        return list(found.kind.inputs(found.subject, found.entry, samples, max_length, seed))
    if isinstance(given, Iterable) and not isinstance(given, str):
        return list(given)
    program = kinds.lowered(found.subject)
    if isinstance(program, Program):
        language = program.taking(given).words
    else:
        language = declared(given, {symbol: symbol for symbol in getattr(found.subject, "alphabet", ())})
    return some_inputs(language, samples, max_length, seed)


def check_named(
    name: str,
    *,
    reference: str | None = None,
    inputs: str | None = None,
    options: Mapping[str, Any] | None = None,
    **asked: Any,
) -> CheckReport:
    """Check one program by its name. `reference` and `inputs` are FILE.py:NAME; `asked` are arguments of `check`."""
    subject, entry = naming.looked_up(name)
    kind = kinds.of(subject)
    subject = subject if kind.adoption else kinds.adopted(subject)
    if not (kind.is_program(subject) or kinds.is_relative(subject)):
        raise InputError(f"{name!r} is a network, and there is no program to check it against; name a program")
    if reference is not None and kind not in (TRANSFORMERS, RASP):
        raise InputError(f"--reference is for one transformer program; {name!r} is of another kind")
    check_options(kind, options or {}, also=kind.adoption, name=name)
    given = {key: value for key, value in (options or {}).items() if value is not None}
    own = None if reference is None else naming.function_in_file(reference, "--reference")
    in_a_file = name.partition(":")[0].endswith(".py")
    shown = naming.name_of(subject) if in_a_file else name
    asked["inputs"] = naming.inputs_in_file(inputs)
    return check(entry or subject, name=shown, reference=own, **asked, **given)


def check_all(
    *, on_program: Callable[[str], None] | None = None, options: Mapping[str, Any] | None = None, **asked: Any
) -> list[CheckReport]:
    """A report for every program of every shelf. An option that some kinds do not have is refused.

    `asked` are arguments of `check`; `on_program` is called with each name. Kinds without compile options, such as
    circuits, are checked without them.
    """
    given = {key: value for key, value in (options or {}).items() if value is not None}
    shelved = [(name, entry, kind) for name, entry, kind in naming.shelves() if kind.inputs is not None]
    for key in given:
        if not all(key in kind.options for _, _, kind in shelved if kind.options):
            option = typed_option(key)
            raise InputError(f"{option} has no meaning for some kinds of programs; give it with a PROGRAM, not --all")
    reports = []
    for name, entry, kind in shelved:
        if on_program is not None:
            on_program(name)
        meant = {key: value for key, value in given.items() if key in kind.options}
        reports.append(check(entry, name=name, **asked, **meant))
    return reports


def _one_network(program: Any, **options: Any) -> Sequence[Any]:
    return [compile(program, **options)]


def _held(network: Any, ended: Ended) -> Ended:
    """What the trace of the network should be: the part of the program's that the network holds."""
    kind = kinds.find(network)
    return ended if kind is None or kind.held is None or isinstance(ended, RunError) else kind.held(network, ended)


def _disagreement(entered: Any, mine: Ended, theirs: Sequence[tuple[Ended, Ended]], judges: Any) -> str | None:
    """The first difference: between a network's run and what it should be, or between the program's and a judge."""
    found = next((found for other, expected in theirs if (found := difference(expected, other))), None)
    return found or next((found for judge in judges.values() if (found := judge(entered, mine))), None)


def _shown(entered: Any) -> str:
    """A word of one-character symbols as a string, and any other input as a list."""
    if all(isinstance(symbol, str) and len(symbol) == 1 for symbol in entered):
        return repr("".join(entered))
    return repr(list(entered))


def outcomes(run_batch: Callable[[Sequence[Any]], Iterable[Trace]], inputs: Sequence[Any]) -> list[Ended]:
    """How the run on each input ended. They run as one batch, and one by one only if that fails."""
    try:
        return list(run_batch(inputs))
    except RunError:
        return [_outcome(run_batch, entered) for entered in inputs]


def _outcome(run_batch: Callable[[Sequence[Any]], Iterable[Trace]], entered: Any) -> Ended:
    try:
        return next(iter(run_batch([entered])))
    except RunError as error:
        return error


def output_difference(
    found: list, expected: list, source: str, same: Callable[[Any, Any], bool] = is_same
) -> str | None:
    """How an output differs from the one that somebody else computed, floats up to rounding.

    Both are made of Python's own types first, so that no class of a user's own says what it is equal to; an InputError
    for an output that cannot be.
    """
    found, expected = exact(found), exact(expected)
    agree = len(found) == len(expected) and all(map(same, found, expected))
    return None if agree else f"the output is {found}, but {source} says {expected}"


def difference(a: Ended, b: Ended) -> str | None:
    """How two runs differ: in their traces, or in the errors that they ended with."""
    if not isinstance(a, RunError) and not isinstance(b, RunError):
        return a.difference(b)
    if not isinstance(a, RunError) or not isinstance(b, RunError):
        return f"one run ended with an error and the other did not: {a!r}, {b!r}"
    same = type(a) is type(b)
    if isinstance(a, UndefinedAttentionError) and isinstance(b, UndefinedAttentionError):
        same = (a.layer, a.position) == (b.layer, b.position)
    elif isinstance(a, HaltError) and isinstance(b, HaltError):
        same = a.max_layers == b.max_layers
    return None if same else f"two runs ended with different errors: {a}; {b}"
