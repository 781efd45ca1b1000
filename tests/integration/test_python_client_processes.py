"""Forks and the Python client: an error at once, never a hang."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest
from server_process import ServerProcess

PROGRAM = pathlib.Path(__file__).with_name("client_in_child.py")


@pytest.mark.parametrize(
    ("method", "support", "outcomes"),
    [
        ("fork", "0", ["FailedPrecondition", "FailedPrecondition", "ok"]),
        ("fork", "1", ["FailedPrecondition", "ok", "ok"]),
        ("spawn", "0", ["ok", "ok"]),
    ],
)
def test_a_child_is_told_what_it_cannot_do(
    server: ServerProcess, method: str, support: str, outcomes: list[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", PROGRAM, method, server.address],
        env=os.environ | {"GRPC_ENABLE_FORK_SUPPORT": support},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == outcomes, done.stderr
