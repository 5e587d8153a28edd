"""A look at this machine: versions, the device, folders and data sets, and what to do about what is missing."""

import importlib
import os
import platform
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from kleene import __version__
from kleene.caching import cache_folder
from kleene.data.folders import Holding, data_roots, holdings
from kleene.kernels import NO_COMPILER, cuda_compiler, reason_against
from kleene.limits import GIB, usable_memory

FindingState = Literal["ok", "missing", "differs", "broken"]
PYTHON = (3, 11)
# What each extra is for, as a person would look for it.
EXTRAS = {
    "sweeps": "sweeps on a Ray cluster",
    "torch": "networks as modules of PyTorch",
    "transformer-lens": "networks in TransformerLens",
    "live": "live pages: kleene watch --live",
    "notebook": "traces and pictures in notebooks",
    "browser": "tests of pages in a browser",
    "docs": "the site: make docs",
    "dev": "tests and checks",
}
MODULES = {"automata-lib": "automata"}  # where a package's module has another name
REQUIREMENT = re.compile(r"""([\w.-]+)(?:\[[^]]*\])?\s*([^;]*?)\s*(?:;.*?extra\s*==\s*['"]([\w.-]+)['"].*)?""")


@dataclass(frozen=True)
class Finding:
    """What was looked at, its state, what was found, and what to do."""

    name: str
    state: FindingState
    found: str
    advice: str = ""


@dataclass(frozen=True)
class Examination:
    """All findings; it is sound unless one of them is broken."""

    findings: tuple[Finding, ...]

    @property
    def is_sound(self) -> bool:
        return all(finding.state != "broken" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        return {"sound": self.is_sound, "findings": [asdict(finding) for finding in self.findings]}

    def __str__(self) -> str:
        wide = max(len(finding.name) for finding in self.findings)
        lines = []
        for finding in self.findings:
            lines.append(f"{finding.state:<8} {finding.name:<{wide}}  {finding.found}")
            lines += [f"{'':<8} {'':<{wide}}  → {finding.advice}"] if finding.advice else []
        return "\n".join(lines)


def examine() -> Examination:
    """Look at everything. Packages are imported, because one that is installed may still be unusable."""
    looks: Sequence[Callable[[], Iterator[Finding]]] = (_python, _packages, _device, _extras, _cache, _data)
    return Examination(tuple(finding for look in looks for finding in look()))


def _python() -> Iterator[Finding]:
    version, where = platform.python_version(), sys.executable
    old = sys.version_info[:2] < PYTHON
    needed = ".".join(map(str, PYTHON))
    yield Finding("python", "broken" if old else "ok", f"{version} ({where})", f"use {needed} or newer" if old else "")


def _packages() -> Iterator[Finding]:
    required = requirements()
    where = Path(__file__).parent
    if not required:
        found = f"{__version__} ({where}), not installed as a package"
        yield Finding("kleene", "missing", found, "pip install -e . in the checkout, so that versions can be checked")
        return
    yield Finding("kleene", "ok", f"{__version__} ({where})")
    fine = []
    for name, bounds in required.get("", {}).items():
        finding = package(name, bounds)
        if finding.state == "ok" and name != "jax":
            fine.append(f"{name} {finding.found}")
        else:
            yield finding
    yield Finding("packages", "ok", ", ".join(fine) or "none")


def package(name: str, bounds: str) -> Finding:
    """Whether a package is installed, in a version within the bounds, and can be imported."""
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(name, "broken", "not installed", f"pip install '{name}{bounds}'")
    if not within(version, bounds):
        return Finding(name, "broken", f"{version}, and {bounds} is needed", f"pip install '{name}{bounds}'")
    try:
        importlib.import_module(MODULES.get(name, name.replace("-", "_")))
    except Exception as error:  # whatever a broken installation raises
        said = str(error).strip().splitlines()[:1] or [""]
        found = f"{version} cannot be imported: {type(error).__name__}: {said[0]}"
        return Finding(name, "broken", found, f"pip install --force-reinstall '{name}{bounds}'")
    return Finding(name, "ok", version)


def requirements() -> dict[str, dict[str, str]]:
    """The packages that Kleene needs with their bounds, by extra; those of "" are always needed."""
    found: dict[str, dict[str, str]] = {}
    try:
        lines = metadata.requires("kleene") or []
    except metadata.PackageNotFoundError:
        return {}
    for line in lines:
        parsed = REQUIREMENT.fullmatch(line.strip())
        if parsed is not None and parsed[1] != "kleene":
            found.setdefault(parsed[3] or "", {})[parsed[1]] = parsed[2].replace(" ", "").strip("()")
    return found


def within(version: str, bounds: str) -> bool:
    """Whether a version is within bounds such as `>=2,<3`; a bound of another form counts as met.

    >>> within("2.10.1", ">=2.9,<3"), within("3.0", ">=2,<3"), within("0.10", ">=0.9.1")
    (True, False, True)
    """
    for bound in filter(None, bounds.split(",")):
        operator = bound.rstrip("0123456789.*")
        limit = bound.removeprefix(operator)
        here, there = _numbers(version), _numbers(limit)
        here, there = (part + (0,) * (max(len(here), len(there)) - len(part)) for part in (here, there))
        holds = {">=": here >= there, "<": here < there, "<=": here <= there, ">": here > there, "==": here == there}
        if not holds.get(operator, True):
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    leading = re.match(r"[0-9]{1,9}(?:\.[0-9]{1,9})*", version)
    return tuple(map(int, leading[0].split("."))) if leading else ()


def _device() -> Iterator[Finding]:
    memory = f"{usable_memory() / GIB:.1f} GiB of memory left, {os.cpu_count()} cores"
    try:
        import jax

        devices = jax.devices()
    except Exception as error:  # no jax, or a driver that does not fit it
        advice = "install jax for this machine, or set JAX_PLATFORMS=cpu"
        yield Finding("device", "broken", f"jax finds none: {error}", advice)
        return
    found = f"{len(devices)} × {devices[0].device_kind} ({devices[0].platform}); {memory}"
    unseen = devices[0].platform == "cpu" and shutil.which("nvidia-smi") and not os.environ.get("JAX_PLATFORMS")
    advice = "there is a GPU that jax does not see: pip install 'jax[cuda12]'" if unseen else ""
    yield Finding("device", "missing" if unseen else "ok", found, advice)
    if devices[0].platform == "gpu":
        yield _kernel(devices)


def _kernel(devices: Sequence[Any]) -> Finding:
    """Whether NTMs are taught by the kernel, which a CUDA compiler builds at first use."""
    reason = reason_against(devices)
    if reason is None:
        return Finding("kernel", "ok", f"of NTMs: built at first use by {cuda_compiler()}")
    lacking = reason == NO_COMPILER
    advice = "install CUDA's compiler, or set CUDA_HOME" if lacking else ""
    found = f"of NTMs: not used ({reason}), so they learn several times slower"
    return Finding("kernel", "missing" if lacking else "ok", found, advice)


def _extras() -> Iterator[Finding]:
    for extra, packages in sorted(requirements().items()):
        if not extra:
            continue
        about = EXTRAS.get(extra, "")
        held = {name: _version(name) for name in packages}
        lacking = [name for name, version in held.items() if version is None or not within(version, packages[name])]
        if lacking:
            what = f"{', '.join(lacking)} ({about})" if about else ", ".join(lacking)
            yield Finding(f"[{extra}]", "missing", what, f"if you need it: pip install -e '.[{extra}]' in the checkout")
        else:
            yield Finding(f"[{extra}]", "ok", ", ".join(f"{name} {version}" for name, version in held.items()))


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cache() -> Iterator[Finding]:
    folder = cache_folder()
    if folder is None:
        yield Finding("cache", "ok", "off (KLEENE_CACHE=off): programs are compiled anew by every process")
        return
    problem = unusable(folder) or _shared(folder / "compiled") or _shared(folder / "kernels")
    advice = "name another folder with KLEENE_CACHE, or KLEENE_CACHE=off; until then nothing is kept" if problem else ""
    yield Finding("cache", "broken" if problem else "ok", f"{folder}{problem and f' {problem}'}", advice)


def unusable(folder: Path) -> str:
    """Why nothing can be written into a folder, which may still have to be made; empty where it can."""
    place = folder
    while not os.path.lexists(place) and place != place.parent:
        place = place.parent
    if not place.is_dir():
        return f"cannot be made: {place} is no folder"
    return "" if os.access(place, os.W_OK | os.X_OK) else f"cannot be written to: {place} belongs to another user"


def _shared(folder: Path) -> str:
    """Why compiled programs are not kept in a folder: what is in it is run, so others must not write to it."""
    try:
        status = folder.stat()
    except OSError:
        return ""
    mine = status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return "" if mine else "is not used: others can write to it"


def _data() -> Iterator[Finding]:
    own = os.environ.get("KLEENE_DATA")
    if own and not os.path.isdir(own):
        yield Finding("data folder", "broken", f"{own} (KLEENE_DATA) is no folder", "make it, or name another")
    else:
        problem = unusable(data_roots()[0])
        advice = "name another folder with KLEENE_DATA; what is there can be read" if problem else ""
        found = f"{data_roots()[0]}{problem and f' {problem}'}"
        yield Finding("data folder", "missing" if problem else "ok", found, advice)
    for held in holdings():
        yield _data_set(held)


def _data_set(held: Holding) -> Finding:
    name, state = f"data {held.data.name}", held.state
    if state == "ok":
        return Finding(name, "ok", f"{held.folder} (licence: {held.data.licence})")
    if state == "differs":
        files = ", ".join(held.named("differs"))
        advice = f"if they are not yours on purpose: remove them, then kleene data get {held.data.name}"
        return Finding(name, "differs", f"{held.folder}: not as published: {files}", advice)
    lacking = ", ".join(held.named("missing")) if state == "incomplete" else f"no folder {held.folder}"
    return Finding(name, "missing", lacking, f"kleene data get {held.data.name} ({held.data.size / 1e6:.0f} MB)")
