"""Trains a digit classifier whose norms are remote calls, beside one whose norms are numpy."""

from __future__ import annotations

import dataclasses

import normd
import numpy as np
from network import LocalNorm, Network, RemoteNorm, initial_parameters
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import trange
from verification import Mismatch

SEED = 7
EPOCHS = 16
BATCH_ROWS = 64
RATE = 0.05
LOSS_TOLERANCE = 1e-4  # relative, at every step
LEAST_ACCURACY = 0.95


@dataclasses.dataclass(frozen=True)
class Result:
    steps: int
    calls: int
    first_loss: float
    last_loss: float
    worst_difference: float  # relative, between the two losses of a step
    accuracy: float  # of the remote network on images that it was not trained on

    def line(self) -> str:
        return (
            f"  {self.steps} steps, {self.calls} remote calls; loss {self.first_loss:.3f} to "
            f"{self.last_loss:.3f}\n  the local network's losses are the same to "
            f"{self.worst_difference:.1e} (allowed {LOSS_TOLERANCE:.0e})\n  test accuracy "
            f"{self.accuracy:.1%} (at least {LEAST_ACCURACY:.0%})"
        )


def train(client: normd.Client) -> Result:
    """Raises Mismatch when the losses part or the network does not learn."""
    images, labels = load_digits(return_X_y=True)
    x, x_test, label, label_test = train_test_split(
        (images / 16).astype(np.float32), labels, test_size=0.25, random_state=SEED, stratify=labels
    )
    rng = np.random.default_rng(SEED)
    parameters = initial_parameters(rng, inputs=x.shape[1], classes=10)
    norm = RemoteNorm(client)
    remote, local = Network(norm, parameters), Network(LocalNorm(), parameters)

    losses: list[float] = []
    worst = 0.0
    steps = len(x) // BATCH_ROWS
    for _ in (bar := trange(EPOCHS, desc="  training", unit="epoch", disable=None)):
        order = rng.permutation(len(x))
        for step in range(steps):
            batch = order[step * BATCH_ROWS : (step + 1) * BATCH_ROWS]
            loss = remote.step(x[batch], label[batch], RATE)
            expected = local.step(x[batch], label[batch], RATE)
            difference = abs(loss - expected) / abs(expected)
            # Written so that NaN fails.
            if not difference <= LOSS_TOLERANCE:
                raise Mismatch(
                    f"step {len(losses)}: the loss is {loss!r} with remote norms, {expected!r} "
                    f"with local ones: {difference:.1e} apart, allowed are {LOSS_TOLERANCE:.0e}"
                )
            losses.append(loss)
            worst = max(worst, difference)
        bar.set_postfix(loss=f"{losses[-1]:.3f}")
    accuracy = remote.accuracy(x_test, label_test)
    if not accuracy >= LEAST_ACCURACY:
        raise Mismatch(f"test accuracy {accuracy:.1%}, at least {LEAST_ACCURACY:.0%} is expected")
    return Result(len(losses), norm.calls, losses[0], losses[-1], worst, accuracy)
