"""The quickstart accepts right answers and refuses answers that are off by a little."""

from __future__ import annotations

import numpy as np
import pytest
import training
from training import train
from verification import Mismatch
from workloads import Limits, Runner, gated_rms_norm, layer_norm, run_gated_rms_norm, run_layer_norm

WORKLOADS = {"layer_norm": layer_norm(16), "gated_rms_norm": gated_rms_norm()}
OUTPUTS = [
    *(("layer_norm", name) for name in ("y", "mean", "rstd", "dx", "dweight", "dbias")),
    *(("gated_rms_norm", name) for name in ("y", "rstd", "dx", "dz", "dweight")),
]
ROWS = 300
LIMITS = Limits(message_bytes=1 << 20, rows=1024, seconds=0.0, repeats=2)


def _nothing(outputs):
    """Right answers."""


def test_right_answers_pass(oracle_client):
    client = oracle_client(_nothing)
    reports = [*run_layer_norm(client, LIMITS), *run_gated_rms_norm(client, LIMITS)]
    assert [(report.workload.width, report.rows) for report in reports] == [
        *((width, 1024) for width in (16, 32, 64, 128, 256)),
        *((128, rows) for rows in (256, 1024)),
    ]
    assert all(0 < report.error_share <= 1 for report in reports)


@pytest.mark.parametrize(("workload", "name"), OUTPUTS)
@pytest.mark.parametrize("what", ["off", "nan"])
def test_one_wrong_element_is_found(oracle_client, workload, name, what):
    def spoil(outputs):
        if name in outputs:
            flat = outputs[name].reshape(-1)
            step = np.abs(flat).max() * flat.dtype.type(0.001 if flat.dtype == np.float32 else 0.02)
            flat[-1] = np.nan if what == "nan" else flat[-1] + step

    with pytest.raises(Mismatch, match=rf"^{name}\["):
        Runner(oracle_client(spoil), WORKLOADS[workload], seed=1).send(ROWS)


def test_an_answer_that_changes_is_found(oracle_client):
    replies = iter(range(1 << 20))

    def spoil(outputs):
        # The last bit of a tiny element: right within the tolerance, but not the same bits.
        if "y" in outputs and next(replies) > 0:
            bits = outputs["y"].view(np.uint16).reshape(-1)
            bits[int(np.argmin(np.abs(outputs["y"])))] ^= 1

    with pytest.raises(Mismatch, match="other bits"):
        list(run_gated_rms_norm(oracle_client(spoil), LIMITS))


def test_training_with_right_norms_learns(oracle_client):
    result = train(oracle_client(_nothing))
    assert result.accuracy >= training.LEAST_ACCURACY
    assert result.worst_difference <= training.LOSS_TOLERANCE / 10


@pytest.mark.parametrize("name", ["y", "dx", "dweight", "dbias"])
def test_training_with_a_wrong_norm_fails(oracle_client, name):
    def spoil(outputs):
        if name in outputs:
            outputs[name] *= np.float32(1.001)

    with pytest.raises(Mismatch, match="with remote norms"):
        train(oracle_client(spoil))
