"""Files of results: what is saved comes back, people can read it, and damaged ones are refused by name."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.errors import InputError, ModelFileError
from kleene.files import check_seal
from kleene.sweeping.results import results
from kleene_papers.registry import studies
from kleene_papers.stored import FOLDER, Provenance, Result, names, stored, where

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text("[]{}, \n\"'ω1")
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text("[]{}\n a"), inner))


@given(values)
def test_a_file_holds_what_it_was_given(tmp_path_factory, value):
    given_ = Result("any", "any", "anything", found={"value": value})
    path = given_.save(tmp_path_factory.mktemp("results"))
    assert check_seal(path, path.read_bytes())
    assert Result.load(path) == given_


def test_a_list_of_numbers_and_a_row_of_a_table_are_one_line_each(tmp_path):
    rows = [{"distance": 1, "networks": [0.5, 0.25]}, {"curve": [[1, 2], [3, 4]]}, {"words": 500 * "a"}]
    lines = Result("rows", "rows", "", rows=rows).save(tmp_path).read_text().splitlines()
    assert '  {"distance": 1, "networks": [0.5, 0.25]},' in lines
    assert "    [1, 2]," in lines
    assert max(len(line) for line in lines) < 520


@pytest.mark.parametrize("name", names())
def test_every_stored_result_is_sealed_and_has_its_name_and_its_provenance(name):
    found, content = stored(name), (FOLDER / f"{name}.json").read_bytes()
    assert check_seal(name, content)
    assert found.name == name
    assert not found.study or found.study in studies()
    assert found.provenance.commit
    assert found.provenance.date


def test_other_names_are_refused_with_a_suggestion():
    with pytest.raises(InputError, match="did you mean traces-figure-9a"):
        stored("traces-figure-9aa")


@pytest.mark.parametrize(
    ("spoiled", "told"),
    [
        (lambda content: content | {"rows": {}}, "damaged: its 'rows' is not a list"),
        (lambda content: {key: value for key, value in content.items() if key != "found"}, "'found' is not a dict"),
        (lambda content: content | {"provenance": {"seed": 1}}, "in its 'provenance'.*seed"),
        (lambda content: content | {"format": "kleene.results/1"}, "its format is not 'kleene.study/1'"),
        (lambda content: [content], "is not the result of a study"),
    ],
)
def test_a_damaged_file_is_refused_with_its_name_and_what_is_wrong(tmp_path, spoiled, told):
    path = Result("any", "any", "anything").save(tmp_path)
    content = json.loads(path.read_text())
    del content["checksum"]
    path.write_text(json.dumps(spoiled(content)))
    with pytest.raises(ModelFileError, match=rf"any\.json.*{told}"):
        Result.load(path)


def test_a_file_whose_numbers_were_changed_is_refused(tmp_path):
    path = Result("any", "any", "anything", found={"share": 0.25}).save(tmp_path)
    path.write_text(path.read_text().replace("0.25", "0.75"))
    with pytest.raises(ModelFileError, match="does not have the checksum"):
        Result.load(path)


def test_the_files_of_studies_are_listed_with_those_of_teach(tmp_path):
    one = stored("traces-figure-4")
    one.save(tmp_path)
    (found,) = results(tmp_path).rows
    assert found["lesson"] == "traces-figure-4"
    assert found["settings"] == one.rows


def test_a_file_from_before_results_had_a_format_is_still_listed(tmp_path):
    one = stored("traces-figure-4")
    old = {"name": "figure-4", "shows": "", "paper": {}, "plans": one.plans, "settings": one.rows, "seconds": 1.0}
    (tmp_path / "figure-4.json").write_text(json.dumps(old))
    assert results(tmp_path).rows[0]["settings"] == one.rows


def test_rows_are_chosen_by_their_values():
    rows = [{"hints": "none", "seeds": 40}, {"hints": "corner", "seeds": 10}]
    assert where(rows, hints="corner", seeds=10) == rows[1:]
    assert where(rows, density=1) == []


def test_what_was_not_noted_is_none():
    assert Provenance().seconds is None
