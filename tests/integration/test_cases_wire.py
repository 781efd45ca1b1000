"""The cases of tests/cases through a server, by bare gRPC: one test a case, named by its id."""

from __future__ import annotations

import concurrent.futures
import copy
from collections.abc import Callable, Iterator

import grpc
import normd
import numpy as np
import pytest
from cases import Case, load
from normd._stubs.normd.v1 import norm_pb2 as pb
from server_process import ServerProcess
from wire_ops import call, connect, outputs_of, refusal, request_of, tensor

CASES = {case.id: case for case in load()}

# Cases that no message can hold or that this server cannot serve yet.
ELSEWHERE = {
    "NC071": "4 GiB in one tensor: normd_cases_* --large",
    "NC073": "15 GB in one tensor: normd_cases_* --large",
    "NC134": "x and dy of 503 MB, above the limit of a message: normd_cases_* --large",
    "NC143": "buffers: with the engine of BufferService",
    "NC145": "buffers: with the engine of BufferService",
    "NC146": "a GPU that fails: with fault injection",
}
# Params about memory, which inline tensors do not show; normd_cases_* acts on them. The values of
# their cases go through the wire all the same.
OF_MEMORY = {
    "alias": "inline tensors share no bytes",
    "dy_strides": "an inline tensor has no strides; dy is sent dense",
    "guard_after_output": "the reply has exactly the output",
    "placement": "the server places inline tensors",
    "poison": "the server places inline tensors",
    "prefill_grad_buffers": "outputs are made by the server",
    "row_stride": "an inline tensor is contiguous",
    "storage": "see strides",
    "strides": "an inline tensor has no strides; a dense copy is sent",
    "token_stride": "a dense copy is sent",
    "head_stride": "a dense copy is sent",
    "tool": "run from outside",
}
# What describes the op, and what the tests below act on.
ACTED_ON = {
    *("eps", "weight_recipe", "bias_recipe", "z_recipe", "dy_recipe", "weight_dtype", "z_dtype"),
    *("group_size", "norm_before_gate"),
    *("shape", "base_shape", "masks", "repeat", "sequence", "compare_rows", "bias", "expect_dbias"),
    *("check", "eps_field", "weight_len", "try_dims", "call_from", "device_index"),
}
# Their right answer is an error, or they are about the service.
APART = {"NC039", "NC041", "NC067", "NC069", "NC093", "NC133", "NC140", "NC142"}
VALUES = [id for id in CASES if id not in ELSEWHERE and id not in APART]


@pytest.fixture(scope="module")
def channel(server: ServerProcess) -> Iterator[grpc.Channel]:
    with connect(server.address) as made:
        yield made


def arrays_of(case: Case, rows: int | None = None) -> dict[str, np.ndarray]:
    return {name: case.tensor(name, rows) for name in case.recipes}


def same_bits(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> None:
    assert a.keys() == b.keys()
    for name, array in a.items():
        assert array.tobytes() == b[name].tobytes(), f"{name}: other bits"


def test_every_case_and_param_is_accounted_for() -> None:
    assert len(CASES) >= 88
    assert CASES.keys() >= ELSEWHERE.keys() | APART
    assert {*VALUES} | APART | ELSEWHERE.keys() == CASES.keys()
    params = {param for id in [*VALUES, *APART] for param in CASES[id].params}
    assert params - ACTED_ON - OF_MEMORY.keys() == set()


@pytest.mark.parametrize("id", VALUES)
def test_values(channel: grpc.Channel, id: str) -> None:
    case = CASES[id]
    arrays = arrays_of(case)
    request = request_of(case, arrays)
    outputs = call(channel, request)
    assert outputs.keys() == {*outputs_of(case)}
    assert outputs["dx" if case.backward else "y"].dtype == case.dtype
    case.check(outputs)
    if "shape" in case.params or "base_shape" in case.params:
        _of_other_rank(channel, case, arrays, outputs)
    if "repeat" in case.params:
        for _ in range(min(case.params["repeat"], 5)):
            same_bits(call(channel, request), outputs)
    if "sequence" in case.params:
        other = copy.deepcopy(request)
        other.op.eps = 1e-5
        assert call(channel, other)["y"].tobytes() != outputs["y"].tobytes()
        same_bits(call(channel, request), outputs)
    for rows in case.params.get("compare_rows", ()):
        part = call(channel, request_of(case, arrays_of(case, rows)))
        same_bits(part, {name: array[:rows] for name, array in outputs.items()})
    if "masks" in case.params:
        _every_mask(channel, case, arrays, outputs)
    if "bias" in case.params:
        wanted = [*outputs_of(case), "dbias"]
        assert refusal(channel, request_of(case, arrays, wanted)) == ("INVALID_ARGUMENT", "dbias")


def _of_other_rank(
    channel: grpc.Channel,
    case: Case,
    arrays: dict[str, np.ndarray],
    outputs: dict[str, np.ndarray],
) -> None:
    shape = case.params.get("shape") or case.params["base_shape"]
    reshaped = {
        name: array.reshape(shape) if array.ndim == 2 else array for name, array in arrays.items()
    }
    ranked = call(channel, request_of(case, reshaped))
    for name in {"y", "dx", "dweight"} & outputs.keys():
        assert ranked[name].tobytes() == outputs[name].tobytes()


def _every_mask(
    channel: grpc.Channel,
    case: Case,
    arrays: dict[str, np.ndarray],
    outputs: dict[str, np.ndarray],
) -> None:
    names = ["dx", "dweight", "dbias"]
    assert refusal(channel, request_of(case, arrays, []))[0] == "INVALID_ARGUMENT"
    for mask in range(1, 8):
        wanted = [name for bit, name in enumerate(names) if mask >> bit & 1]
        got = call(channel, request_of(case, arrays, wanted))
        same_bits(got, {name: outputs[name] for name in wanted})


@pytest.mark.parametrize("id", ["NC029", "NC137", "NC139"])
def test_special_rows_leave_the_others_alone(channel: grpc.Channel, id: str) -> None:
    case = CASES[id]
    arrays = arrays_of(case)
    name = "dx" if case.backward else "y"
    beside = call(channel, request_of(case, arrays))[name]
    finite = np.isfinite(arrays["x"].astype(np.float64)).all(axis=1)
    rest = {key: array[finite] if array.ndim == 2 else array for key, array in arrays.items()}
    alone = call(channel, request_of(case, rest))[name]
    assert beside[finite].tobytes() == alone.tobytes()


def _refused(
    channel: grpc.Channel, id: str, change: Callable[[pb.ForwardRequest], None], field: str
) -> None:
    case = CASES[id]
    request = request_of(case, arrays_of(case))
    change(request)
    assert refusal(channel, request) == ("INVALID_ARGUMENT", field)


def test_nc039_negative_eps(channel: grpc.Channel) -> None:
    _refused(channel, "NC039", lambda request: None, "op.eps")


def test_nc041_eps_unset(channel: grpc.Channel) -> None:
    case = CASES["NC041"]
    case.check(call(channel, request_of(case, arrays_of(case))))
    _refused(channel, "NC041", lambda request: request.op.ClearField("eps"), "op.eps")


def test_nc067_no_rows(channel: grpc.Channel) -> None:
    case = CASES["NC067"]
    request = request_of(case, arrays_of(case))
    outputs = call(channel, request)
    assert outputs["y"].shape == (0, case.cols)
    ones = tensor(np.ones(case.cols, np.float32))
    backward = pb.BackwardRequest(op=request.op, x=request.x, dy=request.x, weight=ones, bias=ones)
    for output in (backward.dx, backward.dweight, backward.dbias):
        output.inline.SetInParent()
    gradients = call(channel, backward)
    assert gradients["dx"].shape == (0, case.cols)
    for name in ("dweight", "dbias"):
        assert gradients[name].tolist() == [0] * case.cols


def test_nc069_no_columns(channel: grpc.Channel) -> None:
    empty = tensor(np.empty((1, 0), np.float32))
    op = pb.NormOp(kind=pb.NORM_KIND_LAYER_NORM, eps=1e-5)
    inline = pb.Output(inline=pb.InlineOutput())
    for request in (
        pb.ForwardRequest(op=op, x=empty, y=inline),
        pb.BackwardRequest(op=op, x=empty, dy=empty, dx=inline),
    ):
        assert refusal(channel, request) == ("INVALID_ARGUMENT", "x.shape")


@pytest.mark.parametrize("length", CASES["NC093"].params["weight_len"])
@pytest.mark.parametrize("name", ["weight", "bias", "z", "dy"])
def test_nc093_operand_of_another_size(channel: grpc.Channel, name: str, length: int) -> None:
    case = CASES["NC093"]
    matrix = name in ("z", "dy")
    wrong = np.ones((case.rows, length) if matrix else length, np.float32)
    request: pb.ForwardRequest | pb.BackwardRequest = request_of(case, arrays_of(case))
    if name == "dy":
        request = pb.BackwardRequest(op=request.op, x=request.x)
        request.dx.inline.SetInParent()
    if name == "z":
        request.op.gate_activation = pb.GATE_ACTIVATION_SILU
        request.op.gate_order = pb.GATE_ORDER_NORM_THEN_GATE
    getattr(request, name).CopyFrom(tensor(wrong))
    assert refusal(channel, request) == ("INVALID_ARGUMENT", f"{name}.shape")


def test_nc114_an_unknown_gate_is_an_error(channel: grpc.Channel) -> None:
    def unknown(request: pb.ForwardRequest) -> None:
        request.op.gate_activation = 77

    _refused(channel, "NC114", unknown, "op.gate_activation")


def test_nc116_the_order_must_be_said(channel: grpc.Channel) -> None:
    _refused(channel, "NC116", lambda request: request.op.ClearField("gate_order"), "op.gate_order")


def test_nc133_from_fresh_threads(server: ServerProcess) -> None:
    case = CASES["NC133"]

    def run(_: int) -> None:
        with connect(server.address) as fresh:
            case.check(call(fresh, request_of(case, arrays_of(case))))

    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        list(threads.map(run, range(48)))


@pytest.mark.parametrize("shape", CASES["NC140"].params["try_dims"])
def test_nc140_shapes_that_overflow(channel: grpc.Channel, shape: list[int]) -> None:
    op = pb.NormOp(kind=pb.NORM_KIND_LAYER_NORM, eps=1e-5)
    request = pb.ForwardRequest(op=op, x=tensor(np.zeros(16, np.float32), tuple(shape)))
    request.y.inline.SetInParent()
    code, field = refusal(channel, request)
    assert code == "INVALID_ARGUMENT"
    assert field.split(".")[0] == "x"


@pytest.mark.parametrize("cols", [2**20 - 1, 2**20, 2**20 + 1, 2**24])
def test_nc142_tensors_around_4_mib_and_of_64_mib(
    server: ServerProcess, channel: grpc.Channel, cols: int
) -> None:
    """Of float32: 4 MiB less one element, 4 MiB, one more, 64 MiB."""
    op = pb.NormOp(kind=pb.NORM_KIND_RMS_NORM, eps=0)
    x = np.where(np.arange(cols) % 2, np.float32(2), np.float32(-2)).reshape(1, cols)
    request = pb.ForwardRequest(op=op, x=tensor(x))
    request.y.inline.SetInParent()
    np.testing.assert_array_equal(call(channel, request)["y"], x / 2)
    with normd.Client(server.address) as client:  # its limits as they are
        np.testing.assert_array_equal(client.rms_norm(x, eps=0).y, x / 2)
