"""Requests of the cases by bare gRPC: arrays to messages and back, and what a refusal says."""

from __future__ import annotations

from typing import Any

import grpc
import ml_dtypes
import numpy as np
from cases import Case
from google.rpc import error_details_pb2, status_pb2
from normd._stubs.normd.v1 import norm_pb2 as pb

_NUMBERS = {"float32": 1, "float16": 2, "bfloat16": 3}
_DTYPES = {1: np.float32, 2: np.float16, 3: ml_dtypes.bfloat16}
_UNLIMITED = [(f"grpc.max_{way}_message_length", -1) for way in ("send", "receive")]

Request = pb.ForwardRequest | pb.BackwardRequest


def connect(address: str) -> grpc.Channel:
    return grpc.insecure_channel(address, options=[*_UNLIMITED, ("grpc.enable_http_proxy", 0)])


def tensor(array: np.ndarray, shape: tuple[int, ...] | None = None) -> pb.Tensor:
    return pb.Tensor(
        dtype=_NUMBERS[array.dtype.name],
        shape=array.shape if shape is None else shape,
        inline=array.tobytes(),
    )


def _array(message: pb.Tensor) -> np.ndarray:
    return np.frombuffer(message.inline, _DTYPES[message.dtype]).reshape(tuple(message.shape))


def outputs_of(case: Case) -> list[str]:
    """All that the op can give."""
    if not case.backward:
        return ["y", "rstd", *(["mean"] if case.layer_norm else [])]
    optional = {"z": "dz", "weight": "dweight", "bias": "dbias"}
    return ["dx", *(output for name, output in optional.items() if name in case.recipes)]


def request_of(
    case: Case, arrays: dict[str, np.ndarray], wanted: list[str] | None = None
) -> Request:
    op = pb.NormOp(
        kind=pb.NORM_KIND_LAYER_NORM if case.layer_norm else pb.NORM_KIND_RMS_NORM,
        eps=case.params["eps"],
        group_size=case.params.get("group_size", 0),
    )
    if case.gated:
        op.gate_activation = pb.GATE_ACTIVATION_SILU
        after = case.params["norm_before_gate"]
        op.gate_order = pb.GATE_ORDER_NORM_THEN_GATE if after else pb.GATE_ORDER_GATE_THEN_NORM
    make: Any = pb.BackwardRequest if case.backward else pb.ForwardRequest
    request: Request = make(op=op, **{name: tensor(array) for name, array in arrays.items()})
    for name in outputs_of(case) if wanted is None else wanted:
        getattr(request, name).inline.SetInParent()
    return request


def call(channel: grpc.Channel, request: Request) -> dict[str, np.ndarray]:
    """The outputs that the reply has, as [rows, cols], [rows, groups] or [cols]."""
    backward = isinstance(request, pb.BackwardRequest)
    response = pb.BackwardResponse if backward else pb.ForwardResponse
    method = channel.unary_unary(
        f"/normd.v1.NormService/{'Backward' if backward else 'Forward'}",
        request_serializer=type(request).SerializeToString,
        response_deserializer=response.FromString,
    )
    reply = method(request, timeout=120)
    outputs = {
        field.name: _array(value)
        for field, value in reply.ListFields()
        if field.message_type.name == "Tensor"
    }
    return {
        name: array.reshape(-1, array.shape[-1]) if array.ndim > 2 else array
        for name, array in outputs.items()
    }


def refusal(channel: grpc.Channel, request: Request) -> tuple[str, str]:
    """Code and first field of a call that must fail."""
    try:
        call(channel, request)
    except grpc.RpcError as error:
        for key, value in error.trailing_metadata() or ():
            if key != "grpc-status-details-bin":
                continue
            for detail in status_pb2.Status.FromString(value).details:
                bad = error_details_pb2.BadRequest()
                if detail.Unpack(bad):
                    return error.code().name, bad.field_violations[0].field
        return error.code().name, ""
    return "OK", ""
