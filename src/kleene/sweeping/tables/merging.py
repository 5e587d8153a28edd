"""Runs of the same setting merged: a table with a row for each group of runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kleene.pictures.pages import drawn_with_tables
from kleene.sweeping.tables.curves import draw_curves
from kleene.sweeping.tables.filters import as_word
from kleene.sweeping.tables.groups import UNSHOWN, Group, mean_word, settings_line
from kleene.sweeping.tables.listing import Listing
from kleene.sweeping.tables.measured import MEASUREMENTS, SETTINGS, Value, in_order
from kleene.traces.markup import plain


@dataclass(frozen=True, repr=False)
class MergedTable(Listing):
    """The groups of a table, one a setting. `fixed` are the settings that all runs share."""

    by: tuple[str, ...]
    groups: tuple[Group, ...]
    fixed: Mapping[str, Value]

    def __len__(self) -> int:
        return len(self.groups)

    def __repr__(self) -> str:
        runs = sum(len(group.runs) for group in self.groups)
        return f"<MergedTable: {runs} runs in {len(self.groups)} groups by {', '.join(self.by) or 'nothing'}>"

    @drawn_with_tables
    def draw(self, path: Any, value: str = "generalises", *, title: str = "") -> Path:
        """Draw the curve of a measurement over the iterations, with a line and a band for each group."""
        return draw_curves(self.groups, path, value, title=title or settings_line(self.fixed, SETTINGS))

    def as_json(self) -> dict[str, Any]:
        return plain({"fixed": dict(self.fixed), "by": list(self.by)}) | {
            "groups": [group.as_json() for group in self.groups]
        }

    def flat(self) -> list[dict[str, Any]]:
        """A flat record for each group: the mean of a measurement under its name, its spread beside it."""
        return [_flat(group) for group in self.groups]

    def words(self) -> list[dict[str, str]]:
        return [self._words(group) for group in self.groups]

    @property
    def heading(self) -> str:
        """The settings that all runs share, in one line."""
        return settings_line(self.fixed)

    def _words(self, group: Group) -> dict[str, str]:
        low, high = group.interval
        shown = {name: "·" if value is None else as_word(value) for name, value in group.settings.items()}
        shown["runs"] = str(len(group.runs))
        if "perplexity" not in group.means:  # a language model does not generalise or not
            shown["generalise (95%)"] = f"{group.count('generalises')} ({100 * low:.0f}–{high:.0%})"
            shown["first"] = "·" if group.first_hit is None else f"{group.first_hit:,}"
        shown |= {name: mean_word(name, group.means.get(name)) for name in self._shown}
        return shown | {"diverged": str(group.count("diverged"))} if self._diverged else shown

    @cached_property
    def _shown(self) -> list[str]:
        """The measurements whose means a table shows."""
        return in_order({name for group in self.groups for name in group.means} - set(UNSHOWN), MEASUREMENTS)

    @cached_property
    def _diverged(self) -> bool:
        return any(group.count("diverged") for group in self.groups)


def _flat(group: Group) -> dict[str, Any]:
    low, high = group.interval
    record = dict(group.settings) | {"runs": len(group.runs), "generalised": group.count("generalises")}
    record |= {"low": low, "high": high, "first_hit": group.first_hit, "diverged": group.count("diverged")}
    for name, mean in group.means.items():
        record |= {name: mean.mean, f"{name}_spread": mean.spread}
    return record
