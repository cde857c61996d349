# SPDX-License-Identifier: MIT
"""The posenc tool that comes with the package: its verbs as functions, their results as dictionaries.

Each function runs the tool in a process of its own and reads what it prints with --json. Options of the tool are
keyword arguments: ``--train-length 64`` is ``train_length=64``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._core import Error

TOOL = Path(__file__).with_name("bin") / "posenc"
STATUS = {2: "usage", 3: "input", 4: "system", 5: "stopped"}  # the tool's exit codes
ANSWERED = (0, 1)  # yes, no


class ToolError(Error):
    """A command that the tool refused. ``status`` is usage, input, system or stopped; ``sentence`` says why."""

    def __init__(self, status: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence

    def __reduce__(self) -> tuple[type[ToolError], tuple[str, str]]:
        return type(self), (self.status, self.sentence)


def words_of(options: dict[str, Any]) -> list[str]:
    """Keyword arguments as the tool's options."""
    words: list[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)):
            words += [option, ",".join(str(item) for item in value)]
        else:
            words += [option, str(value)]
    return words


def sentence_of(text: str) -> str:
    """The last message of the tool, without its name."""
    lines = [line for line in text.splitlines() if line.startswith("posenc ")]
    return lines[-1].partition(": ")[2] if lines else text.strip()


def fail(code: int, text: str) -> None:
    """Raises what an exit code stands for; nothing for an answer."""
    if code not in ANSWERED:
        raise ToolError(STATUS.get(code, "stopped"), sentence_of(text) or f"the tool ended with exit code {code}")


def run(words: Sequence[str], *, stdin: str | None = None) -> str:
    """What the tool prints to stdout."""
    done = subprocess.run(
        [str(TOOL), *words], input=stdin, capture_output=True, text=True, encoding="utf-8", check=False
    )
    fail(done.returncode, done.stderr)
    return done.stdout


def check_operands(operands: Sequence[str]) -> None:
    """Names of files, specs and claims are no options."""
    for operand in operands:
        if operand.startswith("-"):
            raise ToolError("usage", f"{operand!r} starts with a dash; needs a file (./{operand}), a spec or a name")


def ask(verb: str, *operands: str, stdin: str | None = None, **options: Any) -> dict[str, Any]:
    """The result of a verb, as with --json; the operand - is what stdin has."""
    check_operands([operand for operand in operands if stdin is None or operand != "-"])
    result: dict[str, Any] = json.loads(run([verb, *operands, *words_of(options), "--json"], stdin=stdin))
    return result


def main() -> None:
    """The command ``posenc`` that pip installs."""
    os.execv(TOOL, [sys.argv[0], *sys.argv[1:]])
