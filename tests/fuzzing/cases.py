"""Cases by number: command lines, right ones and hostile ones, and what can be done with hostile files."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from tests.fuzzing.lines import drawn
from tests.fuzzing.mutations import TEXTS, mutated
from tests.fuzzing.parameters import Parameter, commands
from tests.fuzzing.samples import FOLDERS, INSIDE, NAMES, folder, sample
from tests.fuzzing.typed import ANYWHERE, LONG, NUMBERS, PLACED, PLACES, RIGHT, SUBJECTS, USES, VALUES, WITHHELD

SEED = 12  # of all cases; a case is drawn from this and its number
ODD = ("pipe", "folder", "link to itself", "link to nothing", "device")  # what may be in a file's place
WAITING = ("workers", "live", "watch", "ray")
Kind = Literal["line", "file"]


@dataclass(frozen=True)
class Case:
    """One call of the command line in a folder with these files, one of which may be none."""

    number: int
    words: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)
    kind: Kind = "line"
    odd: tuple[str, str] | None = None  # a file, and what is in its place
    room: int | None = None  # bytes that a file can have, as on a full disk

    def __str__(self) -> str:
        shown = " ".join(
            repr(word if len(word) < 100 else f"{word[:60]}… ({len(word)} characters)") for word in self.words
        )
        odd = f" (a {self.odd[1]} in the place of {self.odd[0]})" if self.odd else ""
        return f"{self.kind} {self.number}: kleene {shown}{odd}"


def case(kind: Kind, number: int) -> Case:
    """The case of that kind and number, always the same."""
    random = Random(f"{SEED} {kind} {number}")
    if kind == "file":
        return _on_file(number, random)
    (draw,) = random.choices((drawn, _changed, _words), (8, 1, 1))
    words = draw(random)
    return Case(number, tuple(words), files_of(words))


def files_of(words: Iterable[str]) -> dict[str, bytes]:
    """The valid files that the words name."""
    text = " ".join(words)
    found = {name: sample(name) for name in NAMES if name.partition("/")[0] in text and name not in INSIDE}
    found |= {path: content for name in FOLDERS if name in text for path, content in folder(name).items()}
    found |= {"kept/results.json": sample("results.json")} if "kept" in text else {}
    return found | ({"data/scan/tasks.txt": sample("data/scan/tasks.txt")} if "split" in text else {})


def _on_file(number: int, random: Random) -> Case:
    kind = random.choice(list(USES))
    other = sample(random.choice(NAMES))
    words = random.choice(USES[kind].splitlines()).split()
    name = kind if "/" in kind else f"f{kind[kind.index('.') :]}"
    typed = tuple(word.replace("F", name).replace("~", " ") for word in words)
    files = files_of([*typed, kind]) | {name: mutated(random, kind, sample(kind), other)}
    odd = (name, random.choice(ODD)) if random.random() < 0.05 else None
    return Case(number, typed, files, "file", odd)


def _changed(random: Random) -> list[str]:
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
    return words


def _odd(random: Random, word: str) -> str:
    """Another word in the place of this one: of its kind, or of any."""
    if word.startswith("--"):
        return random.choice((word + "x", word[:-2], word[1:], "--"))
    pool = NUMBERS if word.isdigit() else PLACES if word.startswith("out.") else (*SUBJECTS, *NUMBERS, *TEXTS[:-1])
    return random.choice(pool).replace("\0", "")


def _option(random: Random, command: str) -> list[str]:
    options = [one for one in commands()[command] if one.spellings and one.name not in WITHHELD]
    option = random.choice(options)
    value = [] if option.takes is bool else [random.choice(PLACES if option.name in PLACED else VALUES)]
    return [random.choice(option.spellings), *(word.replace("\0", "") for word in value)]


def _words(random: Random) -> list[str]:
    """A command with arguments and options that mean something or do not, in any order."""
    names = list(commands())
    name = random.choice([*names, *names, "", "dance", "--version", "--help"])
    words = [name] if name not in commands() else name.split()
    for parameter in commands().get(name, ()):
        words += _given(random, parameter)
    if random.random() < 0.3:
        words.insert(random.randrange(1, len(words) + 1), random.choice(ANYWHERE))
    if name in LONG:
        words += random.choice((["--no-such-option"], ["--json", "--no"], ["a", "b", "c"]))
    if name == "check" and ("--all" in words or "--random" in words):
        words.append("--no-such-option")
    return words


def _given(random: Random, parameter: Parameter) -> list[str]:
    """What a person might type for a parameter, or nothing."""
    if not parameter.spellings:
        pool = SUBJECTS if parameter.name in ("program", "file", "name", "task", "folder") else (*NUMBERS, *TEXTS[:-1])
        count = random.choice((0, 1, 1, 1, 3)) if parameter.repeated or random.random() < 0.2 else 1
        return [random.choice(pool).replace("\0", "") for _ in range(count)]
    if random.random() < 0.8 or parameter.name in WAITING:
        return []
    spelling = random.choice(parameter.spellings)
    if parameter.takes is bool:
        return [spelling]
    return [spelling, random.choice(PLACES if parameter.name in PLACED else VALUES).replace("\0", "")]
