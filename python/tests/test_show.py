# SPDX-License-Identifier: MIT
"""Pictures: what posenc.show returns, and how an encoding shows itself in a notebook."""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path
from xml.etree import ElementTree

import posenc
import pytest

SVG = "{http://www.w3.org/2000/svg}"
EVERY_ENCODING = [row["name"] for row in posenc.encodings()]


def texts_of(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def inner_svg(markup: str) -> str:
    """The picture inside an <img>."""
    found = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', markup)
    assert found
    return base64.b64decode(found[1]).decode()


def rows_of(markup: str) -> dict[str, str]:
    cells = re.findall(r"<th[^>]*>(.*?)</th><td[^>]*>(.*?)</td>", markup)
    return {html.unescape(name): html.unescape(text) for name, text in cells}


def test_show_is_one_svg_with_every_view_of_every_encoding() -> None:
    texts = texts_of(posenc.show("rope", "alibi", view=["decay", "attention"]).svg)
    for title in ("rope", "alibi"):
        assert title in texts
    assert texts.count("Score against distance") == 2
    assert sum(text.startswith("Attention with the encoding") for text in texts) == 2


def test_views_by_name_and_as_a_list_are_the_same_picture() -> None:
    assert posenc.show("rope", view="table,decay").svg == posenc.show("rope", view=("table", "decay")).svg


def test_an_encoding_brings_its_shape() -> None:
    rope = posenc.Encoding("rope", heads=2, head_dim=16)
    drawn = posenc.show(rope, view="table").svg
    assert drawn == posenc.show("rope", view="table", heads=2, head_dim=16, model_dim=32).svg
    assert drawn != posenc.show("rope", view="table").svg


def test_encodings_of_different_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in shape; needs one shape for all"):
        posenc.show(posenc.Encoding("rope", heads=2, head_dim=16), posenc.Encoding("alibi", heads=4, head_dim=16))


def test_what_is_no_encoding_is_refused() -> None:
    with pytest.raises(TypeError, match="3 is a int; needs specs"):
        posenc.show(3)  # type: ignore[arg-type]


def test_a_view_that_there_is_not_is_refused_by_name() -> None:
    with pytest.raises(posenc.ToolError, match="nosuch"):
        posenc.show("rope", view="nosuch")


def test_a_picture_is_saved_as_it_is(tmp_path: Path) -> None:
    picture = posenc.show("alibi", view="heads")
    picture.save(tmp_path / "heads.svg")
    assert (tmp_path / "heads.svg").read_text(encoding="utf-8") == picture.svg


def test_a_picture_is_saved_as_svg_only(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"heads\.png.*needs a name that ends in \.svg"):
        posenc.show("alibi", view="heads").save(tmp_path / "heads.png")


def test_a_notebook_gets_the_svg_and_an_image_that_holds_it() -> None:
    picture = posenc.show("rope", view="decay")
    assert picture._repr_svg_() == picture.svg
    assert inner_svg(picture._repr_html_()) == picture.svg


def test_the_html_of_a_picture_has_no_style_or_id_that_another_could_meet() -> None:
    markup = posenc.show("rope", view="decay")._repr_html_()
    assert re.fullmatch(r'<img style="max-width:100%" alt="[^"<>]*" src="[^"<>]*">', markup)


@pytest.mark.parametrize("spec", EVERY_ENCODING)
def test_no_picture_has_an_id_so_two_in_one_page_cannot_clash(spec: str) -> None:
    root = ElementTree.fromstring(posenc.show(spec, view="all").svg)
    assert not [element for element in root.iter() if "id" in element.attrib]


def test_the_description_is_that_of_the_svg() -> None:
    description = posenc.show("alibi", view="heads").description
    assert description.startswith("What each head adds. Line chart: added to the score")


@pytest.mark.parametrize("spec", EVERY_ENCODING)
def test_every_encoding_shows_what_it_is_and_its_picture(spec: str) -> None:
    encoding = posenc.Encoding(spec, heads=4, head_dim=32)
    listed = next(row for row in posenc.encodings() if row["name"] == spec)
    markup = encoding._repr_html_()
    rows = rows_of(markup)
    assert html.escape(encoding.spec) in markup
    assert rows[spec] == listed["summary"]
    assert rows["formula"] == listed["formula"]
    assert rows["shape"].startswith("4 heads of 32, model dimension 128")
    assert rows.get("acts on", "") == ", ".join(encoding.hooks)
    assert rows.get("claims", "") == ", ".join(encoding.claims)
    assert texts_of(inner_svg(markup))[0] == spec


def test_each_part_of_a_combination_is_described() -> None:
    rows = rows_of(posenc.Encoding("sinusoidal+t5", heads=4, head_dim=16)._repr_html_())
    assert rows["sinusoidal"].startswith("Adds sines")
    assert rows["t5"].startswith("Adds a trained bias")
    assert rows["parameters"] == "128, learned; the picture has their initial values"
