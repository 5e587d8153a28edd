"""Where the keys of a TOML text stand."""

import json
import tomllib

from hypothesis import given
from hypothesis import strategies as st

from kleene.sweeping.definition.source import key_lines

TEXT = '''name = "x" # [not]
store = """
[neither] = 3
\\""" ""a"""""
[settings]
task = "a = b"
"odd key".'two' = 1.5
[ grid ]
density = [ # first = 1
  1.0,
  [2, 3], 4,
]
hidden = {choose = [8,
  16], "from" = {a = 1, b.c = \'\'\'
\'\'\'}, to = 3}
[[cells]]
hints = 'a'
[[cells]]
strength = 1
[random.rate]
from = 1
'''


def paths(value, at=()):
    """The paths of all tables, keys and elements."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in inside:
        yield (*at, key)
        yield from paths(entry, (*at, key))


def test_every_key_of_a_text_has_its_line():
    lines = key_lines(TEXT)
    assert set(lines) == set(paths(tomllib.loads(TEXT)))
    assert lines["store",] == 2
    assert lines["settings", "odd key", "two"] == 7
    assert [lines["grid", "density", n] for n in range(3)] == [10, 11, 11]
    assert lines["grid", "hidden", "choose", 1] == 14
    assert lines["grid", "hidden", "from", "b", "c"] == 14
    assert lines["grid", "hidden", "to"] == 15
    assert [lines["cells", n] for n in range(2)] == [16, 18]
    assert lines["cells", 1, "strength"] == 19
    assert lines["random", "rate", "from"] == 21


def test_cells_in_a_list_are_numbered_as_those_below_headers_are():
    lines = key_lines("cells = [{a = 1},\n{b = 2, c = [1,\n2]}]\nz = [[1],\n[2]]")
    assert lines["cells", 1, "b"] == 2
    assert lines["cells", 1, "c", 1] == 3
    assert lines["z", 1, 0] == 5


TEXTS = st.text(st.sampled_from("ab=[]{},.#'\"\\\n \t"), max_size=8)
VALUES = st.recursive(st.integers() | st.booleans() | TEXTS, lambda inner: st.lists(inner, max_size=3), max_leaves=6)


@given(st.dictionaries(TEXTS, VALUES, max_size=4), st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), max_size=3))
def test_the_scanner_finds_exactly_the_keys_that_tomllib_finds(settings, cells):
    """JSON's texts, numbers and lists are TOML's."""
    shown = {("settings",): "[settings]", **{("cells", n): "[[cells]]" for n in range(len(cells))}}
    tables = {("settings",): settings, **{("cells", n): cell for n, cell in enumerate(cells)}}
    rows, expected = [], {}
    for at, table in tables.items():
        rows.append(shown[at])
        expected[at] = len(rows)
        for key, value in table.items():
            rows.append(f"{json.dumps(key)} = {json.dumps(value)} # '[")
            expected[(*at, key)] = len(rows)
    lines = key_lines("\n".join(rows))
    assert set(lines) == set(paths(tomllib.loads("\n".join(rows))))
    assert {path: lines[path] for path in expected} == expected
