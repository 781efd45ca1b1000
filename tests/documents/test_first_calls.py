"""The programs in the READMEs, as they stand there, against a real server."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from server_process import ROOT, ServerProcess, find_binary

ADDRESS = "127.0.0.1:50051"

# Document -> (source of its C++ block, the program in the build folder, what that prints).
CPP = {
    "README.md": (
        "tests/documents/first_call.cc",
        "tests/documents/normd_first_call",
        "y[0] = 0, on cpu\n",
    ),
    "client/README.md": (
        "client/cpp/example.cc",
        "client/cpp/normd_client_example",
        "y[0] = 0, dweight[0] = 0\nwrong: op.group_size\n",
    ),
}


def _blocks(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text()
    found = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found, f"{document} has no {language}"
    return found


def _run(*command: str | pathlib.Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    with ServerProcess("--devices=cpu") as process:
        yield process
        assert process.stop() == 0


@pytest.mark.parametrize("document", ["README.md", "client/README.md", "client/python/README.md"])
def test_python_blocks_run(server, document):
    found = _blocks(document, "python")
    assert ADDRESS in found[0]
    for block in found:
        _run(sys.executable, "-W", "error", "-c", block.replace(ADDRESS, server.address))


@pytest.mark.parametrize("document", CPP)
def test_the_cpp_block_is_the_program_that_is_built(document):
    assert _blocks(document, "cpp") == [(ROOT / CPP[document][0]).read_text()]


@pytest.mark.parametrize("document", CPP)
def test_the_cpp_program_runs(server, document):
    _, program, printed = CPP[document]
    for address in (server.address, server.unix_address):
        assert _run(find_binary().parents[1] / program, address) == printed
