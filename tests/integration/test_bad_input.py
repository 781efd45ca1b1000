"""Bad input over bare gRPC and through the Python client: the code and the field of the contract, a
server that is alive and right at the next call. tests/client does the same with the C++ client.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
import ml_dtypes
import normd
import numpy as np
import oracle
import pytest
from closeness import assert_close
from google.rpc import error_details_pb2, status_pb2
from normd._stubs.normd.v1 import norm_pb2 as pb
from server_process import ServerProcess

ROWS, WIDTH = 4, 8
X = np.arange(ROWS * WIDTH, dtype=np.float32).reshape(ROWS, WIDTH)
W = np.ones(WIDTH, np.float32)
FORWARD, BACKWARD = "/normd.v1.NormService/Forward", "/normd.v1.NormService/Backward"
MAX_MESSAGE_BYTES = 1 << 20


@pytest.fixture(scope="module")
def server():
    """Its own: the limit of messages is small enough to pass it."""
    process = ServerProcess(f"--max_message_bytes={MAX_MESSAGE_BYTES}", "--staging_bytes=67108864")
    yield process
    alive = process.running()
    code = process.stop()
    assert alive, process.log()
    assert code == 0, process.log()


@pytest.fixture(scope="module")
def channel(server: ServerProcess):
    with grpc.insecure_channel(server.address) as made:
        yield made


@pytest.fixture(scope="module")
def client(server: ServerProcess):
    with normd.Client(server.unix_address) as made:
        yield made


@pytest.fixture(autouse=True)
def next_call_is_right(client: normd.Client):
    yield
    right = oracle.forward(oracle.Op(kind="layer_norm", eps=1e-5), X)
    assert_close(client.layer_norm(X, eps=1e-5).y, right.y, np.float32)


def tensor(array: np.ndarray) -> pb.Tensor:
    return pb.Tensor(dtype=pb.DATA_TYPE_FLOAT32, shape=array.shape, inline=array.tobytes())


def forward() -> pb.ForwardRequest:
    request = pb.ForwardRequest(op=pb.NormOp(kind=pb.NORM_KIND_LAYER_NORM, eps=1e-5), x=tensor(X))
    request.y.inline.SetInParent()
    return request


def backward() -> pb.BackwardRequest:
    request = pb.BackwardRequest(op=forward().op, x=tensor(X), dy=tensor(X))
    request.dx.inline.SetInParent()
    return request


def refusal(channel: grpc.Channel, path: str, request: bytes) -> tuple[str, str | None, str]:
    """Code, field of the first violation and text of a call that must fail."""
    with pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(path)(request, timeout=30)
    call = caught.value
    field = None
    for key, value in call.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status = status_pb2.Status.FromString(value)
            assert status.code == call.code().value[0]
            for detail in status.details:
                bad = error_details_pb2.BadRequest()
                if detail.Unpack(bad):
                    field = bad.field_violations[0].field
                    assert bad.field_violations[0].description
    return call.code().name, field, call.details()


def op(**fields: Any) -> Callable[[Any], None]:
    return lambda r: r.op.MergeFrom(pb.NormOp(**fields))


def x(**fields: Any) -> Callable[[Any], None]:
    def change(r: Any) -> None:
        for name, value in fields.items():
            if name == "shape":
                r.x.shape[:] = value
            else:
                setattr(r.x, name, value)

    return change


def gate(**fields: Any) -> Callable[[Any], None]:
    def change(r: Any) -> None:
        r.z.CopyFrom(tensor(X))
        r.op.MergeFrom(pb.NormOp(**fields))

    return change


def given(name: str, array: np.ndarray) -> Callable[[Any], None]:
    return lambda r: getattr(r, name).CopyFrom(tensor(array))


def wanted(name: str, dtype: int = 0) -> Callable[[Any], None]:
    return lambda r: getattr(r, name).CopyFrom(pb.Output(inline=pb.InlineOutput(), dtype=dtype))


def cleared(name: str) -> Callable[[Any], None]:
    return lambda r: r.ClearField(name)


FORWARD_CASES: list[tuple[str, Callable[[Any], Any]]] = [
    ("op", cleared("op")),
    ("op.kind", lambda r: r.op.ClearField("kind")),
    ("op.kind", op(kind=9)),
    ("op.eps", lambda r: r.op.ClearField("eps")),
    ("op.eps", op(eps=-1e-5)),
    ("op.eps", op(eps=float("nan"))),
    ("op.eps", op(eps=float("inf"))),
    ("op.group_size", op(group_size=3)),
    ("op.group_size", op(group_size=-4)),
    ("op.group_size", op(group_size=16)),
    ("op.weight_offset", op(weight_offset=float("inf"))),
    ("op.path", op(path=9)),
    ("op.gate_activation", op(gate_activation=pb.GATE_ACTIVATION_SILU)),
    ("op.gate_activation", gate()),
    ("op.gate_activation", gate(gate_activation=9, gate_order=1)),
    ("op.gate_order", gate(gate_activation=pb.GATE_ACTIVATION_SILU)),
    ("op.gate_order", gate(gate_activation=pb.GATE_ACTIVATION_SILU, gate_order=9)),
    ("x", cleared("x")),
    ("x", lambda r: r.x.ClearField("inline")),
    ("x.dtype", x(dtype=0)),
    ("x.dtype", x(dtype=99)),
    ("x.dtype", x(dtype=-1)),
    ("x.shape", x(shape=[])),
    ("x.shape", x(shape=[1] * 9)),
    ("x.shape", x(shape=[4, 0])),
    ("x.shape", x(shape=[-4, -8])),
    ("x.shape", x(shape=[2**62, 8])),
    ("x.shape", x(shape=[2**32, 2**32])),
    ("x.inline", x(inline=X.tobytes()[:-1])),
    ("x.inline", x(inline=X.tobytes() + b"1")),
    ("x.inline", x(inline=b"")),
    ("x.inline", x(shape=[2**30, 2**20])),
    ("z.shape", lambda r: (gate(gate_activation=2, gate_order=1)(r), r.z.CopyFrom(tensor(X[1:])))),
    ("weight.shape", given("weight", W[1:])),
    ("weight.shape", given("weight", X)),
    ("bias.shape", given("bias", W[1:])),
    ("residual.shape", given("residual", X[1:])),
    (
        "residual.dtype",
        lambda r: r.residual.CopyFrom(
            pb.Tensor(dtype=2, shape=X.shape, inline=X.astype(np.float16).tobytes())
        ),
    ),
    ("y", cleared("y")),
    ("y", lambda r: r.y.ClearField("inline")),
    ("y.dtype", wanted("y", pb.DATA_TYPE_FLOAT32)),
    ("residual_out", wanted("residual_out")),
    ("mean", lambda r: (op(kind=pb.NORM_KIND_RMS_NORM)(r), wanted("mean")(r))),
]

BACKWARD_CASES: list[tuple[str, Callable[[Any], Any]]] = [
    ("dy", cleared("dy")),
    ("dy.shape", given("dy", X[1:])),
    ("dz", wanted("dz")),
    ("dweight", wanted("dweight")),
    ("dbias", wanted("dbias")),
    ("dweight.dtype", lambda r: (given("weight", W)(r), wanted("dweight", 2)(r))),
    ("dx", cleared("dx")),
    ("mean", given("rstd", X[:, :1])),
    ("rstd.shape", lambda r: (given("mean", X[:, :1])(r), given("rstd", X[:, :2])(r))),
]


def ids(cases: list[tuple[str, Any]]) -> list[str]:
    return [f"{index}-{case[0]}" for index, case in enumerate(cases)]


@pytest.mark.parametrize(("field", "change"), FORWARD_CASES, ids=ids(FORWARD_CASES))
def test_forward_names_the_field(channel: grpc.Channel, field: str, change: Any) -> None:
    request = forward()
    change(request)
    code, named, text = refusal(channel, FORWARD, request.SerializeToString())
    assert (code, named) == ("INVALID_ARGUMENT", field), text
    assert text.startswith(f"{field}: ")


@pytest.mark.parametrize(("field", "change"), BACKWARD_CASES, ids=ids(BACKWARD_CASES))
def test_backward_names_the_field(channel: grpc.Channel, field: str, change: Any) -> None:
    request = backward()
    change(request)
    code, named, text = refusal(channel, BACKWARD, request.SerializeToString())
    assert (code, named) == ("INVALID_ARGUMENT", field), text
    assert text.startswith(f"{field}: ")


def test_both_inline_and_buffer_name_the_field(channel: grpc.Channel) -> None:
    # A library keeps one member of a oneof; on the wire there can be two.
    request = forward()
    request.ClearField("x")
    inline = tensor(X).SerializeToString()
    buffer = pb.Tensor(buffer=pb.BufferRef(id=bytes(16))).SerializeToString()
    for storage in (inline + buffer, buffer + inline):
        tag = bytes([11 << 3 | 2, len(storage) & 0x7F | 0x80, len(storage) >> 7])
        code, named, text = refusal(channel, FORWARD, request.SerializeToString() + tag + storage)
        assert (code, named) == ("INVALID_ARGUMENT", "x"), text


@pytest.mark.parametrize("length", [1, 2, 3, 10, 20, 40, 100, -1])
def test_truncated_messages_are_refused(channel: grpc.Channel, length: int) -> None:
    code, named, _ = refusal(channel, FORWARD, forward().SerializeToString()[:length])
    assert code == "INVALID_ARGUMENT"
    assert named


def test_garbage_is_refused(channel: grpc.Channel) -> None:
    rng = np.random.default_rng(40)
    requests = [b"\xff" * 100, b"\0" * 100, b"", *(rng.bytes(n) for n in range(1, 200))]
    for request in requests:
        for path in (FORWARD, BACKWARD):
            code, named, _ = refusal(channel, path, request)
            assert code == "INVALID_ARGUMENT"
            assert named


def test_messages_over_the_limit_are_refused(channel: grpc.Channel, client: normd.Client) -> None:
    for extra in (1, 64, MAX_MESSAGE_BYTES):
        code, _, text = refusal(channel, FORWARD, bytes(MAX_MESSAGE_BYTES + extra))
        assert code == "RESOURCE_EXHAUSTED", text
    with pytest.raises(normd.ResourceExhausted):
        client.layer_norm(np.ones((MAX_MESSAGE_BYTES // 32, 8), np.float32), eps=1)


def test_methods_that_do_not_exist_or_are_not_served_say_so(channel: grpc.Channel) -> None:
    for method in ("Nothing", "Batch"):
        code, _, text = refusal(channel, f"/normd.v1.NormService/{method}", b"")
        assert code == "UNIMPLEMENTED", text


CLIENT_CASES: list[tuple[str, dict[str, Any]]] = [
    ("op.eps", {"eps": None}),
    ("op.eps", {"eps": -1.0}),
    ("op.eps", {"eps": float("nan")}),
    ("op.eps", {"eps": 1e300}),
    ("op.group_size", {"group_size": 3}),
    ("op.group_size", {"group_size": -1}),
    ("op.weight_offset", {"weight_offset": float("nan")}),
    ("op.gate_activation", {"z": X}),
    ("op.gate_activation", {"activation": "silu", "gate_order": "norm_then_gate"}),
    ("op.gate_activation", {"activation": "gelu"}),
    ("op.gate_order", {"z": X, "activation": "silu"}),
    ("op.gate_order", {"gate_order": "first"}),
    ("op.path", {"path": "other"}),
    ("x.shape", {"x": np.float32(1)}),
    ("x.shape", {"x": np.ones((1,) * 9, np.float32)}),
    ("x.shape", {"x": np.ones((3, 0), np.float32)}),
    ("x.dtype", {"x": X.astype(np.float64)}),
    ("x.dtype", {"x": X.astype(np.int8)}),
    ("x.dtype", {"x": X.astype(ml_dtypes.float8_e4m3fn)}),
    ("z.shape", {"z": X[1:], "activation": "silu", "gate_order": "gate_then_norm"}),
    ("weight.shape", {"weight": W[1:]}),
    ("weight.shape", {"weight": np.float32(1)}),
    ("bias.shape", {"bias": X}),
    ("residual.shape", {"residual": X[1:]}),
    ("residual.dtype", {"residual": X.astype(np.float16)}),
    ("residual", {"residual": X, "z": X, "activation": "silu", "gate_order": "gate_then_norm"}),
]


@pytest.mark.parametrize(("field", "change"), CLIENT_CASES, ids=ids(CLIENT_CASES))
def test_the_python_client_names_the_field(
    client: normd.Client, field: str, change: dict[str, Any]
) -> None:
    with pytest.raises(normd.InvalidArgument) as caught:
        client.layer_norm(**({"x": X, "eps": 1e-5} | change))
    error = caught.value
    assert (error.code, error.field) == ("INVALID_ARGUMENT", field)
    assert error.description
    assert str(error) == f"{field}: {error.description}"


CLIENT_BACKWARD_CASES: list[tuple[str, dict[str, Any]]] = [
    ("dy.shape", {"dy": X[1:]}),
    ("dy.dtype", {"dy": X.astype(np.int32)}),
    ("dz", {"gradients": ["dz"]}),
    ("dweight", {"gradients": ["dweight"]}),
    ("dx", {"gradients": []}),
    ("gradients", {"gradients": ["y"]}),
    ("mean", {"rstd": X[:, :1]}),
    ("rstd", {"mean": X[:, :1]}),
    ("rstd.dtype", {"mean": X[:, :1], "rstd": X[:, :1].astype(np.float16)}),
    ("dweight.dtype", {"weight": W, "parameter_gradient_dtype": np.float16}),
    ("dweight.dtype", {"weight": W, "parameter_gradient_dtype": np.float64}),
]


@pytest.mark.parametrize(("field", "change"), CLIENT_BACKWARD_CASES, ids=ids(CLIENT_BACKWARD_CASES))
def test_the_python_client_names_the_field_of_backward(
    client: normd.Client, field: str, change: dict[str, Any]
) -> None:
    with pytest.raises(normd.InvalidArgument) as caught:
        client.layer_norm_backward(**({"x": X, "dy": X, "eps": 1e-5} | change))
    assert caught.value.field == field


@pytest.mark.parametrize("seed", range(5))
def test_mutated_requests_never_end_the_server(channel: grpc.Channel, seed: int) -> None:
    rng = np.random.default_rng(seed)
    good = forward().SerializeToString()
    call = channel.unary_unary(FORWARD)
    codes = set()
    for _ in range(100):
        request = bytearray(good)
        for at in rng.integers(0, len(good), 3):
            request[at] = rng.integers(0, 256)
        try:
            call(bytes(request), timeout=30)
            codes.add("OK")
        except grpc.RpcError as error:
            codes.add(error.code().name)
    assert "INVALID_ARGUMENT" in codes
    assert codes <= {"OK", "INVALID_ARGUMENT"}
