"""How many layers a program takes at most on any input of up to a length.

Inputs are examined together: a *box* of inputs has a set of tokens at each position. Where the sets of codes that a box
leads to (`reaching`) show that every input halts, or that none ever does, the box is done. Otherwise it is run input by
input if it is small, and split at one position if it is not. A program that takes too many boxes is refused, because
its depth cannot be found; the user then gives it.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kleene.compiling.alta.reaching import Codes, Places, Reaching
from kleene.errors import CompileError
from kleene.programs.alta.cases import View
from kleene.programs.alta.interpreter import Engine, State
from kleene.programs.alta.program import Program

MOST_BOXES = 300
RUN_AT_ONCE = 1 << 12  # inputs of a box that is run input by input
FOLLOWED = 200  # layers for which the sets of a box are followed


@dataclass(frozen=True)
class Depth:
    """The number of layers, and how it is known."""

    layers: int
    reason: str


def depth_of(program: Program, max_length: int | None, *, most_boxes: int = MOST_BOXES) -> Depth:
    """The layers that suffice for every input of up to `max_length` tokens on which the program ends.

    >>> from kleene.programs.alta.library import parity
    >>> depth_of(parity.relative(), 12)
    Depth(layers=11, reason='every input of up to 12 tokens that halts does so within 11 layers')
    """
    if program.halt is None:
        return Depth(max(program.max_layers, 1), f"{program.name!r} always takes {program.max_layers} layers")
    if max_length is None:
        raise CompileError(
            f"{program.name}: the layers that it takes depend on its input, so unrolled layers need a greatest length; "
            f"give max_length=…, such as 12 (on the command line --max-length 12)"
        )
    search = _DepthSearch(program, most_boxes)
    layers = max(search.deepest(length) for length in range(1, max_length + 1))
    halts = f"every input of up to {max_length} tokens that halts does so within {layers} layers"
    return Depth(max(layers, 1), halts)


class _DepthSearch:
    def __init__(self, program: Program, most_boxes: int):
        self.program, self.most_boxes, self.boxes = program, most_boxes, 0
        self.halting = _Halting(program)
        self.known: dict = {}

    def deepest(self, length: int) -> int:
        """The most layers that an input of this length takes."""
        reaching = Reaching(self.program, length, whole=True, _known=self.known)
        waiting: list[list[Codes]] = [[reaching.tokens_at(place) for place in range(length)]]
        most = 0
        while waiting:
            box = waiting.pop()
            self.boxes += 1
            if self.boxes > self.most_boxes:
                raise CompileError(
                    f"{self.program.name}: the number of layers that it takes on inputs of up to {length} tokens could "
                    f"not be found by examining {self.most_boxes:,} sets of inputs. Give it as depth=…: an input that "
                    f"takes more layers is then refused. Or give a smaller max_length"
                )
            found = _followed(reaching, box)
            if found is None and math.prod(map(len, box)) <= RUN_AT_ONCE:
                found = self.halting.layers(list(itertools.product(*box)))
            if found is None:
                waiting += _split(box)
            else:
                most = max(most, found)
        return most


def _split(box: Sequence[Codes]) -> Iterator[list[Codes]]:
    """The box as smaller ones: the first position with several tokens gets one of them in each."""
    place = next(p for p, tokens in enumerate(box) if len(tokens) > 1)
    for token in sorted(box[place]):
        yield [*box[:place], frozenset({token}), *box[place + 1 :]]


def _followed(reaching: Reaching, box: Sequence[Codes]) -> int | None:
    """The layers after which all inputs of a box have halted, 0 if none ever does, and None if that is not known."""
    halt = reaching.program.halt
    assert halt is not None
    if reaching.places != reaching.count:
        return None  # too long to tell positions apart
    state, seen, done = reaching.start(box), [], frozenset({halt.value})
    for layer in range(min(reaching.program.max_layers, FOLLOWED) + 1):
        if all(codes == done for codes in state[halt.variable]):
            return layer
        if state in seen:
            loop: list[Places] = seen[seen.index(state) :]
            never = all(any(halt.value not in codes for codes in s[halt.variable]) for s in loop)
            return _last_chance(seen, halt.variable, halt.value) if never else None
        seen.append(state)
        _, state = reaching.layer(state)
    return None


def _last_chance(states: Sequence[Places], variable: str, value: int) -> int:
    """The last layer after which some input may have halted; none halts later."""
    may = [layer for layer, s in enumerate(states) if all(value in codes for codes in s[variable])]
    return max(may, default=0)


class _Halting(Engine):
    """Runs inputs until each has halted, looked at an undefined head, or come to rest without halting."""

    def layers(self, inputs: Sequence[Sequence[int]]) -> int:
        """The most layers that one of the inputs takes to halt."""
        tokens = np.array(inputs)
        lengths = np.full(len(tokens), tokens.shape[1])
        state, most = self.start(tokens), 0
        for layer in range(self.program.max_layers + 1):
            done = self.halted(state, lengths)
            most = layer if done.any() else most
            state, lengths = {n: a[~done] for n, a in state.items()}, lengths[~done]
            if not len(lengths):
                return most
            self.failed = np.zeros(len(lengths), dtype=bool)
            after, _ = self.layer(state, lengths, layer + 1, np.arange(len(lengths)))
            going = np.any([(after[n] != state[n]).any(axis=1) for n in after], axis=0) & ~self.failed
            state, lengths = {n: a[going] for n, a in after.items()}, lengths[going]
        return most

    def _refuse_undefined(self, view: View, reasons: State, inside: np.ndarray, layer: int, rows: np.ndarray) -> None:
        """Note the rows that end with an error, instead of raising it."""
        undefined = {h: (r > 0) & inside for h, r in reasons.items()}
        unsure = View(view.codes, undefined, self._tables, view)
        for head in reasons:
            for c in self.program.reads.get(head, ()) if undefined[head].any() else ():
                self.failed |= (unsure.holds(c) & undefined[head]).any(axis=1)
        for cases in self.program.faults.values():
            for c in cases:
                self.failed |= (view.holds(c) & inside).any(axis=1)
