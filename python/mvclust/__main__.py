"""Runs the command as "python -m mvclust", and as "mvclust" where the package is installed."""

from __future__ import annotations

import os
import subprocess
import sys

from ._command import find


def main() -> int:
    """Return the exit status of the command, run with the arguments of this process."""
    command = [find(), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(command[0], command)
    with subprocess.Popen(command) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:  # the command has had it, too
                continue


if __name__ == "__main__":
    sys.exit(main())
