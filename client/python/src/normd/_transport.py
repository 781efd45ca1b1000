"""How request bytes become reply bytes: the seam under the client."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import grpc

from normd._errors import FailedPrecondition, InvalidArgument
from normd._status import error_from_call
from normd._wire import MAX_MESSAGE_BYTES

Metadata: TypeAlias = Sequence[tuple[str, str | bytes]]


class Transport(Protocol):
    """Sends one request and waits for its reply. Implementations are thread-safe.

    `Client(transport=...)` takes any object with these methods; MockTransport is one for tests.
    """

    def call(self, path: str, request: bytes, *, timeout: float, metadata: Metadata) -> bytes:
        """Returns the reply of an rpc.

        Args:
            path: "/normd.v1.NormService/Forward".
            request: a serialised message.
            timeout: seconds.
            metadata: keys (lower case) and values to send along.

        Raises:
            NormdError: the subclass that fits.
        """

    def close(self) -> None:
        """Ends the connection. Can be called again."""


# TCP on this host is not the business of an HTTP proxy.
_LOOPBACK = ("localhost:", "127.", "[::1]:", "ipv4:127.", "ipv6:[::1]", "unix:", "unix-abstract:")

_OPTIONS = (
    # The server has the limit that counts; gRPC's own for receiving is 4 MiB.
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    # gRPC's default lets a client stay away for two minutes after its server came back.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
)


_METADATA_KEY = re.compile(r"[0-9a-z_.-]+")
_METADATA_TEXT = re.compile(r"[ -~]*")


def check_metadata(metadata: Metadata) -> None:
    """Finds what gRPC would report as an internal error, or not at all.

    Raises:
        InvalidArgument: a key or value that HTTP/2 cannot carry.
    """
    for key, value in metadata:
        if not isinstance(key, str) or not _METADATA_KEY.fullmatch(key):
            raise InvalidArgument(f"{key!r} is not a key of 0-9 a-z _ . -", field="metadata")
        if key.endswith("-bin"):
            legal = isinstance(value, bytes)
        else:
            legal = isinstance(value, str) and _METADATA_TEXT.fullmatch(value) is not None
        if not legal:
            # The value may be a secret.
            raise InvalidArgument(
                f"{key!r} has a value that is not printable ASCII, or bytes for a key with -bin",
                field="metadata",
            )


class _ForkGuard:
    """Knows whether this process is a fork of one that had used gRPC.

    gRPC's threads do not survive a fork; calls in the child fail or hang, those on a new channel as
    well, unless gRPC's own fork support was on when the parent imported grpc.
    """

    def __init__(self) -> None:
        self._used = False
        self._broken = False
        os.register_at_fork(after_in_child=self._forked)

    def mark_used(self) -> None:
        self._used = True

    def check(self) -> None:
        if self._broken:
            raise FailedPrecondition(
                "this process was forked after normd had opened a connection, which gRPC does not "
                'survive; start it by "spawn" or "forkserver", or set GRPC_ENABLE_FORK_SUPPORT=1 '
                "before the parent starts and make the Client in the child"
            )

    def _forked(self) -> None:
        supported = os.environ.get("GRPC_ENABLE_FORK_SUPPORT", "").lower() in ("1", "true", "yes")
        self._broken = self._broken or (self._used and not supported)


_fork_guard = _ForkGuard()


class GrpcTransport:
    """A gRPC channel to one server; the transport of every Client that is given none."""

    def __init__(self, target: str, options: Sequence[tuple[str, Any]] = ()) -> None:
        if not target:
            raise InvalidArgument("is empty; host:port or unix:/path", field="target")
        _fork_guard.check()
        _fork_guard.mark_used()
        local = (("grpc.enable_http_proxy", 0),) if target.startswith(_LOOPBACK) else ()
        self._channel = grpc.insecure_channel(target, options=[*_OPTIONS, *local, *options])
        self._methods: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._pid = os.getpid()

    def call(self, path: str, request: bytes, *, timeout: float, metadata: Metadata) -> bytes:
        """See Transport."""
        _fork_guard.check()
        if self._pid != os.getpid():
            raise FailedPrecondition("this Client was made before a fork; make one in the child")
        try:
            reply: bytes = self._method(path)(request, timeout=timeout, metadata=metadata)
        except grpc.RpcError as error:
            raise error_from_call(error) from None
        return reply

    def close(self) -> None:
        """See Transport."""
        with self._lock:
            self._closed = True
            self._methods.clear()
        if self._pid == os.getpid():
            self._channel.close()

    def _method(self, path: str) -> Any:
        with self._lock:
            if self._closed:
                raise FailedPrecondition("the client is closed")
            method = self._methods.get(path)
            if method is None:
                # No serialisers: bytes go out and come in as they are.
                method = self._methods[path] = self._channel.unary_unary(path)
            return method
