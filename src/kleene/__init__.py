"""Kleene: a laboratory for neural computation.

Write an algorithm, compile it into exact network weights, watch program and network run side by side.

>>> import kleene
>>> from kleene.programs.alta.library import parity
>>> program = parity.relative()
>>> network = kleene.compile(program)
>>> network.run([2, 1, 0, 1]).output
[0, 1, 1, 0]
"""

from typing import TYPE_CHECKING, Any

from kleene import caching as caching  # first: it notes whether jax was imported before Kleene
from kleene.errors import KleeneError as KleeneError

if TYPE_CHECKING:
    from kleene.compiling import compile as compile
    from kleene.compiling.alta.attacks import attack as attack
    from kleene.compiling.certifying import certify as certify
    from kleene.compiling.checking import check as check
    from kleene.explaining.automata.extraction import extract as extract
    from kleene.explaining.words.explanation import explain as explain
    from kleene.exporting.export import export as export
    from kleene.groundtruth.hide import hide as hide
    from kleene.groundtruth.judging.judge import judge as judge
    from kleene.machines import UniversalTransformer as UniversalTransformer
    from kleene.machines.lstm.lstm import LSTM as LSTM
    from kleene.machines.protocol import load as load
    from kleene.machines.rnn.simple_rnn import SimpleRNN as SimpleRNN
    from kleene.notation.edits import Edit as Edit
    from kleene.programs.automata import DFA as DFA
    from kleene.programs.automata import NFA as NFA
    from kleene.programs.turing import TuringMachine as TuringMachine
    from kleene.reproducing import reproduce as reproduce
    from kleene.running import run as run
    from kleene.sweeping.results import results as results
    from kleene.sweeping.sweep import sweep as sweep
    from kleene.teaching.teach import teach as teach
    from kleene.traces import Channel as Channel
    from kleene.traces import Trace as Trace
    from kleene.traces import TraceBatch as TraceBatch
    from kleene.viewing import view as view
    from kleene.watching.watch import watch as watch

__version__ = "0.2.0"

# What takes time to import is imported on first use, so that `import kleene` and `kleene --help` are quick.
_LATE = {
    # verbs
    "attack": "kleene.compiling.alta.attacks",
    "certify": "kleene.compiling.certifying",
    "check": "kleene.compiling.checking",
    "compile": "kleene.compiling",
    "export": "kleene.exporting.export",
    "explain": "kleene.explaining.words.explanation",
    "extract": "kleene.explaining.automata.extraction",
    "hide": "kleene.groundtruth.hide",
    "judge": "kleene.groundtruth.judging.judge",
    "load": "kleene.machines.protocol",
    "reproduce": "kleene.reproducing",
    "results": "kleene.sweeping.results",
    "teach": "kleene.teaching.teach",
    "run": "kleene.running",
    "sweep": "kleene.sweeping.sweep",
    "view": "kleene.viewing",
    "watch": "kleene.watching.watch",
    # types
    "Channel": "kleene.traces",
    "DFA": "kleene.programs.automata",
    "Edit": "kleene.notation.edits",
    "LSTM": "kleene.machines.lstm.lstm",
    "NFA": "kleene.programs.automata",
    "SimpleRNN": "kleene.machines.rnn.simple_rnn",
    "Trace": "kleene.traces",
    "TraceBatch": "kleene.traces",
    "TuringMachine": "kleene.programs.turing",
    "UniversalTransformer": "kleene.machines",
}
__all__ = ["KleeneError", "__version__", *_LATE]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _LATE:
        from importlib import import_module

        globals()[name] = found = getattr(import_module(_LATE[name]), name)
        return found
    raise AttributeError(f"module 'kleene' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
