# SPDX-License-Identifier: MIT
"""posenc.check(model) with tiny random models of transformers: right as they are, named when something is altered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import posenc  # noqa: E402
from transformers import AutoModel  # noqa: E402
from transformers.models.auto.configuration_auto import CONFIG_MAPPING  # noqa: E402

SIZES = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 99}
GROUPED = SIZES | {"num_key_value_heads": 2}
LATENT = {"qk_rope_head_dim": 16, "qk_nope_head_dim": 16, "v_head_dim": 16, "kv_lora_rank": 16, "q_lora_rank": 16}
EXPERTS = {"moe_intermediate_size": 32, "n_routed_experts": 4, "num_experts_per_tok": 2, "first_k_dense_replace": 2}


def rope(kind: str, theta: float = 1e4, **keys: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_type": kind, "rope_theta": theta} | keys}


YARN = rope("yarn", factor=4.0, original_max_position_embeddings=2048)
DYNAMIC = rope("dynamic", factor=2.0) | {"max_position_embeddings": 2048}
LONG = {"short_factor": [1.0 + n / 8 for n in range(8)], "long_factor": [2.0 + n for n in range(8)]}

DEEPSEEK_V4 = GROUPED | {
    "head_dim": 16,
    "num_key_value_heads": 1,
    "layer_types": ["sliding_attention", "compressed_sparse_attention"],
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
}

# name: model type, arguments of its config
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "bloom": ("bloom", {"hidden_size": 64, "n_head": 4, "n_layer": 2, "vocab_size": 99}),
    "deepseek_v3": ("deepseek_v3", GROUPED | LATENT | EXPERTS | {"n_group": 1, "topk_group": 1}),
    "deepseek_v4": ("deepseek_v4", DEEPSEEK_V4),
    "ernie4_5, which tiles its tables anew": ("ernie4_5", GROUPED),
    "falcon": ("falcon", SIZES),
    "falcon with alibi": ("falcon", SIZES | {"alibi": True}),
    "gemma3": ("gemma3_text", GROUPED | {"num_hidden_layers": 6, "head_dim": 16}),
    "gemma4_vision": ("gemma4_vision", GROUPED | {"head_dim": 16, "num_key_value_heads": 4}),
    "gpt_neox": ("gpt_neox", SIZES),
    "gptj": ("gptj", {"n_embd": 64, "n_head": 4, "n_layer": 2, "vocab_size": 99, "rotary_dim": 8}),
    "llama": ("llama", GROUPED | rope("default", 5e5)),
    "llama, dynamic": ("llama", GROUPED | DYNAMIC),
    "llama, longrope": ("phi3", GROUPED | {"pad_token_id": 0} | rope("longrope", **LONG)),
    "llama, yarn": ("llama", GROUPED | YARN),
    "llama4": ("llama4_text", GROUPED | {"head_dim": 16, "intermediate_size_mlp": 64, "num_local_experts": 2}),
    "mpt": ("mpt", {"d_model": 96, "n_heads": 6, "n_layers": 2, "vocab_size": 99, "max_seq_len": 64}),
    "nanochat, which rotates the other way": ("nanochat", GROUPED),
    "phi": ("phi", GROUPED),
    "qwen2_vl": (
        "qwen2_vl",
        {
            "text_config": GROUPED | rope("default", 1e6, mrope_section=[2, 3, 3]),
            "vision_config": {"depth": 2, "embed_dim": 64, "num_heads": 4, "hidden_size": 64},
        },
    ),
    "t5": ("t5", {"d_model": 64, "d_kv": 16, "d_ff": 64, "num_heads": 4, "num_layers": 2, "vocab_size": 99}),
}


def make(name: str) -> Any:
    model_type, arguments = MODELS[name]
    torch.manual_seed(0)
    return AutoModel.from_config(CONFIG_MAPPING[model_type](**arguments)).eval()


@pytest.mark.parametrize("name", MODELS)
def test_a_model_as_it_is_is_right(name: str) -> None:
    found = posenc.check(make(name))
    assert found["verdict"] == "ok", found
    assert found["layers"] and all(row["verdict"] == "ok" for row in found["layers"])


@pytest.mark.parametrize("name", ("deepseek_v3", "falcon", "gemma3", "gptj", "llama", "llama4", "phi", "qwen2_vl"))
def test_the_rotation_itself_is_compared_and_not_only_its_tables(name: str) -> None:
    assert {row["what"] for row in posenc.check(make(name))["layers"]} == {"rotation"}


def test_dynamic_scaling_is_compared_past_the_trained_length_too() -> None:
    assert {row["length"] for row in posenc.check(make("llama, dynamic"))["layers"]} == {None, 4096}


# ---------------------------------------------------------------- altered models


def plain_frequencies(model: Any) -> None:
    model.rotary_emb.inv_freq = 1e4 ** (-torch.arange(0, 16, 2) / 16)


def no_scaling(model: Any) -> None:
    plain_frequencies(model)
    model.rotary_emb.attention_scaling = 1.0


def no_factor(model: Any) -> None:
    model.rotary_emb.attention_scaling = 1.0


def not_dynamic(model: Any) -> None:
    model.rotary_emb.rope_type = "default"


def bfloat16(model: Any) -> None:
    model.to(torch.bfloat16)


def near_buckets(model: Any) -> None:
    model.encoder.block[0].layer[0].SelfAttention.relative_attention_max_distance = 20


def causal_buckets(model: Any) -> None:
    model.encoder.block[0].layer[0].SelfAttention.is_decoder = True


ALTERED: tuple[tuple[str, Callable[[Any], None], str], ...] = (
    ("llama", plain_frequencies, "base-defaulted"),
    ("llama, yarn", no_scaling, "scaling-ignored"),
    ("llama, yarn", no_factor, "attention-factor-missing"),
    ("llama, dynamic", not_dynamic, "scaling-ignored"),
    ("llama", bfloat16, "frequencies-bfloat16"),
    ("t5", near_buckets, "distance-20"),
    ("t5", causal_buckets, "direction-causal"),
)


@pytest.mark.parametrize(("name", "alter", "bug"), ALTERED)
def test_an_altered_model_is_named(name: str, alter: Callable[[Any], None], bug: str) -> None:
    model = make(name)
    alter(model)
    found = posenc.check(model)
    assert (found["verdict"], found["bug"]) == ("mismatch", bug), found
    assert found["why"]


def adjacent(x: Any) -> Any:
    """The other element of each adjacent pair, the first with its sign changed."""
    return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)


def half(x: Any) -> Any:
    """The other element of each pair (n, n + half), the first with its sign changed."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def backwards(x: Any) -> Any:
    return -half(x)


def tiled_by_pairs(other: Callable[[Any], Any]) -> Callable[..., Any]:
    """A rotation with each cos and sin twice in a row, as adjacent pairs need them."""

    def apply(q: Any, k: Any, cos: Any, sin: Any, unsqueeze_dim: int = 1) -> Any:
        width = cos.shape[-1] // 2
        cos, sin = (t[..., :width].repeat_interleave(2, dim=-1).unsqueeze(unsqueeze_dim) for t in (cos, sin))
        return q * cos + other(q) * sin, k * cos + other(k) * sin

    return apply


REPLACED = (
    ("apply_rotary_pos_emb", tiled_by_pairs(adjacent), "pair-layout"),
    ("apply_rotary_pos_emb", tiled_by_pairs(half), "mixed-layout"),
    ("rotate_half", backwards, "opposite-sign"),
)


@pytest.mark.parametrize(("function", "other", "bug"), REPLACED)
def test_another_rotation_in_the_modeling_file_is_named(
    function: str, other: Any, bug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers.models.llama import modeling_llama

    monkeypatch.setattr(modeling_llama, function, other)
    found = posenc.check(make("llama"))
    assert (found["verdict"], found["bug"]) == ("mismatch", bug), found


def test_slopes_that_ignore_the_config_are_named() -> None:
    """transformers' MPT computes slopes down to 2^-8 whatever alibi_bias_max says."""
    model_type, arguments = MODELS["mpt"]
    config = CONFIG_MAPPING[model_type](**arguments, attn_config={"alibi_bias_max": 4})
    assert posenc.check(AutoModel.from_config(config))["bug"] == "slopes-max-8"


def test_a_bias_that_grows_with_distance_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.models.bloom import modeling_bloom

    slopes = modeling_bloom._get_alibi_slopes
    monkeypatch.setattr(modeling_bloom, "_get_alibi_slopes", lambda *given: -slopes(*given))
    assert posenc.check(make("bloom"))["bug"] == "bias-sign"


def test_only_the_layers_with_a_wrong_table_are_named() -> None:
    model = make("gemma3")
    model.rotary_emb.full_attention_inv_freq = model.rotary_emb.sliding_attention_inv_freq.clone()
    rows = posenc.check(model)["layers"]
    kinds = model.config.layer_types
    assert {row["layer"] for row in rows if row["verdict"] == "mismatch"} == {kinds.index("full_attention")}
    assert {row["layer"] for row in rows} == set(range(len(kinds)))


def test_a_check_leaves_the_model_as_it_was() -> None:
    model = make("llama, dynamic")
    before = {name: value.clone() for name, value in model.state_dict(keep_vars=False).items()}
    frequencies = model.rotary_emb.inv_freq.clone()
    posenc.check(model)
    assert torch.equal(model.rotary_emb.inv_freq, frequencies)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


@pytest.mark.parametrize("kinds", (("bfloat16", "bfloat16"), ("float32", "bfloat16"), ("float16", "float16")))
def test_vectors_may_be_half_tensors(kinds: tuple[str, str]) -> None:
    encoding = posenc.Encoding("rope", heads=2, head_dim=64)
    x = torch.randn(32, 2, 64, generator=torch.Generator().manual_seed(0)).to(getattr(torch, kinds[0]))
    y = encoding.rotate(x.float()).to(getattr(torch, kinds[1]))
    if kinds[0] == kinds[1]:
        assert posenc.check("rope", before=x, after=y)["verdict"] == "ok"
    assert posenc.check("rope:theta=20000", before=x, after=y)["verdict"] != "ok"


def test_another_config_can_be_given() -> None:
    other = make("llama").config.to_dict() | rope("default", 1e6)
    assert posenc.check(make("llama"), config=other)["bug"] == "base-wrong"


def test_a_model_without_anything_to_check_is_refused() -> None:
    with pytest.raises(posenc.ToolError, match="Linear has no rotary module"):
        posenc.check(torch.nn.Linear(2, 2))


def test_what_is_neither_a_spec_nor_a_model_is_refused() -> None:
    with pytest.raises(TypeError, match="this is a int"):
        posenc.check(3)  # type: ignore[arg-type]
