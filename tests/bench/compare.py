"""Measures our kernels and the peers in one session on one device, and merges what they say.

Writes <date>-<device>-<commit>.jsonl (every line) to --results, and a table (.md) and a chart
(.png, .svg) of the same name to --out. A peer that fails costs its own lines only.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import result_lines
import share_chart
from result_lines import Line

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PRESETS = ("narrow-layer-norm", "gated-rms-norm", "wide", "segments", "few-rows", "options")
# Of the budget: our own points, then what the tables and the chart need.
OUR_SHARE = 0.5
RENDER_S = 15.0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tests/bench/compare", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--binary", type=pathlib.Path, help="normd-kernel-bench")
    parser.add_argument("--device", default="cuda:0", help="cpu or cuda:N")
    parser.add_argument(
        "--presets",
        default=",".join(PRESETS),
        help=f"of {', '.join(PRESETS)}, quick; the first word of a name is enough",
    )
    parser.add_argument("--peers", default="all", help="all, none, or names separated by commas")
    parser.add_argument("--wheels", type=pathlib.Path, default=ROOT / "peers", help="folder")
    parser.add_argument("--budget_s", type=float, default=540, help="seconds for everything")
    parser.add_argument("--max_bytes", type=int, default=0, help="as of normd-kernel-bench")
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results", help="folder")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "compare")
    parser.add_argument("--commit", help="default: what git says")
    parser.add_argument("--lines", type=pathlib.Path, help="measure nothing; render this file")
    arguments = parser.parse_args()
    if not arguments.lines and not arguments.binary:
        parser.error("--binary or --lines is required")
    return arguments


def full_names(text: str) -> list[str]:
    """Presets by their names or the first words of them."""
    names = []
    for word in text.split(","):
        found = [name for name in (*PRESETS, "quick") if word in (name, name.split("-")[0])]
        if not found:
            sys.exit(f"compare: no preset '{word}'; there are {', '.join(PRESETS)}, quick")
        names += found
    return names


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def stream(command: list[str], env: dict[str, str] | None = None) -> tuple[list[Line], int]:
    """The JSON lines that a command prints, shown as they come, and its exit code."""
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        for text in process.stdout or ():
            line = result_lines.parse(text)
            if line is None:
                continue
            lines.append(line)
            if "point" not in line:
                note(text.rstrip())
    return lines, process.returncode


def run_ours(arguments: argparse.Namespace, budget_s: float) -> list[Line]:
    command = [str(arguments.binary), f"--device={arguments.device}", f"--budget_s={budget_s:.0f}"]
    command.append(f"--preset={','.join(full_names(arguments.presets))}")
    command.append(f"--max_bytes={arguments.max_bytes}")
    lines, code = stream(command)
    if code != 0:
        lines.append({"failed": "normd", "why": f"normd-kernel-bench exited with {code}"})
    return lines


def peer_points(ours: list[Line]) -> list[Line]:
    """Our shapes that the peers can run too, each once."""
    plain = [line for line in result_lines.measurements(ours) if result_lines.is_plain(line)]
    return [row["normd"] for row in result_lines.by_shape(plain).values()]


def install_wheels(wheels: pathlib.Path, target: str) -> dict[str, str]:
    """An environment in which the wheels of the folder import."""
    files = sorted(str(path) for path in wheels.glob("*.whl"))
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps"]
    command += ["--no-compile", "--no-cache-dir", "--target", target]
    if files:
        subprocess.run([*command, *files], check=False)
    paths = [target, os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def run_peers(arguments: argparse.Namespace, points: list[Line], deadline: float) -> list[Line]:
    """Starts the peers again behind the point at which they died, if they do."""
    lines: list[Line] = []
    with tempfile.TemporaryDirectory() as folder:
        env = install_wheels(arguments.wheels, str(pathlib.Path(folder) / "site"))
        env["CUDA_VISIBLE_DEVICES"] = arguments.device.removeprefix("cuda:")
        path = pathlib.Path(folder) / "points.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in points))
        peers = "" if arguments.peers == "all" else arguments.peers
        command = [sys.executable, str(HERE / "peers.py"), f"--points={path}", f"--peers={peers}"]
        first = 0
        while first < len(points) and time.monotonic() < deadline:
            budget_s = deadline - time.monotonic()
            more, code = stream([*command, f"--first={first}", f"--budget_s={budget_s:.0f}"], env)
            lines += [line for line in more if "point" not in line]
            if code == 0:
                break
            lines.append({"failed": "peers", "why": f"peers.py exited with {code}"})
            begun = [line["point"] for line in more if "point" in line]
            if not begun:
                break
            first = begun[-1] + 1
    return lines


def commit_name(arguments: argparse.Namespace) -> str:
    if arguments.commit:
        return arguments.commit
    described = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or "unknown"


def measure(arguments: argparse.Namespace) -> pathlib.Path:
    start = time.monotonic()
    ours = run_ours(arguments, OUR_SHARE * arguments.budget_s)
    lines = list(ours)
    if arguments.peers != "none":
        deadline = start + arguments.budget_s - RENDER_S
        lines += run_peers(arguments, peer_points(ours), deadline)
    device = next((line["device"] for line in ours if "device" in line), "unknown")
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    short = re.sub(r"[^\w.]+", "-", device.removeprefix("NVIDIA ")).strip("-")
    path = arguments.results / f"{date}-{short}-{commit_name(arguments)}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def render(path: pathlib.Path, out: pathlib.Path) -> None:
    lines = result_lines.read(path)
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{path.stem}.md").write_text(f"# {path.stem}\n\n{result_lines.markdown(lines)}")
    try:
        share_chart.draw(lines, path.stem, [out / f"{path.stem}{s}" for s in (".png", ".svg")])
    except ImportError as error:
        note(f"compare: no chart: {error}")


def main() -> int:
    arguments = parse_arguments()
    path = arguments.lines or measure(arguments)
    render(path, arguments.out)
    lines = result_lines.read(path)
    failures = [line for line in lines if "failed" in line]
    count = len(result_lines.measurements(lines))
    note(f"compare: {count} measurements, {len(failures)} failures, in {path}")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main())
