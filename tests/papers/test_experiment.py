"""The file that an experiment leaves: JSON that holds what it was given, and that a person can read."""

import json

from hypothesis import given
from hypothesis import strategies as st

from kleene.files import check_seal
from kleene_papers.experiment import keep

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text("[]{}, \n\"'ω1")
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text("[]{}\n a"), inner))


@given(values)
def test_a_file_holds_what_it_was_given(tmp_path_factory, value):
    content = {"name": "any", "value": value}
    path = keep(content, tmp_path_factory.mktemp("results"))
    kept = json.loads(path.read_text())
    assert check_seal(path, path.read_bytes())
    assert kept == content | {"checksum": kept["checksum"]}


def test_a_list_of_numbers_is_one_line(tmp_path):
    path = keep({"name": "curve", "curve": [[0.25, 0.5], [1.0, None]]}, tmp_path)
    assert [line for line in path.read_text().splitlines() if "checksum" not in line] == [
        "{", ' "name": "curve",', ' "curve": [', "  [0.25, 0.5],", "  [1.0, null]", " ]", "}"
    ]  # fmt: skip


def test_a_row_of_a_table_is_one_line_and_longer_things_are_not(tmp_path):
    rows = [{"distance": 1, "networks": [0.5, 0.25]}, {"curve": [[1, 2], [3, 4]]}, {"words": 500 * "a"}]
    lines = keep({"name": "rows", "rows": rows}, tmp_path).read_text().splitlines()
    assert '  {"distance": 1, "networks": [0.5, 0.25]},' in lines
    assert "    [1, 2]," in lines
    assert max(len(line) for line in lines) < 520
