"""compare and normd-kernel-bench, end to end on the CPU backend with tiny shapes."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import compare
import pytest
import result_lines

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = {"peer": str, "op": str, "rows": int, "width": int, "dtype": str}
SCHEMA |= {"ms": float, "copy_ms": float, "share": float}


def _binary() -> pathlib.Path:
    """normd-kernel-bench of the build that also made the server under test."""
    server = pathlib.Path(os.environ.get("NORMD_BINARY", ROOT / "build/dev/server/normd"))
    binary = server.parents[1] / "tests/bench/kernel/normd-kernel-bench"
    assert binary.exists(), f"build the target normd-kernel-bench: {binary}"
    return binary


def _bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    quick = ["--cpu_threads=1", "--warm_up_ms=0", "--measure_ms=1", "--max_bytes=400000"]
    return subprocess.run(
        [str(_binary()), *quick, *arguments], capture_output=True, text=True, timeout=120
    )


def _lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_axes_are_crossed_and_each_point_is_a_line():
    done = _bench("--width=24,97", "--rows=64", "--gate=none,silu", "--direction=backward")
    assert done.returncode == 0, done.stderr
    heading, *lines = _lines(done.stdout)
    assert heading["backend"] == "cpu"
    assert [(line["op"], line["width"]) for line in lines] == [
        ("layer_norm.backward", 24),
        ("gated_layer_norm.backward", 24),
        ("layer_norm.backward", 97),
        ("gated_layer_norm.backward", 97),
    ]
    for line in lines:
        assert {name: type(line[name]) for name in SCHEMA} == SCHEMA
        assert line["peer"] == "normd"
        assert line["verified"] is True
        assert 0 < line["p10_ms"] <= line["ms"] <= line["p90_ms"]
        assert line["share"] == pytest.approx(line["copy_ms"] / line["ms"], rel=0.01, abs=1e-3)
    # x, dy, dx, a weight, its gradient, the bias's gradient; mean and rstd.
    assert lines[0]["bytes"] == (3 * 64 * 24 + 3 * 24) * 2 + 2 * 64 * 4


def test_a_preset_is_narrowed_by_the_axes_and_scaled_to_the_memory():
    done = _bench("--preset=narrow-layer-norm", "--width=16,32", "--path=auto")
    assert done.returncode == 0, done.stderr
    lines = _lines(done.stdout)[1:]
    assert [(line["op"], line["width"], line["path"]) for line in lines] == [
        ("layer_norm.forward", 16, "auto"),
        ("layer_norm.forward", 32, "auto"),
        ("layer_norm.backward", 16, "auto"),
        ("layer_norm.backward", 32, "auto"),
    ]
    assert all(0 < line["rows"] < 7_864_320 and line["bytes"] <= 400_000 for line in lines)


def test_what_cannot_be_measured_is_a_failed_line():
    done = _bench("--width=1048576", "--rows=1")
    assert done.returncode == 1
    line = _lines(done.stdout)[1]
    assert line["failed"] == "normd"
    assert "RESOURCE_EXHAUSTED" in line["why"]


@pytest.mark.parametrize("argument", ["--op=batch_norm", "--rows=0", "--preset=no", "--device=tpu"])
def test_wrong_usage_is_refused(argument):
    done = _bench(argument)
    assert done.returncode == 2
    assert argument.split("=")[1] in done.stderr


def test_the_table_has_a_line_a_point():
    done = _bench("--width=64", "--rows=64", "--group=0,32", "--format=table")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4  # device, names of the columns, two points
    assert "group=32" in lines[3]


def test_compare_writes_lines_and_a_table(tmp_path):
    done = subprocess.run(
        [
            *[str(ROOT / "tests/bench/compare"), f"--binary={_binary()}", "--device=cpu"],
            *["--presets=segments", "--peers=none", "--max_bytes=300000", "--budget_s=60"],
            *[f"--results={tmp_path}/lines", f"--out={tmp_path}/out", "--commit=abc123"],
        ],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "lines").glob("*-abc123.jsonl")
    lines = result_lines.measurements(result_lines.read(path))
    assert {line["segments"] for line in lines} >= {1, 64}
    table = (tmp_path / "out" / f"{path.stem}.md").read_text()
    assert "### layer_norm.forward" in table
    assert "64 segments" in table


def test_peers_get_the_plain_shapes_once():
    line = {"peer": "normd", "op": "rms_norm.forward", "rows": 4, "width": 8, "dtype": "float16"}
    line |= {"ms": 1.0, "group": 8, "gate": "none", "path": "auto"}
    ours = [line, line, {**line, "path": "single_row"}, {**line, "group": 4}]
    ours += [{**line, "width": 16, "group": 16, "residual": True}, {"failed": "normd"}]
    assert compare.peer_points(ours) == [line]


def test_presets_are_found_by_their_first_word():
    assert compare.full_names("narrow,wide") == ["narrow-layer-norm", "wide"]
    with pytest.raises(SystemExit):
        compare.full_names("narrowest")


def test_peers_are_started_again_behind_the_point_where_they_died(monkeypatch, tmp_path):
    """A stand-in for peers.py that dies at its second point."""
    (tmp_path / "peers.py").write_text(
        "import sys\n"
        "first = int(next(a for a in sys.argv if a.startswith('--first=')).split('=')[1])\n"
        "for i in range(first, 4):\n"
        "    print('{\"point\": %d}' % i, flush=True)\n"
        "    if i == 1: sys.exit(3)\n"
        '    print(\'{"peer": "torch", "rows": %d}\' % i, flush=True)\n'
    )
    monkeypatch.setattr(compare, "HERE", tmp_path)
    monkeypatch.setattr(sys, "argv", ["compare", "--lines=x", f"--wheels={tmp_path}"])
    arguments = compare.parse_arguments()
    lines = compare.run_peers(arguments, [{}] * 4, deadline=compare.time.monotonic() + 60)
    assert [line.get("rows", line.get("failed")) for line in lines] == [0, "peers", 2, 3]
