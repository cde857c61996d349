# SPDX-License-Identifier: MIT
"""The Python of the docs and of examples/ runs."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python(?: (\w+))?\n(.*?)^```", re.M | re.S)


def needs(what: str) -> None:
    """Skips the test where a package is not there, or a GPU."""
    torch = pytest.importorskip("torch" if what == "gpu" else what)
    if what == "gpu" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device (torch.cuda.is_available() is False)")


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md", "docs/python.md", "docs/gpu.md"])
def test_the_python_of_a_page_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One page is one session; a block that names a package, or a gpu, needs it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    session: dict[str, object] = {}
    blocks = BLOCK.findall((ROOT / name).read_text(encoding="utf-8"))
    for what, code in blocks:
        if what:
            needs(what)
        exec(compile(code, name, "exec"), session)


def test_the_tables_of_scale_are_those_of_its_script(capsys: pytest.CaptureFixture[str]) -> None:
    """The simulated tables line by line; of the measured one what the model says of time and memory."""
    script = ROOT / "bench" / "scale.py"
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8").splitlines()
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) > 10 and not [line for line in printed if line and line not in page]
    scale = runpy.run_path(str(script))
    runs = [line for line in page if re.match(r"\| \w+ \| \d+ \| \d+ \|", line)]
    nanoseconds = re.search(r"\((\d\.\d+) ns\nforward and (\d\.\d+) ns backward", "\n".join(page))
    assert nanoseconds and len(runs) == 18
    for line in runs:
        order, tokens, ranks, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        found = [float(cell.split("(")[1].rstrip(")")) for cell in cells if "(" in cell]
        run = scale["Run"](int(ranks), int(tokens), order, True, 0.0, 0.0, 0.0, 1, 32)
        for seconds, each in zip(found, nanoseconds.groups(), strict=False):
            assert seconds == pytest.approx(float(each) * 1e-9 * scale["pairs"](run), rel=0.01, abs=1e-4), line
        assert found[2] == round(scale["memory"](run) / 1e6, 1), line


def test_decoding_from_pages_gives_what_one_cache_gives(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "paged_decode.py"))
    assert capsys.readouterr().out.count("largest difference") == 2
