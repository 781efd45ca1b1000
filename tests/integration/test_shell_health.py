"""Health, information and reflection of the real server, by bare calls and by the binary."""

from __future__ import annotations

import os
import signal
import socket
import subprocess

import bare_calls
import grpc
import normd
import numpy as np
import pytest
from bare_calls import NOT_SERVING, SERVING
from normd._stubs.normd.v1 import admin_pb2
from server_process import find_binary

SERVICES = ["", "normd.v1.NormService", "normd.v1.BufferService", "normd.v1.AdminService"]
ONES = np.ones((1, 2), np.float32)
# Starts quickly: little memory to touch.
SMALL = ("--staging_bytes=8388608", "--max_message_bytes=4194304")


def binary(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(find_binary()), *arguments], capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("service", SERVICES)
def test_each_service_is_serving(server, service):
    assert bare_calls.check(server.address, service) == SERVING
    assert bare_calls.check(server.unix_address, service) == SERVING


def test_an_unknown_service_is_not_found(server):
    with pytest.raises(grpc.RpcError) as error:
        bare_calls.check(server.address, "normd.v1.Nothing")
    assert error.value.code() == grpc.StatusCode.NOT_FOUND


def test_the_health_command_on_tcp_and_unix(server):
    for address in (server.address, server.unix_address):
        result = binary("health", f"--addr={address}")
        assert (result.returncode, result.stdout) == (0, f"{address}: serving\n")
    assert binary("health", f"--addr={server.address}", f"--service={SERVICES[1]}").returncode == 0
    result = binary("health", f"--addr={server.address}", "--service=normd.v1.Nothing")
    assert result.returncode == 1
    assert "no such service: 'normd.v1.Nothing'" in result.stdout


def test_the_health_command_says_unreachable():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for address in (f"127.0.0.1:{port}", "unix:/tmp/normd-no-such-socket"):
        result = binary("health", f"--addr={address}", "--timeout=2s")
        assert result.returncode == 2
        assert result.stdout.startswith(f"{address}: unreachable: ")


def test_a_server_that_does_not_answer_is_unreachable_in_time():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        assert binary("health", f"--addr={address}", "--timeout=300ms").returncode == 2


def test_health_turns_when_the_server_drains(start_server):
    server = start_server("--drain_delay=60s", *SMALL)
    with bare_calls.channel(server.address) as channel:
        watches = [bare_calls.watch(channel, service) for service in SERVICES]
        assert [next(watch) for watch in watches] == [SERVING] * 4
        os.kill(server.pid, signal.SIGTERM)
        assert [next(watch) for watch in watches] == [NOT_SERVING] * 4
        # During the delay everything is still served.
        with normd.Client(server.address) as client:
            assert client.rms_norm(ONES, eps=0.0).y.tolist() == [[1.0, 1.0]]
        result = binary("health", f"--addr={server.address}")
        assert (result.returncode, result.stdout) == (1, f"{server.address}: not serving\n")
        assert server.stop() == 0  # the second signal ends the delay, and the watches


def test_server_info(server):
    with bare_calls.channel(server.address) as channel:
        call = channel.unary_unary("/normd.v1.AdminService/ServerInfo")
        info = admin_pb2.ServerInfoResponse.FromString(call(b"", timeout=10))
    assert info.version
    assert info.commit
    assert info.build
    (device,) = info.devices
    assert device.up
    assert device.model
    assert device.memory_bytes > 2**28
    assert device.copy_bytes_per_second > 1e7
    assert info.limits.max_message_bytes == 256 * 2**20 + 64 * 2**10
    assert info.limits.max_width == 2**24
    assert info.limits.max_queue_requests == 4096
    assert info.limits.staging_bytes == 2**30
    assert list(info.ops) == ["layer_norm", "rms_norm", "gated_layer_norm", "gated_rms_norm"]
    assert list(info.features) == ["reflection", "metrics"]
    printed = binary("info", f"--addr={server.unix_address}")
    assert printed.returncode == 0
    for part in (info.version, info.commit, info.build, device.name, "gated_rms_norm", "metrics"):
        assert part in printed.stdout


def test_the_info_command_without_a_server():
    result = binary("info", "--addr=unix:/tmp/normd-no-such-socket", "--timeout=2s")
    assert result.returncode == 1
    assert result.stderr.startswith("normd info: unix:/tmp/normd-no-such-socket: ")


@pytest.mark.parametrize("method", ["Statistics", "Drain"])
def test_what_the_admin_service_does_not_serve_says_so(server, method):
    with bare_calls.channel(server.address) as channel:
        call = channel.unary_unary(f"/normd.v1.AdminService/{method}")
        with pytest.raises(grpc.RpcError) as error:
            call(b"", timeout=10)
    assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED
    assert error.value.details().startswith("this server ")
    assert bare_calls.check(server.address) == SERVING


def test_reflection_is_on_where_only_this_machine_can_ask(server):
    assert bare_calls.reflected_services(server.address) == {"NormService", "AdminService"}


def test_reflection_can_be_switched_off(start_server):
    server = start_server("--reflection=off", *SMALL)
    with pytest.raises(grpc.RpcError) as error:
        bare_calls.reflected_services(server.address)
    assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED
