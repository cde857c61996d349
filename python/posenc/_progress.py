# SPDX-License-Identifier: MIT
"""How far a long command of the tool is: a display in a notebook, a line on a terminal, or nothing."""

from __future__ import annotations

import html
import importlib
import sys
from typing import Any, Protocol, TypedDict

BAR = 30  # columns


class Progress(TypedDict):
    """One line of ``--progress json``; what is not known is None."""

    part: float
    seconds_left: float | None
    name: str
    seed: int
    doing: str
    length: int
    done: int
    of: int
    bits: float | None
    tokens_per_second: float | None


def time_text(seconds: float | None) -> str:
    """ "2:31 left"; "" where it is not known."""
    if seconds is None:
        return ""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} left" if hours else f"{minutes}:{rest:02} left"


def progress_text(now: Progress) -> str:
    """ "rope, seed 1, step 120 of 400, 3.333 bits, 2:31 left" """
    unit = f"test at {now['length']}: window" if now["doing"] == "test" else "step"
    bits = "" if now["bits"] is None else f"{now['bits']:.3f} bits"
    done = f"{unit} {now['done']} of {now['of']}"
    words = [now["name"], f"seed {now['seed']}", done, bits, time_text(now["seconds_left"])]
    return ", ".join(word for word in words if word)


class Display(Protocol):
    """Where progress is shown."""

    def update(self, now: Progress) -> None:
        """Shows how far the command is."""

    def say(self, message: str) -> None:
        """Shows what the command says besides."""

    def close(self, end: str) -> None:
        """Shows how it ended; nothing follows."""


class NoDisplay:
    """Shows nothing."""

    def update(self, now: Progress) -> None:
        """Shows nothing."""

    def say(self, message: str) -> None:
        """Shows nothing."""

    def close(self, end: str) -> None:
        """Shows nothing."""


class TerminalDisplay:
    """One line on stderr, written over and over."""

    def update(self, now: Progress) -> None:
        """Shows how far the command is."""
        done = round(now["part"] * BAR)
        self._put(f"{'#' * done}{'.' * (BAR - done)} {now['part']:4.0%} {progress_text(now)}")

    def say(self, message: str) -> None:
        """Shows what the command says besides, until there is progress."""
        self._put(message)

    def close(self, end: str) -> None:
        """Shows how it ended."""
        self._put(end, "\n")

    def _put(self, text: str, end: str = "") -> None:
        sys.stderr.write(f"\r{text}\033[K{end}")
        sys.stderr.flush()


class NotebookDisplay:
    """A bar in the cell's output, updated in place."""

    def __init__(self) -> None:
        ipython: Any = importlib.import_module("IPython.display")
        self._html = ipython.HTML
        self._handle = ipython.display(ipython.HTML(""), display_id=True)

    def update(self, now: Progress) -> None:
        """Shows how far the command is."""
        bar = f'<progress max="1" value="{now["part"]:.4f}" style="width:20em"></progress>'
        self._put(f"{bar} {now['part']:.0%} {html.escape(progress_text(now))}")

    def say(self, message: str) -> None:
        """Shows what the command says besides, until there is progress."""
        self._put(html.escape(message))

    def close(self, end: str) -> None:
        """Shows how it ended."""
        self._put(html.escape(end))

    def _put(self, markup: str) -> None:
        self._handle.update(self._html(markup))


def in_notebook() -> bool:
    """Whether this runs in a kernel, whose front end displays HTML."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None


def display_for(wanted: bool) -> Display:
    """The display that fits where this runs; wanted False: none."""
    if not wanted:
        return NoDisplay()
    if in_notebook():
        return NotebookDisplay()
    return TerminalDisplay() if sys.stderr.isatty() else NoDisplay()
