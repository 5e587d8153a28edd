"""The verb `export`: a network in a folder that opens without Kleene.

The formats are those of the table `FORMATS`. For "torch" the folder has model.safetensors, config.json, modeling.py,
which needs torch and safetensors alone, example.py, which runs some inputs and compares their outputs, and README.md.
"""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kleene import __version__, kinds, naming
from kleene.compiling import compile
from kleene.errors import InputError, RunError, did_you_mean
from kleene.exporting.cards import card
from kleene.exporting.folders import FORMAT, check_place, write_folder
from kleene.kinds import Kind
from kleene.machines.modeling import TorchParts
from kleene.running import typed_input
from kleene.traces.markup import html_facts

EXAMPLES = 3  # inputs that example.py runs
TRIED = 40  # random inputs that are tried for one with another answer


@dataclass(frozen=True)
class Exported:
    """What was written: the folder, its files, and the inputs with outputs that its example runs."""

    name: str
    format: str
    folder: str
    files: tuple[str, ...]
    examples: tuple[tuple[Any, Any], ...]
    certified: str

    def __str__(self) -> str:
        return f"wrote {self.folder}: {', '.join(self.files)}\ntry: python {Path(self.folder) / 'example.py'}"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def _repr_html_(self) -> str:
        facts = {"folder": self.folder, "files": ", ".join(self.files), "certificate": self.certified}
        return html_facts(facts, caption=self.name)


def export(subject: Any, format: str, folder: Any, **options: Any) -> Exported:
    """Write a network, or the network of a program, into a folder that opens without Kleene.

    `subject` is a program or network, or its name on the command line. `options` say how to compile a program. What the
    format cannot hold exactly is refused, and so is a folder that holds something else.

    >>> import kleene, tempfile
    >>> made = export(kleene.DFA.from_regex("(a|b)*abb"), "torch", tempfile.mkdtemp() + "/abb")
    >>> made.files
    ('README.md', 'config.json', 'example.py', 'model.safetensors', 'modeling.py')
    """
    if format not in FORMATS:
        raise InputError(f"there is no format {format!r} to export to; {did_you_mean(format, list(FORMATS))}")
    check_place(Path(folder))
    found, options = naming.taken(subject, options)
    program, network = _pair(found, options)
    return FORMATS[format](_Subject(naming.name_of(subject), program, network, found), folder)


@dataclass(frozen=True)
class _Subject:
    """What is exported: a network and its name, its program where that is known, and what was asked for."""

    name: str
    program: Any
    network: Any
    asked: naming.Found

    @property
    def kind(self) -> Kind:
        return kinds.of(self.network)


def _pair(found: naming.Found, options: dict[str, Any]) -> tuple[Any, Any]:
    """The program, if it is known, and the network."""
    given = {name: value for name, value in options.items() if value is not None}
    if found.is_program:
        return found.subject, compile(found.subject, **given)
    if given:
        raise InputError(f"{next(iter(given))} says how to compile a program, and this is a network; leave it out")
    origin = getattr(found.subject, "origin", None)
    return None if origin is None else origin.program, found.subject


def torch_parts(network: Any) -> TorchParts:
    """A machine in PyTorch's terms; refuses a kind that has no model there."""
    kind = kinds.of(network)
    if kind.torch is None:
        able = ", ".join(sorted({f"{k.name}s" for k in kinds.known() if k.torch is not None}))
        raise InputError(
            f"a network of the kind {kind.name!r} is not exported to PyTorch; these are: {able}. The weights of an "
            f"LSTM are written by kleene.machines.lstm.pytorch.save_state_dict"
        )
    return kind.torch(network)


def _to_torch(subject: _Subject, folder: Any) -> Exported:
    from safetensors.numpy import save

    parts = torch_parts(subject.network)
    examples = _examples(subject, parts.config.get("longest"))
    certificate = _certificate(subject)
    files = ("README.md", "config.json", "example.py", "model.safetensors", "modeling.py")
    config = {"format": FORMAT, "version": 1, "kleene": __version__, "files": list(files), **parts.config}
    facts = {"library": "torch", "kleene": __version__, "numpy": np.__version__}
    written = {
        "README.md": card(subject.name, subject.program, parts, examples, certificate, facts),
        "config.json": json.dumps(config, ensure_ascii=False, indent=1),
        "example.py": _example(subject.name, examples),
        "model.safetensors": save({name: np.array(array, order="C") for name, array in parts.arrays.items()}),
        "modeling.py": parts.source,
    }
    place = write_folder(folder, written)
    return Exported(subject.name, "torch", str(place), files, tuple(examples), certificate.partition("\n")[0])


FORMATS: dict[str, Callable[[_Subject, Any], Exported]] = {"torch": _to_torch}


def _examples(subject: _Subject, longest: int | None) -> list[tuple[Any, Any]]:
    """Some inputs and the network's outputs: the entry's own, and short ones on which the program does not fail.

    None is longer than `longest`, up to which the exported network is exact.
    """
    tried: list[Any] = []
    entry, reader = subject.asked.entry, subject.asked.kind
    if entry is not None:
        tried.append(typed_input(entry.example, subject.program or subject.network, entry, reader))
        tried += [given for given, _ in entry.cases]
    tried += _drawn(subject.program)
    symbols = _symbols(subject.network)
    tried += [
        [symbols[(start + i) % len(symbols)] for i in range(length)] for length in (3, 2, 1) for start in (0, 1, 2)
    ]
    chance = random.Random(0)
    tried += [[chance.choice(symbols) for _ in range(chance.randint(1, 6))] for _ in range(TRIED)]
    found: list[tuple[Any, Any]] = []
    for entered in tried:
        if longest is not None and len(entered) > longest:
            continue
        try:
            output = subject.network.run(entered).output
        except (RunError, InputError):
            continue
        alike = [other for other, answer in found if answer == output]
        if len(alike) < EXAMPLES - 1 and entered not in alike:  # one answer is not always the same
            found.append((entered, output))
        if len(found) == EXAMPLES:
            break
    return found


def _drawn(program: Any, size: int = 4) -> list[Any]:
    """Some of the inputs that the program declares, if it does."""
    chance, inputs = random.Random(0), getattr(program, "inputs", None)
    return [] if inputs is None else [list(inputs.sample(chance, size)) for _ in range(EXAMPLES)]


def _symbols(network: Any) -> Sequence[Any]:
    """The tokens or symbols that a network reads."""
    layout = getattr(network, "layout", None)
    if layout is None:
        return network.alphabet
    whole = getattr(layout, "program", layout)
    return list(range(whole.input_range)) if whole.vocabulary is None else whole.vocabulary.values


def _example(name: str, examples: Sequence[tuple[Any, Any]]) -> str:
    rows = "\n".join(f"    ({entered!r}, {output!r})," for entered, output in examples)
    return f'''"""Runs {name.replace(chr(34), "")} on some inputs and compares the outputs with those of the program."""

from pathlib import Path

from modeling import load

EXAMPLES = [  # an input, and the output
{rows}
]

model = load(Path(__file__).parent)
for entered, expected in EXAMPLES:
    found = model.run(entered)
    print(entered, "->", found)
    assert found == expected, f"expected {{expected}}"
print(f"all {{len(EXAMPLES)}} outputs are as expected")
'''


def _certificate(subject: _Subject) -> str:
    """The certificate in words, or why there is none."""
    if subject.program is None:
        return "There is no certificate, because the program is not known here."
    certifier = subject.kind.certifier
    if certifier is None:
        return "There is no certificate for this kind of network; `kleene check` compares it with its program."
    origin = getattr(subject.network, "origin", None)  # a network just compiled knows what it was compiled from
    known = None if origin is not None and origin.program is not None else subject.program
    return str(certifier(subject.network, length=None, program=known))
