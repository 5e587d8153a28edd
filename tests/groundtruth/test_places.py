"""Where the collection is: without a folder nothing is built, and listing goes on."""

import pytest

from kleene.errors import InputError
from kleene.groundtruth.places import CARD, collection_folder, is_built


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
