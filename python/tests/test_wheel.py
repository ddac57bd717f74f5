"""The wheel carries the command, is the same every time, and works where it is installed."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

import build_wheel
import mvclust
from mvclust._command import find

from .data import needs_command


class Wheel(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def build(self, system: str, command: bytes, name: str = "") -> Path:
        with mock.patch.object(build_wheel, "command", lambda system: command):
            return self.folder / name / build_wheel.build(system, self.folder / name)

    def test_contents(self) -> None:
        for system in build_wheel.SYSTEMS:
            path = self.build(system, system.encode())
            # NAME-VERSION-PYTHON-ABI-PLATFORM, as installers take it apart.
            name, version, python, abi, platform = path.name[: -len(".whl")].split("-")
            self.assertEqual((name, version, python, abi), ("mvclust", mvclust.__version__, "py3", "none"))
            with self.subTest(system), zipfile.ZipFile(path) as wheel:
                binary = "mvclust/bin/mvclust" + (".exe" if system.startswith("windows") else "")
                self.assertEqual(wheel.read(binary), system.encode())
                self.assertEqual(wheel.getinfo(binary).external_attr >> 16 & 0o777, 0o755)
                tags = re.findall(r"^Tag: py3-none-(.*)$", wheel.read(f"{build_wheel.info()}/WHEEL").decode(), re.M)
                self.assertEqual(".".join(tags), platform)
                record = list(csv.reader(io.StringIO(wheel.read(f"{build_wheel.info()}/RECORD").decode())))
                self.assertEqual([row[0] for row in record], wheel.namelist())
                for member, digest, size in record[:-1]:
                    content = wheel.read(member)
                    want = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
                    self.assertEqual((digest, size), (f"sha256={want}", str(len(content))))
                self.assertIn("mvclust/py.typed", wheel.namelist())

    def test_same_bytes(self) -> None:
        one, two = (self.build("linux/amd64", b"x" * 10000, name) for name in ("one", "two"))
        self.assertEqual(one.read_bytes(), two.read_bytes())

    def test_failed_build_leaves_nothing(self) -> None:
        with mock.patch.object(build_wheel, "command", side_effect=SystemExit(1)), self.assertRaises(SystemExit):
            build_wheel.build("linux/amd64", self.folder)
        self.assertEqual(os.listdir(self.folder), [])

    @needs_command
    @unittest.skipIf(importlib.util.find_spec("pip") is None, "pip is not installed")
    def test_install(self) -> None:
        path = self.build(self.here(), Path(find()).read_bytes())
        site = self.folder / "site"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(site), str(path)]
        subprocess.run(pip, check=True, stderr=subprocess.DEVNULL)
        program = (
            "import numpy, mvclust._command\nfrom mvclust import MVClust\n"
            "x = numpy.random.default_rng(0).normal(size=(30, 4))\n"
            "print(mvclust._command.find(), len(MVClust().fit(x).labels_))"
        )
        environment = {k: v for k, v in os.environ.items() if k != "MVCLUST_COMMAND"}
        environment.update(PYTHONPATH=str(site), PATH="")
        said = subprocess.run([sys.executable, "-c", program], env=environment, cwd=self.folder, check=True, stdout=subprocess.PIPE, text=True)
        self.assertRegex(said.stdout, re.escape(str(site / "mvclust" / "bin")) + r".* 30\n$")
        module = [sys.executable, "-m", "mvclust", "version"]
        said = subprocess.run(module, env=environment, cwd=self.folder, check=True, stdout=subprocess.PIPE, text=True)
        self.assertIn(mvclust.__version__, said.stdout)

    def here(self) -> str:
        """Return the system that this is, without Go, which need not be there."""
        import platform

        arch = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64", "ARM64": "arm64"}
        system = f"{platform.system().lower()}/{arch.get(platform.machine(), '')}"
        if system not in build_wheel.SYSTEMS:
            self.skipTest(f"there is no wheel for {platform.system()} on {platform.machine()}")
        return system


if __name__ == "__main__":
    unittest.main()
