"""Dependencies point one way: server to kernels and proto, never back; nothing to the tests."""

from __future__ import annotations

import pathlib
import re

import pytest
from findings import expect_none
from sources import CPP, text, with_suffix

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)

WIRE = r"(grpc|grpcpp|google/protobuf|normd/v1)/"
OURS = r"(kernels|server|client|tests|deploy)/"
CUDA = r"(cuda|cub|cooperative_groups|driver_types|nvml)"

# Folder of a file -> what no file in it includes.
FORBIDDEN = {
    "kernels": rf"{WIRE}|(server|client|tests)/|prometheus/|spdlog/",
    "server": r"(client|tests)/",
    "client": r"(server|tests)/",
    "server/telemetry": rf"{WIRE}|server/(?!telemetry/)",
    "server/execution": rf"{WIRE}|server/rpc/",
}
# The one folder that may include the CUDA toolkit.
CUDA_FOLDER = "kernels/cuda"


def _sources(folder: str) -> list[pathlib.Path]:
    return [path for path in with_suffix(*CPP) if path.is_relative_to(folder)]


def _includes(path: pathlib.Path) -> list[str]:
    return INCLUDE.findall(text(path))


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_a_layer_includes_only_what_lies_below(folder):
    found = [
        f"{path}: {included}"
        for path in _sources(folder)
        for included in _includes(path)
        if re.match(FORBIDDEN[folder], included)
    ]
    expect_none(found)
    assert any(re.match(OURS, name) for path in _sources(folder) for name in _includes(path))


def test_only_the_cuda_backend_includes_cuda():
    found = [
        f"{path}: {included}"
        for path in with_suffix(*CPP)
        if not path.is_relative_to(CUDA_FOLDER) and not path.is_relative_to("tests")
        for included in _includes(path)
        if re.match(CUDA, included)
    ]
    expect_none(found)


def test_the_kernels_do_not_link_the_wire():
    found = [
        str(path)
        for path in with_suffix(".txt")
        if path.is_relative_to("kernels")
        and re.search(r"gRPC::|protobuf::|normd_proto", text(path))
    ]
    expect_none(found)
