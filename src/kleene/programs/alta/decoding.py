"""The interpreter as a decoder: position after position, with earlier results cached or computed again."""

import numpy as np

from kleene.errors import HaltError, InputError
from kleene.notation.tokens import Decoding, Tokens, write
from kleene.programs.alta.definition import Definition
from kleene.programs.alta.interpreter import Engine, State
from kleene.programs.alta.variables import Categorical


def decode(program: Definition, prompt: Tokens, *, tokens: int, stop: int | None, cached: bool) -> Decoding:
    """The tokens that the program writes after the prompt."""
    if not isinstance(program.variables[program.output_name], Categorical):
        raise InputError(f"{program.name}: its outputs are numbers, and decoding feeds them back as tokens")
    decoder = CachedInterpreter(program) if cached else PlainInterpreter(program)
    return write(decoder, program.check_input(prompt), tokens, stop, program.check_input)


class PlainInterpreter:
    """Runs the whole sequence again for every token, all positions side by side behind a causal mask."""

    def __init__(self, program: Definition):
        self.program, self.engine = program, Engine(program)
        self.sequence: list[int] = []
        self.state: State = {}
        self.layers = np.zeros(0, dtype=int)

    def feed(self, token: int) -> int:
        self.sequence.append(token)
        tokens = np.array([self.sequence])
        self.state = self.engine.start(tokens)
        self.layers = np.zeros(len(self.sequence), dtype=int)
        lengths, rows = np.array([len(self.sequence)]), np.array([0])
        for layer in range(1, self.program.max_layers + 1):
            going = ~self._done()
            if not going.any():
                break
            after, _ = self.engine.layer(self.state, lengths, layer, rows, causal=True, active=going)
            self.state = {n: np.where(going, after[n], a) for n, a in self.state.items()}
            self.layers += going[0]
        if self.program.halt is not None and not self._done().all():
            raise HaltError(self.program.name, 0, self.program.max_layers)
        return int(self.state[self.program.output_name][0, -1])

    def _done(self) -> np.ndarray:
        halt = self.program.halt
        return np.zeros((1, len(self.sequence)), bool) if halt is None else self.state[halt.variable] == halt.value

    def result(self, tokens: list[int]) -> Decoding:
        final = {n: a[0] for n, a in self.engine.entries(self.state).items()}
        return Decoding(tokens, self.layers.tolist(), final)


class CachedInterpreter:
    """Runs only the newest position, and caches the values that earlier ones had before every layer.

    `history[n][layer]` has the value of variable n at every earlier position before that layer.
    """

    def __init__(self, program: Definition):
        self.program, self.engine = program, Engine(program)
        self.history: dict[str, list[list[float]]] = {n: [] for n in program.variables}
        self.length = 0
        self.layers: list[int] = []

    def feed(self, token: int) -> int:
        start = self.engine.start(np.full((1, self.length + 1), token))
        here = {n: a[:, -1:] for n, a in start.items()}
        self.length += 1
        lengths, rows = np.array([self.length]), np.array([0])
        active = np.arange(self.length)[None] == self.length - 1
        layer = 0
        while True:
            self._keep(layer, here)
            if self._done(here) or layer == self.program.max_layers:
                break
            state = {n: np.array([self.history[n][layer]]) for n in here}
            layer += 1
            after, _ = self.engine.layer(state, lengths, layer, rows, causal=True, active=active)
            here = {n: a[:, -1:] for n, a in after.items()}
        if self.program.halt is not None and not self._done(here):
            raise HaltError(self.program.name, 0, self.program.max_layers)
        self.layers.append(layer)
        self._fill(layer, here)
        return int(here[self.program.output_name][0, 0])

    def _done(self, here: State) -> bool:
        halt = self.program.halt
        return halt is not None and bool((here[halt.variable] == halt.value).all())

    def _keep(self, layer: int, here: State) -> None:
        """Cache the newest position's values before a layer; in a new deepest layer, the others keep their last."""
        for name, layers in self.history.items():
            if layer == len(layers):
                layers.append(list(layers[-1][: self.length - 1]) if layers else [])
            layers[layer].append(here[name][0, 0].item())

    def _fill(self, last: int, here: State) -> None:
        """Keep the position as it is in all layers after its last."""
        for name, layers in self.history.items():
            for layer in range(last + 1, len(layers)):
                layers[layer].append(here[name][0, 0].item())

    def result(self, tokens: list[int]) -> Decoding:
        state = {n: np.array([layers[-1]]) for n, layers in self.history.items()}
        return Decoding(tokens, list(self.layers), {n: a[0] for n, a in self.engine.entries(state).items()})
