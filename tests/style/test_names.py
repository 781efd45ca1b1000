"""Folders are layers, files are concepts; headers have guards; each folder says what it is."""

from __future__ import annotations

import pathlib
import re

from findings import expect_none
from sources import ROOT, files, scripts, text, with_suffix

DRAWERS = {"common", "helper", "helpers", "manager", "misc", "util", "utils", "utility"}


def test_no_drawers():
    found = [
        str(path)
        for path in files()
        for part in path.parts
        if DRAWERS & set(re.split(r"[_.\-]", part.lower()))
    ]
    expect_none(found)


def test_header_guards_follow_the_path():
    wrong = []
    for path in with_suffix(".h", ".cuh"):
        guard = "NORMD_" + re.sub(r"[^A-Z0-9]", "_", str(path).upper()) + "_"
        lines = text(path).splitlines()
        # Code that Highway compiles once for each instruction set is included once for each.
        opening = (f"#ifndef {guard}", f"#if defined({guard}) == defined(HWY_TARGET_TOGGLE)")
        if not set(opening) & set(lines) or f"#endif  // {guard}" != lines[-1]:
            wrong.append(f"{path}: {guard}")
    expect_none(wrong)


def test_headers_open_with_what_they_are():
    expect_none(str(path) for path in with_suffix(".h", ".cuh") if not text(path).startswith("//"))


def test_python_modules_open_with_what_they_are():
    wrong = [
        str(path)
        for path in with_suffix(".py")
        if text(path).strip() and not re.match(r'(#!.*\n)?"""', text(path))
    ]
    expect_none(wrong)


def test_every_layer_has_a_readme():
    """Folders of the two upper levels that hold files."""
    layers = {path.parent for path in files() if len(path.parts) in (2, 3)}
    layers = {layer for layer in layers if not layer.parts[0].startswith(".")}
    expect_none(str(layer) for layer in sorted(layers) if not (ROOT / layer / "README.md").exists())


def test_scripts_are_executable_and_strict():
    wrong = []
    for path in scripts():
        if not (ROOT / path).stat().st_mode & 0o111:
            wrong.append(f"{path}: not executable")
        if not re.search(r"^set -[a-z]*e[a-z]*u?", text(path), re.MULTILINE):
            wrong.append(f"{path}: no set -euo pipefail")
    expect_none(wrong)


def test_paths_are_plain():
    expect_none(str(path) for path in files() if not re.fullmatch(r"[\w./\-]+", str(path)))
    assert pathlib.Path("README.md") in files()
