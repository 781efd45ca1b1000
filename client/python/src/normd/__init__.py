"""Client of normd, a server for LayerNorm and RMSNorm, forward and backward.

    import normd

    with normd.Client("127.0.0.1:50051") as client:
        result = client.rms_norm(x, weight, eps=1e-6)

Errors form one tree under NormdError; `help(normd.NormdError)` and client/README.md show it.
"""

from importlib.metadata import PackageNotFoundError, version

from normd._allocator import tune_allocator
from normd._client import DEFAULT_TIMEOUT, Client
from normd._errors import (
    Cancelled,
    DeadlineExceeded,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    NormdError,
    NotFound,
    OutOfRange,
    PermissionDenied,
    ResourceExhausted,
    Unauthenticated,
    Unavailable,
    Unimplemented,
)
from normd._mock import MockCall, MockTransport
from normd._results import BackwardResult, Execution, ForwardResult, Timings
from normd._transport import Transport

try:
    __version__ = version("normd")
except PackageNotFoundError:  # used from a checkout, by its path
    __version__ = "0+unknown"

__all__ = [
    "DEFAULT_TIMEOUT",
    "BackwardResult",
    "Cancelled",
    "Client",
    "DeadlineExceeded",
    "Execution",
    "FailedPrecondition",
    "ForwardResult",
    "Internal",
    "InvalidArgument",
    "MockCall",
    "MockTransport",
    "NormdError",
    "NotFound",
    "OutOfRange",
    "PermissionDenied",
    "ResourceExhausted",
    "Timings",
    "Transport",
    "Unauthenticated",
    "Unavailable",
    "Unimplemented",
    "__version__",
    "tune_allocator",
]
