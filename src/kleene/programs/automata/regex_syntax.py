"""A reader of regular expressions whose errors name the position of a mistake.

    ab        a, then b                      a*  a+  a?       any number, at least one, at most one
    a|b       either                         a{3}  a{2,4}     3 times, 2 to 4; also a{2,} and a{,4}
    ( )       groups; () is the empty word   .                any symbol of the alphabet
    ε         the empty word                 [abc] [a-f] [^a] one of these symbols; any symbol but these
    \\x        the character x itself      ^a  a$          the same as a: ^ and $ are the word's ends

A symbol is one character. An expression matches whole words, as `re.fullmatch` does, so that ^ and $ add nothing;
^ and $ are refused where there may be symbols before the one or after the other.
"""

from dataclasses import dataclass, field
from typing import NoReturn

from kleene.errors import ProgramError

SPECIAL = "|*+?{}()[].\\^$"
LARGEST = 20_000  # places of symbols, counted repetitions written out; so no count can be larger
MOST_SYMBOLS = 10_000  # named by the classes of an expression; all of Unicode has a million


@dataclass(frozen=True)
class Symbols:
    """One symbol out of some; with `others`, out of the rest of the alphabet."""

    characters: frozenset[str]
    others: bool = False


@dataclass(frozen=True)
class Either:
    options: tuple["Expression", ...]


@dataclass(frozen=True)
class Sequence:
    parts: tuple["Expression", ...]


@dataclass(frozen=True)
class Repeated:
    """A part from `least` to `most` times; without `most` any number of times above."""

    part: "Expression"
    least: int
    most: int | None


@dataclass(frozen=True)
class Anchor:
    """^ or $, and its position in the expression."""

    sign: str
    place: int


Expression = Symbols | Either | Sequence | Repeated | Anchor
EMPTY = Sequence(())


@dataclass
class _ExpressionReader:
    """Reads an expression from left to right."""

    text: str
    epsilon: bool  # whether ε is the empty word; it is a symbol where the alphabet has it
    at: int = 0
    literals: dict[str, int] = field(default_factory=dict)  # each symbol named, and where it first is

    def fail(self, what: str, place: int) -> NoReturn:
        raise ProgramError(f"the regular expression {shortened(self.text)} cannot be read: {what} at position {place}")

    @property
    def next(self) -> str:
        return self.text[self.at : self.at + 1]

    def either(self) -> Expression:
        options = [self.sequence()]
        while self.next == "|":
            self.at += 1
            options.append(self.sequence())
        if all(option == EMPTY for option in options):
            return EMPTY
        return options[0] if len(options) == 1 else Either(tuple(options))

    def sequence(self) -> Expression:
        parts = []
        while self.next and self.next not in "|)":
            parts.append(self.repeated())
        parts = [part for part in parts if part != EMPTY]
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def repeated(self) -> Expression:
        part = self.atom()
        if isinstance(part, Anchor) and self.next and self.next in "*+?{":
            self.fail(f"there is no symbol to repeat before {self.next!r}", self.at)
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
        number = int(digits.lstrip("0")[:9] or 0)  # nine digits are already too many
        if number > LARGEST:
            self.fail(f"a repetition of more than {LARGEST} times is asked for", place)
        return number

    def atom(self) -> Expression:
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
        if character and character in "^$":
            return Anchor(character, place)
        if character == "\\":
            return self.literal(self.escaped(place), place)
        if character in SPECIAL:
            what = "there is nothing to repeat before" if character in "*+?{" else "there is no partner for"
            self.fail(f"{what} {character!r} (write \\{character} for the character)", place)
        return self.literal(character, place)

    def group(self, place: int) -> Expression:
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

    def literal(self, character: str, place: int) -> Expression:
        self.literals.setdefault(character, place)
        if len(self.literals) > MOST_SYMBOLS:
            self.fail(f"there are more than {MOST_SYMBOLS:,} different symbols", place)
        return Symbols(frozenset(character))

    def symbol_class(self, place: int) -> Expression:
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
            if len(found) + ord(last) - ord(first) >= MOST_SYMBOLS:
                self.fail(f"a class names more than {MOST_SYMBOLS:,} symbols", place)
            found += [chr(code) for code in range(ord(first), ord(last) + 1)]
        self.at += 1
        if not found:
            self.fail("[] names no symbol", place)
        for character in found:
            self.literal(character, place)
        return Symbols(frozenset(found), others)

    def without_anchors(self, node: Expression, first: bool = True, last: bool = True) -> Expression:
        """The same tree without ^ and $; `first` and `last`: no symbol comes before or after the node."""
        if isinstance(node, Anchor):
            if not (first if node.sign == "^" else last):
                where, side = ("before", "beginning") if node.sign == "^" else ("after", "end")
                what = f"{node.sign!r} is the {side} of the word, but there may be symbols {where} it"
                self.fail(f"{what} (write \\{node.sign} for the character)", node.place)
            return EMPTY
        if isinstance(node, Either):
            return Either(tuple(self.without_anchors(option, first, last) for option in node.options))
        if isinstance(node, Repeated):
            once = node.most == 1  # with several copies, symbols of the first come before the second
            return Repeated(self.without_anchors(node.part, first and once, last and once), node.least, node.most)
        if isinstance(node, Sequence):
            return self._sequence_without_anchors(node, first, last)
        return node

    def _sequence_without_anchors(self, node: Sequence, first: bool, last: bool) -> Expression:
        solid = [number for number, part in enumerate(node.parts) if not isinstance(part, Anchor)]
        lead, trail = (solid[0], solid[-1]) if solid else (len(node.parts), 0)
        parts = [
            self.without_anchors(part, first and number <= lead, last and number >= trail)
            for number, part in enumerate(node.parts)
        ]
        return Sequence(tuple(part for part in parts if part != EMPTY))

    def class_member(self) -> str:
        place, character = self.at, self.next
        self.at += 1
        return self.escaped(place) if character == "\\" else character


def parse(regex: str, alphabet: tuple[str, ...] | None) -> tuple[Expression, dict[str, int]]:
    """The expression as a tree, and the symbols that it names with the position of each."""
    reader = _ExpressionReader(regex, epsilon="ε" not in (alphabet or ()))
    try:
        tree = reader.either()
        if reader.next:
            reader.fail(f"there is no partner for {reader.next!r} (write \\{reader.next} for the character)", reader.at)
        return reader.without_anchors(tree), reader.literals
    except RecursionError:
        raise ProgramError(f"the regular expression {shortened(regex)} nests parentheses too deeply") from None


def shortened(regex: str) -> str:
    """The expression in quotes, cut to a length that fits into an error."""
    return repr(regex) if len(regex) <= 200 else f"{regex[:200]!r}…"
