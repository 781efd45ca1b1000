"""One running normd server: started on free ports, ended by its pid.

Used by the integration tests and by deploy/quickstart. A ServerProcess belongs to one thread.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ServerError(RuntimeError):
    """The server did not start, or did not end as it should. The text ends with its log."""


def find_binary() -> pathlib.Path:
    """NORMD_BINARY if set, else the newest build/*/server/normd of this checkout."""
    named = os.environ.get("NORMD_BINARY")
    if named:
        return pathlib.Path(named).resolve()
    built = sorted(ROOT.glob("build/*/server/normd"), key=lambda path: path.stat().st_mtime)
    if not built:
        raise ServerError("no server binary: build one (CONTRIBUTING.md) or set NORMD_BINARY")
    return built[-1]


class ServerProcess:
    """`normd serve` on loopback TCP, a Unix socket and a metrics port, all free ones.

    address        "127.0.0.1:41234"
    unix_address   "unix:/tmp/normd-x/normd.sock"
    metrics_url    "http://127.0.0.1:40001/metrics"; empty when metrics are off
    pid            of the server
    """

    def __init__(
        self,
        *flags: str,
        binary: pathlib.Path | None = None,
        env: Mapping[str, str] | None = None,
        start_timeout_s: float = 60.0,
    ) -> None:
        """Starts the server and waits until it is ready.

        `flags` come after the defaults, so they win. `env` is added to the environment. The device
        is the CPU unless NORMD_TEST_DEVICES names others ("auto", "0").
        Raises ServerError when the server ends first or is not ready in time.
        """
        # Short: the path of a Unix socket may have 107 bytes.
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="normd-"))
        self._log = self._folder / "log"
        port_file = self._folder / "ports.json"
        arguments = [
            str(binary or find_binary()),
            "serve",
            f"--listen=127.0.0.1:0,unix:{self._folder}/normd.sock",
            "--metrics_listen=127.0.0.1:0",
            f"--devices={os.environ.get('NORMD_TEST_DEVICES', 'cpu')}",
            "--drain_delay=0s",
            f"--port_file={port_file}",
            *flags,
        ]
        try:
            with self._log.open("wb") as log:
                # A session of its own: Ctrl-C reaches the caller, who then ends the server.
                self._process = subprocess.Popen(
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **(env or {})},
                    start_new_session=True,
                )
        except OSError as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise ServerError(f"{arguments[0]}: {error.strerror}") from error
        self.pid = self._process.pid
        self.exit_code: int | None = None  # set by stop() and kill()
        self._last_log = ""
        try:
            ports = self._wait_ready(port_file, start_timeout_s)
        except BaseException:
            self.kill()
            raise
        addresses: list[str] = ports["grpc"]
        tcp = [address for address in addresses if not address.startswith("unix:")]
        local = [address for address in addresses if address.startswith("unix:")]
        self.address = tcp[0] if tcp else ""
        self.unix_address = local[0] if local else ""
        self.metrics_url = f"http://{ports['metrics']}/metrics" if ports.get("metrics") else ""

    def log(self) -> str:
        """What the server has written so far; all of it once it has ended."""
        return self._log.read_text(errors="replace") if self._log.exists() else self._last_log

    def running(self) -> bool:
        return self._process.poll() is None

    def stop(self, how: signal.Signals = signal.SIGTERM, timeout_s: float = 60.0) -> int:
        """Signals the server, waits for it and returns its exit code.

        Raises ServerError when it has not ended after `timeout_s`; it is killed then.
        """
        if self.running():
            self._process.send_signal(how)
        try:
            self.exit_code = self._process.wait(timeout_s)
            return self.exit_code
        except subprocess.TimeoutExpired:
            raise ServerError(
                f"pid {self.pid} was still running {timeout_s} s after {how.name}\n{self.log()}"
            ) from None
        finally:
            self.kill()

    def kill(self) -> None:
        """Ends the server if it still runs and removes its files."""
        if self.running():
            self._process.kill()
        self.exit_code = self._process.wait()
        self._last_log = self.log()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> ServerProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def _wait_ready(self, port_file: pathlib.Path, timeout_s: float) -> dict[str, Any]:
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            # Written atomically, so a file that exists is complete.
            if port_file.exists():
                return json.loads(port_file.read_text())
            if not self.running():
                raise ServerError(
                    f"the server ended with exit code {self._process.returncode}\n{self.log()}"
                )
            time.sleep(0.01)
        raise ServerError(f"the server was not ready after {timeout_s} s\n{self.log()}")
