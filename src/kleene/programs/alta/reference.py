"""The reference interpreter: slow, plain Python, one dict for each position.

It is what the cases and the vectorised interpreter are checked against, so it shares nothing with them: it
calls the MLP function itself, or goes through the rules as they were given.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NoReturn

import numpy as np

from kleene.errors import ProgramError, Reason, UndefinedAttentionError, WriteError
from kleene.limits import LayerLimit
from kleene.notation.edits import UNSET, Edit
from kleene.notation.words import Tokens
from kleene.programs.alta.asking.assignment import unknown
from kleene.programs.alta.asking.undefined import Undefined, Used, use
from kleene.programs.alta.definition import Definition
from kleene.programs.alta.rules import Rule
from kleene.programs.alta.variables import Categorical, Head, Numeric, Variable
from kleene.traces import Channel, Trace

Values = dict[str, Any]  # one position: integers, floats and frozensets by variable
Complaint = Callable[[], Exception]


def reference_run(
    program: Definition, sequence: Tokens, *, max_layers: int | None = None, edits: Sequence[Edit] = ()
) -> Trace:
    """The trace of the program on one input, by the definition of the language.

    Edits are taken as they are: their values are the program's own, and one that is never reached is left out.

    >>> from kleene.programs import alta
    >>> def flip(z): z["bit"] = 1 - z["bit"]
    >>> reference_run(alta.program_spec({"bit": alta.input_var(2)}, {}, flip, "bit", 2), [1, 0, 0]).output
    [0, 1, 1]
    """
    tokens = program.check_input(sequence)
    limit = LayerLimit.of(program.name, program.max_layers, max_layers, halts=program.halt is not None)
    states = [[_start(program, token, position) for position, token in enumerate(tokens)]]
    _edit(edits, 0, states[0])
    readings: list[list[Values]] = [[dict.fromkeys(program.heads) for _ in tokens]]
    while not _halted(program, states[-1]) and len(states) <= limit.layers:
        layer = len(states)
        state, reading = _layer(program, states[-1], layer, edits)
        _edit(edits, layer, state)
        states.append(state)
        readings.append(reading)
    steps = [[s | r for s, r in zip(state, reading)] for state, reading in zip(states, readings)]
    data = {channel.name: _column(channel, steps) for channel in program.channels}
    halted = _halted(program, states[-1])
    limit.check(np.array([halted]))
    return Trace(program.channels, data, program.output_name, halted, source="reference", prefix=program.prefix)


def _start(program: Definition, token: int, position: int) -> Values:
    values = {}
    for name, variable in program.variables.items():
        plain = float if isinstance(variable, Numeric) else int if isinstance(variable, Categorical) else frozenset
        values[name] = plain(start_of(variable, token, position))
    return values


def start_of(variable: Variable, token: int, position: int) -> Any:
    """What a variable starts as at one position."""
    if variable.input_init_fn is not None:
        return variable.input_init_fn(token)
    return variable.default if variable.position_init_fn is None else variable.position_init_fn(position)


def _halted(program: Definition, state: list[Values]) -> bool:
    return program.halt is not None and all(values[program.halt.variable] == program.halt.value for values in state)


def _edit(edits: Sequence[Edit], layer: int, cells: list[Values]) -> None:
    """Set what the edits of the layer name, where a position has it."""
    for edit in edits:
        layers, places = _given(edit.layer), _given(edit.position)
        for position, values in enumerate(cells):
            if edit.name in values and (layers is None or layer in layers) and (places is None or position in places):
                value = edit.value if edit.source is None else _plain(edit.source, edit.name, layer, position)
                values[edit.name] = frozenset(value) if isinstance(values[edit.name], frozenset) else value


def _given(places: Any) -> set[int] | None:
    return None if places is None else {places} if isinstance(places, int) else set(places)


def _plain(source: Trace, name: str, layer: int, position: int) -> Any:
    entry = source[name][layer, position]
    return np.flatnonzero(entry).tolist() if source.channel(name).kind == "set" else entry.item()


def _layer(
    program: Definition, state: list[Values], layer: int, edits: Sequence[Edit]
) -> tuple[list[Values], list[Values]]:
    """The state after one layer, and what every head read in it (None where that is undefined)."""
    edited: list[Values] = [dict.fromkeys(program.heads, UNSET) for _ in state]
    _edit(edits, layer, edited)
    after, readings = [], []
    for position, values in enumerate(state):
        reading, undefined = {}, {}
        for name, head in program.heads.items():
            reading[name], reason = read(head, program.outputs[name], state, position)
            if edited[position][name] is not UNSET:
                reading[name], reason = edited[position][name], None
            if reason is not None:
                undefined[name] = complaint(program.name, name, reason, layer, position)
        defined = {n: v for n, v in reading.items() if n not in undefined}
        written = run_mlp(program, values | defined, undefined)
        after.append(values | written)
        readings.append(reading)
    return after, readings


def complaint(program: str, head: str, reason: Reason, layer: int, position: int) -> Complaint:
    """Makes the error of a head that reads nothing and is used."""
    return lambda: UndefinedAttentionError(program, head, reason, layer=layer, position=position)


def read(head: Head, output: Variable, state: list[Values], position: int) -> tuple[Any, Reason | None]:
    """What a head reads at one position, and the reason where that is undefined; the other of the two is None."""
    places = [j for j in range(len(state)) if not head.offsets or j - position in head.offsets]
    if not places:
        return None, Reason.EDGE
    if head.query is not None and head.key is not None:
        query = state[position][head.query]
        wanted = query if isinstance(query, frozenset) else {query}
        places = [j for j in places if state[j][head.key] in wanted]
    if not places:
        return None, Reason.NO_MATCH
    found = [state[j][head.value] for j in places]
    if None in found:  # in a `compat` program, the output of an earlier head
        return None, Reason.NO_MATCH
    if isinstance(output, Numeric):
        average = sum(found) / len(found)
        return average, Reason.BETWEEN if output.blurred(average) else None
    return (found[0], None) if len(found) == 1 else (None, Reason.SEVERAL)


def run_mlp(program: Definition, values: Values, undefined: Mapping[str, Complaint]) -> Values:
    """What the MLP writes at one position; `undefined` has the error for every head that read nothing."""
    seen: Values = {}
    for name, value in values.items():
        variable = program.domains[name]
        seen[name] = variable.values[int(variable.bucket(value))] if isinstance(variable, Numeric) else value
    mlp = program.mlp
    function = mlp if callable(mlp) else lambda z: z.update(apply_rules(program.domains, mlp, z.seen))
    written = called(function, seen, undefined, program.domains)
    return {name: _declared(program.variables[name], value) for name, value in written.items()}


def called(
    function: Callable, seen: Values, undefined: Mapping[str, Complaint], domains: Mapping[str, Variable] = {}
) -> Values:
    """What the function writes; raises if it used an undefined reading, even where it caught the error.

    A reading counts as used, too, if the function raised after it was read, or told it apart from one of the values in
    `domains`: `type(reading)` asks the reading nothing.
    """
    used: list[Exception] = []
    nothing = {name: Undefined(lambda error=error: used.append(error())) for name, error in undefined.items()}
    z = ReferenceAssignment(seen | nothing)
    try:
        function(z)
    except Used:
        pass
    except Exception:
        used += [undefined[name]() for name in z.read & nothing.keys()]
        if not used:
            raise
    for name in () if used else sorted(z.read & nothing.keys() & domains.keys()):
        if any(_differs(function, z, {name: value}) for value in domains[name].domain):
            raise undefined[name]()
    if used:
        raise used[0]
    return z.written


def _differs(function: Callable, z: "ReferenceAssignment", defined: Values) -> bool:
    """Whether the function does something else where a reading is defined."""
    other = ReferenceAssignment(z.seen | defined)
    try:
        function(other)
    except (Used, Exception):  # of another reading that is used only then
        return False
    return other.after != z.after


def apply_rules(domains: Mapping[str, Variable], rules: Sequence[Rule], seen: Values) -> Values:
    """What the rules that hold write; raises where one looks at an undefined head, or two disagree."""
    written, disputed = {}, []
    for rule in rules:
        tests = [(seen[name], _declared(domains[name], value)) for name, value in rule.antecedent]
        unknown = [value for value, _ in tests if type(value) is Undefined]
        if all(type(value) is Undefined or value == wanted for value, wanted in tests):
            if unknown:
                use(unknown[0])
            if written.setdefault(rule.variable, rule.value) != rule.value:
                disputed.append(rule.variable)
    if disputed:
        raise WriteError(f"two rules set {disputed[0]!r} at once, and differently")
    return written


def _declared(variable: Variable, value: Any) -> Any:
    """The written value as one of the variable's domain; only a `compat` program can write a value outside it."""
    code = variable.code(value)
    if code is None:
        raise WriteError(f"{value!r} was written, but the variable takes {variable.expected}")
    return variable.domain[code]


class ReferenceAssignment(dict):
    """The `z`: a dict of all values; writes are kept aside, and the names that are read are noted."""

    def __init__(self, seen: Values):
        super().__init__(seen)
        self.seen, self.read = seen, set[str]()
        self.written: Values = {}

    def __getitem__(self, name: Any) -> Any:
        name = self._named(name)
        if name not in self.seen:
            raise ProgramError(unknown(name, self.seen))
        self.read.add(name)
        return self.seen[name]

    def __setitem__(self, name: Any, value: Any) -> None:
        if type(value) is Undefined:
            use(value)
        self.written[self._named(name)] = value

    @property
    def after(self) -> Values:
        """What was written and is not as before."""
        return {name: value for name, value in self.written.items() if value != self.seen.get(name)}

    def _named(self, name: Any) -> Any:
        return name.value if isinstance(name, Enum) and name not in self.seen else name

    def __iter__(self) -> Iterator[str]:  # with this, `dict(z)` and `{**z}` read by `__getitem__`
        return iter(self.seen)

    def __contains__(self, name: object) -> bool:
        return self._named(name) in self.seen

    def get(self, name: Any, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401  # dict.get would not note the read

    def setdefault(self, name: Any, default: Any = None) -> Any:
        return self[name]

    def values(self) -> Any:
        return dict(self).values()

    def items(self) -> Any:
        return dict(self).items()

    def update(self, *given: Any, **named: Any) -> None:
        for name, value in dict(*given, **named).items():
            self[name] = value

    def __ior__(self, other: Any) -> "ReferenceAssignment":  # type: ignore[override, misc]
        self.update(other)
        return self

    def __deepcopy__(self, memo: Any) -> Values:
        return dict(self)

    __copy__ = copy = lambda self: dict(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return dict, (list(self.items()),)

    def _refuse(self, *_: Any) -> NoReturn:
        raise TypeError("a variable cannot be deleted from z")

    __delitem__ = pop = popitem = clear = _refuse


def _column(channel: Channel, steps: list[list[Values]]) -> np.ndarray:
    """The entries of one channel, of shape (step, position, …)."""
    entries = [[_entry(channel, values[channel.name]) for values in step] for step in steps]
    return np.array(entries, dtype=channel.dtype)


def _entry(channel: Channel, value: Any) -> Any:
    if value is None:
        return channel.empty
    return [i in value for i in range(channel.size or 0)] if channel.kind == "set" else value
