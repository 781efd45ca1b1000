"""Latency by shape, from the histograms of /metrics."""

from __future__ import annotations

import collections
import dataclasses
import re
import urllib.request

_SAMPLE = re.compile(r"^(\w+)\{([^}]*)\} (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')
_REQUEST = "normd_request_duration_seconds"
_KERNEL = "normd_kernel_duration_seconds"
_SHAPE = ("op", "direction", "dtype", "width", "rows")


@dataclasses.dataclass
class Histogram:
    count: float = 0.0
    sum: float = 0.0
    buckets: dict[float, float] = dataclasses.field(default_factory=dict)  # bound -> cumulative

    def mean(self) -> float:
        return self.sum / self.count

    def quantile(self, share: float) -> float:
        """Interpolated inside its bucket, as PromQL's histogram_quantile does."""
        rank = share * self.count
        below, counted = 0.0, 0.0
        for bound, cumulative in sorted(self.buckets.items()):
            if cumulative >= rank:
                if bound == float("inf"):
                    return below
                return below + (bound - below) * (rank - counted) / (cumulative - counted)
            below, counted = bound, cumulative
        raise ValueError("the buckets end below the count")


def parse(text: str, metric: str) -> dict[tuple[str, ...], Histogram]:
    """The histograms of one metric by shape: (op, direction, dtype, width, rows)."""
    found: dict[tuple[str, ...], Histogram] = collections.defaultdict(Histogram)
    for name, labels, value in _SAMPLE.findall(text):
        label = dict(_LABEL.findall(labels))
        if not name.startswith(metric + "_"):
            continue
        histogram = found[tuple(label[key] for key in _SHAPE)]
        if name == f"{metric}_count":
            histogram.count = float(value)
        elif name == f"{metric}_sum":
            histogram.sum = float(value)
        elif name == f"{metric}_bucket":
            histogram.buckets[float(label["le"])] = float(value)
    return {shape: histogram for shape, histogram in found.items() if histogram.count}


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def _quantile(histogram: Histogram, share: float) -> str:
    """A quantile of a few calls would say nothing."""
    enough = histogram.count * (1.0 - share) >= 1
    return _time(histogram.quantile(share)) if enough else "-"


def _order(shape: tuple[str, ...]) -> tuple:
    op, direction, dtype, width, rows = shape
    numbers = (int(number) if number.isdigit() else 1 << 62 for number in (width, rows))
    return (op, dtype, *numbers, direction)


def table(metrics_url: str) -> list[str]:
    """One line a shape; raises ValueError when the server has counted none."""
    with urllib.request.urlopen(metrics_url, timeout=30) as reply:
        text = reply.read().decode()
    requests, kernels = parse(text, _REQUEST), parse(text, _KERNEL)
    if not requests:
        raise ValueError(f"{metrics_url} shows no request")
    lines = [
        f"  {'op':<16} {'direction':<9} {'dtype':<9} {'width':>5} {'rows <=':>9} {'calls':>6} "
        f"{'mean':>8} {'p50':>8} {'p99':>8} {'kernel':>8}"
    ]
    for shape in sorted(requests, key=_order):
        op, direction, dtype, width, rows = shape
        histogram = requests[shape]
        kernel = _time(kernels[shape].mean()) if shape in kernels else "-"
        lines.append(
            f"  {op:<16} {direction:<9} {dtype:<9} {width:>5} {rows:>9} {histogram.count:>6.0f} "
            f"{_time(histogram.mean()):>8} {_quantile(histogram, 0.5):>8} "
            f"{_quantile(histogram, 0.99):>8} {kernel:>8}"
        )
    return lines
