"""What calls return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
FloatArray: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Timings:
    """Where the time of one op went inside the server, in nanoseconds."""

    decode_ns: int
    queue_ns: int
    kernel_ns: int
    """From the launch to the completion of the batch that the op ran in."""
    encode_ns: int
    total_ns: int
    """From the arrival of the request to the moment the reply was handed to the transport."""


@dataclass(frozen=True, slots=True)
class Execution:
    """How the server ran an op."""

    timings: Timings
    batch_rows: int
    """Rows of the batch that the op ran in."""
    batch_requests: int
    device: str
    """"cpu", "cuda:0"."""
    kernel: str
    """Name of the kernel that ran."""


@dataclass(frozen=True, slots=True, eq=False)
class ForwardResult:
    """Outputs of a forward op. The arrays are read-only (copy them to write)."""

    y: Array
    """Shape and dtype of x."""
    execution: Execution
    mean: FloatArray | None = None
    """float32 [rows, groups]; LayerNorm with return_statistics=True."""
    rstd: FloatArray | None = None
    """float32 [rows, groups]; with return_statistics=True."""
    residual_out: Array | None = None
    """x + residual in the dtype of x; when a residual was given."""


@dataclass(frozen=True, slots=True, eq=False)
class BackwardResult:
    """The gradients that were asked for. The arrays are read-only (copy them to write)."""

    execution: Execution
    dx: Array | None = None
    """Shape and dtype of x."""
    dz: Array | None = None
    """Shape and dtype of z."""
    dweight: Array | None = None
    """[width]; the dtype of weight, or parameter_gradient_dtype."""
    dbias: Array | None = None
    """[width]; the dtype of bias, or parameter_gradient_dtype."""
    dresidual: Array | None = None
    """Shape and dtype of x; the same values as dx."""
