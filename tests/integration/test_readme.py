"""The programs in the clients' READMEs, run as they stand against a real server."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from server_process import ROOT, ServerProcess, find_binary

ADDRESS = "127.0.0.1:50051"


def blocks(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("document", ["client/README.md", "client/python/README.md"])
def test_python_blocks_run(server: ServerProcess, document: str) -> None:
    found = blocks(document, "python")
    assert found
    assert ADDRESS in found[0]
    for block in found:
        program = block.replace(ADDRESS, server.address)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr


def test_the_cpp_block_is_the_program_that_is_built() -> None:
    assert blocks("client/README.md", "cpp") == [(ROOT / "client/cpp/example.cc").read_text()]


def test_the_cpp_program_runs(server: ServerProcess) -> None:
    program = find_binary().parents[1] / "client" / "cpp" / "normd_client_example"
    for address in (server.address, server.unix_address):
        done = subprocess.run([program, address], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "y[0] = 0, dweight[0] = 0\nwrong: op.group_size\n"
