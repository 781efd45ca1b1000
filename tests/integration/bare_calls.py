"""Calls written as bytes: the standard gRPC services without their packages, and a slow reader."""

from __future__ import annotations

import socket
import struct

import grpc

UNKNOWN, SERVING, NOT_SERVING = 0, 1, 2

# The address is the server's own: a proxy of the environment would only be in the way. A connection
# that a server has closed must not be found again by the next channel.
OPTIONS = [("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1)]


def channel(address: str, *options: tuple[str, int]) -> grpc.Channel:
    return grpc.insecure_channel(address, options=[*OPTIONS, *options])


def _health_request(service: str) -> bytes:
    name = service.encode()
    return b"\x0a" + bytes([len(name)]) + name if name else b""


def _health_status(response: bytes) -> int:
    return response[1] if response[:1] == b"\x08" else UNKNOWN


def check(address: str, service: str = "", timeout: float = 10.0) -> int:
    """grpc.health.v1.Health/Check: UNKNOWN, SERVING or NOT_SERVING."""
    with channel(address) as open_channel:
        call = open_channel.unary_unary(
            "/grpc.health.v1.Health/Check", _health_request, _health_status
        )
        return call(service, timeout=timeout)


def watch(open_channel: grpc.Channel, service: str, timeout: float = 60.0) -> grpc.Call:
    """grpc.health.v1.Health/Watch: an iterator of statuses."""
    return open_channel.unary_stream(
        "/grpc.health.v1.Health/Watch", _health_request, _health_status
    )(service, timeout=timeout)


def reflected_services(address: str) -> set[str]:
    """Names that the reflection service lists."""
    with channel(address) as open_channel:
        call = open_channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
        )
        responses = call(iter([b"\x3a\x00"]), timeout=10)
        response = next(iter(responses))
    known = ["NormService", "AdminService"]
    return {name for name in known if f"normd.v1.{name}".encode() in response}


class SlowReader:
    """A unary call by hand over HTTP/2 whose client takes no byte of the reply until read()."""

    _DATA, _HEADERS, _SETTINGS, _WINDOW_UPDATE = 0, 1, 4, 8
    _INITIAL_WINDOW_SIZE = 4
    _END_STREAM, _END_HEADERS = 1, 4

    def __init__(self, address: str, path: str, request: bytes) -> None:
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout=60)
        headers = {
            ":method": "POST",
            ":scheme": "http",
            ":path": path,
            ":authority": address,
            "content-type": "application/grpc",
            "te": "trailers",
        }
        self._socket.sendall(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
            + self._frame(self._SETTINGS, 0, 0, struct.pack(">HI", self._INITIAL_WINDOW_SIZE, 0))
            + self._frame(
                self._HEADERS,
                self._END_HEADERS,
                1,
                b"".join(self._literal(name, value) for name, value in headers.items()),
            )
            + self._frame(
                self._DATA, self._END_STREAM, 1, struct.pack(">BI", 0, len(request)) + request
            )
        )

    @staticmethod
    def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
        assert len(payload) <= 16384, "one frame"
        return (
            struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload
        )

    @staticmethod
    def _literal(name: str, value: str) -> bytes:
        """HPACK: a header field that is not indexed, in plain text."""
        return b"\x00" + b"".join(bytes([len(part)]) + part.encode() for part in (name, value))

    def _read_exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            chunk = self._socket.recv(count - len(data))
            assert chunk, "the server closed the connection"
            data += chunk
        return data

    def read(self) -> bytes:
        """Opens the window and returns the message."""
        window = struct.pack(">I", 1 << 20)
        self._socket.sendall(self._frame(self._WINDOW_UPDATE, 0, 1, window))
        message = b""
        while len(message) < 5 or len(message) < 5 + struct.unpack(">I", message[1:5])[0]:
            length, kind, _, _ = struct.unpack(">IBBI", b"\x00" + self._read_exactly(9))
            payload = self._read_exactly(length)
            if kind == self._DATA:
                message += payload
        return message[5:]

    def __enter__(self) -> SlowReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
