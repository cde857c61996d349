# SPDX-License-Identifier: MIT
"""posenc.torch.ring_attention: what 2, 4 and 8 processes compute together is what one computes alone."""

import re
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import posenc
import pytest

torch = pytest.importorskip("torch")

import posenc.torch as pt  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402
from posenc import _ring  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

pytestmark = pytest.mark.skipif(not dist.is_available() or not dist.is_gloo_available(), reason="torch has no gloo")
TOKENS, HEADS, KV_HEADS, DIM = 64, 4, 2, 16
ORDERS = ("contiguous", "zigzag", "striped")
SPECS = [example for row in posenc.encodings() for example in row["examples"]]


def _encodings(causal: bool) -> list[pt.Encoding]:
    """All of the registry that attend at these sizes, and whose tables reach from one end to the other."""
    found = []
    for spec in SPECS:
        try:
            e = pt.Encoding(spec, heads=HEADS, kv_heads=KV_HEADS, head_dim=DIM)
            if set(e.hooks) - {"embed"}:
                _alone(e, _problem(e), causal=causal)
                found.append(e)
        except posenc.Error:
            continue
    return found


def _problem(e: pt.Encoding, batch: int = 1, dtype: Any = None) -> dict[str, Any]:
    """Tensors of the whole sequence, the same on every rank."""
    torch.manual_seed(3)
    shapes = {"q": (HEADS, DIM), "k": (KV_HEADS, DIM), "v": (KV_HEADS, DIM)}
    known = pt._encoding(e.key)
    if known.gates:
        shapes |= {"q_gates": (HEADS,), "k_gates": (HEADS,)}
    if known.relative_dim:
        shapes["relative"] = (HEADS, known.relative_dim)
    made = {name: torch.randn(batch, TOKENS, *shape) for name, shape in shapes.items()}
    made = {name: x.to(dtype or x.dtype).requires_grad_() for name, x in made.items()}
    return {**made, "dout": torch.randn(batch, TOKENS, HEADS, DIM).to(dtype or torch.float32)}


def _gradients(e: pt.Encoding, given: dict[str, Any], sinks: Any) -> dict[str, Any]:
    found = {"d" + name: x.grad for name, x in given.items() if name != "dout"}
    found |= {"parameter " + name: x.grad for name, x in e.named_parameters()}
    found |= {} if sinks is None else {"dsinks": sinks.grad}
    for x in [*given.values(), *e.parameters(), *([] if sinks is None else [sinks])]:
        x.grad = None
    return {name: x for name, x in found.items() if x is not None}


def _alone(e: pt.Encoding, given: dict[str, Any], *, sinks: Any = None, positions: Any = None, **options: Any) -> dict:
    tensors = {name: x for name, x in given.items() if name not in ("q", "k", "v", "dout")}
    axes = pt._encoding(e.key).axes
    if positions is None and axes > 1:
        positions = torch.arange(TOKENS)[:, None].expand(-1, axes)
    for name, theirs in (("lengths", ("q_lengths", "k_lengths")), ("offsets", ("q_offsets", "k_offsets"))):
        if name in options:
            options |= dict.fromkeys(theirs, options.pop(name))
    if positions is not None:
        options |= {"q_positions": positions, "k_positions": positions}
    out = e.attention(given["q"], given["k"], given["v"], align="position", sinks=sinks, **tensors, **options)
    out.backward(given["dout"])
    return {"out": out.detach(), **_gradients(e, given, sinks)}


def _check(
    e: pt.Encoding, group: Any, order: str, *, batch: int = 1, dtype: Any = None, bound: float = 2e-5, **options: Any
) -> None:
    given = _problem(e, batch, dtype)
    alone = _alone(e, given, **options)
    here = pt.ring_tokens(TOKENS, group, order=order)
    share = {name: x.detach()[:, here].clone().requires_grad_(name != "dout") for name, x in given.items()}
    inputs = {name: x for name, x in share.items() if name not in ("q", "k", "v", "dout")}
    out = pt.ring_attention(share["q"], share["k"], share["v"], e, group, order=order, **inputs, **options)
    out.backward(share["dout"])
    found = {"out": out.detach(), **_gradients(e, share, options.get("sinks"))}
    assert found.keys() == alone.keys()
    for name, x in alone.items():
        mine = found[name]
        if name == "out" or name[1:] in share:
            x = x[:, here]
        else:
            dist.all_reduce(mine, group=group)  # as DDP sums a weight's
        most = x.abs().max().item()
        worst = (mine.float() - x.float()).abs().max().item()
        what = f"{e.spec}, {order}, {len(here)} tokens: {name}"
        assert worst <= bound * (1 + most), f"{what} differs by {worst} of {most}"


def _every_row(group: Any) -> None:
    done = 0
    for e in _encodings(True):
        for order in ORDERS:
            if pt._encoding(e.key).counts_keys:
                with pytest.raises(NotImplementedError, match="counts keys from right to left"):
                    pt.ring_attention(*[torch.zeros(1, 2, HEADS, DIM)] * 3, e, group)
                continue
            _check(e, group, order, causal=True)
            done += 1
    for e in _encodings(False):
        if not pt._encoding(e.key).counts_keys:
            _check(e, group, "zigzag")
    assert done > 100


def _every_option(group: Any) -> None:
    alibi, t5 = (pt.Encoding(spec, heads=HEADS, kv_heads=KV_HEADS, head_dim=DIM) for spec in ("alibi", "t5"))
    restart = torch.cat([torch.arange(20), torch.arange(TOKENS - 20)])
    sinks = torch.linspace(-1, 2, HEADS, requires_grad=True)
    for order in ORDERS:
        for e in (alibi, t5):
            _check(e, group, order, causal=True, window=9, first_keys=2)
            _check(e, group, order, causal=True, soft_cap=5.0, sinks=sinks)
            _check(e, group, order, causal=True, batch=2, lengths=[TOKENS - 3, 17])
            _check(e, group, order, causal=True, offsets=[0, 20, TOKENS], positions=restart)
            _check(e, group, order, positions=3 * torch.arange(TOKENS) - 7, causal=True)
            _check(e, group, order, causal=True, dtype=torch.bfloat16, bound=2e-2)


def _beside_torch(group: Any) -> None:
    """Plain causal attention, which torch has a context parallel for: its SDPA on the whole sequence."""
    none = pt.Encoding("none", heads=HEADS, head_dim=DIM)
    torch.manual_seed(5)
    q, k, v, dout = torch.randn(4, 1, TOKENS, HEADS, DIM)
    here = pt.ring_tokens(TOKENS, group)
    whole = [x.transpose(1, 2).clone().requires_grad_() for x in (q, k, v)]
    out = torch.nn.functional.scaled_dot_product_attention(*whole, is_causal=True)
    out.backward(dout.transpose(1, 2))
    share = [x[:, here].transpose(1, 2).clone().requires_grad_() for x in (q, k, v)]
    mine = pt.ring_attention(*share, none, group, causal=True, layout="bhtd")
    mine.backward(dout[:, here].transpose(1, 2))
    torch.testing.assert_close(mine, out[:, :, here], atol=2e-5, rtol=0)
    for x, y in zip(share, whole, strict=True):
        torch.testing.assert_close(x.grad, y.grad[:, :, here], atol=2e-5, rtol=0)


def _the_same_bits(group: Any) -> None:
    e = pt.Encoding("t5", heads=HEADS, kv_heads=KV_HEADS, head_dim=DIM)
    found = []
    for _ in range(2):
        given, here = _problem(e), pt.ring_tokens(TOKENS, group)
        share = {name: x.detach()[:, here].requires_grad_() for name, x in given.items()}
        out = pt.ring_attention(share["q"], share["k"], share["v"], e, group, causal=True)
        out.backward(share["dout"])
        found.append([out.detach(), *_gradients(e, share, None).values()])
    assert all(torch.equal(x, y) for x, y in zip(*found, strict=True))


def _misuse(group: Any) -> None:
    e = pt.Encoding("alibi", heads=HEADS, head_dim=DIM)
    q = torch.zeros(1, 3, HEADS, DIM)
    with pytest.raises(ValueError, match="8 ranks need a multiple of 16" if group is None else "need a multiple of"):
        pt.ring_attention(q, q, q, e, group)
    with pytest.raises(ValueError, match="order is 'odd'"):
        pt.ring_attention(q, q, q, e, group, order="odd")
    with pytest.raises(TypeError, match="q is float64"):
        pt.ring_attention(q.double(), q.double(), q.double(), e, group)
    with pytest.raises(ValueError, match="as many tokens"):
        pt.ring_attention(q, q[:, :2], q[:, :2], e, group, order="striped")
    with pytest.raises(ValueError, match="needs those of the whole sequence"):
        pt.ring_attention(q, q, q, e, group, order="striped", positions=torch.arange(3))


def _bytes(group: Any) -> None:
    """What is given to torch.distributed is the formula of docs/scale.md, with gates in their own type."""
    ranks, sent = dist.get_world_size(group), 0
    exchange = _ring._Ring.exchange

    def counted(ring: Any, send: list[Any], receive: list[Any], tag: int) -> Any:
        nonlocal sent
        sent += sum(x.numel() * x.element_size() for x in send)
        return exchange(ring, send, receive, tag)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_ring._Ring, "exchange", counted)
        for spec, dtype, size in (("alibi", torch.float32, 4), ("t5", torch.bfloat16, 2), ("forget", torch.float32, 4)):
            e = pt.Encoding(spec, heads=HEADS, kv_heads=KV_HEADS, head_dim=DIM)
            given, here, sent = _problem(e, 2, dtype), pt.ring_tokens(TOKENS, group), 0
            share = {name: x.detach()[:, here].requires_grad_(name != "dout") for name, x in given.items()}
            inputs = {name: x for name, x in share.items() if name in ("q_gates", "k_gates")}
            out = pt.ring_attention(share["q"], share["k"], share["v"], e, group, causal=True, **inputs)
            each = 2 * TOKENS // ranks * KV_HEADS * 2 * DIM
            gates = 2 * TOKENS // ranks * HEADS if inputs else 0
            assert sent == (ranks - 1) * (each + gates) * size
            sent = 0
            out.backward(share["dout"])
            assert sent == (ranks - 1) * (each + gates) * (size + 4)


class _Alive(TorchDispatchMode):
    """The most bytes of tensors that are there at once, of those that are made in this context."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0
        self.known: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for x in made if isinstance(made, (tuple, list)) else [made]:
            if isinstance(x, torch.Tensor) and x.untyped_storage().data_ptr() not in self.known:
                memory = x.untyped_storage()
                self.known.add(memory.data_ptr())
                self.now += memory.nbytes()
                self.most = max(self.most, self.now)
                weakref.finalize(memory, self.forget, memory.data_ptr(), memory.nbytes())
        return made

    def forget(self, at: int, size: int) -> None:
        self.known.discard(at)
        self.now -= size


def _memory(group: Any) -> None:
    """A rank's tensors are in proportion to its share: 16 of its queries' size at most, of any number of ranks."""
    tokens, ranks = 4096, dist.get_world_size(group)
    e = pt.Encoding("alibi", heads=HEADS, kv_heads=KV_HEADS, head_dim=DIM)
    shapes = [(1, tokens // ranks, heads, DIM) for heads in (HEADS, KV_HEADS, KV_HEADS, HEADS)]
    q, k, v, dout = (torch.ones(shape) for shape in shapes)
    with _Alive() as alive:
        for x in (q, k, v):
            x.requires_grad_()
        pt.ring_attention(q, k, v, e, group, causal=True).backward(dout)
    share = q.numel() * 4
    assert share < alive.most < 16 * share, f"{ranks} ranks: {alive.most / share}"


def _worker(rank: int, size: int, store: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=size)
    small = [dist.new_group(range(n)) for n in (2, 4)]
    for claim in (_every_row, _every_option, _beside_torch, _the_same_bits, _bytes, _memory, _misuse):
        for group in (*small, None):
            if group is None or rank < dist.get_world_size(group):
                claim(group)
        dist.barrier()
    dist.destroy_process_group()


def test_processes_compute_what_one_does(tmp_path: Path) -> None:
    """Each claim holds in groups of 2 and 4 of 8 processes, and in all 8."""
    mp.spawn(_worker, (8, str(tmp_path / "store")), nprocs=8)


def _train(processes: int, *options: str) -> list[tuple[int, float]]:
    """The example's steps and losses."""
    example = Path(__file__).parents[2] / "examples" / "train_fsdp.py"
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    done = subprocess.run([*launch, str(example), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^step (\d+): loss ([0-9.]+)$", done.stdout, re.MULTILINE)
    return [(int(step), float(loss)) for step, loss in found]


def test_the_example_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    """Four steps at once and two and two are the same, with FSDP; so are those of DDP."""
    whole = _train(2, "--steps", "4")
    assert len(whole) == 4 and whole[3][1] < whole[0][1]
    first = _train(2, "--steps", "2", "--checkpoint", str(tmp_path))
    assert first + _train(2, "--steps", "4", "--checkpoint", str(tmp_path)) == whole
    assert [loss for _, loss in _train(2, "--steps", "4", "--ddp")] == pytest.approx(
        [loss for _, loss in whole], abs=1e-4
    )


def test_a_ring_of_processes_trains_as_one_does() -> None:
    """Each sequence on two processes: the losses, and so the gradients of T5's table, are those of one process."""
    one, two = (_train(processes, "--steps", "4", "--ring", "--ddp") for processes in (1, 2))
    assert [loss for _, loss in two] == pytest.approx([loss for _, loss in one], abs=1e-4)
