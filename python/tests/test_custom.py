# SPDX-License-Identifier: MIT
"""An encoding of your own: the methods of the built-in ones, and the same properties measured by the same rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import posenc
import pytest
from numpy.typing import NDArray
from posenc import _claims

Array = NDArray[np.float64]
HEADS, DIM = 4, 8
WIDTH = HEADS * DIM
SLOPES = 2.0 ** (-8 * np.arange(1, HEADS + 1) / HEADS)


def frequencies(width: int) -> Array:
    return 10000.0 ** (-2 * np.arange(width // 2) / width)


def rotate(x: Array, position: float) -> Array:
    angle = position * frequencies(DIM)
    one, two = np.split(x, 2)
    return np.concatenate([one * np.cos(angle) - two * np.sin(angle), one * np.sin(angle) + two * np.cos(angle)])


def embed(position: float) -> Array:
    angle = position * frequencies(WIDTH)
    return np.stack([np.sin(angle), np.cos(angle)], axis=1).ravel()


def bias(i: float, j: float) -> Array:
    return SLOPES * (j - i)


BY_HAND: dict[str, dict[str, Any]] = {
    "rope": {"rotate": rotate},
    "sinusoidal": {"embed": embed},
    "alibi": {"bias": bias},
    "rope+alibi": {"rotate": rotate, "bias": bias},
}


def by_hand(spec: str, **options: Any) -> posenc.Custom:
    return posenc.Custom(f"my {spec}", heads=HEADS, head_dim=DIM, **BY_HAND[spec], **options)


def built_in(spec: str, **options: Any) -> posenc.Encoding:
    return posenc.Encoding(spec, heads=HEADS, head_dim=DIM, **options)


def outcomes(encoding: Any) -> dict[str, str]:
    return {row["name"]: row["outcome"] for row in posenc.claims(encoding)["properties"]}


# ---------------------------------------------------------------- the same verdicts


@pytest.mark.parametrize("spec", BY_HAND)
def test_a_copy_by_hand_gets_the_verdicts_of_the_built_in_one(spec: str) -> None:
    assert outcomes(by_hand(spec)) == outcomes(built_in(spec))


def copy_of(e: posenc.Encoding) -> posenc.Custom:
    """The built-in functions in float64, as Python functions."""

    def at(position: Any) -> Any:
        return np.array([position if e.axes == 1 else list(position)])

    functions: dict[str, Callable[..., Any]] = {}
    if "embed" in e.hooks:
        functions["embed"] = lambda t: e.embed(None, at(t), dtype="float64")[0]
    if "rotate" in e.hooks:
        functions["rotate"] = lambda x, t: e.rotate(x[None, None], at(t))[0, 0]
    if e.spec == "xpos":
        functions["rotate_key"] = lambda x, t: e.rotate(x[None, None], at(t), side="key")[0, 0]
    learned = sum(row["count"] for row in e.tensors())
    return posenc.Custom(
        e.spec, heads=e.heads, head_dim=e.head_dim, model_dim=e.model_dim, axes=e.axes, parameters=learned, **functions
    )


FUNCTIONS = [
    "integer",
    "binary",
    "sinusoidal:layout=halves,denominator=d-2,offset=2",
    "sinusoidal:axes=2",
    "learned:rows=1026,offset=2",
    "learned:rows=14/14",
    "learned:rows=16/32,merge=split",
    "hierarchical:rows=64,alpha=0.3",
    "rope:scaling=yarn,factor=4,trained=2048",
    "rope:magnitude=1.25,temperature=0.1,floor=64,shift=1",
    "rope:axes=2,split=axial",
    "rope:axes=4,split=alternate,pairs=adjacent",
    "rope:precision=hf",
    "xpos",
]


@pytest.mark.parametrize("spec", FUNCTIONS)
def test_built_in_functions_get_the_verdicts_that_the_tool_measures(spec: str) -> None:
    encoding = posenc.Encoding(spec, heads=1, head_dim=8, model_dim=16)
    assert outcomes(copy_of(encoding)) == outcomes(encoding)


def test_an_encoding_that_depends_on_the_length_gets_the_verdicts_of_the_built_in_one() -> None:
    mine = posenc.Custom(
        "mine", heads=HEADS, head_dim=DIM, length=512, embed=lambda t, length: np.full(WIDTH, t / length)
    )
    found = outcomes(mine)
    assert found["any-length"] == "fails"
    assert found == outcomes(built_in("normalised"))


def test_every_property_of_the_tool_is_measured() -> None:
    assert list(outcomes("none")) == list(_claims.MEASURES)


def test_claims_of_a_custom_have_the_form_of_the_built_in_ones() -> None:
    mine, tool = posenc.claims(by_hand("alibi")), posenc.claims("alibi")
    assert mine.keys() == tool.keys()
    for one, two in zip(mine["properties"], tool["properties"], strict=True):
        assert one.keys() == two.keys()
        assert {key: one[key] for key in ("name", "sentence", "what")} == {
            key: two[key] for key in ("name", "sentence", "what")
        }


def test_claims_take_a_spec_an_encoding_and_sizes() -> None:
    learned = posenc.claims(built_in("learned:rows=8"))
    assert learned == posenc.claims("learned:rows=8", heads=HEADS, head_dim=DIM)
    assert learned["properties"][-1]["number"] == 8 * WIDTH


# ---------------------------------------------------------------- what fails, fails


def row_of(encoding: posenc.Custom, name: str) -> dict[str, Any]:
    return next(row for row in posenc.claims(encoding)["properties"] if row["name"] == name)


def custom(**functions: Any) -> posenc.Custom:
    return posenc.Custom("idea", heads=HEADS, head_dim=DIM, **functions)


def wrong_rotation(x: Array, position: float) -> Array:
    return rotate(x, position + 0.01 * abs(position) ** 0.5)


WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "one code for all is not unique": ("unique", {"embed": lambda t: np.ones(WIDTH)}),
    "a period is not unique": ("unique", {"embed": lambda t: np.full(WIDTH, t % 256)}),
    "a count has no bound": ("bounded", {"embed": lambda t: np.full(WIDTH, t)}),
    "a logarithm has no bound": ("bounded", {"bias": lambda i, j: -SLOPES * np.log1p(abs(i - j))}),
    "an uneven angle is not linear": ("linear", {"rotate": wrong_rotation}),
    "an uneven angle is not relative": ("relative", {"rotate": wrong_rotation}),
    "a bias by position is not relative": ("relative", {"bias": lambda i, j: SLOPES * (i % 3)}),
    "a factor keeps no length": ("norm", {"rotate": lambda x, t: 1.001 * rotate(x, t)}),
    "a bias to one side is not symmetric": ("symmetric", {"bias": bias}),
    "half of a vector cannot be rotated back": ("invertible", {"rotate": lambda x, t: x * (np.arange(DIM) < DIM / 2)}),
    "keys that do not turn are not relative": ("relative", {"rotate": rotate, "rotate_key": lambda x, t: x}),
    "half of a key cannot be rotated back": (
        "invertible",
        {"rotate": rotate, "rotate_key": lambda x, t: x * (np.arange(DIM) < DIM / 2)},
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_found(what: str) -> None:
    name, functions = WRONG[what]
    assert row_of(custom(**functions), name)["outcome"] == "fails"


def test_a_function_that_remembers_calls_is_found() -> None:
    calls = iter(range(10**9))
    assert row_of(custom(embed=lambda t: np.full(WIDTH, next(calls))), "any-length")["outcome"] == "fails"


def test_axes_that_mix_are_found() -> None:
    mixed = posenc.Custom("mixed", head_dim=4, axes=2, embed=lambda at: np.full(4, np.sin(float(at[0] * at[1]))))
    assert row_of(mixed, "axes")["outcome"] == "fails"
    apart = posenc.Custom("apart", head_dim=2, axes=2, embed=lambda at: np.sin(np.array(at)))
    assert row_of(apart, "axes")["outcome"] == "holds"


def table_row(position: int) -> Array:
    """Of a table of 100 rows; a negative index would count from its end."""
    if position < 0:
        raise IndexError(position)
    return np.random.default_rng(0).standard_normal((100, WIDTH))[position]


def test_a_table_ends_where_its_positions_are_refused() -> None:
    found = outcomes(custom(embed=table_row, parameters=100 * WIDTH))
    expected = {"endless": "fails", "bounded": "no meaning", "unique": "holds", "learned": "yes"}
    assert {name: found[name] for name in expected} == expected


def test_a_code_that_is_not_finite_counts_as_refused() -> None:
    grows = custom(embed=lambda t: np.full(WIDTH, np.exp(np.float64(t))))
    assert row_of(grows, "endless")["outcome"] == "fails"


def test_a_claim_that_fails_is_told() -> None:
    assert posenc.claims(by_hand("rope", claims=["relative", "norm"]))["as_claimed"]
    broken = posenc.claims(by_hand("sinusoidal", claims=["relative"]))
    assert not broken["as_claimed"]
    assert [row["name"] for row in broken["properties"] if row["claimed"]] == ["relative"]


def test_a_claim_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="no claim 'fast'; needs some of unique, any-length"):
        posenc.claims(by_hand("rope", claims=["fast"]))


# ---------------------------------------------------------------- the same methods

# Both sides are float64 and sum at most 8 products of order 1: 100 times their rounding.
CLOSE: dict[str, float] = {"rtol": 1e-13, "atol": 1e-13}
RANDOM = np.random.default_rng(15)


def test_embed_is_that_of_the_built_in_one() -> None:
    x = RANDOM.standard_normal((2, 5, WIDTH))
    mine, theirs = by_hand("sinusoidal"), built_in("sinusoidal")
    np.testing.assert_allclose(mine.embed(x, start=7), theirs.embed(x, start=7), **CLOSE)
    positions = np.array([3, 0, 100])
    np.testing.assert_allclose(mine.embed(None, positions), theirs.embed(None, positions, dtype="float64"), **CLOSE)


@pytest.mark.parametrize("shape", [(5, DIM), (5, HEADS, DIM), (2, 5, HEADS, DIM)])
def test_rotate_is_that_of_the_built_in_one(shape: tuple[int, ...]) -> None:
    x = RANDOM.standard_normal(shape)
    mine, theirs = by_hand("rope"), built_in("rope")
    np.testing.assert_allclose(mine.rotate(x, start=3), theirs.rotate(x, start=3), **CLOSE)
    positions = np.array([9, 0, 2, 2, 40])
    np.testing.assert_allclose(mine.rotate(x, positions), theirs.rotate(x, positions), **CLOSE)
    np.testing.assert_allclose(mine.unrotate(mine.rotate(x, positions), positions), x, **CLOSE)


def test_queries_and_keys_may_rotate_differently() -> None:
    xpos = posenc.Encoding("xpos", heads=1, head_dim=8)
    x = RANDOM.standard_normal((5, 1, 8))
    np.testing.assert_allclose(copy_of(xpos).rotate(x, side="key"), xpos.rotate(x, side="key"), **CLOSE)
    np.testing.assert_allclose(copy_of(xpos).scores(x, x), xpos.scores(x, x), **CLOSE)


def test_heads_may_come_before_tokens() -> None:
    x = RANDOM.standard_normal((2, HEADS, 5, DIM))
    mine, theirs = by_hand("rope"), built_in("rope")
    np.testing.assert_allclose(mine.rotate(x, layout="bhtd"), theirs.rotate(x, layout="bhtd"), **CLOSE)
    both = [encoding.attention(x, x, x, layout="bhtd") for encoding in (mine, theirs)]
    np.testing.assert_allclose(*both, **CLOSE)


def test_bias_is_that_of_the_built_in_one() -> None:
    queries, keys = np.array([0, 5]), np.array([0, 1, 9])
    np.testing.assert_array_equal(by_hand("alibi").bias(queries, keys), built_in("alibi").bias(queries, keys))
    np.testing.assert_array_equal(by_hand("alibi").bias(keys), built_in("alibi").bias(keys))


@pytest.mark.parametrize("spec", ["rope", "alibi", "rope+alibi"])
@pytest.mark.parametrize("options", [{}, {"causal": True}, {"softmax": True, "causal": True}, {"scale": 0.5}])
def test_scores_are_those_of_the_built_in_one(spec: str, options: dict[str, Any]) -> None:
    q, k = RANDOM.standard_normal((2, 3, HEADS, DIM)), RANDOM.standard_normal((2, 5, HEADS, DIM))
    np.testing.assert_allclose(by_hand(spec).scores(q, k, **options), built_in(spec).scores(q, k, **options), **CLOSE)


@pytest.mark.parametrize("spec", ["rope", "alibi", "rope+alibi"])
def test_attention_is_that_of_the_built_in_one_with_shared_keys(spec: str) -> None:
    q, k, v = (RANDOM.standard_normal((2, 5, heads, DIM)) for heads in (HEADS, 2, 2))
    mine, theirs = by_hand(spec, kv_heads=2), built_in(spec, kv_heads=2)
    np.testing.assert_allclose(mine.attention(q, k, v, causal=True), theirs.attention(q, k, v, causal=True), **CLOSE)


def test_positions_of_queries_and_keys_can_be_given() -> None:
    q, k, v = (RANDOM.standard_normal((4, HEADS, DIM)) for _ in range(3))
    at = {"q_positions": np.array([7, 3, 3, 90]), "k_positions": np.array([1, 2, 50, 4])}
    mine, theirs = by_hand("rope+alibi"), built_in("rope+alibi")
    np.testing.assert_allclose(mine.attention(q, k, v, **at), theirs.attention(q, k, v, **at), **CLOSE)


# ---------------------------------------------------------------- what is refused

BY_HAND_ROPE: Any = by_hand("rope")
REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "no function": (lambda: custom(), ValueError, "needs embed=, bias= or rotate="),
    "rotate_key alone": (lambda: custom(embed=embed, rotate_key=rotate), ValueError, "needs rotate= for queries too"),
    "no heads": (lambda: posenc.Custom(heads=0, head_dim=4, embed=embed), ValueError, "heads is 0; needs 1 or more"),
    "uneven heads": (
        lambda: posenc.Custom(heads=4, kv_heads=3, head_dim=4, embed=embed), ValueError, "a multiple of kv_heads, 3",
    ),
    "a wrong width": (
        lambda: custom(embed=lambda t: np.ones(3)).embed(None, [0]), TypeError, r"shape \(3,\); needs \(32,\)",
    ),
    "a wrong width, measured": (
        lambda: posenc.claims(custom(bias=lambda i, j: 0.0)), TypeError, r"shape \(\); needs \(4,\)",
    ),
    "another method": (lambda: by_hand("rope").embed(None, [0]), ValueError, "has no embed; it has rotate"),
    "too few positions": (lambda: by_hand("rope").rotate(np.ones((3, DIM)), [1]), ValueError, r"\(1,\); needs \(3,\)"),
    "neither x nor positions": (lambda: by_hand("sinusoidal").embed(), ValueError, "needs x, or positions"),
    "sizes of a custom": (lambda: posenc.claims(by_hand("rope"), heads=2), TypeError, "its shape is its own"),
    "a picture": (lambda: posenc.show(BY_HAND_ROPE), TypeError, "needs specs or posenc.Encoding"),
    "a race": (lambda: posenc.race(BY_HAND_ROPE), TypeError, "is a Custom; the tool trains specs and posenc.Encoding"),
    "a race of two": (lambda: posenc.race(["none", BY_HAND_ROPE]), TypeError, "is a Custom; the tool trains specs"),
    "a table": (lambda: BY_HAND_ROPE.table(3), posenc.Error, "a custom encoding has no table; it is functions"),
    "parameters": (lambda: BY_HAND_ROPE.params, posenc.Error, "a custom encoding has no params"),
    "a cache": (lambda: BY_HAND_ROPE.shift(np.ones((3, DIM)), 0, 1), posenc.Error, "a custom encoding has no shift"),
    "pairs": (lambda: BY_HAND_ROPE.pairs(), posenc.Error, "a custom encoding has no pairs"),
    "no such thing": (lambda: BY_HAND_ROPE.tables, AttributeError, "no attribute 'tables'"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_is_refused_with_what_would_be_right(what: str) -> None:
    ask, kind, sentence = REFUSED[what]
    with pytest.raises(kind, match=sentence):
        ask()


def test_what_a_custom_lacks_is_no_attribute() -> None:
    assert not hasattr(BY_HAND_ROPE, "table")
    with pytest.raises(posenc.Error) as caught:
        BY_HAND_ROPE.pairs()
    assert caught.value.status == "PE_ERR_UNSUITED" and caught.value.sentence == str(caught.value)


def test_unrotate_undoes_rotate() -> None:
    x = np.random.default_rng(1).standard_normal((3, HEADS, DIM))
    options: dict[str, Any] = {"start": 5, "side": "key"}
    back = BY_HAND_ROPE.unrotate(BY_HAND_ROPE.rotate(x, **options), **options)
    np.testing.assert_allclose(back, x, atol=1e-12)  # float64


def test_an_error_of_your_function_is_not_taken_for_the_end_of_positions() -> None:
    def broken(position: int) -> Array:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        posenc.claims(custom(embed=broken))


def test_a_notebook_gets_what_it_is() -> None:
    markup = by_hand("rope", claims=["relative"])._repr_html_()
    assert "my rope" in markup
    assert "4 heads of 8, model dimension 32" in markup
    assert "relative" in markup
