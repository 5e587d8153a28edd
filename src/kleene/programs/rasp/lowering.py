"""A RASP program as a transformer program: variables, heads and the tables of its MLP, few of each, in few layers.

- A selector is a set: for each value of its queries, the set of the keys that it selects. So any predicate works, and
  selectors that are combined are sets over combinations of values.
- A width is a head that averages a flag of the start over what is selected and the start: 1 / (n + 1).
- An aggregate of one position is a head that reads a category; one of several positions averages numbers.
- Maps cost nothing: whatever a head's query, key or value needs is written by the MLP as one table.

Each variable is written once, in the first layer in which all it depends on is there; a variable `step` counts layers.
The sample decides only between readings that are right wherever they are defined: a head that must read one position
ends a run with an error at a second one.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from kleene.errors import ProgramError
from kleene.notation.words import PrefixedVocabulary
from kleene.programs.alta.definition import Specification
from kleene.programs.alta.program import Program, program_of
from kleene.programs.alta.variables import (
    Categorical,
    Head,
    Variable,
    input_var,
    numeric_var,
    position_var,
    set_var,
    var,
)
from kleene.programs.rasp.domains import (
    FAULT,
    FREE,
    FUSED,
    Atom,
    DomainError,
    Interned,
    ValueTable,
    combinations,
    combined,
    refuse_answers,
)
from kleene.programs.rasp.expressions import (
    ConstantSOp,
    Full,
    IndicesType,
    LengthType,
    Map,
    SequenceMap,
    SOp,
    TokensType,
)
from kleene.programs.rasp.graph import RaspError, RASPExpr, parts_of, values_on
from kleene.programs.rasp.readings import Reading, reading_of
from kleene.programs.rasp.sampling import Sample
from kleene.programs.rasp.selections import Selection, selection_of
from kleene.programs.rasp.selectors import Aggregate, Comparison, Select, Selector, SelectorWidth
from kleene.programs.rasp.tables import STEP, TableFunction, TableWrite, Tabulated, cases_of, faults_of
from kleene.traces.values import value_key

Init = Callable[[int], Any]


def lowered(
    expr: SOp, vocabulary: Sequence[Any], max_length: int, *, causal: bool = False, name: str | None = None
) -> Program:
    """The transformer program that computes an s-op on inputs of up to `max_length` words of the vocabulary.

    >>> from kleene.programs import rasp
    >>> opposite = rasp.length - rasp.indices - 1
    >>> reverse = rasp.Aggregate(rasp.Select(rasp.indices, opposite, rasp.Comparison.EQ), rasp.tokens)
    >>> program = lowered(reverse, "abc", 5)
    >>> program.max_layers, program.run("abca").output
    (2, ['a', 'c', 'b', 'a'])
    """
    given = (expr, tuple(vocabulary), max_length, causal, name or expr.name)
    careful = Lowering(*given)
    try:
        return careful.program()
    except DomainError as error:
        if not careful.cautious:
            raise
        try:  # the means that no input of the sample takes may be what was too much
            return Lowering(*given, trusting=True).program()
        except ProgramError:
            raise error from None


@dataclass(frozen=True, eq=False)
class Lowering:
    """The parts of the program, as they are found from the leaves of the expression to its root."""

    expr: SOp
    vocabulary: tuple[Any, ...]
    max_length: int
    causal: bool
    name: str
    trusting: bool = False  # see `reading_of`
    cautious: list[Aggregate] = field(default_factory=list)  # what averages though no input of the sample needs it
    variables: dict[str, Variable] = field(default_factory=dict)
    heads: dict[str, Head] = field(default_factory=dict)
    writes: list[TableWrite] = field(default_factory=list)
    meanings: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    atoms: dict[str, Atom] = field(default_factory=dict)
    tables: dict[RASPExpr, ValueTable] = field(default_factory=dict)
    layers: dict[str, int] = field(default_factory=dict)  # the first layer in which each head reads what it should
    _made: dict[Any, Any] = field(default_factory=dict)  # what is made once, by what it is made of

    def program(self) -> Program:
        """The program, checked as every transformer program is."""
        for part in parts_of(self.expr):
            if isinstance(part, SOp):
                self.tables[part] = self.table(part)
        self._refuse_valueless()
        return self._assembled(self.category(self.tables[self.expr], self.expr.name))

    def _assembled(self, output: Atom) -> Program:
        depth = max(1, *(write.layer for write in self.writes), output.layer)
        self.variables[STEP] = var(depth + 1, input_init_fn=lambda token: depth if token == 0 else 0)
        kept = self._kept(output.name)
        spec = Specification(
            name=self.name, variables={n: v for n, v in self.variables.items() if n in kept}, heads=self.heads,
            output_name=output.name, input_range=len(self.vocabulary) + 1, position_range=self.max_length + 1,
            max_layers=depth,
        )  # fmt: skip
        found = cases_of(self.writes, depth, spec)
        faults = faults_of(self.writes, spec)
        entries = sum(write.codes.size for write in self.writes)
        program = program_of(
            spec, mlp=TableFunction(found.updates, faults, spec.domains), updates=found.updates, reads=found.reads,
            faults=faults, enumeration=Tabulated(entries),
        )  # fmt: skip
        meanings = {name: values for name, values in self.meanings.items() if name in kept or name in self.heads}
        return replace(program, vocabulary=PrefixedVocabulary(self.vocabulary, self.max_length), meanings=meanings)

    def _refuse_valueless(self) -> None:
        """Let RASP say why it has no value, if it has none on any input of the sample."""
        faulty = [(table.seen == FAULT).any(axis=1) for table in self.tables.values()]
        if np.logical_or.reduce(faulty).all():
            first = self.sample.words[0][self.sample.inside[0]]
            values_on(self.expr, [self.vocabulary[word] for word in first], self.causal)

    def _kept(self, output: str) -> set[str]:
        """The variables that something reads."""
        used = {output, STEP} | {atom.name for write in self.writes for atom in write.support}
        used |= {write.target for write in self.writes}
        return used | {name for head in self.heads.values() for name in (head.query, head.key, head.value) if name}

    # --- tables ---------------------------------------------------------------------------------------------------

    @cached_property
    def sample(self) -> Sample:
        """Inputs on which every table is looked at."""
        return Sample.of(len(self.vocabulary), self.max_length, self._named())

    def _named(self) -> list[int]:
        """The words that some map of the tokens tells from nearly all others, such as the letters of a pattern."""
        rare = max(1, len(self.vocabulary) // 8)
        maps = [part for part in parts_of(self.expr) if isinstance(part, Map) and isinstance(part.inner, TokensType)]
        named: set[int] = set()
        for part in maps:
            alike: dict[str, list[int]] = {}
            for place, word in enumerate(self.vocabulary):
                try:
                    found, again = part.apply(word), part.apply(word)
                except RaspError:
                    continue
                if value_key(found) != value_key(again):  # as with a function that knows what it has seen
                    refuse_answers(part, (word,), found, again)
                alike.setdefault(repr(found), []).append(place)
            named |= {place for some in alike.values() if len(some) <= rare for place in some}
        return sorted(named)

    @property
    def inside(self) -> np.ndarray:
        return self.sample.inside

    def table(self, part: SOp) -> ValueTable:
        """The table of an s-op, from those of its children."""
        if isinstance(part, TokensType):
            return self._identity(self._tokens(), self.vocabulary)
        if isinstance(part, IndicesType):
            return self.indices
        if isinstance(part, LengthType):
            return self._length(part)
        if isinstance(part, Full):
            return combined(part, lambda: part.fill, [], self.inside)
        if isinstance(part, ConstantSOp):
            return self._constant(part)
        if isinstance(part, Map):
            return self._fused(part, part.apply, [self.tables[part.inner]])
        if isinstance(part, SequenceMap):
            return self._fused(part, part.apply, [self.tables[part.fst], self.tables[part.snd]])
        if isinstance(part, SelectorWidth):
            return self._width(part)
        if isinstance(part, Aggregate):
            return self._aggregate(part)
        raise ProgramError(f"{part.described} cannot be compiled: a {type(part).__name__} is not known here")

    def _identity(self, atom: Atom, values: Sequence[Any]) -> ValueTable:
        """The table of an atom whose code 0 is the start, and code i + 1 the i-th value."""
        return ValueTable((atom,), np.array([FREE, *range(len(values))]), tuple(values), self.inside)

    @property
    def indices(self) -> ValueTable:
        return self._identity(self._indices(), range(self.max_length))

    def _fused(self, part: SOp, function: Callable[..., Any], tables: list[ValueTable]) -> ValueTable:
        """The table of a function; inputs that together would make it large are written to variables first.

        A table that is no larger than that of one input is never too large, because the input's is there already.
        """
        while combinations(tables) > max(FUSED, *(combinations([table]) for table in tables)):
            sizes = [combinations([t]) if len(t.support) > 1 or len(t.values) + 1 < t.codes.size else 0 for t in tables]
            largest = int(np.argmax(sizes))
            if not sizes[largest]:
                break
            table = tables[largest]
            atom = self.category(table, part.children[largest].name)
            held = self._identity(atom, table.values)
            tables[largest] = replace(held, twins=table.twins)
        return combined(part, function, tables, self.inside)

    def _constant(self, part: ConstantSOp) -> ValueTable:
        if part.check_length or len(part.value) < self.max_length:
            raise ProgramError(
                f"{part.described} has {len(part.value)} values, and the network reads inputs of up to "
                f"{self.max_length} tokens. Give it a value for each, and check_length=False"
            )
        return combined(part, lambda index: part.value[index], [self.indices], self.inside)

    def _length(self, part: LengthType) -> ValueTable:
        if self.causal:
            raise ProgramError(
                f"{part.described} is the whole length, and in a causal network no position sees what comes after it. "
                f"Count with SelectorWidth, which gives the length so far"
            )
        everywhere = Select(Full(0), Full(0), Comparison.TRUE)
        self.tables.update({side: self.table(side) for side in (everywhere.keys, everywhere.queries)})
        return self._counted(self.selection(everywhere), "length")

    def _width(self, part: SelectorWidth) -> ValueTable:
        return self._counted(self.selection(part.selector), part.name)

    # --- variables ------------------------------------------------------------------------------------------------

    def _tokens(self) -> Atom:
        return self._start_atom("tokens", input_var(len(self.vocabulary) + 1), self.sample.words + 1, self.vocabulary)

    def _indices(self) -> Atom:
        places = np.broadcast_to(np.arange(1, self.max_length + 1), self.inside.shape)
        return self._start_atom("indices", position_var(self.max_length + 1), places, range(self.max_length))

    def _start_atom(self, name: str, variable: Variable, seen: np.ndarray, values: Sequence[Any]) -> Atom:
        if name not in self.atoms:
            self.variables[name] = variable
            self.meanings[name] = (None, *values)
            is_place = name == "indices"
            self.atoms[name] = Atom(name, len(values) + 1, 0, seen, positional=is_place, distinct=is_place)
        return self.atoms[name]

    def category(self, table: ValueTable, label: str) -> Atom:
        """A variable that holds the value of a table: code 0 at the start, then one for each value."""
        codes, meanings = np.arange(1, len(table.values) + 1), (None, *table.values)
        size = len(meanings)
        return self.variable(table, codes, size, lambda **start: var(size, 0, **start), label, meanings)

    def variable(
        self,
        table: ValueTable,
        codes: np.ndarray,
        size: int,
        make: Callable[..., Variable],
        label: str,
        meanings: tuple[Any, ...] | None = None,
    ) -> Atom:
        """The variable that holds, for each value of the table, the given code; one that is there already if possible.

        It starts with code 0. What follows from the token or the position alone needs no layer: it is embedded.
        """
        made = make()
        nothing = made.code(made.default) or 0
        mapped = np.where(table.codes >= 0, codes[np.maximum(table.codes, 0)], table.codes)
        if len(table.support) == 1 and not table.support[0].is_head and isinstance(made, Categorical):
            source, known = table.support[0], mapped >= 0
            is_same = source.size == size and (mapped[known] == np.flatnonzero(known)).all()
            if is_same and (meanings is None or value_key(meanings) == value_key(self.meanings.get(source.name))):
                return source
        key = (tuple(a.name for a in table.support), mapped.tobytes(), type(made), made.domain, value_key(meanings))
        if key in self._made:
            return self._made[key]
        name = self.fresh(label)
        if meanings is not None:
            self.meanings[name] = meanings
        seen = np.where(self.inside, mapped[tuple(a.seen for a in table.support)], nothing)
        embedded = self._embedded(table, mapped, made, nothing)
        if embedded is not None:
            layer, self.variables[name] = 0, make(**embedded)
        else:
            layer, self.variables[name] = max(a.ready for a in table.support), made
            self.writes.append(TableWrite(name, table.support, mapped, layer, nothing))
        atom = Atom(name, size, layer, np.maximum(seen, 0), positional=table.positional)
        self._made[key] = self.atoms[name] = atom
        return atom

    def _embedded(
        self, table: ValueTable, mapped: np.ndarray, made: Variable, nothing: int
    ) -> Mapping[str, Init] | None:
        """How the variable starts, if it follows from the token or from the position, or is constant."""
        if not table.support:
            codes = [nothing, *[int(mapped)] * len(self.vocabulary)]
        elif [atom.name for atom in table.support] in (["tokens"], ["indices"]) and not (mapped == FAULT).any():
            codes = [code if code >= 0 else nothing for code in mapped.tolist()]
        else:
            return None
        by = "position" if table.support and table.support[0].name == "indices" else "input"
        return {f"{by}_init_fn": partial(_started, tuple(made.domain[code] for code in codes))}

    def fresh(self, label: str) -> str:
        """A name that nothing has yet: the label, or the label with a number."""
        taken = {*self.variables, *self.heads, STEP, "tokens", "indices", "start"}
        names = itertools.chain([label], (f"{label}_{n}" for n in itertools.count(2)))
        return next(name for name in names if name not in taken)

    # --- heads ----------------------------------------------------------------------------------------------------

    def selection(self, selector: Selector) -> Selection:
        """What a selector selects, by values and on the sample."""
        if selector not in self._made:
            self._made[selector] = selection_of(selector, self.tables, lambda: self.indices, self.causal)
        return self._made[selector]

    def head(self, selection: Selection, value: Atom, output: Variable | None, label: str, *, start: bool) -> str:
        """A head that reads a value where a selection selects, and at the start too if asked."""
        keys = self.variable(
            selection.keys, 1 + selection.classes, selection.count + 1,
            lambda **init: var(selection.count + 1, 0, **init), f"{selection.name}_key",
        )  # fmt: skip
        sets = selection.sets(start=start)
        different = list(dict.fromkeys([frozenset(), *sets]))
        query = self.variable(
            selection.queries, np.array([different.index(s) for s in sets]), len(different),
            lambda **init: set_var(selection.count + 1, different, (), **init), f"{selection.name}_query",
        )  # fmt: skip
        offsets = frozenset(range(-self.max_length, 1)) if self.causal else frozenset()
        key = ("head", query.name, keys.name, value.name, output and output.domain)
        if key not in self._made:
            name = self._made[key] = self.fresh(label)
            if output is None and value.name in self.meanings:
                self.meanings[name] = self.meanings[value.name]
            self.heads[name] = Head(query.name, keys.name, value.name, offsets, output)
            self.layers[name] = 1 + max(query.layer, keys.layer, value.layer)
        return self._made[key]

    def _counted(self, selection: Selection, label: str) -> ValueTable:
        atom, counts = self.count(selection, label)
        return ValueTable((atom,), np.arange(len(counts)), tuple(counts), self.inside)

    def count(self, selection: Selection, label: str) -> tuple[Atom, list[int]]:
        """The head that counts what is selected, and the count that each of its codes stands for."""
        if selection not in self._made:
            counts = sorted(selection.possible_counts(self.max_length), reverse=True)
            flag = self._flag()
            name = self.head(selection, flag, numeric_var(1 / (n + 1) for n in counts), f"{label}_count", start=True)
            places = {n: code for code, n in enumerate(counts)}
            seen = np.vectorize(lambda n: places.get(n, 0), otypes=[np.int64])(selection.counts)
            atom = Atom(
                name, len(counts), self.layers[name], seen, is_head=True, positional=selection.positional,
                ranking=selection.ranking,
            )  # fmt: skip
            self._made[selection] = self._shared(atom), counts
        return self._made[selection]

    def _shared(self, head: Atom) -> Atom:
        """The head, or the one that two selectors share because they select alike: a table must not have both."""
        return self._made.setdefault(("atom", head.name, head.guard), head)

    def _flag(self) -> Atom:
        """The number that is 1 at the start and 0 elsewhere."""
        if "start" not in self.variables:
            self.variables["start"] = numeric_var((0.0, 1.0), input_init_fn=lambda token: float(token == 0))
            self.atoms["start"] = Atom("start", 2, 0, np.zeros_like(self.sample.words))
        return self.atoms["start"]

    def _aggregate(self, part: Aggregate) -> ValueTable:
        selection, values = self.selection(part.selector), self.tables[part.sop]
        reading = reading_of(part, selection, values, self.max_length, trusting=self.trusting)
        if reading.cautious:
            self.cautious.append(part)
        name = self._reader(part, selection, values, reading)
        guard, without = self._guard(part, selection) if reading.guarded else (None, frozenset())
        head = Atom(
            name, len(reading.results), self.layers[name], np.maximum(reading.seen, 0), is_head=True,
            positional=selection.positional and values.positional, guard=guard, without=without,
            certain=reading.certain,
        )  # fmt: skip
        head = self._shared(head)
        results = tuple(reading.results)
        codes = np.array([FREE if result is Reading.NOWHERE else at for at, result in enumerate(results)])
        if guard is None:
            return _compact(part, ValueTable((head,), codes, results, self.inside, reading.twins))
        codes = np.repeat(codes[:, None], guard.size, axis=1)
        codes[:, list(without)] = len(results)
        results = (*results, part.default)
        return _compact(part, ValueTable((head, guard), codes, results, self.inside, reading.twins))

    def _guard(self, part: Aggregate, selection: Selection) -> tuple[Atom, frozenset[int]]:
        """What says that nothing is selected, and by which codes: the query itself if it can, otherwise a count."""
        known = selection.codes_without()
        if known is not None:
            return known
        atom, counts = self.count(selection, part.name)
        return atom, frozenset({counts.index(0)})

    def _reader(self, part: Aggregate, selection: Selection, values: ValueTable, reading: Reading) -> str:
        """The head that reads for an aggregate: a category, or numbers that it averages."""
        if reading.numbers is None:
            source = self.category(values, part.sop.name)
            return self.head(selection, source, None, f"{part.name}_read", start=False)
        held = numeric_var({0.0, *reading.numbers})
        codes = np.array([held.values.index(float(number)) for number in reading.numbers])
        source = self.variable(
            values, codes, len(held.values), lambda **init: numeric_var(held.values, 0.0, **init),
            f"{part.sop.name}_number",
        )  # fmt: skip
        return self.head(selection, source, numeric_var(reading.outputs), f"{part.name}_mean", start=False)


def _started(values: tuple[Any, ...], at: int) -> Any:
    return values[at]


def _compact(part: Aggregate, table: ValueTable) -> ValueTable:
    """The same table without values that no entry has, and each value once."""
    used = [at for at in range(len(table.values)) if (table.codes == at).any()]
    interned = Interned(part)
    places = {at: interned.code(table.values[at]) for at in used}
    codes = table.codes.copy()
    for at, place in places.items():
        codes[table.codes == at] = place
    twins = {place: table.twins[at] for at, place in places.items() if at in table.twins}
    return replace(table, codes=codes, values=tuple(interned.found.values()), twins=twins)
