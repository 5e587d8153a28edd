"""The model card of an exported network: what it computes, what its dimensions mean, and why it is right."""

from collections.abc import Mapping, Sequence
from typing import Any

from kleene.exporting.sources import program_source
from kleene.machines.modeling import TorchParts
from kleene.traces.markup import Table

MOST_ROWS = 2000


def card(
    name: str,
    program: Any,
    parts: TorchParts,
    examples: Sequence[tuple[Any, Any]],
    certificate: str,
    versions: Mapping[str, str],
) -> str:
    """The README.md of an exported folder."""
    sections = [
        f"# {name}\n\n{_opening(parts)}",
        '## Use\n\n```python\nfrom modeling import load\n\nmodel = load(".")\n' + _uses(examples) + "```\n\n"
        "`modeling.py` needs torch and safetensors. `python example.py` runs the examples and compares their outputs.",
        f"## Program\n\n{_source(program)}",
        f"## Dimensions\n\n{_table(('dimension', 'meaning'), list(enumerate(parts.meanings)))}",
    ]
    if parts.parts:
        sections.append(f"## Heads\n\n{_table(('layer', 'head', 'selects by', 'distances'), parts.parts)}")
    sections.append(f"## Certificate\n\n```text\n{certificate}\n```")
    shown = ", ".join(f"{what} {version}" for what, version in versions.items() if what != "library")
    sections.append(f"Written by {shown}, from a program, not by training.")
    return "\n\n".join(sections) + "\n"


def _opening(parts: TorchParts) -> str:
    config = parts.config
    size = sum(array.size for array in parts.arrays.values())
    if parts.modeling == "rnn":
        longest = "" if config["longest"] is None else f" It is exact for words of up to {config['longest']} symbols."
        return (
            f"A recurrent network (`torch.nn.RNN`, {config['activation']}) of {len(parts.meanings)} hidden units and "
            f"{size:,} numbers, compiled from an automaton over the symbols {' '.join(config['alphabet'])}.{longest}"
        )
    kind = "one layer, repeated until every position has halted" if config["shared"] else f"{config['depth']} layers"
    start = int(config["vocabulary"] is not None)  # the model itself puts a start before its input
    length = "" if config["max_length"] is None else f" It takes inputs of up to {config['max_length'] - start} tokens."
    mask = " Its attention is causal." if config["causal"] else ""
    return (
        f"A Transformer ({kind}; {len(parts.meanings)} residual dimensions, {size:,} numbers in {config['dtype']}), "
        f"compiled from a program. It answers with `{config['output']['name']}` at every position.{length}{mask}"
    )


def _uses(examples: Sequence[tuple[Any, Any]]) -> str:
    return "".join(f"model.run({entered!r})  # {output!r}\n" for entered, output in examples)


def _source(program: Any) -> str:
    if program is None:
        return "The network came from a file, which does not hold its program."
    return f"```python\n{program_source(program)}\n```"


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    more = f"\n| … | and {len(rows) - MOST_ROWS:,} more, in config.json |" if len(rows) > MOST_ROWS else ""
    return Table(head, rows[:MOST_ROWS]).markdown() + more
