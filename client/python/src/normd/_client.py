"""The client."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from types import TracebackType
from typing import Any, Self

import numpy.typing as npt

from normd._allocator import tune_allocator as tune
from normd._errors import Internal, InvalidArgument
from normd._request import (
    Activation,
    GateOrder,
    Gradient,
    Path,
    backward_request,
    forward_request,
    norm_op,
    operands,
)
from normd._results import Array, BackwardResult, Execution, ForwardResult, Timings
from normd._stubs.normd.v1 import norm_pb2
from normd._transport import GrpcTransport, Metadata, Transport, check_metadata
from normd._wire import BACKWARD, FORWARD, Method, decode, encode

DEFAULT_TIMEOUT = 30.0
_MAX_TIMEOUT = 1e9  # seconds; gRPC's clock overflows not far beyond


class Client:
    """Calls one normd server. Thread-safe; use it as a context manager, or call `close()`.

        with normd.Client("127.0.0.1:50051") as client:
            y = client.layer_norm(x, weight, bias, eps=1e-5).y

    Arrays: anything numpy can read, of float32, float16 or `ml_dtypes.bfloat16`, any rank from 1,
    any strides and byte order; each operand may have another dtype unless its line says otherwise.
    The last dimension is the width, the others are rows. Inputs are never changed. An array that is
    C-contiguous and little-endian is copied once, into the request. Results are read-only views of
    the reply.

    Errors: every call raises the NormdError subclass that fits. `InvalidArgument.field` names the
    part of the request as the wire does: "x.shape", "op.eps".

    Processes: gRPC does not survive a fork. In a forked child a Client made before the fork raises
    FailedPrecondition, and so does making one, unless GRPC_ENABLE_FORK_SUPPORT=1 was set when the
    parent started. Prefer multiprocessing's "spawn".

    Args:
        target: "host:port" or "unix:/path". Connects on the first call.
        timeout: seconds that a call may take unless it says otherwise.
        metadata: sent with every call: (key, value) pairs with lower-case keys, or a function that
            is asked for them before each call (tokens, trace context).
        options: gRPC channel arguments, added to the defaults.
        transport: instead of `target`: what carries the bytes. See Transport and MockTransport.
        tune_allocator: see `normd.tune_allocator`, which is called unless this is False. A client
            with a transport of its own never calls it.
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        metadata: Metadata | Callable[[], Metadata] = (),
        options: Sequence[tuple[str, Any]] = (),
        transport: Transport | None = None,
        tune_allocator: bool = True,
    ) -> None:
        if (target is None) == (transport is None):
            raise InvalidArgument("give either target or transport", field="target")
        self._timeout = _checked_timeout(timeout)
        self._metadata = metadata
        if transport is None:
            if tune_allocator:
                tune()
            transport = GrpcTransport(target or "", options)
        self._transport = transport

    def layer_norm(
        self,
        x: npt.ArrayLike,
        weight: npt.ArrayLike | None = None,
        bias: npt.ArrayLike | None = None,
        *,
        eps: float,
        z: npt.ArrayLike | None = None,
        activation: Activation | None = None,
        gate_order: GateOrder | None = None,
        group_size: int = 0,
        residual: npt.ArrayLike | None = None,
        weight_offset: float = 0.0,
        round_before_weight: bool = False,
        return_statistics: bool = False,
        path: Path = "auto",
        timeout: float | None = None,
    ) -> ForwardResult:
        """LayerNorm of each row (or group of columns) of x.

        With t = x, or x + residual, or x * a(z) for "gate_then_norm":

            y = (t - mean(t)) / sqrt(var(t) + eps) * (weight + weight_offset) + bias

        times a(z) for "norm_then_gate". The variance is the biased one. Sums are float32 or better.

        Args:
            x: [..., width].
            weight: [width]; factor 1 when absent.
            bias: [width]; 0 when absent.
            eps: finite, >= 0.
            z: the gate, of x's shape. Needs `activation` and `gate_order`.
            activation: a(z): "silu" is z * sigmoid(z), "sigmoid" is sigmoid(z).
            gate_order: "norm_then_gate" or "gate_then_norm".
            group_size: columns a group, each with statistics of its own; divides the width. 0: all.
            residual: x's shape and dtype, added before the norm. Not with "gate_then_norm".
            weight_offset: added to the weight in float32: 1 for weights stored as w - 1.
            round_before_weight: round the normalised value to x's dtype before the weight.
            return_statistics: return mean and rstd, which spare backward their computation.
            path: kernel family, to compare them: "auto", "row_tiled", "single_row".
            timeout: seconds for this call; the client's when None.

        Returns:
            y; mean and rstd and residual_out when asked for; how it ran.

        Raises:
            InvalidArgument: an argument is wrong; `field` names it.
            NormdError: any other subclass, as its description says.
        """
        return self._forward(
            norm_op(
                norm_pb2.NORM_KIND_LAYER_NORM,
                eps=eps,
                group_size=group_size,
                activation=activation,
                gate_order=gate_order,
                weight_offset=weight_offset,
                round_before_weight=round_before_weight,
                path=path,
            ),
            {"x": x, "z": z, "weight": weight, "bias": bias, "residual": residual},
            return_statistics,
            timeout,
        )

    def rms_norm(
        self,
        x: npt.ArrayLike,
        weight: npt.ArrayLike | None = None,
        bias: npt.ArrayLike | None = None,
        *,
        eps: float,
        z: npt.ArrayLike | None = None,
        activation: Activation | None = None,
        gate_order: GateOrder | None = None,
        group_size: int = 0,
        residual: npt.ArrayLike | None = None,
        weight_offset: float = 0.0,
        round_before_weight: bool = False,
        return_statistics: bool = False,
        path: Path = "auto",
        timeout: float | None = None,
    ) -> ForwardResult:
        """RMSNorm of each row (or group of columns) of x.

        With t as in `layer_norm`, whose arguments and errors this has:

            y = t / sqrt(mean(t^2) + eps) * (weight + weight_offset) + bias

        times a(z) for "norm_then_gate". With return_statistics the result has rstd and no mean.
        """
        return self._forward(
            norm_op(
                norm_pb2.NORM_KIND_RMS_NORM,
                eps=eps,
                group_size=group_size,
                activation=activation,
                gate_order=gate_order,
                weight_offset=weight_offset,
                round_before_weight=round_before_weight,
                path=path,
            ),
            {"x": x, "z": z, "weight": weight, "bias": bias, "residual": residual},
            return_statistics,
            timeout,
        )

    def layer_norm_backward(
        self,
        dy: npt.ArrayLike,
        x: npt.ArrayLike,
        weight: npt.ArrayLike | None = None,
        bias: npt.ArrayLike | None = None,
        *,
        eps: float,
        z: npt.ArrayLike | None = None,
        activation: Activation | None = None,
        gate_order: GateOrder | None = None,
        group_size: int = 0,
        mean: npt.ArrayLike | None = None,
        rstd: npt.ArrayLike | None = None,
        dresidual_out: npt.ArrayLike | None = None,
        weight_offset: float = 0.0,
        round_before_weight: bool = False,
        gradients: Collection[Gradient] | None = None,
        parameter_gradient_dtype: npt.DTypeLike | None = None,
        path: Path = "auto",
        timeout: float | None = None,
    ) -> BackwardResult:
        """The gradients of `layer_norm`.

        Without a gate, h being the normalised x:

            g  = dy * (weight + weight_offset)
            dx = rstd * (g - mean(g) - h * mean(g * h)) + dresidual_out
            dweight = sum over rows of dy * h,  dbias = sum over rows of dy

        Sums over rows are float32, in a fixed order: the same request gives the same bits.

        Args:
            dy: the gradient of y, of x's shape.
            x: the x of `layer_norm`; with a residual, its residual_out.
            weight: as in `layer_norm`.
            bias: as in `layer_norm`; of use for dbias, and for dz with "norm_then_gate".
            eps: as in `layer_norm`, as are z, activation, gate_order, group_size, weight_offset,
                round_before_weight, path and timeout.
            z: the gate.
            activation: of the gate.
            gate_order: of the gate.
            group_size: columns a group.
            mean: float32 [rows, groups], from return_statistics. Together with rstd; computed again
                when absent.
            rstd: float32 [rows, groups].
            dresidual_out: with a residual: the gradient that arrives at residual_out; x's shape and
                dtype.
            weight_offset: added to the weight.
            round_before_weight: as it was in `layer_norm`.
            gradients: names of those wanted. None: dx, and dz, dweight, dbias for operands given.
                "dresidual" has the values of dx.
            parameter_gradient_dtype: of dweight and dbias: float32 for unrounded sums. None: the
                dtype of the parameter.
            path: kernel family.
            timeout: seconds for this call; the client's when None.

        Returns:
            The gradients, and how it ran.

        Raises:
            InvalidArgument: an argument is wrong; `field` names it.
            NormdError: any other subclass, as its description says.
        """
        return self._backward(
            norm_op(
                norm_pb2.NORM_KIND_LAYER_NORM,
                eps=eps,
                group_size=group_size,
                activation=activation,
                gate_order=gate_order,
                weight_offset=weight_offset,
                round_before_weight=round_before_weight,
                path=path,
            ),
            {"x": x, "dy": dy, "z": z, "weight": weight, "bias": bias}
            | {"mean": mean, "rstd": rstd, "dresidual_out": dresidual_out},
            gradients,
            parameter_gradient_dtype,
            timeout,
        )

    def rms_norm_backward(
        self,
        dy: npt.ArrayLike,
        x: npt.ArrayLike,
        weight: npt.ArrayLike | None = None,
        bias: npt.ArrayLike | None = None,
        *,
        eps: float,
        z: npt.ArrayLike | None = None,
        activation: Activation | None = None,
        gate_order: GateOrder | None = None,
        group_size: int = 0,
        rstd: npt.ArrayLike | None = None,
        dresidual_out: npt.ArrayLike | None = None,
        weight_offset: float = 0.0,
        round_before_weight: bool = False,
        gradients: Collection[Gradient] | None = None,
        parameter_gradient_dtype: npt.DTypeLike | None = None,
        path: Path = "auto",
        timeout: float | None = None,
    ) -> BackwardResult:
        """The gradients of `rms_norm`.

        Without a gate, h being x * rstd:

            g  = dy * (weight + weight_offset)
            dx = rstd * (g - h * mean(g * h)) + dresidual_out
            dweight = sum over rows of dy * h,  dbias = sum over rows of dy

        Arguments, result and errors are those of `layer_norm_backward`; there is no mean.
        """
        return self._backward(
            norm_op(
                norm_pb2.NORM_KIND_RMS_NORM,
                eps=eps,
                group_size=group_size,
                activation=activation,
                gate_order=gate_order,
                weight_offset=weight_offset,
                round_before_weight=round_before_weight,
                path=path,
            ),
            {"x": x, "dy": dy, "z": z, "weight": weight, "bias": bias}
            | {"rstd": rstd, "dresidual_out": dresidual_out},
            gradients,
            parameter_gradient_dtype,
            timeout,
        )

    def close(self) -> None:
        """Ends the connection; calls in flight are cancelled. Can be called again."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _forward(
        self,
        op: norm_pb2.NormOp,
        values: dict[str, npt.ArrayLike | None],
        statistics: bool,
        timeout: float | None,
    ) -> ForwardResult:
        given = operands(values)
        request = forward_request(op, given, statistics=statistics)
        execution, arrays = self._call(FORWARD, encode(request, given), timeout)
        if "y" not in arrays:
            raise Internal("the reply has no y")
        return ForwardResult(execution=execution, **arrays)

    def _backward(
        self,
        op: norm_pb2.NormOp,
        values: dict[str, npt.ArrayLike | None],
        gradients: Collection[str] | None,
        parameter_gradient_dtype: npt.DTypeLike | None,
        timeout: float | None,
    ) -> BackwardResult:
        given = operands(values)
        request = backward_request(
            op, given, gradients=gradients, parameter_gradient_dtype=parameter_gradient_dtype
        )
        execution, arrays = self._call(BACKWARD, encode(request, given), timeout)
        return BackwardResult(execution=execution, **arrays)

    def _call(
        self, method: Method, request: bytes, timeout: float | None
    ) -> tuple[Execution, dict[str, Array]]:
        metadata = self._metadata() if callable(self._metadata) else self._metadata
        check_metadata(metadata)
        reply = self._transport.call(
            method.path,
            request,
            timeout=self._timeout if timeout is None else _checked_timeout(timeout),
            metadata=metadata,
        )
        message, arrays = decode(method.response, reply)
        run = message.execution
        timings = run.timings
        return Execution(
            timings=Timings(
                decode_ns=timings.decode_ns,
                queue_ns=timings.queue_ns,
                kernel_ns=timings.kernel_ns,
                encode_ns=timings.encode_ns,
                total_ns=timings.total_ns,
            ),
            batch_rows=run.batch_rows,
            batch_requests=run.batch_requests,
            device=run.device,
            kernel=run.kernel,
        ), arrays


def _checked_timeout(timeout: float) -> float:
    """Returns `timeout`; a call without an end is not on offer."""
    if not isinstance(timeout, (int, float)) or not math.isfinite(timeout):
        raise InvalidArgument(f"{timeout!r} is not a number of seconds", field="timeout")
    return min(float(timeout), _MAX_TIMEOUT)
