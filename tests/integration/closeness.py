"""How near a result must be to float64: one rounding of its dtype, fp32 arithmetic before it."""

from __future__ import annotations

import ml_dtypes
import numpy as np

# Half the distance between neighbours, relative.
_ROUNDING = {
    np.float32: 2.0**-24,
    np.float16: 2.0**-11,
    ml_dtypes.bfloat16: 2.0**-8,
}
# Of the largest value in sight: some ten roundings of fp32.
_ARITHMETIC = 1e-6


def assert_close(got: np.ndarray, right: np.ndarray, dtype: np.dtype | type) -> None:
    """`right` is float64 and not rounded; `dtype` is what `got` must have."""
    assert got.dtype == dtype
    assert got.shape == right.shape
    if right.size == 0:
        return
    allowed = _ROUNDING[np.dtype(dtype).type] * np.abs(right)
    allowed += _ARITHMETIC * max(1.0, float(np.abs(right).max()))
    excess = np.abs(got.astype(np.float64) - right) - allowed
    worst = np.unravel_index(excess.argmax(), excess.shape)
    assert excess[worst] <= 0, f"{worst}: {got[worst]}, right is {right[worst]}"
