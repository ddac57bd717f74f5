"""Shows progress where somebody looks: a line in a terminal, a bar in a notebook."""

from __future__ import annotations

import html
import sys
import time
from typing import Any, Optional

# A run that ends sooner, in seconds, shows no bar.
_QUIET = 0.5


class Progress:
    """Shows the reports of a run.

    Parameters
    ----------
    wanted : bool or None
        None shows them in a terminal and in a notebook; True also elsewhere, as lines; False
        shows nothing.
    """

    def __init__(self, wanted: Optional[bool]) -> None:
        self._begun = time.monotonic()
        self._stage = ""
        self._handle: Any = None
        self._drawn = 0
        if wanted is False:
            self._kind = "none"
        elif _in_notebook():
            self._kind = "notebook"
        elif sys.stderr is not None and sys.stderr.isatty():
            self._kind = "terminal"
        else:
            self._kind = "lines" if wanted else "none"

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            sys.stderr.write("\r" + " " * self._drawn + "\r")
            sys.stderr.flush()
            self._drawn = 0
        if self._handle is not None:
            self._handle.update({"text/plain": "", "text/html": ""}, raw=True)

    def __call__(self, report: dict[str, Any]) -> None:
        """Show a report of the command's ``--progress-json``."""
        if self._kind == "none":
            return
        if "note" in report:
            self._note(str(report["note"]))
            return
        if self._kind == "lines":
            if report["stage"] != self._stage:
                self._stage = report["stage"]
                print(self._stage, file=sys.stderr, flush=True)
            return
        if time.monotonic() - self._begun < _QUIET:
            return
        if self._kind == "terminal":
            self._draw(_text(report))
        else:
            self._display(report)

    def _note(self, note: str) -> None:
        if self._kind == "terminal":
            self._draw("")
            sys.stderr.write("\r")
        print("note: " + note, file=sys.stderr, flush=True)

    def _draw(self, text: str) -> None:
        """Redraw the line of a terminal."""
        text = text[:79]
        sys.stderr.write("\r" + text.ljust(self._drawn))
        sys.stderr.flush()
        self._drawn = len(text)

    def _display(self, report: dict[str, Any]) -> None:
        """Redraw the bar of a notebook."""
        from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

        text = html.escape(_text(report))
        bundle = {
            "text/plain": _text(report),
            "text/html": f'<progress max="1" value="{report["share"]:.4f}" aria-label="mvclust"></progress> {text}',
        }
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


def _text(report: dict[str, Any]) -> str:
    """Return a report as a line."""
    text = str(report["stage"])
    if report["total"] > 1:
        text += f" {report['done'] / report['total']:.0%}"
    if "seconds_left" in report:
        left = max(1, round(report["seconds_left"]))
        text += f", {left // 60} min {left % 60} s left" if left >= 60 else f", {left} s left"
    return text


def _in_notebook() -> bool:
    """Report whether the code runs in a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
