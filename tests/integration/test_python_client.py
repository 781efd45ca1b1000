"""The Python client against the real server: results, deadlines, processes."""

from __future__ import annotations

import concurrent.futures
import os
import time
from typing import Any

import ml_dtypes
import normd
import numpy as np
import oracle
import pytest
from closeness import assert_close
from server_process import ServerProcess

DTYPES = [np.float32, np.float16, ml_dtypes.bfloat16]
SEED = 20


@pytest.fixture(scope="module")
def client(server: ServerProcess):
    with normd.Client(server.unix_address) as made:
        yield made


def rows(shape: tuple[int, ...], dtype: Any = np.float32, seed: int = SEED) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def flat(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1, array.shape[-1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize("shape", [(17,), (6, 64), (2, 3, 1), (2, 2, 3, 100), (0, 16)])
def test_forward_and_backward_of_any_rank(
    client: normd.Client, shape: tuple[int, ...], kind: str, dtype: type
) -> None:
    x, dy = rows(shape, dtype), rows(shape, dtype, SEED + 1)
    weight, bias = rows(shape[-1:], np.float32, SEED + 2), rows(shape[-1:], dtype, SEED + 3)
    op = oracle.Op(kind=kind, eps=1e-5)
    result = getattr(client, kind)(x, weight, bias, eps=op.eps, return_statistics=True)
    right = oracle.forward(op, flat(x), weight=weight, bias=bias)
    assert_close(result.y, right.y.reshape(shape), dtype)
    assert_close(result.rstd, right.rstd, np.float32)
    assert (result.mean is None) == (kind == "rms_norm")
    if result.mean is not None:
        assert_close(result.mean, right.mean, np.float32)

    saved = {"rstd": result.rstd} | ({} if result.mean is None else {"mean": result.mean})
    right_back = oracle.backward(op, flat(x), flat(dy), weight=weight, bias=bias)
    for statistics in ({}, saved):
        back = getattr(client, f"{kind}_backward")(
            dy, x, weight, bias, eps=op.eps, parameter_gradient_dtype=np.float32, **statistics
        )
        assert_close(back.dx, right_back.dx.reshape(shape), dtype)
        assert_close(back.dweight, right_back.dweight, np.float32)
        assert_close(back.dbias, right_back.dbias, np.float32)
        assert (back.dz, back.dresidual) == (None, None)


@pytest.mark.parametrize("order", [oracle.NORM_THEN_GATE, oracle.GATE_THEN_NORM])
@pytest.mark.parametrize("activation", [oracle.SILU, oracle.SIGMOID])
@pytest.mark.parametrize("kind", ["layer_norm", "rms_norm"])
def test_gates_groups_and_offset(
    client: normd.Client, kind: str, activation: str, order: str
) -> None:
    x, z, dy = (rows((5, 48), np.float16, SEED + i) for i in range(3))
    weight, bias = (rows((48,), np.float16, SEED + i) for i in (3, 4))
    options = {"eps": 1e-5, "group_size": 16, "weight_offset": 1.0, "gate_order": order}
    op = oracle.Op(kind=kind, gate_activation=activation, **options)
    operands = {"z": z, "weight": weight, "bias": bias}
    y = getattr(client, kind)(x, activation=activation, **operands, **options).y
    assert_close(y, oracle.forward(op, x, **operands).y, np.float16)
    back = getattr(client, f"{kind}_backward")(dy, x, activation=activation, **operands, **options)
    right = oracle.backward(op, x, dy, **operands)
    for name in ("dx", "dz", "dweight", "dbias"):
        assert_close(getattr(back, name), getattr(right, name), np.float16)


def test_residual_in_both_directions(client: normd.Client) -> None:
    dtype = ml_dtypes.bfloat16
    x, residual, dy, arrives = (rows((7, 32), dtype, SEED + i) for i in range(4))
    weight = rows((32,), dtype, SEED + 4)
    op = oracle.Op(kind="rms_norm", eps=1e-6)
    result = client.rms_norm(x, weight, eps=op.eps, residual=residual)
    right = oracle.forward(op, x, weight=weight, residual=residual)
    assert_close(result.y, right.y, dtype)
    np.testing.assert_array_equal(result.residual_out.astype(np.float64), right.residual_out)
    back = client.rms_norm_backward(
        dy,
        result.residual_out,
        weight,
        eps=op.eps,
        dresidual_out=arrives,
        gradients=["dx", "dweight", "dresidual"],
    )
    right_back = oracle.backward(op, result.residual_out, dy, weight=weight, dresidual_out=arrives)
    assert_close(back.dx, right_back.dx, dtype)
    assert_close(back.dweight, right_back.dweight, dtype)
    np.testing.assert_array_equal(back.dresidual, back.dx)


def test_rounding_before_the_weight(client: normd.Client) -> None:
    x = rows((64, 32), ml_dtypes.bfloat16)
    weight = rows((32,), np.float32, SEED + 1)
    h = client.rms_norm(x, eps=1e-6).y
    y = client.rms_norm(x, weight, eps=1e-6, round_before_weight=True).y
    expected = (h.astype(np.float32) * weight).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(y, expected)
    assert (client.rms_norm(x, weight, eps=1e-6).y != expected).any(), "rounding once differs"


def test_every_path_gives_the_same_answer(client: normd.Client) -> None:
    x = rows((9, 40))
    right = oracle.forward(oracle.Op(kind="layer_norm", eps=0.1), x).y
    for path in ("auto", "row_tiled", "single_row"):
        assert_close(client.layer_norm(x, eps=0.1, path=path).y, right, np.float32)


def test_zero_rows_give_zero_parameter_gradients(client: normd.Client) -> None:
    x, weight = np.empty((0, 5), np.float32), np.ones(5, np.float32)
    back = client.layer_norm_backward(x, x, weight, weight, eps=1)
    assert back.dx.shape == (0, 5)
    np.testing.assert_array_equal(back.dweight, np.zeros(5, np.float32))
    np.testing.assert_array_equal(back.dbias, np.zeros(5, np.float32))


def test_tcp_and_unix_give_the_same_bits(server: ServerProcess, client: normd.Client) -> None:
    x = rows((33, 7))
    with normd.Client(server.address) as tcp:
        np.testing.assert_array_equal(tcp.layer_norm(x, eps=1).y, client.layer_norm(x, eps=1).y)


def test_messages_above_four_mebibytes_pass_both_ways(client: normd.Client) -> None:
    x = rows((1 << 16, 64))
    y = client.layer_norm(x, eps=1e-5).y
    assert_close(y[-3:], oracle.forward(oracle.Op(kind="layer_norm", eps=1e-5), x[-3:]).y, x.dtype)


def test_execution_says_how_it_ran(client: normd.Client) -> None:
    run = client.layer_norm(rows((12, 16)), eps=1).execution
    on_cpu = os.environ.get("NORMD_TEST_DEVICES", "cpu") == "cpu"
    assert run.device == ("cpu" if on_cpu else "cuda:0")
    assert run.kernel
    assert (run.batch_rows, run.batch_requests) == (12, 1)
    timings = run.timings
    parts = timings.decode_ns, timings.queue_ns, timings.kernel_ns, timings.encode_ns
    assert min(parts) >= 0
    assert timings.kernel_ns > 0
    assert sum(parts) <= timings.total_ns


def test_threads_share_a_client(client: normd.Client) -> None:
    def right(seed: int) -> None:
        x = rows((8, 24), seed=seed)
        op = oracle.Op(kind="layer_norm", eps=1e-5)
        assert_close(client.layer_norm(x, eps=op.eps).y, oracle.forward(op, x).y, x.dtype)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(right, range(100)))


def test_a_deadline_ends_a_call_and_the_next_one_is_right(client: normd.Client) -> None:
    x = rows((1 << 16, 64))
    begin = time.monotonic()
    with pytest.raises(normd.DeadlineExceeded):
        client.layer_norm(x, eps=1, timeout=0.001)
    with pytest.raises(TimeoutError):
        client.layer_norm(x, eps=1, timeout=-1)
    assert time.monotonic() - begin < 5
    assert client.layer_norm(x[:2], eps=1).y.shape == (2, 64)


def test_metadata_goes_along(client: normd.Client, server: ServerProcess) -> None:
    pairs = [("x-note", "a"), ("x-bytes-bin", b"\0\1")]
    with normd.Client(server.address, metadata=pairs) as made:
        made.layer_norm(rows((2, 2)), eps=1)
    with (
        normd.Client(server.address, metadata=[("Bad Key", "a")]) as made,
        pytest.raises(normd.InvalidArgument) as caught,
    ):
        made.layer_norm(rows((2, 2)), eps=1)
    assert caught.value.field == "metadata"


@pytest.mark.parametrize("target", ["127.0.0.1:1", "unix:/nobody/here"])
def test_nobody_there_is_unavailable(target: str) -> None:
    with normd.Client(target) as made, pytest.raises(normd.Unavailable) as caught:
        made.layer_norm(rows((2, 2)), eps=1, timeout=10)
    assert isinstance(caught.value, ConnectionError)


def test_a_closed_client_says_so(server: ServerProcess) -> None:
    made = normd.Client(server.address)
    made.layer_norm(rows((2, 2)), eps=1)
    made.close()
    made.close()
    with pytest.raises(normd.FailedPrecondition, match="closed"):
        made.layer_norm(rows((2, 2)), eps=1)


def test_a_client_finds_its_server_again(start_server) -> None:
    """A restarted server answers within seconds, not after gRPC's two minutes."""
    small = ("--staging_bytes=134217728", "--max_message_bytes=33554432")  # a quick start
    first = start_server(*small)
    port = first.address.rsplit(":", 1)[1]
    with normd.Client(first.address) as made:
        made.layer_norm(rows((2, 2)), eps=1)
        assert first.stop() == 0
        with pytest.raises(normd.Unavailable):
            made.layer_norm(rows((2, 2)), eps=1)
        start_server(*small, f"--listen=127.0.0.1:{port}")
        end = time.monotonic() + 10
        while True:
            try:
                made.layer_norm(rows((2, 2)), eps=1)
                break
            except normd.Unavailable:
                assert time.monotonic() < end
                time.sleep(0.05)
