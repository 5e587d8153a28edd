"""Examples in docstrings as blocks of code: Markdown would read `>>>` as three quotations."""

import griffe


class FencedExamples(griffe.Extension):
    """Puts the examples of every docstring between fences before the reference is written."""

    def on_object(self, *, obj: griffe.Object, **kwargs) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """The text with each run of lines from `>>>` to the next empty line as a block of Python."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if not inside and line.lstrip().startswith(">>>"):
            lines += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)
