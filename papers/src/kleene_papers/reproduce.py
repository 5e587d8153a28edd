"""What `kleene.reproduce` shows and runs: tables and figures of the papers by name, our numbers beside the paper's."""

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from kleene.errors import InputError, close_names, did_you_mean
from kleene.files import write_atomically
from kleene.machines.lstm.lstm import LSTM
from kleene.machines.protocol import load
from kleene.pictures.figures import check_picture
from kleene.pictures.pages import inline, is_page, page
from kleene.traces.markup import html_text
from kleene_papers.claims import TEXTS, Claim, claims, of_text
from kleene_papers.registry import studies, study_of
from kleene_papers.stored import Provenance, Result, names, stored
from kleene_papers.study import NOT_MEASURED, Size, Study, Trial, Watch, run
from kleene_papers.tables import Table

SIZES = ("quick", "full")
SWEPT = ("first_seed", "piece", "minutes")  # options of studies that are sweeps


@dataclass(frozen=True)
class Reproduced:
    """A table or figure: our verdict, the results that show it, and the folder of a run, or None for stored results."""

    name: str
    claim: Claim | None
    study: Study | None
    results: tuple[Result, ...] = ()
    folder: Path | None = None

    @property
    def shows(self) -> str:
        return self.claim.shows if self.claim else self.study.shows if self.study else self.results[0].shows

    @property
    def content(self) -> dict[str, Any]:
        """The content of the first file."""
        return self.results[0].as_json()

    def tables(self) -> list[Table]:
        """The numbers, the paper's beside ours."""
        return [*self.study.tables(*self.results)] if self.study and self.results else []

    def head(self) -> list[str]:
        """What it shows, and our verdict."""
        if self.claim is None:
            return [f"{self.name}: {self.shows}"]
        verdict = [f"verdict: {self.claim.verdict}. {self.claim.reason}"] if self.folder is None else []
        return [f"{self.name} ({self.claim.text}): {self.shows}", *verdict]

    def foot(self) -> list[str]:
        """Where the numbers come from, and how to run it again."""
        if self.folder is not None:
            return [*self.results[0].summary, f"kept in {self.folder}/{self.results[0].name}.json and .svg"]
        return [*dict.fromkeys(map(_source, self.results)), *self._again()]

    def _again(self) -> list[str]:
        if self.study is None:
            return [f"shown by: {self.claim.run}"] if self.claim else []
        if self.study.make is None:
            others = [name for name in self.study.results if (of := studies().get(name)) and of.make]
            if self.claim and self.claim.command:
                return [f"shown by: {self.claim.command}"]
            if not others:
                told = [one.provenance.command for one in self.results if one.provenance.command]
                return [f"measured by: {', '.join(told)}"] if told else ["its page in docs/results says how to run it"]
            return [f"it shows results of {', '.join(others)}; run one: kleene reproduce {others[0]} --run quick"]
        takes = {size: getattr(self.study, size) for size in SIZES}
        return [
            f"again: kleene reproduce {self.study.name} --run {size}"
            + (f" ({how})" if how != NOT_MEASURED else f" (time {NOT_MEASURED})")
            for size, how in takes.items()
        ]

    def draw(self, path: Any) -> Path:
        """Draw the picture into a .svg, .png or .pdf file, or write all as a page, .html; return the path."""
        if self.study is None or self.study.draw is None or not self.results:
            raise InputError(f"{self.name} has no picture")
        check_picture(str(path), "-o")
        if is_page(path):
            return write_atomically(path, page(self.name, self._repr_html_()).encode())
        return self.study.draw(*self.results, Path(path))

    def as_json(self) -> dict[str, Any]:
        """The verdict, the tables, and where the results come from; of a run, the content of its file."""
        if self.folder is not None:
            return self.content
        verdict = self.claim.as_json() if self.claim else {"name": self.name, "shows": self.shows}
        return verdict | {
            "tables": [table.as_json() for table in self.tables()],
            "results": [{"name": one.name} | one.as_json()["provenance"] for one in self.results],
        }

    def __str__(self) -> str:
        return "\n".join([*self.head(), *map(str, self.tables()), *self.foot()])

    def _repr_html_(self) -> str:
        picture = ""
        if self.study is not None and self.study.draw is not None and self.results:
            with tempfile.TemporaryDirectory() as folder:
                drawn = self.draw(Path(folder, f"{self.name}.svg"))
                picture = inline(drawn.read_text(encoding="utf-8"), self.name)
        tables = "".join(table.html() for table in self.tables())
        return html_text("\n".join(self.head())) + tables + picture + html_text("\n".join(self.foot()))

    def __repr__(self) -> str:
        kept = "stored" if self.folder is None else f"in {str(self.folder)!r}"
        return f"<Reproduced {self.name}: {len(self.results)} results, {kept}>"


def _source(result: Result) -> str:
    """Where a result comes from, in a line."""
    of = result.provenance
    seeds = "" if of.seeds is None else f", seeds {of.seeds[0]} to {of.seeds[1]}"
    took = "" if of.seconds is None else f", {of.seconds:,.0f} s"
    day = "" if of.date is None else f", {of.date}"
    commit = "" if of.commit is None else f", commit {of.commit}"
    return f"{result.name}: {of.size or 'another'} size, {of.machine or 'machine not noted'}{seeds}{took}{day}{commit}"


def reproduce(
    name: str,
    *,
    run: str | None = None,
    iterations: int | None = None,
    model: Any = None,
    networks: int | None = None,
    corpora: int | None = None,
    folder: Any = "results",
    first_seed: int = 0,
    piece: str | None = None,
    minutes: float | None = None,
    on_begin: Callable[[Any], None] | None = None,
    watch: Watch | None = None,
) -> Reproduced:
    """The stored result of a table or figure at once; or a new one, with `run` "quick" or "full".

    `model` is a language model, or a file with one, for studies that only look at a model: then none is taught.
    `networks` says how many language models are taught, for the studies of English and, for each of their `corpora`,
    of rules. Each plan keeps a checkpoint in the folder while it runs, so that a stopped study can continue.

    Studies of partial traces are sweeps: their seeds begin at `first_seed`, `piece` is "i/n" for the i-th of n parts of
    their runs, and after `minutes` they stop at a checkpoint. They raise an `UnfinishedError` as long as runs are left,
    and the call that finds all of them in the folder returns the result.
    """
    found = looked_up(name)
    options = {"iterations": iterations, "model": model, "networks": networks, "corpora": corpora}
    options |= {"first_seed": first_seed or None, "piece": piece, "minutes": minutes}
    given = {option: value for option, value in options.items() if value is not None}
    if run is None:
        if given:
            asked = next(iter(given)).replace("_", "-")
            raise InputError(f"--{asked} is for a new run: kleene reproduce {name} --run quick --{asked} …")
        return found
    if run not in SIZES:
        raise InputError(f"run is {run!r}; give quick, a size for a CPU, or full, the paper's own")
    study, trial = prepared(found, run, given)
    if on_begin is not None:
        on_begin(trial)
    return _run(replace(found, study=study), trial, folder, run, given, watch)


def _run(
    found: Reproduced, trial: Trial, folder: Any, size: str, given: dict[str, Any], watch: Watch | None
) -> Reproduced:
    assert found.study is not None
    words = [f"--{option.replace('_', '-')} {value}" for option, value in given.items()]
    command = " ".join(["kleene reproduce", found.study.name, f"--run {size}", *words])
    result = run(found.study, trial, folder, watch=watch, provenance=Provenance(command, size))
    return replace(found, results=(result,), folder=Path(folder))


def looked_up(name: str) -> Reproduced:
    """The stored result of that name: of a table or figure of a text, a study, or another run of one."""
    claim, study = claims().get(name), study_of(name)
    if claim is None and study is None and name in names():
        result = stored(name)
        return Reproduced(name, None, studies().get(result.study), (result,))
    if claim is None and study is None:
        raise InputError(f"no result {name!r}; {_candidates(name)}")
    study = study or (claim.of if claim else None)
    results = study.results if study else ()
    known = {*names()}
    whole = known.issuperset(results)
    return Reproduced(name, claim or claims().get(study.name if study else ""), study,
                      tuple(map(stored, results)) if whole else ())  # fmt: skip


def _candidates(name: str) -> str:
    """The end of an error about an unknown name: results that end in it, texts, similar names, or how to list all."""
    known = [*dict.fromkeys([*claims(), *studies(), *names()])]
    if ending := [one for one in known if one.endswith(f"-{name}")]:
        return f"did you mean {' or '.join(ending)}?"
    if close_names(name, known):
        return did_you_mean(name, known)
    return f"`kleene reproduce` lists all, and `kleene reproduce TEXT` those of {', '.join(TEXTS)}"


def prepared(found: Reproduced, size: str, given: dict[str, Any]) -> tuple[Study, Trial]:
    """The study that shows it, and what is to be run; refuses options that it does not take."""
    study = found.study
    if study is None:
        assert found.claim is not None
        raise InputError(f"{found.name} needs no run; this shows it: {found.claim.run}")
    if study.make is None:
        raise InputError(f"{study.name} is not run itself. {found._again()[0]}")
    for option, value in given.items():
        if option not in study.takes:
            takers = [one.name for one in studies().values() if option in one.takes]
            raise InputError(
                f"{study.name} takes no --{option.replace('_', '-')}; "
                + (f"it takes {', '.join(f'--{one}' for one in study.takes)}. " if study.takes else "")
                + f"--{option.replace('_', '-')} is for {_few(takers)}"
            )
        if option in ("iterations", "networks", "corpora") and value < 1:
            raise InputError(f"{option} is {value}; give 1 or more")
    if not given.get("minutes", 1) > 0:
        raise InputError(f"minutes is {given['minutes']}; give a number above 0")
    made = {option: value for option, value in given.items() if option not in ("piece", "minutes")}
    if "model" in made:
        made["model"] = _language_model(made["model"])
    trial = study.make(size, **made)
    return study, replace(trial, piece=given.get("piece"), minutes=given.get("minutes"))


def _few(found: list[str], most: int = 6) -> str:
    return ", ".join(found[:most]) + (f" and {len(found) - most} others" if len(found) > most else "")


def _language_model(model: Any) -> LSTM:
    network = load(model) if isinstance(model, (str, Path)) else model
    if not isinstance(network, LSTM):
        raise InputError(f"{str(model)!r} holds a {type(network).__name__}, and the study looks at an LSTM")
    return network


def trial_of(name: str, size: Size = "quick", **given: Any) -> Trial:
    """What is run for a study at a size, with options of its own.

    >>> trial_of("traces-figure-9a", iterations=10).plans[0].iterations
    10
    """
    return prepared(looked_up(name), size, given)[1]


def texts() -> tuple[str, ...]:
    """The words that list one text: what the names of its results begin with."""
    return TEXTS


def records(text: str | None = None) -> list[dict[str, Any]]:
    """A record for each table, figure and theorem of the texts, or of one."""
    return [claim.as_json() for claim in _claims(text)]


def tables(text: str | None = None) -> tuple[Table, ...]:
    """A table for each text, or for one: name, verdict, what is shown, and what shows it."""
    found = []
    for title, some in groupby(_claims(text), key=lambda claim: claim.text):
        rows = [[claim.name, claim.verdict, claim.shows, _short(claim)] for claim in some]
        found.append(Table(["name", "verdict", "shows", "run"], rows, title))
    if text in (None, "ours") and (others := _others()):
        rows = [[study.name, study.shows, study.quick, study.full] for study in others]
        found.append(Table(["name", "shows", "quick, CPU time", "full, on an H200"], rows, "Other studies"))
    return tuple(found)


def _short(claim: Claim) -> str:
    """How to run a claim again, with the times."""
    times = [f"{where}: {time}" for where, time in (("CPU", claim.cpu), ("GPU", claim.gpu)) if time]
    told = claim.command or f"kleene reproduce {claim.study} --run quick"
    return "\n".join([told, *times])


def _claims(text: str | None) -> Iterable[Claim]:
    return claims().values() if text is None else of_text(text)


def _others() -> list[Study]:
    """The studies that no claim of a text is shown by."""
    shown = {claim.study for claim in claims().values()} | {*claims()}
    return [study for name, study in studies().items() if name not in shown and study.make is not None]
