# SPDX-License-Identifier: MIT
"""posenc.torch: operators, gradients, torch.compile, the module."""

import gc

import numpy as np
import posenc
import pytest

torch = pytest.importorskip("torch")

import posenc.torch as pt  # noqa: E402
from torch.library import opcheck  # noqa: E402

SPECS = [row["examples"][0] for row in posenc.encodings()]


def tensors(*shapes: tuple[int, ...], dtype: object = torch.float32, grad: bool = False, seed: int = 1) -> list:
    torch.manual_seed(seed)
    return [torch.randn(shape, dtype=dtype).requires_grad_(grad) for shape in shapes]


def inputs_of(e: posenc.Encoding, batch: int, tokens: int, dtype: object, grad: bool) -> dict:
    """What an encoding takes beside q, k and v."""
    extra = {}
    if e.gates:
        extra["q_gates"], extra["k_gates"] = tensors(*[(batch, tokens, e.heads)] * 2, dtype=dtype, grad=grad, seed=5)
    if e.relative_dim:
        (extra["relative"],) = tensors((batch, tokens, e.heads, e.relative_dim), dtype=dtype, grad=grad, seed=6)
    if e.axes > 1:
        extra["q_positions"] = extra["k_positions"] = torch.stack([torch.arange(tokens)] * e.axes, -1)
    return extra


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_tensors_give_the_bits_that_arrays_give(dtype: object) -> None:
    e = posenc.Encoding("rope", heads=4, head_dim=16)
    (x,) = tensors((2, 9, 4, 16), dtype=dtype)
    y = pt.rotate(x, e, start=7)
    assert y.dtype == dtype and y.is_contiguous()
    if dtype != torch.bfloat16:
        assert np.array_equal(y.numpy(), e.rotate(x.numpy(), start=7))


def test_strides_and_layouts_of_tensors_are_used() -> None:
    e = posenc.Encoding("rope", heads=4, head_dim=16)
    (x,) = tensors((2, 9, 4, 16))
    heads_first = pt.rotate(x.transpose(1, 2), e, layout="bhtd")
    assert torch.equal(heads_first.transpose(1, 2), pt.rotate(x, e))
    (odd,) = tensors((2, 9, 4, 32))
    assert torch.equal(pt.rotate(odd[..., ::2], e), pt.rotate(odd[..., ::2].contiguous(), e))


def test_gradients_reach_the_projection_of_forget_gates() -> None:
    """The Forgetting Transformer written out, against the operator: outputs, and gradients of the gates' projection."""
    torch.manual_seed(2)
    e = pt.Encoding("forget", heads=2, head_dim=8)
    project = torch.nn.Linear(16, 2)
    x, q, k, v = tensors((1, 9, 16), *[(1, 9, 2, 8)] * 3)
    c = torch.nn.functional.logsigmoid(project(x)).cumsum(1)
    out = pt.attention(q, k, v, e, causal=True, q_gates=c, k_gates=c)
    scores = torch.einsum("bihd,bjhd->bhij", q, k) / 8**0.5 + (c[:, :, None] - c[:, None]).permute(0, 3, 1, 2)
    seen = torch.ones(9, 9).tril().bool()
    want = torch.einsum("bhij,bjhd->bihd", scores.masked_fill(~seen, float("-inf")).softmax(-1), v)
    torch.testing.assert_close(out, want, atol=1e-5, rtol=1e-5)
    (up,) = tensors((1, 9, 2, 8), seed=4)
    weights = list(project.parameters())
    got, should = (torch.autograd.grad((y * up).sum(), weights, retain_graph=True) for y in (out, want))
    for a, b in zip(got, should, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("spec", SPECS)
def test_gradients_of_attention_are_those_of_differences(spec: str) -> None:
    e = pt.Encoding(spec, heads=2, head_dim=8, seed=3).double()
    extra = inputs_of(posenc.Encoding(spec, heads=2, head_dim=8), 1, 4, torch.float64, True)
    trained = [t for t in extra.values() if t.requires_grad]
    q, k, v = tensors(*[(1, 4, 2, 8)] * 3, dtype=torch.float64, grad=True)

    def call(q: object, k: object, v: object, *_: object) -> object:
        return e.attention(q, k, v, causal=True, **extra)

    assert torch.autograd.gradcheck(call, (q, k, v, *e.parameters(), *trained), atol=1e-6)


def test_gradients_of_rotation_are_those_of_differences_any_number_of_times() -> None:
    e = pt.Encoding("rope", heads=2, head_dim=8)
    (x,) = tensors((1, 3, 2, 8), dtype=torch.float64, grad=True)
    assert torch.autograd.gradcheck(lambda a: e.rotate(a, start=3), (x,))
    assert torch.autograd.gradgradcheck(lambda a: e.rotate(a, start=3), (x,))


@pytest.mark.parametrize("learned", ["shared", "heads"])
def test_trained_frequencies_have_a_gradient(learned: str) -> None:
    e = pt.Encoding(f"rope:axes=2,learned={learned}", heads=2, head_dim=8).double()
    (x,) = tensors((1, 3, 2, 8), dtype=torch.float64)
    at = torch.tensor([[0, 1], [2, 3], [5, 1]])
    assert torch.autograd.gradcheck(lambda *_: e.rotate(x, at), tuple(e.parameters()))
    assert torch.autograd.gradcheck(lambda a, *_: e.rotate(a, at), (x.requires_grad_(), *e.parameters()))


@pytest.mark.parametrize("spec", ["sinusoidal", "learned:rows=16", "sinusoidal:join=concat,width=8"])
def test_gradients_of_embeddings_are_those_of_differences(spec: str) -> None:
    e = pt.Encoding(spec, heads=2, head_dim=8).double()
    (x,) = tensors((2, 3, 16), dtype=torch.float64, grad=True)
    assert torch.autograd.gradcheck(lambda a, *_: e.embed(a, start=2), (x, *e.parameters()))


def test_gradients_of_masks_and_sinks_are_those_of_differences() -> None:
    e = pt.Encoding("alibi", heads=2, head_dim=8)
    q, k, v, mask, sinks = tensors(*[(1, 4, 2, 8)] * 3, (1, 2, 4, 4), (2,), dtype=torch.float64, grad=True)
    call = lambda q, k, v, mask, sinks: e.attention(q, k, v, mask=mask, sinks=sinks)  # noqa: E731
    assert torch.autograd.gradcheck(call, (q, k, v, mask, sinks))


def attention_arguments(key: str) -> tuple:
    """Of the operator: no tensors beside q, k and v, and the usual options."""
    none = [None] * len(pt._NAMES)
    return (*none, key, True, "end", 0, 0, "right", 0, 0.0, 0.0, False, "bthd")


@pytest.mark.parametrize("grad", [False, True])
def test_operators_pass_pytorchs_own_checks(grad: bool) -> None:
    e = pt.Encoding("rope", heads=2, head_dim=8)
    q, k, v, rows = tensors(*[(2, 5, 2, 8)] * 3, (2, 5, 16), grad=grad)
    at = torch.arange(5)
    opcheck(pt.rotate_op.op, (q, None, None, e.key, 3, "query", "bthd", "rotate"))
    opcheck(pt.rotate_op.op, (q, at, None, e.key, 0, "key", "bthd", "rotate"))
    opcheck(pt.attention_op.op, (q, k, v, *attention_arguments(e.key)))
    opcheck(pt.embed_op.op, (rows, None, None, pt.Encoding("sinusoidal", heads=2, head_dim=8).key, 1))


@pytest.mark.parametrize("spec", ["rope", "t5", "shaw:left=4", "alibi+rope"])
def test_a_compiled_model_has_one_graph_and_the_same_gradients(spec: str) -> None:
    e = pt.Encoding(spec, heads=2, head_dim=8, seed=1)
    project = torch.nn.Linear(16, 48)

    def model(x: object) -> object:
        q, k, v = project(x).view(2, -1, 3, 2, 8).unbind(2)
        return e(e.rotate(q) if spec == "rope" else q, k, v, causal=True).flatten(2)

    (x,) = tensors((2, 6, 16))
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    results = []
    for call in (model, compiled):
        for p in (*e.parameters(), *project.parameters()):
            p.grad = None
        out = call(x)
        out.square().sum().backward()
        results.append([out, *(p.grad.clone() for p in (*e.parameters(), *project.parameters()))])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


def test_a_growing_cache_compiles_once() -> None:
    e = pt.Encoding("rope", heads=2, head_dim=8)
    compiled = torch.compile(
        lambda x, start: e.rotate(x, start=start), fullgraph=True, backend="aot_eager", dynamic=True
    )
    (x,) = tensors((1, 1, 2, 8))
    torch._dynamo.reset()
    for start in (3, 9, 40, 41):
        assert torch.equal(compiled(x, start), e.rotate(x, start=start))


def test_gradients_of_gradients_are_refused() -> None:
    e = pt.Encoding("alibi", heads=2, head_dim=8)
    q, k, v = tensors(*[(1, 3, 2, 8)] * 3, grad=True)
    (dq,) = torch.autograd.grad(e(q, k, v).sum(), q, create_graph=True)
    with pytest.raises(NotImplementedError, match="gradient of a gradient"):
        dq.sum().backward()


def test_vmap_is_refused() -> None:
    e = pt.Encoding("rope", heads=2, head_dim=8)
    (x,) = tensors((3, 4, 2, 8))
    with pytest.raises(NotImplementedError, match="vmap"):
        torch.vmap(lambda a: e.rotate(a))(x)


def test_autocast_lowers_attention() -> None:
    e = pt.Encoding("alibi", heads=2, head_dim=8)
    q, k, v = tensors(*[(1, 3, 2, 8)] * 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        low = e(q, k, v)
    assert low.dtype == torch.bfloat16
    torch.testing.assert_close(low.float(), e(q, k, v), atol=2e-2, rtol=2e-2)  # bfloat16 has 8 bits


def test_parameters_have_names_and_train() -> None:
    e = pt.Encoding("t5+learned:rows=8", heads=2, head_dim=8, seed=1)
    assert set(dict(e.named_parameters())) == {"t5_table", "learned_table"}
    before = e.t5_table.detach().clone()
    step = torch.optim.SGD(e.parameters(), lr=0.1)
    q, k, v = tensors(*[(1, 3, 2, 8)] * 3)
    e(q, k, v).square().sum().backward()
    step.step()
    assert not torch.equal(before, e.t5_table)
    again = pt.Encoding("t5+learned:rows=8", heads=2, head_dim=8)
    again.load_state_dict(e.state_dict())
    assert torch.equal(again(q, k, v), e(q, k, v))


def test_grouped_heads_padding_and_windows_equal_pytorchs() -> None:
    e = posenc.Encoding("none", heads=4, head_dim=8, kv_heads=2)
    q, k, v = tensors((2, 7, 4, 8), (2, 7, 2, 8), (2, 7, 2, 8))
    keep = torch.ones(7, 7, dtype=torch.bool).tril().triu(-2)  # a window of 3
    expected = torch.nn.functional.scaled_dot_product_attention(
        *(t.transpose(1, 2) for t in (q, k, v)), attn_mask=keep, enable_gqa=True
    ).transpose(1, 2)
    torch.testing.assert_close(pt.attention(q, k, v, e, causal=True, window=3), expected, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(pt.attention(q, k, v, e, keep=keep), expected, atol=1e-6, rtol=1e-6)


def test_gradients_of_bfloat16_follow_those_of_float32() -> None:
    e = pt.Encoding("t5", heads=2, head_dim=16)
    grads = []
    for dtype in (torch.float32, torch.bfloat16):
        q, k, v = (t.to(dtype).detach().requires_grad_() for t in tensors(*[(1, 12, 2, 16)] * 3))
        e.table.grad = None
        e(q, k, v, causal=True).float().square().sum().backward()
        grads.append([q.grad.float(), k.grad.float(), v.grad.float(), e.table.grad.clone()])
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b, atol=0.05 * float(a.abs().max()), rtol=0)  # 8 bits in, 8 bits out


@pytest.mark.parametrize("spec", ["t5", "shaw:left=4", "kerple"])
def test_parameters_of_a_numpy_encoding_are_used(spec: str) -> None:
    e = posenc.Encoding(spec, heads=2, head_dim=8, seed=5)
    q, k, v = tensors(*[(1, 5, 2, 8)] * 3)
    np.testing.assert_allclose(
        pt.attention(q, k, v, e).numpy(), e.attention(q.numpy(), k.numpy(), v.numpy()), atol=1e-6
    )


def test_embeddings_of_a_numpy_encoding_are_used() -> None:
    e = posenc.Encoding("learned:rows=16", heads=2, head_dim=8, seed=5)
    (x,) = tensors((4, 16))
    assert np.array_equal(pt.embed(x, e).numpy(), e.embed(x.numpy()))


def test_forward_mode_gradients_are_refused() -> None:
    e = pt.Encoding("rope", heads=2, head_dim=8)
    (x,) = tensors((1, 3, 2, 8))
    with pytest.raises(NotImplementedError, match="forward-mode"):
        torch.func.jvp(lambda a: e.rotate(a), (x,), (x,))


def test_a_gradient_is_not_lost_silently() -> None:
    e = posenc.Encoding("rope", heads=2, head_dim=8)
    (x,) = tensors((1, 3, 2, 8), grad=True)
    with pytest.raises(posenc.Error, match="posenc.torch"):
        e.rotate(x)
    with torch.no_grad():
        assert torch.equal(e.rotate(x), pt.rotate(x, e))


def test_empty_batches_have_gradients() -> None:
    e = pt.Encoding("alibi", heads=2, head_dim=8)
    x = torch.zeros(2, 0, 2, 8, requires_grad=True)
    e(x, x, x).sum().backward()
    assert x.grad.shape == x.shape


def test_scores_of_tensors_are_tensors() -> None:
    e = posenc.Encoding("alibi", heads=2, head_dim=8)
    (q,) = tensors((1, 3, 2, 8), dtype=torch.float64)
    assert e.scores(q, q).dtype == torch.float64


def test_wrong_arguments_are_named() -> None:
    (x,) = tensors((1, 3, 2, 8))
    with pytest.raises(TypeError, match="no shape"):
        pt.rotate(x, "rope")
    with pytest.raises(TypeError, match="'maks'"):
        pt.attention(x, x, x, posenc.Encoding("alibi", heads=2, head_dim=8), maks=x)
    with pytest.raises(posenc.Error, match="int16"):
        pt.rotate(x.to(torch.int16), posenc.Encoding("rope", heads=2, head_dim=8))


def test_tensors_are_let_go() -> None:
    e = pt.Encoding("alibi", heads=2, head_dim=8)
    gc.collect()
    for _ in range(3):
        q, k, v = tensors(*[(1, 64, 2, 8)] * 3, grad=True)
        e(q, k, v).sum().backward()
    del q, k, v
    gc.collect()
    assert not [t for t in gc.get_objects() if type(t) is torch.Tensor and t.shape == (1, 64, 2, 8)]


@pytest.mark.parametrize("spec", ["t5", "shaw:left=4", "kerple"])
def test_attention_uses_the_parameters_of_each_call(spec: str) -> None:
    """Tables are kept for more than one set of parameters; 40 sets are more than are kept."""
    e = posenc.Encoding(spec, heads=2, head_dim=8)
    q, k = tensors((1, 1, 2, 8), (1, 300, 2, 8))
    count = memoryview(e).nbytes // 4
    sets = [p.abs() for p in tensors(*[(count,)] * 40, seed=2)]
    for keys in (20, 300, 20):  # 300 needs larger tables than 20
        for params in [*sets, *sets[:3], *sets[:3], sets[-1].bfloat16(), sets[-1].double()]:
            out = pt.attention(q, k[:, :keys], k[:, :keys], e, params=params)
            exact = e.attention(q, k[:, :keys], k[:, :keys], params=params, exact=True)
            torch.testing.assert_close(out, exact, atol=1e-5, rtol=0)  # float32 against the definition


def test_a_parameter_changed_in_place_is_used() -> None:
    e = pt.Encoding("t5", heads=2, head_dim=8).requires_grad_(False)
    q, k = tensors((1, 1, 2, 8), (1, 20, 2, 8))
    before = e(q, k, k)
    e.table[3] += 1.0
    assert not torch.equal(e(q, k, k), before)
    e.table[3] -= 1.0
    torch.testing.assert_close(e(q, k, k), before, atol=1e-6, rtol=0)  # a table rounded twice


def test_lists_are_lengths_and_positions() -> None:
    e = pt.Encoding("alibi", heads=2, head_dim=8)
    q, k = tensors((2, 1, 2, 8), (2, 6, 2, 8))
    for grad in (False, True):
        q.requires_grad_(grad)
        by_list = e(q, k, k, k_lengths=[4, 6], q_positions=[5], k_positions=np.arange(6))
        by_tensor = e(
            q, k, k, k_lengths=torch.tensor([4, 6]), q_positions=torch.tensor([5]), k_positions=torch.arange(6)
        )
        assert torch.equal(by_list, by_tensor)
    rope = pt.Encoding("rope", heads=2, head_dim=8)
    assert torch.equal(rope.rotate(k, [3, 4, 5, 6, 7, 8.0]), rope.rotate(k, start=3))
    assert torch.equal(e(q, k, k, k_lengths=torch.tensor([4, 6], dtype=torch.int16)), e(q, k, k, k_lengths=[4, 6]))


REFUSED = {
    "a gradient of positions": (
        lambda x, rope: rope.rotate(x, torch.arange(3.0).requires_grad_()),
        NotImplementedError,
        "gradient of positions; needs positions.detach",
    ),
    "a gradient of positions of attention": (
        lambda x, rope: rope(x, x, x, q_positions=torch.arange(3.0).requires_grad_()),
        NotImplementedError,
        "gradient of positions",
    ),
    "a number": (lambda x, rope: rope.rotate(torch.tensor(1.0)), posenc.Error, "x has 0 dimensions; needs"),
    "the negative bit": (lambda x, rope: rope.rotate(torch._neg_view(x)), posenc.Error, "x.resolve_neg"),
    "no encoding": (lambda x, rope: pt.rotate(x, 3), TypeError, "3 is no encoding; needs posenc.Encoding"),
    "a wrong side": (lambda x, rope: rope.rotate(x, side="q"), posenc.Error, "side is 'q'; needs one of 'query'"),
}


@pytest.mark.parametrize("call, error, sentence", REFUSED.values(), ids=list(REFUSED))
def test_what_is_refused_is_named(call: object, error: type, sentence: str) -> None:
    (x,) = tensors((1, 3, 2, 8))
    with pytest.raises(error, match=sentence):
        call(x, pt.Encoding("rope", heads=2, head_dim=8))


def test_a_module_says_its_shape() -> None:
    e = pt.Encoding("alibi", heads=4, head_dim=8, kv_heads=2)
    assert repr(e) == "Encoding('alibi', heads=4, head_dim=8, kv_heads=2)"
    assert (e.heads, e.kv_heads, e.head_dim, e.model_dim, e.hooks) == (4, 2, 8, 32, ["bias"])


def test_scores_of_a_module_are_those_with_its_parameters() -> None:
    e = pt.Encoding("t5", heads=2, head_dim=8, seed=1)
    (q,) = tensors((1, 3, 2, 8))
    np.testing.assert_array_equal(e.scores(q, q), posenc.Encoding("t5", heads=2, head_dim=8, seed=1).scores(q, q))


@pytest.mark.parametrize("write", ["rotate", "attention", "scores", "shift"])
def test_a_tensor_that_is_written_has_a_new_version(write: str) -> None:
    e = posenc.Encoding("rope", heads=2, head_dim=8)
    x, y = tensors(*[(1, 3, 2, 8)] * 2)
    matrix = torch.empty(1, 2, 3, 3)
    calls = {
        "rotate": lambda: e.rotate(x, out=y),
        "attention": lambda: e.attention(x, x, x, out=y),
        "scores": lambda: e.attention(x, x, x, scores=matrix),
        "shift": lambda: e.shift(y, 0, 1),
    }
    written = matrix if write == "scores" else y
    before = written._version, x._version
    calls[write]()
    assert written._version > before[0] and x._version == before[1]


def test_autograd_sees_that_a_saved_tensor_was_overwritten() -> None:
    e = posenc.Encoding("rope", heads=2, head_dim=8)
    x, y = tensors(*[(1, 3, 2, 8)] * 2)
    product = (y * torch.ones_like(y).requires_grad_()).sum()
    e.rotate(x, out=y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


# ---------------------------------------------------------------- what a call on a GPU adds, without one

DEVICE_CALLS = {
    "nothing": {},
    "causal": {"causal": True},
    "lengths": {"k_lengths": torch.tensor([9, 4], dtype=torch.int32)},
    "lengths, causal": {"k_lengths": torch.tensor([9, 4]), "causal": True},
    "lengths, left": {"k_lengths": torch.tensor([9, 4]), "padding": "left", "causal": True},
    "lengths and a first key": {"k_lengths": torch.tensor([9, 4]), "k_positions": torch.tensor(3)},
    "positions": {"q_positions": torch.arange(5) * 3, "k_positions": torch.arange(9) + 7},
    "positions of queries": {"q_positions": torch.arange(5) * 30},
    "positions of keys": {"k_positions": torch.arange(9).flip(0) - 40, "q_positions": torch.tensor(6)},
    "heads first": {"k_lengths": torch.tensor([9, 4]), "layout": "bhtd"},
}


@pytest.mark.parametrize("name", DEVICE_CALLS)
def test_what_a_device_is_told_means_the_same_and_bounds_distances(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    e = posenc.Encoding("alibi", heads=2, head_dim=8)
    options = DEVICE_CALLS[name]
    q, k, v = tensors((2, 5, 2, 8), (2, 9, 2, 8), (2, 9, 2, 8))
    if options.get("layout") == "bhtd":
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    plain = dict.fromkeys(pt._NAMES) | {"causal": False, "align": "end", "padding": "right", "layout": "bthd"} | options
    told = dict(plain)
    pt._for_device(e, q, k, told)
    assert told["k_lengths"] is None or told["k_lengths"].dtype == torch.int64
    reach = [told.pop(name, None) for name in ("behind", "ahead")]
    assert torch.equal(e.attention(q, k, v, **told), e.attention(q, k, v, **plain))
    if None not in reach:  # else the C module knows them
        seen = e.scores(torch.zeros_like(q), k, **plain)[:, 1]
        away = -(2.0**8) * seen[seen.isfinite()]  # the second slope is 2^-8
        assert away.max() <= reach[0] and -away.min() <= reach[1]
