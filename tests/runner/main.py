"""Runs the steps and prints one line for each; the last line is `N passed, N failed`."""

from __future__ import annotations

import argparse
import signal
import sys
import traceback

from junit import Counts
from plan import plan
from step import Outcome, Step, run

LOG_LINES = 60


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests/run", description=__doc__)
    parser.add_argument("--fast", action="store_true", help="no sanitizers, no slow tests")
    parser.add_argument("--list", action="store_true", help="name the steps and stop")
    parser.add_argument("steps", nargs="*", metavar="STEP", help="default: all")
    return parser.parse_args(arguments)


def _chosen(steps: list[Step], names: list[str], *, fast: bool) -> list[Step]:
    """The named steps and what they need; without names all, or those of the inner loop."""
    if not names:
        return [step for step in steps if step.in_fast or not fast]
    unknown = sorted(set(names) - {step.name for step in steps})
    if unknown:
        sys.exit(f"no such step: {', '.join(unknown)} (tests/run --list)")
    needed = {need for step in steps if step.name in names for need in step.needs}
    return [step for step in steps if step.name in {*names, *needed}]


def _run(step: Step, outcomes: dict[str, Outcome]) -> Outcome:
    broken = [need for need in step.needs if not outcomes[need].ok]
    if broken:
        print(f"{step.name:<22} NOT RUN: {', '.join(broken)} failed", flush=True)
        return Outcome(Counts(failed=1), 0.0)
    outcome = run(step)
    counts = outcome.counts
    print(
        f"{step.name:<22} {'ok' if outcome.ok else 'FAILED':<7}"
        f"{counts.passed:>6} passed {counts.failed:>4} failed {outcome.seconds:>7.1f} s",
        flush=True,
    )
    if not outcome.ok:
        lines = step.log_path().read_text(errors="replace").splitlines()[-LOG_LINES:]
        print("\n".join(f"    {line}" for line in [*lines, f"all of it: {step.log_path()}"]))
    return outcome


def _main() -> int:
    arguments = _arguments(sys.argv[1:])
    steps = plan(fast=arguments.fast)
    if arguments.list:
        print("\n".join(step.name for step in steps))
        return 0
    # As Ctrl-C: the running step is ended, with everything below it.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    outcomes: dict[str, Outcome] = {}
    try:
        for step in _chosen(steps, arguments.steps, fast=arguments.fast):
            outcomes[step.name] = _run(step, outcomes)
    except KeyboardInterrupt:
        outcomes["interrupted"] = Outcome(Counts(failed=1), 0.0)
    total = sum((outcome.counts for outcome in outcomes.values()), Counts())
    print(f"{total.passed} passed, {total.failed} failed")
    return 0 if total.failed == 0 and total.passed > 0 else 1


def main() -> int:
    try:
        return _main()
    except Exception:  # the last line is promised whatever happens
        traceback.print_exc()
        print("0 passed, 1 failed")
        return 1


if __name__ == "__main__":
    sys.exit(main())
