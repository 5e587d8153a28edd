"""Fonts for words in any script.

An SVG keeps its text as text, and whoever shows it finds the glyphs. A PNG or PDF holds the glyphs themselves, which
come from the fonts of this computer: matplotlib's own font first, then any that has what the first one lacks.
"""

import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from unicodedata import category, name

from kleene.errors import KleeneWarning

OWN = "DejaVu Sans"  # comes with matplotlib
SHOWN = ("DejaVu Sans", "Verdana", "Noto Sans", "Arial")  # in an SVG; all are about equally wide
INVISIBLE = ("Cc", "Cf", "Mn", "Zs", "Zl", "Zp", "Cs", "Co", "Cn")  # kinds of letters that need no glyph of their own
SCRIPTS = {"CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}
EMOJI = range(0x1F000, 0x1FB00)

_told: set[str] = set()  # scripts that were warned about


class MissingGlyphsWarning(KleeneWarning):
    """No installed font has the letters of a script, so that a picture shows boxes in their place."""


def families_for(texts: Iterable[str]) -> list[str]:
    """The families of fonts that have the letters of these texts, the usual one first.

    It warns, once for each script, of letters that no installed font has.
    """
    wanted = {letter for text in texts for letter in text if category(letter) not in INVISIBLE}
    lacking = sorted(wanted - {letter for letter in wanted if ord(letter) in _charmap(_path_of_own())})
    found = {letter: _family_with(letter) for letter in lacking}
    _warn_of(letter for letter, family in found.items() if family is None)
    return [OWN, *dict.fromkeys(family for family in found.values() if family)]


def script_of(letter: str) -> str:
    """The script of a letter, by its name in Unicode.

    >>> [script_of(letter) for letter in "ж中न🙂"]
    ['Cyrillic', 'Chinese', 'Devanagari', 'emoji']
    """
    if ord(letter) in EMOJI:
        return "emoji"
    first = name(letter, "unknown").split()[0]
    return SCRIPTS.get(first, first.capitalize())


def _warn_of(letters: Iterable[str]) -> None:
    by_script: dict[str, str] = {}
    for letter in letters:
        by_script[script_of(letter)] = by_script.get(script_of(letter), "") + letter
    for script, some in by_script.items():
        if script not in _told:
            _told.add(script)
            warnings.warn(
                f"no installed font has glyphs for {script} ({some[:8]}), so that the picture shows boxes. Install a "
                f"font with them, or write an .svg, which is shown with the fonts of its reader",
                MissingGlyphsWarning,
                stacklevel=2,
            )


@lru_cache(maxsize=4096)
def _family_with(letter: str) -> str | None:
    """The first family, by name, that has a glyph for the letter."""
    return next((family for family, path in _installed() if ord(letter) in _charmap(path)), None)


def _installed() -> Iterator[tuple[str, str]]:
    """The upright fonts by family, with their files; sans-serif ones and Noto first."""
    from matplotlib.font_manager import fontManager

    upright = {(font.name, font.fname) for font in fontManager.ttflist if font.style == "normal" and font.name != OWN}
    sans = sorted(upright, key=lambda font: ("Sans" not in font[0], "Noto" not in font[0], *font))
    return iter([font for font in sans if "Last" not in font[0]])  # Last Resort has a box for every letter


@lru_cache(maxsize=256)
def _charmap(path: str) -> frozenset[int]:
    """The letters of a font that can be drawn at any size; fonts of coloured bitmaps cannot."""
    from matplotlib.font_manager import get_font

    try:
        font = get_font(path)
        return frozenset(font.get_charmap()) if font.scalable else frozenset()
    except (OSError, RuntimeError, ValueError):  # a font that was removed, or that FreeType does not read
        return frozenset()


@lru_cache(maxsize=1)
def _path_of_own() -> str:
    from matplotlib.font_manager import findfont

    return findfont(OWN)
