# SPDX-License-Identifier: MIT
# pyright: basic
"""Attention of transformers' models by posenc: the function that models call, and models that call none."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers.masking_utils import causal_mask_function, sdpa_mask

from . import torch as posenc_torch
from ._transformers_base import before, key_for

# ---------------------------------------------------------------- attention

_calls: list[type[nn.Module]] | None = None  # the classes that called attend(); a list only while a batch is compared


@contextlib.contextmanager
def counting() -> Generator[list[type[nn.Module]]]:
    global _calls
    _calls = []
    try:
        yield _calls
    finally:
        _calls = None


def _attend(
    module: nn.Module, q: Tensor, k: Tensor, v: Tensor, shown: Tensor | None, *, spec: str = "none", **options: Any
) -> Tensor:
    """Attention of q, k and v, (batch, heads, tokens, dim), as (batch, tokens, heads, dim).

    ``shown`` is a model's mask: bool, or numbers that are added to scores.
    """
    if _calls is not None:
        _calls.append(type(module))
    if shown is not None and shown.dtype == torch.bool:
        options["keep"] = shown
    elif shown is not None:
        bias = options.get("mask")
        options["mask"] = shown if bias is None else bias + shown
    for name in ("keep", "mask"):
        if options.get(name) is not None and options[name].stride(-1) != 1:
            options[name] = options[name].contiguous()
    key = key_for(spec, q.shape[1], k.shape[1], q.shape[3])
    k, v = k.to(q.dtype), v.to(q.dtype)
    out: Tensor = posenc_torch.attention(
        q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), key, layout="bthd", **options
    )
    return out


def attention_mask_of(
    *, q_length: int, kv_length: int, q_offset: Any = 0, kv_offset: int = 0,
    mask_function: Callable[..., Any] = causal_mask_function, **others: Any,
) -> Tensor | None:  # fmt: skip
    """What transformers calls under the name "posenc" for a mask: bool, or None where attention() is causal by itself.

    A causal mask with padding also says so: fused attention then computes no scores of later keys.
    """
    mask: Tensor | None = sdpa_mask(
        q_length=q_length, kv_length=kv_length, q_offset=q_offset, kv_offset=kv_offset, mask_function=mask_function,
        **others,
    )  # fmt: skip
    if mask is not None and mask_function is causal_mask_function and isinstance(q_offset, int):
        if q_offset + q_length == kv_offset + kv_length:
            mask._posenc_align = "end"  # type: ignore[attr-defined]
        elif q_offset == kv_offset:
            mask._posenc_align = "start"  # type: ignore[attr-defined]
    return mask


def attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    position_bias: Tensor | None = None,
    indices: Tensor | None = None,
    **others: Any,
) -> tuple[Tensor, Tensor | None]:
    """What transformers calls under the name "posenc": fused attention of vectors that the model has rotated."""
    if others.get("cache") is not None:
        raise NotImplementedError("posenc.transformers has no continuous batching; use generate(), or disable(model)")
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    if indices is not None:
        attention_mask = _selected(attention_mask, indices, key.shape[2])
    causal = bool(is_causal) and attention_mask is None and query.shape[2] > 1
    if (dropout and module.training) or others.get("output_attentions"):
        own = {"softcap": softcap, "s_aux": s_aux, "position_bias": position_bias}
        others |= {name: given for name, given in own.items() if given is not None}
        mask = _added(attention_mask, causal, query, key)
        return _own_attention(module)(  # type: ignore[no-any-return]
            module, query, key, value, mask, scaling=scaling, dropout=dropout, **others
        )
    if causal and key.shape[2] > query.shape[2]:  # a static cache that is still empty after the queries
        key, value = key[:, :, : query.shape[2]], value[:, :, : query.shape[2]]
        position_bias = None if position_bias is None else position_bias[..., : query.shape[2]]
    align = getattr(attention_mask, "_posenc_align", None)
    out = _attend(
        module, query, key, value, attention_mask, causal=causal or align is not None, align=align or "end",
        mask=position_bias, sinks=s_aux, soft_cap=softcap or 0.0, scale=scaling or 0.0,
    )  # fmt: skip
    return out, None


def _selected(mask: Tensor | None, indices: Tensor, keys: int) -> Tensor:
    """A mask, bool, that also hides the keys that are not in indices, (batch, queries, count): sparse attention."""
    chosen = torch.zeros(*indices.shape[:2], keys, dtype=torch.bool, device=indices.device)
    chosen = chosen.scatter(-1, indices.long(), True)[:, None]
    return chosen if mask is None else chosen & mask


def _added(mask: Tensor | None, causal: bool, q: Tensor, k: Tensor) -> Tensor | None:
    """A mask as eager attention takes it: numbers that are added to scores."""
    if causal:
        mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).tril()[None, None]
    return mask if mask is None or mask.dtype != torch.bool else additive(mask, q.dtype)


def additive(keep: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where a key is seen, the lowest number where it is hidden."""
    return torch.zeros(keep.shape, dtype=dtype, device=keep.device).masked_fill(~keep, torch.finfo(dtype).min)


def _own_attention(module: nn.Module) -> Callable[..., Any]:
    """The function that a model calls for attn_implementation="eager"."""
    for cls in type(module).__mro__:
        found = getattr(sys.modules[cls.__module__], "eager_attention_forward", None)
        if found is not None:
            return found  # type: ignore[no-any-return]
    raise NotImplementedError(
        f"posenc.transformers: {type(module).__name__} has dropout or returns its attention weights, which fused "
        "attention cannot do, and has no eager attention; set its dropout to 0 or disable(model)"
    )


# ---------------------------------------------------------------- models without a hook
#
# Each function replaces one method of an attention module. Masks are those of the row's implementation.


def _merged(out: Tensor) -> Tensor:
    """Heads side by side: (batch, tokens, heads * dim)."""
    return out.flatten(2)


def _heads(x: Tensor, dim: int) -> Tensor:
    """(batch, tokens, heads * dim) as (batch, heads, tokens, dim)."""
    return x.view(*x.shape[:-1], -1, dim).transpose(1, 2)


def _drops(dropout: nn.Dropout | float, module: nn.Module) -> bool:
    return module.training and (dropout.p if isinstance(dropout, nn.Dropout) else dropout) > 0


def _plain_core(self: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None = None) -> Any:
    """`_attn` of GPT-J, CodeGen and GPT-NeoX-Japanese."""
    dropout = getattr(self, "attn_dropout", None) or self.attention_dropout
    if _drops(dropout, self):
        return before(self, "_attn")(query, key, value, attention_mask)
    return _attend(self, query, key, value, attention_mask).transpose(1, 2), None


def _gpt_neo_core(self: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None = None) -> Any:
    """`_attn` of GPT-Neo: scores are not scaled, and every other layer has a window."""
    if _drops(self.attn_dropout, self):
        return before(self, "_attn")(query, key, value, attention_mask)
    window = self.config.window_size if self.attention_type == "local" else 0
    out = _attend(self, query, key, value, attention_mask, causal=True, window=window, scale=1.0)
    return out.transpose(1, 2), None


def _bloom(
    self: Any, hidden_states: Tensor, residual: Tensor, alibi: Tensor, attention_mask: Tensor, layer_past: Any = None,
    **others: Any,
) -> Any:  # fmt: skip
    """BLOOM: ALiBi by key position; a key's position is the number of tokens before it that are not padding."""
    split = self.pretraining_tp > 1 and self.slow_but_exact
    if split or _drops(self.attention_dropout, self) or others.get("output_attentions"):
        return before(self, "forward")(hidden_states, residual, alibi, attention_mask, layer_past, **others)
    fused = self.query_key_value(hidden_states).unflatten(-1, (self.num_heads, 3, self.head_dim))
    q, k, v = fused.permute(3, 0, 2, 1, 4)
    if layer_past is not None:
        k, v = layer_past.update(k, v, self.layer_idx)
    positions = _alibi_positions(self._posenc_padding, q.shape[0], k.shape[2], q.device)
    seen = attention_mask[:, 0] > torch.finfo(attention_mask.dtype).min / 2
    nearest = torch.where(seen, positions[:, None], 0).amax(-1)
    out = _attend(self, q, k, v, attention_mask, spec="alibi", q_positions=nearest, k_positions=positions)
    added = nn.functional.dropout(self.dense(_merged(out)), self.hidden_dropout, self.training)
    return residual + added, None


def note_padding(module: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    for part in module.modules():
        if type(part).__name__ == "BloomAttention":
            part.__dict__["_posenc_padding"] = named.get("attention_mask")


def _alibi_positions(padding: Tensor | None, batch: int, keys: int, device: torch.device) -> Tensor:
    """(batch, keys): the position of each key."""
    if padding is None:
        return torch.arange(keys, device=device).expand(batch, keys)
    padding = nn.functional.pad(padding.long(), (0, max(0, keys - padding.shape[1])))[:, :keys]
    return (padding.cumsum(-1) - 1) * padding


def _mpt(
    self: Any, hidden_states: Tensor, position_bias: Tensor | None, past_key_values: Any = None,
    attention_mask: Tensor | None = None, **others: Any,
) -> Any:  # fmt: skip
    """MPT: ALiBi with slopes of its own; its mask is True where a key is hidden."""
    if _drops(self.attn_dropout_p, self) or others.get("output_attentions"):
        return before(self, "forward")(hidden_states, position_bias, past_key_values, attention_mask, **others)
    fused = self.Wqkv(hidden_states)
    if self.clip_qkv:
        fused = fused.clamp(-self.clip_qkv, self.clip_qkv)
    q, k, v = (_heads(part, self.head_dim) for part in fused.chunk(3, -1))
    if past_key_values is not None:
        k, v = past_key_values.update(k, v, self.layer_idx)
    keep = None if attention_mask is None else ~attention_mask
    spec = "none" if position_bias is None else "alibi:convention=mpt"
    places = torch.arange(k.shape[2], device=q.device)
    out = _attend(
        self, q, k, v, keep, spec=spec, q_positions=places[-q.shape[2] :], k_positions=places, scale=self.softmax_scale
    )
    return self.out_proj(_merged(out)), None


def _falcon(
    self: Any, hidden_states: Tensor, alibi: Tensor | None, attention_mask: Tensor | None, position_ids: Any = None,
    layer_past: Any = None, use_cache: bool = False, output_attentions: bool = False, position_embeddings: Any = None,
    **others: Any,
) -> Any:  # fmt: skip
    """Falcon: rotary, or ALiBi that the model has added to the mask."""
    if output_attentions or (alibi is not None and _drops(self.attention_dropout, self)):
        return before(self, "forward")(
            hidden_states, alibi, attention_mask, position_ids, layer_past, use_cache, output_attentions,
            position_embeddings, **others,
        )  # fmt: skip
    q, k, v = (part.transpose(1, 2) for part in self._split_heads(self.query_key_value(hidden_states)))
    if alibi is None:
        apply = sys.modules[type(self).__module__].apply_rotary_pos_emb
        q, k = apply(q, k, *position_embeddings)
    if layer_past is not None:
        k, v = layer_past.update(k, v, self.layer_idx)
    causal = attention_mask is None and q.shape[2] > 1
    out = _attend(self, q, k, v, attention_mask, causal=causal)
    return self.dense(_merged(out)), None


def _deberta_v2(
    self: Any, hidden_states: Tensor, attention_mask: Tensor, output_attentions: bool = False,
    query_states: Tensor | None = None, relative_pos: Tensor | None = None, rel_embeddings: Tensor | None = None,
) -> Any:  # fmt: skip
    """DeBERTa-v2: tables by distance, projected for queries and for keys; the model's `relative_pos` is not read."""
    if output_attentions or _drops(self.dropout, self):
        return before(self, "forward")(
            hidden_states, attention_mask, output_attentions, query_states, relative_pos, rel_embeddings
        )
    q = _heads(self.query_proj(hidden_states if query_states is None else query_states), self.attention_head_size)
    k = _heads(self.key_proj(hidden_states), self.attention_head_size)
    v = _heads(self.value_proj(hidden_states), self.attention_head_size)
    spec, tables = "none", None
    terms = [name for name in ("c2p", "p2c") if self.relative_attention and name in self.pos_att_type]
    if terms:
        buckets = max(0, self.position_buckets)
        spec = f"deberta:buckets={buckets},max={self.max_relative_positions},terms={'+'.join(terms)}"
        tables = _deberta_tables(self, terms, self.pos_dropout(rel_embeddings))
    count = 1 + sum(name in self.pos_att_type for name in ("c2p", "p2c"))
    scale = (self.attention_head_size * count) ** -0.5
    keep = attention_mask.bool()
    if query_states is not None:  # the second stream of a mask decoder: as many queries as keys, all positions the same
        places = torch.arange(k.shape[2], device=q.device)
        return _merged(_attend(self, q, k, v, keep, spec=spec, params=tables, scale=scale, q_positions=places)), None
    return _merged(_attend(self, q, k, v, keep, spec=spec, params=tables, scale=scale)), None


def _deberta_tables(self: Any, terms: Sequence[str], embeddings: Tensor) -> Tensor:
    """The projected embeddings of distances, in the order of posenc's parameters."""
    rows = embeddings[: 2 * self.pos_ebd_size]
    if self.share_att_key:
        projections = {"c2p": "key_proj", "p2c": "query_proj"}
    else:
        projections = {"c2p": "pos_key_proj", "p2c": "pos_query_proj"}
    return torch.cat([getattr(self, projections[name])(rows).flatten() for name in terms])


def _xlnet(
    self: Any, q_head: Tensor, k_head_h: Tensor, v_head_h: Tensor, k_head_r: Tensor, seg_mat: Tensor | None = None,
    attn_mask: Tensor | None = None, output_attentions: bool = False,
) -> Any:  # fmt: skip
    """XLNet's core, (tokens, batch, heads, dim); k_head_r has a row per distance, from far behind to far ahead."""
    queries, keys = q_head.shape[0], k_head_h.shape[0]
    both_ways = k_head_r.shape[0] == queries + keys
    shared = k_head_r.shape[1] == 1 or bool((k_head_r == k_head_r[:, :1]).all())
    if output_attentions or _drops(self.dropout, self) or not both_ways or not shared:
        return before(self, "rel_attn_core")(
            q_head, k_head_h, v_head_h, k_head_r, seg_mat, attn_mask, output_attentions
        )
    rows = k_head_r[1:, 0].flip(0)  # distances 1 - queries up to keys - 1
    params = torch.cat([rows.flatten(), self.r_w_bias.flatten(), self.r_r_bias.flatten()])
    extra: Tensor | None = None
    if seg_mat is not None:
        segments = torch.einsum("ibnd,snd->ibns", q_head + self.r_s_bias, self.seg_embed)
        extra = torch.einsum("ijbs,ibns->bnij", seg_mat, segments) * self.scale
    keep = None if attn_mask is None else (attn_mask.permute(2, 3, 0, 1) == 0)
    q, k, v = (x.permute(1, 2, 0, 3) for x in (q_head, k_head_h, v_head_h))
    places = torch.arange(keys, device=q.device)
    out = _attend(
        self, q, k, v, keep, spec=f"xlnet:length={queries},memory={keys - queries}", params=params, mask=extra,
        scale=self.scale, q_positions=places[keys - queries :], k_positions=places,
    )  # fmt: skip
    return out.transpose(0, 1)


def _mpnet(
    self: Any, hidden_states: Tensor, attention_mask: Tensor | None = None, position_bias: Tensor | None = None,
    output_attentions: bool = False, **others: Any,
) -> Any:  # fmt: skip
    """MPNet: T5's bias, which the model computes once for all layers."""
    if output_attentions or _drops(self.dropout, self):
        return before(self, "forward")(hidden_states, attention_mask, position_bias, output_attentions, **others)
    q, k, v = (_heads(project(hidden_states), self.attention_head_size) for project in (self.q, self.k, self.v))
    out = _attend(self, q, k, v, attention_mask, mask=position_bias)
    return (self.o(_merged(out)),)


def _roformer(
    self: Any, hidden_states: Tensor, attention_mask: Tensor | None = None, sinusoidal_pos: Tensor | None = None,
    encoder_hidden_states: Tensor | None = None, past_key_values: Any = None, output_attentions: bool = False,
    **others: Any,
) -> Any:  # fmt: skip
    """RoFormer's self-attention; positions go on from the cache."""
    if encoder_hidden_states is not None or sinusoidal_pos is None or output_attentions or _drops(self.dropout, self):
        return before(self, "forward")(
            hidden_states, attention_mask, sinusoidal_pos, encoder_hidden_states, past_key_values, output_attentions,
            **others,
        )  # fmt: skip
    cache = getattr(past_key_values, "self_attention_cache", past_key_values)
    start = 0 if cache is None else int(cache.get_seq_length(self.layer_idx))
    projected = (project(hidden_states) for project in (self.query, self.key, self.value))
    q, k, v = (_heads(x, self.attention_head_size) for x in projected)
    spec = self.__dict__.get("_posenc_spec")
    if spec is None:
        vectors = (q, k, v) if self.rotary_value else (q, k)
        q, k, v = (*self.apply_rotary_position_embeddings(sinusoidal_pos, *vectors), v)[:3]
    else:
        key = key_for(spec, q.shape[1], q.shape[1], q.shape[3])
        turn = functools.partial(posenc_torch.rotate, encoding=key, start=start, layout="bhtd")
        q, k, v = turn(q), turn(k), turn(v) if self.rotary_value else v
    if cache is not None:
        k, v = cache.update(k, v, self.layer_idx)
    return _merged(_attend(self, q, k, v, attention_mask)), None


@dataclass(frozen=True)
class Row:
    """How one class without a hook is replaced; its masks and the comparison are those of `implementation`."""

    method: str
    replacement: Callable[..., Any]
    implementation: str = "eager"


WITHOUT_HOOK = {
    "BloomAttention": Row("forward", _bloom),
    "CodeGenAttention": Row("_attn", _plain_core),
    "DisentangledSelfAttention": Row("forward", _deberta_v2),
    # With attn_implementation="eager" a Falcon that has ALiBi adds it twice, so its own attention is "sdpa".
    "FalconAttention": Row("forward", _falcon, "sdpa"),
    "GPTJAttention": Row("_attn", _plain_core),
    "GPTNeoSelfAttention": Row("_attn", _gpt_neo_core),
    "GPTNeoXJapaneseAttention": Row("_attn", _plain_core),
    "MPNetSelfAttention": Row("forward", _mpnet),
    "MptAttention": Row("forward", _mpt),
    "RoFormerSelfAttention": Row("forward", _roformer),
    "XLNetRelativeAttention": Row("rel_attn_core", _xlnet),
}
OTHER_CLASSES = {"transformers.models.deberta.modeling_deberta"}  # a class of the same name with other arguments


def row_of(module: nn.Module) -> Row | None:
    cls = type(module)
    return None if cls.__module__ in OTHER_CLASSES else WITHOUT_HOOK.get(cls.__name__)
