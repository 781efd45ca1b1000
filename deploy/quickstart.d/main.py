"""Starts a server, has it do real work, checks the work, and ends it.

Exit code: 0 when everything was right, 1 when anything was off, 2 for a wrong argument, 130 when
interrupted.
"""

from __future__ import annotations

import argparse
import pathlib
import signal
import sys

import normd
from latency import table
from server_process import ServerError, ServerProcess
from training import train
from verification import Mismatch
from workloads import (
    HEADER,
    LAYER_NORM_ROWS,
    Limits,
    run_gated_rms_norm,
    run_layer_norm,
)

MESSAGE_BYTES = 256 << 20
# A request in Python is held about this many times: operands, message, reply, their float64 blocks.
COPIES = 8


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="deploy/quickstart", description=__doc__.split("\n")[0])
    parser.add_argument("--binary", type=pathlib.Path, required=True, help="the server to start")
    parser.add_argument("--devices", default="auto", help="auto (default), cpu, or GPU ordinals")
    parser.add_argument(
        "--rows", type=int, default=LAYER_NORM_ROWS, help="rows of a workload at most"
    )
    parser.add_argument(
        "--seconds", type=float, default=5.0, help="time for one LayerNorm width on a CPU, about"
    )
    parsed = parser.parse_args(arguments)
    if parsed.rows < 256:
        parser.error("--rows: at least 256")
    return parsed


def _message_bytes() -> int:
    """The largest message to send: the server's limit, less where memory is short."""
    meminfo = pathlib.Path("/proc/meminfo").read_text()
    line = next(line for line in meminfo.splitlines() if line.startswith("MemAvailable"))
    return min(MESSAGE_BYTES, int(line.split()[1]) * 1024 // COPIES)


def _work(server: ServerProcess, limits: Limits) -> None:
    with normd.Client(server.unix_address) as client:
        print(
            "\n1. Workloads: forward and backward, every element compared with float64"
            f"\n   (requests of at most {limits.message_bytes / 2**20:.0f} MiB; GB/s of tensors "
            "sent and received by a call;\n   error: largest difference as a share of the "
            "allowed one, which is half an ulp of the result\n   and n * 2^-24 of what was added: "
            "see deploy/quickstart.d/verification.py)"
        )
        print(HEADER)
        for run in (run_layer_norm, run_gated_rms_norm):
            for report in run(client, limits):
                print(report.line(), flush=True)
        print("\n2. Training: scikit-learn's digits, LayerNorm(64) and LayerNorm(16) on the server")
        print(train(client).line(), flush=True)
    print(f"\n3. Latency inside the server by shape, from {server.metrics_url}")
    print("\n".join(table(server.metrics_url)))


def _next(binary: pathlib.Path) -> str:
    here = pathlib.Path.cwd()
    shown = binary.relative_to(here) if binary.is_relative_to(here) else binary
    lines = {
        f"{shown} serve": "a server on 127.0.0.1:50051, metrics on 127.0.0.1:9464",
        f"{shown} serve --help": "its flags",
        f"{shown} health": "exit code 0 when it serves",
        "README.md": "a first call from Python and C++",
    }
    column = max(map(len, lines)) + 2
    return "\nNext:\n" + "\n".join(f"  {what:<{column}}{why}" for what, why in lines.items())


def main() -> int:
    arguments = _arguments(sys.argv[1:])
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    limits = Limits(
        message_bytes=_message_bytes(),
        rows=arguments.rows,
        seconds=arguments.seconds,
        repeats=100,
    )
    try:
        with ServerProcess(
            f"--devices={arguments.devices}",
            f"--max_message_bytes={MESSAGE_BYTES}",
            binary=arguments.binary,
        ) as server:
            print(
                f"server: {arguments.binary}, pid {server.pid}, {server.address}, "
                f"{server.unix_address}",
                flush=True,
            )
            _work(server, limits)
            code = server.stop()
            if code != 0:
                raise ServerError(f"the server ended with exit code {code}\n{server.log()}")
    except (Mismatch, ServerError, normd.NormdError, OSError, ValueError) as error:
        print(f"\nquickstart: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nquickstart: interrupted; the server was ended", file=sys.stderr)
        return 130
    print(_next(arguments.binary.resolve()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
