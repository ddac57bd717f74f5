"""Finds the command and runs it in a folder: arguments in, its standard output out."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import threading
from pathlib import Path
from typing import IO, Any, Callable, Optional, Sequence

# Show is called with every report of progress: stage, done, total, unit, share and, where it
# can be estimated, seconds_left; or with a note.
Show = Callable[["dict[str, Any]"], None]

# What the command puts before the sentence that says why it failed.
_PREFIX = "mvclust: "

# The exit statuses.
_FAILED = 2
_INTERRUPTED = 130

# How long, in seconds, an interrupted command may take to end by itself.
_PATIENCE = 3


def find() -> str:
    """Return the path of the command.

    It is what the environment variable ``MVCLUST_COMMAND`` names, or else the binary that the
    package carries, or else ``mvclust`` on the path.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    named = os.environ.get("MVCLUST_COMMAND")
    if named:
        found = shutil.which(named)
        if found is None:
            raise FileNotFoundError(f"MVCLUST_COMMAND is {named!r}, which is no program; correct it, or unset it")
        return found
    name = "mvclust.exe" if os.name == "nt" else "mvclust"
    carried = Path(__file__).with_name("bin") / name
    if carried.is_file():
        return str(carried)
    found = shutil.which("mvclust")
    if found is None:
        raise FileNotFoundError(
            "the command mvclust is not there: install the package from a wheel for this system, "
            "or let the environment variable MVCLUST_COMMAND name the program"
        )
    return found


def run(arguments: Sequence[str], folder: str, show: Optional[Show] = None) -> str:
    """Run the command in a folder and return what it prints on standard output.

    An interruption, such as Ctrl-C, ends the command before it is passed on.

    Parameters
    ----------
    arguments : sequence of str
        Of the command, without its name.
    folder : str
        The working folder, so that sentences name files as the arguments do. The command's
        standard output goes to a file there.
    show : callable, optional
        Called with every report of progress, if the arguments have ``--progress-json``.

    Raises
    ------
    ValueError
        With the command's own sentence, if it refuses the input or the settings.
    RuntimeError
        If it ends in any other way.
    """
    with open(os.path.join(folder, ".stdout"), "w+b") as output:
        process = subprocess.Popen(
            [find(), *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE
        )
        try:
            said = _listen(process, show)
            status = process.wait()
        except BaseException:
            _end(process)
            raise
        if status != 0:
            raise _failure(status, said)
        output.seek(0)
        return output.read().decode("utf-8")


def _listen(process: "subprocess.Popen[bytes]", show: Optional[Show]) -> list[str]:
    """Show the reports on standard error until it ends, and return all other lines."""
    # A thread reads, so that Ctrl-C gets through on every system; this one shows, since a
    # notebook takes output from it alone.
    lines: "queue.Queue[Optional[bytes]]" = queue.Queue()
    assert process.stderr is not None
    reader = threading.Thread(target=_read, args=(process.stderr, lines), daemon=True)
    reader.start()
    said = []
    while True:
        try:
            line = lines.get(timeout=0.5)
        except queue.Empty:
            continue
        if line is None:
            return said
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if not text.startswith("{"):
            said.append(text)
        elif show is not None:
            show(json.loads(text))


def _read(stream: IO[bytes], lines: "queue.Queue[Optional[bytes]]") -> None:
    """Put every line of the stream into the queue, and None at its end, and close it."""
    try:
        with stream:
            for line in stream:
                lines.put(line)
    finally:
        lines.put(None)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Have the command end, and wait for it."""
    try:
        if process.poll() is None:
            if os.name == "posix":
                process.send_signal(signal.SIGINT)
            else:
                process.terminate()
            process.wait(_PATIENCE)
    finally:
        if process.poll() is None:  # too slow, or interrupted again
            process.kill()
            process.wait()


def _failure(status: int, said: Sequence[str]) -> BaseException:
    """Return the error that says why the command ended with a status that is not 0."""
    for line in reversed(said):
        if line.startswith(_PREFIX):
            sentence = line[len(_PREFIX) :]
            if status == _INTERRUPTED:
                return KeyboardInterrupt(sentence)
            if status == _FAILED:
                return ValueError(sentence)
    end = f"signal {-status}" if status < 0 else f"status {status}"
    detail = "; it said: " + " / ".join(said[-3:]) if said else ""
    reason = ", perhaps for lack of memory" if status == -9 else ""
    return RuntimeError(f"the command mvclust ended with {end}{reason}{detail}")
