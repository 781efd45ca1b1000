"""What each peer runs for a point: functions over tensors that are made once a point."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import peer_schemes
import torch

EPS = 1e-5
ACTIVATIONS = {"silu": "swish", "sigmoid": "sigmoid"}  # normd's name, FLA's
MODULES = {
    "liger_layer_norm": "liger_kernel.ops.layer_norm",
    "liger_rms_norm": "liger_kernel.ops.rms_norm",
    "fla": "fla.modules.norm.fused_norm_gate",
    "quack": "quack.rmsnorm",
}
LIGER_MAX_WIDTH = 65536

Run = Callable[[], Any]


@dataclasses.dataclass(frozen=True)
class Point:
    """One shape; the fields are those of a line."""

    op: str  # "layer_norm.forward", "gated_rms_norm.backward.graph"
    rows: int
    width: int
    dtype: str
    gate: str = "none"

    @property
    def kind(self) -> str:
        return self.op.split(".")[0]

    @property
    def forward(self) -> bool:
        return self.op.split(".")[1] == "forward"

    @property
    def graph(self) -> bool:
        return self.op.endswith(".graph")

    @property
    def bytes(self) -> int:
        """What the op must move: each tensor once, statistics in fp32, parameters once."""
        size = getattr(torch, self.dtype).itemsize
        gated = self.gate != "none"
        layer_norm = self.kind.endswith("layer_norm")
        tensors = (2 if self.forward else 3) + gated * (1 if self.forward else 2)
        statistics = 2 if layer_norm else 1
        parameters = (2 if layer_norm else 1) if self.forward else (3 if layer_norm else 2)
        elements = tensors * self.rows * self.width + parameters * self.width
        return elements * size + 4 * statistics * self.rows


class Tensors:
    """Inputs of a point, random, each made when it is first asked for."""

    def __init__(self, point: Point):
        self.point = point
        self.dtype = getattr(torch, point.dtype)

    def _rows(self) -> torch.Tensor:
        shape = (self.point.rows, self.point.width)
        return torch.randn(shape, device="cuda", dtype=self.dtype)

    def _parameter(self) -> torch.Tensor:
        return torch.randn(self.point.width, device="cuda").to(self.dtype)

    x = functools.cached_property(lambda self: self._rows())
    z = functools.cached_property(lambda self: self._rows())
    dy = functools.cached_property(lambda self: self._rows())
    w = functools.cached_property(lambda self: self._parameter())
    b = functools.cached_property(lambda self: self._parameter())


def load_modules() -> tuple[dict[str, Any], dict[str, str]]:
    """The peers that import, and why the others do not."""
    modules, skipped = {}, {}
    for name, module in MODULES.items():
        try:
            modules[name] = importlib.import_module(module)
        except Exception as error:  # a peer that does not import is not measured
            skipped[name] = repr(error)[:200]
    return modules, skipped


def runs(point: Point, t: Tensors, modules: dict[str, Any]) -> Iterator[tuple[str, Callable]]:
    """Pairs of a peer's name and what prepares its run (and may fail)."""
    builders = {
        "layer_norm": _layer_norm,
        "rms_norm": _rms_norm,
        "gated_rms_norm": _gated,
        "gated_layer_norm": _gated,
    }
    yield from builders[point.kind](point, t, modules)


def _layer_norm(point: Point, t: Tensors, modules: dict[str, Any]):
    yield "torch", lambda: _torch_layer_norm(point, t)
    if "liger_layer_norm" in modules and point.width <= LIGER_MAX_WIDTH:
        yield "liger", lambda: _liger_layer_norm(point, t, modules["liger_layer_norm"])
    if "quack" in modules:
        yield "quack", lambda: _quack_layer_norm(point, t, modules["quack"])
    if point.width <= peer_schemes.BLOCK_ROW_MAX_WIDTH:
        yield "block_row", lambda: _block_row(point, t)


def _rms_norm(point: Point, t: Tensors, modules: dict[str, Any]):
    yield "torch", lambda: _torch_rms_norm(point, t)
    if "liger_rms_norm" in modules and point.width <= LIGER_MAX_WIDTH:
        yield "liger", lambda: _liger_rms_norm(point, t, modules["liger_rms_norm"])
    if "quack" in modules:
        yield "quack", lambda: _quack_rms_norm(point, t, modules["quack"])


def _gated(point: Point, t: Tensors, modules: dict[str, Any]):
    if point.kind == "gated_rms_norm" and point.forward and point.gate == "silu":
        yield "rows4", lambda: _rows4(point, t)
    if "fla" in modules and point.gate in ACTIVATIONS:
        yield "fla", lambda: _fla(point, t, modules["fla"])


def _torch_layer_norm(point: Point, t: Tensors) -> Run:
    aten, shape = torch.ops.aten, [point.width]
    if point.forward:
        return lambda: aten.native_layer_norm(t.x, shape, t.w, t.b, EPS)
    _, mean, rstd = aten.native_layer_norm(t.x, shape, t.w, t.b, EPS)
    return lambda: aten.native_layer_norm_backward(
        t.dy, t.x, shape, mean, rstd, t.w, t.b, [True] * 3
    )


def _torch_rms_norm(point: Point, t: Tensors) -> Run:
    aten, shape = torch.ops.aten, [point.width]
    if point.forward:
        return lambda: aten._fused_rms_norm(t.x, shape, t.w, EPS)
    _, rstd = aten._fused_rms_norm(t.x, shape, t.w, EPS)
    return lambda: aten._fused_rms_norm_backward(t.dy, t.x, shape, rstd, t.w, [True, True])


def _liger_layer_norm(point: Point, t: Tensors, liger: Any) -> Run:
    if point.forward:
        return lambda: liger.layer_norm_forward(t.x, t.w, t.b, EPS)
    _, _, mean, rstd, _, _ = liger.layer_norm_forward(t.x, t.w, t.b, EPS)
    return lambda: liger.layer_norm_backward(t.dy, t.x, t.w, t.b, mean, rstd)


def _liger_rms_norm(point: Point, t: Tensors, liger: Any) -> Run:
    def forward():
        return liger.rms_norm_forward(t.x, t.w, EPS, 0.0, "llama", None)

    if point.forward:
        return forward
    _, _, rstd, block, warps, mode = forward()
    return lambda: liger.rms_norm_backward(
        t.dy, t.x, t.w, rstd, 0.0, mode, block, warps, False, None
    )


def _quack_layer_norm(point: Point, t: Tensors, quack: Any) -> Run:
    w, b = t.w.float(), t.b.float()  # it takes no other
    if point.forward:
        return lambda: quack.layernorm_fwd(t.x, w, b, EPS, return_rstd=True, return_mean=True)
    _, rstd, mean = quack.layernorm_fwd(t.x, w, b, EPS, return_rstd=True, return_mean=True)
    return lambda: quack.layernorm_bwd(t.x, w, t.dy, rstd, mean)


def _quack_rms_norm(point: Point, t: Tensors, quack: Any) -> Run:
    if point.forward:
        return lambda: quack.rmsnorm_fwd(t.x, t.w, eps=EPS, store_rstd=True)
    _, _, rstd = quack.rmsnorm_fwd(t.x, t.w, eps=EPS, store_rstd=True)
    return lambda: quack.rmsnorm_bwd(t.x, t.w, t.dy, rstd)


def _block_row(point: Point, t: Tensors) -> Run:
    if point.forward:
        return lambda: peer_schemes.block_row_forward(t.x, t.w, t.b, EPS)
    _, mean, rstd = peer_schemes.block_row_forward(t.x, t.w, t.b, EPS)
    return lambda: peer_schemes.block_row_backward(t.dy, t.x, t.w, mean, rstd)


def _rows4(point: Point, t: Tensors) -> Run:
    out = torch.empty_like(t.x)
    rstd = torch.empty(point.rows, device="cuda")
    return lambda: peer_schemes.rows4_gated_rms(t.x, t.z, t.w, EPS, out, rstd)


def _fla(point: Point, t: Tensors, fla: Any) -> Run:
    rms = point.kind == "gated_rms_norm"
    activation, b = ACTIVATIONS[point.gate], None if rms else t.b

    def forward():
        return fla.layer_norm_gated_fwd(t.x, t.z, t.w, b, activation, EPS, is_rms_norm=rms)

    if point.forward:
        return forward
    _, mean, rstd, _ = forward()
    return lambda: fla.layer_norm_gated_bwd(
        t.dy, t.x, t.z, t.w, b, activation, EPS, mean, rstd, is_rms_norm=rms
    )
