"""A transformer program compiled into the weights of a Universal Transformer."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from kleene.compiling.alta.expansions import ExpansionBuilder, expand_bit, expand_number, expand_set, grid_values
from kleene.compiling.alta.units import Units, compact_units
from kleene.errors import CompileError
from kleene.machines.transformer.layout import Layout, Segment
from kleene.machines.transformer.parameters import Expansion, Origin, Probe, digest_of
from kleene.machines.transformer.universal_transformer import UniversalTransformer
from kleene.programs.alta.program import Program
from kleene.programs.alta.rules import RuleSet
from kleene.programs.alta.symbols import Sum
from kleene.programs.alta.variables import Categorical, Numeric, SetValued

SHARPNESS = 100.0  # λ: a matching key and query give the logit λ², which makes softmax exactly hard
DTYPES = ("float32", "float64", "bfloat16")


def compile_program(
    program: Program,
    *,
    dtype: Literal["float32", "float64", "bfloat16"] = "float32",
    rules: Literal["compact", "paper"] = "compact",
    activation: Literal["clipped", "relu"] = "clipped",
) -> UniversalTransformer:
    """A Universal Transformer that does exactly what the program does.

    `rules="compact"` makes few hidden units; "paper" one for each transition rule, which the theory of minimal
    programs speaks of. `activation="relu"` writes each clipped unit as two plain ReLU units.
    """
    if rules not in ("compact", "paper") or activation not in ("clipped", "relu"):
        raise CompileError(
            f"rules is 'compact' or 'paper', activation 'clipped' or 'relu'; got {rules!r}, {activation!r}"
        )
    return _Compiler(program, number_type(dtype), rules, activation).network()


def number_type(name: str) -> np.dtype:
    """The numpy type of that name; bfloat16 comes with jax."""
    if name not in DTYPES:
        raise CompileError(f"there is no number type {name!r} here; choose one of {', '.join(DTYPES)}")
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


@dataclass
class _Compiler:
    program: Program
    dtype: np.dtype
    rules: str
    activation: str
    columns: dict[str, list[int]] = field(default_factory=dict)  # the feature that is 1 for each code of a variable

    def network(self) -> UniversalTransformer:
        program = self.program
        self.segments = self._segments()
        self.width = self.segments[program.channels[-1].name].stop
        self.written = {n for n, cases in program.updates.items() if cases}
        self.numbers = {
            n: grid_values(n, v, self.dtype) if n in self.written else np.array(v.values)
            for n, v in program.domains.items()
            if isinstance(v, Numeric)
        }
        soft = frozenset(n for n, v in program.domains.items() if not isinstance(v, Categorical))
        units = (
            compact_units(program.updates, program.sizes, program.heads, soft) if self.rules == "compact" else Units()
        )
        steps = self._expand(units, soft)
        features = self.width + len(self.builder.features)
        mlp_in, bias, mlp_out = self._compact(units, features) if self.rules == "compact" else self._paper(features)
        if self.activation == "relu" and any(
            isinstance(v, Numeric) and n in self.columns for n, v in program.domains.items()
        ):
            # Steps on numbers are then 0 or 1 to within rounding: an activation of 2, not 1, absorbs that.
            mlp_in, bias = 4 * mlp_in, 4 * bias - 2
        mlp_in, bias, mlp_out = self._with_clearing(mlp_in, bias, mlp_out)
        if self.activation == "relu":
            mlp_in, bias = np.concatenate([mlp_in, mlp_in], axis=1), np.concatenate([bias, bias - 1])
            mlp_out = np.concatenate([mlp_out, -mlp_out])
        tokens, positions = self._embeddings()
        query, key, value, out, relative = self._attention()
        expansion = None
        if self.builder.columns:
            expansion = Expansion(*(self._exact(a, "the expansion") for a in self.builder.arrays()))
        network = UniversalTransformer(
            tokens, positions, query, key, value, out, relative, expansion,
            self._exact(mlp_in, "the MLP"), self._exact(bias, "the MLP"), self._exact(mlp_out, "the MLP"),
            self._halt(), self._probe(features), self._layout(steps), self.activation,  # type: ignore[arg-type]
        )  # fmt: skip
        options = {"dtype": self.dtype.name, "rules": self.rules, "activation": self.activation}
        return replace(network, origin=Origin(program, options, digest_of(network.arrays())))

    def _exact(self, array: np.ndarray, where: str) -> np.ndarray:
        """The array in the number type; refuses whole numbers that the type would round."""
        rounded = array.astype(self.dtype)
        whole = array == np.round(array)
        lost = whole & (rounded.astype(np.float64) != array)
        if lost.any():
            raise CompileError(
                f"{self.program.name}: {where} needs the whole number {array[lost].flat[0]:g}, which {self.dtype.name} "
                f"cannot hold exactly; compile for float32 or float64, or make the ranges of the variables smaller."
            )
        return rounded

    def _segments(self) -> dict[str, Segment]:
        found, start = {}, 0
        for channel in self.program.channels:
            stop = start + (1 if channel.kind == "number" else int(channel.size or 0))
            found[channel.name] = Segment(channel, start, stop)
            start = stop
        return found

    def _layout(self, steps: tuple[tuple[int, int, int], ...]) -> Layout:
        p = self.program
        queries = tuple(h.query is not None for h in p.heads.values())
        return Layout(
            p.name, tuple(self.segments.values()), tuple(p.heads), queries, p.output_name, p.input_range,
            p.position_range, p.halt is not None, p.max_layers, steps, p.alphabet,
        )  # fmt: skip

    # --- features -----------------------------------------------------------------------------------------------

    def _expand(self, units: Units, soft: frozenset[str]) -> tuple[tuple[int, int, int], ...]:
        """Lay out the features beyond the residual stream; returns the step units of each numeric head."""
        self.builder = ExpansionBuilder(self.width, self.dtype, self.activation == "relu")
        groups = (self.program.updates, self.program.reads, self.program.faults)
        cases = [c for group in groups for found in group.values() for c in found]
        needed = {n for c in cases for n in c.variables} | set(self.program.reads)
        steps = []
        for name, variable in self.program.domains.items():
            segment = self.segments[name]
            if isinstance(variable, Categorical):
                self.columns[name] = list(range(segment.start, segment.stop))
            elif name in needed | self.written:
                if isinstance(variable, Numeric):
                    features, block = expand_number(self.builder, name, variable, segment.start)
                    if name in self.program.heads:
                        steps.append((list(self.program.heads).index(name), *block))
                else:
                    assert isinstance(variable, SetValued)
                    features = expand_set(self.builder, variable, segment.start)
                self.columns[name] = [self.width + f for f in features]
        self.bits = {}
        for (total, allowed), index in units.bits.items():
            self.bits[index] = self.width + expand_bit(
                self.builder, self._terms(total, self.width), allowed, total.largest
            )
        return tuple(steps)

    def _terms(self, total: Sum, features: int) -> np.ndarray:
        """The sum as weights over the features."""
        weights = np.zeros(features)
        for name, term in total.terms:
            weights[self.columns[name]] += term
        return weights

    # --- the MLP ------------------------------------------------------------------------------------------------

    def _compact(self, units: Units, features: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        count = len(units.units)
        mlp_in, bias, mlp_out = np.zeros((features, count)), np.zeros(count), np.zeros((count, self.width))
        for u, unit in enumerate(units.units):
            large = 2.0  # M: one literal that fails outweighs all else, with 1 to spare for rounding in undefined heads
            bias[u] = 1.0
            if unit.total is not None:
                mlp_in[:, u] = self._terms(unit.total, features)
                bias[u] = 1.0 - unit.least
                large = unit.total.largest - unit.least + 2.0
            for name, codes in unit.literals:
                column = (
                    [self.bits[name[1]]] if isinstance(name, tuple) else [self.columns[str(name)][c] for c in codes]
                )
                mlp_in[column, u] += large
            bias[u] -= large * len(unit.literals)
            for code, weight in unit.effect:
                dims, entries = self._entries(unit.target, code)
                mlp_out[u, dims] += weight * entries
        return mlp_in, bias, mlp_out

    def _paper(self, features: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Equations 8 to 10 of the paper: weight 1 for each condition, bias 1 - N, old value out, new value in."""
        found: RuleSet = self.program.rules()
        rules = np.flatnonzero(found.results >= 0)
        mlp_in, bias, mlp_out = (
            np.zeros((features, len(rules))),
            np.ones(len(rules)),
            np.zeros((len(rules), self.width)),
        )
        for v, name in enumerate(found.variables):
            asked = found.antecedents[rules, v]
            which = np.flatnonzero(asked >= 0)
            if len(which):
                mlp_in[np.array(self.columns[name])[asked[which]], which] = 1
                bias[which] -= 1
            mine = np.flatnonzero(found.targets[rules] == v)
            if len(mine):
                vectors = np.stack([self._vector(name, c) for c in range(self.program.sizes[name])])
                mlp_out[mine] = vectors[found.results[rules][mine]] - vectors[asked[mine]]
        return mlp_in, bias, mlp_out

    def _vector(self, name: str, code: int) -> np.ndarray:
        """The residual stream with one variable alone at this code."""
        vector = np.zeros(self.width)
        dims, entries = self._entries(name, code)
        vector[dims] = entries
        return vector

    def _entries(self, name: str, code: int) -> tuple[list[int], float]:
        """The dimensions that hold a code of a variable, and what stands in them."""
        start, variable = self.segments[name].start, self.program.domains[name]
        if isinstance(variable, Numeric):
            return [start], float(self.numbers[name][code])
        if isinstance(variable, SetValued):
            return [start + m for m in variable.values[code]], 1.0
        return [start + code], 1.0

    def _with_clearing(self, mlp_in: np.ndarray, bias: np.ndarray, mlp_out: np.ndarray) -> tuple[np.ndarray, ...]:
        """The MLP with the units that empty the heads' outputs, so that the next layer can write them afresh."""
        pairs = []
        for name, variable in self.program.outputs.items():
            segment = self.segments[name]
            if isinstance(variable, Numeric):
                starts = self.program.starts[self.program.heads[name].value][1]
                reach = max(abs(x) for x in (*starts, *self.numbers[self.program.heads[name].value]))
                scale = 2.0 ** np.ceil(np.log2(max(reach, 1.0)))
                pairs += [(segment.start, 1 / scale), (segment.start, -1 / scale)]
            else:
                pairs += [(dim, 1.0) for dim in range(segment.start, segment.stop)]
        extra_in, extra_out = np.zeros((len(mlp_in), len(pairs))), np.zeros((len(pairs), self.width))
        for u, (dim, weight) in enumerate(pairs):
            extra_in[dim, u], extra_out[u, dim] = weight, -1 / weight
        return (
            np.concatenate([mlp_in, extra_in], axis=1),
            np.concatenate([bias, np.zeros(len(pairs))]),
            np.concatenate([mlp_out, extra_out]),
        )

    # --- embeddings, attention, halting -------------------------------------------------------------------------

    def _embeddings(self) -> tuple[np.ndarray, np.ndarray | None]:
        p = self.program
        tokens = np.zeros((p.input_range, self.width))
        positions = np.zeros((p.position_range, self.width)) if p.position_range is not None else None
        for name, (by, table) in p.starts.items():
            rows = np.stack([self._start_vector(name, x) for x in table.tolist()])
            if by == "position":
                assert positions is not None
                positions += rows
            else:
                tokens += rows  # a default is one row, and added to every token
        return tokens.astype(self.dtype), None if positions is None else positions.astype(self.dtype)

    def _start_vector(self, name: str, start: float | int) -> np.ndarray:
        variable = self.program.variables[name]
        if isinstance(variable, Numeric) and name not in self.written:
            vector = np.zeros(self.width)
            vector[self.segments[name].start] = start
            return vector
        return self._vector(name, int(variable.bucket(start)) if isinstance(variable, Numeric) else int(start))

    def _attention(self) -> tuple[np.ndarray, ...]:
        heads = list(self.program.heads.items())
        keys = [min(self._dims(h.query), self._dims(h.key)) if h.query else 1 for _, h in heads]
        entries = [self._dims(h.value) for _, h in heads]
        reach = max([1, *(abs(o) for _, h in heads for o in h.offsets)])
        query = np.zeros((len(heads), self.width, max(keys, default=1)))
        key, value = np.zeros_like(query), np.zeros((len(heads), self.width, max(entries, default=1)))
        out = np.zeros((len(heads), max(entries, default=1), self.width))
        relative = np.zeros((len(heads), 2 * reach + 3))  # the two ends stand for every distance beyond
        for h, (name, head) in enumerate(heads):
            if head.query is not None and head.key is not None:
                for i in range(keys[h]):
                    query[h, self.segments[head.query].start + i, i] = SHARPNESS
                    key[h, self.segments[head.key].start + i, i] = SHARPNESS
            for i in range(entries[h]):
                value[h, self.segments[head.value].start + i, i] = 1
                out[h, i, self.segments[name].start + i] = 1
            if head.offsets:
                relative[h] = -2 * SHARPNESS**2
                relative[h, [o + reach + 1 for o in head.offsets]] = 0
        return tuple(a.astype(self.dtype) for a in (query, key, value, out, relative))

    def _dims(self, name: str | None) -> int:
        return self.segments[name or ""].width

    def _halt(self) -> np.ndarray | None:
        halt = self.program.halt
        return None if halt is None else self._vector(halt.variable, halt.value).astype(self.dtype)

    # --- where undefined heads are used -------------------------------------------------------------------------

    def _probe(self, features: int) -> Probe | None:
        heads = list(self.program.heads)
        guards = [(heads.index(h), c) for h, cases in self.program.reads.items() for c in cases]
        faults = [c for cases in self.program.faults.values() for c in cases]
        guards += [(len(heads), c) for c in faults]  # a fault counts as the use of one head more, always undefined
        uses = len(heads) + bool(faults)
        if not guards:
            return None
        asked = list(dict.fromkeys(item for _, c in guards for item in c.where))
        rows: list[tuple[np.ndarray, float, int, float]] = []  # (weights, least, condition, sign)
        mentions = np.zeros((len(asked), uses))
        for index, (feature, allowed) in enumerate(asked):
            if isinstance(feature, Sum):
                inside = [value in allowed for value in range(feature.largest + 1)]
                for k, (now, before) in enumerate(zip(inside, [False, *inside])):
                    if now != before:
                        rows.append((self._terms(feature, features), k - 0.5, index, 1.0 if now else -1.0))
                names: Sequence[str] = feature.variables
            else:
                weights = np.zeros(features)
                weights[[self.columns[feature][c] for c in allowed]] = 1
                rows.append((weights, 0.5, index, 1.0))
                names = (feature,)
            mentions[index, [heads.index(n) for n in names if n in heads]] = 1
        conditions = np.zeros((len(rows), len(asked)))
        for r, (_, _, index, sign) in enumerate(rows):
            conditions[r, index] = sign
        membership = np.zeros((len(asked), len(guards)))
        for g, (_, c) in enumerate(guards):
            membership[[asked.index(item) for item in c.where], g] = 1
        return Probe(
            np.stack([r[0] for r in rows], axis=1).astype(self.dtype) if rows else np.zeros((features, 0), self.dtype),
            np.array([r[1] for r in rows], dtype=np.float32),
            conditions.astype(np.float32),
            mentions.astype(np.float32),
            membership.astype(np.float32),
            np.eye(uses, dtype=np.float32)[[h for h, _ in guards]],
        )
