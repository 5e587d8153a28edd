"""Reading regular expressions, so that a mistake is shown where it is.

    ab        a, then b                      a*  a+  a?       any number, at least one, at most one
    a|b       either                         a{3}  a{2,4}     so many times; also a{2,} and a{,4}
    ( )       groups; () is the empty word   .                any symbol of the alphabet
    ε         the empty word                 [abc] [a-f] [^a] one of these symbols; any symbol but these
    \\x        the character x itself

A symbol is one character. An expression matches whole words, as `re.fullmatch` does.
"""

from dataclasses import dataclass, field
from typing import NoReturn

from kleene.errors import ProgramError

SPECIAL = "|*+?{}()[].\\"
LARGEST = 20_000  # places of symbols, counted repetitions written out; so no count can be larger


@dataclass(frozen=True)
class Symbols:
    """One symbol out of some; with `others`, out of the rest of the alphabet."""

    characters: frozenset[str]
    others: bool = False


@dataclass(frozen=True)
class Either:
    options: tuple["Node", ...]


@dataclass(frozen=True)
class Sequence:
    parts: tuple["Node", ...]


@dataclass(frozen=True)
class Repeated:
    """A part from `least` to `most` times; without `most` any number of times above."""

    part: "Node"
    least: int
    most: int | None


Node = Symbols | Either | Sequence | Repeated
EMPTY = Sequence(())


@dataclass
class _Reader:
    """Reads an expression from left to right."""

    text: str
    epsilon: bool  # whether ε is the empty word; it is a symbol where the alphabet has it
    at: int = 0
    literals: dict[str, int] = field(default_factory=dict)  # each symbol named, and where it first is

    def fail(self, what: str, place: int) -> NoReturn:
        raise ProgramError(f"the regular expression {self.text!r} cannot be read: {what} at position {place}")

    @property
    def next(self) -> str:
        return self.text[self.at : self.at + 1]

    def either(self) -> Node:
        options = [self.sequence()]
        while self.next == "|":
            self.at += 1
            options.append(self.sequence())
        if all(option == EMPTY for option in options):
            return EMPTY
        return options[0] if len(options) == 1 else Either(tuple(options))

    def sequence(self) -> Node:
        parts = []
        while self.next and self.next not in "|)":
            parts.append(self.repeated())
        parts = [part for part in parts if part != EMPTY]
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def repeated(self) -> Node:
        part = self.atom()
        bounds = self.bounds()
        if bounds is None:
            return part
        if self.next and self.next in "*+?{":
            self.fail(f"there is a second repetition {self.next!r} (put the first one in parentheses)", self.at)
        return EMPTY if part == EMPTY or bounds[1] == 0 else Repeated(part, *bounds)

    def bounds(self) -> tuple[int, int | None] | None:
        """The repetition that stands here, if there is one."""
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if self.next in simple:
            self.at += 1
            return simple[self.text[self.at - 1]]
        if self.next != "{":
            return None
        place, end = self.at, self.text.find("}", self.at)
        low, comma, high = self.text[place + 1 : end].partition(",")
        numbers = all(part.isascii() and part.isdigit() for part in (low, high) if part)
        if end < 0 or not numbers or not (low or high):
            self.fail("{ is not followed by {n}, {n,}, {,m} or {n,m} (write \\{ for the character)", place)
        self.at = end + 1
        least = self.count(low, place)
        most = least if not comma else self.count(high, place) if high else None
        if most is not None and least > most:
            self.fail(f"{{{low},{high}}} asks for at least {least} and at most {most}", place)
        return least, most

    def count(self, digits: str, place: int) -> int:
        number = int(digits.lstrip("0")[:9] or 0)  # nine digits are too many already, and thousands cannot be read
        if number > LARGEST:
            self.fail(f"a repetition of more than {LARGEST} times is asked for", place)
        return number

    def atom(self) -> Node:
        place, character = self.at, self.next
        self.at += 1
        if character == "(":
            return self.group(place)
        if character == "[":
            return self.symbol_class(place)
        if character == ".":
            return Symbols(frozenset(), others=True)
        if character == "ε" and self.epsilon:
            return EMPTY
        if character == "\\":
            return self.literal(self.escaped(place), place)
        if character in SPECIAL:
            what = "there is nothing to repeat before" if character in "*+?{" else "there is no partner for"
            self.fail(f"{what} {character!r} (write \\{character} for the character)", place)
        return self.literal(character, place)

    def group(self, place: int) -> Node:
        if self.text.startswith("?:", self.at):
            self.at += 2
        elif self.next == "?":
            self.fail("(? begins something that an automaton cannot do, or that is not known here", place)
        inside = self.either()
        if self.next != ")":
            self.fail("there is a ( that is never closed", place)
        self.at += 1
        return inside

    def escaped(self, place: int) -> str:
        character = self.next
        self.at += 1
        if not character or character.isalnum():
            self.fail(f"\\{character} is not known (\\ stands before a special character)", place)
        return character

    def literal(self, character: str, place: int) -> Node:
        self.literals.setdefault(character, place)
        return Symbols(frozenset(character))

    def symbol_class(self, place: int) -> Node:
        others = self.next == "^"
        self.at += others
        found: list[str] = []
        while self.next != "]":
            if not self.next:
                self.fail("there is a [ that is never closed", place)
            first = self.class_member()
            last = first
            if self.next == "-" and self.text[self.at + 1 : self.at + 2] not in ("", "]"):
                self.at += 1
                last = self.class_member()
            if first > last:
                self.fail(f"{first}-{last} runs backwards", place)
            found += [chr(code) for code in range(ord(first), ord(last) + 1)]
        self.at += 1
        if not found:
            self.fail("[] names no symbol", place)
        for character in found:
            self.literals.setdefault(character, place)
        return Symbols(frozenset(found), others)

    def class_member(self) -> str:
        place, character = self.at, self.next
        self.at += 1
        return self.escaped(place) if character == "\\" else character


def parse(regex: str, alphabet: tuple[str, ...] | None) -> tuple[Node, dict[str, int]]:
    """The expression as a tree, and the symbols that it names with the place of each."""
    reader = _Reader(regex, epsilon="ε" not in (alphabet or ()))
    try:
        tree = reader.either()
    except RecursionError:
        raise ProgramError(f"the regular expression {regex[:40]!r}… nests parentheses too deeply") from None
    if reader.next:
        reader.fail(f"there is no partner for {reader.next!r} (write \\{reader.next} for the character)", reader.at)
    return tree, reader.literals
