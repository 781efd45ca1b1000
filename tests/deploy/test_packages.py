"""What deploy/packages installs: only what is missing, and a clear word when it cannot."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "deploy" / "packages"


def _stand_in(folder: pathlib.Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def _apt(path: pathlib.Path) -> subprocess.CompletedProcess[str]:
    # Only the stand-ins and the plain tools: no sudo, and no user that is root.
    return subprocess.run(
        [PACKAGES / "apt", "build"],
        env={"PATH": f"{path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_nothing_is_asked_of_apt_when_all_is_there(tmp_path):
    _stand_in(tmp_path, "dpkg-query", "echo installed")
    _stand_in(tmp_path, "apt-get", "exit 1")
    result = _apt(tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("user", ["0", "1000"])
def test_what_is_missing_is_installed_or_named(tmp_path, user):
    _stand_in(tmp_path, "dpkg-query", 'case "$*" in *ninja*) exit 1 ;; *) echo installed ;; esac')
    _stand_in(tmp_path, "apt-get", f'echo "$@" >>{tmp_path}/asked')
    _stand_in(tmp_path, "id", f"echo {user}")
    if user == "0":
        assert _apt(tmp_path).returncode == 0
        asked = (tmp_path / "asked").read_text().splitlines()
        assert asked[0].startswith("update")
        assert asked[1].split()[-1] == "ninja-build"
        assert "--no-install-recommends" in asked[1]
    else:
        _stand_in(tmp_path, "sudo", f'echo sudo >>{tmp_path}/asked; shift 2; "$@"')
        assert _apt(tmp_path).returncode == 0
        assert (tmp_path / "asked").read_text().splitlines()[0] == "sudo"


def test_python_requirements_are_pinned():
    for listed in (PACKAGES / "python.txt", ROOT / "tests" / "requirements.txt"):
        for line in listed.read_text().splitlines():
            assert line.startswith(("#", "-r ")) or "==" in line, line
