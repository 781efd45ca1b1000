"""Calls to the standard gRPC services, written as bytes: no package of theirs is needed."""

from __future__ import annotations

import grpc

UNKNOWN, SERVING, NOT_SERVING = 0, 1, 2

# The address is the server's own: a proxy of the environment would only be in the way.
OPTIONS = [("grpc.enable_http_proxy", 0)]


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
