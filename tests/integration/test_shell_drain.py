"""How the real server ends: under load, at once, and when it cannot."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
import urllib.request

import bare_calls
import grpc
import numpy as np
import pytest
from bare_calls import SERVING
from normd._stubs.normd.v1 import norm_pb2
from server_process import ServerProcess, find_binary

SMALL = ("--staging_bytes=67108864", "--max_message_bytes=16777216", "--cpu_threads=1")
FORWARD = "/normd.v1.NormService/Forward"


def request(rows: int, width: int = 64) -> bytes:
    return norm_pb2.ForwardRequest(
        op=norm_pb2.NormOp(kind=norm_pb2.NORM_KIND_RMS_NORM, eps=0.0),
        y=norm_pb2.Output(inline=norm_pb2.InlineOutput()),
        x=norm_pb2.Tensor(
            dtype=norm_pb2.DATA_TYPE_FLOAT32,
            shape=[rows, width],
            inline=np.ones((rows, width), np.float32).tobytes(),
        ),
    ).SerializeToString()


def is_right(reply: bytes, rows: int, width: int = 64) -> bool:
    y = np.frombuffer(norm_pb2.ForwardResponse.FromString(reply).y.inline, np.float32)
    return y.size == rows * width and bool((y == 1).all())


class Load:
    """Threads that call until a call fails; each keeps how its calls went."""

    def __init__(self, address: str, threads: int) -> None:
        self.right = 0
        self.wrong = 0
        self.codes: list[grpc.StatusCode] = []
        self._lock = threading.Lock()
        self._address = address
        self._request = request(64)
        self._threads = [threading.Thread(target=self._run) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def _run(self) -> None:
        with bare_calls.channel(self._address) as channel:
            call = channel.unary_unary(FORWARD)
            while True:
                try:
                    good = is_right(call(self._request, timeout=60), 64)
                except grpc.RpcError as error:
                    with self._lock:
                        self.codes.append(error.code())
                    return
                with self._lock:
                    self.right += good
                    self.wrong += not good

    def wait_for(self, calls: int) -> None:
        end = time.monotonic() + 60
        while self.right < calls:
            assert time.monotonic() < end
            assert self.codes == []
            time.sleep(0.01)

    def join(self) -> None:
        for thread in self._threads:
            thread.join()


def test_sigterm_under_load_loses_no_accepted_request(start_server):
    server = start_server("--drain_delay=500ms", *SMALL)
    load = Load(server.address, threads=4)
    load.wait_for(100)
    os.kill(server.pid, signal.SIGTERM)
    before = load.right
    load.wait_for(before + 20)  # during the delay calls go on
    load.join()
    assert load.wrong == 0
    assert set(load.codes) == {grpc.StatusCode.UNAVAILABLE}
    assert server.stop() == 0
    states = [line.split()[2] for line in server.log().splitlines()]
    assert [state for state in states if state in ("draining", "refusing", "stopped", "ended")] == [
        "draining",
        "refusing",
        "stopped",
        "ended",
    ]


def requests_finished(server: ServerProcess) -> float:
    with urllib.request.urlopen(server.metrics_url, timeout=10) as response:
        lines = response.read().decode().splitlines()
    return sum(
        float(line.split()[-1]) for line in lines if line.startswith("normd_requests_total{")
    )


def refused(server: ServerProcess) -> bool:
    """Whether a new call is answered that the server drains."""
    with bare_calls.channel(server.address) as channel:
        answer = channel.unary_unary(FORWARD).future(request(1), timeout=30)
        return answer.code() == grpc.StatusCode.UNAVAILABLE and "draining" in answer.details()


def test_sigint_skips_the_delay_and_finishes_what_was_accepted(start_server):
    server = start_server("--drain_delay=600s", "--drain_timeout=60s", *SMALL)
    with bare_calls.SlowReader(server.address, FORWARD, request(16)) as reader:
        while requests_finished(server) < 1:
            time.sleep(0.01)
        os.kill(server.pid, signal.SIGINT)
        while not refused(server):
            time.sleep(0.01)
        assert server.running()  # for the reply that nobody has read yet
        assert is_right(reader.read(), 16)
    assert server.stop(signal.SIGCONT) == 0
    assert "refusing unanswered_requests=1" in server.log()


def test_a_second_signal_ends_the_delay(start_server):
    server = start_server("--drain_delay=600s", *SMALL)
    os.kill(server.pid, signal.SIGTERM)
    with bare_calls.channel(server.address) as channel:
        watch = bare_calls.watch(channel, "")
        while next(watch) == SERVING:
            pass
    assert server.running()
    start = time.monotonic()
    assert server.stop(signal.SIGTERM) == 0
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(("timeout", "signals"), [("500ms", 1), ("600s", 2)])
def test_a_reply_that_is_not_read_cannot_hold_the_server(start_server, tmp_path, timeout, signals):
    server = start_server(f"--drain_timeout={timeout}", f"--listen=unix:{tmp_path}/s", *SMALL)
    with bare_calls.SlowReader(server.address, FORWARD, request(16)):
        while requests_finished(server) < 1:
            time.sleep(0.01)
        if signals == 2:
            os.kill(server.pid, signal.SIGINT)
            while not refused(server):
                time.sleep(0.01)
        assert server.stop(signal.SIGINT) == 3
    last = server.log().splitlines()[-1]
    # The reply that nobody reads, and perhaps a call that was just refused.
    assert re.search("the drain deadline passed unanswered_requests=[12] exit_code=3", last)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_server_ends_at_once(start_server, how):
    server = start_server("--drain_timeout=0s", *SMALL)
    start = time.monotonic()
    assert server.stop(how) == 0
    assert time.monotonic() - start < 30


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_before_the_server_is_ready_ends_it(how):
    # Memory that takes far longer to touch than a signal to arrive.
    flags = [
        "--devices=cpu",
        "--listen=127.0.0.1:0",
        "--metrics_listen=",
        "--staging_bytes=4294967296",
    ]
    process = subprocess.Popen(
        [str(find_binary()), "serve", *flags], stderr=subprocess.PIPE, text=True
    )
    with process:
        first = process.stderr.readline()
        process.send_signal(how)
        rest = process.stderr.read()
    assert " configuration " in first
    assert " serving " not in rest
    assert "stopped before it was ready exit_code=0" in rest
    assert process.returncode == 0
