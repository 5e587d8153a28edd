import pytest

from kleene.data import data_folder, read_text
from kleene.errors import InputError


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """An own folder and a cache folder, both empty."""
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "own" / "scan", tmp_path / "cache" / "kleene" / "scan"


def test_the_users_own_folder_comes_before_the_cache(folders):
    own, cached = folders
    cached.mkdir(parents=True)
    assert data_folder("scan") == cached
    own.mkdir(parents=True)
    assert data_folder("scan") == own


def test_the_cache_is_in_the_home_folder_unless_told_otherwise(tmp_path, monkeypatch):
    monkeypatch.delenv("KLEENE_DATA", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".cache" / "kleene" / "scan"
    folder.mkdir(parents=True)
    assert data_folder("scan") == folder


def test_missing_data_is_refused_with_what_to_get_and_where_to_put_it(folders):
    with pytest.raises(InputError) as refusal:
        data_folder("scan")
    for part in (*map(str, folders), "brendenlake/SCAN", "KLEENE_DATA", "tasks.txt"):
        assert part in str(refusal.value)


def test_a_file_where_the_folder_should_be_is_no_data(folders):
    folders[0].parent.mkdir()
    folders[0].write_text("")
    with pytest.raises(InputError, match="is not on this machine"):
        data_folder("scan")


def test_an_unknown_data_set_is_refused_with_those_there_are():
    with pytest.raises(InputError, match="no data set 'scam'; did you mean scan"):
        data_folder("scam")


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(InputError, match=r"there is no file '.*missing.txt'"):
        read_text(tmp_path / "missing.txt")
    with pytest.raises(InputError, match="cannot be read"):
        read_text(tmp_path)
    (tmp_path / "binary.txt").write_bytes(b"IN: \xff\xfe")
    with pytest.raises(InputError, match=r"binary.txt' is not a text file"):
        read_text(tmp_path / "binary.txt")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("ud-ewt", ("UniversalDependencies/UD_English-EWT", "en_ewt-ud-dev.conllu")),
        ("wikitext-2", ("Merity et al. 2016", "train.txt", "valid.txt", "test.txt")),
    ],
)
def test_every_missing_data_set_is_named_with_its_files_and_its_source(name, parts, folders):
    with pytest.raises(InputError) as refusal:
        data_folder(name)
    for part in (*parts, str(folders[0].with_name(name)), "KLEENE_DATA"):
        assert part in str(refusal.value)
