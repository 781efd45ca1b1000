"""The exposition of the real server: form, bounds, and that it counts what happened."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import urllib.request

import normd
import numpy as np
import pytest
from server_process import ServerProcess

SMALL = ("--staging_bytes=8388608", "--max_message_bytes=4194304")


def scrape(server: ServerProcess) -> str:
    with urllib.request.urlopen(server.metrics_url, timeout=10) as response:
        assert response.headers["Content-Type"].startswith("text/plain")
        return response.read().decode()


def samples(text: str, name: str) -> dict[str, float]:
    """Labels as printed -> value."""
    found = re.findall(rf"^{name}(\{{[^}}]*\}})? (\S+)$", text, re.MULTILINE)
    return {labels: float(value) for labels, value in found}


def total(text: str, name: str, *parts: str) -> float:
    return sum(
        value
        for labels, value in samples(text, name).items()
        if all(part in labels for part in parts)
    )


def call(server: ServerProcess, width: int, rows: int = 3) -> None:
    with normd.Client(server.address) as client:
        client.layer_norm(np.ones((rows, width), np.float32), eps=1e-5)


@pytest.mark.checkout
def test_promtool_has_nothing_to_say(server):
    call(server, 8)
    text = scrape(server)
    result = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_a_request_is_counted_once_everywhere(start_server):
    server = start_server(*SMALL)
    before = scrape(server)
    labels = ('op="layer_norm"', 'direction="forward"', 'dtype="float32"')
    assert total(before, "normd_requests_total", *labels, 'code="OK"') == 0
    assert samples(before, "normd_requests_total")  # zeros are there from the start
    call(server, width=48, rows=20)
    with normd.Client(server.address) as client, pytest.raises(normd.InvalidArgument):
        client.layer_norm(np.ones((2, 48), np.float32), eps=-1.0)
    text = scrape(server)
    assert total(text, "normd_requests_total", *labels, 'code="OK"') == 1
    assert total(text, "normd_requests_total", 'code="INVALID_ARGUMENT"') == 1
    shape = (*labels, 'width="48"', 'rows="64"')
    assert total(text, "normd_request_duration_seconds_count", *shape) == 1
    assert total(text, "normd_kernel_duration_seconds_count", *shape) == 1
    assert 0 < total(text, "normd_request_duration_seconds_sum", *shape) < 60
    assert total(text, "normd_kernel_launches_total", 'op="layer_norm"') == 1
    assert total(text, "normd_kernel_bytes_total", *labels) == 2 * 20 * 48 * 4
    assert total(text, "normd_batch_rows_sum", 'op="layer_norm"', 'direction="forward"') == 20
    for stage in ("queue", "kernel", "encode"):
        name = "normd_stage_duration_seconds_count"
        assert total(text, name, f'stage="{stage}"') == 1, stage
    assert total(text, "normd_received_bytes_total") > 20 * 48 * 4
    assert total(text, "normd_sent_bytes_total") > 20 * 48 * 4
    assert total(text, "normd_inflight_requests") == 0
    assert total(text, "normd_queue_depth") == 0
    assert total(text, "normd_queue_bytes") == 0


def test_the_state_of_server_device_and_process(server):
    text = scrape(server)
    assert total(text, "normd_ready") == 1
    assert total(text, "normd_draining") == 0
    assert total(text, "normd_device_up", 'device="') == 1
    assert total(text, "normd_device_memory_bytes") > 2**28
    assert total(text, "normd_device_copy_bytes_per_second") > 1e7
    assert total(text, "normd_build_info", "version=", "commit=") == 1
    assert total(text, "process_resident_memory_bytes") > 2**20
    assert total(text, "process_open_fds") > 3
    assert total(text, "process_max_fds") >= total(text, "process_open_fds")
    assert total(text, "process_cpu_seconds_total") > 0
    assert total(text, "process_start_time_seconds") > 1.7e9


def test_widths_that_callers_choose_do_not_add_series_without_end(start_server):
    server = start_server("--metrics_max_shapes=4", *SMALL)
    with normd.Client(server.address) as client:
        for width in range(1, 41):
            client.rms_norm(np.ones((2, width), np.float32), eps=1e-5)
    text = scrape(server)
    counts = samples(text, "normd_request_duration_seconds_count")
    assert len(counts) == 5
    assert sum(counts.values()) == 40
    assert total(text, "normd_request_duration_seconds_count", 'width="other"') == 36
    assert total(text, "normd_metric_shapes") == 4
    # One observation of the request and one of its launch.
    assert total(text, "normd_metric_shapes_overflowed_total") == 72


def test_metrics_can_be_switched_off(start_server):
    server = start_server("--metrics_listen=", *SMALL)
    assert server.metrics_url == ""
    call(server, 8)


def test_metrics_show_that_the_server_is_not_ready_while_it_drains(start_server):
    server = start_server("--drain_delay=60s", *SMALL)
    os.kill(server.pid, signal.SIGTERM)
    text = scrape(server)
    while total(text, "normd_draining") == 0:
        text = scrape(server)
    assert total(text, "normd_ready") == 0
    assert server.stop() == 0


def test_a_client_that_sends_nothing_does_not_stop_scrapes(server):
    host, port = re.match(r"http://(.*):(\d+)/", server.metrics_url).groups()
    with socket.create_connection((host, int(port))):
        assert "normd_ready 1" in scrape(server)
