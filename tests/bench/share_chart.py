"""The chart of a comparison: share of a copy's speed against width, a line a contender."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable

from result_lines import Line, contender, field, is_plain, measurements

# (title, op, dtype, gate); the dtype is the one that the peers are compared in.
PANELS = (
    ("LayerNorm forward", "layer_norm.forward", "bfloat16", "none"),
    ("LayerNorm backward", "layer_norm.backward", "bfloat16", "none"),
    ("RMSNorm forward", "rms_norm.forward", "bfloat16", "none"),
    ("RMSNorm backward", "rms_norm.backward", "bfloat16", "none"),
    ("gated RMSNorm forward", "gated_rms_norm.forward", "float16", "silu"),
    ("gated RMSNorm backward", "gated_rms_norm.backward", "float16", "silu"),
)
# Smaller shapes are about launches, not about bytes. The narrowest public shape has 120 M.
LEAST_ELEMENTS = 1 << 26

Series = dict[str, list[tuple[int, float]]]


def series(lines: Iterable[Line], op: str, dtype: str, gate: str) -> Series:
    """(width, share) by contender, narrow to wide; of several shapes of a width the largest."""
    best: dict[tuple[str, int], Line] = {}
    for line in measurements(lines):
        wanted = (line["op"], line["dtype"], field(line, "gate")) == (op, dtype, gate)
        if not (wanted and is_plain(line) and line["rows"] * line["width"] >= LEAST_ELEMENTS):
            continue
        key = (contender(line), line["width"])
        if key not in best or line["rows"] > best[key]["rows"]:
            best[key] = line
    result: Series = {}
    for (name, width), line in sorted(best.items()):
        result.setdefault(name, []).append((width, line["share"]))
    return result


def draw(lines: list[Line], title: str, paths: Iterable[pathlib.Path]) -> None:
    """Writes the chart to each path, in the format of its suffix. Raises ImportError without
    matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = [(panel, series(lines, *panel[1:])) for panel in PANELS]
    names = sorted({name for _, data in panels for name in data}, key=lambda n: (n != "normd", n))
    colours = {name: f"C{index}" for index, name in enumerate(names)}
    figure, grid = pyplot.subplots(3, 2, figsize=(11, 12), sharey=True, layout="constrained")
    for axes, ((heading, *_), data) in zip(grid.flat, panels, strict=True):
        for name in filter(data.get, names):
            points = data[name]
            widths, shares = zip(*points, strict=True)
            width = 2.5 if name == "normd" else 1.2
            axes.plot(widths, shares, marker=".", color=colours[name], linewidth=width, label=name)
        axes.axhline(1, color="black", linewidth=0.8, linestyle=":")
        axes.set_title(heading)
        axes.set_xscale("log", base=2)
        axes.set_xlabel("width (columns)")
        axes.set_ylabel("share of a device copy's speed")
        axes.set_ylim(0, 1.15)
        axes.grid(alpha=0.3)
        if data:
            axes.legend(loc="best", fontsize="small")
    figure.suptitle(title)
    for path in paths:
        figure.savefig(path, dpi=110)
    pyplot.close(figure)
