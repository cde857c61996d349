# SPDX-License-Identifier: MIT
"""posenc.race: trains a small model with each encoding, tests them on longer inputs, and returns what was measured."""

from __future__ import annotations

import html
import itertools
import json
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any

from . import _core, _tool
from ._progress import Display, display_for
from ._show import Picture


class RaceResult(Mapping[str, Any]):
    """What a race measured: a mapping as ``posenc race --json`` prints it, rows for pandas, and charts.

    ``folder`` holds all files of the race, ``messages`` what the tool said meanwhile.
    """

    def __init__(self, result: Mapping[str, Any], messages: Sequence[str] = ()) -> None:
        self._result = dict(result)
        self.folder = Path(result["folder"]).resolve()
        self.messages = list(messages)
        self._charts = {file.stem: file.read_text(encoding="utf-8") for file in sorted(self.folder.glob("*.svg"))}

    def __getitem__(self, key: str) -> Any:
        return self._result[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._result)

    def __len__(self) -> int:
        return len(self._result)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One flat dictionary per encoding and tested length, with the same keys; None: not measured.

        Means over seeds have the name of their measure ("bits"), deviations that name and "_spread".
        """
        flat = [_flat_row(entry, test) for entry in self["entries"] for test in entry["tests"]]
        keys = list(dict.fromkeys(key for row in flat for key in row))
        return [{key: row.get(key) for key in keys} for row in flat]

    def plot(self, chart: str = "extrapolation") -> Picture:
        """A chart of the report: loss by length ("extrapolation"), by position, recall by distance, training."""
        if chart not in self._charts:
            names = ", ".join(self._charts) or "none"
            raise ValueError(f"plot: there is no chart {chart!r}; this race has {names}")
        return Picture(self._charts[chart])

    def _repr_html_(self) -> str:
        chart = self.plot().to_html() if "extrapolation" in self._charts else ""
        return f"<p>{html.escape(self['finding'])}</p>{_table_html(self['entries'])}{chart}"

    def __repr__(self) -> str:
        names = ", ".join(entry["name"] for entry in self["entries"])
        return f"RaceResult({names}: {self['finding']})"


def _flat_row(entry: Mapping[str, Any], test: Mapping[str, Any]) -> dict[str, Any]:
    row = {key: entry[key] for key in ("name", "spec", "trained")}
    for key, value in test.items():
        if isinstance(value, Mapping):
            row[key] = value["mean"]
            row[f"{key}_spread"] = value.get("spread")
        else:
            row[key] = value
    return row


def _table_html(entries: Sequence[Mapping[str, Any]]) -> str:
    """Bits: a row per encoding, a column per length."""
    lengths = [test["length"] for test in entries[0]["tests"]] if entries else []
    head = "".join(f"<th>{length}</th>" for length in lengths)
    body = "".join(
        f"<tr><td>{html.escape(entry['name'])}</td>{''.join(_cell_html(test) for test in entry['tests'])}</tr>"
        for entry in entries
    )
    return f"<table><tr><th>bits at length</th>{head}</tr>{body}</table>"


def _cell_html(test: Mapping[str, Any]) -> str:
    if "bits" in test:
        return f"<td>{test['bits']['mean']:.3f}</td>"
    return "<td>cannot</td>" if test.get("cannot") else "<td></td>"


# ---------------------------------------------------------------- the tool at work

Encodings = str | _core.Encoding | Iterable[str | _core.Encoding]


def _list_of(encodings: Encodings) -> str:
    """Encodings as --encodings takes them."""
    if isinstance(encodings, str):
        return encodings
    several = list(encodings) if isinstance(encodings, Iterable) else [encodings]
    for one in several:
        if not isinstance(one, (str, _core.Encoding)):
            raise TypeError(f"race: {one!r} is a {type(one).__name__}; the tool trains specs and posenc.Encoding only")
    return ",".join(one if isinstance(one, str) else one.spec for one in several)


def _new_folder() -> str:
    """runs/DATE-TIME, as the tool names it, with a number where there is such a folder."""
    name = Path("runs", time.strftime("%Y-%m-%d-%H%M%S"))
    later = (name.with_name(f"{name.name}-{n}") for n in itertools.count(2))
    return str(next(path for path in itertools.chain([name], later) if not path.exists()))


def _follow(stderr: IO[str], display: Display) -> Iterator[str]:
    """Shows progress as it comes; yields the other lines."""
    for line in stderr:
        if line.startswith("{"):
            display.update(json.loads(line))
        else:
            display.say(line.rstrip())
            yield line.rstrip()


def _stop(child: subprocess.Popen[str]) -> None:
    """Asks the tool to finish the step and save, and waits for that; Ctrl-C meanwhile ends it at once.

    The tool takes SIGTERM as it takes Ctrl-C, and no shell sets SIGTERM to be ignored.
    """
    child.send_signal(signal.SIGTERM)
    try:
        child.communicate()
    except KeyboardInterrupt:
        child.kill()
        child.communicate()


def _watch(child: subprocess.Popen[str], display: Display, messages: list[str]) -> None:
    """Until the child has ended. Whatever interrupts this stops the child too."""
    assert child.stderr
    try:
        messages.extend(_follow(child.stderr, display))
        child.wait()
    except BaseException:
        try:
            display.say("stopping: the tool finishes its step and saves")
        finally:
            _stop(child)
        raise


def _run(words: Sequence[str], display: Display, messages: list[str]) -> dict[str, Any]:
    """The tool in a process group of its own: Ctrl-C reaches it once, through this process."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        command = [str(_tool.TOOL), "race", *words, "--json", "--progress", "json"]
        child = subprocess.Popen(
            command, stdout=out, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace", process_group=0
        )
        with child:
            _watch(child, display, messages)
        said = [_tool.sentence_of(line) for line in messages if line.startswith("posenc ")]
        _tool.fail(child.returncode, "; ".join(said))
        out.seek(0)
        result: dict[str, Any] = json.load(out)
        return result


def _how_to_continue(folder: str) -> str:
    if not Path(folder, "race.json").exists():
        return "stopped before anything was trained"
    return f"stopped; continue with: posenc.race(resume={folder!r})"


def race(
    encodings: Encodings | None = None,
    *,
    folder: str | PathLike[str] | None = None,
    resume: str | PathLike[str] | None = None,
    progress: bool = True,
    **options: Any,
) -> RaceResult:
    """Trains a small model with each encoding on the CPU, tests them on longer inputs, and reports.

    ``encodings``: specs, or encodings whose specs are taken; without them none, sinusoidal, rope and alibi. ``folder``
    receives all files (default: runs/DATE-TIME). An interrupted race finishes its step and saves; then
    KeyboardInterrupt is raised again, and ``posenc.race(resume=folder)`` continues where it stopped.
    ``progress=False`` shows nothing.

    Options are those of the tool: minutes (default: 3) or steps, seeds, first_seed, train_length, test ("1x,4x"), data,
    text, test_text, masked, layers, width, heads, kv_heads, hidden, batch, rate, warmup, test_tokens, threads, sweep,
    checkpoint_every, keep; shard ("1/4", "auto") where several processes train one race in one folder.
    """
    if resume is not None:
        place = fspath(resume)
        words = ["--resume", place]
    else:
        place = fspath(folder) if folder is not None else _new_folder()
        words = ["--out", place]
    if encodings is not None:
        words += ["--encodings", _list_of(encodings)]
    display = display_for(progress)
    messages: list[str] = []
    try:
        result = RaceResult(_run([*words, *_tool.words_of(options)], display, messages), messages)
    except BaseException as error:
        end = _how_to_continue(place) if isinstance(error, KeyboardInterrupt) else f"failed: {error}"
        if isinstance(error, KeyboardInterrupt):
            error.add_note(end)
        display.close(end)
        raise
    display.close(f"finished: {result.folder}")
    return result
