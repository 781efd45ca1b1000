"""The Python client without a server: what it exports, sends, returns and raises."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import pickle
import pkgutil
import re
import subprocess
import sys

import ml_dtypes
import normd
import numpy as np
import pytest
from google.protobuf.message import Message
from normd._stubs.normd.v1 import norm_pb2

ROOT = pathlib.Path(__file__).resolve().parents[2]
DTYPES = [np.float32, np.float16, ml_dtypes.bfloat16]
ERRORS = {
    "InvalidArgument": "INVALID_ARGUMENT",
    "NotFound": "NOT_FOUND",
    "FailedPrecondition": "FAILED_PRECONDITION",
    "OutOfRange": "OUT_OF_RANGE",
    "ResourceExhausted": "RESOURCE_EXHAUSTED",
    "DeadlineExceeded": "DEADLINE_EXCEEDED",
    "Cancelled": "CANCELLED",
    "Unavailable": "UNAVAILABLE",
    "Unauthenticated": "UNAUTHENTICATED",
    "PermissionDenied": "PERMISSION_DENIED",
    "Unimplemented": "UNIMPLEMENTED",
    "Internal": "INTERNAL",
}
OTHER_NAMES = {
    *("BackwardResult", "Client", "DEFAULT_TIMEOUT", "Execution", "ForwardResult", "MockCall"),
    *("MockTransport", "NormdError", "Timings", "Transport", "__version__", "tune_allocator"),
}


def echo(call: normd.MockCall) -> dict[str, np.ndarray]:
    """Each output is the operand it has the shape of."""
    source = {"y": "x", "dx": "x", "dz": "z", "dweight": "weight", "dbias": "bias"}
    source |= {"residual_out": "residual", "dresidual": "x"}
    rows = int(np.prod(call.tensors["x"].shape[:-1]))
    statistics = np.ones((rows, 1), np.float32)
    return {
        name: call.tensors[source[name]] if name in source else statistics for name in call.outputs
    }


@pytest.fixture
def transport() -> normd.MockTransport:
    return normd.MockTransport(echo)


@pytest.fixture
def client(transport: normd.MockTransport) -> normd.Client:
    return normd.Client(transport=transport)


def test_the_public_list_is_exactly_this() -> None:
    assert set(normd.__all__) == set(ERRORS) | OTHER_NAMES
    assert all(hasattr(normd, name) for name in normd.__all__)


def test_every_module_is_private() -> None:
    modules = [module.name for module in pkgutil.iter_modules(normd.__path__)]
    assert modules
    assert [name for name in modules if not name.startswith("_")] == []


@pytest.mark.checkout
def test_the_versions_of_package_and_project_are_one() -> None:
    cmake = (ROOT / "CMakeLists.txt").read_text()
    project = re.search(r"project\(normd VERSION (\S+)", cmake)
    assert project is not None
    assert normd.__version__ == importlib.metadata.version("normd") == project[1]


@pytest.mark.parametrize(("name", "code"), ERRORS.items())
def test_every_error_is_in_the_tree_and_survives_pickling(name: str, code: str) -> None:
    cls = getattr(normd, name)
    error = pickle.loads(pickle.dumps(cls("is wrong", field="x.shape", retry_after=0.5)))
    assert isinstance(error, normd.NormdError)
    assert type(error) is cls
    assert (error.code, error.field, error.description) == (code, "x.shape", "is wrong")
    assert error.retry_after == 0.5
    assert str(error) == "x.shape: is wrong"


@pytest.mark.checkout
def test_errors_drawn_in_the_docs_are_those_that_exist() -> None:
    tree = (ROOT / "client/README.md").read_text()
    assert set(re.findall(r"[├└]── (\w+)", tree)) == set(ERRORS)


def test_timeouts_and_connections_are_also_the_errors_of_python() -> None:
    assert issubclass(normd.DeadlineExceeded, TimeoutError)
    assert issubclass(normd.Unavailable, ConnectionError)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (1, 2, 1, 2, 3), (0, 4), (2, 0, 4)])
def test_arrays_of_any_rank_arrive_and_return_bit_for_bit(
    client: normd.Client, shape: tuple[int, ...], dtype: type
) -> None:
    bits = np.random.default_rng(0).integers(0, 256, (*shape, np.dtype(dtype).itemsize), np.uint8)
    x = bits.view(dtype).reshape(shape)
    y = client.layer_norm(x, eps=1e-5).y
    assert (y.shape, y.dtype) == (shape, dtype)
    assert y.tobytes() == x.tobytes()


def strided(x: np.ndarray) -> np.ndarray:
    return np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3]


def read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


def unaligned(x: np.ndarray) -> np.ndarray:
    raw = bytearray(b"-" + x.tobytes())
    return np.frombuffer(raw, x.dtype, offset=1).reshape(x.shape)


@pytest.mark.parametrize(
    "layout",
    [
        strided,
        read_only,
        unaligned,
        np.asfortranarray,
        lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
        lambda x: x.astype(x.dtype.newbyteorder(">")),
        lambda x: np.broadcast_to(x[:1], x.shape),
        np.ma.masked_array,
    ],
    ids=["strided", "read_only", "unaligned", "fortran", "reversed", "big", "broadcast", "masked"],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_any_layout_is_read_right_and_left_as_it_is(
    client: normd.Client, transport: normd.MockTransport, layout, dtype: type
) -> None:
    x = layout(np.arange(12, dtype=dtype).reshape(3, 4))
    before = np.array(x, copy=True)
    client.layer_norm(x, eps=0)
    sent = transport.calls[0].tensors["x"]
    assert sent.dtype == dtype
    np.testing.assert_array_equal(sent, before)
    np.testing.assert_array_equal(x, before)


def test_bfloat16_of_any_stride_is_read_right(client: normd.Client) -> None:
    x = np.arange(24).reshape(4, 6).astype(ml_dtypes.bfloat16)[::2, ::-2]
    np.testing.assert_array_equal(client.rms_norm(x, eps=1).y, x)


def test_every_argument_reaches_the_wire(
    client: normd.Client, transport: normd.MockTransport
) -> None:
    x, w = np.ones((2, 4), np.float16), np.ones(4, np.float32)
    client.rms_norm(
        x,
        w,
        w,
        eps=0.25,
        z=x,
        activation="sigmoid",
        gate_order="gate_then_norm",
        group_size=2,
        residual=x,
        weight_offset=1,
        round_before_weight=True,
        return_statistics=True,
        path="single_row",
        timeout=1.5,
    )
    call = transport.calls[0]
    assert call.op == norm_pb2.NormOp(
        kind=norm_pb2.NORM_KIND_RMS_NORM,
        eps=0.25,
        group_size=2,
        gate_activation=norm_pb2.GATE_ACTIVATION_SIGMOID,
        gate_order=norm_pb2.GATE_ORDER_GATE_THEN_NORM,
        weight_offset=1,
        round_before_weight=True,
        path=norm_pb2.KERNEL_PATH_SINGLE_ROW,
    )
    assert set(call.tensors) == {"x", "z", "weight", "bias", "residual"}
    assert call.outputs == ("y", "rstd", "residual_out"), "RMSNorm has no mean"
    assert call.timeout == 1.5


def test_eps_zero_is_sent_and_eps_none_is_not(
    client: normd.Client, transport: normd.MockTransport
) -> None:
    x = np.ones((1, 2), np.float32)
    client.layer_norm(x, eps=0)
    client.layer_norm(x, eps=None)  # type: ignore[arg-type]
    assert [call.op.HasField("eps") for call in transport.calls] == [True, False]


def test_backward_asks_for_the_gradients_of_what_it_was_given(
    client: normd.Client, transport: normd.MockTransport
) -> None:
    x, w = np.ones((2, 4), np.float32), np.ones(4, np.float16)
    plain = client.layer_norm_backward(x, x, eps=1)
    assert plain.dx is not None
    assert (plain.dz, plain.dweight, plain.dbias, plain.dresidual) == (None,) * 4
    client.rms_norm_backward(x, x, w, w, eps=1, z=x)
    client.layer_norm_backward(x, x, w, eps=1, gradients=["dweight", "dresidual"])
    assert [call.outputs for call in transport.calls] == [
        ("dx",),
        ("dx", "dz", "dweight", "dbias"),
        ("dweight", "dresidual"),
    ]


def test_parameter_gradient_dtype_is_that_of_dweight_and_dbias() -> None:
    seen: list[Message] = []

    class Recorder(normd.MockTransport):
        def call(self, path, request, **rest):
            seen.append(norm_pb2.BackwardRequest.FromString(request))
            return super().call(path, request, **rest)

    x, w = np.ones((2, 4), np.float32), np.ones(4, np.float16)
    client = normd.Client(transport=Recorder(echo))
    client.layer_norm_backward(x, x, w, w, eps=1, parameter_gradient_dtype=np.float32)
    client.layer_norm_backward(x, x, w, w, eps=1)
    assert [(m.dweight.dtype, m.dbias.dtype, m.dx.dtype) for m in seen] == [(1, 1, 0), (0, 0, 0)]


def test_results_are_read_only(client: normd.Client) -> None:
    result = client.layer_norm(np.ones((2, 4), np.float32), eps=1)
    with pytest.raises(ValueError, match="read-only"):
        result.y[0] = 0


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("x.dtype", {"x": np.ones((2, 4))}),
        ("x.dtype", {"x": np.ones((2, 4), np.int32)}),
        ("x.dtype", {"x": "text"}),
        ("x.dtype", {"x": np.ones((2, 4), object)}),
        ("x.dtype", {"x": np.ones((2, 4), np.complex64)}),
        ("x", {"x": [[1.0], [1.0, 2.0]]}),
        ("weight.dtype", {"weight": [1.0, 2.0]}),
        ("op.eps", {"eps": "small"}),
        ("op.group_size", {"group_size": 1.5}),
        ("op.group_size", {"group_size": 2**63}),
        ("op.weight_offset", {"weight_offset": "one"}),
        ("op.gate_activation", {"activation": "relu"}),
        ("op.gate_order", {"gate_order": "before"}),
        ("op.path", {"path": "fast"}),
        ("op.path", {"path": ["auto"]}),
        ("timeout", {"timeout": float("nan")}),
        ("timeout", {"timeout": float("inf")}),
        ("timeout", {"timeout": "soon"}),
    ],
)
def test_what_no_message_can_hold_is_refused_by_name(
    client: normd.Client, transport: normd.MockTransport, field: str, change: dict
) -> None:
    arguments = {"x": np.ones((2, 4), np.float32), "eps": 1e-5} | change
    with pytest.raises(normd.InvalidArgument) as caught:
        client.layer_norm(**arguments)
    assert caught.value.field == field
    assert caught.value.description
    assert transport.calls == []


def test_unknown_gradients_are_refused_by_name(client: normd.Client) -> None:
    x = np.ones((2, 4), np.float32)
    with pytest.raises(normd.InvalidArgument) as caught:
        client.layer_norm_backward(x, x, eps=1, gradients=["dgamma"])  # type: ignore[list-item]
    assert caught.value.field == "gradients"
    with pytest.raises(normd.InvalidArgument) as caught:
        client.layer_norm_backward(x, x, x[0], eps=1, parameter_gradient_dtype=np.float64)
    assert caught.value.field == "dweight.dtype"


@pytest.mark.parametrize("arguments", [{}, {"target": "a:1", "transport": object()}])
def test_a_client_has_a_target_or_a_transport(arguments: dict) -> None:
    with pytest.raises(normd.InvalidArgument) as caught:
        normd.Client(**arguments)
    assert caught.value.field == "target"


def test_metadata_is_asked_for_before_each_call(transport: normd.MockTransport) -> None:
    tokens = iter(["first", "second"])
    client = normd.Client(transport=transport, metadata=lambda: [("x-token", next(tokens))])
    for _ in range(2):
        client.layer_norm(np.ones((1, 2), np.float32), eps=1)
    assert [call.metadata for call in transport.calls] == [
        {"x-token": "first"},
        {"x-token": "second"},
    ]


def test_timeout_defaults_to_the_clients(transport: normd.MockTransport) -> None:
    x = np.ones((1, 2), np.float32)
    normd.Client(transport=transport).layer_norm(x, eps=1)
    normd.Client(transport=transport, timeout=2).layer_norm(x, eps=1)
    assert [call.timeout for call in transport.calls] == [normd.DEFAULT_TIMEOUT, 2]


def test_leaving_the_context_closes_the_transport(transport: normd.MockTransport) -> None:
    with normd.Client(transport=transport):
        assert not transport.closed
    assert transport.closed


def test_a_mock_can_raise_and_must_answer_what_was_asked() -> None:
    def busy(_: normd.MockCall) -> dict[str, np.ndarray]:
        raise normd.ResourceExhausted("queue is full", retry_after=0.1)

    x = np.ones((1, 2), np.float32)
    with pytest.raises(normd.ResourceExhausted) as caught:
        normd.Client(transport=normd.MockTransport(busy)).layer_norm(x, eps=1)
    assert caught.value.retry_after == 0.1
    with pytest.raises(ValueError, match="the handler returned"):
        normd.Client(transport=normd.MockTransport(lambda _: {"dx": x})).layer_norm(x, eps=1)


@pytest.mark.parametrize(
    ("setting", "code", "tuned"),
    [
        ("1", "normd.Client('127.0.0.1:1')", "True"),
        ("1", "normd.Client('127.0.0.1:1', tune_allocator=False)", "None"),
        ("0", "normd.Client('127.0.0.1:1')", "False"),
        ("0", "normd.tune_allocator()", "False"),
        ("1", "normd.Client(transport=normd.MockTransport(dict))", "None"),
    ],
)
def test_the_allocator_is_tuned_unless_told_otherwise(setting: str, code: str, tuned: str) -> None:
    program = f"import normd, normd._allocator as a; {code}; print(a._state)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "NORMD_TUNE_ALLOCATOR": setting},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == tuned
