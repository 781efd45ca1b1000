#!/usr/bin/env python3
"""Times the norm kernels that a user would otherwise pick, on one GPU, a JSON line a measurement.

A line: {"peer", "op", "rows", "width", "dtype", "ms", "copy_ms", "share"} and p10_ms, p90_ms, gate,
group. copy_ms is what PyTorch's device copy, measured just before, needs for the bytes that the op
must move; share is copy_ms / ms, so 1 is the speed of a copy. Peers: torch, liger (liger-kernel),
fla (fla-core), quack (quack-kernels), and two public schemes (peer_schemes.py). One that does not
import gives a line with "skipped", one that fails at a point a line with "failed".
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import time

import peer_ops
import peer_schemes
import torch
import triton
from peer_timing import Spread, copy_ms_per_byte, time_events, time_graph

NARROW = [(7_864_320, width) for width in (16, 32, 64, 128, 256, 512)]
WIDE = [((1 << 29) // width, width) for width in (1024, 2048, 4096, 8192, 16384, 32768)]
GATED_ROWS = (256, 512, 1024, 4096, 16384, 65536, 131072, 262144, 2097152)
DEVICE_LOST = 3  # exit code: no further point can be measured by this process


def default_points() -> list[peer_ops.Point]:
    """The narrow, the wide and the gated table."""
    points = [
        peer_ops.Point(f"{op}.{direction}", rows, width, "bfloat16")
        for rows, width in NARROW + WIDE
        for op in ("layer_norm", "rms_norm")
        for direction in ("forward", "backward")
    ]
    gated = [
        peer_ops.Point("gated_rms_norm.forward.graph", rows, 128, "float16", "silu")
        for rows in GATED_ROWS
    ]
    return points + gated


def read_points(path: pathlib.Path) -> list[peer_ops.Point]:
    """Lines with the fields of a point, such as those of normd-kernel-bench."""
    fields = ("op", "rows", "width", "dtype", "gate")
    lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    return [peer_ops.Point(**{name: line[name] for name in fields}) for line in lines]


def emit(**line: object) -> None:
    print(json.dumps(line), flush=True)


def report(point: peer_ops.Point, peer: str, spread: Spread, copy_ms: float) -> None:
    emit(
        peer=peer,
        op=point.op,
        rows=point.rows,
        width=point.width,
        dtype=point.dtype,
        ms=round(spread.ms, 6),
        copy_ms=round(copy_ms, 6),
        share=round(copy_ms / spread.ms, 4),
        p10_ms=round(spread.p10_ms, 6),
        p90_ms=round(spread.p90_ms, 6),
        gate=point.gate,
        group=point.width,
    )


def failed(point: peer_ops.Point, peer: str, why: str) -> None:
    emit(failed=peer, op=point.op, rows=point.rows, width=point.width, dtype=point.dtype, why=why)


def schemes_left_out() -> set[str]:
    """The schemes when they are wrong on this machine: they are not measured then."""
    try:
        peer_schemes.check()
    except Exception as error:
        emit(failed="block_row, rows4", why=repr(error)[:300])
        return {"block_row", "rows4"}
    return set()


def measure(point: peer_ops.Point, modules: dict, wanted: set[str], left_out: set[str]) -> None:
    """Every wanted peer at one point."""
    dtype = getattr(torch, point.dtype)
    copy_ms = point.bytes * copy_ms_per_byte(point.rows * point.width, dtype)
    tensors = peer_ops.Tensors(point)
    for peer, prepare in peer_ops.runs(point, tensors, modules):
        if peer in left_out or (wanted and peer not in wanted):
            continue
        try:
            run = prepare()
            spread = time_graph(run) if point.graph else time_events(run)
            report(point, peer, spread, copy_ms)
        except Exception as error:
            failed(point, peer, repr(error)[:300])
            # Raises when the error took the device with it.
            torch.cuda.synchronize()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--points", type=pathlib.Path, help="file of JSON lines; default: three public tables"
    )
    parser.add_argument("--peers", default="", help="names separated by commas; default: all")
    parser.add_argument("--budget_s", type=float, default=0, help="seconds; 0: no limit")
    parser.add_argument("--first", type=int, default=0, help="points to leave out at the front")
    return parser.parse_args()


def main() -> int:
    start = time.monotonic()
    arguments = parse_arguments()
    wanted = set(filter(None, arguments.peers.split(",")))
    points = read_points(arguments.points) if arguments.points else default_points()
    emit(
        device=torch.cuda.get_device_name(0),
        torch=torch.__version__,
        triton=triton.__version__,
    )
    modules, skipped = peer_ops.load_modules()
    for name, why in skipped.items():
        emit(skipped=name, why=why)
    left_out = schemes_left_out()
    torch.manual_seed(2)
    for index, point in enumerate(points):
        if index < arguments.first:
            continue
        if arguments.budget_s and time.monotonic() - start > arguments.budget_s:
            failed(point, "peers", "the time budget is spent")
            continue
        emit(point=index)
        try:
            measure(point, modules, wanted, left_out)
        except Exception as error:
            failed(point, "peers", repr(error)[:300])
            try:
                torch.cuda.synchronize()
            except Exception:
                sys.stdout.flush()
                os._exit(DEVICE_LOST)  # the destructors of what is left would hang or abort
        torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
