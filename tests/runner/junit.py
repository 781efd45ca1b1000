"""Counts of a JUnit file, as ctest and pytest write it."""

from __future__ import annotations

import dataclasses
import pathlib
import xml.etree.ElementTree as ElementTree


@dataclasses.dataclass(frozen=True)
class Counts:
    passed: int = 0
    failed: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.passed + other.passed, self.failed + other.failed)


def count(path: pathlib.Path) -> Counts:
    """A test that was skipped or not run has failed: nothing here may be left out quietly.

    A missing, broken or empty file is one failure.
    """
    try:
        cases = list(ElementTree.parse(path).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return Counts(failed=1)
    if not cases:
        return Counts(failed=1)
    failed = sum(_failed(case) for case in cases)
    return Counts(passed=len(cases) - failed, failed=failed)


def _failed(case: ElementTree.Element) -> bool:
    # ctest says status="run" for a test that ran and passed; pytest has no such attribute.
    if case.get("status", "run") != "run":
        return True
    return any(case.find(tag) is not None for tag in ("failure", "error", "skipped"))
