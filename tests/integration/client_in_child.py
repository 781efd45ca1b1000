"""What a child process can do with the Python client, after its parent has used one.

As a program: client_in_child.py fork|spawn ADDRESS prints one word a line: what became of a call
by the parent's client in the child (fork only), by a client made in the child, and by the
parent's client in the parent afterwards.
"""

from __future__ import annotations

import multiprocessing
import sys
from typing import Any

import normd
import numpy as np

X = np.ones((2, 4), np.float32)


def outcome(client: normd.Client) -> str:
    try:
        client.layer_norm(X, eps=1, timeout=20)
    except normd.NormdError as error:
        return type(error).__name__
    return "ok"


def outcome_of_new(address: str) -> str:
    try:
        client = normd.Client(address)
    except normd.NormdError as error:
        return type(error).__name__
    return outcome(client)


def child(address: str, inherited: normd.Client | None, answers: Any) -> None:
    if inherited is not None:
        answers.put(outcome(inherited))
    answers.put(outcome_of_new(address))


def main(method: str, address: str) -> None:
    client = normd.Client(address)
    client.layer_norm(X, eps=1)
    context = multiprocessing.get_context(method)
    answers = context.SimpleQueue()
    inherited = client if method == "fork" else None
    process = context.Process(target=child, args=(address, inherited, answers))
    process.start()
    process.join(60)
    if process.exitcode != 0:
        process.kill()
        sys.exit(f"the child hung or crashed: {process.exitcode}")
    while not answers.empty():
        print(answers.get())
    print(outcome(client))


if __name__ == "__main__":
    main(*sys.argv[1:])
