"""The Python package as a user gets it: sdist, wheel, and the oldest dependencies it declares.

The newest ones are those of the environment that runs the other tests.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from server_process import ROOT, ServerProcess

pytestmark = pytest.mark.checkout

PACKAGE = ROOT / "client" / "python"
TESTS = pathlib.Path(__file__).parent
STUBS = {"normd/_stubs/normd/v1/norm_pb2.py", "normd/_stubs/normd/v1/norm_pb2.pyi"}


def project() -> dict:
    """What pyproject.toml declares. Read by a test: a tarball has no such file."""
    return tomllib.loads((PACKAGE / "pyproject.toml").read_text())


def run(*command: object, **options: object) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        **options,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def make_venv(folder: pathlib.Path, *packages: str) -> pathlib.Path:
    """Returns the interpreter of a new environment with these packages."""
    venv.create(folder)
    python = folder / "bin" / "python"
    pip(python, "install", "--quiet", "--no-compile", "--only-binary=:all:", *packages)
    return python


def pip(python: pathlib.Path, *arguments: object) -> str:
    """Runs the pip of the tests on the environment of `python`, which needs none then."""
    return run(sys.executable, "-m", "pip", "--python", python, *arguments)


def applying(requirements: list[str]) -> list[Requirement]:
    parsed = map(Requirement, requirements)
    return [one for one in parsed if one.marker is None or one.marker.evaluate()]


def oldest(requirement: Requirement) -> tuple[str, Version]:
    """The name and the lower bound."""
    versions = [one.version for one in requirement.specifier if one.operator == ">="]
    assert len(versions) == 1, f"{requirement} has no lower bound"
    return canonicalize_name(requirement.name), Version(versions[0])


def installed(python: pathlib.Path) -> dict[str, Version]:
    lines = json.loads(pip(python, "list", "--format=json"))
    return {canonicalize_name(one["name"]): Version(one["version"]) for one in lines}


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, pathlib.Path]:
    """The sdist of the checkout, and the wheel that the sdist gives."""
    folder = tmp_path_factory.mktemp("archives")
    python = make_venv(folder / "builder", *project()["build-system"]["requires"])
    run(python, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=PACKAGE)
    (sdist,) = folder.glob("*.tar.gz")
    wheel = ("wheel", "--quiet", "--no-deps", "--no-build-isolation")
    pip(python, *wheel, "--wheel-dir", folder, sdist)
    (built,) = folder.glob("*.whl")
    return sdist, built


def test_the_sdist_carries_the_protos_and_no_stubs(archives) -> None:
    with tarfile.open(archives[0]) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {"proto/normd/v1/norm.proto", "hatch_build.py", "pyproject.toml"} <= names
    assert [name for name in names if "_pb2" in name] == []


def test_the_wheel_carries_stubs_and_types(archives) -> None:
    with zipfile.ZipFile(archives[1]) as archive:
        names = set(archive.namelist())
    assert STUBS | {"normd/py.typed", "normd/__init__.py"} <= names
    assert [name for name in names if not name.startswith(("normd/", "normd-"))] == []


def test_it_runs_on_the_oldest_dependencies(
    archives, server: ServerProcess, tmp_path: pathlib.Path
) -> None:
    pins = dict(oldest(one) for one in applying(project()["project"]["dependencies"]))
    exact = (f"{name}=={version}" for name, version in pins.items())
    python = make_venv(tmp_path / "oldest", str(archives[1]), *exact, "pytest", "pytest-timeout")
    assert pins.items() <= installed(python).items()

    tests = [TESTS / f"test_python_client_{part}.py" for part in ("api", "wire")]
    options = ("-q", "-p", "no:cacheprovider", "-W", "error::UserWarning")
    assert "passed" in run(python, "-m", "pytest", *options, *tests, cwd=ROOT)
    bare = (ROOT / "client/README.md").read_text().split("```python\n")[1].split("```")[0]
    program = bare.replace("127.0.0.1:50051", server.unix_address)
    assert "wrong: op.group_size" in run(python, "-W", "error", "-c", program, cwd=tmp_path)


def test_the_lower_bound_of_protobuf_is_what_the_stubs_ask_for(archives) -> None:
    (bound,) = (r for r in applying(project()["project"]["dependencies"]) if r.name == "protobuf")
    with zipfile.ZipFile(archives[1]) as archive:
        text = archive.read("normd/_stubs/normd/v1/norm_pb2.py").decode()
    (generated,) = (line for line in text.splitlines() if "Protobuf Python Version" in line)
    assert oldest(bound)[1] == Version(generated.rsplit(" ", 1)[1])
