"""The counts of tests/run are true, and nothing that could not run passes."""

from __future__ import annotations

import os
import pathlib
import sys
import time

import pytest
import step
from junit import Counts, count
from step import Step, run

CASES = {
    '<testcase name="a" status="run"/>': Counts(passed=1),
    '<testcase name="a"/>': Counts(passed=1),
    '<testcase name="a" status="notrun"/>': Counts(failed=1),
    '<testcase name="a" status="disabled"/>': Counts(failed=1),
    '<testcase name="a"><skipped/></testcase>': Counts(failed=1),
    '<testcase name="a"><failure/></testcase>': Counts(failed=1),
    '<testcase name="a"><error/></testcase><testcase name="b"/>': Counts(passed=1, failed=1),
    "": Counts(failed=1),
}


@pytest.fixture(autouse=True)
def _own_results(tmp_path, monkeypatch):
    monkeypatch.setattr(step, "RESULTS", tmp_path)


def _python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


@pytest.mark.parametrize("cases", CASES)
def test_cases_are_counted(tmp_path, cases):
    path = tmp_path / "junit.xml"
    path.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert count(path) == CASES[cases]


@pytest.mark.parametrize("text", [None, "", "<testsuite>"])
def test_a_file_that_cannot_be_read_is_a_failure(tmp_path, text):
    path = tmp_path / "junit.xml"
    if text is not None:
        path.write_text(text)
    assert count(path) == Counts(failed=1)


def test_a_step_passes_when_all_commands_do():
    assert run(Step("good", [["true"], ["true"]])).counts == Counts(passed=1)
    assert run(Step("bad", [["true"], ["false"], ["true"]])).counts == Counts(failed=1)
    assert run(Step("absent", [["no-such-program"]])).counts == Counts(failed=1)


def test_a_runner_that_fails_after_its_tests_is_a_failure(tmp_path):
    path = tmp_path / "suite.xml"
    program = f"open({str(path)!r}, 'w').write('<a><testcase/></a>'); raise SystemExit(3)"
    outcome = run(Step("suite", [_python(program)], junit=True))
    assert outcome.counts == Counts(passed=1, failed=1)


def test_an_old_result_does_not_count(tmp_path):
    (tmp_path / "suite.xml").write_text("<a><testcase/></a>")
    assert run(Step("suite", [["true"]], junit=True)).counts == Counts(failed=1)


def test_a_step_that_hangs_is_ended_with_its_children(tmp_path):
    note = tmp_path / "pid"
    program = (
        "import subprocess, time\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    outcome = run(Step("hangs", [_python(program)], limit_s=2.0))
    assert outcome.counts == Counts(failed=1)
    _wait_gone(int(note.read_text()))
    assert "ended after" in (tmp_path / "hangs.log").read_text()


def _wait_gone(pid: int) -> None:
    status = pathlib.Path(f"/proc/{pid}/status")
    end = time.monotonic() + 10
    while status.exists() and "State:\tZ" not in status.read_text():
        assert time.monotonic() < end, f"{pid} is still there"
        time.sleep(0.01)
    assert os.getpid() != pid
