"""Command lines drawn from each command's own parameters: most are right, and some have one word that is wrong."""

from random import Random

from tests.fuzzing import valid
from tests.fuzzing.mutations import TEXTS
from tests.fuzzing.parameters import Parameter, commands
from tests.fuzzing.typed import NUMBERS, PLACES, SUBJECTS

# How often lines of a command are drawn; those that are not here have 1.
OFTEN = {
    "run": 8,
    "explain": 5,
    "compile": 4,
    "view": 4,
    "check": 4,
    "watch": 4,
    "results": 3,
    "rules": 3,
    "certify": 3,
}
OFTEN |= {"extract": 3, "sweep": 2, "decode": 2, "export": 0.5, "exercise grade": 0.5, "list": 0.3, "teach": 0.3}
OFTEN |= {"doctor": 0.2, "reproduce": 0.2, "groundtruth build": 0.2, "judge": 0.1, "bench": 0.1, "demo": 0.0}
WRONG = 0.3  # share of lines that get a wrong word


def drawn(random: Random) -> list[str]:
    """The words of a command line."""
    names = list(commands())
    return drawn_of(random, random.choices(names, [OFTEN.get(name, 1) for name in names])[0])


def drawn_of(random: Random, name: str) -> list[str]:
    """The words of a line of that command."""
    draw = Draw(random, name)
    words = name.split() + (["--no-such-option"] if name == "bench" else [])
    for parameter in commands()[name]:
        words += draw.given(parameter)
    bounds = valid.BOUNDS.get(name, "").split()
    pairs = zip(bounds[::2], bounds[1::2])
    words += [word for pair in pairs if pair[0] not in words for word in pair]
    if random.random() < WRONG:
        place = random.randrange(len(name.split()), len(words) + 1)
        words[place : place + 1] = [_odd(random, words[place] if place < len(words) else "")]
    return words


class Draw:
    """One line as it is drawn: the command, what it is about, and which of its options go together."""

    def __init__(self, random: Random, command: str) -> None:
        self.random, self.command = random, command
        mode = random.choice(valid.MODES.get(command, ("",)))
        self.mode, self.first = mode.split(), mode.split()[: valid.FIRST.get(mode, 0)]
        kinds = valid.TAKEN.get(command, valid.ALL) if random.random() < 0.9 else valid.ALL
        self.kind = random.choice(kinds)
        self.subject, self.typed = random.choice(valid.subjects()[self.kind])
        if command == "decode" and random.random() < 0.7:
            self.subject, self.typed = random.choice(valid.DECODED)
        if "program" in self.first:
            self.subject = "transformer.safetensors"

    def given(self, parameter: Parameter) -> list[str]:
        """What a person types for a parameter, or nothing."""
        if (self.command, parameter.name) in valid.NEVER:
            return []
        if not parameter.spellings:
            return self._argument(parameter)
        if self.random.random() > self._share(parameter):
            return []
        spelling = self.random.choice(parameter.spellings)
        return [spelling] if parameter.takes is bool else [spelling, self.value(parameter)]

    def _share(self, parameter: Parameter) -> float:
        """How often an option is given."""
        if parameter.required or parameter.name in self.first:
            return 1.0
        if parameter.name in ("as_json", "output", "plot"):
            return 0.3
        fits = not self.mode or parameter.name in self.mode
        return 0.12 if fits and self.kind in valid.MEANT_FOR.get(parameter.name, valid.ALL) else 0.01

    def _argument(self, parameter: Parameter) -> list[str]:
        random = self.random
        if self.command != "sweep" and parameter.name in ("program", "file", "text"):
            return [self.value(parameter) if parameter.name == "text" and not self.first else self.subject]
        if parameter.name == "words" and self.command != "judge":
            return self._reworded()
        if parameter.name == "word":
            return ["".join(self.typed)][: random.randrange(2)]
        given = parameter.required or parameter.name in self.first or random.random() < 0.6
        return [self.value(parameter)] if given else []

    def _reworded(self) -> list[str]:
        """The words of an input, most often as they are; or in another order, some twice or none."""
        random, typed = self.random, self.typed
        if random.random() < 0.6 or not typed:
            return list(typed)
        return random.choices(typed, k=random.choice((1, 1, 2, len(typed), len(typed) + 1)))

    def value(self, parameter: Parameter) -> str:
        """A value that the command takes for the parameter."""
        names = (f"{self.command} {parameter.name}", f"{self.kind} {parameter.name}", parameter.name)
        if parameter.takes is int:
            small = next((valid.SMALL[name] for name in names if name in valid.SMALL), (0, 1, 2, 3))
            least = -(2**31) if parameter.least is None else parameter.least
            return str(self.random.choice([number for number in small if number >= least] or [int(least)]))
        return self.random.choice(next(valid.values()[name] for name in names if name in valid.values()))


def _odd(random: Random, word: str) -> str:
    """Another word in the place of this one: of its kind, or of any."""
    if word.startswith("--") and random.random() < 0.3:
        return random.choice((word + "x", word[:-2], word[1:], "--"))
    if word.startswith("-"):
        return random.choice(("--json", "--json", "--no-such-option"))
    near = (word + word, word[1:], word[:-1], word.upper(), f"{word},{word}", f" {word}", f"{word}\n", f"-{word}")
    pool = NUMBERS if word.isdigit() else PLACES if word.startswith("out.") else (*SUBJECTS, *NUMBERS, *TEXTS[:-1])
    return random.choice(random.choice((near, pool))).replace("\0", "")
