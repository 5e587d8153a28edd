"""Two-layer ReLU steps written as formulas: variables, gates over them, and the next value of each variable."""

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction

from kleene.compiling.automata import TwoLayerStep
from kleene.machines.rnn.simple_rnn import SimpleRNN
from kleene.notation.exact import ExactMatrix

Number = int | Fraction


class Affine(dict[Hashable, Number]):
    """A linear combination of named quantities; the name None stands for the constant 1.

    >>> x = Affine({"x": 1})
    >>> 3 * (x + 1) - x
    {'x': 2, None: 3}
    """

    def __add__(self, other: "Affine | Number") -> "Affine":
        total = Affine(self)
        for name, value in (other if isinstance(other, Affine) else {None: other}).items():
            total[name] = total.get(name, 0) + value
        return total

    __radd__ = __add__

    def __mul__(self, factor: Number) -> "Affine":
        return Affine({name: value * factor for name, value in self.items()})

    __rmul__ = __mul__

    def __sub__(self, other: "Affine | Number") -> "Affine":
        return self + -1 * other

    def __repr__(self) -> str:
        return repr(dict(self))


def total(parts: Iterable[Affine]) -> Affine:
    return sum(parts, Affine())


class StepFormulas:
    """A builder of one step: gates read variables and inputs, and the next value of a variable is a sum of gates.

    `base` is the base of the stacks. A stack has a fraction in (0, 1) for each symbol. Its digit at some depth is
    base − 1 if the symbol lies there, and 0 if another symbol does.
    """

    def __init__(self, symbols: tuple[str, ...], base: int):
        self.symbols, self.base = symbols, base
        self.top_digit = Fraction(base - 1, base)
        self.variables: dict[Hashable, int] = {}
        self.gates: list[Affine] = []
        self.becomes: dict[int, Affine] = {}

    def variable(self, name: Hashable) -> Affine:
        return Affine({("variable", self.variables.setdefault(name, len(self.variables))): 1})

    def input(self, symbol: str) -> Affine:
        return Affine({("input", self.symbols.index(symbol)): 1})

    def gate(self, form: Affine) -> Affine:
        """A new unit: the ReLU of the form."""
        self.gates.append(form)
        return Affine({("gate", len(self.gates) - 1): 1})

    def where(self, condition: Affine, value: Affine) -> Affine:
        """Eq. 4.34: the value where the condition is 1, 0 where it is 0 or less; the value lies in [0, 1]."""
        return self.gate(value + condition - 1)

    def top(self, condition: Affine, stack: Affine) -> Affine:
        """Where the condition is 1, whether a stack's top digit is set: two nonlinearities of Chiang's notes in one."""
        inside = self.base * stack + 2 * condition - self.base
        return self.gate(inside) - self.gate(inside - 1)

    def pushed(self, stack: Affine, digit: Affine) -> Affine:
        """Eq. 4.29: the stack with one more digit on top."""
        return Fraction(1, self.base) * stack + self.top_digit * digit

    def add(self, name: Hashable, gates: Affine) -> None:
        """Add these gates to the next value of the variable."""
        index = self.variables.setdefault(name, len(self.variables))
        self.becomes[index] = self.becomes.get(index, Affine()) + gates

    def simple_rnn(self, outputs: list[Affine], start: Mapping[Hashable, Number]) -> SimpleRNN:
        """The network without a start flag: its hidden units start such that the variables have their start values.

        So the start's numbers, which may be very long, are in no other weight. Each variable that is not 0 at the start
        needs a gate that is added to no other variable.
        """
        step = self.step({}, outputs)
        units = {}
        for name, value in start.items():
            gate, weight = self._own_gate(name)
            units[gate, 0] = Fraction(value) / weight
        return SimpleRNN(
            recurrent=step.recurrent @ step.outer,
            inputs=step.inputs,
            bias=step.bias,
            start=ExactMatrix.from_entries((len(self.gates), 1), units),
            readout=step.readout @ step.outer,
            readout_bias=step.readout_bias,
            activation="relu",
            alphabet=self.symbols,
        )

    def _own_gate(self, name: Hashable) -> tuple[int, Number]:
        """A gate that is added to that variable and no other, and its weight."""
        others = {gate for k, gates in self.becomes.items() if k != self.variables[name] for gate in gates}
        own = [(gate, weight) for gate, weight in self.becomes[self.variables[name]].items() if gate not in others]
        ((_, number), weight) = own[0]  # type: ignore[misc]
        return number, weight

    def step(self, start: Mapping[Hashable, Number], outputs: list[Affine]) -> TwoLayerStep:
        """The step as matrices, with the variables' start values and the outputs as sums of variables."""
        height, width = len(self.gates), len(self.variables)
        return TwoLayerStep(
            recurrent=_matrix(self.gates, "variable", width),
            inputs=_matrix(self.gates, "input", len(self.symbols)),
            bias=_constants(self.gates),
            outer=_matrix([self.becomes.get(k, Affine()) for k in range(width)], "gate", height),
            outer_bias=ExactMatrix.zeros(width),
            start=ExactMatrix.from_entries((width, 1), {(self.variables[n], 0): v for n, v in start.items()}),
            readout=_matrix(outputs, "variable", width),
            readout_bias=_constants(outputs),
        )


def _matrix(forms: list[Affine], kind: str, width: int) -> ExactMatrix:
    entries = {
        (row, name[1]): value
        for row, form in enumerate(forms)
        for name, value in form.items()
        if isinstance(name, tuple) and name[0] == kind
    }
    return ExactMatrix.from_entries((len(forms), width), entries)


def _constants(forms: list[Affine]) -> ExactMatrix:
    return ExactMatrix.from_entries((len(forms), 1), {(row, 0): form.get(None, 0) for row, form in enumerate(forms)})
