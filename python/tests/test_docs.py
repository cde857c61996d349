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


def test_decoding_from_pages_gives_what_one_cache_gives(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "paged_decode.py"))
    assert capsys.readouterr().out.count("largest difference") == 2
