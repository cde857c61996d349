# SPDX-License-Identifier: MIT
"""posenc.torch on a GPU: against posenc.torch on the CPU in float32; streams, graphs, compilers, gradients.

A rotation has the CPU's bits. Attention is compared by its largest difference over its largest element: products are
computed in the type of q, k and v there, so 16-bit types have their own rounding of scores' weights and of sums.
"""

import shutil
from collections.abc import Callable
from typing import Any

import posenc
import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device (torch.cuda.is_available() is False)", allow_module_level=True)

import posenc.torch as pt  # noqa: E402
from torch.library import opcheck  # noqa: E402

F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
# Some units in the last place of each type: one of the weights, one of the result, and those of rotated vectors.
FORWARD = {F32: 5e-5, F16: 4e-3, BF16: 2e-2}
BACKWARD = {F32: 2e-4, F16: 1e-2, BF16: 4e-2}

ROTATIONS = ["rope", "rope:pairs=adjacent", "rope:theta=500000,scaling=llama3,factor=8,trained=8192"]
BIASES = [
    "alibi",
    "alibi:form=symmetric",
    "alibi:slopes=learned",
    "t5",
    "kerple",
    "kerple:form=power",
    "sandwich",
    "rope+alibi",
    "rope+t5:scale=sqrt",
]
SHAPE = {"heads": 4, "kv_heads": 2}


def encoding(spec: str, head_dim: int = 64) -> pt.Encoding:
    """With parameters that are not those of the start, so that tables differ in every entry."""
    e = pt.Encoding(spec, **SHAPE, head_dim=head_dim, seed=1)
    torch.manual_seed(7)
    with torch.no_grad():
        for name, p in e.named_parameters():
            p.add_(0.2 * torch.rand_like(p) if name in ("r1", "r2", "c", "L", "slopes") else 0.5 * torch.randn_like(p))
    return e


def vectors(batch: int, tokens: int, keys: int, head_dim: int, dtype: Any, seed: int = 1) -> list:
    """q, k, v and the gradient of the output on the CPU, of the type's numbers."""
    torch.manual_seed(seed)
    heads, groups = SHAPE["heads"], SHAPE["kv_heads"]
    shapes = [(batch, n, h, head_dim) for n, h in ((tokens, heads), (keys, groups), (keys, groups), (tokens, heads))]
    return [torch.randn(shape).to(dtype) for shape in shapes]


def distance(a: Any, b: Any) -> float:
    a, b = a.detach().double().cpu(), b.detach().double().cpu()
    assert not a.isnan().any()
    return float((a - b).abs().max() / b.abs().max().clamp_min(1e-30))


def results(e: Any, inputs: list, options: dict, device: str, dtype: Any, params: bool = True) -> dict:
    """The output and every gradient, on a device."""
    e = e.to(device)
    q, k, v, dout = (x.to(device=device, dtype=dtype) for x in inputs)
    trained = [x.detach().requires_grad_() for x in (q, k, v)]
    moved = {name: x.to(device) if isinstance(x, torch.Tensor) and x.ndim else x for name, x in options.items()}
    for p in e.parameters():
        p.grad = None
        p.requires_grad_(params)
    out, lse = e.attention(*trained, lse=True, **moved)
    out.backward(dout)
    grads = {name: x.grad for name, x in zip(("dq", "dk", "dv"), trained, strict=True)}
    grads |= {name: p.grad.clone() for name, p in e.named_parameters() if p.grad is not None}
    return {"out": out, "lse": lse, **grads}


def compare(spec: str, dtype: Any, head_dim: int, options: dict, sizes: tuple = (2, 200, 200), **more: Any) -> None:
    inputs = vectors(*sizes, head_dim, dtype)
    here = results(encoding(spec, head_dim), inputs, options, "cpu", F32, **more)
    there = results(encoding(spec, head_dim), inputs, options, "cuda", dtype, **more)
    assert there["out"].dtype == dtype and there["out"].is_cuda and there.keys() == here.keys()
    seen = here["lse"].isfinite()
    assert torch.equal(there["lse"].isfinite().cpu(), seen)
    far = {name: distance(there[name], here[name]) for name in here if name != "lse"}
    far["lse"] = distance(there["lse"].cpu()[seen], here["lse"][seen])
    bound = {name: FORWARD[dtype] if name in ("out", "lse") else BACKWARD[dtype] for name in far}
    assert all(far[name] <= bound[name] for name in far), " ".join(f"{name} {x:.1e}" for name, x in far.items())


# ---------------------------------------------------------------- rotation


@pytest.mark.parametrize("dtype", [F32, F16, BF16])
@pytest.mark.parametrize("spec", ROTATIONS)
def test_a_rotation_has_the_bits_of_the_cpu(spec: str, dtype: Any) -> None:
    e = pt.Encoding(spec, **SHAPE, head_dim=64)
    q, k, *_ = vectors(2, 33, 33, 64, dtype)
    at = torch.randint(0, 1 << 20, (2, 33))
    for options in ({}, {"start": 4097}, {"positions": at}, {"positions": at[0].int()}, {"positions": at[0] + 0.5}):
        options = {n: x.double() if n == "positions" and x.is_floating_point() else x for n, x in options.items()}
        moved = {name: x.cuda() if name == "positions" else x for name, x in options.items()}
        assert torch.equal(e.rotate(q.cuda(), **moved).cpu(), e.rotate(q, **options))
        both = e.rotate_qk(q.cuda(), k.cuda(), **moved)
        assert torch.equal(both[0].cpu(), e.rotate(q, **options))
        assert torch.equal(both[1].cpu(), e.rotate(k, side="key", **options))
    heads_first = q.cuda().transpose(1, 2)
    assert torch.equal(e.rotate(heads_first, layout="bhtd").cpu().transpose(1, 2), e.rotate(q))
    back = pt.rotate(pt.rotate(q.cuda(), e, start=5), e, start=5, inverse=True)
    assert distance(back, q) <= FORWARD[dtype]


def test_a_rotation_and_one_of_q_and_k_have_gradients() -> None:
    e = pt.Encoding("rope", **SHAPE, head_dim=64)
    q, k, _, dq = vectors(2, 33, 33, 64, F32)
    a, b = (x.cuda().detach().requires_grad_() for x in (q, k))
    one, two = e.rotate_qk(a, b, start=3)
    torch.autograd.backward([one, two], [dq.cuda(), k.cuda().detach()])
    x, y = q.clone().requires_grad_(), k.clone().requires_grad_()
    e.rotate(x, start=3).backward(dq)
    e.rotate(y, start=3, side="key").backward(k)
    assert torch.equal(a.grad.cpu(), x.grad) and torch.equal(b.grad.cpu(), y.grad)


# ---------------------------------------------------------------- attention


@pytest.mark.parametrize("head_dim", [64, 128])
@pytest.mark.parametrize("dtype", [F32, F16, BF16])
@pytest.mark.parametrize("spec", ["rope", "t5"])
def test_attention_and_gradients_are_the_cpus_for_every_type_and_width(spec: str, dtype: Any, head_dim: int) -> None:
    compare(spec, dtype, head_dim, {"causal": True})


@pytest.mark.parametrize("spec", [*ROTATIONS, *BIASES, "none", "xpos", "xpos:base=64+kerple"])
def test_attention_and_gradients_are_the_cpus_for_every_encoding(spec: str) -> None:
    compare(spec, BF16, 128, {"causal": True})


@pytest.mark.parametrize("dtype", [F32, F16, BF16])
def test_fire_and_its_gradients_are_the_cpus(dtype: Any) -> None:
    spec, options, inputs = "fire:hidden=8,length=16", {"causal": True}, vectors(2, 200, 200, 64, dtype)
    compare(spec, dtype, 64, options, params=False)
    here = results(encoding(spec, 64), inputs, options, "cpu", F32)
    there = results(encoding(spec, 64), inputs, options, "cuda", dtype)
    names = [name for name, _ in encoding(spec, 64).named_parameters()]
    # as one vector: a constant that all keys share (b2, parts of w2) has no gradient but for rounding
    assert distance(*(torch.cat([x[n].flatten().cpu() for n in names]) for x in (there, here))) <= BACKWARD[dtype]


def test_a_window_bias_of_two_axes_is_the_cpus() -> None:
    at = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(6), indexing="ij"), -1).reshape(24, 2)
    compare("window:window=4/6", F32, 64, {"q_positions": at, "k_positions": at}, sizes=(2, 24, 24))


MASKS = {
    "none": {},
    "window": {"causal": True, "window": 37},
    "first keys": {"causal": True, "window": 37, "first_keys": 4},
    "k_lengths": {"k_lengths": torch.tensor([200, 77])},
    "k_lengths of int32, causal": {"causal": True, "k_lengths": torch.tensor([200, 77], dtype=torch.int32)},
    "both lengths": {"causal": True, "q_lengths": torch.tensor([150, 9]), "k_lengths": torch.tensor([150, 9])},
    "left": {"causal": True, "k_lengths": torch.tensor([200, 77]), "padding": "left"},
    "keep": {"keep": torch.rand(2, 1, 200, 200, generator=torch.Generator().manual_seed(3)) < 0.7},
    "mask": {"mask": torch.randn(1, 4, 200, 200, generator=torch.Generator().manual_seed(3))},
    "cap": {"causal": True, "soft_cap": 5.0},
    "scale": {"causal": True, "scale": 0.25},
    "positions": {"causal": True, "q_positions": torch.arange(200) * 2, "k_positions": torch.arange(200) * 2},
    "start": {"causal": True, "q_positions": 300, "k_positions": 300},
    "sinks": {"causal": True, "sinks": torch.tensor([0.5, -1.0, 2.0, 0.0])},
}


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("spec", ["rope", "alibi:form=symmetric"])
def test_masks_lengths_and_positions_mean_what_they_mean_on_the_cpu(spec: str, name: str) -> None:
    compare(spec, F32, 64, MASKS[name])


@pytest.mark.parametrize("shape", [(2, 4, 200, 200), (1, 4, 200, 200), (2, 1, 200, 200), (1, 1, 1, 200)])
def test_the_gradient_of_a_mask_is_the_cpus(shape: tuple) -> None:
    inputs, mask, grads = vectors(2, 200, 200, 64, F32), torch.randn(shape), []
    for device in ("cpu", "cuda"):
        q, k, v, dout = (x.to(device) for x in inputs)
        trained = mask.to(device, copy=True).requires_grad_()
        encoding("rope").to(device).attention(q, k, v, mask=trained).backward(dout)
        grads.append(trained.grad)
    assert distance(grads[1], grads[0]) <= BACKWARD[F32]


@pytest.mark.parametrize("spec", ["rope", "t5", "kerple"])
def test_packed_sequences_are_the_cpus(spec: str) -> None:
    offsets = torch.tensor([0, 70, 71, 200])
    at = torch.cat([torch.arange(n) for n in (70, 1, 129)])
    options = {"causal": True, "q_offsets": offsets, "k_offsets": offsets, "q_positions": at, "k_positions": at}
    compare(spec, BF16, 64, options, sizes=(1, 200, 200))


def test_few_queries_at_the_end_of_many_keys_are_the_cpus() -> None:
    for spec in ("rope", "alibi", "t5"):
        compare(spec, F32, 64, {"causal": True}, sizes=(2, 3, 150))


def test_heads_before_tokens_and_gaps_between_rows_change_nothing() -> None:
    e = encoding("t5").cuda()
    q, k, v, _ = (x.cuda() for x in vectors(2, 70, 70, 64, BF16))
    plain = e.attention(q, k, v, causal=True)
    other = e.attention(*(x.transpose(1, 2) for x in (q, k, v)), causal=True, layout="bhtd")
    assert torch.equal(other.transpose(1, 2), plain)
    joined = torch.cat([q, k, v], 2)
    assert torch.equal(e.attention(*joined.split([4, 2, 2], 2), causal=True), plain)


def test_lists_and_a_posenc_encoding_are_taken() -> None:
    e = posenc.Encoding("t5", **SHAPE, head_dim=64)
    q, k, v, _ = vectors(2, 9, 9, 64, F32)
    here = pt.attention(q, k, v, e, k_lengths=[9, 4], q_positions=list(range(9)))
    there = pt.attention(q.cuda(), k.cuda(), v.cuda(), e, k_lengths=[9, 4], q_positions=list(range(9)))
    assert distance(there, here) <= FORWARD[F32]


def test_autocast_converts_as_on_the_cpu() -> None:
    e = encoding("alibi").cuda()
    q, k, v, _ = (x.cuda() for x in vectors(2, 33, 33, 64, F32))
    with torch.autocast("cuda", BF16):
        out = e.attention(q, k, v, causal=True)
    assert out.dtype == BF16
    assert torch.equal(out, e.attention(q.to(BF16), k.to(BF16), v.to(BF16), causal=True))


# ---------------------------------------------------------------- same bits


def gradients(e: Any, q: Any, k: Any, v: Any, dout: Any, **options: Any) -> list:
    trained = [x.detach().requires_grad_() for x in (q, k, v)]
    out = e.attention(*trained, **options)
    return [out.detach(), *torch.autograd.grad(out, [*trained, *e.parameters()], dout)]


@pytest.mark.parametrize("spec", ["rope", "t5", "alibi:slopes=learned"])
def test_the_same_call_gives_the_same_bits(spec: str) -> None:
    e = encoding(spec, 128).cuda()
    inputs = [x.cuda() for x in vectors(2, 515, 515, 128, BF16)]
    first = gradients(e, *inputs, causal=True)
    for _ in range(3):
        assert all(torch.equal(a, b) for a, b in zip(first, gradients(e, *inputs, causal=True), strict=True))


def test_a_sequence_does_not_depend_on_its_neighbours() -> None:
    e = encoding("alibi", 128).cuda()
    inputs = [x.cuda() for x in vectors(3, 257, 257, 128, BF16)]
    all_of_them = gradients(e, *inputs, causal=True)
    alone = gradients(e, *(x[1:2] for x in inputs), causal=True)
    assert all(torch.equal(a[1:2], b) for a, b in zip(all_of_them, alone, strict=True))


# ---------------------------------------------------------------- streams, graphs, compilers


def test_the_current_stream_is_used() -> None:
    e = encoding("rope").cuda()
    q, k, v, _ = (x.cuda() for x in vectors(1, 64, 64, 64, F32))
    expected = [e.attention(q, k, v), e.rotate(q)]  # kernels are loaded, too
    buffer = torch.zeros_like(q)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)  # a call on another stream would read the zeros
        buffer.copy_(q)
        got = [e.attention(buffer, k, v), e.rotate(buffer)]
    stream.synchronize()
    assert all(torch.equal(a, b) for a, b in zip(got, expected, strict=True))


@pytest.mark.parametrize("spec", ["rope", "t5", "alibi"])
def test_a_cuda_graph_replays_the_same_bits(spec: str) -> None:
    e = encoding(spec, 128).cuda()
    inputs = [x.cuda() for x in vectors(2, 130, 130, 128, BF16)]
    held = [x.clone() for x in inputs]
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        gradients(e, *held, causal=True)  # loads the kernels
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = gradients(e, *held, causal=True)
    for seed in (1, 2):
        fresh = [x.cuda() for x in vectors(2, 130, 130, 128, BF16, seed)]
        for buffer, x in zip(held, fresh, strict=True):
            buffer.copy_(x)
        graph.replay()
        expected = gradients(e, *fresh, causal=True)
        assert all(torch.equal(a, b) for a, b in zip(captured, expected, strict=True))


def test_positions_whose_distances_must_be_read_are_not_captured() -> None:
    e = encoding("alibi").cuda()
    q, k, v, _ = (x.cuda() for x in vectors(1, 16, 16, 64, F32))
    at = torch.arange(16, device="cuda")
    e.attention(q, k, v, q_positions=at)
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(NotImplementedError, match="a CUDA graph cannot capture"):
        with torch.cuda.graph(graph):
            e.attention(q, k, v, q_positions=at)
    torch.cuda.synchronize()


def compilers() -> list:
    able = shutil.which("cc") or shutil.which("gcc")
    reason = "needs a C compiler, which Triton uses"
    return ["aot_eager", pytest.param("inductor", marks=pytest.mark.skipif(not able, reason=reason))]


@pytest.mark.parametrize("backend", compilers())
@pytest.mark.parametrize("spec", ["rope", "t5"])
def test_a_compiled_model_has_one_graph_and_the_same_gradients(spec: str, backend: str) -> None:
    e = encoding(spec).cuda()
    project = torch.nn.Linear(64, 512, device="cuda")

    def model(x: Any) -> Any:
        q, k, v = project(x).view(2, -1, 8, 64).split([4, 2, 2], 2)
        q, k = e.rotate_qk(q, k) if spec == "rope" else (q, k)
        return e.attention(q, k, v, causal=True).flatten(2)

    x = torch.randn(2, 40, 64, device="cuda")
    grads = []
    torch._dynamo.reset()
    for call in (model, torch.compile(model, fullgraph=True, backend=backend)):
        out = call(x)
        trained = [*e.parameters(), *project.parameters()]
        grads.append([out, *torch.autograd.grad(out.square().sum(), trained)])
    for a, b in zip(*grads, strict=True):
        assert distance(b, a) <= 1e-4


@pytest.mark.parametrize("grad", [False, True])
def test_operators_pass_pytorchs_own_checks(grad: bool) -> None:
    e = encoding("rope").cuda()
    t5 = encoding("t5").cuda()
    q, k, v, _ = (x.cuda().requires_grad_(grad) for x in vectors(2, 5, 5, 64, F32))
    at = torch.arange(5, device="cuda")
    none, options = [None] * len(pt._NAMES), (True, "end", 0, 0, "right", 0, 0.0, 0.0, False, "bthd")
    flat = t5.flat.detach().requires_grad_(grad)
    opcheck(pt.rotate_op.op, (q, None, None, e.key, 3, "query", "bthd", "rotate"))
    opcheck(pt.rotate_op.op, (q, at, None, e.key, 0, "key", "bthd", "rotate"))
    opcheck(pt.rotate_qk_op.op, (q, k, at, e.key, 0, "bthd", False))
    opcheck(pt.attention_op.op, (q, k, v, *none, e.key, *options))
    opcheck(pt.attention_op.op, (q, k, v, None, flat, *none[2:], t5.key, *options))


# ---------------------------------------------------------------- what is refused


def on_cpu(spec: str) -> pt.Encoding:
    return pt.Encoding(spec, heads=2, head_dim=64)


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "content": (lambda x: on_cpu("shaw").cuda().attention(x, x, x), "use tensors of the CPU"),
    "pages": (
        lambda x: on_cpu("rope").attention(x, x, x, page_table=torch.zeros(1, 1, dtype=torch.int32).cuda()),
        "pages, which attention on a GPU does not take yet",
    ),
    "parameters on the CPU": (lambda x: on_cpu("t5").attention(x, x, x), "must be on one device"),
    "positions on the CPU": (lambda x: on_cpu("rope").rotate(x, torch.arange(8)), "must be on one device"),
    "keys on the CPU": (lambda x: on_cpu("rope").attention(x, x.cpu(), x), "must be on one device"),
    "float64": (lambda x: on_cpu("rope").attention(*[x.double()] * 3), "float64"),
    "an embedding": (lambda x: on_cpu("sinusoidal").embed(x.flatten(2)), "needs memory of the CPU"),
    "trained frequencies": (lambda x: on_cpu("rope:axes=2,learned=shared").cuda().rotate(x, [[0, 1]] * 8), "trained"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_gpu_does_not_have_is_a_sentence(name: str) -> None:
    call, sentence = REFUSED[name]
    with pytest.raises(posenc.Error, match=sentence):
        call(torch.randn(1, 8, 2, 64, device="cuda"))
