"""Merging, the table and the chart's data, from lines that stand here."""

from __future__ import annotations

import result_lines
import share_chart

OURS = {
    "peer": "normd",
    "op": "layer_norm.forward",
    "rows": 1 << 20,
    "width": 128,
    "dtype": "bfloat16",
    "ms": 0.1,
    "copy_ms": 0.098,
    "share": 0.98,
    "gate": "none",
    "group": 128,
    "path": "auto",
    "segments": 1,
}
PEER = {**{k: OURS[k] for k in ("op", "rows", "width", "dtype", "copy_ms")}}
PEER |= {"peer": "liger", "ms": 0.2, "share": 0.49}


def test_a_peer_without_options_has_our_shape():
    assert result_lines.shape(OURS) == result_lines.shape(PEER)
    assert result_lines.shape({**OURS, "group": 64}) != result_lines.shape(PEER)
    assert result_lines.is_plain(OURS)
    assert result_lines.is_plain(PEER)
    assert not result_lines.is_plain({**OURS, "residual": True})


def test_forced_families_are_contenders_of_their_own():
    forced = {**OURS, "path": "single_row", "ms": 0.4}
    (row,) = result_lines.by_shape([OURS, PEER, forced]).values()
    assert {name: line["ms"] for name, line in row.items()} == {
        "normd": 0.1,
        "liger": 0.2,
        "normd single_row": 0.4,
    }


def test_what_is_no_measurement_is_left_out(tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_text('{"device": "x"}\nnot json\n[1]\n{"failed": "quack", "why": "?"}\n')
    lines = result_lines.read(path)
    assert len(lines) == 2
    assert result_lines.measurements(lines) == []


def test_the_table_names_us_first_and_gives_microseconds_and_share():
    text = result_lines.markdown([PEER, OURS, {**OURS, "group": 64, "ms": 0.2, "share": 0.49}])
    assert "| rows | width | dtype | options | copy | normd | liger |" in text
    assert "| 1,048,576 | 128 | bfloat16 |  | 98.00 | 100.00 (0.98) | 200.00 (0.49) |" in text
    assert "| 1,048,576 | 128 | bfloat16 | group 64 | 98.00 | 200.00 (0.49) |  |" in text


def test_the_chart_takes_large_plain_shapes_by_width():
    lines = [
        OURS,
        {**OURS, "width": 64, "group": 64, "share": 0.9},
        {**OURS, "rows": 1 << 21, "share": 0.97},
        {**OURS, "rows": 1 << 10, "share": 0.1},
        {**OURS, "residual": True, "share": 0.2},
        {**OURS, "dtype": "float32", "share": 0.3},
        PEER,
    ]
    assert share_chart.series(lines, "layer_norm.forward", "bfloat16", "none") == {
        "liger": [(128, 0.49)],
        "normd": [(64, 0.9), (128, 0.97)],
    }
