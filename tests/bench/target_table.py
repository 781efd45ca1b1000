"""Which targets of the kernels on an H200 a comparison reaches, row by row, with the numbers.

Every ratio is taken inside one run: against the copy measured beside it, or against a peer measured
in the same session. A row whose shapes were not all measured is not reached. That results have the
same bits in every run and every batch is the conformance suite's to show, not this table's.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import pathlib
import sys
from collections.abc import Callable, Iterable, Iterator

import result_lines
from result_lines import Line, by_shape, field, is_plain

LEAST_ELEMENTS = 1 << 27
OPS = ("layer_norm", "rms_norm")
DTYPES = ("bfloat16", "float16", "float32")
POWERS = tuple(1 << bits for bits in range(4, 14))  # 16 to 8,192
WIDE = (16384, 32768, 65536)
ODD = (17, 97, 1000, 5121)
GATED = (64, 128, 256, 512, 1024)
# How much faster backward is than the block-row scheme, by width.
BLOCK_ROW_BACKWARD = {16: 2.0, 32: 1.5, 64: 1.9, 128: 1.9, 256: 3.3}
SEGMENT_OVERHEAD = 1.10
HOST_US = 6.0


@dataclasses.dataclass(frozen=True)
class Verdict:
    what: str
    target: str
    reached: bool
    numbers: str


@dataclasses.dataclass(frozen=True)
class Check:
    """One comparison: reached when value >= bound."""

    where: str
    value: float
    bound: float

    @property
    def ok(self) -> bool:
        return self.value >= self.bound


def verdict(what: str, target: str, checks: Iterable[Check], missing: Iterable[str]) -> Verdict:
    checks, missing = list(checks), list(missing)
    failures = sorted((c for c in checks if not c.ok), key=lambda c: c.value / c.bound)
    reached = bool(checks) and not failures and not missing
    parts = [f"{len(checks) - len(failures)} of {len(checks)}"]
    if checks:
        worst = min(checks, key=lambda check: check.value / check.bound)
        parts.append(f"worst {worst.value:.3f} (wanted {worst.bound:.2f}) at {worst.where}")
    if failures[1:]:
        parts.append("also " + ", ".join(f"{c.value:.3f} at {c.where}" for c in failures[1:6]))
    if missing:
        parts.append(f"{len(missing)} not measured: " + ", ".join(missing[:4]))
    return Verdict(what, target, reached, "; ".join(parts))


def name(line: Line) -> str:
    text = f"{line['op']} {line['rows']}x{line['width']} {line['dtype']}"
    if field(line, "gate") != "none":
        text += f" {line['gate']}"
    if field(line, "group") != line["width"]:
        text += f" group {line['group']}"
    return text


class Table:
    """The measurements of a comparison, as the targets ask for them."""

    def __init__(self, lines: Iterable[Line]):
        self.shapes = by_shape(lines)

    def ours(self) -> Iterator[Line]:
        return (row["normd"] for row in self.shapes.values() if "normd" in row)

    def large(self, ops: Iterable[str], widths: Iterable[int]) -> list[Line]:
        """Our lines of 2^27 elements or more, timed by events, without options but the group."""
        ops, widths = set(ops), set(widths)
        return [
            line
            for line in self.ours()
            if line["op"] in ops
            and line["width"] in widths
            and line["rows"] * line["width"] >= LEAST_ELEMENTS
            and is_plain({**line, "group": line["width"]})
        ]

    def pairs(self, peers: Iterable[str], keep: Callable[[Line], bool]) -> Iterator[tuple]:
        """(ours, a peer's name, its line) of the same shape."""
        for row in self.shapes.values():
            for peer in peers:
                if "normd" in row and peer in row and keep(row["normd"]):
                    yield row["normd"], peer, row[peer]


def copy_share(
    table: Table, direction: str, widths: tuple[int, ...], dtypes: tuple[str, ...], bound: float
) -> Verdict:
    """LayerNorm and RMSNorm at the speed of a copy."""
    ops = [f"{op}.{direction}" for op in OPS]
    lines = [line for line in table.large(ops, widths) if field(line, "gate") == "none"]
    whole = [line for line in lines if field(line, "group") == line["width"]]
    seen = {(line["op"], line["width"], line["dtype"]) for line in whole}
    missing = [
        f"{op} {width} {dtype}"
        for op, width, dtype in itertools.product(ops, widths, dtypes)
        if (op, width, dtype) not in seen
    ]
    return verdict(
        f"{direction}, {widths[0]:,} to {widths[-1]:,} columns"
        if widths != ODD
        else f"{direction}, 17, 97, 1,000, 5,121 columns",
        f">= {bound} of the copy",
        (Check(name(line), line["share"], bound) for line in whole),
        missing,
    )


def gated_share(table: Table, direction: str, bound: float) -> Verdict:
    op = f"gated_rms_norm.{direction}"
    lines = table.large([op, f"gated_layer_norm.{direction}"], GATED)
    seen = {(line["op"], line["width"], field(line, "group")) for line in lines}
    missing = [
        f"{op} {width} group {group}"
        for width in GATED
        for group in sorted({64, 128, width})
        if group <= width and (op, width, group) not in seen
    ]
    return verdict(
        f"gated {direction}, 64 to 1,024 columns, groups 64, 128, row",
        f">= {bound} of the copy",
        (Check(name(line), line["share"], bound) for line in lines),
        missing,
    )


def against_block_row(table: Table, direction: str) -> Verdict:
    op = f"layer_norm.{direction}"
    bounds = dict.fromkeys(BLOCK_ROW_BACKWARD, 1.0)
    if direction == "backward":
        bounds = BLOCK_ROW_BACKWARD
    pairs = list(
        table.pairs(["block_row"], lambda line: line["op"] == op and line["width"] in bounds)
    )
    seen = {line["width"] for line, _, _ in pairs}
    return verdict(
        f"against the block-row scheme, {direction}",
        ", ".join(f"{bound}x ({width})" for width, bound in bounds.items()),
        (Check(name(o), peer["ms"] / o["ms"], bounds[o["width"]]) for o, _, peer in pairs),
        [f"{op} {width}" for width in bounds if width not in seen],
    )


def against_peers(table: Table) -> Verdict:
    """Faster than PyTorch and Liger wherever they run; launches one by one."""
    pairs = table.pairs(["torch", "liger"], lambda line: not line["op"].endswith(".graph"))
    checks = [Check(f"{name(o)} ({peer})", line["ms"] / o["ms"], 1.0) for o, peer, line in pairs]
    seen = {check.where.split(" ")[0] for check in checks}
    wanted = [f"{op}.{direction}" for op in OPS for direction in ("forward", "backward")]
    missing = [op for op in wanted if op not in seen]
    return verdict("against PyTorch and Liger", "faster at every shape", checks, missing)


def gated_few_rows(table: Table) -> Verdict:
    op, rows = "gated_rms_norm.forward.graph", (256, 512, 1024, 4096, 16384)
    pairs = list(
        table.pairs(["rows4"], lambda o: o["op"] == op and o["width"] == 128 and o["rows"] in rows)
    )
    seen = {line["rows"] for line, _, _ in pairs}
    return verdict(
        "gated forward, 256 to 16,384 rows x 128",
        "not slower than rows-of-4",
        (Check(name(o), peer["ms"] / o["ms"], 1.0) for o, _, peer in pairs),
        [f"{count} rows" for count in rows if count not in seen],
    )


def few_rows(table: Table) -> Verdict:
    ops = {f"{op}.{d}.graph" for op in OPS for d in ("forward", "backward")}
    pairs = table.pairs(
        ["torch", "liger", "quack"],
        lambda o: o["op"] in ops and o["rows"] <= 16384 and 64 <= o["width"] <= 8192,
    )
    checks = [Check(f"{name(o)} ({peer})", line["ms"] / o["ms"], 1.0) for o, peer, line in pairs]
    seen = {check.where.split(" ")[0] for check in checks}
    return verdict(
        "1 to 16,384 rows of 64 to 8,192 columns",
        "not slower than any peer",
        checks,
        sorted(ops - seen),
    )


def segments(table: Table, count: int) -> Verdict:
    """`count` segments of 256 rows against the same rows in one."""
    checks = []
    for key, row in table.shapes.items():
        ours = row.get("normd")
        if ours is None or (field(ours, "segments"), ours["rows"]) != (count, count * 256):
            continue
        one = table.shapes.get((*key[:-1], 1), {}).get("normd")
        if one is not None:
            checks.append(Check(name(ours), one["ms"] / ours["ms"], 1 / SEGMENT_OVERHEAD))
    return verdict(
        f"{count} segments of 256 rows",
        f"<= {SEGMENT_OVERHEAD}x one segment's time (one / many >= {1 / SEGMENT_OVERHEAD:.3f})",
        checks,
        [] if checks else [f"{count} segments"],
    )


def host_cost(table: Table) -> Verdict:
    lines = [o for o in table.ours() if field(o, "segments") == 64 and "host_us" in o]
    return verdict(
        "host's cost of a launch of 64 segments",
        f"<= {HOST_US} us (wanted / measured >= 1)",
        (Check(f"{name(o)}, {o['host_us']} us", HOST_US / o["host_us"], 1.0) for o in lines),
        [] if lines else ["64 segments"],
    )


def evaluate(lines: Iterable[Line]) -> list[Verdict]:
    table = Table(lines)
    return [
        copy_share(table, "forward", POWERS, DTYPES, 0.98),
        copy_share(table, "forward", WIDE, ("bfloat16",), 0.95),
        copy_share(table, "backward", POWERS, DTYPES, 0.97),
        copy_share(table, "backward", WIDE, ("bfloat16",), 0.92),
        gated_share(table, "forward", 1.00),
        gated_share(table, "backward", 0.95),
        copy_share(table, "forward", ODD, ("bfloat16",), 0.90),
        copy_share(table, "backward", ODD, ("bfloat16",), 0.85),
        against_block_row(table, "forward"),
        against_block_row(table, "backward"),
        against_peers(table),
        gated_few_rows(table),
        few_rows(table),
        segments(table, 64),
        segments(table, 200),
        host_cost(table),
    ]


def markdown(verdicts: list[Verdict]) -> str:
    rows = ["| what | target | reached | numbers |", "|---|---|---|---|"]
    for v in verdicts:
        rows.append(f"| {v.what} | {v.target} | {'yes' if v.reached else 'NO'} | {v.numbers} |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="tests/bench/targets", description=__doc__.splitlines()[0]
    )
    parser.add_argument("lines", type=pathlib.Path, help="a .jsonl of tests/bench/compare")
    verdicts = evaluate(result_lines.read(parser.parse_args().lines))
    print(markdown(verdicts))
    reached = sum(v.reached for v in verdicts)
    print(f"\n{reached} of {len(verdicts)} targets reached")
    return 0 if reached == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
