"""Random operands, made at the speed of a copy."""

from __future__ import annotations

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT16 = np.dtype(np.float16)

# (bits kept of 16 random ones, bits set): sign and mantissa are random, and so are the low bits of
# the exponent, so that magnitudes spread evenly in their logarithm.
_PATTERNS = {
    BFLOAT16: (0x83FF, 0x3C00),  # 2^-7 to 2^1
    FLOAT16: (0x8FFF, 0x3000),  # 2^-3 to 2^1
}


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Values of both signs; any row has a spread far above zero."""
    kept, given = _PATTERNS[dtype]
    bits = np.frombuffer(rng.bytes(2 * int(np.prod(shape))), np.uint16)
    return ((bits & np.uint16(kept)) | np.uint16(given)).view(dtype).reshape(shape)
