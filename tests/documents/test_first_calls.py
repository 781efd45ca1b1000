"""The README's first calls, as they stand there, against a real server."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from server_process import ROOT, ServerProcess, find_binary

FOLDER = pathlib.Path(__file__).resolve().parent


def _block(language: str) -> str:
    readme = (ROOT / "README.md").read_text()
    found = re.findall(rf"^```{language}\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, language
    return found[0]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ServerProcess() as process:
        yield process.address


def test_python(address, tmp_path):
    program = tmp_path / "first_call.py"
    program.write_text(_block("python").replace("127.0.0.1:50051", address))
    run = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "cpu" in run.stdout


def test_cpp(address):
    source = (FOLDER / "first_call.cc").read_text()
    assert _block("cpp") == source.partition("\n")[2]
    program = find_binary().parents[1] / "tests" / "documents" / "normd_first_call"
    run = subprocess.run(
        [program, address], capture_output=True, text=True, timeout=60, check=False
    )
    # A constant row has no spread: LayerNorm makes it exactly 0.
    assert (run.returncode, run.stdout) == (0, "y[0] = 0, on cpu\n"), run.stderr
