"""Convert the stored results of docs/results to one schema and one name each, and compare them number by number.

    python papers/convert.py

Every number and every word that a file held is held by its new file at the place that `moved` gives it; what the new
file has besides is its provenance. The script stops at the first file of which that is not true.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kleene_papers.stored import Provenance, Result

ROOT = Path(__file__).parents[1]
OLD, NEW = ROOT / "docs" / "results", ROOT / "papers" / "src" / "kleene_papers" / "results"
ENTRIES = ("name", "shows", "paper", "plans", "summary")  # stay at the top
NRAM = {"permute_noise": 7, "swap": 13, "increment": 14, "permute": 15, "list_k": 16, "merge": 17}
BENCHES = {"alta": "alta", "automata": "automata", "bench": "all", "interdependence": "interdependence",
           "learnability": "learnability", "scan": "scan", "teach": "teach"}  # fmt: skip

# Old file -> (new name, study, words behind `kleene reproduce STUDY`)
NAMES: dict[str, tuple[str, str, str]] = {
    "figure-9a-copy": ("traces-figure-9a", "traces-figure-9a", "--run full --first-seed 1000"),
    "figure-9a-copy-8000": ("traces-figure-9a-8000", "traces-figure-9a", "--run full --iterations 8000"),
    "figure-9b-repeat_copy_twice": ("traces-figure-9b", "traces-figure-9b", "--run full --first-seed 1000"),
    "figure-9b-repeat_copy_twice-8000": ("traces-figure-9b-8000", "traces-figure-9b", "--run full --iterations 8000"),
    "figure-9c-dyck_words-online": ("traces-figure-9c", "traces-figure-9c", "--run full --first-seed 1000"),
    "figure-9c-dyck_words": ("traces-figure-9c-after", "traces-figure-9c-after", "--run full --iterations 6000"),
    "figure-9d-flip_3rd": ("traces-figure-9d", "traces-figure-9d", "--run full --first-seed 1000"),
    "figure-9d-flip_3rd-7000": ("traces-figure-9d-7000", "traces-figure-9d", "--run full --iterations 7000"),
    "figure-9e-repeat_flip_3d": ("traces-figure-9e", "traces-figure-9e", "--run full --first-seed 1000"),
    "figure-9e-repeat_flip_3d-corner": ("traces-figure-9e-corners", "traces-figure-9e", ""),
    "figure-4": ("traces-figure-4", "traces-figure-4", "--run full --first-seed 1000"),
    "figure-18": ("traces-figure-18", "traces-figure-18", "--run full"),
    "dyck-readings": ("ours-dyck-readings", "ours-dyck-readings", "--run full --first-seed 1000"),
    "dyck-readings-online_walks": ("ours-dyck-readings-2000", "ours-dyck-readings", ""),
    "tape-decoders": ("ours-tape-decoders", "ours-tape-decoders", "--run quick"),
    "nram-deviations": ("ours-nram-deviations", "ours-nram-deviations", "--run full"),
    "nram-deviations-permute": ("ours-nram-deviations-permute", "ours-nram-deviations-permute", "--run full"),
    "copy-500": ("ours-copy-500", "", ""),
    "diverged": ("ours-diverged", "", ""),
    "parity-trace-supervision": ("alta-table-2", "alta-table-2", "--run full"),
    "parity-end-to-end": ("alta-table-3", "alta-table-3", "--run full"),
    "parity-end-to-end-quick": ("alta-table-3-quick", "alta-table-3", "--run quick"),
    "scan-end-to-end": ("alta-table-6", "alta-table-6", "--run full"),
    "minimal-programs": ("alta-section-4", "alta-section-4", "--run full"),
    "simplicity-bias": ("ours-simplicity-bias", "ours-simplicity-bias", "--run full"),
    "hints-for-transformers": ("ours-hints-for-transformers", "ours-hints-for-transformers", "--run full"),
    "transformers-taught": ("ours-transformers-taught", "", ""),
    "taught-algorithms": ("ours-taught-algorithms", "ours-taught-algorithms", "--run quick"),
    "rules": ("compose-figure-7a", "compose-figure-7a", "--run full"),
    "rules-quick": ("compose-figure-7a-quick", "compose-figure-7a", "--run quick --corpora 5"),
    "rule-frequency": ("compose-figure-11", "compose-figure-11", "--run full"),
    "rule-frequency-quick": ("compose-figure-11-quick", "compose-figure-11", "--run quick --corpora 5"),
    "english": ("compose-figure-3", "compose-figure-3", "--run full"),
    "english-quick": ("compose-figure-3-quick", "compose-figure-3", "--run quick --networks 5"),
    "english-shipped": ("compose-figure-3-shipped", "compose-figure-3", ""),
    "english-grammar": ("ours-english-grammar", "ours-english-grammar", "--run quick --networks 5"),
    "english-grammar-two": ("ours-english-grammar-two", "ours-english-grammar", "--run quick"),
    "english-model": ("ours-english-model", "", ""),
    "interactions": ("ours-interactions", "ours-interactions", ""),
    "circuits": ("ours-circuits", "ours-circuits", ""),
    "random-programs": ("ours-random-programs", "", ""),
    "sweeps-kills": ("ours-sweeps-kills", "", ""),
    "sweeps-2-cores": ("bench-sweep-2-cores", "", ""),
    "sweeps-h200": ("bench-sweep-h200", "", ""),
}
for task, figure in NRAM.items():
    for variant in ("", "-stated"):
        name = f"traces-figure-{figure}{variant}"
        NAMES[f"figure-12-{task}{variant}"] = (name, name, "--run full")
for language in ("tomita_3-rnn", "tomita_4-rnn", "tomita_5-rnn", "tomita_7-rnn", "tomita_5-lstm"):
    NAMES[f"state-hints-{language}"] = (f"ours-states-{language}", f"ours-states-{language}", "--run full")
for old, new in BENCHES.items():
    for machine in ("2-cores", "h200"):
        if (OLD / f"{old}-{machine}.json").exists():
            NAMES[f"{old}-{machine}"] = (f"bench-{new}-{machine}", "", "")


def moved(content: Any, name: str, study: str, words: str, path: Path) -> Result:
    """The content of a file in the new schema."""
    if isinstance(content, list):  # rows of `kleene bench`
        content = {"settings": content}
    known = {"checksum", "name", "versions", "seconds", "settings", "machine", "run", "command"}
    found = {key: value for key, value in content.items() if key not in known | {*ENTRIES}}
    versions = content.get("versions", {})
    bench = name.removeprefix("bench-").removesuffix("-2-cores").removesuffix("-h200")
    command = content.get("run") or content.get("command") or (f"kleene reproduce {study} {words}" if words else None)
    if name.startswith("bench-") and "settings" in content:
        command = f"kleene bench {'' if bench == 'all' else bench}".strip()
    if study in ("ours-interactions", "ours-circuits"):
        command = f"kleene judge --of {study.removeprefix('ours-')}"
    commit, date = log(path)
    machine = content.get("machine") or machine_of(path.stem, versions)
    provenance = Provenance(
        command, size_of(words), commit, date, machine, versions, seeds(content), content.get("seconds")
    )
    return Result(
        name, study, content.get("shows", name), provenance, content.get("paper", {}), content.get("plans", []),
        content.get("settings", []), found, content.get("summary", []),
    )  # fmt: skip


def size_of(words: str) -> str | None:
    return words.split()[1] if words.startswith("--run") else None


def log(path: Path) -> tuple[str, str]:
    """The commit that stored the file, and its day."""
    told = subprocess.run(["git", "log", "-1", "--format=%h %as", "--", str(path)], capture_output=True, text=True)
    commit, date = told.stdout.split()
    return commit, date


def machine_of(stem: str, versions: dict[str, str]) -> str | None:
    device = versions.get("device", "")
    if "H200" in device or stem.endswith("h200"):
        return "one NVIDIA H200"
    return "2 cores" if device == "cpu" or stem.endswith("2-cores") else None


def seeds(content: dict[str, Any]) -> list[int] | None:
    """The first seed and the last."""
    found = [seed for plan in content.get("plans", []) for seed in plan.get("seeds", [])]
    return [min(found), max(found)] if found else None


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every value of a file that is no list and no object, with its path; empty ones too."""
    if isinstance(value, (dict, list)) and value:
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(one, (*path, key))
    else:
        yield path, value


def place(path: tuple[Any, ...], is_list: bool) -> tuple[Any, ...]:
    """Where a value of an old file is in the new one."""
    if is_list:
        return ("rows", *path)
    first = path[0]
    if first in ("versions", "seconds", "machine"):
        return ("provenance", *path)
    if first in ("run", "command"):
        return ("provenance", "command")
    return ("rows", *path[1:]) if first == "settings" else path if first in ENTRIES else ("found", *path)


def main() -> None:
    NEW.mkdir(exist_ok=True)
    left = {path.stem for path in OLD.glob("*.json")} ^ {*NAMES}
    if left:
        sys.exit(f"no new name, or no file: {sorted(left)}")
    compared = 0
    for old, (name, study, words) in NAMES.items():
        path = OLD / f"{old}.json"
        content = json.loads(path.read_text())
        moved(content, name, study, words, path).save(NEW)
        back = dict(leaves(json.loads((NEW / f"{name}.json").read_text())))
        for at, value in leaves(content):
            if at in (("name",), ("checksum",)) and not isinstance(content, list):
                continue
            there = place(at, isinstance(content, list))
            if there not in back or repr(back[there]) != repr(value):
                sys.exit(f"{old}: {at} is {value!r}, and {name} has {back.get(there, 'nothing')!r} at {there}")
            compared += 1
    print(f"{len(NAMES)} files, {compared:,} values, all equal")


if __name__ == "__main__":
    main()
