"""deploy/quickstart against the real server, with few rows: right, broken, interrupted."""

from __future__ import annotations

import os
import re
import signal
import subprocess

import pytest
from server_process import ROOT, find_binary

QUICKSTART = str(ROOT / "deploy" / "quickstart")
DEVICES = os.environ.get("NORMD_TEST_DEVICES", "cpu")


def _command(*flags: str) -> list[str]:
    return [QUICKSTART, f"--binary={find_binary()}", f"--devices={DEVICES}", *flags]


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_real_work_is_done_verified_and_shown():
    run = subprocess.run(
        _command("--rows=4096", "--seconds=0.1"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    verified = re.findall(
        r"^  (\w+) +(\w+) +(\d+) +([\d,]+) .* verified$", run.stdout, re.MULTILINE
    )
    assert verified == [
        *(("layer_norm", "bfloat16", width, "4,096") for width in ("16", "32", "64", "128", "256")),
        *(("gated_rms_norm", "float16", "128", rows) for rows in ("256", "1,024", "4,096")),
    ]
    accuracy = re.search(r"test accuracy ([\d.]+)%", run.stdout)
    assert accuracy is not None
    assert float(accuracy[1]) > 95
    latency = run.stdout.partition("3. Latency")[2]
    for op in ("layer_norm", "gated_rms_norm"):
        for direction in ("forward", "backward"):
            assert re.search(rf"^  {op} +{direction} .* [mun]?s$", latency, re.MULTILINE), latency
    # No terminal: no bar, no colour.
    assert not re.search(r"[\r\x1b]", run.stdout + run.stderr)
    pid = re.search(r"pid (\d+)", run.stdout)
    assert pid is not None
    assert not _is_running(int(pid[1]))


@pytest.mark.parametrize("binary", ["/bin/false", "/bin/true", "no/such/server"])
def test_a_server_that_does_not_start_is_an_error(binary):
    run = subprocess.run(
        [QUICKSTART, f"--binary={binary}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 1
    assert "quickstart: ServerError" in run.stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_server(how):
    with subprocess.Popen(
        _command("--seconds=60"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as run:
        try:
            assert run.stdout is not None
            pid = None
            for line in run.stdout:
                pid = pid or re.search(r"pid (\d+)", line)
                if "1. Workloads" in line:
                    break
            assert pid is not None
            assert _is_running(int(pid[1]))
            run.send_signal(how)
            assert run.wait(60) == 130
            assert not _is_running(int(pid[1]))
        finally:
            run.kill()
