"""Every element of a result against float64, with a tolerance that follows from the arithmetic.

    |got - reference| <= half an ulp of the result's dtype + n * 2^-24 * scale

The first term is the one rounding at the store. The second is what float32 arithmetic may lose
before it: scale is the sum of the magnitudes that were added, n the roundings that can fall on it:
8 for the operations of a formula, and for a sum of k terms 2 * sqrt(k) more, a random walk.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import oracle

FLOAT32_ROUNDING = 2.0**-24
# dtype -> (bits of the mantissa, exponent of the smallest subnormal)
_FORMATS = {"float32": (24, -149), "float16": (11, -24), "bfloat16": (8, -133)}
# A block of this many float64 elements stays in a cache.
_BLOCK_ELEMENTS = 1 << 18


class Mismatch(Exception):
    """A result is further from float64 than its tolerance. The text says where."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Operands:
    """[rows, width] and [width], all of one dtype. bias and z may be absent."""

    x: np.ndarray
    dy: np.ndarray
    weight: np.ndarray
    bias: np.ndarray | None = None
    z: np.ndarray | None = None


def roundings(summed: int) -> float:
    return 8.0 + 2.0 * math.sqrt(summed)


def _half_ulp(reference: np.ndarray, dtype: np.dtype) -> np.ndarray:
    digits, least = _FORMATS[dtype.name]
    _, exponent = np.frexp(reference)
    return np.ldexp(1.0, np.maximum(exponent - digits, least) - 1)


def compare(
    name: str, got: np.ndarray, reference: np.ndarray, scale: np.ndarray, summed: int
) -> float:
    """The largest error as a share of what is allowed; Mismatch when it is above 1 or NaN."""
    allowed = _half_ulp(reference, got.dtype) + roundings(summed) * FLOAT32_ROUNDING * scale
    share = np.abs(got.astype(np.float64) - reference) / allowed
    share = np.where(np.isnan(share), np.inf, share)
    at = np.unravel_index(int(np.argmax(share)), share.shape)
    if share[at] > 1.0:
        place = ", ".join(str(int(index)) for index in at)
        raise Mismatch(
            f"{name}[{place}] is {float(got[at])!r}, float64 says {float(reference[at])!r}, "
            f"allowed are {float(allowed[at]):.3g} of difference"
        )
    return float(share[at])


class Verifier:
    """Checks the results of one op on blocks of rows, on all cores."""

    def __init__(self, op: oracle.Op) -> None:
        # The scales below are those of a whole row, and of a gate after the norm.
        assert op.group_size == 0, op
        assert op.gate_order != oracle.GATE_THEN_NORM, op
        self._op = op

    def forward(self, operands: Operands, results: dict[str, np.ndarray]) -> float:
        """`results`: y and rstd, and mean for a LayerNorm. Returns the worst share."""
        return max(self._by_block(lambda rows: self._forward(operands, results, rows), operands))

    def backward(self, operands: Operands, results: dict[str, np.ndarray]) -> float:
        """`results`: dx, dweight, and dz and dbias where the operands have z and bias."""
        shares, sums = [], None
        for share, parts in self._by_block(
            lambda rows: self._backward(operands, results, rows), operands
        ):
            shares.append(share)
            sums = parts if sums is None else {name: sums[name] + parts[name] for name in sums}
        assert sums is not None
        rows = len(operands.x)
        for name in ("dweight", "dbias"):
            if name in results:
                total, scale = sums[name]
                shares.append(compare(name, results[name], total, scale, rows))
        return max(shares)

    @staticmethod
    def _by_block(check: Callable, operands: Operands) -> Iterator:
        rows, width = operands.x.shape
        step = max(1, _BLOCK_ELEMENTS // width)
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            yield from pool.map(check, [slice(at, at + step) for at in range(0, rows, step)])

    def _common(self, operands: Operands, rows: slice) -> dict[str, np.ndarray]:
        """Operands and magnitudes in float64, for the scales."""
        wide = {
            "x": operands.x[rows].astype(np.float64),
            "w": operands.weight.astype(np.float64),
            "b": np.float64(0) if operands.bias is None else operands.bias.astype(np.float64),
            "a": np.float64(1),
            "slope": np.float64(0),
        }
        if operands.z is not None:
            gate = operands.z[rows].astype(np.float64)
            wide["a"], slope = oracle.activation(self._op, gate)
            # a'(z) of SILU is s + z * s * (1 - s), which cancels near its zero.
            s = 1.0 / (1.0 + np.exp(-gate))
            silu = self._op.gate_activation == oracle.SILU
            wide["slope"] = s + np.abs(gate) * s * (1.0 - s) if silu else slope
        return wide

    def _forward(self, operands: Operands, results: dict[str, np.ndarray], rows: slice) -> float:
        reference = oracle.forward(
            self._op,
            operands.x[rows],
            weight=operands.weight,
            bias=operands.bias,
            z=None if operands.z is None else operands.z[rows],
        )
        wide = self._common(operands, rows)
        width = wide["x"].shape[1]
        magnitude = np.abs(wide["x"])
        normal = (magnitude + np.abs(reference.mean)) * reference.rstd
        scales = {
            "y": (normal * np.abs(wide["w"]) + np.abs(wide["b"])) * np.abs(wide["a"]),
            "mean": magnitude.mean(axis=1, keepdims=True),
            "rstd": reference.rstd,
        }
        return max(
            compare(name, got[rows], getattr(reference, name), scales[name], width)
            for name, got in results.items()
        )

    def _backward(
        self, operands: Operands, results: dict[str, np.ndarray], rows: slice
    ) -> tuple[float, dict[str, np.ndarray]]:
        """The worst share, and for dweight and dbias (sum, sum of magnitudes) over these rows."""
        dy = operands.dy[rows]
        z = None if operands.z is None else operands.z[rows]
        given = {"weight": operands.weight, "bias": operands.bias, "z": z}
        reference = oracle.backward(self._op, operands.x[rows], dy, **given)
        statistics = oracle.forward(self._op, operands.x[rows], **given)
        wide = self._common(operands, rows)
        h = np.abs((wide["x"] - statistics.mean) * statistics.rstd)
        du = np.abs(dy.astype(np.float64) * wide["a"])
        g = du * np.abs(wide["w"])
        means = g.mean(axis=1, keepdims=True) + h * (g * h).mean(axis=1, keepdims=True)
        u = h * np.abs(wide["w"]) + np.abs(wide["b"])
        scales = {
            "dx": statistics.rstd * (g + means),
            "dz": np.abs(dy.astype(np.float64) * wide["slope"]) * u,
        }
        share = max(
            compare(name, results[name][rows], getattr(reference, name), scales[name], h.shape[1])
            for name in ("dx", "dz")
            if name in results
        )
        sums = {"dweight": np.stack([reference.dweight, (du * h).sum(axis=0)])}
        if operands.bias is not None:
            sums["dbias"] = np.stack([reference.dbias, du.sum(axis=0)])
        return share, sums
