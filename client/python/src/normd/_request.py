"""From the arguments of a call to its request message."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeAlias

import numpy.typing as npt

from normd._arrays import Operand, data_type, operand
from normd._errors import InvalidArgument
from normd._stubs.normd.v1 import norm_pb2

Activation: TypeAlias = Literal["silu", "sigmoid"]
GateOrder: TypeAlias = Literal["norm_then_gate", "gate_then_norm"]
Path: TypeAlias = Literal["auto", "row_tiled", "single_row"]
Gradient: TypeAlias = Literal["dx", "dz", "dweight", "dbias", "dresidual"]

_ACTIVATIONS: dict[str | None, Any] = {
    None: norm_pb2.GATE_ACTIVATION_UNSPECIFIED,
    "silu": norm_pb2.GATE_ACTIVATION_SILU,
    "sigmoid": norm_pb2.GATE_ACTIVATION_SIGMOID,
}
_ORDERS: dict[str | None, Any] = {
    None: norm_pb2.GATE_ORDER_UNSPECIFIED,
    "norm_then_gate": norm_pb2.GATE_ORDER_NORM_THEN_GATE,
    "gate_then_norm": norm_pb2.GATE_ORDER_GATE_THEN_NORM,
}
_PATHS: dict[str | None, Any] = {
    "auto": norm_pb2.KERNEL_PATH_AUTO,
    "row_tiled": norm_pb2.KERNEL_PATH_ROW_TILED,
    "single_row": norm_pb2.KERNEL_PATH_SINGLE_ROW,
}
_GRADIENTS = ("dx", "dz", "dweight", "dbias", "dresidual")


def norm_op(
    kind: norm_pb2.NormKind,
    *,
    eps: float | None,
    group_size: int,
    activation: str | None,
    gate_order: str | None,
    weight_offset: float,
    round_before_weight: bool,
    path: str,
) -> norm_pb2.NormOp:
    """Returns the NormOp of a call. The values are the server's to judge.

    Raises:
        InvalidArgument: a value that the message cannot hold.
    """
    op = norm_pb2.NormOp(
        kind=kind,
        gate_activation=_choice("op.gate_activation", _ACTIVATIONS, activation),
        gate_order=_choice("op.gate_order", _ORDERS, gate_order),
        round_before_weight=bool(round_before_weight),
        path=_choice("op.path", _PATHS, path),
    )
    numbers = {"eps": eps, "group_size": group_size, "weight_offset": weight_offset}
    for name, value in numbers.items():
        if value is None:
            continue
        try:
            setattr(op, name, value)
        except (TypeError, ValueError) as error:
            raise InvalidArgument(f"{value!r}: {error}", field=f"op.{name}") from error
    return op


def operands(values: Mapping[str, npt.ArrayLike | None]) -> dict[str, Operand]:
    """Returns the operands that were given.

    Raises:
        InvalidArgument: one is no array of a supported dtype.
    """
    return {name: operand(name, value) for name, value in values.items() if value is not None}


def forward_request(
    op: norm_pb2.NormOp, given: Collection[str], *, statistics: bool
) -> norm_pb2.ForwardRequest:
    """Returns the request without its operands, of which `given` are the names."""
    request = norm_pb2.ForwardRequest(op=op)
    request.y.inline.SetInParent()
    if statistics:
        request.rstd.inline.SetInParent()
        if op.kind == norm_pb2.NORM_KIND_LAYER_NORM:
            request.mean.inline.SetInParent()
    if "residual" in given:
        request.residual_out.inline.SetInParent()
    return request


def backward_request(
    op: norm_pb2.NormOp,
    given: Collection[str],
    *,
    gradients: Collection[str] | None,
    parameter_gradient_dtype: npt.DTypeLike | None,
) -> norm_pb2.BackwardRequest:
    """Returns the request without its operands, of which `given` are the names.

    Raises:
        InvalidArgument: a name in `gradients` is none, or the dtype is not supported.
    """
    if gradients is None:
        sources = {"dx": "x", "dz": "z", "dweight": "weight", "dbias": "bias"}
        gradients = [name for name, source in sources.items() if source in given]
    request = norm_pb2.BackwardRequest(op=op)
    for name in gradients:
        if name not in _GRADIENTS:
            raise InvalidArgument(f"{name!r} is not one of {_GRADIENTS}", field="gradients")
        output = getattr(request, name)
        output.inline.SetInParent()
        if name in ("dweight", "dbias") and parameter_gradient_dtype is not None:
            output.dtype = data_type(name, parameter_gradient_dtype)
    return request


def _choice(field: str, choices: Mapping[str | None, Any], value: str | None) -> Any:
    try:
        return choices[value]
    except (KeyError, TypeError):
        names = ", ".join(repr(name) for name in choices if name is not None)
        raise InvalidArgument(f"{value!r} is not one of {names}", field=field) from None
