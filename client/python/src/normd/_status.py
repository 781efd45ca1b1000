"""From a failed gRPC call to an exception of this package."""

from __future__ import annotations

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from normd import _errors
from normd._errors import Internal, NormdError

# Where gRPC's rich error model puts a serialised google.rpc.Status.
_DETAILS_KEY = "grpc-status-details-bin"

_CLASSES: dict[str, type[NormdError]] = {
    cls.code: cls
    for cls in (getattr(_errors, name) for name in _errors.__all__)
    if cls is not NormdError
}


def error_from_call(call: grpc.RpcError) -> NormdError:
    """Returns the exception for a call that gRPC ended with an error.

    Args:
        call: what grpc raised; it is a grpc.Call, too.
    """
    code: str = call.code().name
    text: str = call.details() or ""
    field, description, retry_after = _details(call.trailing_metadata() or ())
    cls = _CLASSES.get(code)
    if cls is None:
        return Internal(f"{code}: {text}")
    if field is not None:
        return cls(description, field=field, retry_after=retry_after)
    return cls(text, retry_after=retry_after)


def _details(
    metadata: tuple[tuple[str, str | bytes], ...],
) -> tuple[str | None, str, float | None]:
    """Returns the first field violation (field, description) and the retry delay in seconds."""
    field, description, retry_after = None, "", None
    for key, value in metadata:
        if key != _DETAILS_KEY:
            continue
        try:
            status = status_pb2.Status.FromString(value)
        except DecodeError:
            continue  # a proxy's own idea of details; code and text still say what happened
        for detail in status.details:
            bad, retry = error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
            if detail.Unpack(bad) and bad.field_violations and field is None:
                field = bad.field_violations[0].field
                description = bad.field_violations[0].description
            elif detail.Unpack(retry):
                retry_after = retry.retry_delay.seconds + retry.retry_delay.nanos * 1e-9
    return field, description, retry_after
