"""A small classifier with two LayerNorms, in float32, whose norms may run anywhere."""

from __future__ import annotations

import itertools
from typing import Protocol

import normd
import numpy as np

EPS = 1e-5
WIDTHS = (64, 16)  # of the hidden layers; each ends in a LayerNorm
MOMENTUM = 0.9

Parameters = dict[str, np.ndarray]


class Norm(Protocol):
    """A LayerNorm over float32 [rows, width]."""

    def forward(
        self, x: np.ndarray, weight: np.ndarray, bias: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """y, and what backward needs again: mean and rstd, [rows, 1]."""

    def backward(
        self,
        dy: np.ndarray,
        x: np.ndarray,
        weight: np.ndarray,
        bias: np.ndarray,
        mean: np.ndarray,
        rstd: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """dx, dweight, dbias."""


class LocalNorm:
    """In numpy."""

    def forward(self, x, weight, bias):
        mean = x.mean(axis=1, keepdims=True)
        rstd = 1 / np.sqrt(x.var(axis=1, keepdims=True) + np.float32(EPS))
        return (x - mean) * rstd * weight + bias, mean, rstd

    def backward(self, dy, x, weight, bias, mean, rstd):
        h = (x - mean) * rstd
        g = dy * weight
        c1 = (g * h).mean(axis=1, keepdims=True)
        dx = rstd * (g - g.mean(axis=1, keepdims=True) - h * c1)
        return dx, (dy * h).sum(axis=0), dy.sum(axis=0)


class RemoteNorm:
    """By calls to a server."""

    def __init__(self, client: normd.Client) -> None:
        self._client = client
        self.calls = 0

    def forward(self, x, weight, bias):
        self.calls += 1
        result = self._client.layer_norm(x, weight, bias, eps=EPS, return_statistics=True)
        return result.y, result.mean, result.rstd

    def backward(self, dy, x, weight, bias, mean, rstd):
        self.calls += 1
        result = self._client.layer_norm_backward(
            dy, x, weight, bias, eps=EPS, mean=mean, rstd=rstd
        )
        return result.dx, result.dweight, result.dbias


def initial_parameters(rng: np.random.Generator, inputs: int, classes: int) -> Parameters:
    parameters = {}
    sizes = [inputs, *WIDTHS, classes]
    for layer, (before, after) in enumerate(itertools.pairwise(sizes)):
        matrix = rng.standard_normal((before, after), np.float32)
        parameters[f"matrix{layer}"] = matrix * np.float32(np.sqrt(2 / before))
    for layer, width in enumerate(WIDTHS):
        parameters[f"weight{layer}"] = np.ones(width, np.float32)
        parameters[f"bias{layer}"] = np.zeros(width, np.float32)
    parameters["offset"] = np.zeros(classes, np.float32)
    return parameters


class Network:
    """matrix, LayerNorm, tanh, twice; then a matrix and softmax. Trained by momentum SGD.

    tanh, not ReLU: a kink would turn a last bit that differs into another path of training.
    """

    def __init__(self, norm: Norm, parameters: Parameters) -> None:
        self._norm = norm
        self._parameters = {name: value.copy() for name, value in parameters.items()}
        self._velocity = {name: np.zeros_like(value) for name, value in parameters.items()}

    def step(self, x: np.ndarray, labels: np.ndarray, rate: float) -> float:
        """One step on one batch; returns the loss before it."""
        logits, kept = self._forward(x)
        shifted = logits - logits.max(axis=1, keepdims=True)
        log_sum = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        rows = np.arange(len(x))
        loss = float((log_sum[:, 0] - shifted[rows, labels]).mean(dtype=np.float64))

        slope = np.exp(shifted - log_sum)
        slope[rows, labels] -= 1
        gradients = self._backward(slope / np.float32(len(x)), kept)
        for name, gradient in gradients.items():
            self._velocity[name] = np.float32(MOMENTUM) * self._velocity[name] + gradient
            self._parameters[name] = (
                self._parameters[name] - np.float32(rate) * (self._velocity[name])
            )
        return loss

    def accuracy(self, x: np.ndarray, labels: np.ndarray) -> float:
        return float((self._forward(x)[0].argmax(axis=1) == labels).mean())

    def _forward(self, x: np.ndarray) -> tuple[np.ndarray, list[tuple]]:
        """The logits, and of each layer (input, input of its norm, mean, rstd, y of its norm)."""
        p = self._parameters
        kept: list[tuple] = []
        for layer in range(len(WIDTHS)):
            before = x @ p[f"matrix{layer}"]
            y, mean, rstd = self._norm.forward(before, p[f"weight{layer}"], p[f"bias{layer}"])
            kept.append((x, before, mean, rstd, y))
            x = np.tanh(y)
        kept.append((x,))
        return x @ p[f"matrix{len(WIDTHS)}"] + p["offset"], kept

    def _backward(self, slope: np.ndarray, kept: list[tuple]) -> Parameters:
        p = self._parameters
        last = len(WIDTHS)
        gradients = {f"matrix{last}": kept[last][0].T @ slope, "offset": slope.sum(axis=0)}
        slope = slope @ p[f"matrix{last}"].T
        for layer in reversed(range(last)):
            x, before, mean, rstd, y = kept[layer]
            dx, dweight, dbias = self._norm.backward(
                slope * (1 - np.tanh(y) ** 2),
                before,
                p[f"weight{layer}"],
                p[f"bias{layer}"],
                mean,
                rstd,
            )
            gradients[f"weight{layer}"], gradients[f"bias{layer}"] = dweight, dbias
            gradients[f"matrix{layer}"] = x.T @ dx
            slope = dx @ p[f"matrix{layer}"].T
        return gradients
