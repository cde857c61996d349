# SPDX-License-Identifier: MIT
"""Cases of real_models that do not equal posenc.from_config, and why. test_real fails when one becomes equal."""

_NAMELESS = "this part has no model_type, so a reader of its config alone cannot know its pair layout"
_HIDDEN = "its rotary kind rotates the hidden states, in front of the projections of q and k, which no spec says"
_FRAMES = "its memory of frames rotates by two axes beside tokens that do not, which from_config does not take apart"
_COLUMN_FIRST = "its pairs rotate by the column first and by the row second, which no spec says"
_CLASS_TOKEN = "its class token rotates by trained angles, which no spec says"
_KEY_POINTS = "it rotates by the pixels of key points, in an order or by a projection of its own, which no spec says"
_NEOMME = "its patches rotate by two axes and its windows differ by layer, which from_config does not take apart"
_TWO_WIDTHS = "its sliding layers have other heads and widths, which from_config refuses"
_FIRST_HEAD = "it rotates the first head of each layer and no other, which no spec says"
_ELSEWHERE = "transformers 5.23.0 ships its config and no modeling file"

REASONS = {
    "EvollaModel.protein_encoder_config": _NAMELESS,
    "beam.sliding_attention": "its full layers scale queries by (1 + (position + 1) / 2048)^0.1, which no spec says",
    "clvp_encoder": "it rotates values too, by a head dimension that another part gives",
    "dots3_note_text.indexed_attention": _TWO_WIDTHS,
    "dots3_note_text.sliding_attention": _TWO_WIDTHS,
    "edgetam_video": _FRAMES,
    "efficientloftr": _KEY_POINTS,
    "esmfold2.atom_encoder": _NAMELESS + "; it rotates atoms by their place in space",
    "esmfold2.structure_head.diffusion_module.atom_encoder": _NAMELESS + "; it rotates atoms by their place in space",
    "evolla.protein_encoder_config": _NAMELESS,
    "hunyuan_vl_text": "its module gives the two elements of a pair angles of different axes (sections of "
    "elements, not of pairs), which is no rotation; with the same position on all axes it equals from_config",
    "inkling2_vision": "it rotates by columns and rows from 1 on, and not the class token, which no spec says",
    "internlm3": _ELSEWHERE,
    "iquestcoder": _ELSEWHERE,
    "kimi_k25_vision": "its pairs alternate between columns and rows, each with all frequencies, which no spec says",
    "lightglue": _KEY_POINTS,
    "llama4_vision_model": "it rotates by columns and rows from 1 on, and not the class token, which no spec says",
    "minimax_m3_vl_vision": "it rotates by three axes, a part of each head, which from_config does not take apart",
    "mistral_large4_text": "its frequencies and a factor on queries are trained: its weights say them",
    "mlcd": _CLASS_TOKEN,
    "mlcd_vision_model": _CLASS_TOKEN,
    "muse_glimmer_vision": _COLUMN_FIRST,
    "muse_spark_vision": _COLUMN_FIRST,
    "musicflamingo": "it rotates audio features by their time in seconds, outside of the parts that are read",
    "neomme.full_attention": _NEOMME,
    "neomme.sliding_attention": _NEOMME,
    "nougat": "its config class has no defaults; its parts are donut-swin and mbart, which do not rotate",
    "qwen2_5_omni_dit": _FIRST_HEAD,
    "qwen3_omni_moe.code2wav_config": _NAMELESS,
    "sam2_video": _FRAMES,
    "sam3_tracker_video": _FRAMES,
    "sam3_vit_model": _COLUMN_FIRST,
    "seamless_m4t": _HIDDEN,
    "step3p5_vision": _COLUMN_FIRST,
    "vjepa2": "its tables repeat by halves while its pairs are adjacent, which is no rotation",
    "wav2vec2-bert": _HIDDEN,
    "wav2vec2-conformer": _HIDDEN,
}

_PART_OF_HEAD = "the spec's scaling=proportional spans the whole head, and this model rotates a part of each"
_SECTIONS = "the sections are those of half the pairs, and scaling=proportional has all of them"

# (scaling, model type): scalings that no released model of the type has
SCALED = {
    ("proportional", name): _PART_OF_HEAD
    for name in "axk1 axk2 bailing_hybrid deepseek_v2 deepseek_v3 deepseek_v32 glm4_moe_lite glm_moe_dsa hy_v4 "
    "longcat_flash minicpm3 youtu".split()
} | {("proportional", name): _SECTIONS for name in "glm4v_moe_text glm4v_text glm_image_text".split()}
