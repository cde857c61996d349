# SPDX-License-Identifier: MIT
"""Pictures of encodings: what ``posenc show`` draws, as an object that a notebook displays."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from . import _core, _tool

SIZES = ("heads", "kv_heads", "head_dim", "model_dim")


class Picture:
    """An SVG that a notebook displays. ``svg`` is its text; ``save`` writes it to a file."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    @property
    def description(self) -> str:
        """What the picture shows, in words: its title, then the text for readers who cannot see it."""
        found = (re.search(f"<{tag}>(.*?)</{tag}>", self.svg, re.DOTALL) for tag in ("title", "desc"))
        return ". ".join(html.unescape(match[1]).strip() for match in found if match)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the picture to a .svg file."""
        if Path(path).suffix.lower() != ".svg":
            raise ValueError(f"save: the file is {str(path)!r}; needs a name that ends in .svg")
        Path(path).write_text(self.svg, encoding="utf-8")

    def to_html(self) -> str:
        """An image with its data inside: styles and ids of one picture cannot reach another, nor the notebook."""
        data = base64.b64encode(self.svg.encode()).decode("ascii")
        alt = html.escape(self.description)
        return f'<img style="max-width:100%" alt="{alt}" src="data:image/svg+xml;base64,{data}">'

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return f"Picture({self.description[:60]!r})"


def sizes_of(encoding: _core.Encoding) -> dict[str, Any]:
    """The shape of attention, as options of the tool."""
    return {name: getattr(encoding, name) for name in SIZES}


def _shared_sizes(encodings: Sequence[_core.Encoding]) -> dict[str, Any]:
    """The one shape that encodings have in common."""
    sizes = [sizes_of(encoding) for encoding in encodings]
    for other, encoding in zip(sizes, encodings, strict=True):
        if other != sizes[0]:
            raise ValueError(f"show: {encodings[0]!r} and {encoding!r} differ in shape; needs one shape for all")
    return sizes[0] if sizes else {}


def show(*specs: str | _core.Encoding, view: str | Iterable[str] | None = None, **options: Any) -> Picture:
    """Draws encodings side by side, one below the other for each view, as one picture.

    ``view``: table, curves, decay, heads, bias, wavelengths, turns, variance, around, attention, "all" or several of
    them; without it, those that fit. Options: preset, length, start, axis, at, head, pairs, log, sentence, causal,
    heads, kv_heads, head_dim, model_dim, seed, lang, width. An Encoding brings its shape. Learned parameters are drawn
    with their initial values.
    """
    for spec in specs:
        if not isinstance(spec, (str, _core.Encoding)):
            raise TypeError(f"show: {spec!r} is a {type(spec).__name__}; needs specs or posenc.Encoding")
    given = _shared_sizes([spec for spec in specs if isinstance(spec, _core.Encoding)])
    names = [spec if isinstance(spec, str) else spec.spec for spec in specs]
    _tool.check_operands(names)
    views = view if view is None or isinstance(view, str) else list(view)
    words = _tool.words_of({"lang": "en", **given, **options, "view": views})
    return Picture(_tool.run(["show", *names, *words, "--as", "svg"]))


# ---------------------------------------------------------------- an encoding in a notebook


def table_html(rows: Iterable[tuple[str, str]]) -> str:
    """Rows of a name and a text, as an HTML table. Texts are escaped; empty ones are left out."""
    left = 'style="text-align:left"'
    cells = (
        f"<tr><th {left}>{html.escape(name)}</th><td {left}>{html.escape(text)}</td></tr>"
        for name, text in rows
        if text
    )
    return f"<table>{''.join(cells)}</table>"


def _shape_text(encoding: _core.Encoding) -> str:
    text = f"{encoding.heads} heads of {encoding.head_dim}"
    if encoding.kv_heads != encoding.heads:
        text += f", {encoding.kv_heads} for keys and values"
    axes = f", {encoding.axes} axes" if encoding.axes > 1 else ""
    return f"{text}, model dimension {encoding.model_dim}{axes}"


def _part_rows(names: Iterable[str]) -> Iterable[tuple[str, str]]:
    """What the list of encodings says of each part of a spec."""
    known = {row["name"]: row for row in _core.encodings()}
    for row in (known[name] for name in names):
        yield row["name"], row["summary"]
        yield "formula", row["formula"]
        yield "paper", f"{row['paper']}, arXiv:{row['arxiv']}" if row["arxiv"] else row["paper"]


def card(encoding: _core.Encoding) -> str:
    """An encoding as HTML: what it is, and the first picture that fits it."""
    listed = _tool.ask("show", encoding.spec, list=True, lang="en", **sizes_of(encoding))
    fitting = [row["name"] for row in listed["views"] if row["fits"]]
    learned = sum(row["count"] for row in encoding.tensors())
    rows = [
        *_part_rows(part["name"] for part in listed["specs"][0]["parts"]),
        ("shape", _shape_text(encoding)),
        ("acts on", ", ".join(encoding.hooks)),
        ("claims", ", ".join(encoding.claims)),
        ("parameters", f"{learned}, learned; the picture has their initial values" if learned else ""),
    ]
    picture = show(encoding, view=fitting[0]).to_html() if fitting else ""
    return f"<h4><code>{html.escape(encoding.spec)}</code></h4>{table_html(rows)}{picture}"
