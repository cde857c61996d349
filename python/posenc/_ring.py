# SPDX-License-Identifier: MIT
"""Attention over a sequence that lies on the processes of a torch.distributed group, with any encoding.

Keys and values go round the ring of ranks while each rank computes; what their parts give is merged by log-sum-exps. In
the backward pass they go round again, and the gradients of each part follow it home.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.distributed as dist
from torch import Tensor

from .torch import _NAMES, Layout, _dense, _encoding, _for_device, _key_and_params

__all__ = ["Order", "ring_attention", "ring_tokens"]

Order = Literal["zigzag", "contiguous", "striped"]
_INPUTS = ("params", "sinks", "q_gates", "k_gates", "relative")  # with a gradient, beside q, k and v


def _chunks(order: str, tokens: int, ranks: int, rank: int) -> list[range]:
    """The places of a rank's tokens in the sequence, in the order of its memory."""
    parts = ranks * (2 if order == "zigzag" else 1)
    if order not in ("zigzag", "contiguous", "striped"):
        raise ValueError(f"order is {order!r}; needs 'zigzag', 'contiguous' or 'striped'")
    if tokens % parts or not tokens:
        raise ValueError(
            f"the sequence has {tokens} tokens; {ranks} ranks need a multiple of {parts}: pad it, and give lengths"
        )
    if order == "striped":
        return [range(rank, tokens, ranks)]
    each = tokens // parts
    firsts = [rank * each] + ([(parts - 1 - rank) * each] if order == "zigzag" else [])
    return [range(first, first + each) for first in firsts]


def ring_tokens(tokens: int, group: dist.ProcessGroup | None = None, *, order: Order = "zigzag") -> Tensor:
    """Which tokens of a sequence this rank has: x[:, ring_tokens(x.shape[1])] is its share of x."""
    chunks = _chunks(order, tokens, dist.get_world_size(group), dist.get_rank(group))
    return torch.tensor([place for chunk in chunks for place in chunk])


def _below(chunk: range, place: int) -> int:
    """How many tokens of a chunk stand before a place of the sequence."""
    return len(range(chunk.start, min(max(place, chunk.start), chunk.stop), chunk.step))


@dataclass(frozen=True)
class _Part:
    """Queries of one chunk and keys of another: where they lie in their shares, and the call's arguments."""

    q: slice
    k: slice
    arguments: dict[str, Any]


@dataclass(frozen=True)
class _Ring:
    """A call: what is the same in all its steps."""

    key: str
    group: dist.ProcessGroup | None
    order: Order
    tokens: int
    options: dict[str, Any]
    positions: Tensor | None
    lengths: list[int] | None
    offsets: list[int] | None

    @property
    def ranks(self) -> int:
        return dist.get_world_size(self.group)

    @property
    def rank(self) -> int:
        return dist.get_rank(self.group)

    def exchange(self, send: list[Tensor], receive: list[Tensor], tag: int) -> list[dist.Work]:
        """Starts to send to the next rank, and to receive from the one before."""
        group = self.group or dist.group.WORLD
        assert group is not None
        after = dist.get_global_rank(group, (self.rank + 1) % self.ranks)
        before = dist.get_global_rank(group, (self.rank - 1) % self.ranks)
        ops = [dist.P2POp(dist.isend, x, after, group, tag) for x in send]
        ops += [dist.P2POp(dist.irecv, x, before, group, tag) for x in receive]
        works: list[dist.Work] = dist.batch_isend_irecv(ops)
        return works

    def parts(self, owner: int, like: Tensor) -> Iterator[_Part]:
        """What this rank computes with the keys of another."""
        q_first = 0
        for q in _chunks(self.order, self.tokens, self.ranks, self.rank):
            k_first = 0
            for k in _chunks(self.order, self.tokens, self.ranks, owner):
                hidden = self.options["causal"] and self.positions is None and k.start > q[-1]
                if not hidden:
                    arguments = {**self.options, "align": "position", **self.places("q", q, like)}
                    arguments |= self.places("k", k, like)
                    yield _Part(slice(q_first, q_first + len(q)), slice(k_first, k_first + len(k)), arguments)
                k_first += len(k)
            q_first += len(q)

    def places(self, side: str, chunk: range, like: Tensor) -> dict[str, Any]:
        """Positions and lengths of a chunk's tokens."""
        found: dict[str, Any] = {}
        if self.positions is not None:
            at = slice(chunk.start, chunk.stop, chunk.step)
            several = _encoding(self.key).axes > 1
            found["positions"] = self.positions[..., at, :] if several else self.positions[..., at]
        elif chunk.step == 1:
            found["positions"] = torch.tensor(chunk.start)
        else:
            found["positions"] = torch.arange(chunk.start, chunk.stop, chunk.step, device=like.device)
            if _encoding(self.key).axes > 1:
                found["positions"] = found["positions"][:, None].expand(-1, _encoding(self.key).axes)
        for name, whole in (("lengths", self.lengths), ("offsets", self.offsets)):
            if whole is not None:
                found[name] = torch.tensor([_below(chunk, place) for place in whole], device=like.device)
        return {f"{side}_{name}": value for name, value in found.items()}

    def call(self, q: Tensor, k: Tensor, part: _Part, inputs: dict[str, Tensor | None]) -> dict[str, Any]:
        """The arguments of posenc.Encoding.attention, with what the encoding takes of these tokens."""
        arguments: dict[str, Any] = dict.fromkeys(_NAMES) | part.arguments
        arguments["params"] = inputs["params"]
        for name, at in (("q_gates", part.q), ("k_gates", part.k), ("relative", part.q)):
            whole = inputs[name]
            arguments[name] = None if whole is None else whole[:, at]
        if q.is_cuda:
            arguments |= {"layout": "bthd", "padding": "right"}
            _for_device(_encoding(self.key), q, k, arguments)
        return arguments


def _round(ring: _Ring, own: list[Tensor]) -> Iterator[tuple[int, list[Tensor]]]:
    """Each rank's tensors in turn, from this rank's backwards; the next ones arrive while these are used."""
    here = [x.contiguous() for x in own]
    for step in range(ring.ranks):
        there = [torch.empty_like(x) for x in here] if step + 1 < ring.ranks else []
        moving = ring.exchange(here, there, 0) if there else []
        yield (ring.rank - step) % ring.ranks, here
        for work in moving:
            work.wait()
        here = there


def _merge(out: Tensor, lse: Tensor, part: Tensor, part_lse: Tensor) -> None:
    """What some more keys give, into what there is; a query that has seen none has -inf."""
    total = torch.logaddexp(lse, part_lse)
    total_or_0 = torch.where(total == -torch.inf, 0.0, total)
    out.mul_(torch.exp(lse - total_or_0)[..., None].to(out.dtype))
    out.add_(part * torch.exp(part_lse - total_or_0)[..., None].to(out.dtype))
    lse.copy_(total)


class _RingAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, ring: _Ring, q: Tensor, k: Tensor, v: Tensor, *values: Tensor | None) -> Tensor:
        e = _encoding(ring.key)
        inputs: dict[str, Tensor | None] = dict(zip(_INPUTS, values, strict=True))
        gates = inputs["k_gates"]
        out = q.new_zeros((*q.shape[:-1], v.shape[-1]), dtype=torch.float32)
        lse = q.new_full(q.shape[:-1], -torch.inf, dtype=torch.float64)
        for owner, block in _round(ring, [k, v] if gates is None else [k, v, gates]):
            if gates is not None:
                inputs["k_gates"] = block[2]
            for part in ring.parts(owner, q):
                queries, keys, vectors = _dense(q[:, part.q]), block[0][:, part.k], block[1][:, part.k]
                piece, piece_lse = torch.empty_like(out[:, part.q]), torch.empty_like(lse[:, part.q])
                arguments = ring.call(queries, keys, part, inputs)
                e.attention(queries, keys, vectors, out=piece, lse=piece_lse, **arguments)
                _merge(out[:, part.q], lse[:, part.q], piece, piece_lse)
        sinks = inputs["sinks"]
        if sinks is not None:
            _merge(out, lse, torch.zeros_like(out), sinks.to(lse.dtype).expand_as(lse))
        ctx.ring = ring
        ctx.save_for_backward(q, k, v, *values, out, lse)
        return out.to(q.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dout: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        ring: _Ring = ctx.ring
        q, k, v, *values, out, lse = ctx.saved_tensors
        e = _encoding(ring.key)
        inputs: dict[str, Tensor | None] = dict(zip(_INPUTS, values, strict=True))
        gates, sinks = inputs["k_gates"], inputs["sinks"]
        mine: list[Tensor] = [q.new_zeros(q.shape, dtype=torch.float32)]  # of the queries: dq, dq_gates, drelative
        others = [x for x in (inputs["q_gates"], inputs["relative"]) if x is not None]
        mine += [torch.zeros_like(x, dtype=torch.float32) for x in others]
        names = ["dq", *(f"d{name}" for name in ("q_gates", "relative") if inputs[name] is not None)]
        params = inputs["params"]
        dparams = None if params is None else torch.zeros_like(params, dtype=torch.float32)
        sums: list[Tensor] = []
        home: list[Tensor] = []
        arriving: list[Tensor] = []
        moving: list[dist.Work] = []
        given = [k, v] if gates is None else [k, v, gates]
        for step, (owner, block) in enumerate(_round(ring, given)):
            sums = [torch.zeros(x.shape, dtype=torch.float32, device=x.device) for x in block]
            if gates is not None:
                inputs["k_gates"] = block[2]
            for part in ring.parts(owner, q):
                queries, keys, vectors = _dense(q[:, part.q]), block[0][:, part.k], block[1][:, part.k]
                grads = {name: grad[:, part.q] for name, grad in zip(names, mine, strict=True)}
                grads |= {name: x[:, part.k] for name, x in zip(("dk", "dv", "dk_gates"), sums, strict=False)}
                e.attention_backward(
                    queries,
                    keys,
                    vectors,
                    out=out[:, part.q],
                    lse=lse[:, part.q],
                    dout=_dense(dout[:, part.q]),
                    dparams=dparams,
                    piece=True,
                    accumulate=True,
                    **grads,
                    **ring.call(queries, keys, part, inputs),
                )
            if step == 0:
                home = sums
                continue
            _add(sums, arriving, moving)
            arriving = [torch.empty_like(x) for x in sums]
            moving = ring.exchange(sums, arriving, 1)
        _add(home, arriving, moving)
        found: dict[str, Tensor | None] = {"params": dparams, "k_gates": home[2] if gates is not None else None}
        found |= {name.removeprefix("d"): grad for name, grad in zip(names, mine, strict=True)}
        if sinks is not None:
            seen = (dout.float() * out).sum(-1)
            found["sinks"] = -(torch.exp(sinks.to(lse.dtype) - lse) * seen).sum((0, 1))
        all_of_them = [found["q"], home[0], home[1], *(found.get(name) for name in _INPUTS)]
        kept = (
            None if grad is None or tensor is None else grad.to(tensor.dtype)
            for grad, tensor in zip(all_of_them, [q, k, v, *values], strict=True)
        )
        return None, *kept


def _add(sums: list[Tensor], arriving: Sequence[Tensor], moving: Sequence[dist.Work]) -> None:
    """What the ranks before found, first; both orders have the same bits, and this is the C library's."""
    for work in moving:
        work.wait()
    for x, more in zip(sums, arriving, strict=False):
        x.add_(more)


def _whole_numbers(values: Any) -> list[int] | None:
    return None if values is None else [int(value) for value in values]


def ring_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    encoding: Any,
    group: dist.ProcessGroup | None = None,
    *,
    order: Order = "zigzag",
    causal: bool = False,
    window: int = 0,
    first_keys: int = 0,
    positions: Any = None,
    lengths: Any = None,
    offsets: Any = None,
    soft_cap: float = 0.0,
    scale: float = 0.0,
    layout: Layout = "bthd",
    params: Tensor | None = None,
    sinks: Tensor | None = None,
    q_gates: Tensor | None = None,
    k_gates: Tensor | None = None,
    relative: Tensor | None = None,
) -> Tensor:
    """posenc.torch.attention over a sequence that lies on the ranks of a group, each with a share of the tokens.

    q, k, v, q_gates, k_gates and relative are this rank's share: x[:, ring_tokens(tokens)] of the whole. positions
    (tokens, or batch and tokens, with axes last where the encoding has several), lengths (batch) and offsets
    (sequences + 1, for sequences stored end to end) are those of the whole sequence; causal and window go by position.
    All ranks make the same call. Gradients of params and sinks are those of this rank's outputs: like those of a
    model's weights they are summed over the group by whoever trains it (DDP, FSDP, all_reduce).
    """
    key, own = _key_and_params(encoding, q)
    e = _encoding(key)
    if e.counts_keys:
        raise NotImplementedError(
            f"{e.spec} counts keys from right to left, which a ring of torch.distributed does not do; "
            "needs posenc.torch.attention, or libposenc_mpi"
        )
    place = "cuda" if q.is_cuda else "cpu"
    if torch.is_autocast_enabled(place):
        low = torch.get_autocast_dtype(place)
        q, k, v = q.to(low), k.to(low), v.to(low)
    if q.dtype == torch.float64:
        raise TypeError("q is float64; ring_attention computes in float32: needs float32, float16 or bfloat16")
    if layout == "bhtd":
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
    if q.ndim != 4 or q.shape[1] != k.shape[1]:
        raise ValueError(
            f"q is {tuple(q.shape)} and k is {tuple(k.shape)}; needs (batch, tokens, heads, dim) with as many tokens"
        )
    tokens = q.shape[1] * dist.get_world_size(group)
    _chunks(order, tokens, dist.get_world_size(group), 0)
    at = None if positions is None else torch.as_tensor(positions, device=q.device)
    if at is not None and tokens not in at.shape:
        raise ValueError(f"positions are {tuple(at.shape)}; needs those of the whole sequence, {tokens} tokens")
    options = {"causal": causal, "window": window, "first_keys": first_keys, "soft_cap": soft_cap, "scale": scale}
    ring = _Ring(key, group, order, tokens, options, at, _whole_numbers(lengths), _whole_numbers(offsets))
    flat = own if params is None else params
    values = (flat if flat is None or q.is_cpu else flat.float(), sinks, q_gates, k_gates, relative)
    out: Tensor = _RingAttention.apply(ring, _dense(q), _dense(k), _dense(v), *values)
    return out.transpose(1, 2) if layout == "bhtd" else out
