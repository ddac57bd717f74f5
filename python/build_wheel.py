#!/usr/bin/env python3
"""Builds wheels that carry the command, byte for byte the same from the same sources.

    python3 build_wheel.py                       # for this system, into dist
    python3 build_wheel.py -o DIR linux/arm64    # for another
    python3 build_wheel.py all                   # for all that are listed below

It needs Go and the standard library alone, and is the back end that pip calls for a source
folder (PEP 517).
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Iterator, Optional

HERE = Path(__file__).resolve().parent

# The systems, as Go and as wheels name them. The command needs no C library, so that a wheel
# for Linux is for all of them. Go 1.26 asks for macOS 12.
SYSTEMS = {
    "linux/amd64": ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"),
    "linux/arm64": ("manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"),
    "darwin/amd64": ("macosx_12_0_x86_64",),
    "darwin/arm64": ("macosx_12_0_arm64",),
    "windows/amd64": ("win_amd64",),
    "windows/arm64": ("win_arm64",),
}

METADATA = """\
Metadata-Version: 2.1
Name: mvclust
Version: {version}
Summary: Multi-view clustering: samples described in several ways, without a number of clusters
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy>=1.20
Provides-Extra: sklearn
Requires-Dist: scikit-learn>=1.0; extra == "sklearn"
Classifier: Operating System :: MacOS
Classifier: Operating System :: Microsoft :: Windows
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{description}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: build_wheel.py
Root-Is-Purelib: false
{tags}"""

ENTRY_POINTS = """\
[console_scripts]
mvclust = mvclust.__main__:main
"""

# The time of every member: the first that a zip archive can hold.
TIME = (1980, 1, 1, 0, 0, 0)


def version() -> str:
    """Return the version of the package, which is that of the command."""
    found = re.search(r'^__version__ = "(.+)"$', (HERE / "mvclust" / "__init__.py").read_text(encoding="utf-8"), re.M)
    assert found is not None
    return found[1]


def here() -> str:
    """Return the system that this is, in the words of Go."""
    return "/".join(go("env", "GOHOSTOS", "GOHOSTARCH").split())


def go(*arguments: str, **variables: str) -> str:
    """Run Go in the module and return what it prints."""
    try:
        return subprocess.run(
            ["go", *arguments], cwd=HERE.parent, env={**os.environ, **variables}, check=True, stdout=subprocess.PIPE, text=True
        ).stdout
    except FileNotFoundError:
        sys.exit("Go is not there; install Go 1.26 or later, or a wheel that is already built")
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)


def command(system: str) -> bytes:
    """Return the command, built for a system."""
    goos, goarch = system.split("/")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mvclust"
        flags = ["-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid="]
        go("build", *flags, "-o", str(path), "./cmd/mvclust", CGO_ENABLED="0", GOOS=goos, GOARCH=goarch, GOFLAGS="")
        return path.read_bytes()


def members(system: str) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of a wheel's members, but for its RECORD."""
    for path in sorted((HERE / "mvclust").iterdir()):
        if path.suffix == ".py" or path.name == "py.typed":
            yield f"mvclust/{path.name}", path.read_bytes()
    name = "mvclust.exe" if system.startswith("windows/") else "mvclust"
    yield f"mvclust/bin/{name}", command(system)
    for name, text in metadata(system).items():
        yield f"{info()}/{name}", text.encode()
    yield f"{info()}/LICENSE", (HERE.parent / "LICENSE").read_bytes()


def metadata(system: str) -> dict[str, str]:
    """Return the files that describe the package, by name."""
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in SYSTEMS[system])
    description = (HERE / "README.md").read_text(encoding="utf-8")
    return {
        "METADATA": METADATA.format(version=version(), description=description),
        "WHEEL": WHEEL.format(tags=tags),
        "entry_points.txt": ENTRY_POINTS,
    }


def info() -> str:
    """Return the name of the folder that describes the package."""
    return f"mvclust-{version()}.dist-info"


def build(system: str, folder: Path) -> str:
    """Write the wheel for a system into a folder and return its name."""
    name = f"mvclust-{version()}-py3-none-{'.'.join(SYSTEMS[system])}.whl"
    contents = list(members(system))  # before there is a file that a failure would leave in part
    folder.mkdir(parents=True, exist_ok=True)
    record = []
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for path, content in contents:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}\n")
            add(wheel, path, content)
        path = f"{info()}/RECORD"
        add(wheel, path, "".join([*record, f"{path},,\n"]).encode())
    return name


def add(wheel: zipfile.ZipFile, path: str, content: bytes) -> None:
    """Add a member that is the same wherever and whenever it is added."""
    member = zipfile.ZipInfo(path, TIME)
    member.create_system = 3  # Unix, whose modes follow
    member.external_attr = (0o100755 if path.startswith("mvclust/bin/") else 0o100644) << 16
    member.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(member, content, compresslevel=9)


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Optional[str] = None) -> str:
    """Build a wheel for this system, for pip."""
    return build(here(), Path(wheel_directory))


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """Refuse: the sources of the command are not in this folder."""
    sys.exit("the package is built from a clone of the repository, by pip install ./python, and not from a source archive")


def main() -> None:
    """Build the wheels that the command line asks for."""
    parser = argparse.ArgumentParser(description="Build wheels that carry the command.")
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=f"all, or some of {', '.join(SYSTEMS)} (default this one)")
    parser.add_argument("-o", "--output", type=Path, default=HERE / "dist", metavar="DIR", help="folder for the wheels (default %(default)s)")
    options = parser.parse_args()
    systems = options.systems or [here()]
    if systems == ["all"]:
        systems = list(SYSTEMS)
    for system in systems:
        if system not in SYSTEMS:
            parser.error(f"there is no wheel for {system}; choose of {', '.join(SYSTEMS)}")
        print(options.output / build(system, options.output))


if __name__ == "__main__":
    main()
