"""Build hook: writes the protobuf messages of normd.v1 to src/normd/_stubs.

The .proto files are read from ../../proto in a checkout and from proto/ in a source distribution,
which carries a copy.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from grpc_tools import protoc
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = ("normd/v1/norm.proto", "normd/v1/buffers.proto", "normd/v1/admin.proto")


def find_protos(root: Path) -> Path:
    """Returns the folder that holds normd/v1/*.proto."""
    for folder in (root / "proto", root.parent.parent / "proto"):
        if all((folder / name).is_file() for name in FILES):
            return folder
    sys.exit(f"normd: {', '.join(FILES)} are neither in {root}/proto nor in {root}/../../proto")


def write_stubs(protos: Path, stubs: Path) -> None:
    """Generates the messages and their type stubs into `stubs`, replacing what is there."""
    with tempfile.TemporaryDirectory(dir=stubs.parent) as made:
        command = ["protoc", f"-I{protos}", f"--python_out={made}", f"--pyi_out={made}", *FILES]
        if protoc.main(command) != 0:
            sys.exit("normd: protoc failed, see above")
        for package in ("normd", "normd/v1"):
            Path(made, package, "__init__.py").touch()
        for module in Path(made).glob("normd/v1/*_pb2.py*"):
            # protoc imports from the root of its output, which here is a private package.
            text = module.read_text()
            text = text.replace("from normd.v1 import", "from normd._stubs.normd.v1 import")
            text = text.replace("'normd.v1.", "'normd._stubs.normd.v1.")
            module.write_text(text)
        # Swapped, not rewritten: a process that imports them meanwhile sees one whole set.
        new, old = Path(made, "new"), Path(made, "old")
        shutil.copytree(Path(made, "normd"), new / "normd")
        (new / "__init__.py").touch()
        if stubs.exists():
            stubs.rename(old)
        new.rename(stubs)


class StubsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Generates the stubs for a wheel; adds the .proto files to a source distribution."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Called by hatchling before it collects files."""
        root = Path(self.root)
        protos = find_protos(root)
        if self.target_name == "sdist":
            for name in FILES:
                build_data["force_include"][str(protos / name)] = f"proto/{name}"
            return
        write_stubs(protos, root / "src" / "normd" / "_stubs")
