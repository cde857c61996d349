/* SPDX-License-Identifier: MIT
 *
 * Which tensors of a model hold q and k, and which of their rows a change of the pair layout permutes: the names that
 * models use, with the source of each fact (the first match wins); the rows of a tensor; the plan for a file.
 */
#include "pairs.h"

#include "checked.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct io_planner {
    io_pairs_plan *plan;
    io_pairs_facts f; /* head_dim becomes known on the way */
    pe_error *err;
} io_planner;

/* HF: huggingface/transformers, src/transformers/models/NAME/modeling_NAME.py.  GGUF: ggml-org/llama.cpp,
 * gguf-py/gguf/constants.py.  "remote": modeling code in the model's own repository. */
static const io_pairs_stem names[] = {
    /* HF llama, mistral, qwen2, qwen3, gemma to gemma3, olmo2, cohere, phi, stablelm, gptj, ...: one Linear each */
    { "q_proj", NULL, IO_ROLE_Q, 0 },
    { "k_proj", NULL, IO_ROLE_K, 0 },
    /* meta-llama/llama, llama/model.py: layers.N.attention.wq; mistralai's consolidated files */
    { "wq", NULL, IO_ROLE_Q, 0 },
    { "wk", NULL, IO_ROLE_K, 0 },
    /* GGUF: MODEL_TENSOR.ATTN_Q = blk.N.attn_q */
    { "attn_q", NULL, IO_ROLE_Q, 0 },
    { "attn_k", NULL, IO_ROLE_K, 0 },
    /* HF roformer, esm: encoder.layer.N.attention.self.query */
    { "attention.self.query", NULL, IO_ROLE_Q, 0 },
    { "attention.self.key", NULL, IO_ROLE_K, 0 },

    /* HF deepseek_v2, deepseek_v3: each head of q_b_proj is [nope | rope]; kv_a_proj_with_mqa is [latent | rope] */
    { "q_b_proj", NULL, IO_ROLE_MLA_Q, 0 },
    { "kv_a_proj_with_mqa", NULL, IO_ROLE_MLA_K, 0 },
    /* deepseek-ai/DeepSeek-V3, inference/model.py: class MLA */
    { "wq_b", NULL, IO_ROLE_MLA_Q, 0 },
    { "wkv_a", NULL, IO_ROLE_MLA_K, 0 },
    /* GGUF: ATTN_Q_B, ATTN_KV_A_MQA */
    { "attn_q_b", NULL, IO_ROLE_MLA_Q, 0 },
    { "attn_kv_a_mqa", NULL, IO_ROLE_MLA_K, 0 },

    /* HF qwen3, gemma3: (head_dim,); olmo2: (heads * head_dim,); cohere: (heads, head_dim) */
    { "q_norm", NULL, IO_ROLE_Q_NORM, 0 },
    { "k_norm", NULL, IO_ROLE_K_NORM, 0 },
    /* HF phi, persimmon: (head_dim,); stablelm: q_layernorm.norms.H */
    { "q_layernorm", NULL, IO_ROLE_Q_NORM, 0 },
    { "k_layernorm", NULL, IO_ROLE_K_NORM, 0 },
    /* HF hunyuan_v1_dense: after the rotation, element by element all the same */
    { "query_layernorm", NULL, IO_ROLE_Q_NORM, 0 },
    { "key_layernorm", NULL, IO_ROLE_K_NORM, 0 },
    /* GGUF: ATTN_Q_NORM, ATTN_K_NORM */
    { "attn_q_norm", NULL, IO_ROLE_Q_NORM, 0 },
    { "attn_k_norm", NULL, IO_ROLE_K_NORM, 0 },

    /* HF codegen: four parts of [q v k], from its training on four TPU cores */
    { "attn.qkv_proj", "transformer.h.", IO_ROLE_FUSED, IO_FUSED_STRANGE },
    /* HF phi3: query_pos, then keys, then values; remote OpenELM: the same under attn. */
    { "self_attn.qkv_proj", NULL, IO_ROLE_FUSED, IO_FUSED_QKV },
    { "attn.qkv_proj", "transformer.layers.", IO_ROLE_FUSED, IO_FUSED_QKV },
    { "qkv_proj", NULL, IO_ROLE_FUSED, IO_FUSED_UNSAID },
    /* HF gpt_neox: view(heads, 3 * head_dim), chunk(3) */
    { "attention.query_key_value", "gpt_neox.", IO_ROLE_FUSED, IO_FUSED_PER_HEAD },
    /* HF falcon has all three, by new_decoder_architecture and multi_query; ChatGLM and Ling (remote) are [q|k|v] */
    { "query_key_value", NULL, IO_ROLE_FUSED, IO_FUSED_UNSAID },
    /* remote Qwen-7B (the first): split(split_size, dim=2) */
    { "attn.c_attn", NULL, IO_ROLE_FUSED, IO_FUSED_QKV },
    /* HF dbrx: split; modernbert, remote nomic-bert, phi-1: view(3, heads, head_dim) */
    { "Wqkv", NULL, IO_ROLE_FUSED, IO_FUSED_QKV },
    /* remote InternLM2: rearrange "(h gs d)", gs = 2 + queries per key head */
    { "attention.wqkv", NULL, IO_ROLE_FUSED, IO_FUSED_GROUPED },
    /* remote Baichuan-7B: unflatten(-1, (3, hidden_size)) */
    { "self_attn.W_pack", NULL, IO_ROLE_FUSED, IO_FUSED_QKV },
    /* NVIDIA/Megatron-LM, core/transformer/attention.py: (groups, (queries per group + 2) * head_dim) */
    { "self_attention.linear_qkv", NULL, IO_ROLE_FUSED, IO_FUSED_GROUPED },
    /* GGUF: ATTN_QKV; convert_hf_to_gguf.py reorders the others to [q|k|v] */
    { "attn_qkv", NULL, IO_ROLE_FUSED, IO_FUSED_QKV },
    { "attn.in_proj", NULL, IO_ROLE_FUSED, IO_FUSED_UNSAID },
    { "self_attn.in_proj", NULL, IO_ROLE_FUSED, IO_FUSED_UNSAID },
};
#define NAMES (sizeof names / sizeof names[0])

/* Parts of a name that say: another attention, which has positions of its own or none. HF llava, qwen2_vl, mllama,
 * qwen2_audio, gemma3; deepseek_v32's indexer, whose pairs are laid out apart from MLA's; GGUF: v.blk, a.blk. */
static const char *const towers[] = {
    "vision_tower",  "vision_model", "vision_encoder", "visual", "vit", "image_encoder",  "audio_tower", "audio_model",
    "audio_encoder", "cross_attn",   "encoder_attn",   "v",      "a",   "crossattention", "indexer"
};

static const char *io_role_name(io_role r)
{
    static const char *const text[] = {
        [IO_ROLE_Q] = "q",           [IO_ROLE_K] = "k",           [IO_ROLE_FUSED] = "qkv",
        [IO_ROLE_Q_NORM] = "q norm", [IO_ROLE_K_NORM] = "k norm", [IO_ROLE_MLA_Q] = "q of MLA",
        [IO_ROLE_MLA_K] = "k of MLA"
    };
    return text[r];
}

/* Does name, up to its byte length, end with the parts of stem? */
static bool ends_with(const char *name, size_t length, const char *stem)
{
    size_t n = strlen(stem);
    return n <= length && !memcmp(name + length - n, stem, n) && (n == length || name[length - n - 1] == '.');
}

/* The row for a tensor's name and what follows its stem ("weight", "lora_B.weight"); NULL: no q or k of ours. */
const io_pairs_stem *io_pairs_find(const char *name, const char **rest)
{
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.'))
        for (size_t i = 0; i < NAMES; i++)
            if (ends_with(name, (size_t)(dot - name), names[i].stem) &&
                (!names[i].within || strstr(name, names[i].within))) {
                *rest = dot + 1;
                return &names[i];
            }
    *rest = "";
    return NULL;
}

/* of a vision or audio tower, or another attention with its own positions */
bool io_pairs_in_tower(const char *name)
{
    for (const char *part = name; part; part = strchr(part, '.')) {
        part += *part == '.';
        size_t length = strcspn(part, ".");
        for (size_t i = 0; i < sizeof towers / sizeof towers[0]; i++)
            if (strlen(towers[i]) == length && !memcmp(part, towers[i], length))
                return true;
    }
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(const char *at, size_t length, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == length && !strncasecmp(at, *list, length))
            return true;
    return false;
}

/* Its words, the letters between dots, digits and underscores: one of q and k, in attention. Not MLA's latent (q_a) and
 * not what a cache is scaled by (k_scale). */
bool io_pairs_resembles(const char *name)
{
    static const char *const ours[] = {
        "q", "k", "qk", "qkv", "wq", "wk", "wqkv", "query", "key", "queries", "keys", 0
    };
    static const char *const others[] = { "a", "scale", "zero", "cache", "lora", 0 };
    bool attention = false, found = false;
    for (const char *at = name; *at;) {
        size_t n = 0;
        while (is_letter(at[n]))
            n++;
        if (is_word(at, n, others))
            return false;
        attention =
            attention || (n >= 3 && !strncasecmp(at, "att", 3)) || (n > 9 && !strncasecmp(at + n - 9, "attention", 9));
        found = found || is_word(at, n, ours);
        at += n ? n : 1;
    }
    return attention && found;
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* rest: after the stem. huggingface/peft: lora_A.NAME.weight maps in, lora_B.NAME.weight maps to the rows of q;
 * lora_magnitude_vector (DoRA) has one number per row. */
static io_part io_pairs_part(io_role role, const char *rest)
{
    static const struct {
        const char *start;
        io_part part;
    } known[] = { { "base_layer.", IO_PART_TURN },
                  { "lora_A.", IO_PART_LEAVE },
                  { "lora_B.", IO_PART_TURN },
                  { "lora_magnitude_vector", IO_PART_TURN },
                  { "norms.", IO_PART_TURN } };
    if (!strcmp(rest, "weight") || !strcmp(rest, "bias"))
        return IO_PART_TURN;
    bool norm = role == IO_ROLE_Q_NORM || role == IO_ROLE_K_NORM;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strncmp(rest, known[i].start, strlen(known[i].start)) && norm == !strcmp(known[i].start, "norms."))
            return ends_in(rest, "weight") || ends_in(rest, "bias") || ends_in(rest, "vector") ? known[i].part
                                                                                               : IO_PART_REFUSE;
    return IO_PART_REFUSE;
}

/* ---------------------------------------------------------------- map */

/* One tensor or array: where its heads are and which of their rows are permuted, from its shape and the facts. */

#define HEAD_MAX 65536 /* rows of a head */

const char *io_pairs_name(io_pairs p)
{
    return p == IO_PAIRS_HALF ? "half" : "adjacent";
}

/* ---------------------------------------------------------------- maps */

/* For a tensor whose rows come as blocks of heads; the check of dims against head_dim, for all. */
static pe_status io_pairs_map_heads(io_pairs_map *m, const io_pairs_facts *f, pe_error *err)
{
    m->dims = f->dims ? f->dims : m->head_dim;
    m->first = f->trailing ? m->head_dim - m->dims : 0;
    m->to = f->to;
    if (f->from == f->to)
        return io_fail(err, PE_ERR_SPEC, "from %s to %s there is nothing to do", io_pairs_name(f->from),
                       io_pairs_name(f->to));
    if (m->head_dim < 1 || m->head_dim > HEAD_MAX)
        return io_fail(err, PE_ERR_SHAPE, "a head has %lld elements; needs 1 to %d", (long long)m->head_dim, HEAD_MAX);
    if (m->dims < 2 || m->dims % 2 || m->dims > m->head_dim)
        return io_fail(err, f->dims ? PE_ERR_SPEC : PE_ERR_SHAPE,
                       "%lld elements of a head of %lld are rotated; needs an even number from 2 to that",
                       (long long)m->dims, (long long)m->head_dim);
    return PE_OK;
}

pe_status io_pairs_map_array(io_pairs_map *out, const io_array *a, const io_pairs_facts *f, pe_error *err)
{
    int64_t width = a->rank ? a->shape[a->rank - 1] : 0;
    *out = (io_pairs_map){ 0 };
    if (!a->rank || (f->head_dim && width % f->head_dim))
        return io_fail(err, PE_ERR_SHAPE, "the last axis has %lld elements; needs heads of %lld", (long long)width,
                       (long long)f->head_dim);
    out->rows = a->count;
    out->head_dim = out->block = out->rotated = f->head_dim ? f->head_dim : width;
    return io_pairs_map_heads(out, f, err);
}

/* ---------------------------------------------------------------- one tensor */

static bool is_float(io_type t)
{
    return t == IO_F32 || t == IO_F64 || t == IO_F16 || t == IO_BF16 || t == IO_F8_E4M3 || t == IO_F8_E5M2;
}

static pe_status io_plan_refuse_quantised(const io_planner *p, const io_tensor *t)
{
    return io_fail(p->err, PE_ERR_FORMAT,
                   "%s (%s) belongs to a quantised layer, or one of an unknown kind; convert the model before it is "
                   "quantised",
                   t->name, io_type_name(t->type));
}

static int64_t io_plan_kv_heads(const io_planner *p)
{
    return p->f.kv_heads ? p->f.kv_heads : p->f.heads;
}

/* How a tensor of q, k and v is laid out: said, or known by its name. */
static pe_status io_plan_fused(const io_planner *p, const io_tensor *t, const io_pairs_stem *row, io_fused *out)
{
    *out = row->fused == IO_FUSED_STRANGE || !p->f.fused ? row->fused : p->f.fused;
    if (*out == IO_FUSED_STRANGE)
        return io_fail(p->err, PE_ERR_FORMAT,
                       "%s is of CodeGen, which mixes q, v and k in four parts; that order is not "
                       "supported",
                       t->name);
    if (*out == IO_FUSED_UNSAID)
        return io_fail(p->err, PE_ERR_SPEC,
                       "%s holds q, k and v, and models of this name differ in their order; give --fused qkv "
                       "[all q|all k|all v], per-head [q k v] (GPT-NeoX) or grouped [q.. k v] (Falcon 40B)",
                       t->name);
    if (!p->f.heads)
        return io_fail(p->err, PE_ERR_SPEC, "%s holds q, k and v; give --heads, and --kv-heads where they differ",
                       t->name);
    if (*out == IO_FUSED_PER_HEAD && io_plan_kv_heads(p) != p->f.heads)
        return io_fail(p->err, PE_ERR_SPEC,
                       "%s: [q k v] for each head needs as many key heads as heads; --kv-heads is "
                       "%lld",
                       t->name, (long long)io_plan_kv_heads(p));
    if (*out == IO_FUSED_GROUPED && p->f.heads % io_plan_kv_heads(p))
        return io_fail(p->err, PE_ERR_SPEC, "%s: %lld heads do not make %lld equal groups", t->name,
                       (long long)p->f.heads, (long long)io_plan_kv_heads(p));
    return PE_OK;
}

/* rows have to be count heads; without --heads any number of them. */
static pe_status check_rows(const io_planner *p, const io_tensor *t, int64_t rows, int64_t count)
{
    int64_t wanted, width = p->f.head_dim, found = rows / width;
    if (!p->f.heads && rows > 0 && rows % width == 0)
        return PE_OK;
    if (p->f.heads && io_mul_i64(&wanted, count, width) && rows == wanted)
        return PE_OK;
    if (!p->f.heads)
        return io_fail(p->err, PE_ERR_SHAPE, "%s has %lld rows; needs a multiple of --head-dim %lld", t->name,
                       (long long)rows, (long long)width);
    return io_fail(p->err, PE_ERR_SHAPE, "%s has %lld rows; %lld heads of %lld make another number%s", t->name,
                   (long long)rows, (long long)count, (long long)width,
                   rows % width                           ? ""
                   : found < p->f.heads && !p->f.kv_heads ? " (is --kv-heads missing?)"
                                                          : " (are --heads, --kv-heads and --head-dim right?)");
}

static pe_status map_fused(const io_planner *p, const io_tensor *t, const io_pairs_stem *row, io_pairs_map *m)
{
    io_fused fused;
    int64_t k = io_plan_kv_heads(p), width = p->f.head_dim;
    pe_status s = io_plan_fused(p, t, row, &fused);
    if (s == PE_OK)
        s = check_rows(p, t, m->rows, p->f.heads + 2 * k);
    if (s != PE_OK)
        return s;
    int64_t queries = fused == IO_FUSED_QKV ? p->f.heads : p->f.heads / k, keys = fused == IO_FUSED_QKV ? k : 1;
    m->rotated = (queries + keys) * width; /* both at most rows */
    m->block = (queries + 2 * keys) * width;
    return PE_OK;
}

/* The end of each head of q, the end of all rows of k. */
static pe_status map_mla(const io_planner *p, const io_tensor *t, io_role role, io_pairs_map *m)
{
    if (!p->f.dims || !p->f.trailing)
        return io_fail(
            p->err, PE_ERR_SPEC,
            "%s is of MLA, where the end of a head is rotated; give --range trailing and --dims, the model's "
            "qk_rope_head_dim",
            t->name);
    if (role == IO_ROLE_MLA_Q)
        return check_rows(p, t, m->rows, p->f.heads);
    m->head_dim = m->rows;
    return PE_OK;
}

/* A norm of one head for all, or of all heads. */
static pe_status map_norm(const io_planner *p, const io_tensor *t, int64_t count, io_pairs_map *m)
{
    m->rows = m->block = m->rotated = t->count;
    return m->rows == p->f.head_dim ? PE_OK : check_rows(p, t, m->rows, count);
}

/* Chosen by --tensors, and of no known name. */
static pe_status map_named(const io_planner *p, const io_tensor *t, const io_pairs_map *m)
{
    int64_t keys = io_plan_kv_heads(p), wanted;
    bool is_key = io_mul_i64(&wanted, keys, p->f.head_dim) && m->rows == wanted;
    return m->rows == p->f.head_dim ? PE_OK : check_rows(p, t, m->rows, is_key ? keys : p->f.heads);
}

static pe_status map_role(const io_planner *p, const io_tensor *t, const io_pairs_stem *row, io_pairs_map *m)
{
    if (!row)
        return map_named(p, t, m);
    if (row->role == IO_ROLE_FUSED)
        return map_fused(p, t, row, m);
    if (row->role == IO_ROLE_MLA_Q || row->role == IO_ROLE_MLA_K)
        return map_mla(p, t, row->role, m);
    bool query = row->role == IO_ROLE_Q || row->role == IO_ROLE_Q_NORM;
    int64_t count = query ? p->f.heads : io_plan_kv_heads(p);
    if (row->role == IO_ROLE_Q || row->role == IO_ROLE_K)
        return check_rows(p, t, m->rows, count);
    return map_norm(p, t, count, m);
}

/* Fills the item's map. row NULL: chosen by --tensors, and of no known name. */
static pe_status io_plan_map(const io_planner *p, io_pairs_item *item, const io_pairs_stem *row)
{
    const io_tensor *t = item->tensor;
    io_pairs_map m = { .rows = t->rank ? t->shape[0] : 0, .head_dim = p->f.head_dim };
    if (!is_float(t->type))
        return io_plan_refuse_quantised(p, t);
    if (!m.head_dim && (!row || row->role != IO_ROLE_MLA_K))
        return io_fail(p->err, PE_ERR_SPEC, "%s: no q in this file says the head dimension; give --head-dim", t->name);
    m.block = m.rotated = m.rows;
    pe_status s = map_role(p, t, row, &m);
    if (s == PE_OK)
        s = io_pairs_map_heads(&m, &p->f, p->err);
    if (s != PE_OK)
        return s;
    item->map = m;
    item->role = row ? io_role_name(row->role) : "named";
    p->plan->rotated++;
    return PE_OK;
}

/* ---------------------------------------------------------------- plan */

/* Which tensors are permuted, and how: decided for the whole file before a byte is written. What cannot be told from
 * names and shapes is asked for, never guessed: weights in the wrong order still make fluent text. */

/* *row: what the tensor is. False: it stays as it is. */
static bool is_chosen(io_planner *p, const char *name, const io_pairs_stem **row, const char **rest)
{
    *row = io_pairs_find(name, rest);
    if (p->f.tensors)
        return fnmatch(p->f.tensors, name, 0) == 0;
    if (io_pairs_in_tower(name) && (*row || io_pairs_resembles(name))) {
        p->plan->passed_over = name;
        return false;
    }
    return *row != NULL;
}

static pe_status plan_tensor(io_planner *p, io_pairs_item *item)
{
    const io_pairs_stem *row;
    const char *rest;
    const char *name = item->tensor->name;
    if (!is_chosen(p, name, &row, &rest)) {
        item->left = !row && !p->f.tensors && !io_pairs_in_tower(name) && io_pairs_resembles(name);
        p->plan->left += item->left;
        return PE_OK;
    }
    io_part what = row ? io_pairs_part(row->role, rest) : IO_PART_TURN;
    if (what == IO_PART_REFUSE)
        return io_plan_refuse_quantised(p, item->tensor);
    return what == IO_PART_TURN ? io_plan_map(p, item, row) : PE_OK;
}

/* From the first tensor that holds whole query heads. */
static pe_status find_width(io_planner *p)
{
    for (size_t i = 0; i < p->plan->count && !p->f.head_dim; i++) {
        const io_tensor *t = p->plan->item[i].tensor;
        const io_pairs_stem *row;
        const char *rest;
        io_fused fused;
        bool chosen =
            is_chosen(p, t->name, &row, &rest) && row && t->rank && io_pairs_part(row->role, rest) == IO_PART_TURN;
        bool is_fused = chosen && row->role == IO_ROLE_FUSED;
        if (!chosen || (row->role != IO_ROLE_Q && row->role != IO_ROLE_MLA_Q && !is_fused))
            continue;
        if (!p->f.heads)
            return io_fail(p->err, PE_ERR_SPEC, "%s has %lld rows; give --heads (and --kv-heads), or --head-dim",
                           t->name, (long long)t->shape[0]);
        pe_status s = is_fused ? io_plan_fused(p, t, row, &fused) : PE_OK;
        if (s != PE_OK)
            return s;
        int64_t heads = is_fused ? p->f.heads + 2 * io_plan_kv_heads(p) : p->f.heads;
        if (t->shape[0] < heads || t->shape[0] % heads)
            return io_fail(p->err, PE_ERR_SHAPE, "%s has %lld rows, which are not %lld equal heads", t->name,
                           (long long)t->shape[0], (long long)heads);
        p->f.head_dim = t->shape[0] / heads;
    }
    return PE_OK;
}

static pe_status check_facts(const io_safetensors *st, const io_pairs_facts *f, pe_error *err)
{
    const int64_t most = INT64_C(1) << 31, value[] = { f->heads, f->kv_heads, f->head_dim, f->dims };
    const char *done = io_safetensors_meta(st, IO_PAIRS_KEY);
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++)
        if (value[i] < 0 || value[i] > most)
            return io_fail(err, PE_ERR_SPEC, "heads, kv-heads, head-dim or dims is %lld; needs 1 to %lld",
                           (long long)value[i], (long long)most);
    if (f->from == f->to)
        return io_fail(err, PE_ERR_SPEC, "from %s to %s there is nothing to do", io_pairs_name(f->from),
                       io_pairs_name(f->to));
    if (done && !f->again && strcmp(done, io_pairs_name(f->from)) != 0)
        return io_fail(err, PE_ERR_FORMAT,
                       "its metadata says " IO_PAIRS_KEY "=%s: it was converted before; --force does it "
                       "again",
                       done);
    return PE_OK;
}

static pe_status list_tensors(io_pairs_plan *plan, const io_safetensors *st, pe_error *err)
{
    const io_tensor **order;
    size_t count = io_safetensors_count(st);
    pe_status s = io_safetensors_order(&order, st, err);
    if (s != PE_OK)
        return s;
    plan->item = calloc(count ? count : 1, sizeof *plan->item);
    for (size_t i = 0; plan->item && i < count; i++)
        plan->item[i] = (io_pairs_item){ .tensor = order[i], .role = "" };
    plan->count = count;
    free(order);
    return plan->item ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for a plan of %zu tensors", count);
}

pe_status io_pairs_plan_new(io_pairs_plan *out, const io_safetensors *st, const io_pairs_facts *f, pe_error *err)
{
    io_planner p = { .plan = out, .f = *f, .err = err };
    *out = (io_pairs_plan){ .to = f->to };
    pe_status s = check_facts(st, f, err);
    if (s == PE_OK)
        s = list_tensors(out, st, err);
    if (s == PE_OK)
        s = find_width(&p);
    for (size_t i = 0; s == PE_OK && i < out->count; i++)
        s = plan_tensor(&p, &out->item[i]);
    if (s != PE_OK)
        io_pairs_plan_free(out);
    return s;
}

void io_pairs_plan_free(io_pairs_plan *p)
{
    free(p->item);
    *p = (io_pairs_plan){ 0 };
}
