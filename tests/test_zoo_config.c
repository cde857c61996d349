/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 2 s; needs: zoo wrap
 *
 * What a config.json means. Each expected line is written down from the model's code and card; the configs are the
 * published ones, less the keys that say nothing here. ' stands for ".
 */
#include "heap.h"

#include "../src/zoo/facts.h"
#include "../src/zoo/zoo.h"

#include "test.h"

#define TIMES4(x) x "," x "," x "," x
#define TIMES16(x) TIMES4(x) "," TIMES4(x) "," TIMES4(x) "," TIMES4(x)
#define TIMES48(x) TIMES16(x) "," TIMES16(x) "," TIMES16(x)

static pe_error err;

/* ---------------------------------------------------------------- reading */

static pe_status read_with(zoo_model **m, const char *text, zoo_options options)
{
    static char json[1 << 16];
    size_t n = strlen(text);
    assert_true(n < sizeof json);
    for (size_t i = 0; i <= n; i++)
        json[i] = text[i] == '\'' ? '"' : text[i];
    err.text[0] = 0;
    return zoo_read_config(m, "config.json", json, n, &options, &err);
}

/* "; 5 sliding_attention, 1 full_attention", over and over; nothing where layers are of one kind without a name. */
static size_t put_kinds(char *out, size_t room, const zoo_part *part)
{
    int64_t period = 1, n = 0, run;
    size_t used = 0;
    while (n < part->layers) { /* the shortest after which kinds come again */
        for (n = period; n < part->layers && !strcmp(part->layer[n].kind, part->layer[n - period].kind);)
            n++;
        period += n < part->layers;
    }
    for (n = 0; n < period && n < part->layers && (period > 1 || *part->layer[0].kind); n += run) {
        for (run = 1; n + run < period && !strcmp(part->layer[n].kind, part->layer[n + run].kind);)
            run++;
        used += (size_t)snprintf(out + used, room - used, "%s %" PRId64 " %s", n ? "," : ";", run, part->layer[n].kind);
    }
    return used;
}

/* "text llama 32/8x128 4096/4096: 32x rope, 8 windows of 4096; 3 sliding_attention, 1 full_attention | vision ...":
 * parts, their types, heads / key heads x width of the first layer, trained and served lengths, what the layers do, and
 * their kinds until they come again; the long lists of longrope are cut. */
static const char *summary(const zoo_model *m)
{
    static char text[4096];
    size_t used = 0;
    for (int p = 0; p < m->parts; p++) {
        const zoo_part *part = &m->part[p];
        int64_t windows = 0, window = 0;
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s%s%s%s %" PRId64 "/%" PRId64 "x%" PRId64 " %" PRId64 "/%" PRId64 ":",
            p ? " | " : "", part->name, *part->name ? " " : "", part->type, part->group[0].shape.heads,
            part->group[0].shape.kv_heads, part->group[0].shape.head_dim, part->trained, part->served);
        for (int g = 0; g < part->groups; g++) {
            const char *spec = part->group[g].spec, *list = strstr(spec, ",short=");
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %" PRId64 "x %.*s", g ? "," : "",
                                     part->group[g].layers, list ? (int)(list - spec) : (int)strlen(spec), spec);
        }
        for (int64_t n = 0; n < part->layers; n++) {
            windows += part->layer[n].window > 0;
            window = part->layer[n].window > 0 ? part->layer[n].window : window;
        }
        if (windows)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, ", %" PRId64 " windows of %" PRId64, windows, window);
        used += put_kinds(text + used, sizeof text - used, part);
    }
    return text;
}

/* ---------------------------------------------------------------- published models */

#define SMALL(type, layers)                                                                                            \
    "{'model_type':'" type "','hidden_size':64,'num_attention_heads':4,'num_hidden_layers':" layers                    \
    ",'max_position_embeddings':128"

/* clang-format off */
static const struct {
    const char *name, *json, *want;
} published[] = {
    { "Llama-2-7B",
      "{'architectures':['LlamaForCausalLM'],'hidden_size':4096,'max_position_embeddings':4096,'model_type':'llama','num_attention_heads':32,'num_hidden_layers':32,'num_key_value_heads':32,'rope_scaling':null,'torch_dtype':'float16','vocab_size':32000}",
      "llama 32/32x128 4096/4096: 32x rope" },
    { "Llama-3.1-8B",
      "{'model_type':'llama','hidden_size':4096,'max_position_embeddings':131072,'num_attention_heads':32,'num_hidden_layers':32,'num_key_value_heads':8,'rope_scaling':{'factor':8.0,'low_freq_factor':1.0,'high_freq_factor':4.0,'original_max_position_embeddings':8192,'rope_type':'llama3'},'rope_theta':500000.0}",
      "llama 32/8x128 8192/131072: 32x rope:theta=500000,scaling=llama3,factor=8,trained=8192" },
    { "CodeLlama-7b",
      "{'model_type':'llama','hidden_size':4096,'max_position_embeddings':16384,'num_attention_heads':32,'num_hidden_layers':32,'num_key_value_heads':32,'rope_scaling':null,'rope_theta':1000000}",
      "llama 32/32x128 16384/16384: 32x rope:theta=1000000" },
    { "Mistral-7B-v0.1",
      "{'model_type':'mistral','hidden_size':4096,'max_position_embeddings':32768,'num_attention_heads':32,'num_hidden_layers':32,'num_key_value_heads':8,'rope_theta':10000.0,'sliding_window':4096}",
      "mistral 32/8x128 32768/32768: 32x rope, 32 windows of 4096" },
    { "Mistral-7B-v0.3",
      "{'model_type':'mistral','hidden_size':4096,'max_position_embeddings':32768,'num_attention_heads':32,'num_hidden_layers':32,'num_key_value_heads':8,'rope_theta':1000000.0,'sliding_window':null}",
      "mistral 32/8x128 32768/32768: 32x rope:theta=1000000" },
    { "Mixtral-8x7B",
      "{'model_type':'mixtral','hidden_size':4096,'max_position_embeddings':32768,'num_attention_heads':32,'num_hidden_layers':32,'num_key_value_heads':8,'rope_theta':1000000.0,'sliding_window':null}",
      "mixtral 32/8x128 32768/32768: 32x rope:theta=1000000" },
    { "Qwen-7B",
      "{'architectures':['QWenLMHeadModel'],'model_type':'qwen','hidden_size':4096,'kv_channels':128,'max_position_embeddings':32768,'num_attention_heads':32,'num_hidden_layers':32,'rotary_emb_base':10000,'rotary_pct':1.0,'seq_length':8192,'use_dynamic_ntk':true,'use_logn_attn':true}",
      "qwen 32/32x128 8192/32768: 32x rope" },
    { "Qwen2.5-7B-Instruct",
      "{'model_type':'qwen2','hidden_size':3584,'max_position_embeddings':32768,'max_window_layers':28,'num_attention_heads':28,'num_hidden_layers':28,'num_key_value_heads':4,'rope_theta':1000000.0,'sliding_window':131072,'use_sliding_window':false}",
      "qwen2 28/4x128 32768/32768: 28x rope:theta=1000000" },
    { "Qwen2.5-7B-Instruct, yarn",
      "{'model_type':'qwen2','hidden_size':3584,'max_position_embeddings':32768,'num_attention_heads':28,'num_hidden_layers':28,'num_key_value_heads':4,'rope_theta':1000000.0,'rope_scaling':{'factor':4.0,'original_max_position_embeddings':32768,'type':'yarn'}}",
      "qwen2 28/4x128 32768/32768: 28x rope:theta=1000000,scaling=yarn,factor=4,trained=32768" },
    { "Qwen2-VL-7B, flat",
      "{'model_type':'qwen2_vl','hidden_size':3584,'max_position_embeddings':32768,'max_window_layers':28,'num_attention_heads':28,'num_hidden_layers':28,'num_key_value_heads':4,'rope_theta':1000000.0,'sliding_window':32768,'use_sliding_window':false,'rope_scaling':{'type':'mrope','mrope_section':[16,24,24]},'vision_config':{'depth':32,'embed_dim':1280,'hidden_size':3584,'in_chans':3,'mlp_ratio':4,'model_type':'qwen2_vl','num_heads':16,'patch_size':14,'spatial_merge_size':2}}",
      "text qwen2_vl_text 28/4x128 32768/32768: 28x rope:theta=1000000,axes=3,sections=16/24/24 | vision qwen2_vl_vision 16/16x80 0/0: 32x rope:axes=2,split=axial" },
    { "Qwen3-30B-A3B",
      "{'model_type':'qwen3_moe','head_dim':128,'hidden_size':2048,'max_position_embeddings':40960,'max_window_layers':48,'num_attention_heads':32,'num_hidden_layers':48,'num_key_value_heads':4,'rope_scaling':null,'rope_theta':1000000.0,'sliding_window':null,'use_sliding_window':false}",
      "qwen3_moe 32/4x128 40960/40960: 48x rope:theta=1000000" },
    { "Gemma-2B",
      "{'model_type':'gemma','head_dim':256,'hidden_size':2048,'max_position_embeddings':8192,'num_attention_heads':8,'num_hidden_layers':18,'num_key_value_heads':1,'rope_scaling':null,'rope_theta':10000.0}",
      "gemma 8/1x256 8192/8192: 18x rope" },
    { "Gemma-2-9B",
      "{'model_type':'gemma2','head_dim':256,'hidden_size':3584,'max_position_embeddings':8192,'num_attention_heads':16,'num_hidden_layers':42,'num_key_value_heads':8,'query_pre_attn_scalar':256,'rope_theta':10000.0,'sliding_window':4096,'sliding_window_size':4096}",
      "gemma2 16/8x256 8192/8192: 42x rope, 21 windows of 4096; 1 sliding_attention, 1 full_attention" },
    { "Gemma-3-4B",
      "{'architectures':['Gemma3ForConditionalGeneration'],'model_type':'gemma3','mm_tokens_per_image':256,'text_config':{'hidden_size':2560,'intermediate_size':10240,'model_type':'gemma3_text','num_hidden_layers':34,'rope_scaling':{'factor':8.0,'rope_type':'linear'},'sliding_window':1024},'vision_config':{'hidden_size':1152,'image_size':896,'intermediate_size':4304,'model_type':'siglip_vision_model','num_attention_heads':16,'num_hidden_layers':27,'patch_size':14,'vision_use_head':false}}",
      "text gemma3_text 8/4x256 0/131072: 29x rope, 5x rope:theta=1000000,scaling=linear,factor=8, 29 windows of 1024; 5 sliding_attention, 1 full_attention | vision siglip_vision_model 16/16x72 4096/4096: 27x learned:rows=4096" },
    { "gpt-oss-20b",
      "{'model_type':'gpt_oss','head_dim':64,'hidden_size':2880,'initial_context_length':4096,'max_position_embeddings':131072,'num_attention_heads':64,'num_hidden_layers':4,'num_key_value_heads':8,'layer_types':['sliding_attention','full_attention','sliding_attention','full_attention'],'rope_scaling':{'beta_fast':32.0,'beta_slow':1.0,'factor':32.0,'original_max_position_embeddings':4096,'rope_type':'yarn','truncate':false},'rope_theta':150000,'sliding_window':128}",
      "gpt_oss 64/8x64 4096/131072: 4x rope:theta=150000,scaling=yarn,factor=32,trained=4096,truncate=no, 2 windows of 128; 1 sliding_attention, 1 full_attention" },
    { "DeepSeek-V2-Lite",
      "{'model_type':'deepseek_v2','hidden_size':2048,'kv_lora_rank':512,'max_position_embeddings':163840,'num_attention_heads':16,'num_hidden_layers':27,'num_key_value_heads':16,'q_lora_rank':null,'qk_nope_head_dim':128,'qk_rope_head_dim':64,'rope_scaling':{'beta_fast':32,'beta_slow':1,'factor':40,'mscale':0.707,'mscale_all_dim':0.707,'original_max_position_embeddings':4096,'type':'yarn'},'rope_theta':10000,'v_head_dim':128}",
      "deepseek_v2 16/16x192 4096/163840: 27x rope:pairs=adjacent,dims=64,range=trailing,scaling=yarn,factor=40,trained=4096,mscale=0.707,mscale_all_dim=0.707,softmax=1.5896261651208736" },
    { "DeepSeek-V3",
      "{'model_type':'deepseek_v3','hidden_size':7168,'kv_lora_rank':512,'max_position_embeddings':163840,'num_attention_heads':128,'num_hidden_layers':61,'num_key_value_heads':128,'num_nextn_predict_layers':1,'q_lora_rank':1536,'qk_nope_head_dim':128,'qk_rope_head_dim':64,'rope_scaling':{'beta_fast':32,'beta_slow':1,'factor':40,'mscale':1.0,'mscale_all_dim':1.0,'original_max_position_embeddings':4096,'type':'yarn'},'rope_theta':10000,'v_head_dim':128}",
      "deepseek_v3 128/128x192 4096/163840: 61x rope:pairs=adjacent-half,dims=64,range=trailing,scaling=yarn,factor=40,trained=4096,mscale=1,mscale_all_dim=1,softmax=1.8738542070926265" },
    { "Phi-2",
      "{'model_type':'phi','hidden_size':2560,'max_position_embeddings':2048,'num_attention_heads':32,'num_hidden_layers':32,'num_key_value_heads':null,'partial_rotary_factor':0.4,'rope_scaling':null,'rope_theta':10000.0}",
      "phi 32/32x80 2048/2048: 32x rope:dims=32" },
    { "Phi-3-mini-128k",
      "{'model_type':'phi3','hidden_size':3072,'max_position_embeddings':131072,'num_attention_heads':32,'num_hidden_layers':32,'num_key_value_heads':32,'original_max_position_embeddings':4096,'rope_scaling':{'long_factor':[" TIMES48("2.5") "],'short_factor':[" TIMES48("1.05") "],'type':'longrope'},'rope_theta':10000.0,'sliding_window':262144}",
      "phi3 32/32x96 4096/131072: 32x rope:scaling=longrope,factor=32,trained=4096, 32 windows of 262144" },
    { "Phi-3.5-MoE",
      "{'model_type':'phimoe','hidden_size':4096,'max_position_embeddings':131072,'num_attention_heads':32,'num_hidden_layers':32,'num_key_value_heads':8,'original_max_position_embeddings':4096,'rope_scaling':{'long_factor':[" TIMES48("2") "," TIMES16("2") "],'long_mscale':1.243163121016122,'original_max_position_embeddings':4096,'short_factor':[" TIMES48("1") "," TIMES16("1") "],'short_mscale':1.243163121016122,'type':'longrope'},'rope_theta':10000.0,'sliding_window':131072}",
      "phimoe 32/8x128 4096/131072: 32x rope:scaling=longrope,factor=32,trained=4096, 32 windows of 131072" },
    { "GPT-J-6B",
      "{'model_type':'gptj','n_embd':4096,'n_head':16,'n_layer':28,'n_positions':2048,'rotary':true,'rotary_dim':64}",
      "gptj 16/16x256 2048/2048: 28x rope:pairs=adjacent,dims=64" },
    { "GPT-NeoX-20B",
      "{'model_type':'gpt_neox','hidden_size':6144,'max_position_embeddings':2048,'num_attention_heads':64,'num_hidden_layers':44,'rotary_emb_base':10000,'rotary_pct':0.25}",
      "gpt_neox 64/64x96 2048/2048: 44x rope:dims=24" },
    { "Pythia-410m",
      "{'model_type':'gpt_neox','hidden_size':1024,'max_position_embeddings':2048,'num_attention_heads':16,'num_hidden_layers':24,'rotary_emb_base':10000,'rotary_pct':0.25,'use_parallel_residual':true}",
      "gpt_neox 16/16x64 2048/2048: 24x rope:dims=16" },
    { "Falcon-7B",
      "{'alibi':false,'model_type':'falcon','hidden_size':4544,'multi_query':true,'new_decoder_architecture':false,'num_attention_heads':71,'num_hidden_layers':32,'parallel_attn':true}",
      "falcon 71/1x64 2048/2048: 32x rope" },
    { "Falcon-7B, its first config",
      "{'alibi':false,'model_type':'RefinedWebModel','hidden_size':4544,'multi_query':true,'n_head':71,'n_layer':32,'parallel_attn':true}",
      "RefinedWebModel 71/1x64 2048/2048: 32x rope" },
    { "Falcon-40B",
      "{'alibi':false,'model_type':'falcon','hidden_size':8192,'new_decoder_architecture':true,'num_attention_heads':128,'num_hidden_layers':60,'num_kv_heads':8}",
      "falcon 128/8x64 2048/2048: 60x rope" },
    { "Falcon-RW-1B",
      "{'alibi':true,'model_type':'falcon','hidden_size':2048,'multi_query':false,'new_decoder_architecture':false,'num_attention_heads':32,'num_hidden_layers':24}",
      "falcon 32/32x64 2048/2048: 24x alibi:convention=falcon" },
    { "BLOOM-560m",
      "{'model_type':'bloom','n_embed':1024,'hidden_size':1024,'n_layer':24,'num_attention_heads':16,'seq_length':2048,'offset_alibi':100}",
      "bloom 16/16x64 2048/2048: 24x alibi" },
    { "Forgetting Transformer, fla",
      "{'model_type':'forgetting_transformer','hidden_size':1024,'num_hidden_layers':2,'num_heads':16,'num_kv_heads':null,'qk_norm':true,'window_size':null}",
      "forgetting_transformer 16/16x64 0/0: 2x forget" },
    { "Intern-S1-Pro, the first layers",
      "{'model_type':'interns1_pro','text_config':{'model_type':'interns1_pro_text','head_dim':128,'hidden_size':4096,'num_hidden_layers':2,'num_attention_heads':64,'num_key_value_heads':4,'max_position_embeddings':262144,'rope_theta':5000000,'rope_scaling':{'fope_init_factor':0.5,'fope_sep_head':true,'num_inv_freq':null,'rope_type':'default'}}}",
      "text interns1_pro_text 64/4x128 262144/262144: 2x fope:theta=5000000,trained=262144,spread=0.5,still=1" },
    { "Intern-S1-Pro, shared mixtures, all frequencies that turn",
      SMALL("interns1_pro_text", "2") ",'rope_theta':10000,'rope_parameters':{'fope_sep_head':false,'num_inv_freq':3,'rope_theta':10000}}",
      "interns1_pro_text 4/4x16 128/128: 2x fope:trained=128,heads=shared,spread=0.1,still=1" },
    { "Intern-S1-Pro without FoPE",
      SMALL("interns1_pro_text", "2") ",'rope_theta':10000,'rope_scaling':{'rope_type':'default'}}",
      "interns1_pro_text 4/4x16 128/128: 2x rope" },
    { "MPT-7B",
      "{'model_type':'mpt','attn_config':{'alibi':true,'alibi_bias_max':8,'attn_impl':'torch','attn_type':'multihead_attention','prefix_lm':false,'qk_ln':false},'d_model':4096,'learned_pos_emb':true,'max_seq_len':2048,'n_heads':32,'n_layers':32}",
      "mpt 32/32x128 2048/2048: 32x alibi:convention=mpt" },
    { "Baichuan-7B",
      "{'architectures':['BaiChuanForCausalLM'],'model_type':'baichuan','hidden_size':4096,'max_position_embeddings':4096,'num_attention_heads':32,'num_hidden_layers':32}",
      "baichuan 32/32x128 4096/4096: 32x rope" },
    { "Baichuan2-13B",
      "{'architectures':['BaichuanForCausalLM'],'model_type':'baichuan','hidden_size':5120,'model_max_length':4096,'num_attention_heads':40,'num_hidden_layers':40}",
      "baichuan 40/40x128 4096/4096: 40x alibi" },
    { "ChatGLM-6B",
      "{'model_type':'chatglm','hidden_size':4096,'inner_hidden_size':16384,'max_sequence_length':2048,'num_attention_heads':32,'num_layers':28,'position_encoding_2d':true}",
      "chatglm 32/32x128 2048/2048: 28x rope:axes=2,split=blocks" },
    { "ChatGLM2-6B",
      "{'model_type':'chatglm','hidden_size':4096,'kv_channels':128,'multi_query_attention':true,'multi_query_group_num':2,'num_attention_heads':32,'num_layers':28,'original_rope':true,'seq_length':32768}",
      "chatglm 32/2x128 32768/32768: 28x rope:pairs=adjacent,dims=64" },
    { "ChatGLM3-6B-32k",
      "{'model_type':'chatglm','hidden_size':4096,'kv_channels':128,'multi_query_attention':true,'multi_query_group_num':2,'num_attention_heads':32,'num_layers':28,'original_rope':true,'rope_ratio':50,'seq_length':32768}",
      "chatglm 32/2x128 32768/32768: 28x rope:theta=500000,pairs=adjacent,dims=64" },
    { "GLM-4-9B-chat",
      "{'model_type':'chatglm','hidden_size':4096,'kv_channels':128,'multi_query_attention':true,'multi_query_group_num':2,'num_attention_heads':32,'num_hidden_layers':40,'num_layers':40,'original_rope':true,'rope_ratio':500,'seq_length':131072}",
      "chatglm 32/2x128 131072/131072: 40x rope:theta=5000000,pairs=adjacent,dims=64" },
    { "T5-small",
      "{'model_type':'t5','d_ff':2048,'d_kv':64,'d_model':512,'is_encoder_decoder':true,'n_positions':512,'num_heads':8,'num_layers':6,'relative_attention_num_buckets':32}",
      "decoder t5 8/8x64 512/512: 6x t5:direction=causal | encoder t5 8/8x64 512/512: 6x t5" },
    { "DeBERTa-v3-base",
      "{'model_type':'deberta-v2','hidden_size':768,'max_position_embeddings':512,'relative_attention':true,'position_buckets':256,'norm_rel_ebd':'layer_norm','share_att_key':true,'pos_att_type':'p2c|c2p','max_relative_positions':-1,'position_biased_input':false,'num_attention_heads':12,'num_hidden_layers':12,'type_vocab_size':0}",
      "deberta-v2 12/12x64 512/512: 12x deberta" },
    { "DeBERTa-base",
      "{'model_type':'deberta','hidden_size':768,'max_position_embeddings':512,'relative_attention':true,'pos_att_type':'c2p|p2c','max_relative_positions':-1,'position_biased_input':false,'num_attention_heads':12,'num_hidden_layers':12}",
      "deberta 12/12x64 512/512: 12x deberta:buckets=0" },
    { "Inkling",
      "{'model_type':'inkling_mm_model','text_config':{'model_type':'inkling_text','hidden_size':6144,'num_hidden_layers':12,'num_attention_heads':64,'num_key_value_heads':8,'head_dim':128,'swa_num_attention_heads':32,'swa_num_key_value_heads':16,'swa_head_dim':64,'sliding_window_size':256,'d_rel':8,'rel_extent':2048,'log_scaling_n_floor':16384,'log_scaling_alpha':0.2,'model_max_length':262144}}",
      "text inkling_text 32/16x64 262144/262144: 10x inkling:distances=256,width=8, 2x inkling:distances=2048,width=8,floor=16384,alpha=0.2, 10 windows of 256; 5 hybrid_sliding, 1 hybrid" },
    { "Inkling with local_layer_ids",
      "{'model_type':'inkling_text','num_hidden_layers':4,'local_layer_ids':[0,2,3],'max_position_embeddings':4096}",
      "inkling_text 64/16x128 4096/4096: 3x inkling:distances=512, 1x inkling, 3 windows of 512; 1 hybrid_sliding, 1 hybrid, 1 hybrid_sliding" },
    { "Inkling 2",
      "{'model_type':'inkling2','text_config':{'model_type':'inkling2_text','num_hidden_layers':12,'swa_num_attention_heads':24,'rel_extent':2048},'vision_config':{'model_type':'inkling2_vision'}}",
      "text inkling2_text 24/8x128 1048576/1048576: 10x inkling:scale=sqrt, 2x inkling:distances=2048,floor=128000,scale=sqrt, 10 windows of 1024; 5 hybrid_sliding, 1 hybrid" },
    { "LFM3",
      "{'model_type':'lfm3','num_hidden_layers':8,'max_position_embeddings':128000}",
      "lfm3 16/4x128 128000/128000: 5x none, 2x rope:theta=1000000,scaling=proportional,turning=0.5, 1x rope, 1 windows of 256; 2 conv, 1 full_attention, 1 conv, 1 sliding_attention, 1 conv, 1 full_attention" },
    { "LFM3-VL",
      "{'model_type':'lfm3_vl','text_config':{'model_type':'lfm3','num_hidden_layers':3},'vision_config':{'model_type':'lfm3_vl_vision','num_hidden_layers':4}}",
      "text lfm3 16/4x128 128000/128000: 2x none, 1x rope:theta=1000000,scaling=proportional,turning=0.5; 2 conv, 1 full_attention | vision lfm3_vl_vision 16/8x64 0/0: 3x none, 1x rope:theta=1000000,axes=2,split=axial; 2 conv, 1 full_attention" },
    { "XLNet-base",
      "{'model_type':'xlnet','attn_type':'bi','bi_data':false,'clamp_len':-1,'d_head':64,'d_inner':3072,'d_model':768,'mem_len':null,'n_head':12,'n_layer':12}",
      "xlnet 12/12x64 0/0: 12x xlnet" },
    { "BERT-base",
      "{'architectures':['BertForMaskedLM'],'model_type':'bert','hidden_size':768,'max_position_embeddings':512,'num_attention_heads':12,'num_hidden_layers':12,'pad_token_id':0,'type_vocab_size':2}",
      "bert 12/12x64 512/512: 12x learned" },
    { "Jina-v2-base",
      "{'architectures':['JinaBertForMaskedLM'],'model_type':'bert','hidden_size':768,'max_position_embeddings':8192,'model_max_length':8192,'num_attention_heads':12,'num_hidden_layers':12,'pad_token_id':0,'position_embedding_type':'alibi'}",
      "bert 12/12x64 8192/8192: 12x alibi:form=symmetric" },
    { "RoBERTa-base",
      "{'model_type':'roberta','hidden_size':768,'max_position_embeddings':514,'num_attention_heads':12,'num_hidden_layers':12,'pad_token_id':1}",
      "roberta 12/12x64 512/512: 12x learned:rows=514,offset=2" },
    { "GPT-2", "{'model_type':'gpt2','n_ctx':1024,'n_embd':768,'n_head':12,'n_layer':12,'n_positions':1024}",
      "gpt2 12/12x64 1024/1024: 12x learned:rows=1024" },
    { "OPT-125m",
      "{'model_type':'opt','hidden_size':768,'max_position_embeddings':2048,'num_attention_heads':12,'num_hidden_layers':12,'word_embed_proj_dim':768}",
      "opt 12/12x64 2048/2048: 12x learned:rows=2050,offset=2" },
    { "Whisper-tiny",
      "{'model_type':'whisper','d_model':384,'decoder_attention_heads':6,'decoder_layers':4,'encoder_attention_heads':6,'encoder_layers':4,'max_source_positions':1500,'max_target_positions':448,'num_hidden_layers':4}",
      "decoder whisper 6/6x64 448/448: 4x learned:rows=448 | encoder whisper 6/6x64 1500/1500: 4x sinusoidal:layout=halves,denominator=d-2" },
    { "StableLM-2-1.6B",
      "{'model_type':'stablelm','hidden_size':2048,'max_position_embeddings':4096,'num_attention_heads':32,'num_hidden_layers':24,'num_key_value_heads':32,'partial_rotary_factor':0.25,'rope_theta':10000}",
      "stablelm 32/32x64 4096/4096: 24x rope:dims=16" },
    { "StarCoder2-7B",
      "{'model_type':'starcoder2','hidden_size':4608,'max_position_embeddings':16384,'num_attention_heads':36,'num_hidden_layers':32,'num_key_value_heads':4,'rope_theta':1000000,'sliding_window':4096}",
      "starcoder2 36/4x128 16384/16384: 32x rope:theta=1000000, 32 windows of 4096" },
    { "Command-R",
      "{'model_type':'cohere','hidden_size':8192,'max_position_embeddings':8192,'model_max_length':131072,'num_attention_heads':64,'num_hidden_layers':40,'num_key_value_heads':64,'rope_theta':8000000.0}",
      "cohere 64/64x128 8192/8192: 40x rope:theta=8000000,pairs=adjacent" },
    { "Command-R7B",
      "{'model_type':'cohere2','head_dim':128,'hidden_size':4096,'layer_switch':4,'max_position_embeddings':8192,'num_attention_heads':32,'num_hidden_layers':32,'num_key_value_heads':8,'order_of_interleaved_layers':'local_attn_first','position_embedding_type':'rope_gptj','rope_scaling':null,'rope_theta':50000,'rotary_pct':1.0,'sliding_window':4096,'sliding_window_pattern':4}",
      "cohere2 32/8x128 8192/8192: 24x rope:theta=50000,pairs=adjacent, 8x none, 24 windows of 4096; 3 sliding_attention, 1 full_attention" },
    { "OLMo-2-7B",
      "{'model_type':'olmo2','hidden_size':4096,'max_position_embeddings':4096,'num_attention_heads':32,'num_hidden_layers':32,'num_key_value_heads':32,'rope_scaling':null,'rope_theta':500000}",
      "olmo2 32/32x128 4096/4096: 32x rope:theta=500000" },
    { "Olmo-3-7B",
      "{'model_type':'olmo3','hidden_size':4096,'layer_types':['sliding_attention','sliding_attention','sliding_attention','full_attention'],'max_position_embeddings':65536,'num_attention_heads':32,'num_hidden_layers':4,'num_key_value_heads':32,'rope_scaling':{'attention_factor':1.2079441541679836,'beta_fast':32.0,'beta_slow':1.0,'factor':8.0,'original_max_position_embeddings':8192,'rope_type':'yarn'},'rope_theta':500000,'sliding_window':4096}",
      "olmo3 32/32x128 8192/65536: 3x rope:theta=500000, 1x rope:theta=500000,scaling=yarn,factor=8,trained=8192, 3 windows of 4096; 3 sliding_attention, 1 full_attention" },
    { "SmolLM3-3B",
      "{'model_type':'smollm3','hidden_size':2048,'max_position_embeddings':65536,'max_window_layers':28,'no_rope_layer_interval':4,'no_rope_layers':[1,1,1,0,1,1,1,0],'num_attention_heads':16,'num_hidden_layers':8,'num_key_value_heads':4,'rope_scaling':null,'rope_theta':5000000.0,'sliding_window':null,'use_sliding_window':false}",
      "smollm3 16/4x128 65536/65536: 6x rope:theta=5000000, 2x none" },
    { "Llama-4-Scout",
      "{'model_type':'llama4','text_config':{'attention_chunk_size':8192,'attn_scale':0.1,'attn_temperature_tuning':4,'floor_scale':8192,'for_llm_compressor':false,'head_dim':128,'hidden_size':5120,'max_position_embeddings':10485760,'model_type':'llama4_text','no_rope_layers':[],'num_attention_heads':40,'num_hidden_layers':48,'num_key_value_heads':8,'rope_scaling':{'factor':16.0,'high_freq_factor':1.0,'low_freq_factor':1.0,'original_max_position_embeddings':8192,'rope_type':'llama3'},'rope_theta':500000.0},'vision_config':{'model_type':'llama4_vision_model','hidden_size':1408,'rope_theta':10000}}",
      "text llama4_text 40/8x128 8192/10485760: 36x rope:theta=500000,pairs=adjacent,scaling=llama3,factor=16,trained=8192,high=1, 12x rope:dims=0,temperature=0.1,shift=1, 36 windows of 8192; 3 chunked_attention, 1 full_attention" },
    { "ModernBERT-base",
      "{'model_type':'modernbert','global_attn_every_n_layers':3,'global_rope_theta':160000.0,'hidden_size':768,'local_attention':128,'local_rope_theta':10000.0,'max_position_embeddings':8192,'num_attention_heads':12,'num_hidden_layers':22,'position_embedding_type':'absolute'}",
      "modernbert 12/12x64 8192/8192: 8x rope:theta=160000, 14x rope, 14 windows of 65; 1 full_attention, 2 sliding_attention" },
    { "nomic-embed-text-v1.5",
      "{'model_type':'nomic_bert','max_trained_positions':2048,'n_embd':768,'n_head':12,'n_inner':3072,'n_layer':12,'n_positions':8192,'rotary_emb_base':1000,'rotary_emb_fraction':1.0,'rotary_emb_interleaved':false,'rotary_emb_scale_base':null,'rotary_scaling_factor':null,'type_vocab_size':2}",
      "nomic_bert 12/12x64 2048/8192: 12x rope:theta=1000" },
    { "Granite-4.0-h-tiny",
      "{'model_type':'granitemoehybrid','hidden_size':1536,'layer_types':['mamba','mamba','attention','mamba'],'max_position_embeddings':131072,'num_attention_heads':12,'num_hidden_layers':4,'num_key_value_heads':4,'position_embedding_type':'nope','rope_scaling':null,'rope_theta':10000}",
      "granitemoehybrid 12/4x128 131072/131072: 4x none; 2 mamba, 1 full_attention" },
    { "Jamba-v0.1",
      "{'model_type':'jamba','attn_layer_offset':4,'attn_layer_period':8,'hidden_size':4096,'max_position_embeddings':262144,'num_attention_heads':32,'num_hidden_layers':32,'num_key_value_heads':8,'sliding_window':null}",
      "jamba 32/8x128 262144/262144: 32x none" },
    { "Mamba2-2.7b",
      "{'model_type':'mamba2','chunk_size':256,'hidden_size':2560,'num_hidden_layers':64,'num_heads':80,'state_size':128,'time_step_limit':[0.0,Infinity]}",
      "mamba2 1/1x1 0/0: 64x none; 1 recurrent" },
    { "Minitron-4B",
      "{'model_type':'nemotron','head_dim':128,'hidden_size':3072,'max_position_embeddings':4096,'num_attention_heads':24,'num_hidden_layers':32,'num_key_value_heads':8,'partial_rotary_factor':0.5,'rope_percent':0.5,'rope_theta':10000}",
      "nemotron 24/8x128 4096/4096: 32x rope:dims=64" },
    { "Nemotron-H-8B",
      "{'model_type':'nemotron_h','attention_head_dim':128,'head_dim':128,'hidden_size':4096,'hybrid_override_pattern':'M-M*-E','max_position_embeddings':8192,'num_attention_heads':32,'num_hidden_layers':6,'num_key_value_heads':8,'rope_theta':10000,'time_step_limit':[0.0,Infinity]}",
      "nemotron_h 32/8x128 8192/8192: 6x none; 1 mamba, 1 mlp, 1 mamba, 1 full_attention, 1 mlp, 1 moe" },
    { "EXAONE-4.0-32B",
      "{'model_type':'exaone4','head_dim':128,'hidden_size':5120,'layer_types':['sliding_attention','sliding_attention','sliding_attention','full_attention'],'max_position_embeddings':131072,'num_attention_heads':40,'num_hidden_layers':4,'num_key_value_heads':8,'rope_scaling':{'factor':16.0,'high_freq_factor':4.0,'low_freq_factor':1.0,'original_max_position_embeddings':8192,'rope_type':'llama3'},'rope_theta':1000000,'sliding_window':4096,'sliding_window_pattern':'LLLG'}",
      "exaone4 40/8x128 8192/131072: 3x rope:theta=1000000,scaling=llama3,factor=16,trained=8192, 1x none, 3 windows of 4096; 3 sliding_attention, 1 full_attention" },
    { "Ministral-3-8B",
      "{'model_type':'mistral3','text_config':{'head_dim':128,'hidden_size':4096,'max_position_embeddings':262144,'model_type':'ministral3','num_attention_heads':32,'num_hidden_layers':34,'num_key_value_heads':8,'rope_parameters':{'beta_fast':32.0,'beta_slow':1.0,'factor':16.0,'llama_4_scaling_beta':0.1,'mscale':1.0,'mscale_all_dim':1.0,'original_max_position_embeddings':16384,'rope_theta':1000000.0,'rope_type':'yarn','type':'yarn'},'sliding_window':null},'vision_config':{'head_dim':64,'hidden_size':1024,'image_size':1540,'model_type':'pixtral','num_attention_heads':16,'num_hidden_layers':24,'patch_size':14,'rope_parameters':{'rope_theta':10000.0,'rope_type':'default'}}}",
      "text ministral3 32/8x128 16384/262144: 34x rope:theta=1000000,scaling=yarn,factor=16,trained=16384,mscale=1,mscale_all_dim=1,temperature=0.1,floor=16384 | vision pixtral 16/16x64 0/0: 24x rope:axes=2,split=oddeven" },
    { "LLaVA-1.5-7B",
      "{'architectures':['LlavaForConditionalGeneration'],'image_token_index':32000,'model_type':'llava','text_config':{'_name_or_path':'lmsys/vicuna-7b-v1.5','architectures':['LlamaForCausalLM'],'max_position_embeddings':4096,'model_type':'llama','vocab_size':32064},'vision_config':{'hidden_size':1024,'image_size':336,'intermediate_size':4096,'model_type':'clip_vision_model','num_attention_heads':16,'num_hidden_layers':24,'patch_size':14,'projection_dim':768}}",
      "text llama 32/32x128 4096/4096: 32x rope | vision clip_vision_model 16/16x64 577/577: 24x learned:rows=577" },
    { "InternVL2-8B",
      "{'model_type':'internvl_chat','llm_config':{'architectures':['InternLM2ForCausalLM'],'hidden_size':4096,'max_position_embeddings':32768,'model_type':'internlm2','num_attention_heads':32,'num_hidden_layers':32,'num_key_value_heads':8,'rope_scaling':{'factor':2.0,'type':'dynamic'},'rope_theta':1000000},'vision_config':{'model_type':'intern_vit_6b','hidden_size':1024}}",
      "text internlm2 32/8x128 32768/65536: 32x rope:theta=1000000,scaling=dynamic,factor=2,trained=32768" },
    { "DBRX",
      "{'model_type':'dbrx','attn_config':{'clip_qkv':8,'kv_n_heads':8,'model_type':'','rope_theta':500000},'d_model':6144,'max_seq_len':32768,'n_heads':48,'n_layers':40}",
      "dbrx 48/8x128 32768/32768: 40x rope:theta=500000" },
    { "DeepSeek-VL2-tiny",
      "{'model_type':'deepseek_vl_v2','language_config':{'architectures':['DeepseekV2ForCausalLM'],'hidden_size':1280,'max_position_embeddings':4096,'model_type':'deepseek_v2','num_attention_heads':10,'num_hidden_layers':12,'num_key_value_heads':10,'kv_lora_rank':null,'qk_nope_head_dim':0,'qk_rope_head_dim':0,'use_mla':false,'v_head_dim':0},'vision_config':{'model_type':'vision','width':1152}}",
      "text deepseek_v2 10/10x128 4096/4096: 12x rope" },
    { "Kimi-K2",
      "{'model_type':'kimi_k2','hidden_size':7168,'max_position_embeddings':131072,'num_attention_heads':64,'num_hidden_layers':61,'num_key_value_heads':64,'qk_nope_head_dim':128,'qk_rope_head_dim':64,'rope_scaling':{'beta_fast':1.0,'beta_slow':1.0,'factor':32.0,'mscale':1.0,'mscale_all_dim':1.0,'original_max_position_embeddings':4096,'type':'yarn'},'rope_theta':50000.0}",
      "kimi_k2 64/64x192 4096/131072: 61x rope:theta=50000,pairs=adjacent-half,dims=64,range=trailing,scaling=yarn,factor=32,trained=4096,beta_fast=1,mscale=1,mscale_all_dim=1,softmax=1.8132604340394958" },
    { "ESM-2",
      "{'model_type':'esm','hidden_size':320,'max_position_embeddings':1026,'num_attention_heads':20,'num_hidden_layers':6,'pad_token_id':1,'position_embedding_type':'rotary'}",
      "esm 20/20x16 1026/1026: 6x rope" },
    { "RoFormer",
      "{'model_type':'roformer','hidden_size':768,'max_position_embeddings':1536,'num_attention_heads':12,'num_hidden_layers':12,'rotary_value':true}",
      "roformer 12/12x64 1536/1536: 12x rope:pairs=adjacent,turn=qkv" },
    { "BART-base",
      "{'model_type':'bart','d_model':768,'decoder_attention_heads':12,'decoder_layers':6,'encoder_attention_heads':12,'encoder_layers':6,'max_position_embeddings':1024,'num_hidden_layers':6}",
      "decoder bart 12/12x64 1024/1024: 6x learned:rows=1026,offset=2 | encoder bart 12/12x64 1024/1024: 6x learned:rows=1026,offset=2" },
    { "MPNet-base",
      "{'model_type':'mpnet','hidden_size':768,'max_position_embeddings':514,'num_attention_heads':12,'num_hidden_layers':12,'pad_token_id':1,'relative_attention_num_buckets':32}",
      "mpnet 12/12x64 512/512: 12x learned:rows=514,offset=2+t5:scale=sqrt" },
    { "OpenELM, two layers",
      "{'model_type':'openelm','head_dim':64,'max_context_length':2048,'model_dim':1280,'num_kv_heads':[3,5],'num_query_heads':[12,20],'num_transformer_layers':2,'rope_freq_constant':10000,'rope_max_length':4096}",
      "openelm 12/3x64 2048/2048: 1x rope, 1x rope" },
    { "Transformer-XL",
      "{'model_type':'transfo-xl','attn_type':0,'clamp_len':1000,'d_head':64,'d_model':1024,'mem_len':1600,'n_head':16,'n_layer':18,'tgt_len':128}",
      "transfo-xl 16/16x64 0/0: 18x transformer-xl:back=1727" },
    { "Llama-3.2-11B-Vision, ten layers",
      "{'model_type':'mllama','text_config':{'cross_attention_layers':[3,8],'hidden_size':4096,'max_position_embeddings':131072,'model_type':'mllama_text_model','num_attention_heads':32,'num_hidden_layers':10,'num_key_value_heads':8,'rope_scaling':{'factor':8.0,'high_freq_factor':4.0,'low_freq_factor':1.0,'original_max_position_embeddings':8192,'rope_type':'llama3'},'rope_theta':500000.0}}",
      "text mllama_text_model 32/8x128 8192/131072: 8x rope:theta=500000,scaling=llama3,factor=8,trained=8192, 2x none; 3 , 1 cross_attention, 1 " },
    { "EmbeddingGemma",
      "{'model_type':'gemma3_text','_sliding_window_pattern':6,'head_dim':256,'hidden_size':768,'max_position_embeddings':2048,'num_attention_heads':3,'num_hidden_layers':24,'num_key_value_heads':1,'rope_local_base_freq':10000.0,'rope_scaling':null,'rope_theta':1000000.0,'sliding_window':512,'use_bidirectional_attention':true}",
      "gemma3_text 3/1x256 2048/2048: 20x rope, 4x rope:theta=1000000, 20 windows of 257; 5 sliding_attention, 1 full_attention" },
    { "CLIP-L/14",
      "{'model_type':'clip','text_config':{'hidden_size':768,'max_position_embeddings':77,'model_type':'clip_text_model','num_attention_heads':12,'num_hidden_layers':12},'vision_config':{'hidden_size':1024,'image_size':224,'model_type':'clip_vision_model','num_attention_heads':16,'num_hidden_layers':24,'patch_size':14}}",
      "text clip_text_model 12/12x64 77/77: 12x learned:rows=77 | vision clip_vision_model 16/16x64 257/257: 24x learned:rows=257" },
    { "TrOCR",
      "{'model_type':'vision-encoder-decoder','decoder':{'d_model':1024,'decoder_attention_heads':16,'decoder_layers':12,'max_position_embeddings':512,'model_type':'trocr'},'encoder':{'hidden_size':768,'image_size':384,'model_type':'vit','num_attention_heads':12,'num_hidden_layers':12,'patch_size':16}}",
      "decoder trocr 16/16x64 512/512: 12x learned:rows=514,offset=2 | encoder vit 12/12x64 577/577: 12x learned:rows=577" },
    { "GPT-Neo-1.3B, four layers",
      "{'model_type':'gpt_neo','attention_layers':['global','local','global','local'],'hidden_size':2048,'max_position_embeddings':2048,'num_heads':16,'num_layers':4,'window_size':256}",
      "gpt_neo 16/16x128 2048/2048: 4x learned:rows=2048, 2 windows of 256; 1 full_attention, 1 sliding_attention" },
    { "LongT5",
      "{'model_type':'longt5','d_kv':64,'d_model':768,'encoder_attention_type':'local','local_radius':127,'num_heads':12,'num_layers':12,'num_decoder_layers':12,'relative_attention_max_distance':128,'relative_attention_num_buckets':32}",
      "decoder longt5 12/12x64 0/0: 12x t5:direction=causal | encoder longt5 12/12x64 0/0: 12x t5, 12 windows of 128; 1 sliding_attention" },
    { "BERT with relative_key",
      "{'model_type':'bert','hidden_size':768,'max_position_embeddings':512,'num_attention_heads':12,'num_hidden_layers':12,'position_embedding_type':'relative_key'}",
      "bert 12/12x64 512/512: 12x shaw:left=511,right=511,on=keys" },
    { "LLaDA-8B",
      "{'alibi':false,'d_model':4096,'max_sequence_length':4096,'model_type':'llada','n_heads':32,'n_kv_heads':32,'n_layers':32,'rope':true,'rope_full_precision':true,'rope_theta':500000.0}",
      "llada 32/32x128 4096/4096: 32x rope:theta=500000" },
    { "MiniMax-Text-01, four layers",
      "{'model_type':'minimax_text_01','attn_type_list':[0,0,0,1],'head_dim':128,'hidden_size':6144,'max_position_embeddings':10240000,'num_attention_heads':64,'num_hidden_layers':4,'num_key_value_heads':8,'rope_theta':10000000,'rotary_dim':64}",
      "minimax_text_01 64/8x128 10240000/10240000: 3x none, 1x rope:theta=10000000,dims=64; 3 linear_attention, 1 full_attention" },
    { "MiniMax-M2, two layers",
      "{'model_type':'minimax_m2','attn_type_list':[1,1],'head_dim':128,'hidden_size':3072,'max_position_embeddings':196608,'num_attention_heads':48,'num_hidden_layers':2,'num_key_value_heads':8,'rope_theta':5000000,'rotary_dim':64}",
      "minimax_m2 48/8x128 196608/196608: 2x rope:theta=5000000,dims=64; 1 full_attention" },
    { "gte-large-en-v1.5",
      "{'model_type':'new','hidden_size':1024,'max_position_embeddings':8192,'num_attention_heads':16,'num_hidden_layers':24,'position_embedding_type':'rope','rope_scaling':{'factor':2.0,'type':'ntk'},'rope_theta':160000}",
      "new 16/16x64 8192/8192: 24x rope:theta=320000,scaling=linear,factor=1.0218971486541166" },
    { "Qwen2.5-VL-7B, flat",
      "{'model_type':'qwen2_5_vl','hidden_size':3584,'max_position_embeddings':128000,'max_window_layers':28,'num_attention_heads':28,'num_hidden_layers':28,'num_key_value_heads':4,'rope_theta':1000000.0,'sliding_window':32768,'use_sliding_window':false,'rope_scaling':{'type':'mrope','mrope_section':[16,24,24]},'vision_config':{'depth':32,'hidden_size':1280,'num_heads':16,'out_hidden_size':3584,'patch_size':14,'window_size':112}}",
      "text qwen2_5_vl_text 28/4x128 128000/128000: 28x rope:theta=1000000,axes=3,sections=16/24/24 | vision qwen2_5_vl_vision 16/16x80 0/0: 32x rope:axes=2,split=axial" },
    { "Hunyuan-Large",
      "{'model_type':'hunyuan','hidden_size':6400,'head_dim':128,'max_position_embeddings':131072,'num_attention_heads':80,'num_hidden_layers':64,'num_key_value_heads':8,'rope_scaling':{'alpha':1000.0,'factor':1.0,'type':'dynamic'},'rope_theta':10000.0}",
      "hunyuan 80/8x128 0/131072: 64x rope:scaling=ntk,alpha=1000" },
    { "GLM-4.1V-9B",
      "{'model_type':'glm4v','text_config':{'hidden_size':4096,'max_position_embeddings':65536,'model_type':'glm4v_text','num_attention_heads':32,'num_hidden_layers':40,'num_key_value_heads':2,'partial_rotary_factor':0.5,'rope_scaling':{'type':'default','mrope_section':[8,12,12]},'rope_theta':10000.0},'vision_config':{'depth':24,'hidden_size':1536,'image_size':336,'model_type':'glm4v','num_heads':12,'patch_size':14}}",
      "text glm4v_text 32/2x128 65536/65536: 40x rope:pairs=adjacent,dims=64,axes=3,sections=8/12/12 | vision glm4v_vision 12/12x128 0/0: 24x rope:axes=2,split=axial" },
    { "Bamba, six layers", SMALL("bamba", "6") ",'attn_layer_indices':[2,5],'num_key_value_heads':2}",
      "bamba 4/2x16 128/128: 4x none, 2x rope:dims=8; 2 linear_attention, 1 full_attention" },
    { "Bamba without attention", SMALL("bamba", "6") ",'num_key_value_heads':2}", "bamba 4/2x16 128/128: 6x none; 1 linear_attention" },
    { "LFM2, six layers",
      SMALL("lfm2", "6") ",'full_attn_idxs':[2,5],'num_key_value_heads':2,'theta':1000000.0,'rope_theta':1000000.0}",
      "lfm2 4/2x16 128/128: 4x none, 2x rope:theta=1000000; 2 conv, 1 full_attention" },
    { "LFM2-MoE, three layers", SMALL("lfm2_moe", "3") ",'full_attn_idxs':[2],'num_key_value_heads':2}",
      "lfm2_moe 4/2x16 128/128: 2x none, 1x rope:theta=1000000; 2 conv, 1 full_attention" },
    { "RecurrentGemma, eight layers",
      SMALL("recurrent_gemma", "8") ",'block_types':['recurrent','recurrent','attention'],'num_key_value_heads':1,'attention_window_size':32}",
      "recurrent_gemma 4/1x16 128/128: 6x none, 2x rope:dims=8, 2 windows of 32; 2 recurrent, 1 sliding_attention" },
    { "RecurrentGemma by its class", SMALL("recurrent_gemma", "8") ",'num_key_value_heads':1}",
      "recurrent_gemma 4/1x16 128/128: 6x none, 2x rope:dims=8, 2 windows of 2048; 2 linear_attention, 1 sliding_attention" },
    { "MiMo-V2-Flash by its class", SMALL("mimo_v2_flash", "12") ",'head_dim':192}",
      "mimo_v2_flash 4/4x192 128/128: 3x rope:theta=5000000,dims=64, 9x rope:dims=64, 9 windows of 129; 1 full_attention, 4 sliding_attention, 1 full_attention, 5 sliding_attention" },
    { "MiMo-V2-Flash, three layers",
      SMALL("mimo_v2_flash", "3") ",'head_dim':192,'hybrid_layer_pattern':[0,1,1],'partial_rotary_factor':0.334,'rope_theta':5000000,'swa_rope_theta':10000}",
      "mimo_v2_flash 4/4x192 128/128: 1x rope:theta=5000000,dims=64, 2x rope:dims=64, 2 windows of 129; 1 full_attention, 2 sliding_attention" },
    { "MiMo-V2-Flash, its window without the query",
      SMALL("mimo_v2_flash", "2") ",'head_dim':192,'sliding_window':128,'sliding_window_size':128,'hybrid_layer_pattern':[0,1]}",
      "mimo_v2_flash 4/4x192 128/128: 1x rope:theta=5000000,dims=64, 1x rope:dims=64, 1 windows of 129; 1 full_attention, 1 sliding_attention" },
    { "Molmo 2 with one scaled layer of two",
      SMALL("molmo2_text", "2") ",'rope_scaling_layers':[1],'rope_parameters':{'rope_type':'linear','rope_theta':1000000,'factor':4}}",
      "molmo2_text 4/4x16 0/128: 1x rope:theta=1000000, 1x rope:theta=1000000,scaling=linear,factor=4" },
    { "UltraBERT, whose window does not count the query", SMALL("ultrabert", "3") ",'sliding_window':16}",
      "ultrabert 4/4x16 128/128: 2x rope, 1x rope:theta=2560000, 2 windows of 17; 2 sliding_attention, 1 full_attention" },
    { "Unlimited-OCR, which sees all of the prompt beside its window",
      SMALL("unlimited_ocr_text", "2") ",'sliding_window':16,'layer_types':['reference_sliding_attention','reference_sliding_attention']}",
      "unlimited_ocr_text 4/4x16 128/128: 2x rope; 1 reference_sliding_attention" },
    { "Cohere 2 MoE whose dense layer turns", SMALL("cohere2_moe", "5") ",'first_k_dense_replace':1}",
      "cohere2_moe 4/4x16 128/128: 4x rope:pairs=adjacent, 1x none, 3 windows of 4096; 1 full_attention, 3 sliding_attention" },
    { "Cohere 2 MoE with three dense layers",
      SMALL("cohere2_moe", "9") ",'first_k_dense_replace':3,'prefix_dense_sliding_window_pattern':2}",
      "cohere2_moe 4/4x16 128/128: 7x rope:pairs=adjacent, 2x none, 7 windows of 4096; 1 sliding_attention, 1 full_attention, 3 sliding_attention" },
    { "Zamba2 by its class", SMALL("zamba2", "54") ",'use_mem_rope':true,'kv_channels':16}",
      "zamba2 4/4x32 128/128: 45x none, 9x rope; 6 linear_attention, 1 hybrid, 5 linear_attention, 1 hybrid, 5 linear_attention, 1 hybrid, 5 linear_attention, 1 hybrid, 5 linear_attention, 1 hybrid, 5 linear_attention, 1 hybrid, 5 linear_attention, 1 hybrid, 4 linear_attention, 1 hybrid, 3 linear_attention, 1 hybrid" },
    { "Step-3.5, four layers",
      SMALL("step3p5", "4") ",'layer_types':['full_attention','sliding_attention','full_attention','sliding_attention','full_attention'],'rope_theta':[5000000.0,10000.0,5000000.0,10000.0,5000000.0],'partial_rotary_factors':[0.5,1.0,0.5,1.0,0.5],'sliding_window':512,'head_dim':16,'num_key_value_heads':2,'yarn_only_types':['full_attention'],'rope_scaling':{'rope_type':'llama3','factor':2.0,'original_max_position_embeddings':64,'low_freq_factor':1.0,'high_freq_factor':32.0}}",
      "step3p5 4/2x16 64/128: 2x rope:theta=5000000,dims=8,scaling=llama3,factor=2,trained=64,high=32, 2x rope, 2 windows of 512; 1 full_attention, 1 sliding_attention" },
    { "Phi-3-small, stretched",
      SMALL("phi3small", "2") ",'rope_embedding_base':1000000,'rope_position_scale':4.0,'rope_scaling':null}",
      "phi3small 4/4x16 0/128: 2x rope:theta=1000000,scaling=linear,factor=4" },
    { "Phi-3-small-8k",
      SMALL("phi3small", "2") ",'rope_embedding_base':1000000,'rope_position_scale':1.0,'rope_scaling':null}",
      "phi3small 4/4x16 128/128: 2x rope:theta=1000000" },
    { "BLOOM by n_embed",
      "{'model_type':'bloom','n_embed':1024,'n_layer':24,'num_attention_heads':16,'seq_length':2048}",
      "bloom 16/16x64 2048/2048: 24x alibi" },
    { "HunYuan-VL, uneven",
      SMALL("hunyuan_vl_text", "2") ",'head_dim':128,'rope_scaling':{'type':'xdrope','alpha':1000.0,'xdrope_section':[8,24,16,16]}}",
      "hunyuan_vl_text 4/4x128 0/128: 2x rope:scaling=ntk,alpha=1000,axes=4,sections=8/24/16/16" },
    { "Qwen2 that does not slide", SMALL("qwen2", "4") ",'sliding_window':32}", "qwen2 4/4x16 128/128: 4x rope" },
    { "Qwen2 that slides from layer 1",
      SMALL("qwen2", "4") ",'sliding_window':32,'use_sliding_window':true,'max_window_layers':1}",
      "qwen2 4/4x16 128/128: 4x rope, 3 windows of 32" },
    { "Qwen2 that slides by its class", SMALL("qwen2", "32") ",'use_sliding_window':true}",
      "qwen2 4/4x16 128/128: 32x rope, 4 windows of 4096" },
    { "dots1", SMALL("dots1", "4") ",'sliding_window':32,'max_window_layers':2}",
      "dots1 4/4x16 128/128: 4x rope, 2 windows of 32" },
    { "Mistral by its class", SMALL("mistral", "2") "}", "mistral 4/4x16 128/128: 2x rope, 2 windows of 4096" },
    { "Llama 4 by its class", SMALL("llama4_text", "4") "}",
      "llama4_text 4/4x16 128/128: 3x rope:theta=500000,pairs=adjacent, 1x rope:dims=0,temperature=0.1,shift=1, 3 windows of 8192; 3 chunked_attention, 1 full_attention" },
    { "ModernBERT, scaled", SMALL("modernbert", "6") ",'rope_scaling':{'rope_type':'linear','factor':8.0}}",
      "modernbert 4/4x16 0/128: 2x rope:theta=160000,scaling=linear,factor=8, 4x rope:scaling=linear,factor=8, 4 windows of 65; 1 full_attention, 2 sliding_attention" },
    { "Gemma 3, scaled",
      SMALL("gemma3_text", "6") ",'head_dim':16,'rope_scaling':{'rope_type':'linear','factor':8.0}}",
      "gemma3_text 4/4x16 0/128: 5x rope, 1x rope:theta=1000000,scaling=linear,factor=8, 5 windows of 4096; 5 sliding_attention, 1 full_attention" },
    { "OLMo 3, scaled", SMALL("olmo3", "4") ",'rope_scaling':{'rope_type':'linear','factor':8.0}}",
      "olmo3 4/4x16 0/128: 3x rope:theta=500000, 1x rope:theta=500000,scaling=linear,factor=8, 3 windows of 4096; 3 sliding_attention, 1 full_attention" },
    { "DeepSeek-V4 by its class", "{'model_type':'deepseek_v4'}",
      "deepseek_v4 64/1x512 1048576/1048576: 43x rope:theta=160000,pairs=adjacent,dims=64,range=trailing,turn=qkvo; 3 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention" },
    { "DeepSeek-V4-Flash: the first layers have a window alone, base 10000 and no scaling; yarn multiplies nothing",
      "{'model_type':'deepseek_v4','hidden_size':4096,'num_attention_heads':64,'num_key_value_heads':1,'head_dim':512,'qk_rope_head_dim':64,'max_position_embeddings':1048576,'rope_theta':10000,'compress_rope_theta':160000,'sliding_window':128,'num_hidden_layers':6,'compress_ratios':[0,0,4,128,4,128,0],'rope_scaling':{'type':'yarn','factor':16,'beta_fast':32,'beta_slow':1,'original_max_position_embeddings':65536}}",
      "deepseek_v4 64/1x512 65536/1048576: 2x rope:pairs=adjacent,dims=64,range=trailing,turn=qkvo, 4x rope:theta=160000,pairs=adjacent,dims=64,range=trailing,scaling=yarn,factor=16,trained=65536,magnitude=1,turn=qkvo, 2 windows of 128; 2 sliding_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention, 1 compressed_sparse_attention, 1 heavily_compressed_attention" },
    { "DeepSeek-V4 with a dict for each kind: what it says counts",
      "{'model_type':'deepseek_v4','hidden_size':4096,'num_attention_heads':64,'num_key_value_heads':1,'head_dim':512,'qk_rope_head_dim':64,'max_position_embeddings':1048576,'rope_theta':10000,'compress_rope_theta':160000,'sliding_window':128,'num_hidden_layers':2,'layer_types':['sliding_attention','compressed_sparse_attention'],'rope_parameters':{'main':{'rope_type':'default','rope_theta':10000},'compress':{'rope_type':'yarn','rope_theta':160000,'factor':16,'original_max_position_embeddings':65536,'attention_factor':1.5}}}",
      "deepseek_v4 64/1x512 65536/1048576: 1x rope:pairs=adjacent,dims=64,range=trailing,turn=qkvo, 1x rope:theta=160000,pairs=adjacent,dims=64,range=trailing,scaling=yarn,factor=16,trained=65536,magnitude=1.5,turn=qkvo, 1 windows of 128; 1 sliding_attention, 1 compressed_sparse_attention" },
    { "GLM-5",
      "{'model_type':'glm_moe_dsa','head_dim':64,'hidden_size':6144,'index_head_dim':128,'index_n_heads':32,'index_topk':2048,'indexer_rope_interleave':true,'max_position_embeddings':202752,'num_attention_heads':64,'num_hidden_layers':78,'num_key_value_heads':64,'qk_head_dim':256,'qk_nope_head_dim':192,'qk_rope_head_dim':64,'rope_interleave':true,'rope_parameters':{'rope_theta':1000000,'rope_type':'default'}}",
      "glm_moe_dsa 64/64x256 202752/202752: 78x rope:theta=1000000,pairs=adjacent-half,dims=64,range=trailing" },
    { "Nemotron-NAS: layers without attention, and 8 heads to a key head",
      "{'model_type':'nemotron-nas','hidden_size':8192,'num_attention_heads':64,'num_key_value_heads':null,'num_hidden_layers':4,'max_position_embeddings':131072,'rope_theta':500000.0,'block_configs':[{'attention':{'n_heads_in_group':8,'no_op':false,'replace_with_linear':false},'ffn':{'no_op':false}},{'attention':{'n_heads_in_group':null,'no_op':true,'replace_with_linear':false}},{'attention':{'n_heads_in_group':null,'no_op':false,'replace_with_linear':true}},{'attention':{'n_heads_in_group':8,'no_op':false,'window_length':1024}}]}",
      "nemotron-nas 64/8x128 131072/131072: 2x rope:theta=500000, 2x none, 1 windows of 1024; 1 full_attention, 1 no_op, 1 linear" },
    { "DeciLM-7B: a number of key heads for each layer",
      "{'model_type':'deci','hidden_size':4096,'num_attention_heads':32,'num_hidden_layers':3,'max_position_embeddings':8192,'rope_theta':10000,'num_key_value_heads_per_layer':[4,4,2]}",
      "deci 32/4x128 8192/8192: 2x rope, 1x rope" },
    { "Sapiens 2, two layers: likewise",
      "{'model_type':'sapiens2','hidden_size':1024,'num_attention_heads':16,'num_hidden_layers':2,'image_size':224,'patch_size':16,'rope_theta':100.0,'num_key_value_heads_per_layer':[16,8]}",
      "sapiens2 16/16x64 196/196: 1x rope:theta=100,axes=2,split=axial,coords=normalised,extent=14/14, 1x rope:theta=100,axes=2,split=axial,coords=normalised,extent=14/14" },
    { "Qwen3-ASR as published: its parts are in thinker_config",
      "{'model_type':'qwen3_asr','thinker_config':{'model_type':'qwen3_asr','text_config':{'hidden_size':1024,'num_attention_heads':16,'num_key_value_heads':8,'head_dim':128,'num_hidden_layers':2,'max_position_embeddings':65536,'rope_theta':1000000,'rope_scaling':{'interleaved':true,'mrope_interleaved':true,'mrope_section':[24,20,20],'rope_type':'default','type':'default'}}}}",
      "text qwen3 16/8x128 65536/65536: 2x rope:theta=1000000" },
    { "Qwen3-ASR, its makers' names",
      "{'model_type':'qwen3_asr','thinker_config':{'model_type':'qwen3_asr_thinker','text_config':{'model_type':'qwen3_asr_text','hidden_size':1024,'num_attention_heads':16,'num_key_value_heads':8,'head_dim':128,'num_hidden_layers':2,'max_position_embeddings':65536,'rope_theta':1000000,'rope_scaling':{'interleaved':true,'mrope_interleaved':true,'mrope_section':[24,20,20],'rope_type':'default','type':'default'}}}}",
      "text qwen3_asr_text 16/8x128 65536/65536: 2x rope:theta=1000000,axes=3,split=interleaved,sections=24/20/20" },
    { "VILA: llm_cfg, beside a hidden_size",
      "{'model_type':'llava_llama','hidden_size':4096,'llm_cfg':{'model_type':'qwen2','hidden_size':4096,'num_attention_heads':32,'num_key_value_heads':8,'num_hidden_layers':2,'max_position_embeddings':8192,'rope_theta':500000.0},'vision_tower_cfg':{'model_type':'siglip_vision_model'}}",
      "text qwen2 32/8x128 8192/8192: 2x rope:theta=500000" },
    { "MiniCPM3: the lists are for the 32 elements that rotate",
      "{'model_type':'minicpm3','hidden_size':2560,'num_attention_heads':40,'num_key_value_heads':40,'num_hidden_layers':62,'qk_nope_head_dim':64,'qk_rope_head_dim':32,'max_position_embeddings':32768,'rope_scaling':{'type':'longrope','long_factor':[" TIMES16("2") "],'short_factor':[" TIMES16("1") "],'original_max_position_embeddings':32768}}",
      "minicpm3 40/40x96 32768/32768: 62x rope:dims=32,range=trailing,scaling=longrope,factor=1,trained=32768" },
    { "Ministral-3 under the name of its text model",
      "{'model_type':'ministral3','text_config':{'model_type':'ministral3','hidden_size':64,'num_attention_heads':4,'num_hidden_layers':2,'max_position_embeddings':256,'rope_parameters':{'rope_type':'yarn','rope_theta':77,'factor':2,'original_max_position_embeddings':128}}}",
      "text ministral3 4/4x16 128/256: 2x rope:theta=77,scaling=yarn,factor=2,trained=128" },
    { "Gemma 4's tower adds a table for each axis",
      "{'model_type':'gemma4_vision','num_hidden_layers':2,'position_embedding_size':1024}",
      "gemma4_vision 12/12x64 131072/131072: 2x rope:theta=100,axes=2,split=blocks+learned:rows=1024/1024" },
    { "ModernBERT decoder, saved again",
      SMALL("modernbert-decoder", "3") ",'local_attention':128,'sliding_window':64}",
      "modernbert-decoder 4/4x16 128/128: 1x rope:theta=160000, 2x rope, 2 windows of 64; 1 full_attention, 2 sliding_attention" },
    { "AST, half a second",
      "{'model_type':'audio-spectrogram-transformer','frequency_stride':10,'hidden_size':768,'max_length':128,'num_attention_heads':12,'num_hidden_layers':12,'num_mel_bins':128,'patch_size':16,'time_stride':10}",
      "audio-spectrogram-transformer 12/12x64 146/146: 12x learned:rows=146" },
    { "ViViT-B", "{'model_type':'vivit','hidden_size':768,'image_size':224,'num_attention_heads':12,'num_frames':16,'num_hidden_layers':12,'tubelet_size':[2,32,32]}",
      "vivit 12/12x64 393/393: 12x learned:rows=393" },
    { "VideoMAE", "{'model_type':'videomae','hidden_size':384,'image_size':224,'num_attention_heads':6,'num_frames':16,'num_hidden_layers':12,'patch_size':16,'tubelet_size':2}",
      "videomae 6/6x64 1568/1568: 12x sinusoidal" },
    { "TimesFM with positions, as halves_timesfm in tests/golden",
      "{'model_type':'timesfm','head_dim':80,'hidden_size':1280,'max_timescale':5000,'min_timescale':2,'num_attention_heads':16,'num_hidden_layers':20,'use_positional_embedding':true}",
      "timesfm 16/16x80 0/0: 20x sinusoidal:theta=5000,layout=halves,denominator=d-2,min_timescale=2" },
    { "Canary", "{'model_type':'canary','decoder_config':{'hidden_size':256,'model_type':'canary_decoder','num_attention_heads':2,'num_hidden_layers':4,'max_position_embeddings':512},'encoder_config':{'model_type':'parakeet_encoder'}}",
      "decoder canary_decoder 2/2x128 512/512: 4x sinusoidal:layout=halves,scale=0.0625 | encoder parakeet_encoder 8/8x128 5000/5000: 24x transformer-xl:back=4999,ahead=4999" },
    { "Parakeet CTC", "{'model_type':'parakeet_ctc','encoder_config':{'hidden_size':1024,'max_position_embeddings':5000,'model_type':'parakeet_encoder','num_attention_heads':8,'num_hidden_layers':42},'vocab_size':1025}",
      "encoder parakeet_encoder 8/8x128 5000/5000: 42x transformer-xl:back=4999,ahead=4999" },
    { "AIMv2 native", "{'model_type':'aimv2_vision_model','hidden_size':1024,'image_size':224,'is_native':true,'num_attention_heads':8,'num_hidden_layers':24,'patch_size':14}",
      "aimv2_vision_model 8/8x128 256/256: 24x sinusoidal:layout=halves,axes=2" },
    { "DPT on DINOv2", "{'model_type':'dpt','backbone_config':{'model_type':'dinov2','hidden_size':384,'image_size':518,'num_attention_heads':6,'patch_size':14},'hidden_size':768,'image_size':384,'is_hybrid':false,'num_attention_heads':12,'num_hidden_layers':12,'patch_size':16}",
      "backbone dinov2 6/6x64 1370/1370: 12x learned:rows=1370" },
    { "DPT", "{'model_type':'dpt','backbone_config':null,'hidden_size':1024,'image_size':384,'is_hybrid':false,'num_attention_heads':16,'num_hidden_layers':24,'patch_size':16}",
      "backbone vit 16/16x64 577/577: 24x learned:rows=577" },
    { "PP-FormulaNet, whose config has the layers of an encoder too",
      "{'model_type':'pp_formulanet','text_config':{'d_model':384,'decoder_attention_heads':16,'decoder_layers':2,'encoder_attention_heads':4,'encoder_layers':6,'max_position_embeddings':2560,'model_type':'pp_formulanet_text'},'vision_config':{'model_type':'pp_formulanet_vision'}}",
      "text pp_formulanet_text 16/16x24 2560/2560: 2x learned:rows=2562,offset=2" },
    { "RAG", "{'model_type':'rag','generator':{'model_type':'bart','d_model':1024,'decoder_attention_heads':16,'decoder_layers':12,'encoder_attention_heads':16,'encoder_layers':12,'max_position_embeddings':1024},'question_encoder':{'model_type':'dpr','hidden_size':768,'max_position_embeddings':512,'num_attention_heads':12,'num_hidden_layers':12}}",
      "decoder bart 16/16x64 1024/1024: 12x learned:rows=1026,offset=2 | encoder bart 16/16x64 1024/1024: 12x learned:rows=1026,offset=2 | question_encoder dpr 12/12x64 512/512: 12x learned" },
    { "Pixio with two class tokens", "{'model_type':'pixio','hidden_size':64,'image_size':32,'n_cls_tokens':2,'num_attention_heads':4,'num_hidden_layers':2,'patch_size':16}",
      "pixio 4/4x16 6/6: 2x learned:rows=6" },
    { "LW-DETR's backbone without a table", "{'model_type':'lw_detr_vit','hidden_size':192,'num_attention_heads':12,'num_hidden_layers':6,'use_absolute_position_embeddings':false}",
      "lw_detr_vit 12/12x16 196/196: 6x none" },
    { "MGP-STR", "{'model_type':'mgp-str','hidden_size':768,'image_size':[32,128],'num_attention_heads':12,'num_hidden_layers':12,'patch_size':4}",
      "mgp-str 12/12x64 257/257: 12x learned:rows=257" },
    { "Ovis2", "{'model_type':'ovis2','text_config':{'hidden_size':896,'max_position_embeddings':32768,'model_type':'qwen2','num_attention_heads':14,'num_hidden_layers':24,'num_key_value_heads':2,'rope_theta':1000000.0},'vision_config':{'hidden_size':1024,'image_size':448,'model_type':'ovis2_vision','num_attention_heads':8,'num_hidden_layers':24,'patch_size':14}}",
      "text qwen2 14/2x64 32768/32768: 24x rope:theta=1000000 | vision ovis2_vision 8/8x128 1024/1024: 24x learned:rows=1024" },
};
/* clang-format on */

TEST(published_configs_mean_what_their_models_do)
{
    for (int n = 0; n < COUNT(published); n++) {
        zoo_model *m;
        pe_status s = read_with(&m, published[n].json, (zoo_options){ 0 });
        if (s || strcmp(summary(m), published[n].want))
            fail_msg("%s is\n    %s\nnot\n    %s", published[n].name, s ? err.text : summary(m), published[n].want);
        zoo_free(m);
    }
}

/* ---------------------------------------------------------------- defaults of the classes */

/* Types of transformers with the defaults of their classes; rows and widths are those of the tables that the classes
 * make. */
/* clang-format off */
static const char *const by_default[] = {
    "aimv2_vision_model 8/8x128 256/256: 24x learned:rows=256",
    "audio-spectrogram-transformer 12/12x64 1214/1214: 12x learned:rows=1214",
    "bridgetower_vision_model 12/12x64 325/325: 12x learned:rows=325",
    "canary_decoder 8/8x128 1024/1024: 8x sinusoidal:layout=halves,scale=0.03125",
    "coarse_acoustics 12/12x64 1024/1024: 12x learned:rows=1024",
    "cosmos3_edge_vision 16/16x72 256/256: 27x learned:rows=256",
    "eomt 16/16x64 1600/1600: 24x learned:rows=1600",
    "fine_acoustics 12/12x64 1024/1024: 12x learned:rows=1024",
    "flava_multimodal_model 12/12x64 0/0: 6x none",
    "fun_asr_nano_encoder 4/4x128 2049/2049: 70x sinusoidal:layout=halves,denominator=d-2,offset=1",
    "glm_image_vision 16/16x96 16384/16384: 40x learned:rows=16384",
    "hunyuan_vl_vision 16/16x72 16384/16384: 27x learned:rows=16385,offset=1",
    "kosmos_2_5_vision_model 24/24x64 4096/4096: 18x learned:rows=4096/4096",
    "lw_detr_vit 12/12x64 196/196: 12x learned:rows=197,offset=1",
    "minicpm_ocr_vision 12/12x64 196/196: 12x learned:rows=196",
    "minicpmv4_6_vision 12/12x64 196/196: 12x learned:rows=196",
    "minicpmv4_7_vision 12/12x64 196/196: 12x learned:rows=196",
    "molmo2_vision 16/16x72 729/729: 25x learned:rows=729",
    "moshi_depth 16/16x64 9/9: 6x none, 6 windows of 8",
    "moss_transcribe_diarize_audio 16/16x64 1500/1500: 24x sinusoidal:layout=halves,denominator=d-2",
    "ovis2_vision 8/8x128 256/256: 24x learned:rows=256",
    "parakeet_encoder 8/8x128 5000/5000: 24x transformer-xl:back=4999,ahead=4999",
    "pix2struct_vision_model 12/12x64 4096/4096: 12x learned:rows=4096/4096",
    "pixio 16/16x80 264/264: 32x learned:rows=264",
    "pp_formulanet_text 16/16x32 2560/2560: 8x learned:rows=2562,offset=2",
    "radio 16/16x80 16384/16384: 32x learned:rows=16384",
    "rf_detr_dinov2 12/12x64 257/257: 12x learned:rows=257",
    "sapiens2 16/16x64 196/196: 24x rope:theta=100,axes=2,split=axial,coords=normalised,extent=14/14",
    "semantic 12/12x64 1024/1024: 12x learned:rows=1024",
    "timesfm 16/16x80 0/0: 50x none",
    "tipsv2_text_model 12/12x64 64/64: 12x sinusoidal:layout=halves,denominator=d-2",
    "unlimited_ocr_vision_encoder 16/16x64 257/257: 24x learned:rows=257",
    "videomae 12/12x64 1568/1568: 12x sinusoidal",
    "videomt 16/16x64 1600/1600: 24x learned:rows=1600",
    "videoprism_text_model 12/12x64 64/64: 12x sinusoidal:layout=halves",
    "vivit 12/12x64 3137/3137: 12x learned:rows=3137",
    "wav2vec2-conformer 12/12x64 5000/5000: 12x transformer-xl:back=4999,ahead=4999",
};
/* clang-format on */

TEST(a_type_alone_means_the_defaults_of_its_class)
{
    for (int n = 0; n < COUNT(by_default); n++) {
        char text[100];
        zoo_model *m;
        snprintf(text, sizeof text, "{'model_type':'%.*s'}", (int)strcspn(by_default[n], " "), by_default[n]);
        assert_ok(read_with(&m, text, (zoo_options){ 0 }));
        if (strcmp(summary(m), by_default[n]))
            fail_msg("%s\nis %s\nnot %s", text, summary(m), by_default[n]);
        zoo_free(m);
    }
}

/* ---------------------------------------------------------------- eras */

#define LLAMA                                                                                                          \
    "'model_type':'llama','hidden_size':64,'num_attention_heads':4,'num_hidden_layers':2,'max_position_embeddings':"   \
    "128"

/* The same model, as it was written over the years. */
TEST(keys_of_every_era_mean_the_same)
{
    static const char *const same[] = {
        "{" LLAMA ",'rope_theta':5000,'rope_scaling':{'type':'linear','factor':2}}",
        "{" LLAMA ",'rope_theta':5000.0,'rope_scaling':{'rope_type':'linear','factor':2.0}}",
        "{" LLAMA ",'rope_parameters':{'rope_type':'linear','factor':2.0,'rope_theta':5000}}",
        "{" LLAMA ",'rope_theta':5000,'rope_parameters':{'rope_type':'linear','factor':2.0}}",
        ("{'model_type':'llama','n_embd':64,'n_head':4,'n_layer':2,'n_positions':128,'rotary_emb_base':5000,"
         "'rope_scaling':{'type':'linear','factor':2}}"),
    };
    for (int n = 0; n < COUNT(same); n++) {
        zoo_model *m;
        assert_ok(read_with(&m, same[n], (zoo_options){ 0 }));
        assert_string_equal(summary(m), "llama 4/4x16 0/128: 2x rope:theta=5000,scaling=linear,factor=2");
        zoo_free(m);
    }
}

/* ---------------------------------------------------------------- what is refused */

static const struct {
    const char *json, *says;
} refused[] = {
    { SMALL("interns1_pro_text", "2") ",'rope_theta':10000,'rope_scaling':{'num_inv_freq':2}}",
      "num_inv_freq is 2; specs can say 3, the frequencies that complete a turn within 128 positions" },
    { SMALL("interns1_pro_text", "2") ",'rope_scaling':{'rope_type':'yarn','factor':2,'fope_sep_head':true}}",
      "rope_type is yarn beside FoPE's keys; needs default" },
    { SMALL("interns1_pro_text", "2") ",'rope_scaling':{'fope_wobble':1,'fope_sep_head':true}}",
      "rope_parameters has a key fope_wobble that nothing reads; pass the config without it, or --lenient to assume that it does nothing" },
    { SMALL("llama", "2") ",'rope_scaling':{'rope_type':'linear','factor':2,'fope_wobble':1}}",
      "a key fope_wobble that nothing reads; pass the config without it, or --lenient to assume that it does nothing" },
    { "{'model_type':'hypothetical'}",
      "model_type hypothetical is unknown, and a config does not say the pair layout; pass --pairs half" },
    { "{'hidden_size':64}", "model_type is missing; pass --type" },
    { "{" LLAMA ",'rope_scaling':{'type':'linear','factor':2,'wobble':1}}", "rope_parameters has a key wobble" },
    { "{" LLAMA ",'rope_scaling':{'type':'spiral','factor':2}}", "rope_type is spiral; needs default, linear" },
    { "{" LLAMA ",'rope_scaling':'linear'}", "rope_scaling is a string; needs an object" },
    { "{" LLAMA ",'rope_scaling':{'type':'linear','factor':'2'}}", "factor is a string; needs a number" },
    { "{" LLAMA ",'rope_scaling':{'type':'linear','factor':NaN}}", "factor is NaN; needs a number" },
    { "{" LLAMA ",'rope_scaling':{'type':'linear','factor':-2}}", "factor" },
    { "{" LLAMA ",'rope_scaling':{'type':'linear'}}", "factor is missing" },
    { "{" LLAMA ",'rope_theta':'10000'}", "rope_theta is a string; needs a number" },
    { "{" LLAMA ",'rope_theta':-1}", "theta" },
    { "{" LLAMA ",'rope_theta':1e300}", "theta" },
    { "{" LLAMA ",'new_rope_wobble':0.5}", "there is a key new_rope_wobble that posenc does not know" },
    { "{" LLAMA ",'use_alibi_wobble':true}", "use_alibi_wobble" },
    { "{" LLAMA ",'num_key_value_heads':3}", "key heads that divide the heads" },
    { "{'model_type':'llama','hidden_size':64,'num_attention_heads':-4}", "num_attention_heads is -4" },
    { "{'model_type':'llama','hidden_size':64,'num_attention_heads':4.5}", "num_attention_heads is 4.5" },
    { "{'model_type':'llama','hidden_size':1e30}", "hidden_size is 1e+30" },
    { "{'model_type':'llama','num_hidden_layers':1000000000}", "has 1000000000 layers; needs 1 to 1024" },
    { "{'model_type':'llama','num_hidden_layers':Infinity}", "num_hidden_layers is infinite" },
    { "{'model_type':'internlm2','hidden_size':64,'num_hidden_layers':2}", "num_attention_heads is missing" },
    { "{'model_type':'internlm2','hidden_size':64,'num_attention_heads':4}", "num_hidden_layers is missing" },
    { "{'model_type':'gemma3_text','num_hidden_layers':3,'layer_types':['full_attention']}",
      "layer_types ends at layer 1; the model has 3" },
    { "{'model_type':'gemma3_text','num_hidden_layers':1,'layer_types':[7]}",
      "layer_types[0] is a whole number; needs a string" },
    { "{'model_type':'smollm3','num_hidden_layers':8,'no_rope_layers':[1,1]}", "no_rope_layers ends at layer 2" },
    { "{'model_type':'nemotron_h','num_hidden_layers':3,'hybrid_override_pattern':'M*'}",
      "hybrid_override_pattern is M*; needs 3 letters" },
    { "{'model_type':'baichuan','hidden_size':1024,'num_attention_heads':8,'num_hidden_layers':4}",
      "neither Baichuan 7B (4096, 32)" },
    { "{'model_type':'bert','position_embedding_type':'relative_key_query'}",
      "position_embedding_type is relative_key_query" },
    { "{'model_type':'roberta','max_position_embeddings':2}", "pad_token_id is 1; needs less than the 2 rows" },
    { "{'model_type':'mpt','attn_config':{'alibi':false,'rope':true}}", "attn_config.rope is true" },
    { "{'model_type':'mpt','attn_config':{'alibi':'yes'}}", "alibi is a string; needs true or false" },
    { "{'model_type':'wav2vec2'}", "its positions come from a convolution" },
    { "{'model_type':'swin'}", "two-dimensional offsets" },
    { "{'model_type':'llava'}", "text_config is missing" },
    { "{'model_type':'llava','text_config':[]}", "text_config is an array; needs an object" },
    { "{'model_type':'deberta-v2','relative_attention':true,'pos_att_type':['p2p']}", "pos_att_type has p2p" },
    { "{'model_type':'inkling_text','sliding_window':null}", "sliding_window_size is 0" },
    { "{'model_type':'inkling_text','local_layer_ids':['a']}", "local_layer_ids" },
    { "{'model_type':'vit','patch_size':1000}", "patch_size is larger than image_size" },
    { "{'model_type':'radio','patch_size':10000}", "patch_size is larger than max_img_size" },
    { "{'model_type':'mgp-str'}", "image_size is missing" },
    { "{'model_type':'vivit','num_frames':1}", "num_frames is 1; needs tubelet_size, 2, to" },
    { "{'model_type':'vivit','tubelet_size':[2,16]}", "tubelet_size" },
    { "{'model_type':'audio-spectrogram-transformer','max_length':8}", "are no spectrogram of patches" },
    { "{'model_type':'dpt','is_hybrid':true,'backbone_config':{'model_type':'bit'}}", "network of convolutions" },
    { "{'model_type':'wav2vec2-conformer','position_embeddings_type':'rotary'}", "position_embeddings_type is rotary" },
    { "{'model_type':'qwen2_5_omni_dit'}", "rotates the first head of each layer and no other" },
    { "{'model_type':'transfo-xl','attn_type':2}", "attn_type is 2; needs 0" },
    { "{'model_type':'openelm','head_dim':64,'model_dim':128,'num_transformer_layers':2,'num_query_heads':[2],'num_kv_"
      "heads':[1,1]}",
      "num_query_heads has fewer numbers than there are layers, 2" },
    { "{" LLAMA ",'rope_scaling_factor':8}", "there is a key rope_scaling_factor" },
    { "{" LLAMA ",'rope_type':'yarn'}", "there is a key rope_type" },
    { "{" LLAMA ",'rope_wobble':{'by':8}}", "there is a key rope_wobble" },
    { "{" LLAMA ",'layer_types':['foo','full_attention']}", "layer_types has foo, which is unknown" },
    { "{" LLAMA ",'rope_scaling':{'type':'llama3','factor':2,'low_freq_factor':1,'high_freq_factor':4}}",
      "original_max_position_embeddings is missing; llama3" },
    { "{" LLAMA ",'rope_scaling':{'type':'llama3','factor':2,'low_freq_factor':1,'original_max_position_embeddings':"
      "64}}",
      "high_freq_factor is missing; llama3 needs factor" },
    { "{" LLAMA ",'partial_rotary_factor':1e300}", "partial_rotary_factor is 1e+300; needs more than 0" },
    { "{" LLAMA ",'partial_rotary_factor':-1}", "partial_rotary_factor is -1" },
    { "{'model_type':'llama','num_attention_heads':0}", "num_attention_heads is 0; needs 1 or more" },
    { "{'model_type':'llama','num_hidden_layers':0}", "num_hidden_layers is 0; needs 1 or more" },
    { "{'model_type':'bamba','attn_layer_indices':[-1]}", "attn_layer_indices" },
    { "{'model_type':'recurrent_gemma','block_types':[]}", "block_types ends at layer 0" },
    { "{'model_type':'step3p5','num_hidden_layers':2,'rope_theta':[10000]}", "rope_theta ends at layer 1" },
    { "{'model_type':'cohere2_moe','prefix_dense_sliding_window_pattern':0}",
      "prefix_dense_sliding_window_pattern is 0" },
    { "{'model_type':'deepseek_v4','compress_ratios':[0,3]}", "compress_ratios has 3, which is unknown" },
    { "{'model_type':'deci','hidden_size':64,'num_attention_heads':4,'num_hidden_layers':1,'max_position_embeddings':9,"
      "'num_key_value_heads_per_layer':[3]}",
      "has 3 at layer 0; needs a divisor of the 4 heads" },
    { "{'model_type':'nemotron-nas','hidden_size':64,'num_attention_heads':4,'num_hidden_layers':1,"
      "'max_position_embeddings':9,'block_configs':[{'attention':{'n_heads_in_group':3}}]}",
      "n_heads_in_group of layer 0 is 3; needs a divisor of the 4 heads" },
    /* a key about positions that nobody reads is an error, wherever it stands */
    { "{" LLAMA ",'text_config':{'rope_theta':5}}", "text_config has rope_theta, but a llama has its layers outside" },
    { "[]", "config.json" },
};

TEST(what_is_not_known_is_refused_by_name)
{
    for (int n = 0; n < COUNT(refused); n++) {
        zoo_model *m;
        pe_status s = read_with(&m, refused[n].json, (zoo_options){ 0 });
        if (s == PE_OK || !strstr(err.text, refused[n].says) || strncmp(err.text, "config.json", 11))
            fail_msg("%s\nsays '%s', not '%s'", refused[n].json, s ? err.text : summary(m), refused[n].says);
        assert_null(m);
    }
}

/* ---------------------------------------------------------------- options, guesses, notes */

static bool notes(const zoo_model *m, zoo_level level, const char *part)
{
    for (int n = 0; n < m->notes; n++)
        if (m->note[n].level == level && strstr(m->note[n].text, part))
            return true;
    return false;
}

#define ROPE "llama 4/4x16 128/128: 2x rope"
#define UNREAD(key, value) { "{" LLAMA ",'" key "':" value "}", { 0 }, ROPE, ZOO_WARNING, key " is there, but" }
#define NESTED_SPEC "rope:theta=77,scaling=llama3,factor=2,trained=64; 1 full_attention"
#define NESTED(type, text)                                                                                             \
    "{'model_type':'" type "','text_config':{'model_type':'" text "','hidden_size':64,'num_attention_heads':4,"        \
    "'num_key_value_heads':4,'num_hidden_layers':2,'max_position_embeddings':128,'sliding_window':null,'layer_types':" \
    "['full_attention','full_attention'],'rope_theta':77,'rope_scaling':{'rope_type':'llama3','factor':2,"             \
    "'low_freq_factor':1,'high_freq_factor':4,'original_max_position_embeddings':64}}}"
#define UNKNOWN "{'model_type':'hypothetical','hidden_size':64,'num_attention_heads':4,'num_hidden_layers':2,"

/* clang-format off */
static const struct {
    const char *json;
    zoo_options options;
    const char *want; /* NULL: whatever it is */
    zoo_level level;
    const char *note; /* "a|b"; "": there is none of this level, NULL: there may be some */
} said[] = {
    /* options say what the config does not */
    { UNKNOWN "'rope_theta':7000}", { .pairs = "adjacent" }, "unknown 4/4x16 0/0: 2x rope:theta=7000,pairs=adjacent",
      0, NULL },
    { "{" LLAMA "}", { .theta = 77 }, ROPE ":theta=77", 0, NULL },
    { "{" LLAMA "}", { .pairs = "adjacent" }, ROPE ":pairs=adjacent", 0, NULL },
    { "{" LLAMA "}", { .type = "gptj" }, "gptj 4/4x16 128/128: 2x rope:pairs=adjacent", 0, NULL },
    { "{" LLAMA "}", { .trained = 32 }, "llama 4/4x16 32/128: 2x rope", 0, NULL },
    { "{" LLAMA "}", { .head_dim = 32 }, "llama 4/4x32 128/128: 2x rope", 0, NULL },
    { "{" LLAMA ",'rope_scaling':{'type':'dynamic','factor':2}}", { .length = 300 },
      "llama 4/4x16 128/256: 2x rope:scaling=dynamic,factor=2,trained=128,length=300", 0, NULL },
    /* --type is that of the nested language model, whatever it is called there */
    { NESTED("exaone4_5", "exaone4_5_text"), { .type = "exaone4" }, "text exaone4 4/4x16 64/128: 2x " NESTED_SPEC, 0, NULL },
    { NESTED("qwen3_vl", "qwen3_vl_text"), { .type = "qwen3" }, "text qwen3 4/4x16 64/128: 2x " NESTED_SPEC, 0, NULL },
    { NESTED("of_tomorrow", "its_text"), { .type = "llama" }, "text llama 4/4x16 64/128: 2x " NESTED_SPEC, 0, NULL },
    /* tables that a tower adds beside its rotation are said */
    { "{'model_type':'qwen3_vl_vision','depth':2,'num_position_embeddings':2304}", { 0 }, NULL, ZOO_WARNING,
      "it also adds a learned table of 2304 rows" },
    { "{'model_type':'glm4v_vision','depth':2,'image_size':336,'patch_size':14}", { 0 }, NULL, ZOO_WARNING,
      "it also adds a learned table of 576 rows" },
    { "{'model_type':'gemma4_text'}", { 0 }, NULL, ZOO_FACT, "their scale is 1" },
    { "{'model_type':'gpt_oss'}", { 0 }, NULL, ZOO_FACT, "heads of all layers have a trained sink" },
    { "{'model_type':'mimo_v2_flash'}", { 0 }, NULL, ZOO_FACT, "heads of layers with a window have a trained sink" },
    /* lenient guesses and says so */
    { UNKNOWN "'rope_wobble':3}", { .lenient = true }, "unknown 4/4x16 0/0: 2x rope", ZOO_GUESS,
      "model_type hypothetical is unknown|a key rope_wobble|no key gives the base" },
    /* keys that disagree get a note */
    { "{" LLAMA ",'n_head':8,'rope_scaling':{'type':'linear','rope_type':'dynamic','factor':2}}", { 0 }, NULL,
      ZOO_WARNING,
      "num_attention_heads is 4 and n_head is 8|rope_type is dynamic and type is linear; rope_type counts" },
    { "{" LLAMA ",'rope_scaling':{'factor':2}}", { 0 }, ROPE, ZOO_WARNING, "there is a factor but no rope_type" },
    { "{" LLAMA ",'rope_theta':10,'rope_parameters':{'rope_type':'default','rope_theta':500}}", { 0 },
      ROPE ":theta=500", ZOO_WARNING, "rope_theta is 10, but rope_parameters has rope_theta 500" },
    { "{" LLAMA ",'rope_scaling':{'rope_type':'yarn','factor':2,'original_max_position_embeddings':256}}", { 0 }, NULL,
      ZOO_WARNING, "original_max_position_embeddings is 256, more than max_position_embeddings" },
    /* a key that another family's code reads must not pass in silence, and must not change what is read */
    UNREAD("alibi", "true"), UNREAD("use_dynamic_ntk", "true"), UNREAD("rope_interleaved", "true"),
    UNREAD("rope_ratio", "50"),
    UNREAD("position_embedding_type", "'alibi'"), UNREAD("rope_traditional", "true"), UNREAD("mscale", "2"),
    UNREAD("use_logn_attn", "true"), UNREAD("dual_chunk_attention_config", "{'chunk_size':64}"),
    { "{" LLAMA ",'dual_chunk_attention_config':{'chunk_size':64,'original_max_position_embeddings':64}}", { 0 },
      "llama 4/4x16 64/128: 2x rope", ZOO_WARNING, "trained at 64 positions|dual_chunk_flash_attn" },
    { "{" LLAMA ",'dual_chunk_attention_config':{'original_max_position_embeddings':64}}", { .trained = 32 },
      "llama 4/4x16 32/128: 2x rope", ZOO_WARNING, "dual_chunk_flash_attn" },
    UNREAD("no_rope_layers", "[0,1]"), UNREAD("rope_local_base_freq", "9"),
    { "{'model_type':'bert','rope_theta':3}", { 0 }, "bert 12/12x64 512/512: 12x learned", ZOO_WARNING,
      "rope_theta is there, but" },
    { "{'model_type':'bert','rope_scaling':{'type':'linear','factor':2}}", { 0 }, "bert 12/12x64 512/512: 12x learned",
      ZOO_WARNING, "rope_scaling is there, but" },
    { "{'model_type':'bloom','rope_theta':3}", { 0 }, "bloom 8/8x8 0/0: 2x alibi", ZOO_WARNING,
      "rope_theta is there, but" },
    { "{'model_type':'gptj','rope_theta':3}", { 0 }, "gptj 16/16x256 2048/2048: 28x rope:pairs=adjacent,dims=64",
      ZOO_WARNING, "rope_theta is there, but" },
    { "{'model_type':'codegen','rope_scaling':{'type':'linear','factor':2}}", { 0 },
      "codegen 16/16x256 2048/2048: 28x rope:pairs=adjacent,dims=64", ZOO_WARNING, "rope_scaling is there, but" },
    { "{'model_type':'roformer','rope_parameters':{'rope_type':'default','rope_theta':7}}", { 0 },
      "roformer 12/12x64 1536/1536: 12x rope:pairs=adjacent", ZOO_WARNING, "rope_parameters is there, but" },
    /* what says what is done anyway gets none */
    { "{'model_type':'minimax_m2','rotary_dim':64}", { 0 },
      "minimax_m2 48/8x128 196608/196608: 62x rope:theta=5000000,dims=64", ZOO_WARNING, "" },
    { "{" LLAMA ",'position_embedding_type':'absolute','alibi':false}", { 0 }, ROPE, ZOO_WARNING, "" },
    { "{'model_type':'gemma4_text'}", { 0 }, NULL, ZOO_WARNING, "" },
    { "{'model_type':'glm_moe_dsa','indexer_rope_interleave':true}", { 0 }, NULL, ZOO_WARNING, "" },
    { "{'model_type':'pegasus','extra_pos_embeddings':1,'static_position_embeddings':true}", { 0 }, NULL,
      ZOO_WARNING, "" },
    /* a picture part that cannot be read must not hide the language model */
    { "{'model_type':'llava','text_config':{" LLAMA "},'vision_config':{'model_type':'clip_vision_model','image_size':"
      "'large'}}", { 0 }, "text " ROPE, ZOO_WARNING, "image_size is a string" },
    { "{'model_type':'llava','text_config':{" LLAMA "},'vision_config':{'model_type':'swin'}}", { 0 }, "text " ROPE,
      ZOO_FACT, "vision_config (swin) is not read: its stages" },
    { "{'model_type':'of_tomorrow','text_config':{" LLAMA "}}", { 0 }, "text " ROPE, 0, NULL },
};
/* clang-format on */

TEST(options_and_notes_say_what_the_config_does_not)
{
    zoo_model *m;
    for (int n = 0; n < COUNT(said); n++) {
        char each[200];
        assert_ok(read_with(&m, said[n].json, said[n].options));
        if (said[n].want && strcmp(summary(m), said[n].want))
            fail_msg("%s\nis %s, not %s", said[n].json, summary(m), said[n].want);
        snprintf(each, sizeof each, "%s", said[n].note ? said[n].note : "");
        for (char *note = strtok(each, "|"); note; note = strtok(NULL, "|"))
            if (!notes(m, said[n].level, note))
                fail_msg("%s\nhas no note '%s'", said[n].json, note);
        if (said[n].note && !*said[n].note && notes(m, said[n].level, ""))
            fail_msg("%s\nhas a note", said[n].json);
        zoo_free(m);
    }
    assert_ok(read_with(&m, "{'model_type':'falcon','multi_query':true}", (zoo_options){ 0 }));
    assert_false(notes(m, ZOO_FACT, "num_key_value_heads"));
    zoo_free(m);
}

TEST(configs_in_configs_end_somewhere)
{
    char text[400] = "";
    zoo_model *m;
    for (int n = 0; n < 8; n++)
        strcat(text, "{'model_type':'t','text_config':");
    strcat(text, "{}}}}}}}}}");
    assert_int_equal(read_with(&m, text, (zoo_options){ 0 }), PE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "configs in configs"));
}

/* ---------------------------------------------------------------- the table */

static const zoo_row *row_at(int i) /* of all tables; NULL past the end */
{
    static const zoo_row *const tables[] = { zoo_rows_rope, zoo_rows_other, zoo_rows_parts, zoo_rows_remote };
    for (int t = 0; t < COUNT(tables); t++)
        for (const zoo_row *row = tables[t]; row->type; row++)
            if (i-- == 0)
                return row;
    return NULL;
}

TEST(no_type_has_two_rows)
{
    const zoo_row *row;
    for (int i = 0; (row = row_at(i)); i++)
        if (zoo_row_find(row->type) != row || zoo_unread_reason(row->type))
            fail_msg("%s has two rows", row->type);
}

/* A typo in a row must not pass: every word of every row is known, and a number where it must be one. */
TEST(every_word_of_every_row_is_known)
{
    static const zoo_row wrong[] = {
        { "t", "rope", "hiden=64" },          { "t", "rope", "hidden" },          { "t", "rope", "hidden=" },
        { "t", "rope", "hidden=64x" },        { "t", "rope", "hidden=1 hidden=1" }, { "t", "rope", "fixed_theta=1" },
        { "t", "rope", "hidden=64  heads=4" }, { "t", "rope", "pairs" },
    };
    const zoo_row *row;
    zoo_fact f;
    for (int i = 0; (row = row_at(i)); i++)
        if (strcmp(row->family, "parts"))
            assert_ok(zoo_fact_read(&f, row, &err));
    for (int n = 0; n < COUNT(wrong); n++)
        if (zoo_fact_read(&f, &wrong[n], &err) != PE_ERR_FORMAT)
            fail_msg("'%s' is read", wrong[n].words);
    assert_ok(zoo_fact_read(&f, zoo_row_find("cohere2_moe"), &err));
    assert_int_equal(f.heads, 64);
    assert_int_equal(f.length, 8192);
    assert_string_equal(zoo_fact_word(&f, "norope"), "full_attention");
    assert_null(zoo_fact_word(&f, "fixed_theta"));
    assert_int_equal((int)zoo_fact_number(&f, "dense_period"), 1);
}

/* A row whose family has no reader says so whatever the config holds. */
TEST(every_row_has_a_reader_and_a_source)
{
    const zoo_row *row;
    for (int i = 0; (row = row_at(i)); i++) {
        char text[200], source[120] = "";
        zoo_model *m;
        snprintf(text, sizeof text, "{'model_type':'%s'}", row->type);
        read_with(&m, text, (zoo_options){ 0 });
        if (strstr(err.text, "no reader") || !*zoo_row_source(source, row))
            fail_msg("%s: %s; read in '%s'", row->type, err.text, source);
        zoo_free(m);
    }
}

TEST(the_first_part_of_every_row_is_known)
{
    const zoo_row *row;
    for (int i = 0; (row = row_at(i)); i++) {
        bool first = true;
        for (const char *at = row->words; !strcmp(row->family, "parts") && *at && strncmp(at, "source=", 7);) {
            char key[64], type[64];
            assert_true(strcspn(at, " ") < 64); /* what read_parts holds */
            assert_int_equal(sscanf(at, "%63[a-z_0-9]=%63[^ ]", key, type), 2);
            if (first && strcmp(key, "folder") && !zoo_row_find(type))
                fail_msg("%s: its first part is %s, which has no row", row->type, type);
            first &= !strcmp(key, "folder");
            at += strcspn(at, " ");
            at += strspn(at, " ");
        }
    }
}

/* ---------------------------------------------------------------- hostile ones */

TEST(any_failed_allocation_is_reported)
{
    static const int some[] = { 1, 9, 13, 26, 35, 36 };
    for (int i = 0; i < COUNT(some); i++)
        for (long n = 1;; n++) {
            zoo_model *m;
            size_t live = heap.live;
            heap.fail = n;
            pe_status s = read_with(&m, published[some[i]].json, (zoo_options){ 0 });
            bool done = heap.fail > 0;
            heap.fail = 0;
            zoo_free(m);
            assert_int_equal(heap.live, live);
            if (done) {
                assert_ok(s);
                break;
            }
            assert_int_equal(s, PE_ERR_NOMEM);
        }
}

/* Every layer of a kind of its own must not cost a pass over the text for each key of each. */
TEST(many_kinds_of_layers_are_refused)
{
    static char text[1 << 16];
    zoo_model *m;
    size_t used =
        (size_t)snprintf(text, sizeof text, "{'model_type':'gemma3_text','num_hidden_layers':1000,'layer_types':[");
    for (int n = 0; n < 1000; n++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s'kind%d'", n ? "," : "", n);
    snprintf(text + used, sizeof text - used, "]}");
    assert_int_equal(read_with(&m, text, (zoo_options){ .lenient = true }), PE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "more than 16 kinds of layers"));
}

/* Bytes of a published config changed at random: an answer or a sentence, in memory that its size bounds. */
TEST(damaged_configs_do_no_harm)
{
    uint64_t seed = 20261;
    for (int n = 0; n < 20000; n++) {
        static char text[1 << 14];
        zoo_model *m;
        const char *json = published[test_range(&seed, 0, COUNT(published) - 1)].json;
        size_t size = strlen(json);
        if (size >= sizeof text)
            continue;
        memcpy(text, json, size + 1);
        for (int64_t k = test_range(&seed, 1, 3); k > 0; k--)
            text[test_range(&seed, 1, (int64_t)size - 2)] = "0123456789-.e,:'[]{}naltrufs"[test_range(&seed, 0, 27)];
        pe_status s = read_with(&m, text, (zoo_options){ .lenient = n % 2 });
        assert_true(s == PE_OK || err.text[0]);
        zoo_free(m);
    }
}
