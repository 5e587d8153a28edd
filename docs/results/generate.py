"""Write everything that comes from the JSON files of this folder again: tables, numbers in sentences, pictures.

    python docs/results/generate.py                      # everything
    python docs/results/generate.py --check              # change nothing; exit status 1 if anything differs
    python docs/results/generate.py --only texts         # pages and numbers, without the pictures
    python docs/results/generate.py --picture figure-4   # this picture alone; may be repeated
    python docs/results/generate.py --folder FOLDER      # pictures into this folder

Nothing is measured. Pictures are compared by the words and numbers in them, because drawing differs between versions of
matplotlib. Runs on single families of networks are joined by `python docs/results/judged.py PART.json …`.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import judged  # these sixteen lie beside this file
import machine_tables
import numbers_of_claims
import rate_tables
import redraw
import rule_tables
import sentences
import sentences_of_nram
import sentences_of_rules
import sentences_of_traces
import sentences_of_words
import short_tables
import speed_tables
import tables
import taught_tables
import word_tables

from kleene_papers.claims import claims

HERE = Path(__file__).parent
NUMBERS, CLAIMS = (
    HERE.parents[1] / "papers" / "src" / "kleene_papers" / f"{name}.toml" for name in ("numbers", "claims")
)
SENTENCES = {
    HERE / "partial-traces.md": [*sentences_of_traces.PAGE, *sentences_of_nram.PAGE],
    HERE / "interdependence.md": [*sentences_of_rules.PAGE, *sentences_of_words.PAGE],
    CLAIMS: [
        sentence
        for module in (sentences_of_traces, sentences_of_nram, sentences_of_rules, sentences_of_words)
        for sentence in module.CLAIMS
    ],
}
TABLES = {
    name: table
    for module in (
        tables,
        taught_tables,
        speed_tables,
        rate_tables,
        rule_tables,
        word_tables,
        machine_tables,
        short_tables,
    )
    for name, table in module.TABLES.items()
}


def pages() -> list[Path]:
    """The pages that may have tables: those of this folder, those on the five texts, and others of the docs."""
    return [page for folder in (HERE, HERE.parent / "texts", HERE.parent) for page in sorted(folder.glob("*.md"))]


def texts() -> Iterator[tuple[Path, str, list[str]]]:
    """Every file of text, what it has to be, and what is wrong with sentences in it that cannot be filled.

    Claims and their numbers come first, because a page lists them.
    """
    yield CLAIMS, *sentences.filled(CLAIMS.read_text(), SENTENCES[CLAIMS])
    yield NUMBERS, numbers_of_claims.written(), []
    claims.cache_clear()
    yield HERE / "judged.html", judged.page_to_look_at(), []
    for file in pages():
        page, problems = sentences.filled(file.read_text(), SENTENCES.get(file, ()))
        whole = tables.timed(judged.filled(page)) if file == judged.PAGE else tables.filled(page, TABLES)
        yield file, whole, problems


def words(path: Path) -> list[str]:
    """The words of a picture, in any order."""
    return sorted(text.strip() for text in ElementTree.parse(path).getroot().itertext() if text.strip())


def write_texts(check: bool) -> tuple[list[Path], list[str]]:
    """Write the texts, or only compare them; the files that differed, and sentences to mend by hand."""
    different, unfilled = [], []
    for file, right, problems in texts():
        unfilled += [f"mend by hand in {file.name}: {problem}" for problem in problems]
        if file.read_text() != right:
            different.append(file)
            if not check:
                file.write_text(right)
    return different, unfilled


def draw(names: Sequence[str], folder: Path) -> list[Path]:
    """Draw the pictures with these names, or all; the files."""
    known = dict(redraw.pictures())
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no picture {unknown[0]!r}; there are {', '.join(known)}")
    return [known[name](folder / f"{name}.svg") for name in names or known]


def different_pictures(names: Sequence[str]) -> list[Path]:
    """The pictures whose words are not those of their files' numbers."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = draw(names, Path(folder))
        stored = [HERE / file.name for file in drawn]
        return [now for new, now in zip(drawn, stored) if not now.exists() or words(new) != words(now)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing, and fail if anything differs")
    parser.add_argument("--only", choices=("texts", "pictures"), help="texts or pictures alone")
    parser.add_argument("--picture", action="append", default=[], metavar="NAME", help="this picture alone")
    parser.add_argument("--folder", type=Path, default=HERE, help="where to draw the pictures")
    given = parser.parse_args()
    different, unfilled = ([], []) if given.picture or given.only == "pictures" else write_texts(given.check)
    if given.only != "texts":
        different += different_pictures(given.picture) if given.check else draw(given.picture, given.folder)
    for file in different:
        print(f"{'differs: ' if given.check else ''}{file}")
    if unfilled:
        print("\n".join(unfilled))
    if given.check and unfilled:
        sys.exit("mend the words of these sentences in their pages and in sentences_of_….py")
    if given.check and different:
        sys.exit("run `python docs/results/generate.py`, or undo what was typed into these files")


if __name__ == "__main__":
    main()
