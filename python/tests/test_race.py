# SPDX-License-Identifier: MIT
"""posenc.race: what it returns, what it shows meanwhile, and that an interrupted race can be continued."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import posenc
import pytest
from posenc import _progress, _race, _tool

TINY: dict[str, Any] = {
    "layers": 1, "width": 16, "heads": 2, "train_length": 32, "test": "1x,2x",
    "batch": 2, "test_tokens": 128, "steps": 6,
}  # fmt: skip
NOW: _progress.Progress = {
    "part": 0.5, "seconds_left": 151.9, "name": "rope", "seed": 2, "doing": "train", "length": 32,
    "done": 3, "of": 6, "bits": 8.0204, "tokens_per_second": 1e5,
}  # fmt: skip


class Recorder:
    """A display that keeps what it is told, and can act on the first progress."""

    def __init__(self, first: BaseException | None = None) -> None:
        self.progress: list[_progress.Progress] = []
        self.said: list[str] = []
        self.end = ""
        self._first = first

    def update(self, now: _progress.Progress) -> None:
        self.progress.append(now)
        if self._first:
            raise self._first

    def say(self, message: str) -> None:
        self.said.append(message)

    def close(self, end: str) -> None:
        self.end = end


def record(monkeypatch: pytest.MonkeyPatch, first: BaseException | None = None) -> Recorder:
    recorder = Recorder(first)
    monkeypatch.setattr(_race, "display_for", lambda _: recorder)
    return recorder


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> posenc.RaceResult:
    folder = tmp_path_factory.mktemp("race") / "finished"
    rope = posenc.Encoding("rope:theta=1000", heads=1, head_dim=8)
    return posenc.race(["learned", rope], folder=folder, seeds=2, **TINY)


# ---------------------------------------------------------------- the result


def test_the_result_is_that_of_the_report(finished: posenc.RaceResult) -> None:
    report = _tool.ask("report", str(finished.folder))
    result = {key: finished[key] for key in report}
    for tree in (report, result):
        tree["trainings"] = sorted(tree["trainings"], key=lambda row: (row["trained"], row["seed"]))  # in any order
    assert result == report


def test_the_result_is_a_mapping_that_json_takes(finished: posenc.RaceResult) -> None:
    assert json.loads(json.dumps(dict(finished)))["kind"] == "race"
    assert len(finished) == len(list(finished))


def test_rows_are_one_per_encoding_and_length_with_the_same_keys(finished: posenc.RaceResult) -> None:
    rows = finished.rows
    assert {(row["name"], row["length"]) for row in rows} == {
        (name, length) for name in ("learned", "rope:theta=1000") for length in (32, 64)
    }
    assert len({tuple(row) for row in rows}) == 1
    assert not any(isinstance(value, (dict, list)) for row in rows for value in row.values())


def test_rows_have_the_means_and_spreads_of_the_result(finished: posenc.RaceResult) -> None:
    entry = finished["entries"][0]
    row = next(row for row in finished.rows if row["name"] == entry["name"] and row["length"] == 32)
    assert row["bits"] == entry["tests"][0]["bits"]["mean"]
    assert row["bits_spread"] == entry["tests"][0]["bits"]["spread"] > 0


def test_what_an_encoding_cannot_is_none_with_the_reason(finished: posenc.RaceResult) -> None:
    row = next(row for row in finished.rows if row["name"] == "learned" and row["length"] == 64)
    assert row["bits"] is None
    assert "learned" in row["cannot"]


def test_pandas_takes_the_rows(finished: posenc.RaceResult) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(finished.rows).pivot(index="name", columns="length", values="bits")
    assert table.shape == (2, 2)


def test_plot_is_the_chart_that_the_tool_drew(finished: posenc.RaceResult) -> None:
    assert finished.plot().svg == (finished.folder / "extrapolation.svg").read_text(encoding="utf-8")
    assert finished.plot("training").svg == (finished.folder / "training.svg").read_text(encoding="utf-8")


def test_a_chart_that_there_is_not_is_refused_with_those_that_there_are(finished: posenc.RaceResult) -> None:
    with pytest.raises(ValueError, match="no chart 'loss'; this race has extrapolation, position"):
        finished.plot("loss")


def test_a_notebook_gets_the_finding_the_table_and_the_chart(finished: posenc.RaceResult) -> None:
    markup = finished._repr_html_()
    assert finished["finding"] in markup
    assert re.search(r"<tr><td>learned</td><td>\d+\.\d{3}</td><td>cannot</td></tr>", markup)
    assert "data:image/svg+xml" in markup


# ---------------------------------------------------------------- what is asked


def test_two_races_in_one_second_have_two_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_race.time, "strftime", lambda _: "now")
    folders = [posenc.race("none", **TINY).folder.name for _ in range(3)]
    assert folders == ["now", "now-2", "now-3"]


def test_a_folder_that_has_a_race_is_refused(finished: posenc.RaceResult) -> None:
    with pytest.raises(posenc.ToolError, match="has a race already"):
        posenc.race("none", folder=finished.folder, **TINY)


def test_an_unknown_option_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(posenc.ToolError, match="--speed"):
        posenc.race("none", folder=tmp_path / "r", speed=3)


def test_what_the_tool_cannot_train_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="3 is a int; the tool trains specs"):
        posenc.race(["rope", 3], folder=tmp_path / "r")  # type: ignore[list-item]


def test_a_loss_that_is_not_finite_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(posenc.ToolError, match="not finite") as caught:
        posenc.race("none", folder=tmp_path / "r", rate=1e30, **TINY)
    assert caught.value.status == "input"


# ---------------------------------------------------------------- progress


def test_progress_is_told_from_the_first_step_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    display = record(monkeypatch)
    result = posenc.race("none,rope", folder=tmp_path / "r", **TINY)
    first = display.progress[0]
    assert (first["name"], first["doing"], first["done"], first["of"]) == ("none", "train", 1, 6)
    assert 0 < first["part"] < 1
    assert display.end == f"finished: {result.folder}"


def test_messages_of_the_tool_are_shown_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    display = record(monkeypatch)
    result = posenc.race("none", folder=tmp_path / "r", **TINY)
    assert display.said == result.messages
    assert result.messages[0] == f"race in {tmp_path / 'r'}"


def test_progress_is_one_sentence_with_the_time_left() -> None:
    assert _progress.progress_text(NOW) == "rope, seed 2, step 3 of 6, 8.020 bits, 2:31 left"
    test: _progress.Progress = {**NOW, "doing": "test", "length": 64, "bits": None, "seconds_left": None}
    assert _progress.progress_text(test) == "rope, seed 2, test at 64: window 3 of 6"
    assert _progress.time_text(3725) == "1:02:05 left"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_one_line_that_is_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    display = _progress.display_for(True)
    display.update(NOW)
    display.close("finished")
    bar = "#" * 15 + "." * 15
    assert terminal.getvalue() == f"\r{bar}  50% {_progress.progress_text(NOW)}\033[K\rfinished\033[K\n"


def test_a_file_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(_progress.display_for(True), _progress.NoDisplay)


def test_progress_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(_progress.display_for(False), _progress.NoDisplay)


def test_a_notebook_gets_one_display_that_is_updated_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    handle = types.SimpleNamespace(update=shown.append)
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    display_module = types.ModuleType("IPython.display")
    display_module.HTML = str  # type: ignore[attr-defined]
    display_module.display = lambda markup, display_id: handle if display_id else None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display_module)
    display = _progress.display_for(True)
    display.update({**NOW, "name": "<rope>"})
    display.close("finished")
    bar = '<progress max="1" value="0.5000" style="width:20em"></progress>'
    assert shown == [f"{bar} 50% &lt;rope&gt;, seed 2, step 3 of 6, 8.020 bits, 2:31 left", "finished"]


# ---------------------------------------------------------------- interrupted and continued

LONG = {**TINY, "steps": 2000, "checkpoint_every": 50}


def test_an_interrupted_race_goes_on_to_the_same_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    straight = posenc.race("none", folder=tmp_path / "straight", **LONG)
    with monkeypatch.context() as patch:
        display = record(patch, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt) as caught:
            posenc.race("none", folder=tmp_path / "cut", **LONG)
    how = f"stopped; continue with: posenc.race(resume={str(tmp_path / 'cut')!r})"
    assert (caught.value.__notes__, display.end) == ([how], how)
    stopped = _tool.ask("report", str(tmp_path / "cut"))
    assert not stopped["trainings"][0]["finished"]
    assert posenc.race(resume=tmp_path / "cut").rows == straight.rows


def test_an_error_of_the_display_stops_the_race_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(monkeypatch, RuntimeError("the display is gone"))
    with pytest.raises(RuntimeError, match="the display is gone"):
        posenc.race("none", folder=tmp_path / "cut", **LONG)
    assert not _tool.ask("report", str(tmp_path / "cut"))["trainings"][0]["finished"]


CTRL_C = """
import os, signal, sys
from posenc import _progress, _race
signal.signal(signal.SIGINT, signal.default_int_handler)
class Display(_progress.NoDisplay):
    pressed = False
    def update(self, now):
        if not self.pressed:
            Display.pressed = True
            os.killpg(0, signal.SIGINT)  # as a terminal does: the whole group
_race.display_for = lambda wanted: Display()
_race.race("none", folder="cut", **{options})
"""


def test_ctrl_c_at_a_terminal_reaches_the_tool_once_so_it_saves(tmp_path: Path) -> None:
    """The second signal would end the tool at once, without a report."""
    script = CTRL_C.replace("{options}", repr(LONG))
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, start_new_session=True, check=False)
    assert "KeyboardInterrupt" in done.stderr
    assert "continue with: posenc.race(resume='cut')" in done.stderr
    assert (tmp_path / "cut" / "report.html").exists()
    assert posenc.race(resume=tmp_path / "cut")["trainings"][0]["finished"]


def test_a_race_that_is_continued_takes_no_settings(finished: posenc.RaceResult) -> None:
    with pytest.raises(posenc.ToolError, match="cannot be given with --resume"):
        posenc.race(resume=finished.folder, steps=3)


def test_the_tool_runs_in_a_process_group_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups: list[int] = []
    original = _race._watch

    def look(child: subprocess.Popen[str], *rest: Any) -> None:
        groups.append(os.getpgid(child.pid))
        original(child, *rest)

    monkeypatch.setattr(_race, "_watch", look)
    posenc.race("none", folder=tmp_path / "r", **TINY)
    assert groups[0] != os.getpgid(0)
