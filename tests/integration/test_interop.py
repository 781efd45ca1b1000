"""Any generated client works: here one made from the .proto by stock grpcio-tools."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest
from server_process import ServerProcess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROTOS = ROOT / "proto"


@pytest.mark.checkout
def test_a_bare_client_from_the_proto_gets_right_results(
    server: ServerProcess, tmp_path: pathlib.Path
) -> None:
    files = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.glob("normd/v1/*.proto"))
    subprocess.run(
        [
            *(sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTOS}"),
            *(f"--python_out={tmp_path}", f"--grpc_python_out={tmp_path}", *files),
        ],
        check=True,
        timeout=60,
    )
    for package in ("normd", "normd/v1"):
        # A regular package goes before the installed client of the same name.
        (tmp_path / package / "__init__.py").touch()
    for address in (server.address, server.unix_address):
        done = subprocess.run(
            [sys.executable, pathlib.Path(__file__).with_name("bare_client.py"), tmp_path, address],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == "right\n"
