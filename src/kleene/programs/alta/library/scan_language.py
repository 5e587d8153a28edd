"""The language of SCAN (Lake & Baroni 2018): commands such as "jump twice after walk", and the actions they stand for.

A command is one phrase, or two joined by `and` or `after`. A phrase is a verb, perhaps a direction, perhaps
`opposite` or `around` before the direction, perhaps `twice` or `thrice` at the end; `turn` needs a direction. There
are 102 phrases, and so 102 + 2 · 102² = 20,910 commands.
"""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kleene.errors import InputError

VERBS = ("walk", "look", "run", "jump")
DIRECTIONS = ("left", "right")
MODES = ("opposite", "around")
REPEATS = {"twice": 2, "thrice": 3}
CONJUNCTIONS = ("and", "after")
WORDS = (*VERBS, "turn", *DIRECTIONS, *MODES, *REPEATS, *CONJUNCTIONS)
ACTIONS = ("I_WALK", "I_LOOK", "I_RUN", "I_JUMP", "I_TURN_LEFT", "I_TURN_RIGHT")
MOST_ACTIONS = 48  # "jump around left thrice and jump around left thrice"


@dataclass(frozen=True)
class Phrase:
    """A verb with its mode, direction and repeats; "" for a mode or direction that is not there."""

    verb: str
    mode: str = ""
    direction: str = ""
    repeats: int = 1

    def actions(self) -> list[str]:
        act = [] if self.verb == "turn" else [f"I_{self.verb.upper()}"]
        turn = [f"I_TURN_{self.direction.upper()}"] if self.direction else []
        body = {"": turn + act, "opposite": 2 * turn + act, "around": 4 * (turn + act)}[self.mode]
        return body * self.repeats


def commands() -> Iterator[str]:
    """Every command of the grammar.

    >>> len(set(commands()))
    20910
    """
    directed = [(), *((d,) for d in DIRECTIONS), *((m, d) for m in MODES for d in DIRECTIONS)]
    phrases = [
        " ".join((verb, *direction, *often))
        for verb in (*VERBS, "turn")
        for direction in directed
        for often in ((), *((r,) for r in REPEATS))
        if direction or verb != "turn"
    ]
    yield from phrases
    for conjunction in CONJUNCTIONS:
        for first in phrases:
            for second in phrases:
                yield f"{first} {conjunction} {second}"


def interpret(command: str | Sequence[str]) -> str:
    """The actions that a command stands for, spelled as in the published files.

    >>> interpret("jump twice after turn left")
    'I_TURN_LEFT I_JUMP I_JUMP'
    >>> interpret("jump opposite twice")
    Traceback (most recent call last):
    kleene.errors.InputError: 'jump opposite twice' is no command: 'twice' (word 3) comes instead of one of: left, right
    """
    phrases, conjunction = parse(command)
    if conjunction == "after":
        phrases = phrases[::-1]
    return " ".join(action for phrase in phrases for action in phrase.actions())


def is_command(words: str | Sequence[str]) -> bool:
    """Whether the words are a command of the grammar."""
    try:
        parse(words)
    except InputError:
        return False
    return True


def parse(command: str | Sequence[str]) -> tuple[list[Phrase], str]:
    """The phrases of a command as they stand, and the conjunction between them ("" where there is one phrase).

    Unknown words and commands outside the grammar are refused.
    """
    reader = _CommandReader(split_words(command))
    phrases = [reader.phrase()]
    conjunction = reader.take(*CONJUNCTIONS)
    if conjunction:
        phrases.append(reader.phrase())
    if reader.at < len(reader.words):
        reader.refuse("the end")
    return phrases, conjunction


def split_words(command: str | Sequence[str]) -> list[str]:
    """The words of a command given as one string or several; unknown ones are refused."""
    words = (command if isinstance(command, str) else " ".join(command)).split()
    if not words:
        raise InputError("the command is empty; give SCAN's words, for example: jump twice after walk")
    for word in words:
        if word not in WORDS:
            close = difflib.get_close_matches(word.lower(), WORDS, n=2)
            hint = f"did you mean {' or '.join(close)}?" if close else f"the words are {', '.join(WORDS)}"
            raise InputError(f"SCAN has no word {word!r}; {hint}")
    return words


@dataclass
class _CommandReader:
    """Reads a command from left to right, and remembers what could have come next."""

    words: list[str]
    at: int = 0
    wanted: tuple[str, ...] = ()

    def take(self, *choices: str) -> str:
        """The next word if it is one of the choices, else ""."""
        if self.at < len(self.words) and self.words[self.at] in choices:
            self.at, self.wanted = self.at + 1, ()
            return self.words[self.at - 1]
        self.wanted += choices
        return ""

    def phrase(self) -> Phrase:
        verb = self.take(*VERBS, "turn") or self.refuse()
        mode = self.take(*MODES)
        direction = self.take(*DIRECTIONS)
        if not direction and (mode or verb == "turn"):
            self.refuse()
        return Phrase(verb, mode, direction, REPEATS.get(self.take(*REPEATS), 1))

    def refuse(self, *also: str) -> str:
        where = "the end" if self.at == len(self.words) else f"{self.words[self.at]!r} (word {self.at + 1})"
        wanted = ", ".join((*self.wanted, *also))
        raise InputError(f"{' '.join(self.words)!r} is no command: {where} comes instead of one of: {wanted}")
