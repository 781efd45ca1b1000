"""From numpy arrays to the bytes of a Tensor message and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import numpy.typing as npt

from normd._errors import Internal, InvalidArgument
from normd._results import Array
from normd._stubs.normd.v1 import norm_pb2

# By scalar type, which does not depend on the byte order of an array.
_NUMBERS: dict[type, norm_pb2.DataType] = {
    np.float32: norm_pb2.DATA_TYPE_FLOAT32,
    np.float16: norm_pb2.DATA_TYPE_FLOAT16,
    ml_dtypes.bfloat16: norm_pb2.DATA_TYPE_BFLOAT16,
}
# In the order of the host: little-endian, as the wire, on every platform that grpcio ships for.
_DTYPES: dict[int, np.dtype[Any]] = {number: np.dtype(kind) for kind, number in _NUMBERS.items()}


class Operand(NamedTuple):
    """A tensor on its way to the wire: `payload` holds its elements, row-major."""

    number: norm_pb2.DataType
    shape: tuple[int, ...]
    payload: npt.NDArray[np.uint8]


def data_type(name: str, dtype: npt.DTypeLike) -> norm_pb2.DataType:
    """Returns the DataType of a numpy dtype.

    Raises:
        InvalidArgument: the server has no such dtype; `name` is the field.
    """
    try:
        number = _NUMBERS.get(np.dtype(dtype).type)
    except TypeError:
        number = None
    if number is None:
        raise InvalidArgument(
            f"{dtype} is not supported; float32, float16 and ml_dtypes.bfloat16 are",
            field=f"{name}.dtype",
        )
    return number


def operand(name: str, value: npt.ArrayLike) -> Operand:
    """Returns `value` as an operand.

    Its memory is used as it is when the array is C-contiguous and little-endian, and copied
    otherwise; it is never changed.

    Raises:
        InvalidArgument: `value` is no array of a supported dtype; `name` is the field.
    """
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"is not an array: {error}", field=name) from error
    number = data_type(name, array.dtype)
    contiguous = np.asarray(array, dtype=_DTYPES[number], order="C")
    return Operand(number, array.shape, contiguous.reshape(-1).view(np.uint8))


def array_from(message: bytes, number: int, shape: tuple[int, ...], start: int, end: int) -> Array:
    """Returns message[start:end] as a read-only array, without a copy where it is aligned.

    Raises:
        Internal: dtype, shape and number of bytes do not fit together.
    """
    dtype = _DTYPES.get(number)
    count = 1
    for dimension in shape:
        count *= dimension
    if dtype is None or min(shape, default=1) < 0 or count * dtype.itemsize != end - start:
        raise Internal(
            f"the reply has a tensor of dtype {number}, shape {list(shape)} and {end - start} bytes"
        )
    if count == 0:
        array: Array = np.empty(shape, dtype)
    else:
        array = np.frombuffer(message, dtype, count, start).reshape(shape)
        if not array.flags.aligned:
            # Numpy itself could live with it; code that is handed the pointer cannot.
            array = array.copy()
    array.flags.writeable = False
    return array
