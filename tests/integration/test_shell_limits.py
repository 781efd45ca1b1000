"""Limits of the transport, and what gets into the log."""

from __future__ import annotations

import json
import pathlib

import bare_calls
import grpc
import normd
import numpy as np
import pytest
from bare_calls import SERVING
from server_process import ServerProcess

FORWARD = "/normd.v1.NormService/Forward"
SMALL = ("--staging_bytes=67108864", "--max_message_bytes=33554432")


def forward(address: str, request: bytes, **call) -> grpc.StatusCode:
    """How a call with these bytes ends."""
    unlimited = ("grpc.max_send_message_length", -1)
    with bare_calls.channel(address, unlimited) as channel:
        try:
            channel.unary_unary(FORWARD)(request, timeout=60, **call)
        except grpc.RpcError as error:
            return error.code()
    return grpc.StatusCode.OK


def peak_bytes(server: ServerProcess) -> int:
    status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def still_serves(server: ServerProcess) -> None:
    assert bare_calls.check(server.address) == SERVING
    with normd.Client(server.address) as client:
        assert client.rms_norm(np.ones((1, 2), np.float32), eps=0.0).y.tolist() == [[1.0, 1.0]]


def test_a_message_over_the_limit_is_refused(start_server):
    server = start_server("--max_message_bytes=65536", "--staging_bytes=65536")
    assert forward(server.address, bytes(65537)) == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert forward(server.address, bytes(65536)) == grpc.StatusCode.INVALID_ARGUMENT
    still_serves(server)


def test_a_compressed_message_is_not_unpacked(start_server):
    server = start_server(*SMALL)
    before = peak_bytes(server)
    bomb = bytes(256 << 20)  # a quarter of a megabyte on the wire
    for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate):
        code = forward(server.address, bomb, compression=compression)
        assert code in (grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.RESOURCE_EXHAUSTED)
    assert peak_bytes(server) - before < 128 << 20
    still_serves(server)


def test_metadata_over_the_limit_is_refused(start_server):
    server = start_server("--max_metadata_bytes=4096", *SMALL)
    for metadata in ([("key", "v" * 100_000)], [(f"key{i}", "v" * 100) for i in range(1000)]):
        code = forward(server.address, b"", metadata=metadata)
        assert code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert forward(server.address, b"", metadata=[("key", "v" * 1000)]) == (
        grpc.StatusCode.INVALID_ARGUMENT
    )
    still_serves(server)


def test_json_logs_parse_and_hold_no_secret(start_server):
    secrets = ["bearer-of-the-caller", "session-of-the-caller", "token-of-the-environment"]
    server = start_server(
        "--log_format=json",
        "--log_level=debug",
        *SMALL,
        env={"NORMD_AUTH_TOKEN": secrets[2], "SOME_PASSWORD": secrets[2]},
    )
    metadata = [("authorization", f"Bearer {secrets[0]}"), ("x-normd-session", secrets[1])]
    for request in (b"", b"\xff\xff\xff", secrets[0].encode()):
        assert forward(server.address, request, metadata=metadata) != grpc.StatusCode.OK
    still_serves(server)
    assert server.stop() == 0
    lines = [json.loads(line) for line in server.log().splitlines()]
    assert [line["event"] for line in lines][:1] == ["configuration"]
    assert lines[-1]["event"] == "ended"
    assert all({"time", "level", "event"} <= line.keys() for line in lines)
    for secret in secrets:
        assert secret not in server.log()


def test_text_logs_are_one_event_a_line(server):
    for line in server.log().splitlines():
        time, level, event = line.split()[:3]
        assert time.endswith("Z"), line
        assert level in ("debug", "info", "warning", "error"), line
        assert event


@pytest.mark.parametrize("level", ["info", "error"])
def test_the_level_of_the_log(start_server, level):
    server = start_server(f"--log_level={level}", *SMALL)
    assert (server.log() == "") == (level == "error")
