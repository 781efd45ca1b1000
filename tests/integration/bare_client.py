"""A client written from the .proto alone: stock generated code, stock grpc, numpy.

As a program: bare_client.py STUBS ADDRESS, where STUBS is the output folder of
`python -m grpc_tools.protoc --python_out --grpc_python_out`. Exits with a traceback when a result
differs from float64. It is a program, because the generated package has the name of the installed
client, and a process can have one of them.
"""

from __future__ import annotations

import pathlib
import sys

import grpc
import ml_dtypes
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import oracle
from closeness import assert_close


def tensor(pb, array: np.ndarray):
    numbers = {"float32": 1, "float16": 2, "bfloat16": 3}
    return pb.Tensor(dtype=numbers[array.dtype.name], shape=array.shape, inline=array.tobytes())


def array(message) -> np.ndarray:
    dtype = {1: np.float32, 2: np.float16, 3: ml_dtypes.bfloat16}[message.dtype]
    return np.frombuffer(message.inline, dtype).reshape(tuple(message.shape))


def main(stubs: str, address: str) -> None:
    sys.path.insert(0, stubs)
    from normd.v1 import norm_pb2 as pb
    from normd.v1 import norm_pb2_grpc

    assert pb.__file__.startswith(stubs), f"{pb.__file__} is not the code under test"
    service = norm_pb2_grpc.NormServiceStub(grpc.insecure_channel(address))
    rng = np.random.default_rng(30)
    inline = pb.Output(inline=pb.InlineOutput())
    for dtype in (np.float32, np.float16, ml_dtypes.bfloat16):
        x, z, dy = (rng.standard_normal((9, 32)).astype(dtype) for _ in range(3))
        weight, bias = (rng.standard_normal(32).astype(np.float32) for _ in range(2))
        for kind, number in (("layer_norm", 1), ("rms_norm", 2)):
            op = oracle.Op(
                kind=kind,
                eps=1e-5,
                group_size=8,
                gate_activation=oracle.SILU,
                gate_order=oracle.NORM_THEN_GATE,
            )
            wire_op = pb.NormOp(
                kind=number, eps=1e-5, group_size=8, gate_activation=2, gate_order=1
            )
            operands = {"z": z, "weight": weight, "bias": bias}
            sent = {name: tensor(pb, value) for name, value in operands.items()}
            sent["x"] = tensor(pb, x)
            reply = service.Forward(
                pb.ForwardRequest(op=wire_op, y=inline, rstd=inline, **sent), timeout=30
            )
            right = oracle.forward(op, x, **operands)
            assert_close(array(reply.y), right.y, dtype)
            assert_close(array(reply.rstd), right.rstd, np.float32)
            assert not reply.HasField("mean"), "nobody asked for it"
            assert reply.execution.timings.total_ns > 0

            wanted = dict.fromkeys(("dx", "dz", "dweight", "dbias"), inline)
            reply = service.Backward(
                pb.BackwardRequest(op=wire_op, dy=tensor(pb, dy), **wanted, **sent), timeout=30
            )
            right = oracle.backward(op, x, dy, **operands)
            assert_close(array(reply.dx), right.dx, dtype)
            assert_close(array(reply.dz), right.dz, dtype)
            assert_close(array(reply.dweight), right.dweight, np.float32)
            assert_close(array(reply.dbias), right.dbias, np.float32)
    print("right")


if __name__ == "__main__":
    main(*sys.argv[1:])
