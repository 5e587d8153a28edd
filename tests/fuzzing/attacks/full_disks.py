"""Disks that are full: a clear error, an exit status that says so, and the file that was there before."""

from collections.abc import Iterator
from pathlib import Path

from tests.fuzzing.attacks import Attack
from tests.fuzzing.cases import Case, files_of
from tests.fuzzing.trial import Ended, tried

# Lines that write FILE.
LINES = """compile parity_relative -o FILE.safetensors
compile dfa:(a|b)*abb -o FILE.safetensors
compile tm:bump -o FILE.safetensors
compile swap -o FILE.safetensors
compile rasp:hist -o FILE.safetensors
view dfa:tomita_3 -o FILE.svg
view dfa:tomita_3 -o FILE.png
view dfa:tomita_3 -o FILE.pdf
view dfa:tomita_3 -o FILE.html
view dfa:tomita_3 -o FILE.json
view dfa:tomita_3 -o FILE.dot
view dfa:tomita_3 -o FILE.jff
view tm:bump -o FILE.tm
extract exact.safetensors -o FILE.json
extract exact.safetensors -o FILE.svg
watch parity_relative 101 -o FILE.html
watch tm:bump 11 -o FILE.html
explain the~man~laughs -o FILE.svg
explain the~man~laughs -o FILE.png
explain the~man~laughs -o FILE.html
explain parity_relative --train length<=3 --test length<=4 -o FILE.svg
results kept --pivot hints,density --plot FILE.svg
results kept --plot FILE.html
check --random 1 --resume FILE.json
exercise start even_a -o FILE.py
teach dfa:tomita_1 --iterations 1 --seeds 1 --hidden 2 --batch 2 --model FILE.safetensors
teach dfa:tomita_1 --iterations 1 --seeds 1 --hidden 2 --batch 2 --results FILE
teach dfa:tomita_1 --iterations 1 --seeds 1 --hidden 2 --batch 2 --checkpoint FILE.safetensors
groundtruth build rnn.ends_abb.compiled --folder FILE
sweep sweep.toml --store FILE --minutes 0.00001""".splitlines()
SAID = ("cannot be", "is a device", "is not a file")
BYTES = (0, 100)  # that the disk still takes


def attacks() -> Iterator[Attack]:
    for line in LINES:
        for most in BYTES:
            yield f"{line}, {most} bytes free", lambda folder, line=line, most=most: _told(folder, line, most)
        if "FILE." in line and "exercise start" not in line:
            yield f"{line} onto a full device", lambda folder, line=line: _told_by_device(folder, line)


def _told(folder: Path, line: str, room: int) -> str | None:
    words = _words(line, "new")
    fault, ended = tried(Case(0, words, files_of(words), room=room), folder / "case", 60)
    return fault or _fault(ended) or _half(folder / "case")


def _told_by_device(folder: Path, line: str) -> str | None:
    (name,) = (word.replace("FILE", "full") for word in line.split() if "FILE" in word)
    words = _words(line, "full")
    case = Case(0, words, files_of(words) | {name: b""}, odd=(name, "full device"))
    fault, ended = tried(case, folder / "case", 60)
    return fault or _fault(ended)


def _words(line: str, name: str) -> tuple[str, ...]:
    return tuple(word.replace("FILE", name).replace("~", " ") for word in line.split())


def _fault(ended: Ended | None) -> str | None:
    if ended is None or ended.status != 2 or not any(words in ended.err for words in SAID):
        return f"it ended in {ended}"
    return None


def _half(folder: Path) -> str | None:
    """What is left of a file that could not be written."""
    parts = [file.name for file in folder.rglob("*.part")]
    begun = [file.name for file in folder.glob("new.*") if file.stat().st_size]
    return f"it left {parts + begun}" if parts or begun else None
