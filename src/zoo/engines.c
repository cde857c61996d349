/* SPDX-License-Identifier: MIT
 *
 * The table of engines and of what they do otherwise. Paths are those of each engine's own repository. */
#include "zoo/engine_keys.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static const zoo_engine engines[] = {
    { "transformers", NULL, NULL, NULL, NULL, false, true, NULL, "src/transformers/modeling_rope_utils.py" },
    { "vllm", "vllm serve MODEL", "--hf-overrides", "--max-model-len", "VLLM_ALLOW_LONG_MAX_MODEL_LEN=1", true, true,
      NULL, "vllm/model_executor/layers/rotary_embedding/__init__.py, vllm/config/model.py" },
    { "llama.cpp", "llama-server -m MODEL.gguf", NULL, "-c", NULL, false, false,
      "ARCH is the file's general.architecture; a GGUF that the converter made already says all of this",
      "common/arg.cpp, src/llama-arch.cpp" },
    { "sglang", "python -m sglang.launch_server --model-path MODEL", "--json-model-override-args", "--context-length",
      "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1", true, true, NULL,
      "python/sglang/srt/layers/rotary_embedding/factory.py, python/sglang/srt/configs/model_config.py" },
};

const zoo_engine *zoo_engine_at(int index)
{
    return index >= 0 && index < COUNT(engines) ? &engines[index] : NULL;
}

/* ---------------------------------------------------------------- how each key is spelled */

static const zoo_spelling spellings[] = {
    { HF, "", "scaling", "rope_type", FORM_TYPE },
    { "vllm|sglang", "", "theta", "rope_theta", FORM_NUMBER },
    { "transformers", "scaling!=ntk", "theta", "rope_theta", FORM_NUMBER },
    { "transformers", "scaling=ntk", "alpha", "rope_theta", FORM_BASE }, /* it has no type for a fixed NTK base */
    /* With range=trailing (MLA) the config's head_dim is the part that rotates: a share of it would be a second cut. */
    { HF, "dims,range!=trailing", "dims", "partial_rotary_factor", FORM_SHARE },
    { HF, "scaling=proportional", "turning", "partial_rotary_factor", FORM_NUMBER },
    { HF, "scaling!=ntk,factor", "factor", "factor", FORM_NUMBER },
    { "vllm|sglang", "scaling=ntk", "alpha", "alpha", FORM_NUMBER },
    { HF, "scaling=yarn|longrope|llama3", "trained", "original_max_position_embeddings", FORM_NUMBER },
    { "vllm", "scaling=dynamic", "trained", "max_trained_positions", FORM_NUMBER },
    { HF, "beta_fast", "beta_fast", "beta_fast", FORM_NUMBER },
    { HF, "beta_slow", "beta_slow", "beta_slow", FORM_NUMBER },
    { HF, "truncate", "truncate", "truncate", FORM_YES },
    { "transformers|sglang", "mscale", "mscale", "mscale", FORM_NUMBER },
    { "transformers|sglang", "mscale_all_dim", "mscale_all_dim", "mscale_all_dim", FORM_NUMBER },
    { "vllm", "mscale,softmax", "mscale", "mscale", FORM_NUMBER }, /* DeepSeek's own class reads them */
    { "vllm", "mscale_all_dim,softmax", "mscale_all_dim", "mscale_all_dim", FORM_NUMBER },
    { "vllm", "scaling=yarn,mscale,!softmax,!magnitude,axes=1", "mscale", "attn_factor", FORM_MAGNITUDE },
    { "vllm", "scaling=yarn,mscale,!softmax,!magnitude,axes=1", "mscale_all_dim", "apply_yarn_scaling", FORM_NO },
    { "vllm", "scaling=yarn,magnitude,axes=1", "magnitude", "attn_factor", FORM_MAGNITUDE },
    { "vllm", "scaling=yarn,magnitude,axes=1", "magnitude", "apply_yarn_scaling", FORM_NO },
    /* mrope.py has no apply_yarn_scaling: YaRN's own factor is always in. */
    { "vllm", "scaling=yarn,mscale,!softmax,!magnitude,axes!=1", "mscale", "attn_factor", FORM_RATIO },
    { "vllm", "scaling=yarn,magnitude,axes!=1", "magnitude", "attn_factor", FORM_RATIO },
    { "sglang", "scaling=yarn,magnitude", "magnitude", "attn_factor", FORM_RATIO },
    { "transformers", "scaling=yarn|longrope,magnitude", "magnitude", "attention_factor", FORM_NUMBER },
    { HF, "scaling=llama3", "low", "low_freq_factor", FORM_NUMBER },
    { HF, "scaling=llama3", "high", "high_freq_factor", FORM_NUMBER },
    { HF, "short", "short", "short_factor", FORM_LIST },
    { HF, "long", "long", "long_factor", FORM_LIST },
    { HF, "short_magnitude", "short_magnitude", "short_mscale", FORM_NUMBER },
    { HF, "long_magnitude", "long_magnitude", "long_mscale", FORM_NUMBER },
    { HF, "sections", "sections", "mrope_section", FORM_LIST },
    { HF, "axes!=1,!sections,split=chunked|interleaved", "axes", "mrope_section", FORM_EQUAL },
    { HF, "split=interleaved", "split", "mrope_interleaved", FORM_YES },

    { LC, "scaling=none|linear|yarn|ntk", "scaling", "--rope-scaling", FORM_TYPE },
    { LC, "scaling!=ntk", "theta", "--rope-freq-base", FORM_NUMBER },
    { LC, "scaling=ntk", "alpha", "--rope-freq-base", FORM_BASE },
    { LC, "scaling=linear|yarn", "factor", "--rope-scale", FORM_NUMBER },
    { LC, "scaling=yarn", "trained", "--yarn-orig-ctx", FORM_NUMBER },
    { LC, "beta_fast", "beta_fast", "--yarn-beta-fast", FORM_NUMBER },
    { LC, "beta_slow", "beta_slow", "--yarn-beta-slow", FORM_NUMBER },
    { LC, "dims", "dims", "rope.dimension_count=int:", FORM_NUMBER }, /* keys of the file, by --override-kv */
    { LC, "scaling=yarn,magnitude", "magnitude", "rope.scaling.attn_factor=float:", FORM_RATIO },
    { LC, "scaling=yarn,mscale,!magnitude,!softmax", "mscale", "rope.scaling.attn_factor=float:", FORM_RATIO },
    { LC, "scaling!=yarn,magnitude", "magnitude", "rope.scaling.attn_factor=float:", FORM_NUMBER },
};

const zoo_spelling *zoo_spelling_at(int index)
{
    return index >= 0 && index < COUNT(spellings) ? &spellings[index] : NULL;
}

/* ---------------------------------------------------------------- what is known to come out otherwise */

#define HF_ROPE "src/transformers/modeling_rope_utils.py"
#define VLLM_ROPE "vllm/model_executor/layers/rotary_embedding/"
#define SGL_ROPE "python/sglang/srt/layers/rotary_embedding/"

static const zoo_quirk quirks[] = {
    { LC, "scaling=yarn,truncate=no", false, ZOO_IGNORES,
      "rounds the ends of YaRN's ramp to whole pairs whatever truncate says; GGUF has no such key",
      "ggml/src/ggml.c: ggml_rope_yarn_corr_dims" },
    { LC, "scaling=yarn,magnitude", false, ZOO_IGNORES,
      "computes YaRN's attention factor anew: neither the file's yarn_attn_factor nor --yarn-attn-factor counts",
      "src/llama-context.cpp" },
    { LC, "scaling=yarn,mscale!=1,mscale", false, ZOO_DIFFERS,
      "takes mscale for 1 (DeepSeek-V2: for equal to mscale_all_dim)", "src/llama-context.cpp" },
    { LC, "scaling=yarn,beta_fast", false, ZOO_IGNORES,
      "reads beta_fast from the file for Grok and Mistral 3 only; elsewhere it is 32 unless --yarn-beta-fast says so",
      "src/models/grok.cpp, src/models/mistral3.cpp" },
    { LC, "scaling=yarn,beta_slow", false, ZOO_IGNORES,
      "reads beta_slow from the file for Grok and Mistral 3 only; elsewhere it is 1 unless --yarn-beta-slow says so",
      "src/models/grok.cpp, src/models/mistral3.cpp" },
    { LC, "scaling=dynamic", false, ZOO_IGNORES, "has no dynamic NTK: the base stays what it is at any length",
      "conversion/base.py, src/llama-model.cpp" },
    { LC, "scaling=longrope", false, ZOO_DIFFERS,
      "picks the long factors by the context it was started with (-c), not by the sequence, so short prompts get them "
      "too",
      "src/llama-model.cpp: get_rope_factors; issue ggml-org/llama.cpp#24823" },
    { LC, "split=interleaved", false, ZOO_DIFFERS,
      "sends the pairs that are left over by the interleaved sections to a fourth axis, which is 0 for text",
      "ggml/src/ggml-cpu/ops.cpp: ggml_mrope_cache_init" },
    { LC, "", true, ZOO_DIFFERS,
      "applies --rope-freq-base and --rope-scale to layers without a window only; the others keep the file's",
      "src/llama-model.cpp: get_rope_freq_base" },

    { "vllm", "scaling=yarn,magnitude", false, ZOO_IGNORES,
      "does not read attention_factor; it multiplies its own factor by attn_factor",
      VLLM_ROPE "__init__.py, yarn_scaling_rope.py" },
    { "vllm", "scaling=yarn,mscale,!softmax", false, ZOO_IGNORES,
      "ignores mscale and mscale_all_dim where the model's code does not ask for deepseek_yarn",
      VLLM_ROPE "__init__.py" },
    { "vllm", "scaling=dynamic", false, ZOO_DIFFERS,
      "fixes the base once, for all lengths; without max_trained_positions in the config that base is the plain one",
      VLLM_ROPE "dynamic_ntk_scaling_rope.py; issue vllm-project/vllm#41236" },
    { "vllm", "scaling=longrope", false, ZOO_DIFFERS,
      "uses the long factors for every sequence once --max-model-len is above the trained length",
      VLLM_ROPE "phi3_long_rope_scaled_rope.py" },
    { "vllm", "scaling=longrope,magnitude", false, ZOO_IGNORES,
      "does not read attention_factor of longrope; it computes it from max_position_embeddings / trained",
      VLLM_ROPE "phi3_long_rope_scaled_rope.py" },
    { "vllm", "scaling=longrope,pairs=adjacent|adjacent-half", false, ZOO_CANNOT, "has longrope for pairs=half only",
      VLLM_ROPE "phi3_long_rope_scaled_rope.py" },
    { "vllm", "scaling=proportional,factor", false, ZOO_IGNORES, "ignores factor of rope_type proportional",
      VLLM_ROPE "__init__.py" },

    { "sglang", "scaling=yarn,magnitude", false, ZOO_IGNORES,
      "does not read attention_factor; it multiplies its own factor by attn_factor", SGL_ROPE "factory.py, yarn.py" },
    { "sglang", "scaling=dynamic", false, ZOO_DIFFERS,
      "fixes the base at factor x max_position_embeddings, for short sequences too", SGL_ROPE "rope_variant.py" },
    { "sglang", "scaling=longrope", false, ZOO_DIFFERS,
      "switches a whole batch to the long factors as soon as one of its tokens is past the trained length",
      SGL_ROPE "rope_variant.py" },
    { "sglang", "scaling=longrope,magnitude", false, ZOO_IGNORES,
      "does not read attention_factor of longrope; it computes it from max_position_embeddings / trained",
      SGL_ROPE "rope_variant.py" },
    { "sglang", "scaling=longrope,pairs=adjacent|adjacent-half", false, ZOO_CANNOT, "has longrope for pairs=half only",
      SGL_ROPE "rope_variant.py" },
    { "sglang", "scaling=proportional,factor", false, ZOO_IGNORES, "ignores factor of rope_type proportional",
      SGL_ROPE "factory.py" },

    { "transformers", "scaling=dynamic", false, ZOO_DIFFERS,
      "changes the base as the sequence grows, but keys already in the cache keep the angles of the older base",
      HF_ROPE ": dynamic_rope_update; issue huggingface/transformers#25104" },
    { "transformers", "scaling=longrope", false, ZOO_DIFFERS,
      "switches to the long factors when a sequence passes the trained length; keys already cached keep the short ones",
      HF_ROPE ": dynamic_rope_update; pull huggingface/transformers#33129" },
    { "transformers", "scaling=longrope,short_magnitude", false, ZOO_IGNORES,
      "reads short_mscale and long_mscale in Phi-MoE's own code only", HF_ROPE ": _compute_longrope_parameters" },
    { "transformers", "scaling=yarn,truncate=no", true, ZOO_IGNORES,
      "reads truncate beside the layer types, not inside one", HF_ROPE ": _compute_yarn_parameters" },
    { "transformers", "scaling=longrope", true, ZOO_DIFFERS,
      "fails at the second long call where longrope is set per layer type", HF_ROPE ": longrope_frequency_update" },

    { LC, "scaling=llama3", false, ZOO_CANNOT,
      "has no option for llama3; the GGUF carries it as the tensor rope_freqs, which the converter writes",
      "conversion/llama.py, src/llama-model.cpp: get_rope_factors" },
    { LC, "scaling=longrope", false, ZOO_CANNOT,
      "has no option for longrope; the GGUF carries the tensors rope_factors_long and rope_factors_short",
      "conversion/phi.py, src/llama-model.cpp: get_rope_factors" },
    { LC, "scaling=proportional", false, ZOO_CANNOT,
      "has no option for proportional; the GGUF carries it as the tensor rope_freqs", "conversion/gemma.py" },
    { LC, "axes!=1", false, ZOO_CANNOT, "has no option for sections; the GGUF carries them as rope.dimension_sections",
      "conversion/base.py" },
};

const zoo_quirk *zoo_quirk_at(int index)
{
    return index >= 0 && index < COUNT(quirks) ? &quirks[index] : NULL;
}
