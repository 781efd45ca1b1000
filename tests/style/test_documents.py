"""What the documents point at exists: files, commands, presets."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex

import pytest
from findings import expect_none
from sources import ROOT, text, with_suffix

LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")
SHELL_BLOCK = re.compile(r"^```(?:sh|bash|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# First words of a command that are paths of this repository.
OWN_COMMAND = re.compile(r"^(\./)?(deploy|tests|\.ci)/")
DOCUMENTS = with_suffix(".md")


def _commands(path: pathlib.Path) -> list[str]:
    lines = "\n".join(SHELL_BLOCK.findall(text(path))).replace("\\\n", " ").splitlines()
    stripped = (line.strip().removeprefix("$ ") for line in lines)
    return [line for line in stripped if line and not line.startswith("#")]


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_links_resolve(path):
    targets = [target for target, _ in LINK.findall(text(path)) if "://" not in target]
    missing = [target for target in targets if not (ROOT / path.parent / target).exists()]
    expect_none(missing)


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_commands_exist(path):
    presets = json.loads(text(pathlib.Path("CMakePresets.json")))
    names = {preset["name"] for preset in presets["configurePresets"]}
    for command in _commands(path):
        for word in shlex.split(command, comments=True):
            if OWN_COMMAND.match(word) and not any(char in word for char in "*:="):
                assert (ROOT / word).exists(), command
        first = shlex.split(command, comments=True)[0]
        if OWN_COMMAND.match(first):
            assert os.access(ROOT / first, os.X_OK), command
        for preset in re.findall(r"--preset[ =]([\w\-]+)", command):
            assert preset in names, command


def test_the_readme_has_the_two_commands():
    commands = _commands(pathlib.Path("README.md"))
    assert "deploy/quickstart" in commands
    assert "tests/run" in commands
