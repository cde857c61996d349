/* SPDX-License-Identifier: MIT
 *
 * Models that rotate, and have a class in transformers (facts.h says how a row is read and added). Read in
 * models/FOLDER: configuration_*.py for the defaults, modeling_*.py for what the code does (apply_rotary_pos_emb, the
 * RotaryEmbedding class, the attention's forward). */
#include "zoo/facts.h"

/* clang-format off */
const zoo_row zoo_rows_rope[] = {
    { "afmoe", "rope", "hidden=2048 heads=16/16 layers=32 length=16k theta=1e4 window=1k pattern=sssf "
      "norope=full_attention" },
    { "apertus", "rope", "hidden=4096 heads=32/32 layers=32 length=64k theta=1.2e7 "
      "rope_parameters={rope_type:llama3,rope_theta:12000000,factor:8,low_freq_factor:1,high_freq_factor:4,"
      "original_max_position_embeddings:8192}" },
    { "arcee", "rope", "hidden=2560 heads=32/32 layers=32 length=4k theta=1e4" },
    { "aria_text", "rope", "folder=aria hidden=4096 heads=32/32 layers=32 length=2k theta=1e4" },
    { "axk1", "rope", "hidden=7168 heads=64/64 rope_dim=64 nope_dim=128 layers=61 length=32k theta=1e4 "
      "pairs=adjacent-half softmax_mscale" },
    { "axk2", "rope", "hidden=2048 heads=32/32 rope_dim=32 nope_dim=64 layers=48 length=128k theta=1e4 "
      "pairs=adjacent-half softmax_mscale" },
    { "bailing_hybrid", "rope", "hidden=2560 heads=32/32 rope_dim=64 nope_dim=128 layers=42 length=256k theta=6e6 "
      "pairs=adjacent-half softmax_mscale pattern=lllllf" },
    { "bamba", "rope", "hidden=4096 heads=32/8 layers=32 length=256k theta=1e4 rotary_fraction=0.5 pattern=l "
      "attention_list=attn_layer_indices other_layers=linear_attention" },
    { "bitnet", "rope", "hidden=2560 heads=20/5 layers=30 length=2k theta=5e5" },
    { "blt_global_transformer", "rope", "folder=blt hidden=2048 heads=16/16 layers=25 length=4k theta=5e5 "
      "pairs=adjacent" },
    { "blt_local_decoder", "rope", "folder=blt hidden=1024 heads=16/16 layers=9 length=24k theta=5e5 pairs=adjacent" },
    { "blt_local_encoder", "rope", "folder=blt hidden=1024 heads=16/16 layers=1 length=24k theta=5e5 pairs=adjacent" },
    { "blt_patcher", "rope", "folder=blt hidden=768 heads=12/12 layers=14 length=8k theta=1e4 pairs=adjacent" },
    { "chameleon", "rope", "hidden=4096 heads=32/32 layers=32 length=4k theta=1e4" },
    { "cohere", "rope", "hidden=8192 heads=64/64 layers=40 length=8k theta=5e5 pairs=adjacent" },
    { "cohere2", "rope", "hidden=8192 heads=64/64 layers=40 length=8k theta=1e4 pairs=adjacent window=4k "
      "pattern=sssf norope=full_attention" },
    { "cohere2_moe", "rope", "hidden=8192 heads=64/64 layers=40 length=8k theta=1e4 pairs=adjacent window=4k "
      "pattern=sssf dense_period=1 norope=full_attention" },
    { "cohere_compass_text", "rope", "folder=cohere_compass hidden=8192 heads=64/64 layers=40 length=8k window=4k "
      "sections=24/20/20 split=interleaved" },
    { "cohere_compass_vision", "rope", "folder=cohere_compass hidden=1152 heads=16 layers=27 theta=1e4 "
      "table_key=num_position_embeddings table_rows=2304 spec=axes=2,split=axial" },
    { "cosmos3_edge_text", "rope", "folder=cosmos3_edge hidden=2048 heads=16/8 layers=28 length=128k theta=1e8 "
      "sections=24/20/20 split=interleaved" },
    { "csm", "rope", "hidden=2048 heads=32/8 layers=16 length=2k theta=5e5" },
    { "csm_depth_decoder_model", "rope", "folder=csm hidden=1024 heads=8/2 layers=4 length=33 theta=5e5" },
    { "cwm", "rope", "hidden=6144 heads=48/8 layers=64 length=128k theta=1e6 window=8k pattern=fsss "
      "rope_parameters={rope_type:llama3,rope_theta:1000000,factor:16,low_freq_factor:1,high_freq_factor:4,"
      "original_max_position_embeddings:8192}" },
    { "dbrx", "dbrx", "hidden=2048 heads=16/1 layers=24 length=2k theta=1e4" },
    { "deepseek_ocr2_encoder", "rope", "folder=deepseek_ocr2 hidden=4096 heads=32/32 layers=32 length=32k theta=1e4 "
      "window=4k use_window=no window_from_layer=28" },
    { "deepseek_ocr2_text", "rope", "folder=deepseek_ocr2 hidden=4096 heads=32/32 layers=32 length=2k theta=1e4" },
    { "deepseek_v2", "mla", "hidden=4096 heads=32/32 rope_dim=64 nope_dim=128 layers=32 length=2k theta=1e4 "
      "pairs=adjacent softmax_mscale" },
    { "deepseek_v3", "rope", "hidden=7168 heads=128/128 rope_dim=64 nope_dim=128 layers=61 length=4k theta=1e4 "
      "pairs=adjacent-half softmax_mscale" },
    { "deepseek_v32", "rope", "hidden=7168 heads=128/128 rope_dim=64 nope_dim=128 layers=61 length=160k theta=1e4 "
      "pairs=adjacent-half softmax_mscale" },
    { "deepseek_v4", "rope", "hidden=4096 heads=64/1 head_dim=512 rope_dim=64 layers=43 length=1M theta=1.6e5 "
      "local_theta=1e4 pairs=adjacent window=128 pattern=HH>HC theta_key=compress_rope_theta "
      "local_theta_key=rope_theta labels=main|compress yarn_magnitude=1 sinks=all spec=turn=qkvo" },
    { "dia_decoder", "rope", "folder=dia hidden=2048 heads=16/4 layers=18 length=3k theta=1e4 unit_scale" },
    { "dia_encoder", "rope", "folder=dia hidden=1024 heads=16/16 head_dim=128 layers=12 length=1k theta=1e4 "
      "unit_scale" },
    { "diffllama", "rope", "hidden=2048 heads=32/32 layers=16 length=2k theta=1e4" },
    { "diffusion_gemma_text", "rope", "folder=diffusion_gemma hidden=2304 heads=8/4 head_dim=256 full_head_dim=512 "
      "layers=30 length=128k theta=1e6 local_theta=1e4 window=512 pattern=sssssf unit_scale "
      "rope_parameters={sliding_attention:{rope_type:default,rope_theta:10000},"
      "full_attention:{rope_type:proportional,partial_rotary_factor:0.25,rope_theta:1000000}}" },
    { "doge", "rope", "hidden=1024 heads=8/8 layers=32 length=2k theta=1e4" },
    { "dots1", "rope", "hidden=4608 heads=32/32 layers=62 length=2k theta=1e4 window=4k use_window=yes "
      "window_from_layer=62" },
    { "dots3_note_audio_encoder", "rope", "folder=dots3_note hidden=1280 heads=20/20 layers=32 length=6000 theta=1e4 "
      "rotary_fraction=0.5" },
    { "dots3_note_vision_encoder", "rope", "folder=dots3_note hidden=1536 heads=24 layers=42 theta=1e4 "
      "spec=axes=2,split=axial" },
    { "embedding_gemma2_text", "rope", "folder=embedding_gemma2 hidden=512 heads=4/2 head_dim=256 full_head_dim=512 "
      "layers=24 length=256k theta=1e6 local_theta=1e4 window=513 window_before_key=sliding_window pattern=sssssf "
      "unit_scale" },
    { "emu3_text_model", "rope", "folder=emu3 hidden=4096 heads=32/8 layers=32 length=9k theta=1e6" },
    { "ernie4_5", "rope", "hidden=1024 heads=16/2 head_dim=128 layers=18 length=128k theta=5e5 pairs=adjacent" },
    { "ernie4_5_moe", "rope", "hidden=2560 heads=20/4 layers=28 length=128k theta=5e5 pairs=adjacent" },
    { "ernie4_5_vl_moe_text", "rope", "folder=ernie4_5_vl_moe hidden=2560 heads=20/4 layers=28 length=128k "
      "theta=5e5 pairs=adjacent sections=20/22/22 split=tail" },
    { "ernie4_5_vl_moe_vision", "rope", "folder=ernie4_5_vl_moe hidden=1280 heads=16 layers=32 theta=1e4 "
      "spec=axes=2,split=axial" },
    { "esmc", "rope", "hidden=2560 heads=40/40 layers=80 length=2k theta=1e4" },
    { "eurobert", "rope", "hidden=768 heads=12/12 layers=12 length=8k theta=1e4" },
    { "evolla", "rope", "hidden=4096 heads=32/8 layers=32 length=8k theta=5e5" },
    { "EvollaModel", "rope", "folder=evolla hidden=4096 heads=32/8 layers=32 length=8k theta=5e5" },
    { "exaone4", "rope", "hidden=4096 heads=32/32 layers=32 length=2k theta=1e4 window=4k pattern=sssf "
      "norope=full_attention norope_if_window" },
    { "exaone4_5_vision", "rope", "folder=exaone4_5 hidden=3584 heads=16/8 layers=32 theta=1e4 "
      "spec=axes=2,split=axial" },
    { "exaone_moe", "rope", "hidden=4096 heads=32/32 layers=32 length=2k theta=1e4 window=4k pattern=sssf "
      "norope=full_attention norope_if_window" },
    { "falcon_h1", "rope", "hidden=4096 heads=32/8 layers=32 length=8k theta=1e4" },
    { "flex_olmo", "rope", "hidden=4096 heads=32/32 layers=32 length=4k theta=5e5" },
    { "flint", "rope", "hidden=2048 heads=32/4 head_dim=128 layers=49 length=256k theta=1e4 window=513 "
      "norope=full_attention pattern=ffsssfsssfsssfsssfsssfsssfsssfsssfsssfsssfsssfssf sinks=all" },
    { "fuyu", "rope", "hidden=4096 heads=64 layers=36 length=16k theta=25000 rotary_fraction=0.5" },
    { "gemma", "rope", "hidden=3072 heads=16/16 head_dim=256 layers=28 length=8k theta=1e4" },
    { "gemma2", "rope", "hidden=2304 heads=8/4 head_dim=256 layers=26 length=8k theta=1e4 window=4k pattern=sf" },
    { "gemma3_text", "rope", "folder=gemma3 hidden=2304 heads=8/4 head_dim=256 layers=26 length=128k theta=1e6 "
      "local_theta=1e4 window=4k pattern=sssssf" },
    { "gemma3n_text", "rope", "folder=gemma3n hidden=2048 heads=8/2 layers=35 length=32k theta=1e6 local_theta=1e4 "
      "window=512 pattern=ssssf unit_scale" },
    { "gemma4_text", "rope", "folder=gemma4 hidden=2304 heads=8/4 head_dim=256 full_head_dim=512 layers=30 "
      "length=128k theta=1e6 local_theta=1e4 window=512 pattern=sssssf unit_scale "
      "rope_parameters={sliding_attention:{rope_type:default,rope_theta:10000},"
      "full_attention:{rope_type:proportional,partial_rotary_factor:0.25,rope_theta:1000000}}" },
    { "gemma4_unified_text", "rope", "folder=gemma4_unified hidden=2304 heads=8/4 head_dim=256 full_head_dim=512 "
      "layers=30 length=256k theta=1e6 local_theta=1e4 window=1k pattern=sssssf unit_scale "
      "rope_parameters={sliding_attention:{rope_type:default,rope_theta:10000},"
      "full_attention:{rope_type:proportional,partial_rotary_factor:0.25,rope_theta:1000000}}" },
    { "gemma4_vision", "rope", "folder=gemma4 hidden=768 heads=12/12 layers=16 length=128k theta=100 "
      "table_key=position_embedding_size table_rows=10240 table_axes unit_scale spec=axes=2,split=blocks" },
    { "glm", "rope", "hidden=4096 heads=32/2 layers=40 length=128k theta=1e4 rotary_fraction=0.5 pairs=adjacent" },
    { "glm4", "rope", "hidden=4096 heads=32/2 layers=40 length=128k theta=1e4 rotary_fraction=0.5 pairs=adjacent" },
    { "glm4_moe", "rope", "hidden=4096 heads=96/8 layers=46 length=128k theta=1e4 rotary_fraction=0.5" },
    { "glm4_moe_lite", "rope", "hidden=2048 heads=20/20 rope_dim=64 nope_dim=192 layers=47 length=198k theta=1e4 "
      "pairs=adjacent-half softmax_mscale" },
    { "glm4v_moe_text", "rope", "folder=glm4v_moe hidden=4096 heads=96/8 layers=46 length=64k theta=1e4 "
      "rotary_fraction=0.5 sections=8/12/12" },
    { "glm4v_moe_vision", "rope", "folder=glm4v_moe hidden=1536 heads=12 layers=24 theta=1e4 image=336 patch=14 "
      "table_patches spec=axes=2,split=axial" },
    { "glm4v_text", "rope", "folder=glm4v hidden=4096 heads=32/2 layers=40 length=32k theta=1e4 rotary_fraction=1 "
      "pairs=adjacent sections=8/12/12" },
    { "glm4v_vision", "rope", "folder=glm4v hidden=1536 heads=12 layers=24 theta=1e4 image=336 patch=14 table_patches "
      "spec=axes=2,split=axial" },
    { "glm5_next_vision", "rope", "folder=glm5_next hidden=1024 heads=16 layers=24 theta=1e4 spec=axes=2,split=axial" },
    { "glm_image_text", "rope", "folder=glm_image hidden=4096 heads=32/2 layers=40 length=128k theta=1e4 "
      "rotary_fraction=1 sections=8/12/12" },
    { "glm_moe_dsa", "rope", "hidden=6144 heads=64/64 rope_dim=64 nope_dim=192 layers=78 length=198k theta=1e4 "
      "pairs=adjacent-half softmax_mscale" },
    { "glm_ocr_text", "rope", "folder=glm_ocr hidden=1024 heads=16/8 layers=16 length=128k theta=1e4 "
      "rotary_fraction=1 pairs=adjacent sections=8/12/12" },
    { "glm_ocr_vision", "rope", "folder=glm_ocr hidden=1024 heads=16 layers=24 theta=1e4 spec=axes=2,split=axial" },
    { "glmasr_encoder", "rope", "folder=glmasr hidden=1280 heads=20/20 layers=32 length=1500 theta=1e4 "
      "rotary_fraction=0.5" },
    { "gpt_neox", "rope", "hidden=6144 heads=64 layers=44 length=2k theta=1e4 rotary_fraction=0.25" },
    { "gpt_neox_japanese", "rope", "hidden=2560 heads=32 layers=32 length=2k theta=1e4 rotary_fraction=1" },
    { "gpt_oss", "rope", "hidden=2880 heads=64/8 head_dim=64 layers=36 length=128k theta=1.5e5 window=128 "
      "pattern=sf sinks=all rope_parameters={rope_type:yarn,rope_theta:150000,factor:32,beta_fast:32,beta_slow:1,"
      "original_max_position_embeddings:4096,truncate:false}" },
    { "gradium_phonon_tts", "rope", "hidden=768 heads=12/12 layers=6 length=8k theta=1e4" },
    { "granite", "rope", "hidden=4096 heads=32/32 layers=32 length=2k theta=1e4" },
    { "granite4_vision_text", "rope", "folder=granite4_vision hidden=4096 heads=32/32 layers=32 length=2k theta=1e4" },
    { "granite_docling_text", "rope", "folder=granite_docling hidden=1024 heads=16/4 layers=28 length=32k theta=1e4" },
    { "granite_swa", "rope", "hidden=2560 heads=20/4 layers=24 length=8k theta=1e4 window=128 pattern=fsss sinks=all" },
    { "granitemoe", "rope", "hidden=4096 heads=32/32 layers=32 length=2k theta=1e4" },
    { "granitemoe_swa", "rope", "hidden=4096 heads=32/32 layers=32 length=2k theta=1e4 window=128 pattern=fsss "
      "sinks=all" },
    { "granitemoehybrid", "rope", "hidden=4096 heads=32/32 layers=32 length=2k theta=1e4 pattern=l "
      "only_if=position_embedding_type=rope" },
    { "granitemoeshared", "rope", "hidden=4096 heads=32/32 layers=32 length=2k theta=1e4" },
    { "helium", "rope", "hidden=2560 heads=20/20 layers=24 length=4k theta=1e5 pairs=adjacent" },
    { "higgs_audio_v2", "rope", "hidden=3072 heads=24/8 layers=28 length=2k theta=5e5 "
      "rope_parameters={rope_type:llama3,rope_theta:500000,factor:32,low_freq_factor:0.125,high_freq_factor:0.5,"
      "original_max_position_embeddings:1024}" },
    { "hrm_text", "rope", "hidden=1536 heads=12 layers=128 length=2k theta=1e4" },
    { "hunyuan_v1_dense", "rope", "hidden=4096 heads=32/32 layers=32 length=2k theta=1e4" },
    { "hunyuan_v1_moe", "rope", "hidden=4096 heads=32/32 layers=32 length=2k theta=1e4" },
    { "hunyuan_vl_text", "rope", "folder=hunyuan_vl hidden=4096 heads=32/32 layers=32 length=2k theta=1e4 sections=" },
    { "hy_v3", "rope", "hidden=4096 heads=64/8 head_dim=128 layers=80 length=128k theta=11158840" },
    { "hy_v4", "rope", "hidden=2816 heads=32/32 rope_dim=64 nope_dim=192 layers=34 length=256k theta=1e4 "
      "softmax_mscale sinks=all" },
    { "hyperclovax", "rope", "hidden=4096 heads=32/32 layers=32 length=2k theta=1e4" },
    { "idefics", "rope", "hidden=4096 heads=32 layers=32 length=2k theta=1e4" },
    { "iquestcoder", "rope", "hidden=5120 heads=40/8 layers=80 length=128k theta=1e4" },
    { "jais2", "rope", "hidden=3328 heads=26/26 layers=32 length=8k theta=1e4" },
    { "jetmoe", "rope", "hidden=2048 heads=32/16 head_dim=128 layers=12 length=4k theta=1e4" },
    { "jina_embeddings_v3", "rope", "hidden=1024 heads=16 layers=24 length=8194 theta=2e4" },
    { "kolibri1", "rope", "hidden=2560 heads=48/4 head_dim=128 layers=50 length=256k theta=1e4 window=513 "
      "pattern=ssssf norope=full_attention norope_if_window" },
    { "kyutai_speech_to_text", "rope", "hidden=2048 heads=32/32 layers=48 length=750 theta=1e4 window=375" },
    { "laguna", "rope", "hidden=2048 heads=48/8 head_dim=128 layers=40 length=128k theta=5e5 local_theta=1e4 "
      "rotary_fraction=0.5 local_rotary_fraction=1 window=512 pattern=f" },
    { "lasr_encoder", "rope", "folder=lasr hidden=512 heads=8/8 layers=17 length=10000 theta=1e4" },
    { "lfm2", "rope", "hidden=2560 heads=32/8 layers=32 length=125k theta=1e6 attention_list=full_attn_idxs "
      "other_layers=conv" },
    { "lfm2_moe", "rope", "hidden=2048 heads=32/8 layers=32 length=125k theta=1e6 attention_list=full_attn_idxs "
      "other_layers=conv" },
    { "lfm3", "rope", "hidden=2048 heads=16/4 layers=24 length=125k theta=1e6 local_theta=1e4 window=256 "
      "pattern=vvfv>svfv rope_parameters={sliding_attention:{rope_type:default,rope_theta:10000},"
      "full_attention:{rope_type:proportional,rope_theta:1000000,partial_rotary_factor:0.5}}" },
    { "lfm3_vl_vision", "rope", "folder=lfm3_vl hidden=1024 heads=16/8 layers=14 theta=1e6 pattern=vv>fv "
      "spec=axes=2,split=axial" },
    { "llama", "rope", "hidden=4096 heads=32/32 layers=32 length=2k theta=1e4" },
    { "llama4_text", "rope", "folder=llama4 hidden=5120 heads=40/8 layers=48 length=128k theta=5e5 pairs=adjacent "
      "window=8k pattern=cccf norope_interval=4 query_temperature" },
    { "longcat_flash", "rope", "hidden=6144 heads=64/64 rope_dim=64 nope_dim=128 layers=56 length=128k theta=1e7 "
      "pairs=adjacent-half softmax_mscale" },
    { "mellum", "rope", "hidden=2304 heads=32/4 head_dim=128 layers=28 length=128k theta=5e5 local_theta=1e4 "
      "window=1k pattern=f" },
    { "mimi", "rope", "hidden=512 heads=8/8 layers=8 length=8000 theta=1e4 window=250" },
    { "mimi_decoder", "rope", "folder=mimi hidden=512 heads=8/8 layers=8 length=8000 theta=1e4 window=250" },
    { "mimi_encoder", "rope", "folder=mimi hidden=512 heads=8/8 layers=8 length=8000 theta=1e4 window=250" },
    { "mimo_v2_flash", "rope", "hidden=4096 heads=64/4 head_dim=192 layers=48 length=128k theta=5e6 local_theta=1e4 "
      "rotary_fraction=0.334 window=129 window_before_key=sliding_window_size pattern=f>sssssf "
      "local_theta_key=swa_rope_theta sinks=windowed" },
    { "minicpm3", "rope", "hidden=2560 heads=40/40 rope_dim=32 nope_dim=64 layers=62 length=32k theta=1e4 "
      "softmax_mscale" },
    { "minimax", "rope", "hidden=4096 heads=32/8 layers=32 length=128k theta=1e6 pattern=fl" },
    { "minimax_m2", "rope", "hidden=3072 heads=48/8 head_dim=128 layers=62 length=192k theta=5e6 rotary_fraction=1 "
      "rotary_dims_key=rotary_dim" },
    { "minimax_m3_vl_text", "rope", "folder=minimax_m3_vl hidden=6144 heads=64/4 head_dim=128 layers=60 length=512k "
      "theta=5e6 rotary_fraction=1" },
    { "ministral", "rope", "hidden=4096 heads=32/8 layers=32 length=128k theta=1e4 window=4k pattern=s" },
    { "ministral3", "rope", "hidden=4096 heads=32/8 layers=34 length=256k theta=1e6 rope_parameters={rope_type:yarn,"
      "rope_theta:1000000,factor:16,beta_fast:32,beta_slow:1,original_max_position_embeddings:16384,mscale:1,"
      "mscale_all_dim:1,llama_4_scaling_beta:0.1}" },
    { "mistral", "rope", "hidden=4096 heads=32/8 layers=32 length=128k theta=1e4 window=4k" },
    { "mistral4", "rope", "hidden=4096 heads=32/32 rope_dim=64 nope_dim=64 layers=36 length=1M theta=1e4 "
      "rotary_fraction=0.5 pairs=adjacent-half softmax_mscale rope_parameters={rope_type:yarn,rope_theta:10000,"
      "factor:128,beta_fast:32,beta_slow:1,original_max_position_embeddings:8192,mscale:1,mscale_all_dim:1,"
      "llama_4_scaling_beta:0.1,partial_rotary_factor:0.5}" },
    { "mixtral", "rope", "hidden=4096 heads=32/8 layers=32 length=128k theta=1e6" },
    { "mllama_text_model", "rope", "folder=mllama hidden=4096 heads=32/8 layers=40 length=128k theta=5e5" },
    { "modernbert", "rope", "hidden=768 heads=12 layers=22 length=8k theta=1.6e5 local_theta=1e4 local_scaled "
      "window=128 window_key=local_attention centred_window pattern=fss theta_key=global_rope_theta" },
    { "modernbert-decoder", "rope", "folder=modernbert_decoder hidden=768 heads=12 layers=22 length=8k theta=1.6e5 "
      "local_theta=1e4 local_scaled window=128 window_key=local_attention centred_window pattern=fss "
      "theta_key=global_rope_theta" },
    { "molmo2_text", "rope", "folder=molmo2 hidden=4096 heads=32/8 layers=36 length=36k theta=1e4" },
    { "moonshine", "rope", "hidden=288 heads=8/8 layers=6 length=512 theta=1e4 rotary_fraction=0.9 pairs=adjacent" },
    { "moonshine_streaming", "rope", "hidden=320 heads=8 layers=6 length=4k theta=1e4 rotary_fraction=0.8 "
      "pairs=adjacent" },
    { "moshi", "rope", "hidden=4096 heads=32/32 layers=32 length=3000 theta=1e4 window=3000" },
    { "muse_glimmer_assistant", "rope", "hidden=6656 heads=32/8 head_dim=128 layers=5 length=128k theta=5e5 "
      "window=2k pattern=s" },
    { "muse_glimmer_text", "rope", "folder=muse_glimmer hidden=6656 heads=32/2 head_dim=128 layers=52 length=128k "
      "theta=1e4 window=2k pattern=sssf norope=full_attention" },
    { "muse_spark_text", "rope", "folder=muse_spark hidden=8192 heads=128/16 layers=62 length=1M theta=5e5 "
      "window=2k pattern=sfss norope=full_attention" },
    { "nanochat", "rope", "hidden=768 heads=6/6 layers=12 length=2k theta=1e4 spec=sign=negative" },
    { "nemotron", "rope", "hidden=6144 heads=48 layers=32 length=4k theta=1e4 rotary_fraction=0.5" },
    { "nemotron3_5_transcribe_asr_audio", "rope", "folder=nemotron3_5_transcribe hidden=1280 heads=10/10 layers=32 "
      "length=5000 theta=1e4 rotary_fraction=0.5" },
    { "nemotron3_5_transcribe_word_timestamp", "rope", "folder=nemotron3_5_transcribe hidden=1280 heads=16/16 "
      "layers=2 length=5000 theta=1e4 rotary_fraction=0.5" },
    { "nemotron3_diarization_audio", "rope", "folder=nemotron3_diarization hidden=512 heads=8/8 layers=31 "
      "length=5000 theta=1e4 rotary_fraction=1" },
    { "neucodec", "rope", "hidden=1024 heads=16/16 layers=12 length=4k theta=1e4" },
    { "nomic_bert", "nomic", "hidden=768 heads=12 layers=12 length=2k theta=1000 rotary_fraction=1" },
    { "olmo", "rope", "hidden=4096 heads=32/32 layers=32 length=2k theta=1e4" },
    { "olmo2", "rope", "hidden=4096 heads=32/32 layers=32 length=2k theta=1e4" },
    { "olmo3", "rope", "hidden=4096 heads=32/32 layers=32 length=2k theta=5e5 local_unscaled window=4k pattern=sssf" },
    { "olmo_hybrid", "rope", "hidden=3840 heads=30/30 layers=32 length=64k theta=1e4 pattern=lllf" },
    { "olmoe", "rope", "hidden=2048 heads=16/16 layers=16 length=4k theta=1e4" },
    { "openai_privacy_filter", "rope", "hidden=640 heads=14/2 head_dim=64 layers=8 length=128k theta=1.5e5 "
      "pairs=adjacent window=128 sinks=all rope_parameters={rope_type:yarn,rope_theta:150000,factor:32,beta_fast:32,"
      "beta_slow:1,original_max_position_embeddings:4096,truncate:false}" },
    { "paddleocr_vl_text", "rope", "folder=paddleocr_vl hidden=1024 heads=16/2 head_dim=128 layers=18 length=128k "
      "theta=5e5 sections=16/24/24" },
    { "paddleocr_vl_vision", "rope", "folder=paddleocr_vl hidden=1152 heads=16 layers=27 theta=1e4 image=384 patch=14 "
      "table_patches spec=axes=2,split=axial" },
    { "pe_audio_encoder", "rope", "folder=pe_audio hidden=1792 heads=14/14 layers=6 length=10000 theta=2e4 "
      "pairs=adjacent" },
    { "pe_audio_video_encoder", "rope", "folder=pe_audio_video hidden=1792 heads=14/14 layers=6 length=10000 "
      "theta=2e4 pairs=adjacent" },
    { "pe_video_encoder", "rope", "folder=pe_video hidden=1792 heads=14/14 layers=6 length=10000 theta=2e4 "
      "pairs=adjacent" },
    { "persimmon", "rope", "hidden=4096 heads=64 layers=36 length=16k theta=1e4 rotary_fraction=0.5" },
    { "phi", "rope", "hidden=2048 heads=32/32 layers=24 length=2k theta=1e4 rotary_fraction=0.5" },
    { "phi3", "rope", "hidden=3072 heads=32/32 layers=32 length=4k theta=1e4 rotary_fraction=1" },
    { "phi4_multimodal", "rope", "hidden=3072 heads=32/8 layers=32 length=128k theta=1e4 rotary_fraction=1" },
    { "phimoe", "rope", "hidden=4096 heads=32/8 layers=32 length=128k theta=1e6 rotary_fraction=1" },
    { "pixtral", "rope", "hidden=1024 heads=16 layers=24 theta=1e4 spec=axes=2,split=oddeven" },
    { "pocket_tts", "rope", "hidden=1024 heads=16/16 layers=6 length=8k theta=1e4" },
    { "pocket_tts_audio_tokenizer", "rope", "hidden=512 heads=8/8 layers=2 length=8000 theta=1e4 window=250" },
    { "pocket_tts_audio_tokenizer_decoder", "rope", "folder=pocket_tts_audio_tokenizer hidden=512 heads=8/8 "
      "layers=2 length=8000 theta=1e4 window=250" },
    { "pocket_tts_audio_tokenizer_encoder", "rope", "folder=pocket_tts_audio_tokenizer hidden=512 heads=8/8 "
      "layers=2 length=8000 theta=1e4 window=250" },
    { "qwen2", "rope", "hidden=4096 heads=32/32 layers=32 length=32k theta=1e4 window=4k use_window=no "
      "window_from_layer=28" },
    { "qwen2_5_omni_talker", "rope", "folder=qwen2_5_omni hidden=3584 heads=28/4 layers=28 length=32k theta=1e6 "
      "window=32k use_window=no window_from_layer=28 sections=16/24/24" },
    { "qwen2_5_omni_text", "rope", "folder=qwen2_5_omni hidden=3584 heads=28/4 layers=28 length=32k theta=1e6 "
      "window=32k use_window=no window_from_layer=28 sections=16/24/24" },
    { "qwen2_5_omni_vision_encoder", "rope", "folder=qwen2_5_omni hidden=3584 heads=16 layers=32 theta=1e4 "
      "spec=axes=2,split=axial" },
    { "qwen2_5_vl_text", "rope", "folder=qwen2_5_vl hidden=8192 heads=64/8 layers=80 length=32k theta=1e6 window=4k "
      "use_window=no window_from_layer=80 sections=16/24/24" },
    { "qwen2_5_vl_vision", "rope", "folder=qwen2_5_vl hidden=3584 heads=16 layers=32 theta=1e4 "
      "spec=axes=2,split=axial" },
    { "qwen2_moe", "rope", "hidden=2048 heads=16/16 layers=24 length=32k theta=1e4 window=4k use_window=no "
      "window_from_layer=28" },
    { "qwen2_vl_text", "rope", "folder=qwen2_vl hidden=8192 heads=64/8 layers=80 length=32k theta=1e6 window=4k "
      "use_window=no window_from_layer=80 sections=16/24/24" },
    { "qwen2_vl_vision", "rope", "folder=qwen2_vl hidden=1280 heads=16 layers=32 theta=1e4 hidden_key=embed_dim "
      "spec=axes=2,split=axial" },
    { "qwen3", "rope", "hidden=4096 heads=32/32 layers=32 length=32k theta=1e4 window=4k use_window=no "
      "window_from_layer=28" },
    { "qwen3_5_moe_text", "rope", "folder=qwen3_5_moe hidden=2048 heads=16/2 head_dim=256 layers=40 length=32k "
      "theta=1e4 rotary_fraction=0.25 pattern=lllf sections=11/11/10 split=interleaved" },
    { "qwen3_5_moe_vision", "rope", "folder=qwen3_5_moe hidden=1152 heads=16 layers=27 theta=1e4 "
      "table_key=num_position_embeddings table_rows=2304 spec=axes=2,split=axial" },
    { "qwen3_5_text", "rope", "folder=qwen3_5 hidden=4096 heads=16/4 layers=32 length=32k theta=1e4 "
      "rotary_fraction=0.25 pattern=lllf sections=11/11/10 split=interleaved" },
    { "qwen3_5_vision", "rope", "folder=qwen3_5 hidden=1152 heads=16 layers=27 theta=1e4 "
      "table_key=num_position_embeddings table_rows=2304 spec=axes=2,split=axial" },
    { "qwen3_moe", "rope", "hidden=2048 heads=32/4 layers=24 length=32k theta=1e4 window=4k use_window=no" },
    { "qwen3_next", "rope", "hidden=2048 heads=16/2 head_dim=256 layers=48 length=32k theta=1e4 "
      "rotary_fraction=0.25 pattern=lllf" },
    { "qwen3_omni_moe_talker_code_predictor", "rope", "folder=qwen3_omni_moe hidden=1024 heads=16/8 head_dim=128 "
      "layers=5 length=32k theta=1e4" },
    { "qwen3_omni_moe_talker_text", "rope", "folder=qwen3_omni_moe hidden=1024 heads=16/2 layers=20 length=32k "
      "theta=1e4 sections=24/20/20 split=interleaved" },
    { "qwen3_omni_moe_text", "rope", "folder=qwen3_omni_moe hidden=2048 heads=28/4 layers=28 length=32k theta=1e6 "
      "sections=24/20/20 split=interleaved" },
    { "qwen3_omni_moe_vision_encoder", "rope", "folder=qwen3_omni_moe hidden=1152 heads=16 layers=27 theta=1e4 "
      "table_key=num_position_embeddings table_rows=2304 spec=axes=2,split=axial" },
    { "qwen3_vl_moe_text", "rope", "folder=qwen3_vl_moe hidden=2048 heads=16/16 layers=24 length=125k theta=5e5 "
      "sections=24/20/20 split=interleaved" },
    { "qwen3_vl_moe_vision", "rope", "folder=qwen3_vl_moe hidden=1152 heads=16 layers=27 theta=1e4 "
      "table_key=num_position_embeddings table_rows=2304 spec=axes=2,split=axial" },
    { "qwen3_vl_text", "rope", "folder=qwen3_vl hidden=4096 heads=32/32 layers=32 length=125k theta=5e5 "
      "sections=24/20/20 split=interleaved" },
    { "qwen3_vl_vision", "rope", "folder=qwen3_vl hidden=1152 heads=16 layers=27 theta=1e4 "
      "table_key=num_position_embeddings table_rows=2304 spec=axes=2,split=axial" },
    { "qwen4_exp_text", "rope", "folder=qwen4_exp hidden=2048 heads=16/2 head_dim=256 layers=40 length=32k "
      "theta=1e4 rotary_fraction=1 pattern=lllf sections=11/11/10 split=interleaved" },
    { "qwen4_exp_vision", "rope", "folder=qwen4_exp hidden=1152 heads=16 layers=27 theta=1e4 "
      "table_key=num_position_embeddings table_rows=2304 spec=axes=2,split=axial" },
    { "recurrent_gemma", "rope", "hidden=2560 heads=10/10 layers=26 theta=1e4 rotary_fraction=0.5 window=2k "
      "pattern=lls" },
    { "seed_oss", "rope", "hidden=4096 heads=80/8 head_dim=128 layers=64 length=512k theta=1e4" },
    { "smollm3", "rope", "hidden=2048 heads=16/4 layers=36 length=32k theta=2e6 use_window=no norope_interval=4" },
    { "solar_open", "rope", "hidden=4096 heads=64/8 head_dim=128 layers=48 length=128k theta=1e6 rotary_fraction=1" },
    { "stablelm", "rope", "hidden=2560 heads=32/32 layers=32 length=4k theta=1e4 rotary_fraction=0.25" },
    { "starcoder2", "rope", "hidden=3072 heads=24/2 layers=30 length=4k theta=1e4" },
    { "step3p5", "rope", "folder=step3p7 hidden=4096 heads=64/8 head_dim=128 layers=45 length=125k theta=1e4 "
      "local_unscaled rotary_fraction=1" },
    { "t5_gemma_module", "rope", "folder=t5gemma hidden=2304 heads=8/4 head_dim=256 layers=26 length=8k theta=1e4 "
      "window=4k pattern=sf" },
    { "t5gemma2_decoder", "rope", "folder=t5gemma2 hidden=2304 heads=8/4 head_dim=256 layers=26 length=128k "
      "theta=1e6 local_theta=1e4 window=4k pattern=sssssf" },
    { "t5gemma2_text", "rope", "folder=t5gemma2 hidden=2304 heads=8/4 head_dim=256 layers=26 length=128k theta=1e6 "
      "local_theta=1e4 window=4k pattern=sssssf" },
    { "timesfm2_5", "rope", "hidden=1280 heads=16/16 layers=20 length=16k theta=1e4" },
    { "ultrabert", "rope", "hidden=4096 heads=32/32 layers=32 length=32k theta=2.56e6 local_theta=1e4 window=129 "
      "window_before_key=sliding_window pattern=ssf" },
    { "unlimited_ocr_text", "rope", "folder=unlimited_ocr hidden=1280 heads=10/10 layers=12 length=32k theta=1e4 "
      "window=128" },
    { "vaultgemma", "rope", "hidden=2304 heads=8/4 head_dim=256 layers=26 length=8k theta=1e4 window=4k pattern=sf" },
    { "video_llama_3_vision", "rope", "folder=video_llama_3 hidden=768 heads=12 layers=12 theta=1e4 "
      "spec=axes=2,split=axial" },
    { "voxtral_realtime_encoder", "rope", "folder=voxtral_realtime hidden=1280 heads=32/32 head_dim=64 layers=32 "
      "length=1500 theta=1e4 window=750" },
    { "voxtral_realtime_text", "rope", "folder=voxtral_realtime hidden=4096 heads=32/8 layers=32 length=128k "
      "theta=1e4 window=4k" },
    { "xcodec2", "rope", "hidden=1024 heads=16/16 layers=12 length=4k theta=1e4" },
    { "youtu", "rope", "hidden=2048 heads=16/16 rope_dim=64 nope_dim=128 layers=32 length=128k theta=1e4 "
      "pairs=adjacent-half softmax_mscale" },
    { "zamba2", "rope", "hidden=2560 heads=32/32 head_dim_times=2 layers=54 length=4k theta=1e4 "
      "pattern=llllllhlllllhlllllhlllllhlllllhlllllhlllllhllllhlllhll only_if=use_mem_rope" },
    { "zaya", "rope", "hidden=2048 heads=8/2 head_dim=128 layers=40 length=128k theta=5e6 local_theta=1e4 "
      "rotary_fraction=0.5" },
    { 0 },
};
/* clang-format on */
