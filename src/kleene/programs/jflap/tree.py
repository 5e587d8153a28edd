"""XML as a tree of elements, read safely: no document type, so no entities and nothing from elsewhere; bounded."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from kleene.errors import ProgramError

DEEPEST = 50  # elements within each other
MOST_ELEMENTS = 2_000_000


@dataclass
class Element:
    """An element with its attributes, its children, the text directly in it, and the line in which it begins."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list["Element"] = field(default_factory=list)
    text: str = ""

    def all(self, *tags: str) -> Iterator["Element"]:
        """The children with one of these tags."""
        return (child for child in self.children if child.tag in tags)

    def first(self, tag: str) -> "Element | None":
        return next(self.all(tag), None)

    def below(self) -> Iterator["Element"]:
        """This element and all elements in it."""
        waiting: list[Element] = [self]
        while waiting:
            found = waiting.pop()
            yield found
            waiting += reversed(found.children)


def parse(content: bytes) -> tuple[Element, list[str]]:
    """The outermost element, and the comments of the file; a ProgramError names the line that cannot be read."""
    reader = _Reader()
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        said = expat.errors.messages.get(error.code, "it cannot be read")
        raise ProgramError(f"this is not XML: line {error.lineno}: {said}") from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not have, or that is not single-byte
        raise ProgramError(f"the encoding of the XML is not known: {error}") from None
    assert reader.root is not None
    return reader.root, reader.comments


class _Reader:
    def __init__(self) -> None:
        self.root: Element | None = None
        self.comments: list[str] = []
        self.path: list[tuple[Element, list[str]]] = []  # the open elements, each with its text so far
        self.count = 0
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.CommentHandler = self.comments.append
        parser.StartDoctypeDeclHandler = self.refuse

    def refuse(self, *declared: object) -> None:
        raise ProgramError(
            f"line {self.parser.CurrentLineNumber}: the XML declares a document type (DOCTYPE), which can name other "
            f"files and grow without bound. JFLAP writes none: remove the declaration"
        )

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self.parser.CurrentLineNumber)
        self.count += 1
        if len(self.path) >= DEEPEST or self.count > MOST_ELEMENTS:
            what = f"more than {MOST_ELEMENTS:,} elements" if self.count > MOST_ELEMENTS else "elements nested too deep"
            raise ProgramError(f"line {element.line}: the XML has {what} for a drawing")
        if self.path:
            self.path[-1][0].children.append(element)
        else:
            self.root = element
        self.path.append((element, []))

    def characters(self, text: str) -> None:
        self.path[-1][1].append(text)

    def end(self, tag: str) -> None:
        element, parts = self.path.pop()
        element.text = "".join(parts)
