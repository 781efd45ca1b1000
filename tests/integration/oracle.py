"""The ops in float64, slow and obvious: what every result of a server is compared with.

The formulas stand in kernels/README.md. Arrays are numpy, with ml_dtypes for bfloat16; operands
may have any of the three dtypes, results are float64 and not rounded, except where the op itself
rounds (residual_out, round_before_weight).
"""

from __future__ import annotations

import dataclasses

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
SILU, SIGMOID = "silu", "sigmoid"
NORM_THEN_GATE, GATE_THEN_NORM = "norm_then_gate", "gate_then_norm"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Op:
    kind: str  # "layer_norm" or "rms_norm"
    eps: float
    group_size: int = 0  # 0: the whole row
    gate_activation: str | None = None
    gate_order: str | None = None
    weight_offset: float = 0.0
    round_before_weight: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Forward:
    y: Array
    mean: Array  # [rows, groups]; zeros for rms_norm
    rstd: Array  # [rows, groups]
    residual_out: Array | None  # rounded to the dtype of x


@dataclasses.dataclass(frozen=True, kw_only=True)
class Backward:
    dx: Array
    dz: Array | None
    dweight: Array | None
    dbias: Array | None


def _wide(array: np.ndarray | None) -> Array | None:
    return None if array is None else np.asarray(array, np.float64)


def activation(op: Op, z: Array) -> tuple[Array, Array]:
    """a(z) and its derivative."""
    s = 1.0 / (1.0 + np.exp(-z))
    if op.gate_activation == SILU:
        return z * s, s * (1.0 + z * (1.0 - s))
    assert op.gate_activation == SIGMOID, op.gate_activation
    return s, s * (1.0 - s)


def _group_mean(values: Array, op: Op) -> Array:
    """Mean over each group of each row: [rows, groups]."""
    rows, cols = values.shape
    group = op.group_size or cols
    return values.reshape(rows, cols // group, group).mean(axis=2)


def _spread(statistic: Array, cols: int) -> Array:
    """[rows, groups] repeated to [rows, cols]."""
    return np.repeat(statistic, cols // statistic.shape[1], axis=1)


def _normalised(op: Op, t: Array) -> tuple[Array, Array, Array]:
    """(t - mean) * rstd, mean, rstd."""
    cols = t.shape[1]
    mean = _group_mean(t, op)
    if op.kind == "rms_norm":
        mean = np.zeros_like(mean)
    centred = t - _spread(mean, cols)
    with np.errstate(divide="ignore"):
        rstd = 1.0 / np.sqrt(_group_mean(centred * centred, op) + float(np.float32(op.eps)))
    return centred * _spread(rstd, cols), mean, rstd


def _rounded(op: Op, h: Array, dtype: np.dtype) -> Array:
    return h.astype(dtype).astype(np.float64) if op.round_before_weight else h


def _factor(op: Op, weight: Array | None) -> Array | float:
    """w + o; 1 without a weight."""
    return 1.0 if weight is None else weight + op.weight_offset


def forward(
    op: Op,
    x: np.ndarray,
    *,
    weight: np.ndarray | None = None,
    bias: np.ndarray | None = None,
    z: np.ndarray | None = None,
    residual: np.ndarray | None = None,
) -> Forward:
    """x is [rows, cols]; z and residual as x; weight and bias are [cols]."""
    t, gate, w, b = _wide(x), _wide(z), _wide(weight), _wide(bias)
    residual_out = None
    if residual is not None:
        t = residual_out = (t + _wide(residual)).astype(x.dtype).astype(np.float64)
    a = None if gate is None else activation(op, gate)[0]
    if op.gate_order == GATE_THEN_NORM:
        t = t * a
    h, mean, rstd = _normalised(op, t)
    y = _rounded(op, h, x.dtype) * _factor(op, w) + (0.0 if b is None else b)
    if op.gate_order == NORM_THEN_GATE:
        y = y * a
    return Forward(y=y, mean=mean, rstd=rstd, residual_out=residual_out)


def backward(
    op: Op,
    x: np.ndarray,
    dy: np.ndarray,
    *,
    weight: np.ndarray | None = None,
    bias: np.ndarray | None = None,
    z: np.ndarray | None = None,
    dresidual_out: np.ndarray | None = None,
) -> Backward:
    """With a fused residual add, x is residual_out, and dx is the gradient of both summands."""
    t, du, gate, w, b = _wide(x), _wide(dy), _wide(z), _wide(weight), _wide(bias)
    cols = x.shape[1]
    a, slope = (None, None) if gate is None else activation(op, gate)
    if op.gate_order == GATE_THEN_NORM:
        t = t * a
    h, _, rstd = _normalised(op, t)
    dz = None
    if op.gate_order == NORM_THEN_GATE:
        u = _rounded(op, h, x.dtype) * _factor(op, w) + (0.0 if b is None else b)
        dz = du * u * slope
        du = du * a
    g = du * _factor(op, w)
    c1 = _group_mean(g * h, op)
    c2 = _group_mean(g, op) if op.kind == "layer_norm" else np.zeros_like(c1)
    dx = _spread(rstd, cols) * (g - _spread(c2, cols) - h * _spread(c1, cols))
    if dresidual_out is not None:
        dx = dx + _wide(dresidual_out)
    if op.gate_order == GATE_THEN_NORM:
        dz = dx * _wide(x) * slope
        dx = dx * a
    return Backward(
        dx=dx,
        dz=dz,
        dweight=None if w is None else (du * _rounded(op, h, x.dtype)).sum(axis=0),
        dbias=None if b is None else du.sum(axis=0),
    )
