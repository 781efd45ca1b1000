"""The lines of a comparison: reading them, what makes two of them comparable, and a table."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterable
from typing import Any

Line = dict[str, Any]
Shape = tuple[Any, ...]

# What a peer's line does not say is this.
DEFAULTS: Line = {
    "gate": "none",
    "residual": False,
    "statistics": True,
    "parameters": "same",
    "segments": 1,
    "path": "auto",
}
SHAPE_FIELDS = ("op", "dtype", "width", "rows", "gate", "group", "residual", "statistics")
SHAPE_FIELDS += ("parameters", "segments")


def field(line: Line, name: str) -> Any:
    if name == "group":
        return line.get("group") or line["width"]
    return line.get(name, DEFAULTS.get(name))


def shape(line: Line) -> Shape:
    """Lines of the same shape did the same work."""
    return tuple(field(line, name) for name in SHAPE_FIELDS)


def contender(line: Line) -> str:
    """Who did it; our forced kernel families are contenders of their own."""
    path = field(line, "path")
    return line["peer"] if path == "auto" else f"{line['peer']} {path}"


def is_plain(line: Line) -> bool:
    """Nothing but what peers have too: no option beyond the gate, whole-row statistics."""
    options = ("residual", "statistics", "parameters", "segments", "path")
    whole = field(line, "group") == line["width"]
    return whole and all(field(line, name) == DEFAULTS[name] for name in options)


def parse(text: str) -> Line | None:
    """None for what is not a JSON object."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def read(path: pathlib.Path) -> list[Line]:
    """Every object of a file of JSON lines."""
    parsed = (parse(text) for text in path.read_text(encoding="utf-8").splitlines())
    return [line for line in parsed if line is not None]


def measurements(lines: Iterable[Line]) -> list[Line]:
    return [line for line in lines if "peer" in line and "ms" in line]


def by_shape(lines: Iterable[Line]) -> dict[Shape, dict[str, Line]]:
    """Measurements by shape, then by contender, in the order of their first line; a later line of
    the same contender replaces the earlier."""
    table: dict[Shape, dict[str, Line]] = {}
    for line in measurements(lines):
        table.setdefault(shape(line), {})[contender(line)] = line
    return table


def _options(line: Line) -> str:
    parts = [] if field(line, "gate") == "none" else [str(line["gate"])]
    if field(line, "group") != line["width"]:
        parts.append(f"group {line['group']}")
    if field(line, "residual"):
        parts.append("residual")
    if not field(line, "statistics"):
        parts.append("no statistics")
    if field(line, "parameters") != "same":
        parts.append(f"parameters {line['parameters']}")
    if field(line, "segments") != 1:
        parts.append(f"{line['segments']} segments")
    return ", ".join(parts)


def _columns(table: dict[Shape, dict[str, Line]]) -> list[str]:
    names = sorted({name for row in table.values() for name in row})
    return sorted(names, key=lambda name: (not name.startswith("normd"), name))


def _markdown_row(row: dict[str, Line], columns: list[str]) -> str:
    line = next(iter(row.values()))
    copy_us = (row.get("normd") or line)["copy_ms"] * 1e3
    cells = [f"{line['rows']:,}", f"{line['width']:,}", line["dtype"], _options(line)]
    cells.append(f"{copy_us:.2f}")
    for name in columns:
        measured = row.get(name)
        cells.append(f"{measured['ms'] * 1e3:.2f} ({measured['share']:.2f})" if measured else "")
    return "| " + " | ".join(cells) + " |"


def markdown(lines: Iterable[Line]) -> str:
    """A table an op: microseconds of a launch, and in brackets the share of a copy's speed."""
    grouped: dict[str, dict[Shape, dict[str, Line]]] = {}
    for key, row in by_shape(lines).items():
        grouped.setdefault(key[0], {})[key] = row
    parts = []
    for op in sorted(grouped):
        columns = _columns(grouped[op])
        head = ["rows", "width", "dtype", "options", "copy", *columns]
        parts.append(f"### {op} (us, share of the copy)\n")
        parts.append("| " + " | ".join(head) + " |")
        parts.append("|" + "---|" * len(head))
        parts += [_markdown_row(row, columns) for row in grouped[op].values()]
        parts.append("")
    return "\n".join(parts)
