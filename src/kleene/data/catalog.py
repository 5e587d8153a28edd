"""The published data sets: their files with sizes and checksums, licences, and where each can be had."""

from dataclasses import dataclass

from kleene.errors import InputError, did_you_mean


@dataclass(frozen=True)
class DataFile:
    """A file in the folder of a data set. Where the SHA-256 is not known, it is empty, and the size must do."""

    name: str
    size: int
    sha256: str = ""
    is_needed: bool = True  # a licence is fetched with the data, and not missed


@dataclass(frozen=True)
class Download:
    """A file to fetch, the same from each of the places. The digest is `sha256:…` or `md5:…`.

    An archive is unpacked: each of its members becomes a file of the data set.
    """

    name: str
    places: tuple[str, ...]
    digest: str
    size: int | None = None
    members: tuple[tuple[str, str], ...] = ()  # (name in the archive, name of the data file)

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the data files that it brings."""
        return tuple(file for _, file in self.members) or (self.name,)


@dataclass(frozen=True)
class DataSet:
    """A published data set."""

    name: str
    title: str
    paper: str
    licence: str
    source: str
    published: str  # what to get and where, as an error says it
    files: tuple[DataFile, ...]
    downloads: tuple[Download, ...]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)

    def file(self, name: str) -> DataFile:
        return next(file for file in self.files if file.name == name)


def _plain(file: DataFile, *places: str) -> Download:
    return Download(file.name, places, f"sha256:{file.sha256}", file.size)


_SCAN = "https://raw.githubusercontent.com/brendenlake/SCAN/master"
_SCAN_FILES = {  # by the folder of the repository
    "": (
        DataFile("LICENSE", 1532, "5caff9408d400e1d9b271bf48b967154cdf6a37c16c965f91775da3af9291f67", is_needed=False),
        DataFile("tasks.txt", 4080388, "d824c7d9e9149ba497e25f701981dac79954e04bf670d22e5c209f076ac6c89f"),
    ),
    "simple_split": (
        DataFile("tasks_train_simple.txt", 3267938, "941bb8a088c5f53ceff12fde902dc008933cf0c4203cc672c47b5f79d73262dd"),
        DataFile("tasks_test_simple.txt", 812450, "1fe1c8f5a19d0dc40e41bab94278f45f66f3dc415a978bd29855a23440610fc6"),
    ),
    "length_split": (
        DataFile("tasks_train_length.txt", 2723418, "b034212dc7cf87ce62f3a067dd6ad49c4d5cd18d51d615d13825516bcb1ebbc2"),
        DataFile("tasks_test_length.txt", 1356970, "0760752ed34a75116ae11dcc1ee17526b7500060da1366540730fa24894d7db3"),
    ),
    "add_prim_split": (
        DataFile(
            "tasks_train_addprim_jump.txt", 2579619, "e3c78485692e028eed4205e1b8b3fd0e785ef2c12d45b5b89204dadf5b239e23"
        ),
        DataFile(
            "tasks_test_addprim_jump.txt", 1531555, "8147ae2651422c701162e174d9d66158daa57858a26b30317ac61797118ac7a5"
        ),
        DataFile(
            "tasks_train_addprim_turn_left.txt",
            3974537,
            "1b3fed86055dd7689d217f1b90cc8960aeb1cf200f4f209dc47935761b05304c",
        ),
        DataFile(
            "tasks_test_addprim_turn_left.txt",
            173679,
            "15a82c2d25ac7c3c1fff7e18051fb085974ef3617de895c520d02144396a10e2",
        ),
    ),
    "template_split": (
        DataFile(
            "tasks_train_template_around_right.txt",
            2558693,
            "d5d35d174d557645fc61f289424afa0d95fde21422c59a9819e2d0fcfa9d419f",
        ),
        DataFile(
            "tasks_test_template_around_right.txt",
            1243177,
            "fc78a5d1077dc2c206d6c42ed89fb9022867618c3f331179bafd3ec1ca699474",
        ),
    ),
}

# The treebank changes with every release. These are the files that our results are from; places whose file has
# another size are passed over before anything is fetched.
_EWT = "https://raw.githubusercontent.com/UniversalDependencies/UD_English-EWT"
_EWT_RELEASES = ("r2.17", "r2.16", "r2.15", "r2.14", "master")
_EWT_FILES = (
    DataFile("LICENSE.txt", 20014, "b3d1b0f4c6ae151f7eb78738f46ebd5ee140f8a7f76501ba26af123140d35ae7", is_needed=False),
    DataFile("en_ewt-ud-dev.conllu", 1805545, "531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6"),
    DataFile("en_ewt-ud-test.conllu", 1804515, "e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd"),
    DataFile("en_ewt-ud-train.conllu", 14203025, "3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b"),
)

_WIKITEXT_FILES = (
    DataFile("train.txt", 10797148),
    DataFile("valid.txt", 1121681, "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8"),
    DataFile("test.txt", 1256449, "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0"),
)

_ALL = (
    DataSet(
        "scan",
        "SCAN: commands and their actions, with splits",
        "Lake and Baroni 2018",
        "BSD",
        "GitHub, brendenlake/SCAN",
        "the files of SCAN (tasks.txt and the folders of the splits), published on GitHub as brendenlake/SCAN",
        tuple(file for files in _SCAN_FILES.values() for file in files),
        tuple(
            _plain(file, f"{_SCAN}/{folder}/{file.name}" if folder else f"{_SCAN}/{file.name}")
            for folder, files in _SCAN_FILES.items()
            for file in files
        ),
    ),
    DataSet(
        "ud-ewt",
        "Universal Dependencies English-EWT: sentences with their trees",
        "Silveira et al. 2014",
        "CC BY-SA 4.0",
        "GitHub, UniversalDependencies/UD_English-EWT",
        "the files of Universal Dependencies English-EWT (en_ewt-ud-train.conllu, en_ewt-ud-dev.conllu and "
        "en_ewt-ud-test.conllu), published on GitHub as UniversalDependencies/UD_English-EWT",
        _EWT_FILES,
        tuple(_plain(file, *(f"{_EWT}/{release}/{file.name}" for release in _EWT_RELEASES)) for file in _EWT_FILES),
    ),
    DataSet(
        "wikitext-2",
        "WikiText-2: articles of Wikipedia, word by word",
        "Merity et al. 2016",
        "CC BY-SA 3.0",
        "wikitext-2-v1.zip of its authors",
        "the word-level files of WikiText-2 as train.txt, valid.txt and test.txt, published with Merity et "
        "al. 2016 in wikitext-2-v1.zip (wiki.train.tokens and so on: rename them), and on the Hugging Face Hub as "
        "Salesforce/wikitext, wikitext-2-v1 (its rows are the lines of the files)",
        _WIKITEXT_FILES,
        (
            Download(
                "wikitext-2-v1.zip",
                (
                    "https://wikitext.smerity.com/wikitext-2-v1.zip",
                    "https://s3.amazonaws.com/research.metamind.io/wikitext/wikitext-2-v1.zip",
                ),
                "md5:542ccefacc6c27f945fb54453812b3cd",
                members=tuple((f"wikitext-2/wiki.{part}.tokens", f"{part}.txt") for part in ("train", "valid", "test")),
            ),
        ),
    ),
)
DATA_SETS = {one.name: one for one in _ALL}


def data_set(name: str) -> DataSet:
    """The data set of that name; where there is none, an InputError suggests another."""
    if name not in DATA_SETS:
        raise InputError(f"there is no data set {name!r}; {did_you_mean(name, DATA_SETS)}")
    return DATA_SETS[name]
