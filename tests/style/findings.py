"""How a rule fails: with every place that breaks it, one a line."""

from __future__ import annotations

from collections.abc import Iterable


def expect_none(findings: Iterable[object]) -> None:
    lines = [str(finding) for finding in findings]
    assert not lines, "\n" + "\n".join(lines)
