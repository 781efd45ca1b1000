"""tests/cases/norm_cases.json for Python: operands by the recipes, the rule for a right answer."""

from __future__ import annotations

import ast
import dataclasses
import json
import math
import pathlib
import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

FILE = pathlib.Path(__file__).resolve().parents[1] / "cases" / "norm_cases.json"
DTYPES = {"fp32": np.float32, "fp16": np.float16, "bf16": ml_dtypes.bfloat16}

# Significand bits behind the point, exponent of the smallest normal number.
_FORMATS = {np.float32: (23, -126), np.float16: (10, -14), ml_dtypes.bfloat16: (7, -126)}
_NAMES: dict[str, Any] = {
    "u": lambda i: ((i * 2654435761) % 2**32) / 2**32,
    "nan": math.nan,
    "inf": math.inf,
    "sqrt": math.sqrt,
    "abs": abs,
    "min": min,
    "max": max,
    "int": int,
}
# What a recipe may be made of: the file is data, and no other Python is run.
_ALLOWED = (
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call),
    *(ast.Name, ast.Constant, ast.Tuple, ast.Subscript, ast.Load),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)


def recipe(text: str) -> Callable[[int, int], float]:
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        assert isinstance(node, _ALLOWED), f"{text}: {type(node).__name__}"
    code = compile(ast.parse(f"lambda r, c: {text}", mode="eval"), text, "eval")
    value: Callable[[int, int], float] = eval(code, {"__builtins__": {}, **_NAMES})
    return value


@dataclasses.dataclass(frozen=True)
class Case:
    id: str
    tier: str
    op: str
    rows: int
    cols: int
    dtype: type
    params: dict[str, Any]
    expected: dict[str, Any]
    absolute: float
    relative: float
    recipes: dict[str, str]

    @property
    def backward(self) -> bool:
        return self.op.endswith("_bwd")

    @property
    def layer_norm(self) -> bool:
        return "layer_norm" in self.op

    @property
    def gated(self) -> bool:
        return self.op.startswith("gated_")

    def dtype_of(self, name: str) -> type:
        # The bias has the dtype of the weight.
        key = "weight_dtype" if name == "bias" else f"{name}_dtype"
        return DTYPES[self.params[key]] if key in self.params else self.dtype

    def tensor(self, name: str, rows: int | None = None, cols: int | None = None) -> np.ndarray:
        """x, z, dy: [rows, cols]; weight, bias: [cols]. Rounded to the operand's dtype."""
        value = recipe(self.recipes[name])
        cols = self.cols if cols is None else cols
        if name in ("weight", "bias"):
            values = np.array([value(0, c) for c in range(cols)], np.float64)
        else:
            rows = self.rows if rows is None else rows
            period = min(rows, self._period or rows)
            first = [value(r, c) for r in range(period) for c in range(cols)]
            block = np.array(first, np.float64).reshape(period, cols)
            values = block[np.arange(rows) % period] if rows else block
        with np.errstate(over="ignore"):
            return values.astype(self.dtype_of(name))

    @property
    def _period(self) -> int:
        found = re.fullmatch(r"row r behaves as row r mod (\d+)", self.expected.get("rule", ""))
        return int(found[1]) if found else 0

    def allowance(self, right: np.ndarray, dtype: type) -> np.ndarray:
        bits, lowest = _FORMATS[dtype]
        exponents = np.maximum(np.frexp(right)[1] - 1, lowest)
        half_ulp = np.ldexp(0.5, exponents - bits)
        return self.absolute + self.relative * np.abs(right) + half_ulp

    def check_element(self, what: str, got: Any, right: Any) -> None:
        dtype = type(got)
        value, right = float(got), float(right)
        if not math.isfinite(right):
            assert value == right or (math.isnan(value) and math.isnan(right)), (what, value, right)
            return
        assert abs(value - right) <= self.allowance(np.float64(right), dtype), (what, value, right)

    def check(self, outputs: dict[str, np.ndarray]) -> None:
        """Every expected entry against outputs by name; matrices are [rows, cols]."""
        for key, right in self.expected.items():
            if key in ("rule", "row_ids"):
                continue  # see _period; the rows that were sampled
            name = "y" if key.startswith("row0") else key.split("_")[0]
            got = outputs[name]
            if key.endswith("_samples_row_col_value"):
                for row, col, value in right:
                    self.check_element(f"{name}[{row}, {col}]", got[row, col], value)
            elif key.endswith("_first_last4"):
                half = len(right) // 2
                ends = [*got[:half], *got[-half:]]
                for value, wanted in zip(ends, right, strict=True):
                    self.check_element(key, value, wanted)
            elif key in ("row0_sum", "row0_sumsq"):
                self._check_row_sum(key, got[0].astype(np.float64), right, got.dtype.type)
            else:
                assert key == name, f"{key} is not understood"
                flat = np.array(right, dtype=object).ravel()
                assert flat.size == got.size, name
                for index, (value, wanted) in enumerate(zip(got.ravel(), flat, strict=True)):
                    self.check_element(f"{name}[{index}]", value, wanted)

    def _check_row_sum(self, key: str, row: np.ndarray, right: float, dtype: type) -> None:
        allowed = self.allowance(row, dtype)
        if key == "row0_sumsq":
            allowed = 2 * np.abs(row) * allowed + allowed**2
            row = row**2
        assert abs(row.sum() - right) <= allowed.sum() + 1e-9 * abs(right), (key, row.sum(), right)


def load() -> list[Case]:
    cases = []
    for entry in json.loads(FILE.read_text()):
        params = entry["params"]
        tolerance = entry.get("tol_strict", entry["tol"])
        recipes = {"x": entry["x_recipe"]}
        for name in ("weight", "bias", "z", "dy"):
            if f"{name}_recipe" in params:
                recipes[name] = params[f"{name}_recipe"]
        cases.append(
            Case(
                id=entry["id"],
                tier=entry["tier"],
                op=entry["op"],
                rows=entry["rows"],
                cols=entry["cols"],
                dtype=DTYPES[entry["dtype"]],
                params=params,
                expected=entry.get("expected") or {},
                absolute=tolerance["abs"],
                relative=tolerance["rel"],
                recipes=recipes,
            )
        )
    return cases
