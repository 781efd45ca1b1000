"""A transport without a server, for tests of code that uses normd."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from normd._errors import Unimplemented
from normd._request import operands
from normd._results import Array
from normd._transport import Metadata
from normd._wire import BACKWARD, FORWARD, decode, encode


@dataclass(frozen=True, slots=True, eq=False)
class MockCall:
    """What a MockTransport was asked."""

    method: str
    """"Forward" or "Backward"."""
    op: Any
    """The NormOp message of norm.proto: `call.op.eps`, `call.op.group_size`."""
    tensors: dict[str, Array]
    """The operands by their wire names: "x", "weight"."""
    outputs: tuple[str, ...]
    """The outputs wanted: "y", "dx"."""
    timeout: float
    """Seconds."""
    metadata: dict[str, str | bytes]


class MockTransport:
    """Answers every call by a function instead of a server.

        def handler(call: normd.MockCall) -> dict[str, np.ndarray]:
            return {name: call.tensors["x"] for name in call.outputs}

        client = normd.Client(transport=normd.MockTransport(handler))

    The handler returns the outputs by name, or raises a NormdError. Requests and replies go through
    the same bytes as with a server. `calls` keeps what was asked, in order.
    """

    def __init__(self, handler: Callable[[MockCall], Mapping[str, npt.ArrayLike]]) -> None:
        self.calls: list[MockCall] = []
        self.closed = False
        self._handler = handler

    def call(self, path: str, request: bytes, *, timeout: float, metadata: Metadata) -> bytes:
        """See Transport."""
        for method in (FORWARD, BACKWARD):
            if method.path == path:
                break
        else:
            raise Unimplemented(path)
        message, tensors = decode(method.request, request)
        names = set(method.response.DESCRIPTOR.fields_by_name) - {"execution"}
        wanted = tuple(field.name for field, _ in message.ListFields() if field.name in names)
        call = MockCall(method.name, message.op, tensors, wanted, timeout, dict(metadata))
        self.calls.append(call)
        outputs = self._handler(call)
        if set(outputs) != set(wanted):
            raise ValueError(f"the handler returned {sorted(outputs)}, not {sorted(wanted)}")
        response = method.response()
        response.execution.device = "mock"
        return encode(response, operands(outputs))

    def close(self) -> None:
        """See Transport."""
        self.closed = True
