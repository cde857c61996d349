/* SPDX-License-Identifier: MIT
 *
 * Models whose code is not in transformers: it lies beside the weights, or is gone. Each row was read in the code of an
 * engine that runs the model, which source= names: vLLM (the version where the model has since been removed), SGLang,
 * flash-linear-attention, or llama.cpp's converter, whose permutation of q and k together with its layout (arch.c)
 * tells that of the weights. Sizes are left to the config where no class has defaults. */
#include "zoo/facts.h"

/* clang-format off */
const zoo_row zoo_rows_remote[] = {
    { "aquila", "rope", "theta=1e4 source=vLLM 0.7 models/llama.py (registry: AquilaModel)" },
    { "arctic", "rope", "theta=1e6 source=vLLM configs/arctic.py, models/arctic.py" },
    { "bagel", "parts", "llm_config=qwen2 vit_config=siglip_vision_model source=vLLM configs/bagel.py" },
    { "baichuan", "baichuan", "theta=1e4 source=vLLM 0.7 models/baichuan.py; SGLang models/baichuan.py; llama.cpp "
      "src/models/baichuan.cpp" },
    { "bailing_moe", "rope", "theta=1e4 rotary_fraction=1 rotary_dims_key=rotary_dim source=vLLM "
      "models/bailing_moe.py" },
    { "bailing_moe_v2", "rope", "theta=1e4 rotary_fraction=1 rotary_dims_key=rotary_dim source=vLLM "
      "models/bailing_moe.py" },
    { "chatglm", "chatglm", "theta=1e4 rotary_fraction=0.5 pairs=adjacent source=vLLM models/chatglm.py; llama.cpp "
      "conversion/chatglm.py" },
    { "codeshell", "rope", "theta=1e4 source=llama.cpp conversion/codeshell.py" },
    { "deci", "rope", "theta=1e4 source=vLLM models/nemotron_nas.py; llama.cpp conversion/deci.py" },
    { "deepseek", "rope", "theta=1e4 source=SGLang models/deepseek.py" },
    { "deepseek_vl_v2", "parts", "language_config=deepseek_v2 vision_config=siglip_vision_model source=vLLM "
      "configs/deepseek_vl2.py" },
    { "dots_ocr", "rope", "theta=1e4 use_window=no source=vLLM models/dots_ocr.py" },
    { "Dream", "rope", "theta=1e4 use_window=no source=llama.cpp conversion/dream.py, src/models/dream.cpp" },
    { "exaone", "rope", "theta=5e5 rotary_fraction=1 source=vLLM models/exaone.py; SGLang models/exaone.py" },
    { "forgetting_transformer", "spec", "hidden=2048 heads=32 layers=24 spec=forget source=flash-linear-attention "
      "fla/layers/forgetting_attn.py" },
    { "gpt_refact", "spec", "spec=alibi source=llama.cpp conversion/refact.py, src/models/refact.cpp" },
    { "grok-1", "rope", "theta=1e4 source=SGLang models/grok.py; llama.cpp conversion/grok.py" },
    { "grove_moe", "rope", "theta=1e4 source=llama.cpp conversion/grovemoe.py, src/models/grovemoe.cpp" },
    { "h2ovl_chat", "parts", "llm_config=mistral vision_config=intern_vit_6b source=vLLM models/h2ovl.py" },
    { "hunyuan", "rope", "theta=1e4 source=vLLM models/hunyuan_v1.py" },
    { "internlm", "internlm", "theta=1e4 source=vLLM 0.7 models/llama.py (registry: InternLMForCausalLM)" },
    { "internlm2", "rope", "theta=1e4 source=vLLM models/internlm2.py; SGLang models/internlm2.py" },
    { "internlm3", "rope", "theta=1e4 source=vLLM models/llama.py (registry: InternLM3ForCausalLM)" },
    { "interns1_pro", "parts", "text_config=interns1_pro_text vision_config=interns1_pro_vision source=vLLM "
      "models/interns1_pro.py" },
    { "interns1_pro_text", "fope", "theta=1e6 source=vLLM layers/rotary_embedding/fope.py; SGLang "
      "layers/rotary_embedding.py" },
    { "interns1_pro_vision", "rope", "theta=1e4 table_key=num_position_embeddings table_rows=2304 "
      "spec=axes=2,split=axial source=vLLM models/interns1_pro.py, models/qwen3_vl.py" },
    { "internvl_chat", "parts", "llm_config=internlm2 vision_config=intern_vit_6b source=vLLM models/internvl.py" },
    { "jais", "jais", "length=2k only_if=position_embedding_type=alibi spec=alibi|learned source=vLLM 0.7 "
      "models/jais.py; llama.cpp conversion/jais.py" },
    { "kimi_k2", "rope", "rope_dim=64 nope_dim=128 theta=1e4 pairs=adjacent-half softmax_mscale source=vLLM "
      "transformers_utils/config.py: DeepseekV3Config" },
    { "kimi_vl", "parts", "text_config=deepseek_v3 vision_config=moonvit source=vLLM configs/kimi_vl.py" },
    { "llada", "rope", "theta=1e4 only_if=rope source=llama.cpp conversion/llada.py" },
    { "llava_llama", "rope", "theta=1e4 source=SGLang models/llava.py" },
    { "llava_mistral", "rope", "theta=1e4 source=SGLang models/llava.py" },
    { "llava_qwen", "rope", "theta=1e4 use_window=no source=SGLang models/llava.py" },
    { "mimo", "rope", "theta=1e4 use_window=no source=vLLM models/mimo.py" },
    { "minicpm", "rope", "theta=1e4 source=vLLM models/minicpm.py" },
    { "minicpmo", "rope", "theta=1e4 source=vLLM models/minicpmo.py" },
    { "minicpmv", "rope", "theta=1e4 source=vLLM models/minicpmv.py" },
    { "minimax_m1", "rope", "theta=1e4 rotary_fraction=1 rotary_dims_key=rotary_dim source=vLLM 0.9 "
      "models/minimax_text_01.py; llama.cpp conversion/minimax.py" },
    { "minimax_text_01", "rope", "theta=1e4 rotary_fraction=1 rotary_dims_key=rotary_dim source=vLLM 0.9 "
      "models/minimax_text_01.py; llama.cpp conversion/minimax.py" },
    { "mixformer-sequential", "rope", "theta=1e4 rotary_dims_key=rotary_dim rotary_dims=32 source=vLLM 0.2 "
      "models/phi_1_5.py" },
    { "molmo", "rope", "source=vLLM models/molmo.py" },
    { "nanbeige", "rope", "theta=1e4 source=llama.cpp conversion/nanbeige.py" },
    { "nemotron-nas", "rope", "theta=1e4 source=vLLM models/nemotron_nas.py" },
    { "new", "gte", "theta=1e4 rotary_dims_key=rotary_emb_dim source=vLLM models/bert_with_rope.py (GteNewModel)" },
    { "NVLM_D", "parts", "llm_config=qwen2 vision_config=intern_vit_6b source=vLLM models/nvlm_d.py" },
    { "open-llama", "rope", "theta=1e4 source=transformers 4.33 models/deprecated/open_llama" },
    { "openelm", "openelm", "theta=1e4 theta_key=rope_freq_constant source=llama.cpp conversion/openelm.py" },
    { "orion", "rope", "theta=1e4 source=vLLM models/orion.py; SGLang models/orion.py" },
    { "PanguEmbedded", "rope", "theta=1e4 source=vLLM models/openpangu.py" },
    { "phi3_v", "rope", "hidden=3072 heads=32/32 layers=32 length=4k theta=1e4 source=vLLM models/phi3v.py" },
    { "phi3small", "rope", "theta_key=rope_embedding_base linear_factor_key=rope_position_scale source=SGLang "
      "models/phi3_small.py" },
    { "phi4mm", "rope", "theta=1e4 rotary_fraction=1 source=vLLM models/phi4mm.py" },
    { "phi-msft", "rope", "theta=1e4 rotary_dims_key=rotary_dim rotary_dims=32 source=vLLM 0.2 models/phi_1_5.py" },
    { "plamo", "rope", "length=4k theta=1e4 source=llama.cpp conversion/plamo.py" },
    { "qwen", "qwen", "theta=1e4 rotary_fraction=1 source=vLLM 0.7 models/qwen.py; SGLang models/qwen.py" },
    { "qwen3_asr_text", "rope", "theta=1e4 sections=24/20/20 split=interleaved source=vLLM models/qwen3_asr.py" },
    { "qwen3_asr_thinker", "parts", "text_config=qwen3_asr_text audio_config=qwen3_asr_encoder source=vLLM "
      "models/qwen3_asr.py" },
    { "RefinedWeb", "falcon", "length=2k theta=1e4 source=vLLM configs/falcon.py, models/falcon.py" },
    { "RefinedWebModel", "falcon", "length=2k theta=1e4 source=vLLM configs/falcon.py, models/falcon.py" },
    { "skywork_chat", "parts", "llm_config=qwen2 vision_config=intern_vit_6b source=vLLM models/skyworkr1v.py" },
    { "solar", "rope", "theta=1e4 source=vLLM models/solar.py" },
    { "stablelm_epoch", "rope", "theta=1e4 rotary_fraction=0.25 source=vLLM 0.3 models/stablelm.py; llama.cpp "
      "conversion/stablelm.py" },
    { "step3_text", "rope", "theta=5e5 source=vLLM configs/step3_vl.py, models/step3_text.py" },
    { "step3_vl", "parts", "text_config=step3_text vision_config=step3_vision_encoder source=vLLM "
      "configs/step3_vl.py" },
    { "telechat", "rope", "theta=1e4 source=vLLM models/telechat2.py" },
    { "transfo-xl", "transfo-xl", "hidden=1024 heads=16 head_dim=64 layers=18 source=transformers 4.33 "
      "models/transfo_xl" },
    { "ultravox", "parts", "text_config=llama audio_config=whisper source=vLLM configs/ultravox.py" },
    { "xverse", "rope", "theta=1e4 source=SGLang models/xverse.py; llama.cpp conversion/xverse.py" },
    { "Yi", "rope", "source=vLLM 0.2 models/yi.py" },
    { 0 },
};
/* clang-format on */
