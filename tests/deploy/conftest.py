"""A client whose server is the float64 oracle, so that a test can spoil one of its answers."""

from __future__ import annotations

from collections.abc import Callable

import normd
import numpy as np
import oracle
import pytest
from normd import MockCall, MockTransport

_KINDS = {1: "layer_norm", 2: "rms_norm"}
_ACTIVATIONS = {2: oracle.SILU, 3: oracle.SIGMOID}
_ORDERS = {1: oracle.NORM_THEN_GATE, 2: oracle.GATE_THEN_NORM}
_FLOAT32_OUTPUTS = {"mean", "rstd", "dweight", "dbias"}

Spoil = Callable[[dict[str, np.ndarray]], None]


def _answer(call: MockCall) -> dict[str, np.ndarray]:
    tensors = call.tensors
    op = oracle.Op(
        kind=_KINDS[call.op.kind],
        eps=call.op.eps,
        gate_activation=_ACTIVATIONS.get(call.op.gate_activation),
        gate_order=_ORDERS.get(call.op.gate_order),
    )
    given = {name: tensors[name] for name in ("weight", "bias", "z") if name in tensors}
    if call.method == "Forward":
        result = oracle.forward(op, tensors["x"], **given)
    else:
        result = oracle.backward(op, tensors["x"], tensors["dy"], **given)
    return {
        name: getattr(result, name)
        .astype(np.float32)
        .astype(np.float32 if name in _FLOAT32_OUTPUTS else tensors["x"].dtype)
        for name in call.outputs
    }


@pytest.fixture
def oracle_client() -> Callable[[Spoil], normd.Client]:
    """oracle_client(spoil): spoil changes the arrays of a reply in place, by name."""

    def make(spoil: Spoil) -> normd.Client:
        def handler(call: MockCall) -> dict[str, np.ndarray]:
            outputs = _answer(call)
            spoil(outputs)
            return outputs

        return normd.Client(transport=MockTransport(handler))

    return make
