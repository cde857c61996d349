# SPDX-License-Identifier: MIT
"""The cases of all golden files except the census: their parameters, and the functions of others that compute them.

build(name, stored) yields (case, meta, tensors). Inputs (positions, q, k, x, weights) are those of the stored case of
the same name, so that a rebuild compares outputs only; the inputs of a new case are random, its name is the seed."""
import importlib.metadata
import importlib.util
import os
import unittest.mock

import torch

from store import Inputs

WIDTH = 64
HEADS = 4
HEAD_DIM = 16


def first(tensors):
    """Removes the batch dimension of a batch of one."""
    return tuple(t[0] for t in tensors)


def eager(config):
    config._attn_implementation = "eager"
    return config


# ---------------------------------------------------------------- rope_types


def rope_config(length=8192, **parameters):
    return {
        "model_type": "llama", "hidden_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64,
        "max_position_embeddings": length, "rope_parameters": parameters,
    }  # fmt: skip


def rope_kinds():
    """Yields name, config, sequence lengths."""
    short = [round(1 + 0.3 * (i / 32) ** 2, 6) for i in range(32)]
    long = [round(1 + 40 * (i / 32) ** 2, 6) for i in range(32)]
    yarn = {"rope_type": "yarn"}
    yield "default0", rope_config(rope_type="default", rope_theta=10000.0), (16, 4096)
    yield "default1", rope_config(rope_type="default", rope_theta=500000.0), (16, 4096)
    yield "linear0", rope_config(rope_type="linear", rope_theta=10000.0, factor=4.0), (16, 4096)
    yield "dynamic0", rope_config(2048, rope_type="dynamic", rope_theta=10000.0, factor=2.0), (16, 2048, 6000)
    yield "yarn0", rope_config(
        **yarn, rope_theta=1000000.0, factor=4.0, original_max_position_embeddings=2048
    ), (16, 4096)
    yield "yarn1", rope_config(
        **yarn, rope_theta=10000.0, factor=40.0, beta_fast=32, beta_slow=1, mscale=1.0, mscale_all_dim=1.0,
        original_max_position_embeddings=4096,
    ), (16, 4096)  # fmt: skip
    yield "yarn2", rope_config(
        **yarn, rope_theta=150000.0, factor=32.0, beta_fast=32.0, beta_slow=1.0, truncate=False,
        original_max_position_embeddings=4096,
    ), (16, 4096)  # fmt: skip
    yield "yarn3", rope_config(
        **yarn, rope_theta=10000.0, factor=16.0, attention_factor=1.25, original_max_position_embeddings=1024
    ), (16, 4096)
    yield "longrope0", rope_config(
        rope_type="longrope", rope_theta=10000.0, short_factor=short, long_factor=long,
        original_max_position_embeddings=1024,
    ), (16, 1024, 5000)  # fmt: skip
    yield "llama30", rope_config(
        rope_type="llama3", rope_theta=500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=8192,
    ), (16, 4096)  # fmt: skip
    yield "proportional0", rope_config(
        rope_type="proportional", rope_theta=1000000.0, partial_rotary_factor=0.25
    ), (16, 4096)


def some_positions(length):
    """The first positions, some in the middle, the last."""
    wanted = [0, 1, 2, 3, 7, 15, length // 3, length // 2, length - 1]
    return sorted({n for n in wanted if n < length})


def rope_types(stored):
    from transformers.models.llama.configuration_llama import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    for kind, config, lengths in rope_kinds():
        for length in lengths:
            case = f"{kind}_n{length}"
            given = Inputs(case, stored.get(case))
            rotary = LlamaRotaryEmbedding(LlamaConfig(**{k: v for k, v in config.items() if k != "model_type"}))
            positions = given.fixed("positions", some_positions(length))
            q = given.normal("q", 4, len(positions), 64)
            k = given.normal("k", 2, len(positions), 64)
            cos, sin = rotary(q, positions[None])
            q_out, k_out = first(apply_rotary_pos_emb(q[None], k[None], cos, sin))
            meta = {
                "config": config, "seq_len": length, "layout": "half", "attention_scaling": rotary.attention_scaling
            }  # fmt: skip
            yield case, meta, {
                "inv_freq": rotary.inv_freq, "positions": positions, "cos": cos[0], "sin": sin[0],
                "q": q, "k": k, "q_out": q_out, "k_out": k_out,
            }  # fmt: skip


# ---------------------------------------------------------------- rope_layouts


def gptj(given):
    from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb, create_sinusoidal_positions

    positions = given.fixed("positions", list(range(0, 120, 3)))
    q = given.normal("q", 40, 2, 32)
    sin, cos = create_sinusoidal_positions(2048, 16)[positions].chunk(2, dim=-1)
    turned = apply_rotary_pos_emb(q[None, :, :, :16], sin[None], cos[None])[0]
    return {"positions": positions, "q": q, "q_out": torch.cat((turned, q[..., 16:]), dim=-1)}


def mrope(given, theta, sections, interleaved):
    if interleaved:
        from transformers.models.qwen3_vl.configuration_qwen3_vl import Qwen3VLTextConfig as Config
        from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLTextRotaryEmbedding as Rotary
        from transformers.models.qwen3_vl.modeling_qwen3_vl import apply_rotary_pos_emb
    else:
        from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLTextConfig as Config
        from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLRotaryEmbedding as Rotary
        from transformers.models.qwen2_vl.modeling_qwen2_vl import apply_rotary_pos_emb
    parameters = {"rope_type": "default", "rope_theta": theta, "mrope_section": sections}
    parameters |= {"mrope_interleaved": True} if interleaved else {}
    rotary = Rotary(Config(hidden_size=512, num_attention_heads=4, head_dim=128, rope_parameters=parameters))
    positions = given.whole("positions", 300, 3, 24)
    q, k = given.normal("q", 2, 24, 128), given.normal("k", 2, 24, 128)
    cos, sin = rotary(q, positions[:, None])
    q_out, k_out = first(apply_rotary_pos_emb(q[None], k[None], cos, sin))
    tables = {"cos": cos[0], "sin": sin[0]} if interleaved else {}
    return {"positions": positions, **tables, "q": q, "k": k, "q_out": q_out, "k_out": k_out}


def qwen2vl_vision(given):
    from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLVisionConfig
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLVisionRotaryEmbedding, apply_rotary_pos_emb_vision

    rotary = Qwen2VLVisionRotaryEmbedding(Qwen2VLVisionConfig(embed_dim=240, num_heads=3))
    positions = given.fixed("positions", [[row, column] for row in range(5) for column in range(7)])
    q, k = given.normal("q", 35, 3, 80), given.normal("k", 35, 3, 80)
    cos, sin = rotary(q, positions)
    q_out, k_out = apply_rotary_pos_emb_vision(q, k, cos, sin)
    return {"positions": positions, "q": q, "k": k, "q_out": q_out, "k_out": k_out}


def dinov3(given):
    from transformers.models.dinov3_vit.configuration_dinov3_vit import DINOv3ViTConfig
    from transformers.models.dinov3_vit.modeling_dinov3_vit import DINOv3ViTRopePositionEmbedding

    config = DINOv3ViTConfig(hidden_size=128, num_attention_heads=2, patch_size=16, image_size=64, rope_theta=100.0)
    cos, sin = DINOv3ViTRopePositionEmbedding(config).eval()(torch.zeros(1, 3, 6 * 16, 4 * 16))
    return {"cos": cos, "sin": sin}


def gemma4_vision(given):
    from transformers.models.gemma4.configuration_gemma4 import Gemma4VisionConfig
    from transformers.models.gemma4.modeling_gemma4 import Gemma4VisionRotaryEmbedding, apply_multidimensional_rope

    config = Gemma4VisionConfig(hidden_size=128, num_attention_heads=2, num_key_value_heads=2, head_dim=64)
    positions = given.whole("positions", 64, 20, 2)
    q = given.normal("q", 20, 2, 64)
    cos, sin = Gemma4VisionRotaryEmbedding(config)(q, positions[None])
    q_out = apply_multidimensional_rope(q[None], cos, sin, positions[None])[0]
    return {"positions": positions, "cos": cos[0], "sin": sin[0], "q": q, "q_out": q_out}


def llama4(given):
    from transformers.models.llama4.configuration_llama4 import Llama4TextConfig
    from transformers.models.llama4.modeling_llama4 import Llama4TextRotaryEmbedding, apply_rotary_emb

    parameters = {"rope_type": "default", "rope_theta": 500000.0}
    rotary = Llama4TextRotaryEmbedding(
        Llama4TextConfig(hidden_size=128, num_attention_heads=4, head_dim=32, rope_parameters=parameters)
    )
    positions = given.fixed("positions", [0, 1, 2, 9, 100, 3000])
    q, k = given.normal("q", 6, 4, 32), given.normal("k", 6, 2, 32)
    q_out, k_out = first(apply_rotary_emb(q[None], k[None], rotary(q, positions[None])))
    return {"positions": positions, "inv_freq": rotary.inv_freq, "q": q, "k": k, "q_out": q_out, "k_out": k_out}


def roformer(given):
    from transformers.models.roformer.modeling_roformer import (
        RoFormerSelfAttention,
        RoFormerSinusoidalPositionalEmbedding,
    )

    positions = given.fixed("positions", list(range(14)))
    q, k, v = (given.normal(name, 2, 14, 32) for name in "qkv")
    table = RoFormerSinusoidalPositionalEmbedding(64, 32).create_weight()[positions]
    turned = RoFormerSelfAttention.apply_rotary_position_embeddings(table[None, None], q[None], k[None], v[None])
    q_out, k_out, v_out = first(turned)
    return {"positions": positions, "q": q, "k": k, "v": v, "q_out": q_out, "k_out": k_out, "v_out": v_out}


LAYOUTS = {
    "gptj_interleaved_partial": (
        {"layout": "interleaved", "rotary_dim": 16, "theta": 10000.0, "shape": "n,heads,head_dim"}, gptj),
    "mrope_qwen2vl": (
        {"layout": "half", "mrope_section": [16, 24, 24], "theta": 1000000.0, "interleaved_sections": False},
        lambda given: mrope(given, 1000000.0, [16, 24, 24], False)),
    "mrope_qwen3vl_interleaved": (
        {"layout": "half", "mrope_section": [24, 20, 20], "theta": 5000000.0, "interleaved_sections": True},
        lambda given: mrope(given, 5000000.0, [24, 20, 20], True)),
    "axial2d_qwen2vl_vision": (
        {"layout": "half", "axes": 2, "theta": 10000.0, "dim_per_axis": 40, "head_dim": 80,
         "note": "pairs 0..dim/2-1 turn with the row, the next dim/2 with the column", "shape": "n,heads,head_dim"},
        qwen2vl_vision),
    "axial2d_dinov3": (
        {"theta": 100.0, "head_dim": 64, "patches": [6, 4],
         "note": "coordinates are patch centres scaled to [-1,1]; angle = 2*pi*coordinate*inv_freq"}, dinov3),
    "axial2d_gemma4_vision": (
        {"layout": "half inside each axis block", "axes": 2, "theta": 100.0, "head_dim": 64,
         "shape": "n,heads,head_dim",
         "note": "the first half of the dims turns with axis 0, the second with axis 1; each half is half-split in "
                 "itself"}, gemma4_vision),
    "adjacent_llama4_complex": (
        {"layout": "interleaved", "theta": 500000.0, "head_dim": 32, "shape": "n,heads,head_dim"}, llama4),
    "adjacent_roformer_with_value": (
        {"layout": "interleaved", "theta": 10000.0, "head_dim": 32, "rotates": "q,k,v"}, roformer),
}  # fmt: skip


def rope_layouts(stored):
    for case, (meta, compute) in LAYOUTS.items():
        yield case, meta, compute(Inputs(case, stored.get(case)))


# ---------------------------------------------------------------- sinusoidal


def sinusoidal(stored):
    from transformers.models.canary.modeling_canary import CanaryPositionalEmbedding
    from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
    from transformers.models.pi0.configuration_pi0 import PI0Config
    from transformers.models.pi0.modeling_pi0 import PI0TimestepEmbeddings
    from transformers.models.qwen2_5_omni.modeling_qwen2_5_omni import SinusPositionEmbedding
    from transformers.models.timesfm.configuration_timesfm import TimesFmConfig
    from transformers.models.timesfm.modeling_timesfm import TimesFmPositionalEmbedding
    from transformers.models.videomae.modeling_videomae import get_sinusoid_encoding_table
    from transformers.models.whisper.modeling_whisper import sinusoids
    from transformers.models.xlm.modeling_xlm import create_sinusoidal_embeddings
    from transformers.models.xlnet.configuration_xlnet import XLNetConfig
    from transformers.models.xlnet.modeling_xlnet import XLNetModel

    halves = {"layout": "sin half then cos half", "n": 300, "d": 64, "theta": 10000.0}
    exponent = "exponent i/(d/2-1)"
    yield "halves_marian", halves, {"table": MarianSinusoidalPositionalEmbedding(300, 64).create_weight()}
    videomae = get_sinusoid_encoding_table(300, 64)[0]
    yield "interleaved_videomae", halves | {"layout": "sin,cos interleaved"}, {"table": videomae}
    xlm = create_sinusoidal_embeddings(300, 64, torch.empty(300, 64))
    yield "interleaved_xlm", halves | {"layout": "sin,cos interleaved"}, {"table": xlm}
    yield "halves_whisper", halves | {"note": exponent}, {"table": sinusoids(300, 64)}
    fairseq = M2M100SinusoidalPositionalEmbedding.get_embedding(302, 64)
    yield "halves_fairseq", halves | {"note": exponent + "; first rows are an offset of 2"}, {"table": fairseq}
    odd = M2M100SinusoidalPositionalEmbedding.get_embedding(302, 63)
    yield "halves_odd", halves | {"d": 63, "note": exponent + "; first rows are an offset of 2"}, {"table": odd}
    timescales = {"theta": 5000.0, "min_timescale": 2.0, "note": exponent}
    timesfm = TimesFmPositionalEmbedding(TimesFmConfig(hidden_size=64, min_timescale=2, max_timescale=5000))
    yield "halves_timesfm", halves | timescales, {"table": timesfm(300)[0]}
    canary = CanaryPositionalEmbedding(300, 64)(torch.arange(300))
    yield "halves_canary", halves | {"scale": 0.125}, {"table": canary}
    case = "times_omni"
    times = Inputs(case, stored.get(case)).uniform("times", 300)
    yield case, halves | {"steps": 1000.0, "note": exponent}, {
        "times": times, "table": SinusPositionEmbedding(64)(times, scale=1000)
    }  # fmt: skip
    case = "times_pi0"
    times = Inputs(case, stored.get(case)).uniform("times", 300)
    pi0 = PI0Config()
    pi0.dit_config.hidden_size = 64
    meta = {"min_period": pi0.min_period, "max_period": pi0.max_period}
    yield case, {k: v for k, v in halves.items() if k != "theta"} | meta, {
        "times": times, "table": PI0TimestepEmbeddings(pi0)(times)
    }  # fmt: skip
    xlnet = XLNetModel(XLNetConfig(vocab_size=8, d_model=64, n_layer=1, n_head=4, d_inner=8))
    meta = {"layout": "sin half then cos half over positions klen..-qlen", "qlen": 20, "klen": 33, "d": 64}
    yield "xl_relative", meta, {"table": xlnet.relative_positional_encoding(20, 33)[:, 0]}


# ---------------------------------------------------------------- biases


def biases(stored):
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor as bloom
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position
    from transformers.models.falcon.modeling_falcon import build_alibi_tensor as falcon
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
    from transformers.models.swin.modeling_swin import SwinRelativePositionBias
    from transformers.models.t5.modeling_t5 import T5Attention

    note = {"note": "slope*key_index; equal to -slope*(i-j) after softmax"}
    for heads in (1, 2, 8, 12, 16, 40):
        size = {"heads": heads, "n": 17}
        yield f"alibi_bloom_h{heads}", size | note, {"bias": bloom(torch.ones(1, 17), heads, torch.float32)[:, 0]}
        yield f"alibi_mpt_h{heads}", size, {"bias": build_mpt_alibi_tensor(heads, 17).reshape(heads, 17)}
    relative = torch.arange(-3000, 3001)
    for buckets, far in ((32, 128), (64, 256)):
        for both in (True, False):
            bucket = T5Attention._relative_position_bucket(relative, both, buckets, far)
            meta = {"num_buckets": buckets, "max_distance": far, "bidirectional": both, "note": "relative = key - query"}
            case = f"t5_bucket_{buckets}_{far}_{'bi' if both else 'causal'}"
            yield case, meta, {"relative": relative, "bucket": bucket}
    relative = torch.arange(-1500, 1501)
    for size, far in ((256, 512), (32, 128)):
        meta = {"bucket_size": size, "max_position": far, "note": "relative = query - key"}
        bucket = make_log_bucket_position(relative, size, far).long()
        yield f"deberta_bucket_{size}_{far}", meta, {"relative": relative, "bucket": bucket}
    given = Inputs("swin_bias", stored.get("swin_bias"))
    swin = SwinRelativePositionBias(3, (4, 4))
    table = given.normal("table", 49, 3)
    with torch.no_grad():
        swin.relative_position_bias_table.copy_(table)
        bias = swin().reshape(3, 16, 16)
    index = swin.relative_position_index.reshape(-1)
    yield "swin_bias", {"window": 4, "heads": 3}, {"table": table, "index": index, "bias": bias}
    note = {"note": "slopes rounded to bfloat16; Falcon adds it before the 1/sqrt(d) scale"}
    for heads in (8, 12):
        bias = falcon(torch.ones(1, 17), heads, torch.float32)[:, 0]
        yield f"alibi_falcon_h{heads}", {"heads": heads, "n": 17} | note, {"bias": bias}


# ---------------------------------------------------------------- relative_attention


def deberta(given, terms, shared):
    from transformers.models.deberta_v2.configuration_deberta_v2 import DebertaV2Config
    from transformers.models.deberta_v2.modeling_deberta_v2 import DisentangledSelfAttention

    module = DisentangledSelfAttention(
        DebertaV2Config(
            hidden_size=WIDTH, num_attention_heads=HEADS, relative_attention=True, position_buckets=8,
            max_relative_positions=32, pos_att_type=terms, share_att_key=shared,
        )
    ).eval()  # fmt: skip
    weights = given.weights(module)
    x, table = given.normal("x", 24, WIDTH), given.normal("rel_embeddings", 16, WIDTH, scale=0.3)
    mask = torch.ones(1, 1, 24, 24)
    out, probs = first(module(x[None], mask, output_attentions=True, rel_embeddings=table))
    return {"x": x, "rel_embeddings": table, "out": out, "probs": probs, **weights}


def shaw(given):
    from transformers.models.wav2vec2_bert.configuration_wav2vec2_bert import Wav2Vec2BertConfig
    from transformers.models.wav2vec2_bert.modeling_wav2vec2_bert import Wav2Vec2BertSelfAttention

    config = Wav2Vec2BertConfig(
        hidden_size=WIDTH, num_attention_heads=HEADS, position_embeddings_type="relative_key",
        left_max_position_embeddings=6, right_max_position_embeddings=3,
    )  # fmt: skip
    module = Wav2Vec2BertSelfAttention(eager(config)).eval()
    weights = given.weights(module)
    x = given.normal("x", 24, WIDTH)
    out, probs = first(module(x[None], output_attentions=True)[:2])
    return {"x": x, "out": out, "probs": probs, **weights}


def conformer(given):
    from transformers.models.wav2vec2_conformer.configuration_wav2vec2_conformer import Wav2Vec2ConformerConfig
    from transformers.models.wav2vec2_conformer.modeling_wav2vec2_conformer import (
        Wav2Vec2ConformerRelPositionalEmbedding,
        Wav2Vec2ConformerSelfAttention,
    )

    config = Wav2Vec2ConformerConfig(
        hidden_size=WIDTH, num_attention_heads=HEADS, position_embeddings_type="relative", max_source_positions=100
    )
    module = Wav2Vec2ConformerSelfAttention(eager(config)).eval()
    weights = given.weights(module)
    x = given.normal("x", 24, WIDTH)
    table = Wav2Vec2ConformerRelPositionalEmbedding(config)(x[None])
    out, probs = first(module(x[None], relative_position_embeddings=table, output_attentions=True)[:2])
    return {"x": x, "pos_table": table[0], "out": out, "probs": probs, **weights}


def xlnet(given):
    from transformers.models.xlnet.configuration_xlnet import XLNetConfig
    from transformers.models.xlnet.modeling_xlnet import XLNetModel, XLNetRelativeAttention

    config = XLNetConfig(vocab_size=8, d_model=WIDTH, n_layer=1, n_head=HEADS, d_inner=8)
    module = XLNetRelativeAttention(config).eval()
    q, k, v = (given.normal(name, n, HEADS, HEAD_DIM) for name, n in (("q", 24), ("k", 33), ("v", 33)))
    u, vbias = given.normal("u", HEADS, HEAD_DIM, scale=0.3), given.normal("vbias", HEADS, HEAD_DIM, scale=0.3)
    r = XLNetModel(config).relative_positional_encoding(24, 33)[:, 0]
    k_rel = given.normal("k_rel", 57, HEADS, HEAD_DIM)
    with torch.no_grad():
        module.r_w_bias.copy_(u)
        module.r_r_bias.copy_(vbias)
        out, probs = module.rel_attn_core(
            q[:, None], k[:, None], v[:, None], k_rel[:, None], output_attentions=True
        )
    return {
        "q": q, "k": k, "v": v, "k_rel": k_rel, "r": r, "u": u, "vbias": vbias,
        "out": out[:, 0], "probs": probs[:, :, 0],
    }  # fmt: skip


def t5(given, decoder):
    from transformers.models.t5.configuration_t5 import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(d_model=WIDTH, d_kv=HEAD_DIM, num_heads=HEADS, is_decoder=decoder)
    module = T5Attention(eager(config), has_relative_attention_bias=True, layer_idx=0).eval()
    weights = given.weights(module)
    x = given.normal("x", 24, WIDTH)
    mask = torch.full((24, 24), -1e9).triu(1)[None, None] if decoder else None
    out, bias = first(module(x[None], mask=mask)[:2])
    return {"x": x, "out": out, "position_bias": bias, **weights}


def inkling(given, floor):
    """Inkling's attention after its convolutions and norms: the bias, tau and the softmax are its own functions'."""
    from transformers.models.inkling.configuration_inkling import InklingTextConfig
    from transformers.models.inkling.modeling_inkling import InklingAttention

    config = InklingTextConfig(
        hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=HEADS, num_key_value_heads=2, head_dim=HEAD_DIM,
        d_rel=4, rel_extent=9, log_scaling_n_floor=floor, log_scaling_alpha=0.5, layer_types=["hybrid"],
    )  # fmt: skip
    module = InklingAttention(eager(config), layer_idx=0).eval()
    weights = given.weights(module)
    x = given.normal("x", 24, WIDTH)
    seen = {}
    module.q_norm.register_forward_hook(lambda _, __, y: seen.update(q=y[0]))
    module.k_norm.register_forward_hook(lambda _, __, y: seen.update(k=y[0]))
    module.v_sconv.register_forward_hook(lambda _, __, y: seen.update(v=y[0].view(24, 2, HEAD_DIM)))
    module.r_proj.register_forward_hook(lambda _, __, y: seen.update(r=y[0].view(24, HEADS, 4)))
    mask = torch.full((24, 24), torch.finfo(torch.float32).min).triu(1)[None, None]
    out, probs = first(module(x[None], attention_mask=mask))
    return {"x": x, **seen, "out": out, "probs": probs, **weights}


def inkling2(given):
    """A full-attention layer of Inkling 2, likewise; its gate and its sinks, which each token has, are switched off."""
    from transformers.models.inkling2.configuration_inkling2 import Inkling2TextConfig
    from transformers.models.inkling2.modeling_inkling2 import Inkling2FullAttention

    config = Inkling2TextConfig(
        hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=HEADS, num_key_value_heads=2, head_dim=HEAD_DIM,
        d_rel=4, rel_extent=9, log_scaling_n_floor=6, log_scaling_alpha=0.5, layer_types=["hybrid"],
    )  # fmt: skip
    module = Inkling2FullAttention(eager(config), layer_idx=0).eval()
    weights = given.weights(module)
    x = given.normal("x", 24, WIDTH)
    seen = {}
    module.q_l2_clip.register_forward_hook(lambda _, __, y: seen.update(q=y[0]))
    module.k_l2_clip.register_forward_hook(lambda _, __, y: seen.update(k=y[0]))
    module.v_norm.register_forward_hook(lambda _, __, y: seen.update(v=y[0]))
    module.rel_l2_clip.register_forward_hook(lambda _, __, y: seen.update(r=y[0]))
    module.sink_proj.register_forward_hook(lambda _, __, y: torch.full_like(y, -1e30))
    module.gate_proj.register_forward_hook(lambda _, __, y: torch.full_like(y, 1e30))
    mask = torch.full((24, 24), torch.finfo(torch.float32).min).triu(1)[None, None]
    out, probs = first(module(x[None], x[None], x[None], attention_mask=mask, position_ids=torch.arange(24)[None]))
    return {"x": x, **seen, "out": out, "probs": probs, **weights}


def fla_naive(operation):
    """A reference of flash-linear-attention. Its file is loaded alone: the package asks for a GPU's compiler."""
    folder = importlib.util.find_spec("fla").submodule_search_locations[0]
    spec = importlib.util.spec_from_file_location("naive", os.path.join(folder, "ops", operation, "naive.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def forget(given, shape, spread, mean):
    """The Forgetting Transformer's attention and its gradients."""
    tokens, heads, kv_heads, dim = shape
    x = {name: given.normal(name, tokens, count, dim) for name, count in (("q", heads), ("k", kv_heads), ("v", kv_heads))}
    x["gate_logits"] = given.normal("gate_logits", tokens, heads, scale=spread, mean=mean)
    dout = given.normal("dout", tokens, heads, dim)
    # The reference calls .float(): with this it stays in float64.
    with torch.enable_grad(), unittest.mock.patch.object(torch.Tensor, "float", torch.Tensor.double):
        q, k, v, logits = leaves = [t.double()[None].requires_grad_() for t in x.values()]
        log_gates = torch.nn.functional.logsigmoid(logits)
        out = fla_naive("forgetting_attn").naive_forgetting_attn(q, k, v, log_gates)
        out.backward(dout.double()[None])
    grads = {f"d{name}": leaf.grad[0].float() for name, leaf in zip(x, leaves)}
    return {**x, "out": out[0].float(), "dout": dout, **grads}


def language_model(given, model, tied):
    model = model.float().eval()
    weights = given.weights(model, names=lambda key: key)
    ids = given.whole("ids", 64, 24)
    logits = model(ids[None]).logits[0]
    return {"ids": ids, "logits": logits, **{k: v for k, v in weights.items() if k != tied}}


def bloom_lm(given):
    from transformers import BloomConfig, BloomForCausalLM

    config = BloomConfig(vocab_size=64, hidden_size=WIDTH, n_layer=2, n_head=HEADS)
    return language_model(given, BloomForCausalLM(config), "lm_head.weight")


def llama_config():
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=64, hidden_size=WIDTH, intermediate_size=128, num_hidden_layers=2, num_attention_heads=HEADS,
        num_key_value_heads=2,
    )  # fmt: skip


def llama_lm(given):
    from transformers import LlamaForCausalLM

    return language_model(given, LlamaForCausalLM(llama_config()), None)


def module_meta(**more):
    return {"heads": HEADS, "head_dim": HEAD_DIM} | more


def relative_attention(stored):
    def case(name, meta, compute, *arguments):
        return name, meta, compute(Inputs(name, stored.get(name)), *arguments)

    for shared in (True, False):
        for terms in (["c2p", "p2c"], ["c2p"]):
            name = f"deberta_{'share' if shared else 'own'}_{'_'.join(terms)}"
            meta = module_meta(
                position_buckets=8, max_relative_positions=32, pos_att_type=terms, share_att_key=shared
            )
            yield case(name, meta, deberta, terms, shared)
    note = "clip(key-query,-left,right)+left indexes distance_embedding; q.R/sqrt(d) is added to the score"
    yield case("shaw_relative_key", module_meta(left_max=6, right_max=3, note=note), shaw)
    note = "(q+u).k + (q+v).r_{i-j}, sinusoid interleaved, positions n-1..-(n-1)"
    yield case("transformer_xl_conformer", module_meta(note=note), conformer)
    yield case("xlnet_with_memory", module_meta(mem=9, note="bidirectional; u=r_w_bias, v=r_r_bias"), xlnet)
    for name, decoder in (("t5_encoder", False), ("t5_decoder", True)):
        yield case(name, module_meta(scale=1.0, note="no 1/sqrt(d) in T5"), t5, decoder)
    note = "q, k, v as they enter the product; score = tau (q.k/d + r.proj[:, i-j]), 0 <= i-j < rel_extent"
    for name, floor in (("inkling", None), ("inkling_log_scaling", 6)):
        more = {"log_scaling_n_floor": floor, "log_scaling_alpha": 0.5} if floor else {}
        yield case(name, module_meta(**more, note=note), inkling, floor)
    note = "likewise with q.k/sqrt(d); without its gate and its sinks"
    more = {"log_scaling_n_floor": 6, "log_scaling_alpha": 0.5, "scale": HEAD_DIM**-0.5}
    yield case("inkling2", module_meta(**more, note=note), inkling2)
    made_by = f"fla-core {importlib.metadata.version('fla-core')}, ops/forgetting_attn/naive.py in float64"
    note = "score += the sum of log sigmoid(gate_logits) over j+1..i"
    for name, shape, spread, mean in (
        ("forget", (24, 4, 4, 16), 1, 0),
        ("forget_open_grouped", (40, 6, 2, 8), 1, 6),
        ("forget_open_or_shut_one_key_head", (33, 4, 1, 16), 20, 10),
    ):
        meta = {"heads": shape[1], "head_dim": shape[3], "source": made_by, "note": note}
        yield case(name, meta, forget, shape, spread, mean)
    note = "whole tiny BLOOM: ALiBi causal LM, tied output"
    yield case("bloom_lm", module_meta(layers=2, vocab=64, layer_norm_epsilon=1e-05, note=note), bloom_lm)
    meta = {"config": llama_config().to_dict(), "note": "whole tiny Llama: RoPE causal LM with grouped keys"}
    yield case("llama_lm", meta, llama_lm)


BUILDERS = {f.__name__: f for f in (rope_types, rope_layouts, sinusoidal, biases, relative_attention)}


def build(name, stored):
    with torch.no_grad():
        for case, meta, tensors in BUILDERS[name](stored):
            yield case, meta, {field: t.detach().clone().contiguous() for field, t in tensors.items()}
