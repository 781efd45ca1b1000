"""The two messages of a call, written and read around their payloads.

A generated class would copy every tensor into the message, then the message into bytes, and the
other way round on the reply. Here the small fields go through the generated classes and the
payloads are appended: one copy on the way out, none on the way in. The result is an ordinary
serialised message of norm.proto.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError, Message

from normd._arrays import Operand, array_from
from normd._errors import Internal, ResourceExhausted
from normd._results import Array
from normd._stubs.normd.v1 import norm_pb2

# Protobuf's limit for one message.
MAX_MESSAGE_BYTES = 2**31 - 1

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_VARINT_BYTES = 10
_TENSOR = norm_pb2.Tensor.DESCRIPTOR.fields_by_name
_DTYPE_FIELD = _TENSOR["dtype"].number
_SHAPE_FIELD = _TENSOR["shape"].number
_INLINE_FIELD = _TENSOR["inline"].number


@dataclass(frozen=True, slots=True)
class Method:
    """One rpc of NormService: its path and its generated classes."""

    name: str
    request: type[Any]
    response: type[Any]

    @property
    def path(self) -> str:
        """The path that gRPC calls."""
        return f"/normd.v1.NormService/{self.name}"


FORWARD = Method("Forward", norm_pb2.ForwardRequest, norm_pb2.ForwardResponse)
BACKWARD = Method("Backward", norm_pb2.BackwardRequest, norm_pb2.BackwardResponse)


def encode(message: Message, operands: Mapping[str, Operand]) -> bytes:
    """Returns `message` serialised, with `operands` as its Tensor fields of those names.

    Raises:
        ResourceExhausted: the message would pass 2 GiB.
    """
    parts: list[Any] = [message.SerializeToString()]
    size = len(parts[0])
    for name, operand in operands.items():
        tensor = norm_pb2.Tensor(dtype=operand.number, shape=operand.shape).SerializeToString()
        payload_bytes = operand.payload.nbytes
        # Written for an empty payload, too: it says that the tensor is inline.
        tensor += _varint(_INLINE_FIELD << 3 | _LENGTH) + _varint(payload_bytes)
        number = message.DESCRIPTOR.fields_by_name[name].number
        key = _varint(number << 3 | _LENGTH) + _varint(len(tensor) + payload_bytes)
        parts += (key, tensor, operand.payload)
        size += len(key) + len(tensor) + payload_bytes
    if size > MAX_MESSAGE_BYTES:
        raise ResourceExhausted(
            f"the request is {size} bytes, a message holds at most {MAX_MESSAGE_BYTES}"
        )
    return b"".join(parts)


def decode(cls: type[Any], data: bytes) -> tuple[Any, dict[str, Array]]:
    """Returns a message of `cls` without its Tensor fields, and those as arrays by name.

    The arrays are views of `data` where they are aligned.

    Raises:
        Internal: `data` is no such message.
    """
    names = {
        field.number: field.name
        for field in cls.DESCRIPTOR.fields
        if field.message_type is norm_pb2.Tensor.DESCRIPTOR
    }
    rest = bytearray()
    arrays: dict[str, Array] = {}
    position = 0
    try:
        for number, kind, start, end in _fields(data, 0, len(data)):
            if kind == _LENGTH and number in names:
                arrays[names[number]] = _tensor(data, start, end)
            else:
                rest += memoryview(data)[position:end]
            position = end
        return cls.FromString(bytes(rest)), arrays
    except (DecodeError, ValueError) as error:
        raise Internal(f"a {cls.DESCRIPTOR.name} cannot be read: {error}") from error


def _tensor(data: bytes, start: int, end: int) -> Array:
    number, shape, payload = 0, [], (start, start)
    for field, kind, at, to in _fields(data, start, end):
        if field == _DTYPE_FIELD and kind == _VARINT:
            number = _read_varint(data, at, to)[0]
        elif field == _SHAPE_FIELD and kind == _VARINT:
            shape.append(_read_varint(data, at, to)[0])
        elif field == _SHAPE_FIELD and kind == _LENGTH:
            packed = at
            while packed < to:
                dimension, packed = _read_varint(data, packed, to)
                shape.append(dimension)
        elif field == _INLINE_FIELD and kind == _LENGTH:
            payload = (at, to)
    return array_from(data, number, tuple(shape), *payload)


def _fields(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yields (field number, wire type, start, end of the value) of every field.

    The value ends where the next field starts.
    """
    at = start
    while at < end:
        key, at = _read_varint(data, at, end)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            to = _read_varint(data, at, end)[1]
        elif kind == _LENGTH:
            length, at = _read_varint(data, at, end)
            to = at + length
        elif kind in (_FIXED32, _FIXED64):
            to = at + (4 if kind == _FIXED32 else 8)
        else:
            raise ValueError(f"wire type {kind}")
        if to > end or number == 0:
            raise ValueError("a field passes the end")
        yield number, kind, at, to
        at = to


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Returns the value and the position after it."""
    value = 0
    for index in range(min(_VARINT_BYTES, end - at)):
        byte = data[at + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, at + index + 1
    raise ValueError("a number has no end")
