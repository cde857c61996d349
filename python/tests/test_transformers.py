# SPDX-License-Identifier: MIT
"""posenc.transformers in small models of many architectures, with random weights: all as with eager attention."""

from __future__ import annotations

import copy
import functools
import io
import logging
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import posenc.torch  # noqa: E402
import posenc.transformers as tf  # noqa: E402
from torch import Tensor, nn  # noqa: E402

# float32: both attentions round differently, and the outputs are those of two layers. A wrong mask, position or head
# gives 1e-2 or more.
LOGITS = 2e-5
GRADIENTS = 2e-4
VOCABULARY = 99
DROPOUTS = (
    "activation_dropout", "attention_dropout", "attention_probs_dropout_prob", "attn_pdrop", "dropout", "dropout_rate",
    "embd_pdrop", "hidden_dropout", "hidden_dropout_prob", "resid_dropout", "resid_pdrop",
)  # fmt: skip

SIZES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 128,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
MOE = {"num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
ROPE = {"rope_theta": 10000.0}
MLA = {
    "n_routed_experts": 4,
    "n_group": 1,
    "topk_group": 1,
    "kv_lora_rank": 16,
    "q_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8,
    "v_head_dim": 8,
    "first_k_dense_replace": 1,
    "num_key_value_heads": 4,
    **MOE,
}
SPARSE = {**MLA, "index_n_heads": 2, "index_head_dim": 16, "index_topk": 4}
MROPE = {"rope_type": "default", "mrope_section": [1, 1, 2], **ROPE}
WINDOW = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 5}


@dataclass(frozen=True, eq=False)
class Row:
    """One architecture: its model_type, what its config says beyond SIZES, and what it can do."""

    name: str
    model_type: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    rotations: int = 1  # rotations that become exact
    fused: bool = True  # posenc.torch.rotate replaces the model's function
    packed: bool = True  # position_ids that start again separate sequences
    static: bool = True  # has a static cache
    kind: str = "decoder"


DECODERS = [
    Row("llama"),
    Row(
        "llama-3.1",
        "llama",
        {
            "rope_parameters": {
                "rope_type": "llama3",
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 16,
                **ROPE,
            }
        },
    ),
    Row(
        "llama-yarn",
        "llama",
        {"rope_parameters": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32, **ROPE}},
    ),
    Row("llama-linear", "llama", {"rope_parameters": {"rope_type": "linear", "factor": 4.0, **ROPE}}),
    Row(
        "llama-dynamic",
        "llama",
        {"max_position_embeddings": 8, "rope_parameters": {"rope_type": "dynamic", "factor": 2.0, **ROPE}},
    ),
    Row("mistral", config={"sliding_window": 5}),
    Row("mixtral", config=MOE),
    Row("qwen2"),
    Row("qwen2-window", "qwen2", {"use_sliding_window": True, **WINDOW}),
    Row("qwen2_moe", config={**MOE, "shared_expert_intermediate_size": 16}),
    Row("qwen3", config={"head_dim": 16}),
    Row("qwen3_moe", config={**MOE, "head_dim": 16}),
    Row("gemma", config={"head_dim": 16}),
    Row("gemma2", config={"head_dim": 16, "query_pre_attn_scalar": 16, **WINDOW}),
    Row("gemma3_text", config={"head_dim": 16, "query_pre_attn_scalar": 16, **WINDOW}, rotations=2),
    Row(
        "gpt_oss",
        config={
            **MOE,
            "head_dim": 16,
            **WINDOW,
            "rope_parameters": {
                "rope_type": "yarn",
                "factor": 4.0,
                "beta_fast": 32.0,
                "beta_slow": 1.0,
                "truncate": False,
                "original_max_position_embeddings": 32,
                **ROPE,
            },
        },
    ),
    Row("cohere"),
    Row("cohere2", config=WINDOW),
    Row("olmo"),
    Row("olmo2"),
    Row("olmo3", config=WINDOW, rotations=2),
    Row("olmoe", config=MOE),
    Row("stablelm"),
    Row("glm", config={"head_dim": 8}),
    Row("glm4", config={"head_dim": 8}),
    Row("phi"),
    Row("phi3"),
    Row(
        "phi3-longrope",
        "phi3",
        {
            "original_max_position_embeddings": 8,
            "max_position_embeddings": 64,
            "rope_parameters": {
                "rope_type": "longrope",
                "short_factor": [1.0, 1.1, 1.2, 1.3],
                "long_factor": [1.0, 2.0, 4.0, 8.0],
                "original_max_position_embeddings": 8,
                **ROPE,
            },
        },
    ),
    Row("gpt_neox"),
    Row("gpt_neox_japanese", config={"intermediate_multiple_size": 2}),
    Row("gptj", config={"rotary_dim": 4, "n_inner": 48}, rotations=0),
    Row("codegen", config={"rotary_dim": 4, "n_inner": 48}, rotations=0),
    Row(
        "gpt_neo",
        config={"num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]], "window_size": 5},
        rotations=0,
        fused=False,
        static=False,
    ),
    Row("gpt2", rotations=0, fused=False),
    Row("opt", config={"ffn_dim": 48, "word_embed_proj_dim": 32}, rotations=0, fused=False),
    Row("bloom", rotations=0, fused=False, packed=False),
    Row(
        "mpt",
        config={"d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 128},
        rotations=0,
        fused=False,
        packed=False,
    ),
    Row("falcon", config={"alibi": False}),
    Row(
        "falcon-alibi",
        "falcon",
        {"alibi": True, "new_decoder_architecture": False, "multi_query": False},
        rotations=0,
        fused=False,
        packed=False,
        static=False,
    ),
    Row("persimmon"),
    Row("starcoder2", config={"sliding_window": 5}),
    Row("granite"),
    Row("granitemoe", config=MOE),
    Row("deepseek_v2", config=MLA),
    Row("deepseek_v3", config=MLA),
    Row("helium", config={"head_dim": 8}),
    Row("nemotron"),
    Row("ernie4_5", config={"head_dim": 8}),
    Row("smollm3"),
    Row("exaone4", config=WINDOW),
    Row("arcee"),
    Row("apertus"),
    Row("seed_oss", config={"head_dim": 8}),
    Row("phimoe", config=MOE),
    Row("biogpt", rotations=0, fused=False),
    Row(
        "llama4_text",
        config={**MOE, "head_dim": 8, "intermediate_size_mlp": 48, "attention_chunk_size": 5, "no_rope_layers": [1, 0]},
    ),
    Row("hunyuan_v1_dense", config={"head_dim": 8}),
    Row("nanochat"),
    Row("deepseek_v32", config=SPARSE, fused=False),
    Row(
        "deepseek_v4",
        config={
            **SPARSE,
            "head_dim": 16,
            "partial_rotary_factor": 0.5,
            "index_head_dim": 8,
            "o_lora_rank": 16,
            "o_groups": 2,
            "sliding_window": 6,
            "layer_types": ["compressed_sparse_attention", "sliding_attention"],
        },
        rotations=4,
        static=False,
    ),
    Row("glm4_moe", config={**MLA, "head_dim": 8}),
    Row("hy_v4", config=SPARSE),
    Row("minimax_m2", config={**MOE, "head_dim": 8}),
    Row("ministral3", config={"head_dim": 8}),
    Row("gemma4_unified_text", config={"head_dim": 16, "global_head_dim": 16, **WINDOW}, rotations=2),
    Row("diffllama"),
    Row("doge"),
    Row("bitnet"),
    Row("jetmoe", config={"head_dim": 8, "kv_channels": 8, **MOE}),
    Row("modernbert-decoder", config={"global_attn_every_n_layers": 2, "local_attention": 8}, rotations=2),
]
ENCODERS = [
    Row("bert", rotations=0, fused=False, kind="encoder"),
    Row("roberta", rotations=0, fused=False, kind="encoder"),
    Row("modernbert", config={"global_attn_every_n_layers": 2, "local_attention": 8}, rotations=2, kind="encoder"),
    Row("esm", config={"position_embedding_type": "rotary", "mask_token_id": 5}, kind="encoder"),
    Row(
        "deberta-v2",
        config={
            "relative_attention": True,
            "position_buckets": 8,
            "max_relative_positions": 16,
            "pos_att_type": ["c2p", "p2c"],
            "share_att_key": True,
            "norm_rel_ebd": "layer_norm",
        },
        rotations=0,
        fused=False,
        kind="encoder",
    ),
    Row(
        "deberta-v2-own",
        "deberta-v2",
        {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
        rotations=0,
        fused=False,
        kind="encoder",
    ),
    Row(
        "xlnet",
        config={"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48, "max_position_embeddings": None},
        rotations=0,
        fused=False,
        kind="encoder",
    ),
    Row("roformer", rotations=2, fused=False, kind="encoder"),
    Row("nomic_bert", kind="encoder"),
    Row("jina_embeddings_v3", kind="encoder"),
    Row("albert", config={"embedding_size": 32}, rotations=0, fused=False, kind="encoder"),
    Row("mpnet", rotations=0, fused=False, kind="encoder"),
    Row("electra", config={"embedding_size": 32}, rotations=0, fused=False, kind="encoder"),
]
T5 = {"d_model": 32, "d_ff": 48, "d_kv": 8, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}
SEQ2SEQ = [
    Row("t5", config=T5, rotations=0, fused=False, kind="seq2seq"),
    Row("mt5", config=T5, rotations=0, fused=False, kind="seq2seq"),
    Row("umt5", config=T5, rotations=0, fused=False, kind="seq2seq"),
    Row(
        "bart",
        config={
            "d_model": 32,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 48,
            "decoder_ffn_dim": 48,
            "decoder_start_token_id": 2,
        },
        rotations=0,
        fused=False,
        kind="seq2seq",
    ),
]
AXES = [  # three positions per token
    Row("qwen2_vl_text", config={"rope_parameters": MROPE}, kind="axes"),
    Row("qwen2_5_vl_text", config={"rope_parameters": MROPE}, kind="axes"),
    Row("qwen3_vl_text", config={"head_dim": 8, "rope_parameters": {**MROPE, "mrope_section": [2, 1, 1]}}, kind="axes"),
    Row("glm4v_text", config={"rope_parameters": MROPE}, kind="axes"),
]
IMAGE = {"image_size": 16, "patch_size": 4}
IMAGES = [
    Row("vit", config=IMAGE, rotations=0, fused=False, kind="image"),
    Row("clip_vision_model", config=IMAGE, rotations=0, fused=False, kind="image"),
    Row("siglip_vision_model", config=IMAGE, rotations=0, fused=False, kind="image"),
    Row("dinov2", config=IMAGE, rotations=0, fused=False, kind="image"),
]
ROWS = DECODERS + ENCODERS + SEQ2SEQ + AXES + IMAGES

# What posenc.transformers does not do, by model_type.
REFUSED = {  # attention without a hook, and without a row of posenc's
    "big_bird": "attends to blocks that it chooses at random",
    "cpmant": "adds a bias that is trained per pair of segments",
    "deberta": "is not DeBERTa-v2: it projects queries, keys and values together and may mix heads",
    "megatron-bert": "has attention of its own and no encoding inside it",
    "openai-gpt": "has attention of its own and no encoding inside it",
    "rembert": "has attention of its own and no encoding inside it",
    "xglm": "has attention of its own and no encoding inside it",
    "xlm": "has attention of its own and no encoding inside it",
}
KEPT = {  # posenc's attention, and the model's own rotation
    "beam": "its full layers scale queries by a power of the position, which no spec says",
}
# Row.packed is False where a model has no position_ids (BLOOM, MPT, Falcon with ALiBi). Row.static is False where the
# model's own attention does not work with a static cache: GPT-Neo counts its window from the end of the cache,
# Falcon's ALiBi takes no mask of queries and keys, and DeepSeek-V4's compressed layers have no static cache.
CLASSES = {
    "decoder": transformers.AutoModelForCausalLM,
    "encoder": transformers.AutoModel,
    "seq2seq": transformers.AutoModelForSeq2SeqLM,
    "axes": transformers.AutoModel,
    "image": transformers.AutoModel,
}


def known(values: dict[str, Any]) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


@functools.cache
def built(row: Row) -> Any:
    """A model with weights large enough that attention is far from uniform."""
    torch.manual_seed(7)
    config = transformers.AutoConfig.for_model(row.model_type or row.name, **known({**SIZES, **row.config}))
    for name in DROPOUTS:
        if hasattr(config, name):
            setattr(config, name, 0.0)
    model = CLASSES[row.kind].from_config(config, attn_implementation=own_attention(row))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not parameter.requires_grad:  # a table of positions
                continue
            if parameter.dim() > 1:
                parameter.copy_(torch.randn_like(parameter) * 0.25)
            elif "sinks" in name or "bias" in name:
                parameter.copy_(torch.randn_like(parameter) * 0.5)
    return model.eval()


def in_bfloat16(row: Row) -> Any:
    """The same model as it is loaded with dtype=torch.bfloat16: tables of frequencies stay float32."""
    config = copy.deepcopy(built(row).config)
    model = CLASSES[row.kind].from_config(config, dtype=torch.bfloat16, attn_implementation=own_attention(row))
    model.load_state_dict(built(row).state_dict())
    return model.eval()


def own_attention(row: Row) -> str:
    return "sdpa" if row.name == "falcon-alibi" else "eager"


@contextmanager
def enabled(model: Any, **options: Any) -> Iterator[tf.Enabled]:
    state = tf.enable(model, **options)
    try:
        yield state
    finally:
        tf.disable(model)


def batch_of(row: Row) -> dict[str, Tensor]:
    """Two sequences, the first with padding: on the left for decoders."""
    torch.manual_seed(3)
    if row.kind == "image":
        return {"pixel_values": torch.randn(2, 3, 16, 16)}
    ids = torch.randint(3, VOCABULARY, (2, 11))
    mask = torch.ones_like(ids)
    if row.kind in ("decoder", "axes"):
        mask[0, :4] = 0
    else:
        mask[0, 7:] = 0
    batch = {"input_ids": ids * mask, "attention_mask": mask}
    if row.kind == "axes":
        steps = torch.arange(11).expand(2, 11)
        batch["position_ids"] = torch.stack((steps, steps // 2, steps * 3 % 7))
    if row.kind == "seq2seq":
        batch["decoder_input_ids"] = torch.randint(3, VOCABULARY, (2, 6))
    return batch


def output_of(model: Any, batch: dict[str, Any]) -> Tensor:
    out = model(**batch)
    return out.logits if "logits" in out else out.last_hidden_state


def seen(row: Row, values: Tensor, batch: dict[str, Any]) -> Tensor:
    """The values of tokens that are not padding."""
    if "attention_mask" not in batch or row.kind == "seq2seq":
        return values
    return values[batch["attention_mask"].bool()]


def loss_and_gradients(model: Any, row: Row, batch: dict[str, Any]) -> tuple[Tensor, dict[str, Tensor]]:
    """Outputs of a batch, and the gradient of a weighted sum of them for every parameter."""
    model.zero_grad()
    values = seen(row, output_of(model, batch), batch)
    weights = torch.linspace(-1, 1, values.numel()).view_as(values)
    (values * weights).sum().backward()
    gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    return values.detach(), gradients


def assert_same(ours: Tensor, theirs: Tensor, tolerance: float, what: str = "") -> None:
    largest = theirs.abs().max().clamp_min(1e-6)
    difference = float((ours - theirs).abs().max() / largest)
    assert difference <= tolerance, f"{what}: {difference:.2e} of the largest value, more than {tolerance:.0e}"


def assert_same_gradients(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> None:
    assert ours.keys() == theirs.keys()
    largest = max(float(gradient.abs().max()) for gradient in theirs.values())
    for name, gradient in theirs.items():
        difference = float((ours[name] - gradient).abs().max())
        assert difference <= GRADIENTS * max(float(gradient.abs().max()), 1e-3 * largest), name


def by_name(rows: list[Row]) -> Callable[..., Any]:
    return pytest.mark.parametrize("row", rows, ids=[row.name for row in rows])


@by_name(ROWS)
def test_outputs_and_gradients_equal_eager_with_padding(row: Row) -> None:
    model, batch = built(row), batch_of(row)
    theirs = loss_and_gradients(model, row, batch)
    with enabled(model) as state:
        ours = loss_and_gradients(model, row, batch)
    assert_same(ours[0], theirs[0], LOGITS, "outputs")
    assert_same_gradients(ours[1], theirs[1])
    assert state.difference is not None and state.difference <= LOGITS


@by_name([row for row in ROWS if row.name in ("llama", "bloom", "falcon-alibi", "bert", "deberta-v2", "mpnet")])
def test_padding_between_tokens_equals_eager(row: Row) -> None:
    model, batch = built(row), batch_of(row)
    batch["attention_mask"] = torch.tensor([[1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1], [1] * 11])
    with torch.no_grad():
        theirs = seen(row, output_of(model, batch), batch)
        with enabled(model):
            ours = seen(row, output_of(model, batch), batch)
    assert_same(ours, theirs, LOGITS)


@by_name([row for row in ROWS if row.rotations or row.fused])
def test_every_rotation_becomes_exact(row: Row) -> None:
    model = built(row)
    with enabled(model) as state, torch.no_grad():
        output_of(model, batch_of(row))
        assert not state.kept
        assert len(state.exact) == row.rotations
        if row.fused:
            assert state.rotary.verdicts and None not in state.rotary.verdicts.values()


@by_name([row for row in DECODERS if row.packed])
def test_packed_sequences_equal_eager(row: Row) -> None:
    model = built(row)
    torch.manual_seed(5)
    places = torch.tensor([[*range(7), *range(5)]])
    packed = {"input_ids": torch.randint(3, VOCABULARY, (1, 12)), "position_ids": places}
    with torch.no_grad():
        theirs = output_of(model, {**packed, "use_cache": False})
        with enabled(model):
            ours = output_of(model, {**packed, "use_cache": False})
    assert_same(ours, theirs, LOGITS)


def generated(model: Any, batch: dict[str, Any], **options: Any) -> Any:
    return model.generate(
        **batch, max_new_tokens=6, min_new_tokens=6, do_sample=False, output_logits=True, return_dict_in_generate=True,
        disable_compile=True, **options,
    )  # fmt: skip


@by_name(DECODERS + SEQ2SEQ)
def test_generate_with_a_dynamic_cache_equals_eager(row: Row) -> None:
    assert_same_generation(row)


@by_name([row for row in DECODERS if row.static])
def test_generate_with_a_static_cache_equals_eager(row: Row) -> None:
    assert_same_generation(row, cache_implementation="static")


def assert_same_generation(row: Row, **options: Any) -> None:
    model, batch = built(row), batch_of(row)
    batch.pop("decoder_input_ids", None)
    theirs = generated(copy.deepcopy(model), batch, **options)  # a dynamic scaling remembers the longest sequence
    with enabled(model):
        ours = generated(model, batch, **options)
    assert torch.equal(ours.sequences, theirs.sequences)
    for step, (a, b) in enumerate(zip(ours.logits, theirs.logits, strict=True)):
        assert_same(a, b, LOGITS, f"step {step}")


# ---------------------------------------------------------------- caches


IN_PARTS = ("llama", "mistral", "gemma2", "gpt_oss", "bloom", "mpt", "falcon", "gptj")


@by_name([row for row in DECODERS if row.name in IN_PARTS])
def test_a_prompt_in_two_parts_equals_eager(row: Row) -> None:
    model, batch = built(row), batch_of(row)
    with torch.no_grad():
        theirs = in_two_parts(model, batch)
        with enabled(model, compare=False):
            ours = in_two_parts(model, batch)
    assert_same(ours, theirs, LOGITS)


def in_two_parts(model: Any, batch: dict[str, Tensor]) -> Tensor:
    """The logits of the last five tokens, computed after a cache holds the others."""
    ids, mask = batch["input_ids"], batch["attention_mask"]
    places = (mask.cumsum(-1) - 1).clamp_min(0)
    takes = "position_ids" in model.forward.__code__.co_varnames or hasattr(model.config, "rope_parameters")
    first = {"position_ids": places[:, :6]} if takes else {}
    cache = model(input_ids=ids[:, :6], attention_mask=mask[:, :6], use_cache=True, **first).past_key_values
    rest = {"position_ids": places[:, 6:]} if takes else {}
    return model(input_ids=ids[:, 6:], attention_mask=mask, past_key_values=cache, use_cache=True, **rest).logits


# ---------------------------------------------------------------- enable and disable

LLAMA = DECODERS[0]
NAMED = {row.name: row for row in ROWS}


def test_the_first_batch_says_the_difference(caplog: pytest.LogCaptureFixture) -> None:
    model = built(LLAMA)
    with caplog.at_level(logging.INFO, "posenc.transformers"), enabled(model) as state:
        assert state.difference is None
        output_of(model, batch_of(LLAMA))
        output_of(model, batch_of(LLAMA))
    assert state.difference is not None and 0 < state.difference < LOGITS
    assert [f"{state.difference:.2e}" in record.getMessage() for record in caplog.records] == [True]


def test_a_wrong_attention_is_an_error_at_the_first_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    model, right = built(LLAMA), posenc.torch.attention
    monkeypatch.setattr(posenc.torch, "attention", lambda *args, **named: right(*args, **named) * 1.01)
    with enabled(model), pytest.raises(RuntimeError, match="differs from its own attention"):
        output_of(model, batch_of(LLAMA))


def test_a_nan_is_an_error_at_the_first_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    model, right = built(LLAMA), posenc.torch.attention
    monkeypatch.setattr(posenc.torch, "attention", lambda *args, **named: right(*args, **named) * torch.nan)
    with enabled(model), pytest.raises(RuntimeError, match="nan"):
        output_of(model, batch_of(LLAMA))


def traces(model: nn.Module) -> list[Any]:
    """Everything by which posenc could be seen in a model."""
    seen_in = [sorted(module.__dict__) for module in model.modules()]
    hooks = [len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules()]
    files = {sys.modules[type(module).__module__] for module in model.modules()}
    functions = sorted((file.__name__, name, id(value)) for file in files for name, value in vars(file).items())
    configs = [module.config._attn_implementation for module in model.modules() if hasattr(module, "config")]
    return [seen_in, hooks, functions, configs]


PATCHED = ("llama", "gemma3_text", "gptj", "bloom", "mpt", "falcon", "deberta-v2", "xlnet", "mpnet", "roformer", "t5")


@by_name([NAMED[name] for name in PATCHED])
def test_disable_undoes_everything(row: Row) -> None:
    model, batch = built(row), batch_of(row)
    with torch.no_grad():
        before = output_of(model, batch)
        found = traces(model)
        with enabled(model):
            output_of(model, batch)
            assert traces(model) != found
        assert traces(model) == found
        assert torch.equal(output_of(model, batch), before)


def test_another_model_of_the_same_architecture_is_not_changed() -> None:
    model, other, batch = built(LLAMA), copy.deepcopy(built(LLAMA)), batch_of(LLAMA)
    with torch.no_grad():
        before = output_of(other, batch)
        with enabled(model):
            output_of(model, batch)
            assert torch.equal(output_of(other, batch), before)


def test_two_models_are_enabled_and_disabled_on_their_own() -> None:
    one, two, batch = built(LLAMA), copy.deepcopy(built(LLAMA)), batch_of(LLAMA)
    with torch.no_grad():
        before, found = output_of(one, batch), traces(one)
        tf.enable(one)
        tf.enable(two)
        tf.disable(one)
        assert torch.equal(output_of(one, batch), before)
        output_of(two, batch)
        tf.disable(two)
    assert traces(one) == found


def test_enable_twice_and_disable_twice_are_errors() -> None:
    model = built(LLAMA)
    with enabled(model), pytest.raises(ValueError, match="already enabled"):
        tf.enable(model)
    with pytest.raises(ValueError, match="not enabled"):
        tf.disable(model)


COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
    "torch.save": lambda model: torch.save(model, io.BytesIO()),
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=list(COPIES))
@by_name([LLAMA, NAMED["bloom"]])
def test_an_enabled_model_cannot_be_copied(row: Row, copied: Callable[[Any], Any]) -> None:
    model = built(row)
    with enabled(model), pytest.raises(TypeError, match=r"cannot be copied or pickled; call disable\(model\)"):
        copied(model)


@pytest.mark.parametrize("model", [None, nn.Linear(2, 2)], ids=["None", "Linear"])
def test_what_is_no_model_is_refused(model: Any) -> None:
    with pytest.raises(TypeError, match=f"got a {type(model).__name__}; needs a model of transformers"):
        tf.enable(model)
    with pytest.raises(ValueError, match=f"not enabled in this {type(model).__name__}"):
        tf.disable(model)


def test_of_two_models_with_one_config_the_second_is_refused() -> None:
    one, batch = built(LLAMA), batch_of(LLAMA)
    two = type(one)(one.config).eval()
    with torch.no_grad():
        before = output_of(two, batch)
        with enabled(one):
            with pytest.raises(ValueError, match="same config object"):
                tf.enable(two)
            ours = output_of(two, batch)  # by posenc's attention, since the config says so
            assert_same(seen(LLAMA, ours, batch), seen(LLAMA, before, batch), LOGITS)
        with enabled(two) as state:
            output_of(two, batch)
            assert state.difference is not None
        assert torch.equal(output_of(two, batch), before)


@by_name([Row(name, config={"is_decoder": True}) for name in REFUSED if name != "deberta"])
def test_a_model_without_a_hook_is_refused(row: Row) -> None:
    with pytest.raises(ValueError, match="computes its attention itself"):
        tf.enable(built(row))


@by_name([Row(name) for name in KEPT])
def test_a_rotation_that_no_spec_says_is_kept_and_named(row: Row) -> None:
    model, batch = built(row), batch_of(row)
    with torch.no_grad():
        theirs = seen(row, output_of(model, batch), batch)
        with enabled(model) as state:
            ours = seen(row, output_of(model, batch), batch)
    assert_same(ours, theirs, LOGITS)
    assert not state.exact and all(state.kept.values())


def test_the_rotation_can_be_left_to_the_model() -> None:
    model = built(LLAMA)
    with enabled(model, rotary=False) as state:
        output_of(model, batch_of(LLAMA))
    assert not state.exact and state.difference is not None


# ---------------------------------------------------------------- what is exact


def test_tables_are_exact_at_position_one_million() -> None:
    model = built(LLAMA)
    rotary = model.model.rotary_emb
    places = torch.arange(10**6, 10**6 + 64)[None]
    angles = places[0].double()[:, None] * 10000.0 ** (-torch.arange(0, 8, 2).double() / 8)
    truth = torch.cat((angles, angles), -1).cos()
    own = rotary(torch.zeros(1), places)[0][0].double()
    with enabled(model):
        exact = rotary(torch.zeros(1), places)[0][0].double()
    assert (exact - truth).abs().max() < 1e-7  # one rounding to float32
    assert (own - truth).abs().max() > 1e-3  # float32 angles


def test_bfloat16_rotation_is_rounded_once() -> None:
    model = in_bfloat16(LLAMA)
    file = sys.modules[type(model).__module__]
    torch.manual_seed(1)
    q, k = torch.randn(1, 4, 16, 8).bfloat16(), torch.randn(1, 2, 16, 8).bfloat16()
    places = torch.arange(16)[None]
    rope = posenc.Encoding("rope", heads=4, head_dim=8)
    truth = posenc.torch.rotate(q.float(), rope, places, layout="bhtd").bfloat16()
    with enabled(model):
        ours, _ = file.apply_rotary_pos_emb(q, k, *model.model.rotary_emb(q, places))
    assert torch.equal(ours, truth)


def test_frequencies_in_bfloat16_are_kept_and_named() -> None:
    model = copy.deepcopy(built(LLAMA)).bfloat16()
    with enabled(model, compare=False) as state:
        model.model.rotary_emb(torch.zeros(1).bfloat16(), torch.arange(4)[None])
    assert "bfloat16" in state.kept["model.rotary_emb"]


@by_name([NAMED[name] for name in ("llama", "gemma2", "gpt_oss", "bloom", "t5", "deberta-v2")])
def test_bfloat16_models_run(row: Row) -> None:
    model, batch = in_bfloat16(row), batch_of(row)
    # oneDNN's bfloat16 products use instructions that some virtual machines announce and do not have
    with torch.backends.mkldnn.flags(enabled=False), enabled(model) as state:
        assert torch.isfinite(loss_and_gradients(model, row, batch)[0]).all()
    assert state.difference is not None and state.difference <= state.tolerance


@by_name([NAMED[name] for name in ("llama", "mistral", "gemma3_text", "bloom", "mpt")])
def test_long_sequences_equal_eager(row: Row) -> None:
    model = built(row)  # 120 tokens: several tiles of fused attention
    torch.manual_seed(2)
    batch = {"input_ids": torch.randint(3, VOCABULARY, (2, 120))}
    theirs = loss_and_gradients(model, row, batch)
    with enabled(model):
        ours = loss_and_gradients(model, row, batch)
    assert_same(ours[0], theirs[0], LOGITS)
    assert_same_gradients(ours[1], theirs[1])


def test_sinks_have_a_gradient() -> None:
    row = NAMED["gpt_oss"]
    model = built(row)
    with enabled(model):
        gradients = loss_and_gradients(model, row, batch_of(row))[1]
    assert all(gradients[f"model.layers.{layer}.self_attn.sinks"].abs().max() > 0 for layer in range(2))


def test_the_bias_table_of_t5_has_a_gradient() -> None:
    row = NAMED["t5"]
    model = built(row)
    with enabled(model):
        gradients = loss_and_gradients(model, row, batch_of(row))[1]
    tables = [gradient for name, gradient in gradients.items() if "relative_attention_bias" in name]
    assert len(tables) == 2 and all(table.abs().max() > 0 for table in tables)


# ---------------------------------------------------------------- training


@by_name([NAMED[name] for name in ("llama", "gptj", "bloom")])
def test_gradient_checkpointing_equals_eager(row: Row) -> None:
    model, batch = copy.deepcopy(built(row)), batch_of(row)
    theirs = loss_and_gradients(model, row, batch)
    model.train()
    model.gradient_checkpointing_enable()
    with enabled(model):
        ours = loss_and_gradients(model, row, batch)
    assert_same(ours[0], theirs[0], LOGITS)
    assert_same_gradients(ours[1], theirs[1])


def test_a_compiled_model_has_one_graph_and_equals_eager() -> None:
    model, batch = copy.deepcopy(built(LLAMA)), batch_of(LLAMA)
    with torch.no_grad():
        theirs = seen(LLAMA, output_of(model, batch), batch)
        with enabled(model):
            output_of(model, batch)
            ours = torch.compile(model, backend="aot_eager", fullgraph=True)(**batch, use_cache=False).logits
    assert_same(seen(LLAMA, ours, batch), theirs, LOGITS)


@by_name([NAMED[name] for name in ("llama", "gpt2", "bloom", "mpnet", "t5")])
def test_dropout_is_left_to_the_model(row: Row) -> None:
    model, batch = copy.deepcopy(built(row)).train(), batch_of(row)
    for module in model.modules():
        for name, value in vars(module).items():
            if "dropout" in name and isinstance(value, float):
                setattr(module, name, 0.3)
        if isinstance(module, nn.Dropout):
            module.p = 0.3
    torch.manual_seed(0)
    theirs = output_of(model, batch)
    with enabled(model):
        output_of(model, batch)
        torch.manual_seed(0)
        ours = output_of(model, batch)
    assert_same(seen(row, ours, batch), seen(row, theirs, batch), LOGITS)


@by_name([NAMED[name] for name in ("llama", "bert", "t5")])
def test_attention_weights_are_those_of_the_model(row: Row) -> None:
    model, batch = built(row), batch_of(row)
    with torch.no_grad():
        theirs = model(**batch, output_attentions=True)
        with enabled(model, compare=False):
            ours = model(**batch, output_attentions=True)
    name = "decoder_attentions" if row.kind == "seq2seq" else "attentions"
    for a, b in zip(ours[name], theirs[name], strict=True):
        assert_same(a[1], b[1], LOGITS)  # the second sequence has no padding


# ---------------------------------------------------------------- scalings


def test_a_spec_becomes_a_rope_type() -> None:
    spec = "rope:theta=10000,scaling=ntk,alpha=8"
    tf.register_scaling("posenc_ntk", spec)
    try:
        row = Row("llama-ntk", "llama", {"rope_parameters": {"rope_type": "posenc_ntk", **ROPE}})
        model, batch = built(row), batch_of(row)
        theirs = loss_and_gradients(model, row, batch)
        with enabled(model) as state:
            ours = loss_and_gradients(model, row, batch)
    finally:
        del transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS["posenc_ntk"]
    frequencies = [pair["frequency"] for pair in posenc.Encoding(spec, heads=4, head_dim=8).pairs()]
    assert_same(model.model.rotary_emb.inv_freq.double(), torch.tensor(frequencies, dtype=torch.float64), 1e-7)
    assert_same(ours[0], theirs[0], LOGITS)
    assert_same_gradients(ours[1], theirs[1])
    assert len(state.exact) == 1
