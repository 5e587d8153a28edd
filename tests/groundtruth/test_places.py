"""Where the collection is: without a folder nothing is built, and listing goes on."""

import pytest

from kleene.errors import InputError
from kleene.groundtruth.places import CARD, collection_folder, is_built
from tests.command_line import assert_refused


def test_the_collection_is_listed_without_a_cache_folder(run, monkeypatch):
    monkeypatch.setenv("KLEENE_CACHE", "off")
    result = run("groundtruth", "list", "--json")
    assert result.status == 0
    assert "rasp.reverse" in {row["name"] for row in result.json}
    assert not any(row["built"] for row in result.json)


def test_what_is_built_is_in_the_folder_that_is_given_or_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_CACHE", str(tmp_path))
    for place in (tmp_path / "own", collection_folder()):
        (place / "a.compiled").mkdir(parents=True)
        (place / "a.compiled" / CARD).write_text("{}")
    assert is_built("a.compiled")
    assert is_built("a.compiled", tmp_path / "own")
    assert not is_built("a.hidden")
    monkeypatch.setenv("KLEENE_CACHE", "off")
    assert not is_built("a.compiled")
    assert is_built("a.compiled", tmp_path / "own")
    with pytest.raises(InputError, match="KLEENE_CACHE is off"):
        collection_folder()


def test_a_file_in_the_place_of_the_folder_is_refused_by_every_command(tmp_path, run):
    file = tmp_path / "file"
    file.touch()
    for words in (("list",), ("build", "rasp.hist.compiled"), ("show", "rasp.hist.compiled")):
        assert_refused(run("groundtruth", *words, "--folder", str(file)), "is a file, and the collection is a folder")


def test_in_a_folder_whose_name_is_too_long_nothing_is_built(run):
    assert run("groundtruth", "list", "--folder", "x" * 400).status == 0
    assert_refused(run("groundtruth", "show", "rasp.hist.compiled", "--folder", "x" * 400), "is not built yet")
