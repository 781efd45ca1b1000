"""Times functions that launch GPU work, in the two ways in which normd-kernel-bench times ours."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable

import torch
from triton.testing import do_bench

WARM_UP_MS = 15
MEASURE_MS = 60
GRAPH_LAUNCHES = 100
GRAPH_REPLAYS = 30


@dataclasses.dataclass(frozen=True)
class Spread:
    """Milliseconds of one launch."""

    ms: float
    p10_ms: float
    p90_ms: float


def time_events(function: Callable[[], object], measure_ms: int = MEASURE_MS) -> Spread:
    """Timed events around each call, the cache flushed between them."""
    median, p10, p90 = do_bench(
        function, warmup=WARM_UP_MS, rep=measure_ms, quantiles=[0.5, 0.1, 0.9]
    )
    return Spread(median, p10, p90)


def time_graph(function: Callable[[], object]) -> Spread:
    """Replays of a graph of 100 calls over the same tensors."""
    function()  # compiles, tunes and allocates before the capture
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(GRAPH_LAUNCHES):
            function()
    graph.replay()
    events = []
    for _ in range(GRAPH_REPLAYS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        events.append((start, end))
    torch.cuda.synchronize()
    times = [start.elapsed_time(end) / GRAPH_LAUNCHES for start, end in events]
    deciles = statistics.quantiles(times, n=10)
    return Spread(statistics.median(times), deciles[0], deciles[-1])


def copy_ms_per_byte(elements: int, dtype: torch.dtype) -> float:
    """Of PyTorch's device copy, read and written bytes counted; 512 MiB when x is under 64 MiB."""
    if elements * dtype.itemsize < 64 << 20:
        elements = (512 << 20) // dtype.itemsize
    source = torch.randn(elements, device="cuda", dtype=dtype)
    copy = torch.empty_like(source)
    spread = time_events(lambda: copy.copy_(source), 30)
    return spread.ms / (2 * source.numel() * source.element_size())
