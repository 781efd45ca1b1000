"""The steps of tests/run, in order."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys

from step import ROOT, Step, junit_path

sys.path.insert(0, str(ROOT / "tests" / "style"))
import sources

BIN = ROOT / ".venv" / "bin"


def _tool(name: str) -> str:
    return str(BIN / name)


def _jobs() -> str:
    return str(len(os.sched_getaffinity(0)))


def _compiler_cache() -> dict[str, str]:
    """Objects are reused between checkouts and presets where ccache is installed."""
    if not shutil.which("ccache"):
        return {}
    return {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CMAKE_CUDA_COMPILER_LAUNCHER": "ccache"}


def _names(paths: list[pathlib.Path] | tuple[pathlib.Path, ...]) -> list[str]:
    return [str(path) for path in paths]


def _build(preset: str, **settings) -> Step:
    return Step(
        f"build-{preset}",
        [
            ["cmake", "--preset", preset],
            ["cmake", "--build", "--preset", preset, "--parallel", _jobs()],
        ],
        env=_compiler_cache(),
        **settings,
    )


def _ctest(preset: str, *, fast: bool, **settings) -> Step:
    name = f"ctest-{preset}"
    command = ["ctest", "--preset", preset, "--parallel", _jobs()]
    command += ["--output-junit", str(junit_path(name))]
    if fast:
        command += ["--label-exclude", "slow"]
    return Step(name, [command], needs=[f"build-{preset}"], junit=True, **settings)


def _pytest(*, fast: bool) -> Step:
    command = [_tool("python"), "-m", "pytest", "tests", "client"]
    command += [f"--junitxml={junit_path('pytest')}", "--durations=10"]
    if fast:
        command += ["-m", "not slow"]
    binary = ROOT / "build" / "dev" / "server" / "normd"
    return Step(
        "pytest", [command], needs=["build-dev"], junit=True, env={"NORMD_BINARY": str(binary)}
    )


def _checks() -> list[Step]:
    cpp = _names(sources.with_suffix(*sources.CPP))
    mypy = ["env", "-C", "client/python", _tool("mypy"), "--strict", "--config-file=pyproject.toml"]
    return [
        Step("clang-format", [[_tool("clang-format"), "--dry-run", "-Werror", *cpp]]),
        Step("ruff", [[_tool("ruff"), "check"], [_tool("ruff"), "format", "--check"]]),
        Step("mypy", [mypy]),
        Step("buf-lint", [[_tool("buf"), "lint", "proto"]]),
        Step("shellcheck", [["shellcheck", *_names(sources.scripts())]]),
    ]


def plan(*, fast: bool) -> list[Step]:
    return [
        *_checks(),
        _build("dev"),
        _ctest("dev", fast=fast),
        _pytest(fast=fast),
        # clang's -Wthread-safety as errors: locks and what they guard.
        _build("thread-safety", in_fast=False),
        _build("asan", in_fast=False),
        _ctest("asan", fast=True, in_fast=False),
    ]
