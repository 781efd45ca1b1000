"""The two workloads: LayerNorm of many narrow rows, and gated RMSNorm of width 128.

Each request is sent to the server, forward and backward, and each element of the replies is
compared with float64.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator

import normd
import numpy as np
import oracle
from tqdm import tqdm
from values import BFLOAT16, FLOAT16, values
from verification import Mismatch, Operands, Verifier

LAYER_NORM_WIDTHS = (16, 32, 64, 128, 256)
LAYER_NORM_ROWS = 7_864_320
GATED_ROWS = (256, 1024, 4096, 16384, 65536, 262144)
TIMEOUT_S = 300.0
# For what a message holds beside its large tensors.
_MESSAGE_OVERHEAD_BYTES = 64 << 10
_PROBE_ELEMENTS = 1 << 20
_OUTPUTS = ("y", "mean", "rstd")
_GRADIENTS = ("dx", "dz", "dweight", "dbias")


@dataclasses.dataclass(frozen=True)
class Limits:
    message_bytes: int
    rows: int  # of one workload
    seconds: float  # about, for one LayerNorm width on a CPU
    repeats: int  # of one gated request, for its latency


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    op: oracle.Op
    dtype: np.dtype
    width: int

    @property
    def gated(self) -> bool:
        return self.op.gate_activation is not None

    @property
    def results(self) -> set[str]:
        """What the two replies hold."""
        return {"y", "rstd", "dx", "dweight", *(("dz",) if self.gated else ("mean", "dbias"))}

    def chunk_rows(self, message_bytes: int) -> int:
        """Rows of the largest request: backward carries x, dy, the gate and the statistics."""
        tensors = 3 if self.gated else 2
        row_bytes = tensors * self.width * self.dtype.itemsize + 8
        return (message_bytes - _MESSAGE_OVERHEAD_BYTES) // row_bytes

    def operands(self, rng: np.random.Generator, rows: int) -> Operands:
        def matrix() -> np.ndarray:
            return values(rng, (rows, self.width), self.dtype)

        def vector() -> np.ndarray:
            return values(rng, (self.width,), self.dtype)

        if self.gated:
            return Operands(x=matrix(), dy=matrix(), z=matrix(), weight=vector())
        return Operands(x=matrix(), dy=matrix(), weight=vector(), bias=vector())


@dataclasses.dataclass
class Report:
    """One line of the table."""

    workload: Workload
    rows: int = 0
    requests: int = 0
    forward_s: float = 0.0
    backward_s: float = 0.0
    error_share: float = 0.0  # of what is allowed
    device: str = ""

    def line(self) -> str:
        element_bytes = self.rows * self.workload.width * self.workload.dtype.itemsize
        arrays = 3 if self.workload.gated else 2
        return (
            f"  {self.workload.name:<16} {self.workload.dtype.name:<9} {self.workload.width:>5} "
            f"{self.rows:>9,} {self.requests:>5} "
            f"{arrays * element_bytes / self.forward_s / 1e9:>9.2f} "
            f"{(2 * arrays - 1) * element_bytes / self.backward_s / 1e9:>9.2f} "
            f"{self.error_share:>9.3f}  verified"
        )


HEADER = (
    f"  {'op':<16} {'dtype':<9} {'width':>5} {'rows':>9} {'calls':>5} "
    f"{'fwd GB/s':>9} {'bwd GB/s':>9} {'error':>9}"
)


def layer_norm(width: int) -> Workload:
    return Workload("layer_norm", oracle.Op(kind="layer_norm", eps=1e-5), BFLOAT16, width)


def gated_rms_norm() -> Workload:
    op = oracle.Op(
        kind="rms_norm",
        eps=1e-6,
        gate_activation=oracle.SILU,
        gate_order=oracle.NORM_THEN_GATE,
    )
    return Workload("gated_rms_norm", op, FLOAT16, 128)


def _only(arrays: dict[str, np.ndarray], names: tuple[str, ...]) -> dict[str, np.ndarray]:
    return {name: array for name, array in arrays.items() if name in names}


class Runner:
    """Sends requests of a workload and adds them up in a report."""

    def __init__(self, client: normd.Client, workload: Workload, seed: int) -> None:
        self._client = client
        self._workload = workload
        self._verifier = Verifier(workload.op)
        self._rng = np.random.default_rng(seed)
        self.report = Report(workload)

    def send(self, rows: int) -> tuple[Operands, dict[str, np.ndarray]]:
        """One request forward and one backward, verified; returns what went in and came out."""
        operands = self._workload.operands(self._rng, rows)
        start = time.perf_counter()
        forward = self._forward(operands)
        middle = time.perf_counter()
        backward = self._backward(operands, forward)
        end = time.perf_counter()

        results = self._results(forward, backward)
        share = max(
            self._verifier.forward(operands, _only(results, _OUTPUTS)),
            self._verifier.backward(operands, _only(results, _GRADIENTS)),
        )
        report = self.report
        report.rows += rows
        report.requests += 2
        report.forward_s += middle - start
        report.backward_s += end - middle
        report.error_share = max(report.error_share, share)
        report.device = forward.execution.device
        return operands, results

    def repeat(self, operands: Operands) -> dict[str, np.ndarray]:
        """The same requests once more, neither verified nor in the report."""
        forward = self._forward(operands)
        return self._results(forward, self._backward(operands, forward))

    def _results(
        self, forward: normd.ForwardResult, backward: normd.BackwardResult
    ) -> dict[str, np.ndarray]:
        arrays = {name: getattr(forward, name) for name in _OUTPUTS}
        arrays |= {name: getattr(backward, name) for name in _GRADIENTS}
        found = {name: array for name, array in arrays.items() if array is not None}
        if found.keys() != self._workload.results:
            raise Mismatch(f"replies with {sorted(found)}, not {sorted(self._workload.results)}")
        return found

    def _forward(self, operands: Operands) -> normd.ForwardResult:
        op = self._workload.op
        call = self._client.layer_norm if op.kind == "layer_norm" else self._client.rms_norm
        return call(
            operands.x,
            operands.weight,
            operands.bias,
            eps=op.eps,
            z=operands.z,
            activation=op.gate_activation,
            gate_order=op.gate_order,
            return_statistics=True,
            timeout=TIMEOUT_S,
        )

    def _backward(self, operands: Operands, forward: normd.ForwardResult) -> normd.BackwardResult:
        op = self._workload.op
        settings = {
            "eps": op.eps,
            "z": operands.z,
            "activation": op.gate_activation,
            "gate_order": op.gate_order,
            "rstd": forward.rstd,
            "parameter_gradient_dtype": np.float32,
            "timeout": TIMEOUT_S,
        }
        if op.kind == "layer_norm":
            return self._client.layer_norm_backward(
                operands.dy,
                operands.x,
                operands.weight,
                operands.bias,
                mean=forward.mean,
                **settings,
            )
        return self._client.rms_norm_backward(
            operands.dy, operands.x, operands.weight, operands.bias, **settings
        )


def run_layer_norm(client: normd.Client, limits: Limits) -> Iterator[Report]:
    """One report a width."""
    for width in LAYER_NORM_WIDTHS:
        workload = layer_norm(width)
        runner = Runner(client, workload, seed=width)
        start = time.perf_counter()
        probe = min(limits.rows, _PROBE_ELEMENTS // width)
        runner.send(probe)
        row_s = (time.perf_counter() - start) / probe
        rows = limits.rows
        if runner.report.device == "cpu":
            rows = min(rows, max(probe, int(limits.seconds / row_s)))
        chunk = workload.chunk_rows(limits.message_bytes)
        with tqdm(
            total=rows,
            initial=probe,
            desc=f"  layer_norm {width}",
            unit="row",
            unit_scale=True,
            leave=False,
            disable=None,
        ) as bar:
            while runner.report.rows < rows:
                step = min(chunk, rows - runner.report.rows)
                runner.send(step)
                bar.update(step)
        yield runner.report


def run_gated_rms_norm(client: normd.Client, limits: Limits) -> Iterator[Report]:
    """One report a number of rows. Repeated requests must give the same bits."""
    workload = gated_rms_norm()
    chunk = workload.chunk_rows(limits.message_bytes)
    for rows in GATED_ROWS:
        if rows > limits.rows:
            break
        runner = Runner(client, workload, seed=rows)
        while runner.report.rows < rows:
            operands, first = runner.send(min(chunk, rows - runner.report.rows))
        for _ in range(min(limits.repeats, limits.repeats * GATED_ROWS[1] // rows)):
            again = runner.repeat(operands)
            for name, array in again.items():
                if array.tobytes() != first[name].tobytes():
                    raise Mismatch(f"{name} has other bits when {rows} rows are sent again")
        yield runner.report
