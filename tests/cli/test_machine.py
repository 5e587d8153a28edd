"""The commands doctor and data."""

import pytest

from tests.command_line import assert_refused
from tests.data.serving import serving
from tests.data.test_getting import SMALL, TEXT, small_set


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KLEENE_CACHE", raising=False)
    sets = {"small": small_set("http://127.0.0.1:1")}
    for module in ("catalog", "folders"):
        monkeypatch.setattr(f"kleene.data.{module}.DATA_SETS", sets)
    return tmp_path


def test_a_data_set_is_listed_fetched_and_listed_again(run, own_folders):
    assert run("data", "list").out.startswith("small: missing, 3 MB\n    A small set (Nobody 2024)\n    licence: CC0")
    with serving({"/LICENSE": SMALL, "/text.txt": TEXT}) as server:
        done = run("data", "get", "small", "--from", server.url)
    assert done.out.endswith(f"{own_folders}/data/small: fetched LICENSE, text.txt\n")
    (row,) = run("data", "list", "--json").json
    assert (row["state"], row["licence"], row["files"]) == ("ok", "CC0", {"LICENSE": "ok", "text.txt": "ok"})
    assert run("data", "get", "small", "--json").json["present"] == ["LICENSE", "text.txt"]


def test_what_cannot_be_fetched_is_refused_in_words(run):
    assert_refused(run("data", "get", "small"), "could not be fetched", "Connection refused", "--from")
    assert_refused(run("data", "get", "smal"), "no data set 'smal'; did you mean small?")


def test_the_doctor_is_content_with_what_is_missing_and_not_with_what_is_broken(run, own_folders, monkeypatch):
    broken = run("doctor")
    assert broken.status == 1
    assert "broken   data folder" in broken.out
    (own_folders / "data").mkdir()
    sound = run("doctor", "--json")
    assert (sound.status, sound.json["sound"]) == (0, True)
    assert {"name": "data small", "state": "missing"}.items() <= sound.json["findings"][-1].items()
