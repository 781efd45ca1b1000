"""Fixtures: the real server, started on free ports and ended by its pid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest
from server_process import ServerProcess


def pytest_configure(config: pytest.Config) -> None:
    """Here, not in pyproject.toml: the tarball has this folder without it."""
    config.addinivalue_line(
        "markers", "checkout: needs the repository or its tools; tests/gpu/run leaves it out"
    )


StartServer = Callable[..., ServerProcess]


def _end(process: ServerProcess) -> None:
    """A server that a test left running must still be there, drain and exit 0."""
    if process.exit_code is not None:
        return
    alive = process.running()
    code = process.stop()
    assert alive, f"normd (pid {process.pid}) ended by itself: {code}\n{process.log()}"
    assert code == 0, f"normd (pid {process.pid}) ended with exit code {code}\n{process.log()}"


@pytest.fixture(scope="session")
def server() -> Iterator[ServerProcess]:
    """One server for the whole run: .address, .unix_address, .metrics_url, .pid."""
    process = ServerProcess()
    yield process
    _end(process)


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """start_server(*flags, env=...): a server of the test's own, ended with the test.

    A test may stop it itself and look at the exit code.
    """
    started: list[ServerProcess] = []

    def start(*flags: str, env: Mapping[str, str] | None = None) -> ServerProcess:
        process = ServerProcess(*flags, env=env)
        started.append(process)
        return process

    yield start
    for process in started:
        _end(process)
