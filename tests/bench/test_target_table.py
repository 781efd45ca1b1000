"""The target table on made-up comparisons: all reached, each missed by one line, and empty."""

from __future__ import annotations

import itertools

import pytest
import target_table


def _line(op, width, share, *, peer="normd", ms=1.0, rows=None, dtype="bfloat16", **more):
    rows = rows or -(-(1 << 28) // width)
    line = {"peer": peer, "op": op, "rows": rows, "width": width, "dtype": dtype}
    return line | {"ms": ms, "copy_ms": share * ms, "share": share} | {"group": width} | more


def _plain():
    shapes = itertools.product(("layer_norm", "rms_norm"), target_table.POWERS, target_table.DTYPES)
    for op, width, dtype in shapes:
        yield _line(f"{op}.forward", width, 0.98, dtype=dtype)
        yield _line(f"{op}.backward", width, 0.97, dtype=dtype)
    for op, width in itertools.product(("layer_norm", "rms_norm"), target_table.WIDE):
        yield _line(f"{op}.forward", width, 0.95)
        yield _line(f"{op}.backward", width, 0.92)
    for op, width in itertools.product(("layer_norm", "rms_norm"), target_table.ODD):
        yield _line(f"{op}.forward", width, 0.90)
        yield _line(f"{op}.backward", width, 0.85)


def _gated():
    for width in target_table.GATED:
        for group in {64, min(128, width), width}:
            more = {"gate": "silu", "group": group, "dtype": "float16"}
            yield _line("gated_rms_norm.forward", width, 1.0, **more)
            yield _line("gated_rms_norm.backward", width, 0.95, **more)
    graph = {"dtype": "float16", "gate": "silu"}
    for rows, peer in itertools.product((256, 512, 1024, 4096, 16384), ("normd", "rows4")):
        yield _line("gated_rms_norm.forward.graph", 128, 0.5, rows=rows, peer=peer, **graph)


def _peers():
    for op, direction in itertools.product(("layer_norm", "rms_norm"), ("forward", "backward")):
        yield _line(f"{op}.{direction}", 4096, 0.5, peer="liger", ms=1.0)
        yield _line(f"{op}.{direction}.graph", 64, 0.5, rows=1)
        yield _line(f"{op}.{direction}.graph", 64, 0.5, rows=1, peer="torch")
    for width, faster in target_table.BLOCK_ROW_BACKWARD.items():
        yield _line("layer_norm.forward", width, 0.98, peer="block_row")
        yield _line("layer_norm.backward", width, 0.4, peer="block_row", ms=faster)


def _segments():
    for count in (64, 200):
        graph = {"rows": count * 256, "op": "rms_norm.forward.graph"}
        yield _line(width=128, share=0.5, segments=1, **graph)
        yield _line(width=128, share=0.5, segments=count, ms=1.1, host_us=5.9, **graph)


@pytest.fixture(name="lines")
def _lines():
    return [*_plain(), *_gated(), *_peers(), *_segments()]


def _missed(lines):
    return [v.what for v in target_table.evaluate(lines) if not v.reached]


def test_numbers_exactly_at_the_targets_reach_all_of_them(lines):
    assert _missed(lines) == []


def test_nothing_measured_reaches_nothing():
    assert len(_missed([])) == len(target_table.evaluate([]))


@pytest.mark.parametrize(
    ("op", "width", "change", "missed"),
    [
        ("layer_norm.forward", 512, {"share": 0.979}, "forward, 16 to 8,192 columns"),
        ("rms_norm.forward", 32768, {"share": 0.949}, "forward, 16,384 to 65,536 columns"),
        ("layer_norm.backward", 16, {"share": 0.969}, "backward, 16 to 8,192 columns"),
        ("rms_norm.backward", 65536, {"share": 0.919}, "backward, 16,384 to 65,536 columns"),
        ("gated_rms_norm.forward", 64, {"share": 0.999}, "gated forward, 64 to 1,024"),
        ("gated_rms_norm.backward", 1024, {"share": 0.949}, "gated backward, 64 to 1,024"),
        ("rms_norm.forward", 97, {"share": 0.899}, "forward, 17, 97, 1,000, 5,121"),
        ("rms_norm.backward", 5121, {"share": 0.849}, "backward, 17, 97, 1,000, 5,121"),
        ("layer_norm.forward", 64, {"ms": 1.001}, "against the block-row scheme, forward"),
        ("layer_norm.backward", 256, {"ms": 1.001}, "against the block-row scheme, backward"),
        ("rms_norm.backward", 4096, {"ms": 1.001}, "against PyTorch and Liger"),
        ("gated_rms_norm.forward.graph", 128, {"ms": 1.001}, "gated forward, 256 to 16,384"),
        ("layer_norm.backward.graph", 64, {"ms": 1.001}, "1 to 16,384 rows"),
    ],
)
def test_one_line_short_of_a_target_misses_that_one(lines, op, width, change, missed):
    index = next(
        i
        for i, line in enumerate(lines)
        if (line["peer"], line["op"], line["width"]) == ("normd", op, width)
        and line["dtype"] in ("bfloat16", "float16")
    )
    lines[index] = lines[index] | change
    (what,) = _missed(lines)
    assert what.startswith(missed)


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        ({"ms": 1.101}, ["64 segments of 256 rows"]),
        ({"host_us": 6.1}, ["host's cost of a launch of 64 segments"]),
    ],
)
def test_segments_are_held_against_one_segment(lines, change, missed):
    index = next(i for i, line in enumerate(lines) if line.get("segments") == 64)
    lines[index] = lines[index] | change
    assert _missed(lines) == missed


def test_a_shape_that_was_not_measured_misses_its_target(lines):
    kept = [line for line in lines if (line["op"], line["width"]) != ("rms_norm.forward", 97)]
    assert _missed(kept) == ["forward, 17, 97, 1,000, 5,121 columns"]


def test_the_exit_code_says_whether_all_are_reached(lines, tmp_path, monkeypatch, capsys):
    path = tmp_path / "lines.jsonl"
    path.write_text("".join(f"{target_table.result_lines.json.dumps(line)}\n" for line in lines))
    monkeypatch.setattr("sys.argv", ["targets", str(path)])
    assert target_table.main() == 0
    assert "16 of 16 targets reached" in capsys.readouterr().out
    path.write_text("")
    assert target_table.main() == 1
