"""A step: commands that run one after the other, with a log, a time limit and counts."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

from junit import Counts, count

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "build" / "tests"


@dataclasses.dataclass(frozen=True)
class Step:
    """Without a JUnit file a step counts as one test: all of its commands exit 0."""

    name: str
    commands: Sequence[Sequence[str]]
    needs: Sequence[str] = ()
    junit: bool = False  # the last command writes junit_path()
    in_fast: bool = True
    limit_s: float = 1800.0
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def junit_path(self) -> pathlib.Path:
        return junit_path(self.name)

    def log_path(self) -> pathlib.Path:
        return RESULTS / f"{self.name}.log"


@dataclasses.dataclass(frozen=True)
class Outcome:
    counts: Counts
    seconds: float

    @property
    def ok(self) -> bool:
        return self.counts.failed == 0


def junit_path(name: str) -> pathlib.Path:
    return RESULTS / f"{name}.xml"


def run(step: Step) -> Outcome:
    """Runs the commands until one fails; never raises for what they do."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    step.junit_path().unlink(missing_ok=True)
    start = time.monotonic()
    ok = True
    with step.log_path().open("w") as log:
        for command in step.commands:
            left_s = start + step.limit_s - time.monotonic()
            ok = ok and _run_command(command, step.env, log, left_s)
    counts = count(step.junit_path()) if step.junit else Counts(passed=int(ok), failed=int(not ok))
    if not ok and counts.failed == 0:
        counts += Counts(failed=1)  # the runner itself failed, after its tests
    return Outcome(counts, time.monotonic() - start)


def _run_command(command: Sequence[str], env: Mapping[str, str], log, limit_s: float) -> bool:
    print("$", " ".join(command), file=log, flush=True)
    try:
        # A process group of its own, so that a compiler or server below it ends with it.
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=log, flush=True)
        return False
    try:
        return process.wait(limit_s) == 0
    except subprocess.TimeoutExpired:
        print(f"ended after {limit_s:.0f} s", file=log, flush=True)
        return False
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
