"""Everything that a call can raise.

NormdError
├── InvalidArgument      a request is wrong; `field` names the part ("x.shape", "op.eps")
├── NotFound             an id that is unknown, expired or someone else's
├── FailedPrecondition   right, but not now: closed client, forked process, wrong device
├── OutOfRange           past the end of something
├── ResourceExhausted    a limit is reached; `retry_after` says when to try again, where that helps
├── DeadlineExceeded     no answer within `timeout` (also a TimeoutError)
├── Cancelled            the call was cancelled
├── Unavailable          no server, or it is draining (also a ConnectionError)
├── Unauthenticated      no valid credentials
├── PermissionDenied     valid credentials, not allowed
├── Unimplemented        the server lacks this, or has it switched off
└── Internal             a fault of the server, or a reply that cannot be read
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "Cancelled",
    "DeadlineExceeded",
    "FailedPrecondition",
    "Internal",
    "InvalidArgument",
    "NormdError",
    "NotFound",
    "OutOfRange",
    "PermissionDenied",
    "ResourceExhausted",
    "Unauthenticated",
    "Unavailable",
    "Unimplemented",
]


class NormdError(Exception):
    """Base of all errors of this package.

    Attributes:
        code: the gRPC status code by name, "INVALID_ARGUMENT".
        field: path of the offending field as the wire names it ("x.shape", "op.eps"), or None.
        description: what is wrong, without the field.
        retry_after: seconds after which the server suggests another try, or None.
    """

    code: ClassVar[str] = "UNKNOWN"

    def __init__(
        self, description: str, *, field: str | None = None, retry_after: float | None = None
    ) -> None:
        self.field = field
        self.description = description
        self.retry_after = retry_after
        super().__init__(f"{field}: {description}" if field else description)

    def __reduce__(self) -> tuple[object, ...]:
        # The default would lose the keyword arguments (multiprocessing pickles exceptions).
        return _rebuild, (type(self), self.description, self.field, self.retry_after)


def _rebuild(
    kind: type[NormdError], description: str, field: str | None, retry_after: float | None
) -> NormdError:
    return kind(description, field=field, retry_after=retry_after)


class InvalidArgument(NormdError):
    """The request is wrong whatever the state of the server."""

    code = "INVALID_ARGUMENT"


class NotFound(NormdError):
    """An id is unknown, expired or someone else's."""

    code = "NOT_FOUND"


class FailedPrecondition(NormdError):
    """The call is right, but not in this state."""

    code = "FAILED_PRECONDITION"


class OutOfRange(NormdError):
    """A value is past the end of what it addresses."""

    code = "OUT_OF_RANGE"


class ResourceExhausted(NormdError):
    """A limit is reached: message size, queue, memory, quota."""

    code = "RESOURCE_EXHAUSTED"


class DeadlineExceeded(NormdError, TimeoutError):
    """No answer within the timeout of the call."""

    code = "DEADLINE_EXCEEDED"


class Cancelled(NormdError):
    """The call was cancelled."""

    code = "CANCELLED"


class Unavailable(NormdError, ConnectionError):
    """The server is not there, or takes no new work. A later try may succeed."""

    code = "UNAVAILABLE"


class Unauthenticated(NormdError):
    """The call has no valid credentials."""

    code = "UNAUTHENTICATED"


class PermissionDenied(NormdError):
    """The credentials are valid and do not allow the call."""

    code = "PERMISSION_DENIED"


class Unimplemented(NormdError):
    """The server lacks the feature, or has it switched off."""

    code = "UNIMPLEMENTED"


class Internal(NormdError):
    """A fault of the server, a reply that cannot be read, or a code without a class here."""

    code = "INTERNAL"
