/* SPDX-License-Identifier: MIT
 *
 * Model types of transformers that are known and not read, and why: "model_type swin is known, but its stages bias ..."
 * docs/models.md counts them by these headings. `make golden` names the types of transformers that stand neither here
 * nor in the other tables. */
#include "zoo/facts.h"
#include "zoo/spec_read.h"

#include <stddef.h>

/* clang-format off */
static const struct {
    const char *types, *reason;
} unread[] = {
    /* no positions: convolutions and their like */
    { "align_vision_model bit chameleon_vqgan convnext convnextv2 dac dinov3_convnext efficientnet emu3_vqgan "
      "encodec fastspeech2_conformer_hifigan flava_image_codebook focalnet gemma3n_vision glm_image_vqmodel "
      "hgnet_v2 janus_vqgan mobilenet_v1 mobilenet_v2 muse_spark_audio poolformer pp_lcnet pp_lcnet_v3 "
      "pp_lcnet_v4 pp_ocrv5_mobile_det pp_ocrv5_server_det pp_ocrv6_medium_det pp_ocrv6_small_det "
      "pp_ocrv6_tiny_rec qwen2_5_omni_bigvgan regnet resnet rt_detr_resnet sapiens2_head slanet speecht5_hifigan "
      "superpoint textnet univnet uvdoc uvdoc_backbone vibevoice_acoustic_tokenizer "
      "vibevoice_acoustic_tokenizer_decoder vibevoice_acoustic_tokenizer_encoder",
      "it is a network of convolutions, without attention that sees positions" },
    { "cvt glpn mobilevit mobilevitv2 pp_ocrv5_mobile_rec pp_ocrv5_server_rec pp_ocrv6_small_rec pvt_v2 segformer "
      "swiftformer",
      "its attention has no position encoding, and convolutions between tell places, which no spec says" },
    { "gemma4_unified_audio inkling_audio inkling_vision vibevoice_diffusion",
      "it folds each frame, patch or token by itself, without attention, so it has no positions" },
    { "fnet",
      "it mixes tokens by a Fourier transform, without attention" },
    /* detectors and masks of pictures */
    { "conditional_detr d_fine dab-detr deformable_detr deimv2 detr lw_detr mask2former maskformer oneformer "
      "pp_doclayout_v2 pp_doclayout_v3 pp_doclayout_v4 rf_detr rt_detr rt_detr_v2 sam3_detr_decoder "
      "sam3_detr_encoder sam3_lite_text_detr_decoder sam3_lite_text_detr_encoder table-transformer",
      "it is a detector: each layer adds sines of rows and columns, or codes of boxes that it predicts, to "
      "queries and keys, which no spec says" },
    { "edgetam edgetam_prompt_encoder edgetam_video_prompt_encoder sam sam2 sam2_prompt_encoder "
      "sam2_video_prompt_encoder sam3_geometry_encoder sam3_lite_text_geometry_encoder sam3_tracker "
      "sam3_tracker_prompt_encoder sam3_tracker_video_prompt_encoder sam_hq sam_hq_prompt_encoder "
      "sam_prompt_encoder",
      "its positions are points and boxes that a user gives, coded by random waves or sines, which no spec says" },
    { "edgetam_mask_decoder edgetam_video_mask_decoder sam2_mask_decoder sam2_video_mask_decoder "
      "sam3_lite_text_mask_decoder sam3_mask_decoder sam3_tracker_mask_decoder sam3_tracker_video_mask_decoder "
      "sam_hq_mask_decoder sam_mask_decoder",
      "it decodes masks with positions that another part codes, or none, and has none of its own" },
    /* parts that read another part */
    { "blip_2_qformer instructblip_qformer instructblipvideo_qformer",
      "its trained queries have no positions, and text behind them, if there is any, has a table from 0 on, which "
      "no spec says" },
    { "idefics2_perceiver idefics_perciever molmo2_adapter",
      "it reads another part by queries, trained or means of patches, that have no positions" },
    /* two-dimensional offsets in scores */
    { "beit data2vec-vision",
      "its scores are biased by two-dimensional offsets, with rows of their own for the class token, which no "
      "spec says" },
    { "clap_audio_model dinat donut-swin levit maskformer-swin nougat swin swin2sr swinv2",
      "its stages bias scores by two-dimensional offsets, and each stage has its own heads, which this reader "
      "does not take apart" },
    { "deepseek_ocr2_sam_vision_model got_ocr2_vision pp_chart2table_vision pp_formulanet_vision "
      "sam_hq_vision_model sam_vision_model seggpt slanext slanext_vision unlimited_ocr_sam_vision_model",
      "its scores add products of queries with trained rows of two-dimensional offsets, which no spec says" },
    { "vitdet",
      "its configs may add products of queries with trained rows of two-dimensional offsets to scores, which no "
      "spec says" },
    { "bros layoutlmv2 layoutlmv3 layoutxlm",
      "it adds biases by the place on the page, which no spec says" },
    /* sound */
    { "cohere_asr fastspeech2_conformer fastspeech2_conformer_with_hifigan gemma3n_audio gemma4_audio "
      "granite_speech5_ctc granite_speech5_encoder granite_speech_encoder granite_speech_plus_encoder "
      "nemotron3_5_asr nemotron_asr_streaming nemotron_asr_streaming_encoder phi4_multimodal_audio seamless_m4t "
      "seamless_m4t_v2",
      "its Conformer encoder counts distances in blocks, by scores of its own or in several stacks, which this "
      "reader does not take apart" },
    { "data2vec-audio higgs_audio_v2_tokenizer hubert sew unispeech unispeech-sat wav2vec2 xcodec",
      "its positions come from a convolution over the features, which no spec says" },
    { "sew-d",
      "its DeBERTa scores use positions from a convolution, which no spec describes" },
    { "wavlm",
      "its T5 buckets are gated by the features, over positions from a convolution, which no spec says" },
    /* rotations */
    { "neomme",
      "its patches rotate by two axes and its windows differ by layer, which this reader does not take apart" },
    { "vjepa2",
      "its tables repeat by halves while its pairs are adjacent, which is no rotation" },
    { "kimi_k25_vision",
      "its pairs alternate between columns and rows, each with all frequencies, which no spec says" },
    { "muse_glimmer_vision muse_spark_vision sam3_vision_model sam3_vit_model step3p5_vision",
      "its pairs rotate by the column first and the row second, which no spec says" },
    { "mlcd mlcd_vision_model",
      "its class token rotates by trained angles, which no spec says" },
    { "inkling2_vision",
      "it rotates by the column first and the row second, from 1 on, and not the class token, which no spec says" },
    { "llama4_vision_model",
      "it rotates by columns and rows from 1 on, and not the class token, which no spec says" },
    { "minimax_m3_vl_vision",
      "it rotates by three axes, a part of each head, which this reader does not take apart" },
    { "efficientloftr lightglue superglue",
      "it rotates by the pixels of key points, in an order or by a projection of its own, which no spec says" },
    { "edgetam_video sam2_video sam3_tracker_video sam3_video",
      "its memory of frames rotates by two axes beside tokens that do not, which this reader does not take apart" },
    { "clvp clvp_decoder clvp_encoder",
      "it rotates values too, by a head dimension that another part gives, which this reader does not take apart" },
    { "qwen2_5_omni_dit qwen2_5_omni_token2wav",
      "it rotates the first head of each layer and no other, which no spec says" },
    { "dots3_note dots3_note_text",
      "its sliding layers have another number of heads and other widths of them, which this reader does not take "
      "apart" },
    { "mistral_large4 mistral_large4_text",
      "its frequencies and a factor on its queries are trained, so the weights say them and not the config" },
    { "beam",
      "its full layers scale queries by (1 + (position + 1) / 2048)^0.1, which no spec says" },
    /* tables and sines */
    { "hiera pvt sam2_hiera_det_model sam2_vision_model",
      "its stages have widths of their own, and the first or each has a table, which this reader does not take "
      "apart" },
    { "florence_vision",
      "its codes of rows, columns and frames come behind convolutions and windows without positions, which this "
      "reader does not take apart" },
    { "mllama_vision_model",
      "its tables count the tiles of a picture too, and trained gates weight them, which no spec says" },
    { "timesformer videoprism_vision_model",
      "its frames and its patches have tables of their own, each for another attention, which this reader does "
      "not take apart" },
    { "lxmert tvp vilt",
      "its sequence holds words with one table and patches, frames or boxes with others, which no spec says" },
    { "vitpose vitpose_backbone",
      "it adds the first row of its table to every patch too, which no spec says" },
    { "yolos",
      "it adds a further table before each layer, which no spec says" },
    { "gemma4_unified_vision",
      "it has no layers of its own: it adds a table of rows and one of columns to the patches of the text model" },
    { "perceiver",
      "its positions belong to its preprocessors, which the config does not name" },
    { "reformer",
      "its table is a product of two along one sequence (axial_pos_shape), which no spec says" },
    { "decision_transformer",
      "it adds a table by the step of an episode to its state, action and return alike, and none by the token" },
    { "patchtsmixer patchtst",
      "its sines are centred and divided by their spread, which no spec says" },
    /* the rest */
    { "cpmant",
      "its buckets depend on segments, which no spec says" },
    { "funnel",
      "it pools the sequence between blocks, so distances change by layer" },
    { "prophetnet",
      "its n-gram streams have buckets of their own, which no spec says" },
    { "udop",
      "its encoder adds biases by two more, two-dimensional distances to T5's, which no spec says" },
    { "edgetam_vision_model timm_backbone timm_wrapper",
      "its code is timm's, which the config names" },
    { "upernet vitmatte zoedepth",
      "it is a head on another model, its backbone_config (resnet, vitdet, beit by default), whose file says more" },
    { "moonshine_streaming_encoder",
      "it has no position encoding, and each layer has its own window to both sides, which this reader does not "
      "take apart" },
    { "speecht5",
      "its encoder has Shaw's table of 160 distances and its decoder sines with a trained factor, which this "
      "reader does not take apart" },
    { "vits",
      "its tables of distances, for keys and for values, end at 4, and further keys get nothing, which no spec "
      "says" },
};
/* clang-format on */

const char *zoo_unread_reason(const char *type)
{
    for (size_t n = 0; n < sizeof unread / sizeof *unread; n++)
        if (zoo_has_word(unread[n].types, type))
            return unread[n].reason;
    return NULL;
}
