"""Kernels of two public proposals, written in Triton from their descriptions, to measure against.

block_row: "block-row kernels for narrow feature widths", a proposal of 2026 for a library of
training kernels. LayerNorm up to 256 columns: a program takes a tile of at most 64 rows and 4,096
elements; backward runs up to four persistent programs a multiprocessor and adds their partial
gradients afterwards. Ours here keeps its statistics in fp32, as every op of normd does.

rows4: the gated RMSNorm of an inference engine's linear-attention layers: as many rows a program as
the next power of two of rows / (2 x multiprocessors), at most four.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

BLOCK_ROW_MAX_WIDTH = 256


@triton.jit
def _block_row_forward(
    Y, X, W, B, Mean, Rstd, n_rows, n_cols, eps, ROWS: tl.constexpr, COLS: tl.constexpr
):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    col_ok = cols < n_cols
    ok = (rows < n_rows)[:, None] & col_ok[None, :]
    w = tl.load(W + cols, mask=col_ok, other=0.0).to(tl.float32)
    b = tl.load(B + cols, mask=col_ok, other=0.0).to(tl.float32)
    at = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(X + at, mask=ok, other=0.0)
    mean = tl.sum(x.to(tl.float32), axis=1) / n_cols
    centred = tl.where(col_ok[None, :], x.to(tl.float32) - mean[:, None], 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=1) / n_cols + eps)
    tl.store(Mean + rows, mean, mask=rows < n_rows)
    tl.store(Rstd + rows, rstd, mask=rows < n_rows)
    y = centred * rstd[:, None] * w[None, :] + b[None, :]
    tl.store(Y + at, y.to(x.dtype), mask=ok)


@triton.jit
def _block_row_backward(
    DY,
    X,
    W,
    Mean,
    Rstd,
    DX,
    DW,
    DB,
    n_rows,
    n_cols,
    programs,
    ROWS: tl.constexpr,
    COLS: tl.constexpr,
):
    pid = tl.program_id(0)
    cols = tl.arange(0, COLS)
    col_ok = cols < n_cols
    w = tl.load(W + cols, mask=col_ok, other=0.0).to(tl.float32)
    dw = tl.zeros((COLS,), tl.float32)
    db = tl.zeros((COLS,), tl.float32)
    for start in range(pid * ROWS, n_rows, programs * ROWS):
        rows = tl.cast(start, tl.int64) + tl.arange(0, ROWS)
        row_ok = rows < n_rows
        ok = row_ok[:, None] & col_ok[None, :]
        at = rows[:, None] * n_cols + cols[None, :]
        x = tl.load(X + at, mask=ok, other=0.0).to(tl.float32)
        dy = tl.load(DY + at, mask=ok, other=0.0).to(tl.float32)
        mean = tl.load(Mean + rows, mask=row_ok, other=0.0)
        rstd = tl.load(Rstd + rows, mask=row_ok, other=0.0)
        h = tl.where(ok, (x - mean[:, None]) * rstd[:, None], 0.0)
        g = w[None, :] * dy
        c1 = tl.sum(h * g, axis=1) / n_cols
        c2 = tl.sum(g, axis=1) / n_cols
        dx = (g - (h * c1[:, None] + c2[:, None])) * rstd[:, None]
        tl.store(DX + at, dx.to(DX.dtype.element_ty), mask=ok)
        dw += tl.sum(dy * h, axis=0)
        db += tl.sum(dy, axis=0)
    tl.store(DW + pid * n_cols + cols, dw, mask=col_ok)
    tl.store(DB + pid * n_cols + cols, db, mask=col_ok)


@triton.jit
def _rows4_gated_rms_forward(
    Y, X, Z, W, Rstd, n_rows, n_cols, eps, ROWS: tl.constexpr, COLS: tl.constexpr
):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    ok = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
    at = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(X + at, mask=ok, other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=1) / n_cols + eps)
    tl.store(Rstd + rows, rstd, mask=rows < n_rows)
    w = tl.load(W + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
    z = tl.load(Z + at, mask=ok, other=0.0).to(tl.float32)
    y = x * rstd[:, None] * w[None, :] * (z * tl.sigmoid(z))
    tl.store(Y + at, y.to(Y.dtype.element_ty), mask=ok)


def _multiprocessors(x: torch.Tensor) -> int:
    return torch.cuda.get_device_properties(x.device).multi_processor_count


def _block_row_tile(cols: int) -> int:
    return max(1, min(64, 4096 // cols))


def block_row_forward(x, w, b, eps):
    """y, mean, rstd. REQUIRES: x is [rows, width], contiguous, of at most 256 columns."""
    n, d = x.shape
    cols = triton.next_power_of_2(d)
    rows = _block_row_tile(cols)
    y = torch.empty_like(x)
    mean = torch.empty(n, device=x.device)
    rstd = torch.empty(n, device=x.device)
    _block_row_forward[(triton.cdiv(n, rows),)](
        y, x, w, b, mean, rstd, n, d, eps, ROWS=rows, COLS=cols, num_warps=4
    )
    return y, mean, rstd


def block_row_backward(dy, x, w, mean, rstd):
    """dx, dw, db."""
    n, d = x.shape
    cols = triton.next_power_of_2(d)
    rows = _block_row_tile(cols)
    programs = min(4 * _multiprocessors(x), triton.cdiv(n, rows))
    dx = torch.empty_like(x)
    dw = torch.empty((programs, d), device=x.device)
    db = torch.empty_like(dw)
    _block_row_backward[(programs,)](
        dy, x, w, mean, rstd, dx, dw, db, n, d, programs, ROWS=rows, COLS=cols, num_warps=4
    )
    return dx, dw.sum(0).to(w.dtype), db.sum(0).to(w.dtype)


def rows4_gated_rms(x, z, w, eps, out, rstd):
    """Writes out and rstd: RMSNorm(x) * w * SiLU(z)."""
    n, d = x.shape
    rows = min(triton.next_power_of_2(triton.cdiv(n, 2 * _multiprocessors(x))), 4)
    cols = triton.next_power_of_2(d)
    warps = min(max(cols // 256, 1), 8)
    _rows4_gated_rms_forward[(triton.cdiv(n, rows),)](
        out, x, z, w, rstd, n, d, eps, ROWS=rows, COLS=cols, num_warps=warps
    )


def check() -> None:
    """Raises when a scheme's results are not those of PyTorch in fp32."""
    torch.manual_seed(1)
    x, z, dy = (torch.randn(1000, 96, device="cuda") for _ in range(3))
    w, b = (torch.randn(96, device="cuda", requires_grad=True) for _ in range(2))
    leaf = x.clone().requires_grad_()
    expected = torch.nn.functional.layer_norm(leaf, [96], w, b, 1e-5)
    with torch.no_grad():
        y, mean, rstd = block_row_forward(x, w, b, 1e-5)
        gradients = block_row_backward(dy, x, w, mean, rstd)
        out, gated_rstd = torch.empty_like(x), torch.empty(1000, device="cuda")
        rows4_gated_rms(x, z, w, 1e-6, out, gated_rstd)
        gated = torch.nn.functional.rms_norm(x, [96], w, 1e-6) * torch.nn.functional.silu(z)
    torch.testing.assert_close(y, expected.detach(), rtol=1e-4, atol=1e-4)
    wanted = torch.autograd.grad(expected, (leaf, w, b), dy)
    for got, want in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(out, gated, rtol=1e-4, atol=1e-4)
