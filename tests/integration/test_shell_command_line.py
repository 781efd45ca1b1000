"""The command line of the real binary: help, flags and where they come from, starts that fail."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess

import pytest
from server_process import find_binary


def run(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(find_binary()), *arguments],
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=60,
    )


def flags_of(subcommand: str) -> list[str]:
    return re.findall(r"^  --(\w+)$", run(subcommand, "--help").stdout, re.MULTILINE)


@pytest.mark.parametrize("subcommand", ["serve", "health", "info"])
def test_help_gives_unit_range_default_and_variable_of_each_flag(subcommand):
    result = run(subcommand, "--help")
    assert result.returncode == 0
    assert result.stderr == ""
    blocks = re.split(r"^  --", result.stdout, flags=re.MULTILINE)[1:]
    assert len(blocks) >= 3
    for block in blocks:
        name = block.splitlines()[0]
        assert "default " in block, name
        assert f"environment NORMD_{name.upper()}" in block, name
        if name.endswith("_bytes"):
            assert re.search(r"bytes, \d+ to \d+;", block), name


def test_the_configuration_in_the_log_has_each_flag_of_help(start_server):
    log = start_server().log()
    configuration = next(line for line in log.splitlines() if " configuration " in line)
    for name in flags_of("serve"):
        if name != "flagfile":
            assert f" {name}=" in configuration


def test_usage_and_version():
    assert run("--help").returncode == 0
    assert "Exit codes" in run("--help").stdout
    assert re.match(r"normd \d+\.\d+\.\d+ \(", run("--version").stdout)
    assert run().returncode == 2


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["serv"], r"'serv' is not a subcommand"),
        (["serve", "--no_such_flag=1"], r"--no_such_flag: there is no such flag"),
        (["serve", "stray"], r"'stray' is not a flag"),
        (["serve", "--listen"], r"--listen: needs a value"),
        (["serve", "--listen=nonsense"], r"--listen: 'nonsense' is neither"),
        (["serve", "--listen="], r"--listen: names no address"),
        (["serve", "--listen=0.0.0.0:0"], r"--listen: '0.0.0.0:0' .*--insecure"),
        (["serve", "--listen=unix:/" + "x" * 107], r"--listen: .*at most 107"),
        (["serve", "--listen=unix:relative"], r"--listen: 'unix:relative' is not unix:/absolute"),
        (["serve", "--metrics_listen=9464"], r"--metrics_listen: '9464' is neither"),
        (["serve", "--metrics_max_shapes=0"], r"--metrics_max_shapes: 0 is out of range"),
        (["serve", "--devices=0,1"], r"--devices: '0,1': several devices are not supported yet"),
        (["serve", "--devices=tpu"], r"--devices: 'tpu' is not auto, cpu or"),
        (["serve", "--cpu_threads=1000"], r"--cpu_threads: 1000 is out of range"),
        (["serve", "--streams=0"], r"--streams: 0 is out of range"),
        (["serve", "--completion_threads=0"], r"--completion_threads: 0 is out of range"),
        (["serve", "--staging_bytes=1000000"], r"--staging_bytes: 1000000 is less than --max_"),
        (["serve", "--max_queue_requests=0"], r"--max_queue_requests: 0 is out of range"),
        (["serve", "--max_message_bytes=3000000000"], r"--max_message_bytes: 3000000000 is out"),
        (["serve", "--max_metadata_bytes=1"], r"--max_metadata_bytes: 1 is out of range"),
        (["serve", "--max_concurrent_streams=0"], r"--max_concurrent_streams: 0 is out of range"),
        (
            ["serve", "--transport_memory_bytes=2000000"],
            r"--transport_memory_bytes: 2000000 is less than --max_message_bytes",
        ),
        (["serve", "--keepalive_time=0s"], r"--keepalive_time: 0 is out of range"),
        (["serve", "--min_ping_interval=x"], r"--min_ping_interval: 'x' cannot be read"),
        (["serve", "--drain_delay=-1s"], r"--drain_delay: -1s is out of range"),
        (["serve", "--drain_timeout=2h"], r"--drain_timeout: 2h is out of range"),
        (["serve", "--log_format=xml"], r"--log_format: 'xml' is not text or json"),
        (["serve", "--log_level=loud"], r"--log_level: 'loud' is not debug"),
        (["serve", "--reflection=maybe"], r"--reflection: 'maybe' is not auto"),
        (["serve", "--insecure=perhaps"], r"--insecure: 'perhaps' cannot be read"),
        (["serve", "--flagfile=/nowhere/file"], r"--flagfile: cannot read '/nowhere/file'"),
        (["health", "--timeout=soon"], r"--timeout: 'soon' cannot be read"),
        (["info", "--service=x"], r"--service: there is no such flag"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_a_wrong_flag_gives_one_line_and_exit_code_2(arguments, line):
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert re.match("normd: " + line, result.stderr), result.stderr


def test_a_wrong_variable_is_named():
    result = run("serve", env={"NORMD_STREAMS": "many"})
    assert result.returncode == 2
    assert (
        result.stderr == "normd: --streams: 'many' cannot be read as a value (from NORMD_STREAMS)\n"
    )


def test_the_sources_go_before_each_other(start_server, tmp_path):
    file = tmp_path / "flags"
    file.write_text("# three flags\n--cpu_threads=3\n--streams=3\n--max_queue_requests=3\n")
    server = start_server(
        f"--flagfile={file}",
        "--cpu_threads=1",
        env={"NORMD_CPU_THREADS": "2", "NORMD_STREAMS": "2"},
    )
    configuration = server.log().splitlines()[0]
    assert " cpu_threads=1 " in configuration
    assert " streams=2 " in configuration
    assert " max_queue_requests=3 " in configuration


def start_and_fail(*flags: str) -> str:
    """The reason that a server that cannot start gives; it is the last line of its log."""
    result = run(
        "serve", "--devices=cpu", "--metrics_listen=", "--listen=127.0.0.1:0",
        "--staging_bytes=2000000", "--max_message_bytes=1000000", "--log_format=json", *flags,
    )  # fmt: skip
    assert result.returncode == 1, result.stderr
    last = json.loads(result.stderr.splitlines()[-1])
    assert (last["level"], last["event"]) == ("error", "cannot start")
    return last["reason"]


def test_a_port_in_use_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        reason = start_and_fail(f"--listen={address}")
        assert reason == f"--listen: cannot listen on {address}: Address already in use"
        reason = start_and_fail(f"--metrics_listen={address}")
        assert reason.startswith(f"--metrics_listen: cannot listen on {address}: ")


def test_two_servers_do_not_share_a_port(start_server):
    address = start_server().address
    assert "Address already in use" in start_and_fail(f"--listen={address}")


def test_the_address_that_fails_is_named_among_several():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        reason = start_and_fail(f"--listen=127.0.0.1:0,{address}")
        assert reason.startswith(f"--listen: cannot listen on {address}: ")


def test_a_unix_path_in_use_is_refused_and_its_server_stays(start_server):
    server = start_server()
    reason = start_and_fail(f"--listen={server.unix_address}")
    assert reason == f"--listen: another server listens on '{server.unix_address}'"
    assert run("health", f"--addr={server.unix_address}").returncode == 0


def test_a_stale_socket_is_taken_over(start_server, tmp_path):
    path = tmp_path / "s"
    first = start_server(f"--listen=unix:{path}")
    first.kill()
    assert path.is_socket()
    start_server(f"--listen=unix:{path}")
    assert run("health", f"--addr=unix:{path}").returncode == 0


def test_a_file_in_place_of_the_socket_is_left_alone(tmp_path):
    path = tmp_path / "s"
    path.write_text("precious")
    assert start_and_fail(f"--listen=unix:{path}").endswith("exists and is not a socket")
    assert path.read_text() == "precious"


def test_a_port_file_that_cannot_be_written_stops_the_start(tmp_path):
    reason = start_and_fail(f"--port_file={tmp_path}/none/ports")
    assert reason.startswith("--port_file: cannot write ")


def test_no_file_stays_when_the_server_ends(start_server, tmp_path):
    server = start_server(f"--listen=127.0.0.1:0,unix:{tmp_path}/s")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s", "s.lock"]
    assert server.stop() == 0
    assert list(tmp_path.iterdir()) == []
