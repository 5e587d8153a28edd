import importlib
import sys
from importlib import metadata
from pathlib import Path

import pytest

from kleene import doctor
from kleene.doctor import EXTRAS, examine, package, requirements, unusable, within
from tests.data.test_getting import SMALL, small_set


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    for name in ("KLEENE_DATA", "KLEENE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def found(name: str) -> doctor.Finding:
    return next(finding for finding in examine().findings if finding.name == name)


def test_a_machine_without_data_is_sound_and_says_how_to_get_it(tmp_path):
    examined = examine()
    assert examined.is_sound, examined
    scan = found("data scan")
    assert (scan.state, scan.advice) == ("missing", "kleene data get scan (24 MB)")
    assert str(tmp_path / "cache") in scan.found
    assert "→ kleene data get scan" in str(examined)
    assert {finding["name"] for finding in examined.as_json()["findings"]} >= {"python", "kleene", "jax", "device"}
    assert not any((tmp_path / "cache").rglob("*"))  # it looks, and makes nothing


def test_data_that_is_incomplete_or_not_as_published_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path))
    monkeypatch.setattr("kleene.data.folders.DATA_SETS", {"small": small_set("http://127.0.0.1:1")})
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "LICENSE").write_bytes(SMALL)
    assert (found("data small").state, found("data small").found) == ("missing", "text.txt")
    (tmp_path / "small" / "text.txt").write_text("mine")
    assert found("data small").state == "differs"
    assert "text.txt" in found("data small").found
    assert examine().is_sound


def test_a_folder_that_cannot_be_used_is_broken(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KLEENE_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setenv("KLEENE_DATA", str(tmp_path / "none"))
    assert found("cache").state == "broken"
    assert "KLEENE_CACHE" in found("cache").advice
    assert (found("data folder").state, examine().is_sound) == ("broken", False)
    monkeypatch.setenv("KLEENE_CACHE", "off")
    assert found("cache").found.startswith("off")
    assert unusable(tmp_path / "new" / "folder") == ""
    monkeypatch.setattr("os.access", lambda *args: False)
    assert "cannot be written to" in unusable(tmp_path / "new")


def test_a_cache_that_others_can_write_to_is_broken(tmp_path, monkeypatch):
    monkeypatch.setenv("KLEENE_CACHE", str(tmp_path))
    (tmp_path / "compiled").mkdir()
    (tmp_path / "compiled").chmod(0o777)
    assert (found("cache").state, "others can write to it" in found("cache").found) == ("broken", True)
    (tmp_path / "compiled").chmod(0o700)
    assert found("cache").state == "ok"


def test_a_package_that_is_missing_too_old_or_unusable_is_broken(monkeypatch):
    assert package("no-such-package", ">=1").state == "broken"
    old = package("numpy", ">=99,<100")
    assert (old.state, old.advice) == ("broken", "pip install 'numpy>=99,<100'")
    assert package("numpy", ">=1").found == metadata.version("numpy")

    def fails(name: str) -> None:
        raise ImportError(f"{name}: undefined symbol\nmore")

    monkeypatch.setattr(importlib, "import_module", fails)
    assert package("numpy", ">=1").found.endswith("cannot be imported: ImportError: numpy: undefined symbol")


def test_an_old_python_is_broken(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 10, 0, "final", 0))
    (python,) = doctor._python()
    assert (python.state, python.advice) == ("broken", "use 3.11 or newer")


def test_a_kleene_that_is_not_installed_is_said_to_be_so(monkeypatch):
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", missing)
    (kleene,) = doctor._packages()
    assert (kleene.state, "not installed" in kleene.found) == ("missing", True)


def test_a_jax_without_a_device_is_broken(monkeypatch):
    import jax

    def fails() -> None:
        raise RuntimeError("no driver")

    monkeypatch.setattr(jax, "devices", fails)
    (device,) = doctor._device()
    assert (device.state, device.found) == ("broken", "jax finds none: no driver")


def test_on_a_gpu_it_says_whether_the_kernel_of_ntms_is_used(monkeypatch):
    import jax

    class FakeGpu:
        platform, device_kind, compute_capability = "gpu", "H200", "9.0"

    def kernel(nvcc, gpus=1):
        monkeypatch.setattr(jax, "devices", lambda: [FakeGpu()] * gpus)
        monkeypatch.setattr("kleene.kernels.cuda_compiler", lambda: nvcc)
        monkeypatch.setattr("kleene.doctor.cuda_compiler", lambda: nvcc)
        return tuple(doctor._device())[1]

    monkeypatch.delenv("KLEENE_KERNEL", raising=False)
    assert (kernel(None).state, "CUDA_HOME" in kernel(None).advice) == ("missing", True)
    assert kernel("/opt/bin/nvcc").found == "of NTMs: built at first use by /opt/bin/nvcc"
    assert "2 GPUs" in kernel("/opt/bin/nvcc", gpus=2).found
    monkeypatch.setattr(FakeGpu, "compute_capability", "7.5")
    assert (kernel(None).state, kernel(None).advice) == ("ok", "")  # a compiler would not help
    assert "compute capability 7.5, and kernels need 8.0" in kernel("/opt/bin/nvcc").found
    monkeypatch.setattr(FakeGpu, "compute_capability", "9.0")
    monkeypatch.setenv("KLEENE_KERNEL", "off")
    assert "KLEENE_KERNEL=off" in kernel("/opt/bin/nvcc").found


def test_a_gpu_that_jax_does_not_see_is_missing(monkeypatch):
    import jax

    cpu = jax.devices("cpu")
    monkeypatch.setattr(jax, "devices", lambda: cpu)
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/nvidia-smi")
    monkeypatch.delenv("JAX_PLATFORMS", raising=False)
    (device,) = doctor._device()
    assert device.state == "missing"
    assert "jax[cuda12]" in device.advice
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")  # on purpose
    assert next(doctor._device()).state == "ok"


def test_requirements_are_read_as_they_are_written(monkeypatch):
    lines = ["numpy>=1.26", "aalpy (<3,>=2)", 'ray>=2.40; extra == "sweeps"', "jax[cpu]>=0.6 ; extra == 'gpu'"]
    monkeypatch.setattr(metadata, "requires", lambda name: lines)
    expected = {"": {"numpy": ">=1.26", "aalpy": "<3,>=2"}, "sweeps": {"ray": ">=2.40"}, "gpu": {"jax": ">=0.6"}}
    assert requirements() == expected


def test_every_extra_of_the_project_says_what_it_is_for():
    import tomllib

    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) == set(EXTRAS)


def test_the_type_checker_has_one_version_because_each_new_one_finds_other_faults():
    import tomllib

    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    (pinned,) = [one for one in project["optional-dependencies"]["dev"] if one.startswith("pyright")]
    assert pinned.startswith("pyright==")


@pytest.mark.parametrize(
    ("version", "bounds", "expected"),
    [
        ("1.2.3", "", True),
        ("1.10", ">=1.9", True),
        ("1.9", ">=1.10", False),
        ("2", ">=2.0.0,<3", True),
        ("3.0.0", "<3", False),
        ("0.11.0.dev3", ">=0.11", True),
        ("0.0.73", "==0.0.73", True),
        ("0.0.74", "==0.0.73", False),
        ("weird", "~=1.0", True),
    ],
)
def test_versions_are_compared_number_by_number(version, bounds, expected):
    assert within(version, bounds) is expected
