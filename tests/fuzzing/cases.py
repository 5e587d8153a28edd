"""Command lines by number: valid ones on hostile files, and hostile ones."""

from dataclasses import dataclass, field
from random import Random

import typer

from kleene.cli import app
from tests.fuzzing.mutations import TEXTS, mutated
from tests.fuzzing.samples import MAKERS, sample

SEED = 12  # of all cases; a case is drawn from this and its number

# What can be done with a file of each kind; a word of capitals stands for the file. `load` is no command: it calls the
# library's own function for files that no command reads.
NETWORK = (
    "run F 0 1 1 0",
    "run F the man",
    "run F 1 0 --trace",
    "run F 1 2 0 --steps 2 --json",
    "compile F",
    "rules F 1",
)
NETWORK += ("extract F --max-states 50", "extract F -o out.json --minimise", "extract F --method lstar --max-states 4")
NETWORK += ("view F 0110 -o out.svg", "explain the --model F", "check F", "certify F --length 5", "load F")
USES = {
    "exact.safetensors": NETWORK,
    "float.safetensors": NETWORK,
    "turing.safetensors": (*NETWORK, "run F 1 1 --max-steps 50", "run F 1 1 --max-steps 50 --trace --json"),
    "transformer.safetensors": (*NETWORK, "run F 1 0 1 --max-layers 5"),
    "lstm.safetensors": (*NETWORK, "explain the~man~laughs --model F --focus man --plot out.svg"),
    "lm.safetensors": (*NETWORK, "explain the~man --model F --plot out.svg --json"),
    "nram.safetensors": (*NETWORK, "run F 1 2 0 --steps 3", "run F 1 1 --steps 1 --trace"),
    "circuit.safetensors": (*NETWORK, "run F 1 3 2 0"),
    "ntm.safetensors": NETWORK,
    "rules.safetensors": ("load F", "run F 1"),
    "checkpoint.safetensors": ("load F", "load F", "run F 1"),
    "automaton.json": ("run dfa:F 0110", "run dfa:F 01 --trace --json", "compile dfa:F -o out.safetensors", "extract dfa:F",
                       "view dfa:F 01 -o out.svg", "check dfa:F --samples 2 --max-length 3", "run dfa:F 0 --compiled"),
    "machine.tm": ("run tm:F 11 --max-steps 50", "run tm:F 11 --compiled --max-steps 20 --trace", "compile tm:F",
                   "view tm:F -o out.svg", "compile tm:F --construction merged -o out.safetensors"),
    "circuit.nram": ("run circuit:F 1 3 2 0", "run circuit:F 1 1 --steps 4 --trace", "compile circuit:F"),
    "trace.json": ("load F",),
    "trace.npz": ("load F",),
    "tree.conllu": ("explain --conllu F --plot out.svg", "explain --conllu F:1 --json", "load F"),
    "text.txt": ("load F",),
    "results.json": ("results .", "results . --json"),
    "tally.json": ("check --random 1 --resume F", "check --random 2 --resume F --json"),
}  # fmt: skip
USES["automaton.dot"] = USES["automaton.json"]

NUMBERS = ("0", "1", "2", "3", "-1", str(-(10**20)), "9" * 20, "9" * 5000, "1e3", "x", "", "0x10", "1.5", "nan", "٣")
SUBJECTS = ("parity_relative", "addition", "sort", "dfa:(a|b)*abb", "dfa:tomita_4", "tm:bump", "increment", "rnn:nothing",
            "program.py", "program.py:flip", "program.py:nothing", "dfa:", "tm:", "circuit:", "rnn:", "nowhere.safetensors",
            "dfa:nowhere.json", "dfa:[", "dfa:a{2,1}", "dfa:(((a)", "dfa:a{0,99999999}", "dfa:[a-é]", "dfa:\\", "tm:x.tm",
            "circuit:x.nram", ".", "/", "..", ":", "::", "a.py:", ".safetensors", "dfa:.json", "x" * 5000 + ".py", "-", "📦",
            "dfa:" + "(" * 3000, "dfa:" + "a" * 3000, "/dev/zero", "/dev/null.safetensors", "dfa:a|", "dfa:()")  # fmt: skip
PLACES = ("out.svg", "out.json", "out.txt", "", ".", "nowhere/out.svg", "program.py/x.svg", "/dev/full", "x" * 300, "-",
          "out.safetensors", "/proc/self/nothing.svg", "a\nb.svg", "é.svg", "/dev/null")  # fmt: skip
PLACED = ("output", "plot", "resume", "checkpoint", "results", "model", "heads", "conllu", "folder")
VALUES = (*NUMBERS, *NUMBERS, *TEXTS[:-1], "float64", "relu", "last", "compact", "lstar", "paper")
HARMLESS = (
    "--help",
    "--json",
    "--trace",
    "--compiled",
    "--quick",
    "--no-such-option",
    "--",
    "-o",
    "--debugger",
    "--version",
)
LONG = ("demo", "bench", "reproduce", "teach")  # what they do when all is well takes minutes: they get bad words alone


# Command lines that are right, and quick.
RIGHT = (
    "list --json", "run parity_relative 1 0 1 --trace", "run addition 78 45 --max-layers 40", "run sort 3 1 2 --json",
    "run dfa:(a|b)*abb aabb --trace --json", "run dfa:(a|b)*abb abb --compiled --form live", "run tm:bump 11 --max-steps 50",
    "run tm:copy 101 --compiled --max-steps 30 --construction compact", "run increment 1 3 2 0 --steps 3", "run swap 1 0 2 3",
    "run program.py 1 0 1", "run program.py:program 1 --compiled --dtype float64", "compile sort -o out.safetensors",
    "compile dfa:tomita_4 --activation slu -o out.safetensors", "compile tm:bump --dtype exact --json", "compile swap --json",
    "decode addition_decoded 12 30 --tokens 4", "decode induction_decoded a b c a --json", "rules parity_relative 1 0 1",
    "rules program.py 1", "check dfa:ab* --samples 3 --max-length 4 --seed 1", "check program.py --samples 2 --max-length 3",
    "check tm:bump --samples 2 --max-length 2", "check --random 1 --seed 3 --json", "certify program.py --length 6",
    "certify parity_relative --length 10 --dtype float64 --json", "extract dfa:a*b --minimise -o out.dot",
    "extract dfa:ab --method lstar --max-states 9 --seed 2 --json", "extract rnn:counter --max-states 20",
    "view dfa:(ab)* abab -o out.svg --no-dead", "view tm:bump -o out.svg --json", "view dfa:tomita_3 --force",
    "explain the~man~laughs --plot out.svg --json", "explain the~man~laughs --focus man --step 1 --plot out.svg",
    "explain the~man --heads 2~0 --plot out.svg", "explain the~man --method erasure --plot out.svg --json",
    "results . --json", "reproduce", "teach dfa:ab --iterations 1 --seeds 1 --hidden 2 --batch 2 --json",
)  # fmt: skip


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
    words = random.choice(USES[kind]).split()
    typed = tuple(word.replace("F", name).replace("~", " ") for word in words)
    return Case(number, typed, {name: mutated(random, kind, sample(kind), other)})


def _changed(number: int, random: Random) -> Case:
    """A command line that is right, but for a word or two."""
    words = [word.replace("~", " ") for word in random.choice(RIGHT).split()]
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
    options = [
        p for p in _commands()[command].params if p.param_type_name == "option" and p.name not in ("everything", "full")
    ]
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
        words.insert(random.randrange(1, len(words) + 1), random.choice(HARMLESS))
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
    if random.random() < 0.8 or parameter.name in ("help",):
        return []
    option = random.choice(parameter.opts)
    if parameter.is_flag:
        return [option]
    return [option, random.choice(PLACES if parameter.name in PLACED else VALUES).replace("\0", "")]
