"""The bytes that the Python client writes and reads, against the generated messages."""

from __future__ import annotations

import contextlib

import normd
import numpy as np
import pytest
from normd import _wire
from normd._stubs.normd.v1 import norm_pb2


def same(call: normd.MockCall) -> dict[str, np.ndarray]:
    return {"y": call.tensors["x"]}


def test_a_request_is_what_the_generated_parser_reads() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    captured: list[bytes] = []

    class Recorder(normd.MockTransport):
        def call(self, path, request, **rest):
            captured.append(request)
            return super().call(path, request, **rest)

    normd.Client(transport=Recorder(same)).layer_norm(x, eps=0.5)
    message = norm_pb2.ForwardRequest.FromString(captured[0])
    assert message.x == norm_pb2.Tensor(
        dtype=norm_pb2.DATA_TYPE_FLOAT32, shape=[2, 3], inline=x.tobytes()
    )
    assert message.op.eps == 0.5
    assert message.y.WhichOneof("destination") == "inline"


def response() -> norm_pb2.ForwardResponse:
    message = norm_pb2.ForwardResponse()
    message.execution.batch_rows = 2
    message.y.dtype = norm_pb2.DATA_TYPE_FLOAT32
    message.y.shape.extend([2, 3])
    message.y.inline = np.arange(6, dtype=np.float32).tobytes()
    return message


def test_a_reply_of_the_generated_serializer_is_read() -> None:
    rest, arrays = _wire.decode(norm_pb2.ForwardResponse, response().SerializeToString())
    assert rest.execution.batch_rows == 2
    np.testing.assert_array_equal(arrays["y"], np.arange(6, dtype=np.float32).reshape(2, 3))


def test_an_aligned_reply_is_viewed_and_another_is_copied() -> None:
    tensor = response().y.SerializeToString()
    views = set()
    for padding in range(4):
        # A field that nobody knows moves the payload byte by byte.
        data = bytes([0x7A, padding]) + bytes(padding) + bytes([0x5A, len(tensor)]) + tensor
        _, arrays = _wire.decode(norm_pb2.ForwardResponse, data)
        assert arrays["y"].flags.aligned
        np.testing.assert_array_equal(arrays["y"].ravel(), np.arange(6, dtype=np.float32))
        views.add(np.shares_memory(arrays["y"], np.frombuffer(data, np.uint8)))
    assert views == {True, False}


def test_every_truncation_of_a_reply_is_an_error() -> None:
    data = response().SerializeToString()
    whole = len(data) - response().y.ByteSize() - 2
    for length in range(len(data)):
        if length in (0, whole):
            assert _wire.decode(norm_pb2.ForwardResponse, data[:length])[1] == {}
            continue
        with pytest.raises(normd.Internal):
            _wire.decode(norm_pb2.ForwardResponse, data[:length])


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": 0},
        {"dtype": 77},
        {"shape": [2, 4]},
        {"shape": [-2, -3]},
        {"shape": [2**62, 2**62]},
        {"inline": b"odd"},
    ],
)
def test_a_tensor_that_contradicts_itself_is_an_error(change: dict) -> None:
    message = response()
    fields = {"dtype": 1, "shape": [2, 3], "inline": bytes(24)} | change
    message.y.CopyFrom(norm_pb2.Tensor(**fields))
    with pytest.raises(normd.Internal):
        _wire.decode(norm_pb2.ForwardResponse, message.SerializeToString())


def test_random_bytes_never_give_anything_but_an_error_or_a_result() -> None:
    rng = np.random.default_rng(1)
    good = response().SerializeToString()
    for _ in range(2000):
        data = bytearray(good)
        for at in rng.integers(0, len(data), 3):
            data[at] = rng.integers(0, 256)
        with contextlib.suppress(normd.Internal):
            _wire.decode(norm_pb2.ForwardResponse, bytes(data))


def test_a_message_over_two_gigabytes_is_refused_before_it_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = normd.Client(transport=normd.MockTransport(same))
    # Reserved, never touched: 2 GiB of zero pages cost nothing until somebody reads them.
    with pytest.raises(normd.ResourceExhausted):
        client.layer_norm(np.zeros((2**22, 2**7), np.float32), eps=1)
    x = np.ones((4, 8), np.float32)
    monkeypatch.setattr(_wire, "MAX_MESSAGE_BYTES", 100)
    with pytest.raises(normd.ResourceExhausted, match="at most 100"):
        client.layer_norm(x, eps=1)
