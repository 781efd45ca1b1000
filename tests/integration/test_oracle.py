"""The oracle's gradients agree with central differences of its forward."""

from __future__ import annotations

import itertools
import zlib

import numpy as np
import pytest
from oracle import GATE_THEN_NORM, NORM_THEN_GATE, SIGMOID, SILU, Op, backward, forward

STEP = 1e-6
GATES = [(None, None), *itertools.product((SILU, SIGMOID), (NORM_THEN_GATE, GATE_THEN_NORM))]


def _difference(loss, operands: dict[str, np.ndarray], name: str) -> np.ndarray:
    """d loss / d operands[name], element by element."""
    slope = np.zeros_like(operands[name])
    for index in np.ndindex(slope.shape):
        sides = []
        for step in (STEP, -STEP):
            moved = {key: value.copy() for key, value in operands.items()}
            moved[name][index] += step
            sides.append(loss(**moved))
        slope[index] = (sides[0] - sides[1]) / (2 * STEP)
    return slope


@pytest.mark.parametrize("kind", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize("group_size", [0, 4])
@pytest.mark.parametrize("gate", GATES, ids=lambda gate: "-".join(filter(None, gate)) or "plain")
@pytest.mark.parametrize("parameters", [(), ("weight",), ("bias",), ("weight", "bias")])
def test_gradients_match_central_differences(kind, group_size, gate, parameters):
    op = Op(
        kind=kind,
        eps=1e-3,
        group_size=group_size,
        gate_activation=gate[0],
        gate_order=gate[1],
        weight_offset=0.5,
    )
    seed = zlib.crc32(repr((op, parameters)).encode())
    rng = np.random.default_rng(seed)
    operands = {name: rng.normal(size=8) for name in parameters}
    operands |= {name: rng.normal(size=(3, 8)) for name in (["x", "z"] if gate[0] else ["x"])}
    dy = rng.normal(size=(3, 8))

    def loss(**moved: np.ndarray) -> float:
        return float((forward(op, **moved).y * dy).sum())

    gradients = backward(op, dy=dy, **operands)
    for name in operands:
        np.testing.assert_allclose(
            getattr(gradients, f"d{name}"),
            _difference(loss, operands, name),
            rtol=1e-6,
            atol=1e-7,
            err_msg=f"d{name}, seed {seed}",
        )


def test_residual_add_is_rounded_before_the_statistics():
    op = Op(kind="layer_norm", eps=1e-5)
    x = np.array([[2048.0, 1.0]], np.float16)
    residual = np.array([[1.0, 0.0]], np.float16)
    result = forward(op, x, residual=residual)
    assert result.residual_out is not None
    np.testing.assert_array_equal(result.residual_out, [[2048.0, 1.0]])
    np.testing.assert_array_equal(result.y, forward(op, x).y)
