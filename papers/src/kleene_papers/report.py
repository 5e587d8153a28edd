"""Pages from templates: `papers/pages` holds them, `docs` what is written, and every number comes from a stored result.

    python -m kleene_papers.report                              # write all pages and pictures
    python -m kleene_papers.report --check                      # change nothing; exit status 1 if anything differs
    python -m kleene_papers.report --page results/learnability.md --picture traces-figure-4

A template is Markdown with Jinja in it. `r(name)` is a stored result, `table(study, title)` a table of a study,
`picture(study)` its picture; filters write numbers, and the functions in `WORDS` of each room's `studies` are there.
Pictures are compared by the words and numbers in them, because drawing differs between versions of matplotlib.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jinja2
import numpy as np

from kleene.errors import InputError, KleeneError, ProgramError, did_you_mean
from kleene.files import write_atomically
from kleene_papers.claims import of_text, renamed, verdicts
from kleene_papers.registry import ROOMS, studies
from kleene_papers.stored import names, stored, where
from kleene_papers.tables import Table

CHECKOUT = Path(__file__).parents[3]
PAGES, DOCS = CHECKOUT / "papers" / "pages", CHECKOUT / "docs"
PICTURES = DOCS / "results"
INCLUDED = {"_nram.md": "partial-traces.md", "_rules.md": "interdependence.md"}  # parts of pages
WRITTEN = "<!-- Written from papers/pages/{} by `python -m kleene_papers.report`: change it there. -->\n"


Number = float | jinja2.Undefined  # what no file has ends in an error where it is formatted


def pct(share: Number, digits: int = 0) -> str:
    """A share as a percentage without its sign: `{{ 0.5 | pct }}%`."""
    return f"{100 * share:.{digits}f}"


def num(value: Number, digits: int = 0) -> str:
    """A number with separators: 1,234."""
    return f"{value:,.{digits}f}"


def signed(value: Number, digits: int = 2) -> str:
    """A number with its sign, − rather than a hyphen."""
    return f"{value:+.{digits}f}".replace("-", "−")


def span(values: Iterable[float], digits: int = 0, between: str = " to ") -> str:
    """The smallest and the largest of some numbers: `3 to 7`, or one number if they are alike."""
    found = [*values]
    ends = [f"{end:,.{digits}f}" for end in (min(found), max(found))]
    return ends[0] if ends[0] == ends[1] else between.join(ends)


def mean(values: Iterable[float]) -> float:
    return float(np.mean([*values]))


def column(rows: Iterable[Mapping[str, Any]], name: str) -> list[Any]:
    """One entry of each row."""
    return [row[name] for row in rows]


def table(study: str, title: str | None = None) -> str:
    """A table of a study as Markdown: that with this title, or the only one."""
    return _picked(study, title).markdown()


def _picked(study: str, title: str | None) -> Table:
    found = tables_of(study)
    if title is None and len(found) == 1:
        return found[0]
    titles = [one.title for one in found]
    if title not in titles:
        raise InputError(f"{study} has no table {title!r}; it has {', '.join(map(repr, titles))}")
    return found[titles.index(title)]


def tables_of(study: str) -> Sequence[Table]:
    """The tables of a study's stored results, or of another stored run of a study."""
    known = studies()
    if study in known:
        return known[study].tables(*map(stored, known[study].results))
    if study in names() and stored(study).study in known:
        return known[stored(study).study].tables(stored(study))
    raise InputError(f"no study {study!r}; {did_you_mean(study, known)}")


def picture(study: str, words: str = "") -> str:
    """The picture of a study, for a page in docs/results."""
    if study not in studies() or studies()[study].draw is None:
        raise InputError(f"no study {study!r} with a picture")
    return f"![{words or studies()[study].shows}]({study}.svg)"


@cache
def page_of(study: str) -> str | None:
    """The name of the first page that shows a table or the picture of a study, of those in docs/results."""
    for path in sorted((PAGES / "results").glob("*.md"), key=lambda path: path.stem.removeprefix("_")):
        if re.search(rf"(table|picture)\(\s*[\"']{re.escape(study)}[\"']", path.read_text(encoding="utf-8")):
            return INCLUDED.get(path.name, path.name)
    return None


def verdicts_table(text: str) -> str:
    """The tables, figures and theorems of a text with our verdicts, as Markdown."""
    rows = []
    for claim in of_text(text):
        shown = page_of(claim.study) if claim.study else None
        run = f"`{claim.run}`" if claim.run.startswith("kleene") else f"[{claim.run}](../{Path(claim.run).name})"
        again = run if shown is None else f"{run}, [tables]({shown})"
        rows.append([claim.name, claim.shows, f"**{claim.verdict}**", claim.reason, again])
    return Table(["", "shows", "verdict", "why", "shown by"], rows).markdown()


class Missing(jinja2.StrictUndefined):
    """What a template asks for and no file has: an error even where a filter would format it."""

    __format__ = __round__ = jinja2.Undefined._fail_with_undefined_error


@cache
def environment() -> jinja2.Environment:
    """What templates can use."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGES),
        undefined=Missing,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"pct": pct, "num": num, "signed": signed, "span": span, "mean": mean, "where": where}
    made.filters |= {"column": column}
    made.globals |= {"r": stored, "table": table, "picture": picture, "zip": zip, "len": len, "min": min, "max": max}
    made.globals |= {"verdicts": lambda: verdicts().markdown(), "renamed": lambda: renamed().markdown()}
    made.globals |= {"verdicts_table": verdicts_table}
    for room in ROOMS:
        made.globals |= {word.__name__: word for word in import_module(f"kleene_papers.{room}.studies").WORDS}
    return made


def filled(text: str, name: str = "<text>") -> str:
    """The text of a template with everything filled in; an error names the page, the line and what was asked for."""
    try:
        code = environment().compile(text, name=name, filename=name)
        return environment().template_class.from_code(environment(), code, environment().make_globals(None)).render()
    except jinja2.TemplateSyntaxError as error:
        raise ProgramError(f"{name}, line {error.lineno}: {error.message}") from None
    except (jinja2.TemplateError, KleeneError, LookupError, TypeError, ValueError, AttributeError) as error:
        said = f"{error}" if isinstance(error, (jinja2.TemplateError, KleeneError)) else repr(error)
        raise ProgramError(f"{_place(error, name)}: {said}") from error


def _place(error: BaseException, name: str) -> str:
    """The template in which an error was raised, which may be a part of the one with that name, and the line."""
    found, frame = f"{name}, line 1", error.__traceback__
    while frame is not None:
        file = frame.tb_frame.f_code.co_filename
        if file == name or file.startswith(str(PAGES)):
            found = f"{file.removeprefix(f'{PAGES}/')}, line {frame.tb_lineno}"
        frame = frame.tb_next
    return found


def templates() -> list[str]:
    """The names of all templates of pages, as `results/learnability.md`."""
    return sorted(str(path.relative_to(PAGES)) for path in PAGES.rglob("*.md") if not path.name.startswith("_"))


@cache
def files() -> dict[str, Callable[[], str]]:
    """Pages without a template, with what writes each: `FILES` in a room's `studies`."""
    rooms = (import_module(f"kleene_papers.{room}.studies") for room in ROOMS)
    return {name: write for room in rooms for name, write in getattr(room, "FILES", {}).items()}


def page(name: str) -> str:
    """What a page has to be."""
    if name in files():
        return files()[name]()
    return filled((PAGES / name).read_text(encoding="utf-8"), name).rstrip("\n") + "\n\n" + WRITTEN.format(name)


def pictures() -> dict[str, Any]:
    """For each study whose picture a page shows, a function that draws it from the stored results into a file."""
    known, drawn = {*names()}, {}
    pages = "".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    for name, study in studies().items():
        if study.draw is not None and known.issuperset(study.results) and f"{name}.svg" in pages:
            drawn[name] = lambda path, draw=study.draw, of=study.results: draw(*map(stored, of), path)
    return drawn


def words(path: Path) -> list[str]:
    """The words of a picture, in any order."""
    return sorted(text.strip() for text in ElementTree.parse(path).getroot().itertext() if text.strip())


def different_pages(chosen: Sequence[str], check: bool) -> list[Path]:
    """The pages that differ from their templates; they are written unless they are only checked."""
    found = []
    for name in chosen or [*templates(), *files()]:
        right, file = page(name), DOCS / name
        if not file.exists() or file.read_text(encoding="utf-8") != right:
            found.append(file)
            if not check:
                write_atomically(file, right.encode())
    return found


def different_pictures(chosen: Sequence[str], check: bool) -> list[Path]:
    """The pictures whose words are not those of the stored results; they are drawn unless they are only checked."""
    known, found = pictures(), []
    if unknown := [name for name in chosen if name not in known]:
        raise InputError(f"no picture {unknown[0]!r}; {did_you_mean(unknown[0], known)}")
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen or known:
            drawn, file = known[name](Path(folder, f"{name}.svg")), PICTURES / f"{name}.svg"
            if not file.exists() or words(drawn) != words(file):
                found.append(file)
                if not check:
                    write_atomically(file, drawn.read_bytes())
    return found


def main(given: Sequence[str] | None = None) -> int:
    """The exit status: 1 if something differs and was only checked, or if a template cannot be filled."""
    parser = argparse.ArgumentParser(prog="python -m kleene_papers.report", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing, and fail if anything differs")
    parser.add_argument("--page", action="append", default=[], metavar="results/NAME.md", help="this page alone")
    parser.add_argument("--picture", action="append", default=[], metavar="NAME", help="this picture alone")
    parser.add_argument("--no-pictures", action="store_true", help="pages alone")
    asked = parser.parse_args(given)
    if not PAGES.is_dir():
        print("kleene_papers.report: the templates are in a checkout of Kleene, which this is not", file=sys.stderr)
        return 1
    some = bool(asked.page or asked.picture)
    try:
        different = different_pages(asked.page, asked.check) if asked.page or not some else []
        if asked.picture or not (some or asked.no_pictures):
            different += different_pictures(asked.picture, asked.check)
    except KleeneError as error:
        print(f"kleene_papers.report: {error}", file=sys.stderr)
        return 1
    for file in different:
        print(f"{'differs' if asked.check else 'written'}: {file.relative_to(CHECKOUT)}")
    if asked.check and different:
        print("write them by `python -m kleene_papers.report`, or undo what was typed into them", file=sys.stderr)
    return int(asked.check and bool(different))


if __name__ == "__main__":
    sys.exit(main())
