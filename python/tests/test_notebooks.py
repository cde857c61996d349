# SPDX-License-Identifier: MIT
"""The notebooks of examples/ run, and their outputs hold what their text says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
NAMES = ["choose_an_encoding", "extend_a_context", "your_own_encoding"]
LIMIT = 600  # seconds for a cell: a notebook takes 3 to 12 on two busy cores


def read(name: str) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    return notebook


class Run:
    """A notebook after its cells ran: what they printed and displayed."""

    def __init__(self, cells: list[Any]) -> None:
        self.outputs = [output for cell in cells for output in cell.get("outputs", [])]
        self.printed = "".join(output["text"] for output in self.outputs if output["output_type"] == "stream")
        self.html = [output["data"]["text/html"] for output in self.outputs if "text/html" in output.get("data", {})]

    def number(self, pattern: str) -> float:
        """The number that a pattern finds in what was printed."""
        found = re.search(pattern, self.printed)
        assert found, f"{pattern!r} is not in: {self.printed}"
        return float(found[1])

    def row(self, name: str) -> list[str]:
        """The cells of a printed table's row."""
        line = next(line for line in self.printed.splitlines() if line.startswith(f"{name:12} "))
        return re.split(r"\s{2,}", line[13:].strip())

    def pictures(self) -> int:
        """How many outputs are pictures and nothing else."""
        return sum(markup.startswith("<img ") for markup in self.html)


def run(name: str, folder: Path) -> Run:
    reason = "nbclient and ipykernel are not installed; pip install nbclient ipykernel"
    nbclient = pytest.importorskip("nbclient", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    nbformat = pytest.importorskip("nbformat", reason=reason)
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=LIMIT, resources={"metadata": {"path": str(folder)}}).execute()
    return Run(notebook["cells"])


@pytest.fixture(scope="module")
def choose(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run("choose_an_encoding", tmp_path_factory.mktemp("choose"))


@pytest.fixture(scope="module")
def extend(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run("extend_a_context", tmp_path_factory.mktemp("extend"))


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run("your_own_encoding", tmp_path_factory.mktemp("own"))


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_kept_without_outputs(name: str) -> None:
    cells = [cell for cell in read(name)["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)


def test_every_notebook_of_the_folder_is_run() -> None:
    assert sorted(file.stem for file in FOLDER.glob("*.ipynb")) == NAMES


# ---------------------------------------------------------------- choose_an_encoding


def test_an_encoding_shows_itself(choose: Run) -> None:
    assert "Rotates pairs of query and key elements" in choose.html[0]
    assert "<img " in choose.html[0]


def test_the_claims_are_as_the_text_says(choose: Run) -> None:
    assert choose.row("") == ["sinusoidal", "rope", "alibi"]
    assert choose.row("relative") == ["fails", "holds", "holds"]
    assert choose.row("norm") == ["fails", "holds", "no meaning"]
    assert choose.row("bounded") == ["holds", "holds", "fails"]


def test_the_race_ends_as_the_text_says(choose: Run) -> None:
    bits = {
        (name, length): choose.number(rf"{name}: .*?([\d.]+)(?: bits per byte)? at {length}")
        for name in ("rope", "alibi")
        for length in (64, 1024)
    }
    assert bits["rope", 64] < bits["alibi", 64]
    assert bits["rope", 1024] > bits["rope", 64] + 1
    assert bits["rope", 1024] > bits["alibi", 1024]


def test_the_display_of_progress_ends_with_the_folder(choose: Run) -> None:
    assert sum(markup.startswith("finished: ") for markup in choose.html) == 1


def test_the_race_shows_its_table_and_charts(choose: Run) -> None:
    assert any("bits at length" in markup and "<img " in markup for markup in choose.html)
    assert choose.pictures() == 2  # the decay, and the loss by position


# ---------------------------------------------------------------- extend_a_context


def test_some_pairs_complete_no_turn(extend: Run) -> None:
    assert extend.number(r"(\d+) of 32 pairs complete no turn") == 9  # 10000^(i/32) > 4096 / (2 pi) from pair 23 on


def test_the_plan_recommends_a_larger_theta_although_pairs_leave(extend: Run) -> None:
    assert "recommended: ntk" in extend.printed
    assert "ntk        serves: False" in extend.printed
    assert "linear     serves: True " in extend.printed


def test_the_settings_are_read_back_as_the_encoding_of_each_layer(extend: Run) -> None:
    assert "4 layers: Encoding('rope:theta=41830', heads=8, head_dim=64, kv_heads=2)" in extend.printed
    assert "the same as before: False" in extend.printed


def test_the_methods_come_in_as_the_text_says(extend: Run) -> None:
    order = re.findall(r"^(\S+) +[\d.]+ bits per byte at 256", extend.printed, re.MULTILINE)
    assert (order[0], order[-1]) == ("rope:scaling=ntk", "rope:scaling=linear")
    assert len(order) == 4
    assert "1 training for all of them" in extend.printed
    assert extend.pictures() == 2


# ---------------------------------------------------------------- your_own_encoding


def test_an_encoding_of_your_own_shows_itself(own: Run) -> None:
    assert "an encoding of your own" in own.html[0]


def test_its_claims_stand_beside_the_built_in_ones(own: Run) -> None:
    assert own.row("") == ["log", "kerple", "alibi"]
    assert own.row("symmetric") == ["holds", "holds", "fails"]
    assert own.row("learned") == ["no", "yes", "no"]
    properties = ("unique", "any-length", "bounded", "linear", "relative", "symmetric", "endless")
    assert all(own.row(name)[0] == own.row(name)[1] for name in properties)


def test_a_wrong_claim_is_found(own: Run) -> None:
    assert re.findall(r"all that it claims holds: (\w+)", own.printed) == ["True", "False"]
    assert "bounded: fails" in own.printed


def test_the_weights_are_as_the_text_says(own: Run) -> None:
    near = {name: own.number(rf"{name} +nearest key ([\d.]+)") for name in ("log", "alibi")}
    far = {name: own.number(rf"{name} +nearest key .*together ([\d.]+)") for name in ("log", "alibi")}
    assert near["log"] > near["alibi"]
    assert far["log"] > 10 * far["alibi"]


def test_the_copy_of_rope_is_rope(own: Run) -> None:
    assert own.number(r"largest difference: ([\de.+-]+);") < 1e-11  # angles up to 1010, rounded by 2^-43 each
    assert "the same verdicts: True" in own.printed
