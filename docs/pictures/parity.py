"""Draw the README's picture: parity as a program and as a network, with the trace of each below it.

    python docs/pictures/parity.py [FILE.svg]

The weights and both traces are those of a compilation and of two runs, computed whenever the picture is drawn. Its
colours follow the reader's light or dark theme.
"""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

import kleene
from kleene.programs import alta

WIDE, TALL = 900, 452
LEFT, RIGHT, BETWEEN = 40, 560, 501  # where the two columns begin, and the middle of what stands between them
CODE, TRACE = 70, 218  # how far down code and weights begin, and the traces below them
INPUT = [1, 0, 1, 1, 0, 1]

STYLE = """
text{font-family:ui-sans-serif,system-ui,'Helvetica Neue',Arial,sans-serif;fill:#0f172a;font-size:13px}
.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;font-size:12.5px}
.title{font-size:16px;font-weight:bold}.quiet{fill:#475569}.middle{text-anchor:middle}.large{font-size:26px}
.card{fill:#ffffff}.paper{fill:#f1f5f9}.plus{fill:#ea580c}.minus{fill:#2563eb}.zero{fill:#e2e8f0}.waiting{opacity:0.35}
.bright{fill:#ffffff;font-weight:bold}
@media (prefers-color-scheme: dark){text{fill:#e6eaf0}.quiet{fill:#a3b0c2}.card{fill:#12161d}.paper{fill:#1c222c}
.plus{fill:#fb923c}.minus{fill:#60a5fa}.zero{fill:#2b3442}.bright{fill:#12161d}}
""".replace("\n", "")


def step(z):
    if not z["done"] and z["done_left"]:
        z["parity"] = z["parity"] ^ z["parity_left"]
        z["done"] = 1


def program() -> Any:
    """Parity from left to right, one position a layer: the program of the README's first example."""
    variables = {"parity": alta.input_var(2), "done": alta.position_var(2, lambda i: i == 0)}
    heads = {f"{name}_left": alta.v_relative(name, -1) for name in variables}
    return alta.program_spec(variables, heads, step, "parity", 2, position_range=400, halt=alta.halt_spec("done"))


def text(x: float, y: float, words: str, look: str = "") -> str:
    return f'<text class="{look}" x="{x:g}" y="{y:g}" xml:space="preserve">{escape(words)}</text>'


def square(x: float, y: float, side: float, look: str, opacity: float = 1) -> str:
    faint = "" if opacity == 1 else f' fill-opacity="{opacity:.2f}"'
    return f'<rect class="{look}" x="{x:g}" y="{y:g}" width="{side:g}" height="{side:g}" rx="3"{faint}/>'


def source(x: float, y: float) -> Iterator[str]:
    """The function's own lines."""
    yield f'<rect class="paper" x="{x}" y="{y}" width="420" height="96" rx="8"/>'
    for row, line in enumerate(inspect.getsource(step).rstrip().splitlines()):
        yield text(x + 14, y + 25 + 20 * row, line, "code")


def heat_map(x: float, y: float, weights: np.ndarray, name: str) -> Iterator[str]:
    """A matrix of weights: orange above 0, blue below, stronger where they are larger."""
    largest = np.abs(weights).max()
    for row, column in np.ndindex(*weights.shape):
        weight = float(weights[row, column])
        look = "zero" if weight == 0 else "plus" if weight > 0 else "minus"
        opacity = 1 if weight == 0 else 0.35 + 0.65 * abs(weight) / largest
        yield square(x + 12 * column, y + 12 * row, 11, look, opacity)
    yield text(x, y + 114, name, "quiet")


def grid(x: float, y: float, trace: kleene.Trace) -> Iterator[str]:
    """`parity` after every layer at every position, faint where `done` is not yet 1."""
    for layer, (values, done) in enumerate(zip(trace["parity"], trace["done"])):
        yield text(x, y + 17 + 30 * layer, "input" if layer == 0 else f"layer {layer}", "quiet")
        for position, (value, finished) in enumerate(zip(values, done)):
            left, top = x + 70 + 30 * position, y + 30 * layer
            look = ("plus" if value else "zero") + ("" if finished else " waiting")
            yield square(left, top, 27, look)
            yield text(left + 13.5, top + 18, str(value), "middle bright" if value and finished else "middle")


def picture() -> str:
    """The whole picture as SVG."""
    parity = program()
    network = kleene.compile(parity)
    weights = network.weights()
    by_program, by_network = parity.run(INPUT), network.run(INPUT)
    assert by_program == by_network
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDE} {TALL}" width="{WIDE}">',
        "<title>Parity as a program and as a network, with equal traces</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="card" width="{WIDE}" height="{TALL}" rx="10"/>',
        text(LEFT, 44, "program", "title"),
        text(RIGHT, 44, "network", "title"),
        *source(LEFT, CODE),
        text(BETWEEN, CODE + 52, "→", "middle large"),
        text(BETWEEN, CODE + 72, "compile", "middle quiet"),
        *heat_map(RIGHT, CODE, np.concatenate(weights["value"], axis=1), "value"),
        *heat_map(RIGHT + 84, CODE, weights["mlp_in"], "MLP in"),
        *heat_map(RIGHT + 204, CODE, weights["mlp_out"], "MLP out"),
        *grid(LEFT, TRACE, by_program),
        text(BETWEEN, TRACE + 98, "=", "middle large"),
        *grid(RIGHT, TRACE, by_network),
        text(
            LEFT,
            TALL - 22,
            "The variable parity after every layer, at every position: faint until it is done.",
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".svg")
    place.write_text(picture())
    print(place)
