"""Command lines by number: valid ones on hostile files, and hostile ones."""

from dataclasses import dataclass, field
from random import Random

import typer

from kleene.cli import app
from tests.fuzzing.mutations import TEXTS, mutated
from tests.fuzzing.samples import MAKERS, sample
from tests.fuzzing.typed import ANYWHERE, LONG, NUMBERS, PLACED, PLACES, RIGHT, SUBJECTS, USES, VALUES, WITHHELD

SEED = 12  # of all cases; a case is drawn from this and its number


@dataclass(frozen=True)
class Case:
    """One call of the command line in a folder with these files."""

    number: int
    words: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = " ".join(
            repr(word if len(word) < 100 else f"{word[:60]}… ({len(word)} characters)") for word in self.words
        )
        return f"case {self.number}: kleene {shown}"


def case(number: int) -> Case:
    """The case of that number, always the same."""
    random = Random(f"{SEED} {number}")
    return random.choice((_on_file, _on_file, _on_file, _changed, _changed, _words))(number, random)


def _on_file(number: int, random: Random) -> Case:
    kind = random.choice(list(USES))
    other = sample(random.choice(list(MAKERS)))
    name = f"f{kind[kind.index('.') :]}"
    words = random.choice(USES[kind].splitlines()).split()
    typed = tuple(word.replace("F", name).replace("~", " ") for word in words)
    return Case(number, typed, {name: mutated(random, kind, sample(kind), other)})


def _changed(number: int, random: Random) -> Case:
    """A command line that is right, but for a word or two."""
    words = [word.replace("~", " ") for word in random.choice(RIGHT.splitlines()).split()]
    for _ in range(random.choice((1, 1, 2))):
        place, what = random.randrange(1, len(words) + 1), random.random()
        if what < 0.6 and place < len(words):
            words[place] = _odd(random, words[place])
        elif what < 0.7 and place < len(words):
            del words[place]
        elif what < 0.8 and place < len(words):
            words.insert(place, words[place])
        else:
            words[place:place] = _option(random, words[0])
    if words[0] == "teach" and "1" not in words:
        words.append("--no-such-option")
    return Case(number, tuple(words), {"program.py": sample("program.py")})


def _odd(random: Random, word: str) -> str:
    """Another word in the place of this one: of its kind, or of any."""
    if word.startswith("--"):
        return random.choice((word + "x", word[:-2], word[1:], "--"))
    pool = NUMBERS if word.isdigit() else PLACES if word.startswith("out.") else (*SUBJECTS, *NUMBERS, *TEXTS[:-1])
    return random.choice(pool).replace("\0", "")


def _option(random: Random, command: str) -> list[str]:
    parameters = _commands()[command].params
    options = [one for one in parameters if one.param_type_name == "option" and one.name not in WITHHELD]
    option = random.choice(options)
    value = [] if option.is_flag else [random.choice(PLACES if option.name in PLACED else VALUES).replace("\0", "")]
    return [random.choice(option.opts), *value]


def _commands() -> dict:
    return typer.main.get_command(app).commands  # type: ignore[attr-defined]


def _words(number: int, random: Random) -> Case:
    """A command with arguments and options that mean something or do not, in any order."""
    commands = _commands()
    name = random.choice([*commands, *commands, "", "dance", "--version", "--help"])
    words = [name]
    for parameter in commands[name].params if name in commands else ():
        words += _given(random, name, parameter)
    if random.random() < 0.3:
        words.insert(random.randrange(1, len(words) + 1), random.choice(ANYWHERE))
    if name in LONG:
        words += random.choice((["--no-such-option"], ["--json", "--no"], ["a", "b", "c"]))
    if name == "check" and ("--all" in words or "--random" in words):
        words.append("--no-such-option")
    return Case(number, tuple(words), {"program.py": sample("program.py")})


def _given(random: Random, command: str, parameter) -> list[str]:
    """What a person might type for a parameter, or nothing."""
    if parameter.param_type_name == "argument":
        pool = SUBJECTS if parameter.name in ("program", "file", "name", "task", "folder") else (*NUMBERS, *TEXTS[:-1])
        count = random.choice((0, 1, 1, 1, 3)) if parameter.nargs == -1 or random.random() < 0.2 else 1
        return [random.choice(pool).replace("\0", "") for _ in range(count)]
    if random.random() < 0.8 or parameter.name in ("help", "workers"):
        return []
    option = random.choice(parameter.opts)
    if parameter.is_flag:
        return [option]
    return [option, random.choice(PLACES if parameter.name in PLACED else VALUES).replace("\0", "")]
