# SPDX-License-Identifier: MIT
"""posenc.Encoding with NumPy arrays."""

import copy
import pickle
import threading

import numpy as np
import posenc
import pytest

try:
    from ml_dtypes import bfloat16
except ImportError:
    bfloat16 = None

RNG = np.random.default_rng(7)


def vectors(*shape: int, dtype: object = np.float32) -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


def rope(**options: int) -> posenc.Encoding:
    return posenc.Encoding("rope:theta=5e5", **{"heads": 4, "head_dim": 16, **options})


def rotated_by_hand(x: np.ndarray, positions: np.ndarray, theta: float = 5e5) -> np.ndarray:
    """RoPE's definition in float64: pairs (i, i + D/2) of (..., tokens, heads, D)."""
    half = x.shape[-1] // 2
    angle = positions[..., None, None] * theta ** (-np.arange(half) / half)
    a, b = x[..., :half].astype(np.float64), x[..., half:].astype(np.float64)
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], -1)


def attention_by_hand(q: np.ndarray, k: np.ndarray, v: np.ndarray, bias: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """softmax(q.k / sqrt(D) + bias) v in float64; (batch, tokens, heads, dim), bias (heads, Tq, Tk)."""
    group = q.shape[2] // k.shape[2]
    k, v = (np.repeat(a.astype(np.float64), group, axis=2) for a in (k, v))
    score = np.einsum("bqhd,bkhd->bhqk", q.astype(np.float64), k) / np.sqrt(q.shape[-1]) + bias
    score = np.where(seen, score, -np.inf)
    weight = np.exp(score - score.max(-1, keepdims=True))
    return np.einsum("bhqk,bkhd->bqhd", weight / weight.sum(-1, keepdims=True), v)


# ---------------------------------------------------------------- rotation


def test_rotation_equals_its_definition() -> None:
    x, at = vectors(2, 9, 4, 16), np.arange(9) + 1000
    np.testing.assert_allclose(rope().rotate(x, start=1000), rotated_by_hand(x, at), atol=3e-7)  # a few roundings


@pytest.mark.parametrize(
    "positions",
    [
        np.arange(5, 14, dtype=np.int64),
        np.arange(5, 14, dtype=np.int32),
        np.arange(5.0, 14.0),
        np.arange(5, 14, dtype=np.int8),
        np.arange(5, 14, dtype=np.float32),
        list(range(5, 14)),
        [float(t) for t in range(5, 14)],
        np.tile(np.arange(5, 14), (2, 1)),
        np.arange(0, 18)[5:14],
    ],
)
def test_positions_of_any_type_mean_the_same(positions: object) -> None:
    x = vectors(2, 9, 4, 16)
    assert np.array_equal(rope().rotate(x, positions), rope().rotate(x, start=5))


def test_sequences_may_start_at_different_positions() -> None:
    x = vectors(2, 3, 4, 16)
    both = rope().rotate(x, start=np.array([7, 100]))
    assert np.array_equal(both[0], rope().rotate(x[0], start=7))
    assert np.array_equal(both[1], rope().rotate(x[1], start=100))


def test_sequences_may_start_at_fractions() -> None:
    x = vectors(2, 3, 4, 16)
    both = rope().rotate(x, start=np.array([0.5, 7.25]))
    np.testing.assert_allclose(both[1], rotated_by_hand(x[1], 7.25 + np.arange(3)), atol=3e-7)


def test_fractions_of_positions_rotate_between_whole_ones() -> None:
    x = vectors(1, 2, 4, 16)
    at = np.array([0.5, 3.25])
    np.testing.assert_allclose(rope().rotate(x, at), rotated_by_hand(x, at), atol=3e-7)


@pytest.mark.parametrize("shape", [(2, 9, 4, 16), (9, 4, 16), (9, 16)])
def test_leading_dimensions_may_be_left_out(shape: tuple[int, ...]) -> None:
    x = vectors(*shape)
    e = rope(heads=4 if len(shape) > 2 else 1)
    full = x.reshape((1,) * (4 - len(shape)) + shape) if len(shape) > 2 else x[None, :, None]
    assert np.array_equal(e.rotate(x).reshape(-1), e.rotate(full).reshape(-1))


def test_heads_may_come_before_tokens() -> None:
    x = vectors(2, 9, 4, 16)
    y = rope().rotate(np.ascontiguousarray(x.swapaxes(1, 2)), layout="bhtd")
    assert np.array_equal(y.swapaxes(1, 2), rope().rotate(x))


def test_strides_are_used_as_they_are() -> None:
    wide = vectors(2, 9, 12, 16)
    part = wide[:, ::2, 4:8]  # every other token, four of the heads
    assert np.array_equal(rope().rotate(part), rope().rotate(part.copy()))
    backwards = wide[:, ::-1, :4]
    assert np.array_equal(rope().rotate(backwards), rope().rotate(backwards.copy()))
    repeated = np.broadcast_to(wide[:1, :, :4], (3, 9, 4, 16))
    assert np.array_equal(rope().rotate(repeated)[2], rope().rotate(wide[0, :, :4]))


def test_out_is_written_and_returned() -> None:
    x, y = vectors(2, 9, 4, 16), np.zeros((2, 9, 4, 16), np.float32)
    assert rope().rotate(x, out=y) is y
    assert np.array_equal(y, rope().rotate(x))
    expected = rope().rotate(x)
    assert rope().rotate(x, out=x) is x and np.array_equal(x, expected)


@pytest.mark.parametrize("dtype, digits", [(np.float16, 2e-3), (bfloat16, 2e-2), (np.float64, 1e-14)])
def test_element_types_are_kept(dtype: object, digits: float) -> None:
    if dtype is None:
        pytest.skip("needs ml_dtypes")
    x = vectors(2, 9, 4, 16, dtype=dtype)
    y = rope().rotate(x)
    assert y.dtype == x.dtype
    np.testing.assert_allclose(y.astype(np.float64), rotated_by_hand(x, np.arange(9)), atol=digits * 4)


def test_unrotate_undoes_rotate() -> None:
    x = vectors(2, 9, 4, 16)
    np.testing.assert_allclose(rope().unrotate(rope().rotate(x, start=3), start=3), x, atol=1e-6)


def test_tables_hold_the_cosines_and_sines_of_the_rotation() -> None:
    cos, sin = rope().table(np.array([0, 5]))
    frequency = np.array([p["frequency"] for p in rope().pairs()])
    np.testing.assert_allclose(cos[1], np.cos(5 * frequency), atol=1e-7)
    np.testing.assert_allclose(sin[1], np.sin(5 * frequency), atol=1e-7)
    assert rope().table(7)[0].shape == (7, 8)


def test_axes_are_the_last_dimension_of_positions() -> None:
    e = posenc.Encoding("rope:axes=2", heads=4, head_dim=16)
    grid = np.array([[0, 0], [0, 1], [1, 0]])
    x = vectors(1, 3, 4, 16)
    assert np.array_equal(e.rotate(x, grid), e.rotate(x, grid[None]))
    assert e.axes == 2


# ---------------------------------------------------------------- embedding, bias, parameters


def test_codes_are_added_to_x() -> None:
    e = posenc.Encoding("sinusoidal", heads=2, head_dim=8)
    x = vectors(2, 5, 16)
    np.testing.assert_allclose(e.embed(x, start=3), x + e.embed(positions=np.arange(3, 8)), atol=1e-6)
    np.testing.assert_allclose(e.embed(positions=4)[:, 0], np.sin(np.arange(4)), atol=1e-7)


def test_alibis_bias_is_its_slope_times_the_distance() -> None:
    e = posenc.Encoding("alibi", heads=8, head_dim=64)
    slope = 2.0 ** -np.arange(1, 9)
    distance = np.arange(4)[:, None] - np.arange(4)
    np.testing.assert_allclose(e.bias(4), -slope[:, None, None] * distance, atol=1e-7)
    assert e.bias(2, 5).shape == (8, 2, 5)


def test_parameters_are_named_arrays_that_can_be_written() -> None:
    e = posenc.Encoding("t5", heads=2, head_dim=8, seed=1)
    assert {name: values.shape for name, values in e.params.items()} == {"table": (32, 2)}
    before = e.bias(6)
    e.params["table"][:] = 0
    assert before.any() and not e.bias(6).any()


def test_attention_uses_parameters_as_they_are_now() -> None:
    e = posenc.Encoding("t5", heads=2, head_dim=8)
    q = vectors(1, 6, 2, 8)
    e.attention(q, q, q)  # makes the plan
    e.params["table"][:] *= 3
    plain = attention_by_hand(q * np.sqrt(8), q, q, e.bias(6), np.bool_(True))  # T5 has no scale
    np.testing.assert_allclose(e.attention(q, q, q), plain, atol=1e-5)


def test_seeds_make_parameters() -> None:
    make = lambda seed: posenc.Encoding("t5", heads=2, head_dim=8, seed=seed).params["table"]  # noqa: E731
    assert np.array_equal(make(3), make(3)) and not np.array_equal(make(3), make(4))


@pytest.mark.parametrize("again", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_copies_are_equal(again: object) -> None:
    e = posenc.Encoding("t5", heads=2, head_dim=8, seed=5)
    e.params["table"][0] = 9
    assert again(e) == e and again(e) is not e  # type: ignore[operator]
    assert e != posenc.Encoding("t5", heads=2, head_dim=8, seed=5)


# ---------------------------------------------------------------- attention


@pytest.mark.parametrize("spec", [spec for row in posenc.encodings() for spec in row["examples"]])
def test_fused_attention_equals_the_definition_for_every_encoding(spec: str) -> None:
    e = posenc.Encoding(spec, heads=8, head_dim=64, seed=2)
    q, k, v = vectors(2, 5, 8, 64), vectors(2, 9, 8, 64), vectors(2, 9, 8, 64)
    extra = {}
    if e.gates:
        extra = {"q_gates": vectors(2, 5, 8), "k_gates": vectors(2, 9, 8)}
    if e.relative_dim:
        extra["relative"] = vectors(2, 5, 8, e.relative_dim)
    if e.axes > 1:
        grid = np.stack([np.arange(9) % 2] * e.axes, -1)  # fits every window
        extra.update(q_positions=grid[4:], k_positions=grid)
    fused = e.attention(q, k, v, causal=True, **extra)
    np.testing.assert_allclose(fused, e.attention(q, k, v, causal=True, exact=True, **extra), atol=2e-5)


def test_attention_with_alibi_equals_its_formula() -> None:
    e = posenc.Encoding("alibi", heads=4, head_dim=16, kv_heads=2)
    q, k, v = vectors(2, 6, 4, 16), vectors(2, 6, 2, 16), vectors(2, 6, 2, 16)
    causal = np.tril(np.ones((6, 6), bool))
    by_hand = attention_by_hand(q, k, v, e.bias(6), causal)
    np.testing.assert_allclose(e.attention(q, k, v, causal=True), by_hand, atol=1e-6)
    np.testing.assert_allclose(e.attention(q, k, v, keep=causal), by_hand, atol=1e-6)
    mask = np.where(causal, 0, -np.inf).astype(np.float32)
    np.testing.assert_allclose(e.attention(q, k, v, mask=mask[None, None]), by_hand, atol=1e-6)


def test_gates_forget_between_key_and_query() -> None:
    e = posenc.Encoding("forget", heads=4, head_dim=16)
    assert e.gates and not e.relative_dim
    log_f = -np.abs(vectors(7, 4))
    gates = np.cumsum(log_f, 0)
    bias = e.bias(7, q_gates=gates, k_gates=gates)
    for i in range(7):
        for j in range(i + 1):
            np.testing.assert_allclose(bias[:, i, j], log_f[j + 1 : i + 1].sum(0), atol=1e-6)
    with pytest.raises(posenc.Error, match="q_gates is NULL"):
        e.bias(7)
    q, k, v = vectors(1, 7, 4, 16), vectors(1, 7, 4, 16), vectors(1, 7, 4, 16)
    causal = np.tril(np.ones((7, 7), bool))
    by_hand = attention_by_hand(q, k, v, bias, causal)
    np.testing.assert_allclose(
        e.attention(q, k, v, causal=True, q_gates=gates[None], k_gates=gates[None]), by_hand, atol=1e-6
    )


def test_decoding_gives_what_all_tokens_at_once_give() -> None:
    e = posenc.Encoding("rope+alibi", heads=4, head_dim=16)
    q, k, v = (vectors(2, 12, 4, 16) for _ in range(3))
    whole = e.attention(q, k, v, causal=True)
    for t in range(12):
        step = e.attention(q[:, t : t + 1], k[:, : t + 1], v[:, : t + 1])
        np.testing.assert_allclose(step[:, 0], whole[:, t], atol=2e-6)


def test_a_cache_of_rotated_keys_can_be_shifted() -> None:
    e = rope()
    q, k, v = vectors(1, 1, 4, 16), vectors(1, 8, 4, 16), vectors(1, 8, 4, 16)
    cache = e.rotate(k, start=100, side="key")
    e.shift(cache, 100, 60)
    np.testing.assert_allclose(cache, e.rotate(k, start=60, side="key"), atol=1e-6)
    out = e.attention(q, cache, v, rotated=True, k_positions=60, q_positions=67)
    np.testing.assert_allclose(out, e.attention(q, k, v), atol=2e-6)
    e.rebase(cache, 60, e)  # to itself: nothing changes but rounding
    np.testing.assert_allclose(cache, e.rotate(k, start=60, side="key"), atol=1e-6)


def test_pages_give_what_one_cache_gives() -> None:
    e = posenc.Encoding("alibi", heads=4, head_dim=16, kv_heads=2)
    lengths = np.array([10, 5])
    k, v = vectors(2, 12, 2, 16), vectors(2, 12, 2, 16)
    table = np.array([[5, 0, 3], [1, 4, 2]], np.int32)
    pool_k, pool_v = np.zeros((6, 4, 2, 16), np.float32), np.zeros((6, 4, 2, 16), np.float32)
    for sequence, pages in enumerate(table):
        for i, page in enumerate(pages):
            pool_k[page], pool_v[page] = k[sequence, 4 * i : 4 * i + 4], v[sequence, 4 * i : 4 * i + 4]
    q = vectors(2, 1, 4, 16)
    paged = e.attention(q, pool_k, pool_v, page_table=table, k_lengths=lengths)
    for sequence, length in enumerate(lengths):
        alone = e.attention(q[sequence], k[sequence, :length], v[sequence, :length])
        np.testing.assert_allclose(paged[sequence], alone, atol=2e-6)


def test_packed_sequences_do_not_see_each_other() -> None:
    e = rope()
    q = vectors(1, 9, 4, 16)
    offsets = np.array([0, 4, 9], np.int32)
    at = np.array([0, 1, 2, 3, 0, 1, 2, 3, 4])
    packed = e.attention(q, q, q, causal=True, q_offsets=offsets, k_offsets=offsets, q_positions=at, k_positions=at)
    for a, b in ((0, 4), (4, 9)):
        np.testing.assert_allclose(packed[0, a:b], e.attention(q[0, a:b], q[0, a:b], q[0, a:b], causal=True), atol=2e-6)


def test_scores_and_probabilities_can_be_seen() -> None:
    e = posenc.Encoding("alibi", heads=4, head_dim=16)
    q = vectors(2, 6, 4, 16)
    score = e.scores(q, q, causal=True)
    by_hand = np.einsum("bqhd,bkhd->bhqk", q, q) / 4 + e.bias(6)
    np.testing.assert_allclose(score[..., 5, :], by_hand[..., 5, :], atol=1e-5)
    assert np.isneginf(score[..., 0, 1:]).all()
    np.testing.assert_allclose(e.scores(q, q, causal=True, softmax=True).sum(-1), 1, atol=1e-6)


def test_the_log_of_the_sum_is_returned() -> None:
    e = posenc.Encoding("alibi", heads=4, head_dim=16)
    q = vectors(2, 6, 4, 16)
    out, lse = e.attention(q, q, q, lse=True)
    score = e.scores(q, q).astype(np.float64)
    assert lse.shape == (2, 6, 4)
    np.testing.assert_allclose(lse.swapaxes(1, 2), np.log(np.exp(score).sum(-1)), atol=1e-5)


def test_gradients_are_those_of_differences() -> None:
    e = posenc.Encoding("t5+rope", heads=2, head_dim=4, seed=3)
    q, k, v, dout = (vectors(1, 5, 2, 4, dtype=np.float64) for _ in range(4))
    params = np.frombuffer(e, np.float32).astype(np.float64)
    value = lambda: (e.attention(q, k, v, causal=True, params=params) * dout).sum()  # noqa: E731
    out, lse = e.attention(q, k, v, causal=True, lse=True, params=params)
    dparams = np.zeros_like(params)
    dq, dk, dv, *_ = e.attention_backward(
        q, k, v, causal=True, out=out, lse=lse, dout=dout, dparams=dparams, params=params, dq=True, dk=True, dv=True
    )
    for array, gradient in ((q, dq), (k, dk), (v, dv), (params, dparams)):
        flat, analytic = array.reshape(-1), gradient.reshape(-1)
        for i in range(0, flat.size, 7):
            old, step = flat[i], 1e-5
            flat[i] = old + step
            up = value()
            flat[i] = old - step
            down = value()
            flat[i] = old
            assert abs((up - down) / (2 * step) - analytic[i]) < 1e-7


# ---------------------------------------------------------------- what is refused, and who may call


@pytest.mark.parametrize(
    "call, status, words",
    [
        (lambda: posenc.Encoding("rope:thta=3", heads=4, head_dim=16), "PE_ERR_SPEC", "thta"),
        (lambda: posenc.Encoding("alibi", heads=0, head_dim=16), "PE_ERR_SHAPE", "heads"),
        (lambda: rope().rotate(vectors(2, 9, 4, 15)), "PE_ERR_SHAPE", "16"),
        (lambda: rope().rotate(vectors(16)), "PE_ERR_SHAPE", "1 dimensions"),
        (lambda: rope().rotate(np.ones((2, 9, 4, 16), np.int16)), "PE_ERR_DTYPE", "int16"),
        (lambda: rope().rotate(np.ones((2, 9, 4, 16), np.complex64)), "PE_ERR_DTYPE", "float32"),
        (lambda: rope().rotate(vectors(2, 9, 4, 32)[..., ::2]), "PE_ERR_SHAPE", "ascontiguousarray"),
        (lambda: rope().rotate(vectors(2, 9, 4, 16), np.arange(8)), "PE_ERR_SHAPE", "9 tokens"),
        (lambda: rope().rotate(vectors(2, 9, 4, 16), np.arange(9), start=3), "PE_ERR_POSITION", "both"),
        (lambda: rope().rotate(vectors(2, 9, 4, 16), start=2**40), "PE_ERR_POSITION", "1099511627776"),
        (lambda: posenc.Encoding("alibi", heads=4, head_dim=16).table(3), "PE_ERR_UNSUITED", "rotation"),
        (lambda: rope().bias(3), "PE_ERR_UNSUITED", "bias"),
        (lambda: rope().rotate(vectors(2, 9, 4, 16), start=2.5), "PE_ERR_SHAPE", "whole number"),
        (
            lambda: rope().attention(*[vectors(1, 3, 4, 16)] * 3, mask=np.ones((2, 3), np.float32)),
            "PE_ERR_SHAPE",
            "mask",
        ),
    ],
)
def test_errors_carry_a_status_and_a_sentence(call: object, status: str, words: str) -> None:
    with pytest.raises(posenc.Error, match=words) as caught:
        call()  # type: ignore[operator]
    assert caught.value.status == status
    assert str(caught.value) == caught.value.sentence


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: rope().rotate(), "needs x"),
        (lambda: rope().rotate("text"), "no array"),
        (lambda: rope().rotate(vectors(9, 4, 16), starts=3), "no argument 'starts'"),
        (lambda: rope().rotate(vectors(9, 4, 16), x=3), "twice"),
        (lambda: rope().rotate(vectors(9, 4, 16), start="a"), "start"),
        (lambda: rope().attention(*[vectors(1, 3, 4, 16)] * 3, k_lengths=[1.5]), "k_lengths .* whole number"),
        (lambda: rope().rotate(vectors(9, 4, 16), layout="thbd"), "bthd"),
        (lambda: posenc.Encoding("rope\0:theta=3", heads=4, head_dim=16), "null"),
        (lambda: rope().rebase(vectors(9, 4, 16), 0, "rope"), "Encoding"),
    ],
)
def test_wrong_arguments_are_named(call: object, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64, np.bool_, np.int16, np.complex64, object])
def test_arrays_of_other_types_are_refused_everywhere(dtype: object) -> None:
    e, rows = posenc.Encoding("sinusoidal+rope", heads=4, head_dim=16), np.ones((3, 64), dtype)
    x, good = np.ones((3, 4, 16), dtype), vectors(3, 4, 16)
    out, lse = e.attention(good, good, good, lse=True)
    for call in (
        lambda: e.rotate(x),
        lambda: e.embed(rows),
        lambda: e.embed_back(rows),
        lambda: e.attention(x, x, x),
        lambda: e.attention_backward(x, good, good, out=out, lse=lse, dout=out),
        lambda: e.attention_backward(good, x, good, out=out, lse=lse, dout=out),
    ):
        with pytest.raises((posenc.Error, TypeError)):
            call()


def test_bfloat16_tables_need_ml_dtypes() -> None:
    if bfloat16 is None:
        with pytest.raises(posenc.Error, match="ml_dtypes"):
            rope().table(3, dtype="bfloat16")
    else:
        assert rope().table(3, dtype="bfloat16")[0].dtype == bfloat16


def test_a_reversed_view_is_not_the_same_view() -> None:
    x = vectors(6, 4, 16)
    with pytest.raises(posenc.Error, match="overlap"):
        rope().rotate(x[::-1], out=x)


def test_page_tables_may_have_any_strides() -> None:
    e, pages = rope(), vectors(8, 4, 4, 16)
    table = np.array([[0, 2, 7, 7], [1, 3, 7, 7]], np.int32)[:, :2]
    expected = pages.copy()
    e.shift(expected, np.arange(8), np.arange(3, 11), page_table=table.copy())
    moved = pages.copy()
    e.shift(moved, np.arange(8), np.arange(3, 11), page_table=table)
    assert np.array_equal(moved, expected) and np.array_equal(moved[4:], pages[4:])
    by_number = pages.copy()
    e.shift(by_number, 0, 3, page_table=table)
    assert np.array_equal(by_number, expected)
    with pytest.raises(posenc.Error, match="99"):
        e.shift(moved, 0, 5, page_table=[[99, 99]])


def test_numbers_of_numpy_are_numbers() -> None:
    e = posenc.Encoding("alibi", heads=4, head_dim=16)
    assert e.bias(np.int64(3)).shape == (4, 3, 3) and rope().table(np.int32(3))[0].shape == (3, 8)
    x = vectors(3, 4, 16)
    assert np.array_equal(rope().rotate(x, start=np.int64(5)), rope().rotate(x, start=5))


def test_bool_masks_are_what_is_seen() -> None:
    e, q = rope(), vectors(1, 5, 4, 16)
    seen = np.tril(np.ones((5, 5), bool))
    assert np.array_equal(e.attention(q, q, q, mask=seen), e.attention(q, q, q, keep=seen))


def test_methods_have_signatures_and_help() -> None:
    import inspect

    for name in ("rotate", "embed", "bias", "table", "attention", "shift"):
        method = getattr(posenc.Encoding, name)
        assert "params" in inspect.signature(method).parameters or name == "shift"
        assert method.__doc__


def test_named_parameters_cannot_be_replaced() -> None:
    with pytest.raises(TypeError):
        posenc.Encoding("t5", heads=2, head_dim=8).params["table"] = 3  # type: ignore[index]


def test_errors_of_the_tool_can_be_pickled() -> None:
    error = pickle.loads(pickle.dumps(posenc.ToolError("usage", "no such verb")))
    assert (error.status, error.sentence) == ("usage", "no such verb")


def test_read_only_arrays_are_not_written() -> None:
    x = vectors(2, 9, 4, 16)
    x.setflags(write=False)
    with pytest.raises(posenc.Error, match="read-only"):
        rope().rotate(vectors(2, 9, 4, 16), out=x)
    with pytest.raises(posenc.Error, match="read-only"):
        rope().shift(x, 0, 3)
    for name in ("scores", "probabilities"):
        matrix = np.zeros((2, 4, 9, 9), np.float32)
        matrix.setflags(write=False)
        with pytest.raises(posenc.Error, match="read-only"):
            rope().attention(x, x, x, **{name: matrix})


class WithDlpack:
    """An array of a library that has __dlpack__ and nothing else."""

    def __init__(self, array: np.ndarray, old: bool) -> None:
        self.array, self.old = array, old

    def __dlpack__(self, **options: object) -> object:
        if self.old and options:
            raise TypeError("unexpected keyword argument")
        return self.array.__dlpack__(**options)


@pytest.mark.parametrize("old", [False, True])
def test_arrays_with_dlpack_are_read(old: bool) -> None:
    x = vectors(2, 9, 4, 16)
    assert np.array_equal(rope().rotate(WithDlpack(x, old)), rope().rotate(x))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_any_number_of_threads_gives_the_same_bits(threads: int) -> None:
    e = posenc.Encoding("rope+alibi", heads=8, head_dim=64)
    q = np.random.default_rng(1).standard_normal((1, 200, 8, 64)).astype(np.float32)
    posenc.set_threads(1)
    expected = e.attention(q, q, q, causal=True)
    posenc.set_threads(threads)
    assert posenc.get_threads() == threads
    try:
        assert np.array_equal(e.attention(q, q, q, causal=True), expected)
    finally:
        posenc.set_threads(0)


def test_threads_of_python_may_share_an_encoding() -> None:
    e = posenc.Encoding("t5+rope", heads=4, head_dim=16)
    q = [np.random.default_rng(i).standard_normal((1, 8 + 40 * i, 4, 16)).astype(np.float32) for i in range(6)]
    expected = [posenc.Encoding("t5+rope", heads=4, head_dim=16).attention(x, x, x, causal=True) for x in q]
    wrong: list[int] = []

    def work(i: int) -> None:
        for _ in range(20):
            if not np.allclose(e.attention(q[i], q[i], q[i], causal=True), expected[i], atol=2e-6):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_nothing_is_leaked_by_calls_that_fail() -> None:
    import gc
    import sys

    x = vectors(2, 9, 4, 16)
    before = sys.getrefcount(x)
    for _ in range(50):
        with pytest.raises(posenc.Error):
            rope().rotate(x, np.arange(3))
        with pytest.raises(posenc.Error):
            rope().attention(x, x, x[:, :3])
    gc.collect()
    assert sys.getrefcount(x) == before


SENTENCES = {  # what is said of a wrong call, in the words of Python's arguments
    "dtype": (lambda e, x: e.rotate(x.astype(int)), "x: dtype is int64; needs float32, float16, bfloat16 or float64"),
    "out": (lambda e, x: e.rotate(x, out=np.ones((1, 4, 2, 8), np.float32)), "out: tokens is 4; needs 3"),
    "both": (lambda e, x: e.rotate(x, out=x.astype(float)), "x and out must both be float64, or neither"),
    "keys": (lambda e, x: e.attention(x, x > 0, x), "k: dtype is bool; needs float32, float16"),
    "q_positions": (lambda e, x: e.attention(x, x, x, q_positions=2**62), "q_positions: they start at"),
    "k_positions": (lambda e, x: e.attention(x, x, x, k_positions=[np.nan, 1, 2]), "k_positions: position of token 0"),
    "mask": (lambda e, x: e.attention(x, x, x, mask=x[0, :2, 0, :2] > 0), "keep: dim is 2; needs 3"),
    "floats": (lambda e, x: e.attention(x, x, x, mask=x[0, :2, 0, :2]), "mask: dim is 2; needs 3"),
    "window": (lambda e, x: e.attention(x, x, x, window=-1), "window is -1; needs 0"),
    "offsets": (
        lambda e, x: e.attention(x, x, x, q_offsets=[0, 2]),
        "q_offsets: the last offset is 2; needs tokens, 3",
    ),
    "pages": (lambda e, x: e.attention(x, x, x, page_table=[[7]]), "page_table: entry 0 of sequence 0 is 7"),
    "params": (lambda e, x: e.attention(x, x, x, params=x[0, 0, 0]), "params: count is 8; needs 0, as many as the"),
    "cache": (lambda e, x: e.shift(x.astype(int), 0, 1), "k: dtype is int64"),
    "float64": (lambda e, x: e.attention(x, x, x.astype(float)), "v is float64; .* and exact=True float64"),
    "side": (lambda e, x: e.rotate(x, side="q"), "side is 'q'; needs one of 'query', 'key', 'value', 'output'"),
    "layout": (lambda e, x: e.rotate(x, layout="bdht"), "layout is 'bdht'; needs one of 'bthd', 'bhtd'"),
    "no shape": (lambda e, x: posenc.Encoding("rope"), r"heads is 0 and head_dim 0; needs both: Encoding\(\"rope\""),
}


@pytest.mark.parametrize("call, sentence", SENTENCES.values(), ids=list(SENTENCES))
def test_errors_speak_of_pythons_arguments(call: object, sentence: str) -> None:
    with pytest.raises(posenc.Error, match=f"^{sentence}") as caught:
        call(posenc.Encoding("rope", heads=2, head_dim=8), vectors(1, 3, 2, 8))  # type: ignore[operator]
    assert caught.value.status.startswith("PE_ERR_") and caught.value.sentence == str(caught.value)


def test_sizes_come_by_name() -> None:
    with pytest.raises(TypeError, match=r"needs Encoding\(spec, heads=8, head_dim=64\)"):
        posenc.Encoding("rope", 8, 64)  # type: ignore[misc]


TOLD = {  # what verbs say of a wrong call
    "explain": (lambda: posenc.explain("--help"), "'--help' starts with a dash; needs a file"),
    "stdin": (lambda: posenc.explain("-"), "'-' starts with a dash"),
    "diff": (lambda: posenc.diff("rope", "--help"), "'--help' starts with a dash"),
    "prove": (lambda: posenc.prove("--help"), "'--help' starts with a dash"),
    "show": (lambda: posenc.show("--help"), "'--help' starts with a dash"),
    "check": (
        lambda: posenc.check("rope"),
        "check got no vectors; needs before= and after= of a rotation, or its cos=",
    ),
    "half": (lambda: posenc.check("rope", before=vectors(3, 8)), "check got before=; needs before= and after="),
}


@pytest.mark.parametrize("call, sentence", TOLD.values(), ids=list(TOLD))
def test_wrong_calls_of_verbs_are_told_in_pythons_words(call: object, sentence: str) -> None:
    with pytest.raises(posenc.ToolError, match=f"^{sentence}") as caught:
        call()  # type: ignore[operator]
    assert caught.value.status == "usage"


def test_cos_and_sin_in_one_array_are_checked() -> None:
    both = np.stack(posenc.Encoding("rope", heads=1, head_dim=8).table(16))
    assert posenc.check("rope", cos=both, head_dim=8)["verdict"] == "ok"
