/* SPDX-License-Identifier: MIT
 *
 * Model types of transformers that are known and not read, and why: "model_type swin is known, but its stages bias ..."
 * `make golden` names the types of transformers that stand neither here nor in the other tables. */
#include "zoo/facts.h"
#include "zoo/spec_read.h"

#include <stddef.h>

/* clang-format off */
static const struct {
    const char *types, *reason;
} unread[] = {
    { "beit data2vec-vision",
      "its scores are biased by two-dimensional offsets, with rows of their own for the class token, which no spec "
      "says" },
    { "bros layoutlmv2 layoutlmv3 layoutxlm",
      "it adds biases by the place on the page, which no spec says" },
    { "cpmant",
      "its buckets depend on segments, which no spec says" },
    { "data2vec-audio hubert sew unispeech unispeech-sat wav2vec2",
      "its positions come from a convolution over the features, which no spec says" },
    { "donut-swin maskformer-swin nougat swin swin2sr swinv2",
      "its stages bias scores by offsets in windows, and each stage has its own heads, which this reader does not "
      "take apart" },
    { "funnel",
      "it pools the sequence between blocks, so distances change by layer" },
    { "canary cohere_asr fastspeech2_conformer fastspeech2_conformer_with_hifigan gemma3n_audio gemma4_audio "
      "granite_speech5_ctc granite_speech5_encoder granite_speech_encoder granite_speech_plus_encoder "
      "nemotron3_5_asr nemotron_asr_streaming nemotron_asr_streaming_encoder parakeet_ctc parakeet_encoder "
      "parakeet_rnnt parakeet_tdt phi4_multimodal_audio seamless_m4t seamless_m4t_v2 wav2vec2-conformer",
      "its relative positions are those of a Conformer encoder over convolutions, which this reader does not take "
      "apart" },
    { "perceiver",
      "its positions belong to its preprocessors, which the config does not name" },
    { "prophetnet",
      "its n-gram streams have buckets of their own, which no spec says" },
    { "reformer",
      "its table is a product of two along one sequence (axial_pos_shape), which no spec says" },
    { "sew-d",
      "its DeBERTa scores use positions from a convolution, which no spec describes" },
    { "udop",
      "its encoder adds biases by two more, two-dimensional distances to T5's, which no spec says" },
    { "wavlm",
      "its T5 buckets are gated by the features, over positions from a convolution, which no spec says" },
    { "beam",
      "its full layers scale queries by (1 + (position + 1) / 2048)^0.1, which no spec says" },
    { "mistral_large4 mistral_large4_text",
      "its frequencies and a factor on its queries are trained, so the weights say them and not the config" },
    { "inkling_audio inkling_vision",
      "it folds each frame or patch by itself, without attention, so it has no positions" },
    { "neomme",
      "its patches rotate by two axes and its windows differ by layer, which this reader does not take apart" },
    { "vjepa2",
      "its tables repeat by halves while its pairs are adjacent, which is no rotation" },
    { "kimi_k25_vision",
      "its pairs alternate between columns and rows, each with all frequencies, which no spec says" },
    { "muse_glimmer_vision muse_spark_vision step3p5_vision",
      "its pairs rotate by the column first and the row second, which no spec says" },
    { "mlcd mlcd_vision_model",
      "its class token rotates by trained angles, which no spec says" },
    { "inkling2_vision",
      "it rotates by the column first and the row second, from 1 on, and not the class token, which no spec says" },
    { "dots3_note dots3_note_text",
      "its sliding layers have another number of heads and other widths of them, which this reader does not take "
      "apart" },
    { "llama4_vision_model",
      "it rotates by columns and rows from 1 on, and not the class token, which no spec says" },
    { "minimax_m3_vl_vision",
      "it rotates by three axes, a part of each head, which this reader does not take apart" },
    { "efficientloftr lightglue superglue",
      "it rotates by the pixels of key points, in an order or by a projection of its own, which no spec says" },
    { "edgetam_video sam2_video sam3_tracker_video sam3_video sam3_vision_model sam3_vit_model",
      "its memory of frames rotates by two axes beside tokens that do not, which this reader does not take apart" },
    { "clvp clvp_decoder clvp_encoder",
      "it rotates values too, by a head dimension that another part gives, which this reader does not take apart" },
    { "fnet",
      "it mixes tokens by a Fourier transform, without attention" },
    { "align_vision_model bit chameleon_vqgan convnext convnextv2 dac dinov3_convnext efficientnet emu3_vqgan "
      "encodec fastspeech2_conformer_hifigan flava_image_codebook focalnet gemma3n_vision glm_image_vqmodel "
      "hgnet_v2 janus_vqgan mobilenet_v1 mobilenet_v2 poolformer pp_lcnet pp_lcnet_v3 pp_lcnet_v4 "
      "qwen2_5_omni_bigvgan regnet resnet rt_detr_resnet slanet speecht5_hifigan superpoint textnet univnet uvdoc "
      "uvdoc_backbone vibevoice_acoustic_tokenizer vibevoice_acoustic_tokenizer_decoder "
      "vibevoice_acoustic_tokenizer_encoder",
      "it is a network of convolutions, without attention that sees positions" },
    { "timm_backbone timm_wrapper",
      "its code is timm's, which the config names" },
    { "aimv2_vision_model bridgetower_vision_model chmv2 cosmos3_edge_vision cvt deepseek_ocr2_sam_vision_model "
      "deepseek_ocr2_vision depth_pro dinat dpt edgetam_vision_model eomt florence_vision gemma4_unified_vision "
      "glm_image_vision glpn got_ocr2_vision hiera hunyuan_vl_vision kosmos_2_5_vision_model levit lw_detr_vit "
      "mgp-str minicpm_ocr_vision minicpmv4_6_vision minicpmv4_7_vision mllama_vision_model mobilevit mobilevitv2 "
      "molmo2_adapter molmo2_vision ovis2_vision pix2struct_vision_model pixio pp_chart2table_vision pp_formulanet "
      "pp_formulanet_text pp_formulanet_vision pvt pvt_v2 radio rf_detr_dinov2 sam2_hiera_det_model "
      "sam2_vision_model sam_hq_vision_model sam_vision_model sapiens2 sapiens2_head segformer seggpt slanext "
      "slanext_vision swiftformer unlimited_ocr_sam_vision_model unlimited_ocr_vision unlimited_ocr_vision_encoder "
      "upernet vitdet vitmatte vitpose vitpose_backbone yolos zoedepth",
      "its code was not read for this table: a part for pictures" },
    { "conditional_detr d_fine dab-detr deformable_detr deimv2 detr edgetam edgetam_mask_decoder "
      "edgetam_prompt_encoder edgetam_video_mask_decoder edgetam_video_prompt_encoder lw_detr mask2former "
      "maskformer oneformer pp_doclayout_v2 pp_doclayout_v3 pp_doclayout_v4 pp_ocrv5_mobile_det pp_ocrv5_mobile_rec "
      "pp_ocrv5_server_det pp_ocrv5_server_rec pp_ocrv6_medium_det pp_ocrv6_small_det pp_ocrv6_small_rec "
      "pp_ocrv6_tiny_rec rf_detr rt_detr rt_detr_v2 sam sam2 sam2_mask_decoder sam2_prompt_encoder "
      "sam2_video_mask_decoder sam2_video_prompt_encoder sam3_detr_decoder sam3_detr_encoder sam3_geometry_encoder "
      "sam3_lite_text_detr_decoder sam3_lite_text_detr_encoder sam3_lite_text_geometry_encoder "
      "sam3_lite_text_mask_decoder sam3_mask_decoder sam3_tracker sam3_tracker_mask_decoder "
      "sam3_tracker_prompt_encoder sam3_tracker_video_mask_decoder sam3_tracker_video_prompt_encoder sam_hq "
      "sam_hq_mask_decoder sam_hq_prompt_encoder sam_mask_decoder sam_prompt_encoder table-transformer",
      "its code was not read for this table: a detector, or a decoder of masks, with positions of its own" },
    { "audio-spectrogram-transformer bark canary_decoder clap_audio_model fun_asr_nano_encoder gemma4_unified_audio "
      "higgs_audio_v2_tokenizer moonshine_streaming_encoder moshi_depth moss_transcribe_diarize_audio "
      "muse_spark_audio qwen2_5_omni_token2wav speecht5 vibevoice_diffusion vits xcodec",
      "its code was not read for this table: a part for sound" },
    { "decision_transformer flava_multimodal_model lxmert patchtsmixer patchtst rag timesfm timesformer tipsv2 "
      "tipsv2_text_model tvp videomae videomt videoprism videoprism_text_model videoprism_vision_model vilt vivit",
      "its code was not read for this table: a model of films, of series or of several kinds of input" },
    { "blip_2_qformer idefics2_perceiver idefics_perciever instructblip_qformer instructblipvideo_qformer",
      "its code was not read for this table: a part that asks another part questions" },
};
/* clang-format on */

const char *zoo_unread_reason(const char *type)
{
    for (size_t n = 0; n < sizeof unread / sizeof *unread; n++)
        if (zoo_has_word(unread[n].types, type))
            return unread[n].reason;
    return NULL;
}
