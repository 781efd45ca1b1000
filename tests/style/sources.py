"""The files of the repository, as the style tests see them: tracked, or new and not ignored."""

from __future__ import annotations

import functools
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

CPP = {".h", ".cc", ".cu", ".cuh"}
PYTHON = {".py"}


@functools.cache
def files() -> tuple[pathlib.Path, ...]:
    """Paths relative to the root."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = (pathlib.Path(name) for name in listed.split("\0") if name)
    return tuple(sorted(path for path in paths if (ROOT / path).is_file()))


@functools.cache
def text(path: pathlib.Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def with_suffix(*suffixes: str) -> list[pathlib.Path]:
    return [path for path in files() if path.suffix in suffixes]


@functools.cache
def scripts() -> tuple[pathlib.Path, ...]:
    """Executable files without a suffix that name bash as their interpreter."""
    return tuple(
        path
        for path in files()
        if path.suffix in {"", ".sh"} and text(path).startswith("#!/usr/bin/env bash")
    )


def code() -> list[pathlib.Path]:
    return [*with_suffix(*CPP, *PYTHON), *scripts()]
