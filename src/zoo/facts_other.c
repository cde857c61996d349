/* SPDX-License-Identifier: MIT
 *
 * Models that do not rotate, or not always, or read other keys, and have a class in transformers (facts.h says how a
 * row is read and added). */
#include "zoo/facts.h"

/* clang-format off */
const zoo_row zoo_rows_other[] = {
    { "aimv2_text_model", "spec", "folder=aimv2 hidden=768 heads=6 layers=12 length=77 spec=learned" },
    { "aimv2_vision_model", "patches", "folder=aimv2 hidden=1024 heads=8 layers=24 image=224 patch=14 "
      "only_if=is_native spec=sinusoidal:axes=2,layout=halves|learned" },
    { "albert", "bert", "hidden=4096 heads=64 layers=12 length=512 embedding_key=embedding_size embedding=128" },
    { "align_text_model", "bert", "folder=align hidden=768 heads=12 layers=12 length=512" },
    { "altclip_text_model", "bert", "folder=altclip hidden=1024 heads=16 layers=24 length=514 pad_token=1" },
    { "altclip_vision_model", "patches", "folder=altclip hidden=768 heads=12 layers=12 image=224 patch=32 "
      "extra_rows=1" },
    { "audio-spectrogram-transformer", "spectrogram", "folder=audio_spectrogram_transformer hidden=768 heads=12 "
      "layers=12" },
    { "audioflamingo3_encoder", "spec", "folder=audioflamingo3 hidden=1280 heads=20 layers=32 length=1500 "
      "spec=sinusoidal:layout=halves,denominator=d-2" },
    { "autoformer", "seq2seq", "hidden=64 heads=2 layers=2 spec=sinusoidal:layout=halves" },
    { "bart", "seq2seq", "hidden=1024 heads=16 layers=12 length=1k spec=learned:offset=2" },
    { "bert", "bert", "hidden=768 heads=12 layers=12 length=512" },
    { "bert-generation", "bert", "folder=bert_generation hidden=1024 heads=16 layers=24 length=512" },
    { "big_bird", "bert", "hidden=768 heads=12 layers=12 length=4k" },
    { "bigbird_pegasus", "seq2seq", "hidden=1024 heads=16 layers=16 length=4k spec=learned" },
    { "biogpt", "spec", "hidden=1024 heads=16 layers=24 length=1k spec=learned:offset=2" },
    { "blenderbot", "seq2seq", "hidden=2560 heads=32 layers=2 length=128 spec=learned" },
    { "blenderbot-small", "seq2seq", "folder=blenderbot_small hidden=512 heads=16 layers=8 length=512 spec=learned" },
    { "blip_2_vision_model", "patches", "folder=blip_2 hidden=1408 heads=16 layers=39 image=224 patch=14 "
      "extra_rows=1" },
    { "blip_text_model", "bert", "folder=blip hidden=768 heads=8 layers=12 length=512" },
    { "blip_vision_model", "patches", "folder=blip hidden=768 heads=12 layers=12 image=384 patch=16 extra_rows=1" },
    { "bloom", "spec", "hidden=64 heads=8 layers=2 hidden_key=n_embed|hidden_size|n_embd|d_model spec=alibi" },
    { "bridgetower_text_model", "bert", "folder=bridgetower hidden=768 heads=12 layers=12 length=514 pad_token=1" },
    { "bridgetower_vision_model", "patches", "folder=bridgetower hidden=768 heads=12 layers=12 image=288 patch=16 "
      "extra_rows=1" },
    { "camembert", "bert", "hidden=768 heads=12 layers=12 length=512 pad_token=1" },
    { "canary_decoder", "sines", "folder=canary hidden=1024 heads=8 head_dim=128 layers=8 length=1k root_scale "
      "spec=sinusoidal:layout=halves" },
    { "canine", "spec", "hidden=768 heads=12 layers=12 length=16k spec=learned" },
    { "chinese_clip_text_model", "bert", "folder=chinese_clip hidden=768 heads=12 layers=12 length=512" },
    { "chinese_clip_vision_model", "patches", "folder=chinese_clip hidden=768 heads=12 layers=12 image=224 patch=32 "
      "extra_rows=1" },
    { "clap_text_model", "bert", "folder=clap hidden=768 heads=12 layers=12 length=514 pad_token=1" },
    { "clip_text_model", "spec", "folder=clip hidden=512 heads=8 layers=12 length=77 spec=learned" },
    { "clip_vision_model", "patches", "folder=clip hidden=768 heads=12 layers=12 image=224 patch=32 extra_rows=1" },
    { "clipseg_text_model", "spec", "folder=clipseg hidden=512 heads=8 layers=12 length=77 spec=learned" },
    { "clipseg_vision_model", "patches", "folder=clipseg hidden=768 heads=12 layers=12 image=224 patch=32 "
      "extra_rows=1" },
    { "coarse_acoustics", "spec", "folder=bark hidden=768 heads=12 layers=12 length=1k length_key=block_size "
      "spec=learned" },
    { "codegen", "rope", "hidden=4096 heads=16 layers=28 length=2k theta=1e4 fixed_theta rotary_dims_key=rotary_dim "
      "rotary_dims=64 pairs=adjacent" },
    { "convbert", "bert", "hidden=768 heads=12 layers=12 length=512 embedding_key=embedding_size embedding=768" },
    { "cosmos3_edge_vision", "patches", "folder=cosmos3_edge hidden=1152 heads=16 layers=27 length=256 patch=16" },
    { "ctrl", "spec", "hidden=1280 heads=16 layers=48 length=256 spec=sinusoidal:layout=halves" },
    { "data2vec-text", "bert", "folder=data2vec hidden=768 heads=12 layers=12 length=512 pad_token=1" },
    { "deberta", "deberta", "hidden=768 heads=12 layers=12 length=512" },
    { "deberta-v2", "deberta", "folder=deberta_v2 hidden=1536 heads=24 layers=24 length=512" },
    { "deit", "patches", "hidden=768 heads=12 layers=12 image=224 patch=16 extra_rows=2" },
    { "dinov2", "patches", "hidden=768 heads=12 layers=12 image=224 patch=14 extra_rows=1" },
    { "dinov2_with_registers", "patches", "hidden=768 heads=12 layers=12 image=224 patch=16 extra_rows=1" },
    { "dinov3_vit", "dinov3", "hidden=384 heads=6 layers=12 image=224 patch=16 theta=100" },
    { "distilbert", "spec", "hidden=768 heads=12 layers=6 length=512 only_if=sinusoidal_pos_embds "
      "spec=sinusoidal|learned" },
    { "dpr", "bert", "hidden=768 heads=12 layers=12 length=512" },
    { "electra", "bert", "hidden=256 heads=4 layers=12 length=512 embedding_key=embedding_size embedding=128" },
    { "eomt", "patches", "hidden=1024 heads=16 layers=24 image=640 patch=16" },
    { "eomt_dinov3", "dinov3", "hidden=1024 heads=16 layers=24 image=640 patch=16 theta=100" },
    { "ernie", "bert", "hidden=768 heads=12 layers=12 length=512" },
    { "esm", "esm", "hidden=768 heads=12 layers=12 length=1026 pad_token=1 theta=1e4" },
    { "falcon", "falcon", "hidden=4544 heads=71/71 layers=32 length=2k theta=1e4" },
    { "falcon_mamba", "recurrent", "hidden=768 layers=32" },
    { "fine_acoustics", "spec", "folder=bark hidden=768 heads=12 layers=12 length=1k length_key=block_size "
      "spec=learned" },
    { "flaubert", "spec", "hidden=2048 heads=16 layers=12 length=512 only_if=sinusoidal_embeddings "
      "spec=sinusoidal|learned" },
    { "flava_image_model", "patches", "folder=flava hidden=768 heads=12 layers=12 image=224 patch=16 extra_rows=1" },
    { "flava_multimodal_model", "spec", "folder=flava hidden=768 heads=12 layers=6 spec=none" },
    { "flava_text_model", "bert", "folder=flava hidden=768 heads=12 layers=12 length=512" },
    { "fsmt", "seq2seq", "hidden=1024 heads=16 layers=12 length=1k "
      "spec=sinusoidal:layout=halves,denominator=d-2,offset=2" },
    { "fun_asr_nano_encoder", "sines", "folder=fun_asr_nano hidden=512 heads=4 layers=70 length=2049 "
      "embedding_key=input_size embedding=560 spec=sinusoidal:layout=halves,denominator=d-2,offset=1" },
    { "git", "bert", "hidden=768 heads=12 layers=6 length=1k" },
    { "git_vision_model", "patches", "folder=git hidden=768 heads=12 layers=12 image=224 patch=16 extra_rows=1" },
    { "glm5_next_text", "spec", "folder=glm5_next hidden=4096 heads=64/64 head_dim=256 layers=45 length=1M "
      "pattern=lllf spec=none" },
    { "glm_image_vision", "patches", "folder=glm_image hidden=1536 heads=16 layers=40 image=2048 patch=16" },
    { "gpt2", "spec", "hidden=768 heads=12 layers=12 length=1k spec=learned" },
    { "gpt_bigcode", "spec", "hidden=768 heads=12/1 layers=12 length=1k spec=learned" },
    { "gpt_neo", "spec", "hidden=2048 heads=16 layers=24 length=2k window=256 window_key=window_size pattern=fs "
      "spec=learned" },
    { "gpt-sw3", "spec", "folder=gpt2 hidden=768 heads=12 layers=12 length=1k spec=learned" },
    { "gptj", "rope", "hidden=4096 heads=16 layers=28 length=2k theta=1e4 fixed_theta rotary_dims_key=rotary_dim "
      "rotary_dims=64 pairs=adjacent" },
    { "granite_docling_vision", "patches", "folder=granite_docling hidden=768 heads=12 layers=12 image=512 patch=16" },
    { "groupvit_text_model", "spec", "folder=groupvit hidden=256 heads=4 layers=12 length=77 spec=learned" },
    { "groupvit_vision_model", "patches", "folder=groupvit hidden=384 heads=6 layers=12 image=224 patch=16" },
    { "gte", "gte", "hidden=768 heads=12 layers=12 length=8k theta=1.6e5 rotary_dims_key=rotary_emb_dim" },
    { "hunyuan_vl_vision", "patches", "folder=hunyuan_vl hidden=1152 heads=16/16 layers=27 image=2048 "
      "image_key=max_image_size patch=16 spec=learned:offset=1" },
    { "ibert", "bert", "hidden=768 heads=12 layers=12 length=512 pad_token=1" },
    { "idefics2_vision", "patches", "folder=idefics2 hidden=768 heads=12 layers=12 image=224 patch=32" },
    { "idefics3_vision", "patches", "folder=idefics3 hidden=1152 heads=16 layers=12 image=224 patch=32" },
    { "idefics_vision", "patches", "folder=idefics hidden=768 heads=16 layers=32 image=224 patch=14 extra_rows=1" },
    { "ijepa", "patches", "hidden=768 heads=12 layers=12 image=224 patch=16" },
    { "imagegpt", "spec", "hidden=512 heads=8 layers=24 length=1k spec=learned" },
    { "inkling_text", "inkling", "folder=inkling hidden=6144 heads=64/8 head_dim=128 layers=66 length=128k window=512 "
      "pattern=SSSSSh swa_heads=64 swa_kv_heads=16" },
    { "inkling2_text", "inkling", "folder=inkling2 hidden=4608 heads=48/8 head_dim=128 layers=48 length=1M window=1k "
      "pattern=SSSSSh swa_heads=48 swa_kv_heads=8 floor=128000 spec=scale=sqrt" },
    { "informer", "seq2seq", "hidden=64 heads=2 layers=2 spec=sinusoidal:layout=halves" },
    { "instructblip_vision_model", "patches", "folder=instructblip hidden=1408 heads=16 layers=39 image=224 "
      "patch=14 extra_rows=1" },
    { "instructblipvideo_vision_model", "patches", "folder=instructblipvideo hidden=1408 heads=16 layers=39 "
      "image=224 patch=14 extra_rows=1" },
    { "internvl_vision", "patches", "folder=internvl hidden=1024 heads=16 layers=24 image=448 patch=14 extra_rows=1" },
    { "jamba", "spec", "hidden=4096 heads=32 layers=32 length=256k spec=none" },
    { "janus_vision_model", "patches", "folder=janus hidden=1024 heads=16 layers=24 image=384 patch=16" },
    { "kimi_linear", "spec", "hidden=2304 heads=32 rope_dim=64 nope_dim=128 layers=27 length=1M spec=none" },
    { "kosmos_2_5_text_model", "spec", "folder=kosmos2_5 hidden=1536 heads=16 layers=24 length=4k "
      "spec=sinusoidal:layout=halves,denominator=d-2,offset=2" },
    { "kosmos_2_5_vision_model", "spec", "folder=kosmos2_5 hidden=1536 heads=24 head_dim=64 layers=18 length=4k "
      "length_key=max_num_patches table_axes spec=learned" },
    { "kosmos_2_text_model", "spec", "folder=kosmos2 hidden=2048 heads=32 layers=24 length=2k "
      "spec=sinusoidal:layout=halves,denominator=d-2,offset=2" },
    { "kosmos_2_vision_model", "patches", "folder=kosmos2 hidden=1024 heads=16 layers=24 image=224 patch=14 "
      "extra_rows=1" },
    { "layoutlm", "bert", "hidden=768 heads=12 layers=12 length=512" },
    { "led", "seq2seq", "hidden=1024 heads=16 layers=12 spec=learned" },
    { "lilt", "bert", "hidden=768 heads=12 layers=12 length=512 pad_token=1" },
    { "longformer", "bert", "hidden=768 heads=12 layers=12 length=512 pad_token=1" },
    { "longt5", "t5", "hidden=512 heads=8 layers=6 window=127 window_key=local_radius" },
    { "luke", "bert", "hidden=768 heads=12 layers=12 length=512 pad_token=1" },
    { "lw_detr_vit", "patches", "folder=lw_detr hidden=768 heads=12 layers=12 image=224 "
      "image_key=pretrain_image_size patch=16 only_if=!use_absolute_position_embeddings spec=none|learned:offset=1" },
    { "m2m_100", "seq2seq", "hidden=1024 heads=16 layers=12 length=1k "
      "spec=sinusoidal:layout=halves,denominator=d-2,offset=2" },
    { "mamba", "recurrent", "hidden=768 layers=32" },
    { "mamba2", "recurrent", "hidden=4096 layers=64" },
    { "marian", "seq2seq", "hidden=1024 heads=16 layers=12 length=1k spec=sinusoidal:layout=halves" },
    { "markuplm", "bert", "hidden=768 heads=12 layers=12 length=512 pad_token=1" },
    { "mbart", "seq2seq", "hidden=1024 heads=16 layers=12 length=1k spec=learned:offset=2" },
    { "megatron-bert", "bert", "folder=megatron_bert hidden=1024 heads=16 layers=24 length=512" },
    { "metaclip_2_text_model", "spec", "folder=metaclip_2 hidden=512 heads=8 layers=12 length=77 spec=learned" },
    { "metaclip_2_vision_model", "patches", "folder=metaclip_2 hidden=768 heads=12 layers=12 image=224 patch=32 "
      "extra_rows=1" },
    { "mgp-str", "patches", "folder=mgp_str hidden=768 heads=12 layers=12 patch=4 extra_rows=1" },
    { "minicpm_ocr_vision", "patches", "folder=minicpm_ocr hidden=768 heads=12 layers=12 image=224 patch=16" },
    { "minicpmv4_6_vision", "patches", "folder=minicpmv4_6 hidden=768 heads=12 layers=12 image=224 patch=16" },
    { "minicpmv4_7_vision", "patches", "folder=minicpmv4_7 hidden=768 heads=12 layers=12 image=224 patch=16" },
    { "mobilebert", "bert", "hidden=512 heads=4 layers=24 length=512" },
    { "molmo2_vision", "patches", "folder=molmo2 hidden=1152 heads=16/16 head_dim=72 layers=25 length=729 "
      "length_key=num_position_embeddings" },
    { "moshi_depth", "spec", "folder=moshi hidden=1024 heads=16/16 layers=6 length=9 window=8 spec=none" },
    { "moss_transcribe_diarize_audio", "spec", "folder=moss_transcribe_diarize hidden=1024 heads=16 layers=24 "
      "length=1500 spec=sinusoidal:layout=halves,denominator=d-2" },
    { "mpnet", "mpnet", "hidden=768 heads=12 layers=12 length=512 pad_token=1" },
    { "mpt", "mpt", "hidden=2048 heads=16 layers=24 length=2k" },
    { "mra", "spec", "hidden=768 heads=12 layers=12 length=512 spec=learned:offset=2" },
    { "mt5", "t5", "hidden=512 heads=6 head_dim=64 layers=8" },
    { "musicgen_decoder", "spec", "folder=musicgen hidden=1024 heads=16 layers=24 length=2k "
      "spec=sinusoidal:layout=halves,order=cos-sin,denominator=d-2" },
    { "musicgen_melody_decoder", "spec", "folder=musicgen_melody hidden=1024 heads=16 layers=24 length=2k "
      "spec=sinusoidal:layout=halves,order=cos-sin,denominator=d-2" },
    { "mvp", "seq2seq", "hidden=1024 heads=16 layers=12 length=1k spec=learned:offset=2" },
    { "nemotron_h", "spec", "hidden=4096 heads=32 length=4k spec=none" },
    { "nllb-moe", "seq2seq", "folder=nllb_moe hidden=1024 heads=16 layers=12 length=1k "
      "spec=sinusoidal:layout=halves,denominator=d-2,offset=2" },
    { "nystromformer", "spec", "hidden=768 heads=12 layers=12 length=510 spec=learned:offset=2" },
    { "openai-gpt", "spec", "folder=openai hidden=768 heads=12 layers=12 length=512 spec=learned" },
    { "opt", "spec", "hidden=768 heads=12 layers=12 length=2k spec=learned:offset=2" },
    { "ovis2_vision", "patches", "folder=ovis2 hidden=1024 heads=8 layers=24 image=224 patch=14" },
    { "owlv2_text_model", "spec", "folder=owlv2 hidden=512 heads=8 layers=12 length=16 spec=learned" },
    { "owlv2_vision_model", "patches", "folder=owlv2 hidden=768 heads=12 layers=12 image=768 patch=16 extra_rows=1" },
    { "owlvit_text_model", "spec", "folder=owlvit hidden=512 heads=8 layers=12 length=16 spec=learned" },
    { "owlvit_vision_model", "patches", "folder=owlvit hidden=768 heads=12 layers=12 image=768 patch=32 extra_rows=1" },
    { "parakeet_encoder", "conformer", "folder=parakeet hidden=1024 heads=8 layers=24 length=5000" },
    { "pegasus", "seq2seq", "hidden=1024 heads=16 layers=12 length=1k spec=sinusoidal:layout=halves" },
    { "pegasus_x", "seq2seq", "hidden=1024 heads=16 layers=16 length=16k "
      "spec=sinusoidal:layout=halves,denominator=d-2" },
    { "phi4_multimodal_vision", "patches", "folder=phi4_multimodal hidden=1152 heads=16 layers=27 image=448 patch=14" },
    { "pix2struct_text_model", "t5", "folder=pix2struct hidden=768 heads=12 layers=12 stack=decoder" },
    { "pix2struct_vision_model", "spec", "folder=pix2struct hidden=768 heads=12 layers=12 length=4k "
      "length_key=seq_len table_axes spec=learned" },
    { "pixio", "patches", "hidden=1280 heads=16 layers=32 image=256 patch=16 extra_rows=8 "
      "extra_rows_key=n_cls_tokens" },
    { "plbart", "seq2seq", "hidden=768 heads=12 layers=6 length=1k spec=learned:offset=2" },
    { "pop2piano", "t5", "hidden=512 heads=8 layers=6" },
    { "pp_formulanet_text", "seq2seq", "folder=pp_formulanet hidden=512 heads=16 layers=8 length=2560 stack=decoder "
      "spec=learned:offset=2" },
    { "qianfan_ocr_vision", "patches", "folder=qianfan_ocr hidden=1024 heads=16 layers=24 image=448 patch=14 "
      "extra_rows=1" },
    { "qwen2_5_omni_audio_encoder", "spec", "folder=qwen2_5_omni hidden=1280 heads=20 layers=32 length=1500 "
      "spec=sinusoidal:layout=halves,denominator=d-2" },
    { "qwen2_audio_encoder", "spec", "folder=qwen2_audio hidden=1280 heads=20 layers=32 length=1500 "
      "spec=sinusoidal:layout=halves,denominator=d-2" },
    { "qwen3_asr_encoder", "spec", "folder=qwen3_asr hidden=1024 heads=16 layers=24 length=13 "
      "spec=sinusoidal:layout=halves,denominator=d-2" },
    { "qwen3_omni_moe_audio_encoder", "spec", "folder=qwen3_omni_moe hidden=1280 heads=20 layers=32 length=1500 "
      "spec=sinusoidal:layout=halves,denominator=d-2" },
    { "radio", "patches", "hidden=1280 heads=16 layers=32 image=2048 image_key=max_img_size patch=16" },
    { "rembert", "bert", "hidden=1152 heads=18 layers=32 length=512 embedding_key=input_embedding_size embedding=256" },
    { "rf_detr_dinov2", "patches", "folder=rf_detr hidden=768 heads=12 layers=12 image=224 patch=14 extra_rows=1" },
    { "roberta", "bert", "hidden=768 heads=12 layers=12 length=512 pad_token=1" },
    { "roberta-prelayernorm", "bert", "folder=roberta_prelayernorm hidden=768 heads=12 layers=12 length=512 "
      "pad_token=1" },
    { "roc_bert", "bert", "hidden=768 heads=12 layers=12 length=512" },
    { "roformer", "roformer", "hidden=768 heads=12 layers=12 length=1536 theta=1e4 fixed_theta pairs=adjacent" },
    { "rwkv", "recurrent", "hidden=4096 layers=32" },
    { "sam3_lite_text_text_model", "spec", "folder=sam3_lite_text hidden=512 heads=8 layers=12 length=77 "
      "spec=learned" },
    { "sapiens2", "dinov3", "hidden=1024 heads=16 layers=24 image=224 patch=16 theta=100" },
    { "semantic", "spec", "folder=bark hidden=768 heads=12 layers=12 length=1k length_key=block_size spec=learned" },
    { "siglip2_text_model", "spec", "folder=siglip2 hidden=768 heads=12 layers=12 length=64 spec=learned" },
    { "siglip2_vision_model", "patches", "folder=siglip2 hidden=768 heads=12 layers=12 patch=16" },
    { "siglip_text_model", "spec", "folder=siglip hidden=768 heads=12 layers=12 length=64 spec=learned" },
    { "siglip_vision_model", "patches", "folder=siglip hidden=768 heads=12 layers=12 image=224 patch=16" },
    { "smolvlm_vision", "patches", "folder=smolvlm hidden=1152 heads=16 layers=12 image=224 patch=32" },
    { "speech_to_text", "seq2seq", "hidden=256 heads=4 layers=12 length=6000 "
      "spec=sinusoidal:layout=halves,denominator=d-2,offset=2" },
    { "splinter", "bert", "hidden=768 heads=12 layers=12 length=512" },
    { "squeezebert", "bert", "hidden=768 heads=12 layers=12 length=512 embedding_key=embedding_size embedding=768" },
    { "switch_transformers", "t5", "hidden=768 heads=12 layers=12" },
    { "t5", "t5", "hidden=512 heads=8 layers=6" },
    { "tapas", "bert", "hidden=768 heads=12 layers=12 length=1k" },
    { "time_series_transformer", "seq2seq", "hidden=64 heads=2 layers=2 spec=sinusoidal:layout=halves" },
    { "timesfm", "sines", "hidden=1280 heads=16 head_dim=80 layers=50 theta=1e4 theta_key=max_timescale "
      "only_if=use_positional_embedding spec=sinusoidal:layout=halves,denominator=d-2" },
    { "tipsv2_text_model", "spec", "folder=tipsv2 hidden=768 heads=12 layers=12 length=64 "
      "spec=sinusoidal:layout=halves,denominator=d-2" },
    { "tipsv2_vision_model", "patches", "folder=tipsv2 hidden=768 heads=12 layers=12 image=448 patch=14 extra_rows=1" },
    { "trocr", "spec", "hidden=1024 heads=16 layers=12 length=512 only_if=!use_learned_position_embeddings "
      "spec=sinusoidal:layout=halves,denominator=d-2,offset=2|learned:offset=2" },
    { "umt5", "t5", "hidden=512 heads=6 head_dim=64 layers=8" },
    { "unlimited_ocr_vision_encoder", "patches", "folder=unlimited_ocr hidden=1024 heads=16 layers=24 image=224 "
      "patch=14 extra_rows=1" },
    { "videomae", "films", "hidden=768 heads=12 layers=12 image=224 patch=16 frames=16 tubelet=2 spec=sinusoidal" },
    { "videomt", "patches", "hidden=1024 heads=16 layers=24 image=640 patch=16" },
    { "videoprism_text_model", "spec", "folder=videoprism hidden=768 heads=12 layers=12 length=64 "
      "spec=sinusoidal:layout=halves" },
    { "visual_bert", "bert", "hidden=768 heads=12 layers=12 length=512" },
    { "vit", "patches", "hidden=768 heads=12 layers=12 image=224 patch=16 extra_rows=1" },
    { "vit_mae", "spec", "hidden=768 heads=12 layers=12 spec=sinusoidal:axes=2,layout=halves" },
    { "vit_msn", "patches", "hidden=768 heads=12 layers=12 image=224 patch=16 extra_rows=1" },
    { "vivit", "films", "hidden=768 heads=12 layers=12 image=224 patch=16 frames=32 tubelet=2 extra_rows=1 "
      "spec=learned" },
    { "voxtral_encoder", "spec", "folder=voxtral hidden=1280 heads=20 layers=32 length=1500 "
      "spec=sinusoidal:layout=halves,denominator=d-2" },
    { "wav2vec2-bert", "shaw", "folder=wav2vec2_bert hidden=1024 heads=16 layers=24 length=5000" },
    { "wav2vec2-conformer", "conformer", "folder=wav2vec2_conformer hidden=768 heads=12 layers=12 length=5000 "
      "length_key=max_source_positions" },
    { "whisper", "seq2seq", "hidden=384 heads=6 layers=4 length=1500 "
      "spec=learned|sinusoidal:layout=halves,denominator=d-2" },
    { "xclip_text_model", "spec", "folder=x_clip hidden=512 heads=8 layers=12 length=77 spec=learned" },
    { "xclip_vision_model", "patches", "folder=x_clip hidden=768 heads=12 layers=12 image=224 patch=32 extra_rows=1" },
    { "xglm", "spec", "hidden=1024 heads=16 layers=24 length=2k "
      "spec=sinusoidal:layout=halves,denominator=d-2,offset=2" },
    { "xlm", "spec", "hidden=2048 heads=16 layers=12 length=512 only_if=sinusoidal_embeddings "
      "spec=sinusoidal|learned" },
    { "xlm-roberta", "bert", "folder=xlm_roberta hidden=768 heads=12 layers=12 length=512 pad_token=1" },
    { "xlm-roberta-xl", "bert", "folder=xlm_roberta_xl hidden=2560 heads=32 layers=36 length=514 pad_token=1" },
    { "xlnet", "xlnet", "hidden=1024 heads=16 layers=24" },
    { "xlstm", "recurrent", "hidden=4096 layers=32" },
    { "xmod", "bert", "hidden=768 heads=12 layers=12 length=512 pad_token=1" },
    { "yoso", "spec", "hidden=768 heads=12 layers=12 length=4k spec=learned:offset=2" },
    { "zamba", "spec", "hidden=3712 heads=16 head_dim=464 layers=76 length=4k spec=none" },
    { 0 },
};
/* clang-format on */
