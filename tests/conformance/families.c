/* SPDX-License-Identifier: MIT
 *
 * relative_attention: which row a module stands for, and how its tables become the row's parameters. What a module is
 * follows from the tensors it has. */
#include "conformance.h"

#include <stdio.h>

static pe_status start(golden *c, const module *m, const char *spec, const pe_encoding **e, pe_params *w)
{
    *e = module_encoding(c, m, spec);
    return *e ? params_new(c, *e, w) : c->err.status;
}

/* out (rows, heads, head_dim) = table times NAME_weight transposed plus NAME_bias. */
static pe_status project(golden *c, const module *m, const char *name, const golden_tensor *table, float **out)
{
    char field[2][80];
    golden_tensor weight, bias = { 0 };
    snprintf(field[0], sizeof field[0], "%s_weight", name);
    snprintf(field[1], sizeof field[1], "%s_bias", name);
    TRY(golden_real(c, field[0], &weight));
    TRY(golden_fits(c, field[0], &weight, 2, m->heads * m->head_dim, table->shape[1], 0));
    if (golden_has(c, field[1])) {
        TRY(golden_real(c, field[1], &bias));
        TRY(golden_fits(c, field[1], &bias, 1, weight.shape[0], 0, 0));
    }
    *out = golden_alloc(c, table->shape[0] * weight.shape[0], sizeof **out);
    if (!*out)
        return PE_ERR_NOMEM;
    int64_t width = weight.shape[0], depth = table->shape[1];
    for (int64_t i = 0; i < table->shape[0] * width; i++) {
        double sum = bias.real ? bias.real[i % width] : 0;
        for (int64_t d = 0; d < depth; d++)
            sum += (double)table->real[i / width * depth + d] * weight.real[i % width * depth + d];
        (*out)[i] = (float)sum;
    }
    return PE_OK;
}

/* ---------------------------------------------------------------- DeBERTa */

static pe_status run_deberta(golden *c)
{
    module m = { 0 };
    golden_tensor table;
    io_node types;
    bool shared = false, on[2] = { false, false };
    int64_t buckets = 0, max = 0;
    static const char *const terms[] = { NULL, "c2p", "p2c", "c2p+p2c" };
    static const char *const tensors[] = { "key_table", "query_table" };
    static const char *const projections[2][2] = { { "pos_key_proj", "pos_query_proj" }, { "key_proj", "query_proj" } };
    char spec[160];
    TRY(module_read(c, &m, "query_proj", "key_proj", "value_proj"));
    TRY(io_json_bool(&shared, &c->meta, "share_att_key", IO_OPTIONAL, &c->err));
    TRY(io_json_int(&buckets, &c->meta, "position_buckets", IO_OPTIONAL, (io_int_range){ -1, 1 << 24 }, &c->err));
    TRY(golden_size(c, "max_relative_positions", IO_REQUIRED, &max));
    TRY(io_json_array(&types, &c->meta, "pos_att_type", IO_REQUIRED, &c->err));
    for (io_node type = { 0 }; io_json_next(&type, &types);)
        for (int k = 0; k < 2; k++) {
            const char *word = NULL;
            TRY(io_json_string(&word, &type, NULL, IO_REQUIRED, &c->err));
            on[k] |= !strcmp(word, terms[k + 1]);
        }
    if (!on[0] && !on[1])
        return golden_skip(c, "its pos_att_type has neither c2p nor p2c");
    snprintf(spec, sizeof spec, "deberta:buckets=%" PRId64 ",max=%" PRId64 ",terms=%s", buckets > 0 ? buckets : 0, max,
             terms[on[0] + 2 * on[1]]);
    const pe_encoding *e;
    pe_params w;
    TRY(start(c, &m, spec, &e, &w));
    TRY(golden_real(c, "rel_embeddings", &table));
    TRY(golden_fits(c, "rel_embeddings", &table, 2, -1, -1, 0));
    for (int k = 0; k < 2; k++) {
        float *projected;
        if (!on[k])
            continue;
        TRY(project(c, &m, projections[shared][k], &table, &projected));
        TRY(params_set(c, e, w, tensors[k], projected, table.shape[0] * m.heads * m.head_dim));
    }
    return module_compare(c, &m, e, w);
}

/* ---------------------------------------------------------------- Shaw */

static pe_status run_shaw(golden *c)
{
    module m = { .output = "linear_out" };
    golden_tensor table;
    int64_t left = 0, right = 0;
    io_int_range range = { 0, 1 << 24 };
    char spec[120];
    TRY(module_read(c, &m, "linear_q", "linear_k", "linear_v"));
    TRY(io_json_int(&left, &c->meta, "left_max", IO_REQUIRED, range, &c->err));
    TRY(io_json_int(&right, &c->meta, "right_max", IO_REQUIRED, range, &c->err));
    TRY(golden_real(c, "distance_embedding_weight", &table));
    TRY(golden_fits(c, "distance_embedding_weight", &table, 2, left + right + 1, -1, 0));
    snprintf(spec, sizeof spec, "shaw:left=%" PRId64 ",right=%" PRId64 ",on=keys,heads=%s", left, right,
             table.shape[1] == m.head_dim ? "shared" : "own");
    const pe_encoding *e;
    pe_params w;
    TRY(start(c, &m, spec, &e, &w));
    TRY(params_set(c, e, w, "key_table", table.real, table.count));
    return module_compare(c, &m, e, w);
}

/* ---------------------------------------------------------------- Transformer-XL and XLNet */

/* Their tables run from the farthest distance back to the farthest ahead; r holds row = distance + ahead. */
static pe_status set_distances(golden *c, const pe_encoding *e, pe_params w, const float *table, int64_t rows,
                               int64_t farthest, int64_t ahead)
{
    int64_t count, width = pe_encoding_shape(e).heads * pe_encoding_shape(e).head_dim;
    double *r = params_tensor(c, e, w, "r", &count);
    if (!r)
        return c->err.status;
    for (int64_t n = 0; n < count; n++) {
        int64_t from = farthest - (n - ahead);
        if (from < 0 || from >= rows)
            return golden_fail(c, "the table has no row for distance %" PRId64, n - ahead);
        for (int64_t d = 0; d < width; d++)
            r[n * width + d] = (double)table[from * width + d];
    }
    return PE_OK;
}

static pe_status set_uv(golden *c, const module *m, const pe_encoding *e, pe_params w, const char *u, const char *v)
{
    const char *const fields[] = { u, v }, *const tensors[] = { "u", "v" };
    for (int n = 0; n < 2; n++) {
        golden_tensor t;
        TRY(golden_real(c, fields[n], &t));
        TRY(golden_fits(c, fields[n], &t, 2, m->heads, m->head_dim, 0));
        TRY(params_set(c, e, w, tensors[n], t.real, t.count));
    }
    return PE_OK;
}

static pe_status run_transformer_xl(golden *c)
{
    module m = { .output = "linear_out" };
    golden_tensor table;
    float *projected;
    char spec[80];
    const pe_encoding *e;
    pe_params w;
    TRY(module_read(c, &m, "linear_q", "linear_k", "linear_v"));
    int64_t last = m.keys - 1;
    TRY(golden_real(c, "pos_table", &table));
    TRY(golden_fits(c, "pos_table", &table, 2, 2 * m.keys - 1, -1, 0));
    const char *sinusoids = golden_note_says(c, "half") ? "sinusoidal:layout=halves" : "sinusoidal";
    TRY(sinusoid_compare(c, "pos_table", sinusoids, last, -1));
    TRY(project(c, &m, "linear_pos", &table, &projected));
    snprintf(spec, sizeof spec, "transformer-xl:back=%" PRId64 ",ahead=%" PRId64, last, last);
    TRY(start(c, &m, spec, &e, &w));
    TRY(set_distances(c, e, w, projected, table.shape[0], last, last));
    TRY(set_uv(c, &m, e, w, "pos_bias_u", "pos_bias_v"));
    return module_compare(c, &m, e, w);
}

/* q, k, v as (tokens, heads, head_dim). */
static pe_status read_heads(golden *c, const char *field, int64_t tokens, int64_t heads, int64_t dim, double **out)
{
    golden_tensor t;
    TRY(golden_real(c, field, &t));
    TRY(golden_fits(c, field, &t, 3, tokens, heads, dim));
    *out = golden_alloc(c, t.count, sizeof **out);
    for (int64_t n = 0; *out && n < t.count; n++)
        (*out)[n] = (double)t.real[n];
    return *out ? PE_OK : PE_ERR_NOMEM;
}

static pe_status run_xlnet(golden *c)
{
    module m = { 0 };
    golden_tensor q, k, table;
    char spec[80];
    const pe_encoding *e;
    pe_params w;
    TRY(golden_size(c, "heads", IO_REQUIRED, &m.heads));
    TRY(golden_size(c, "head_dim", IO_REQUIRED, &m.head_dim));
    m.kv_heads = m.heads;
    TRY(golden_real(c, "q", &q));
    TRY(golden_fits(c, "q", &q, 3, -1, m.heads, m.head_dim));
    TRY(golden_real(c, "k", &k));
    TRY(golden_fits(c, "k", &k, 3, -1, m.heads, m.head_dim));
    m.queries = q.shape[0];
    m.keys = k.shape[0];
    int64_t memory = m.keys - m.queries;
    TRY(io_json_int(&memory, &c->meta, "mem", IO_OPTIONAL, (io_int_range){ 0, 1 << 24 }, &c->err));
    if (memory != m.keys - m.queries)
        return golden_fail(c, "mem is %" PRId64 "; %" PRId64 " keys and %" PRId64 " queries say otherwise", memory,
                           m.keys, m.queries);
    TRY(read_heads(c, "q", m.queries, m.heads, m.head_dim, &m.q));
    TRY(read_heads(c, "k", m.keys, m.heads, m.head_dim, &m.k));
    TRY(read_heads(c, "v", m.keys, m.heads, m.head_dim, &m.v));
    TRY(golden_real(c, "k_rel", &table));
    TRY(golden_fits(c, "k_rel", &table, 3, m.keys + m.queries, m.heads, m.head_dim));
    if (golden_has(c, "r"))
        TRY(sinusoid_compare(c, "r", "sinusoidal:layout=halves", m.keys, -1));
    snprintf(spec, sizeof spec, "xlnet:length=%" PRId64 ",memory=%" PRId64, m.queries, memory);
    TRY(start(c, &m, spec, &e, &w));
    TRY(set_distances(c, e, w, table.real, table.shape[0], m.keys, m.queries - 1));
    TRY(set_uv(c, &m, e, w, "u", "vbias"));
    return module_compare(c, &m, e, w);
}

/* ---------------------------------------------------------------- T5 */

/* meta may say; the name says in these files; else a decoder's keys ahead all have the bias of the key at hand. */
static bool is_decoder(golden *c, const golden_tensor *bias)
{
    io_json_kind decoder = golden_kind(&c->meta, "is_decoder"), both = golden_kind(&c->meta, "bidirectional");
    if (decoder || both)
        return decoder == IO_JSON_TRUE || both == IO_JSON_FALSE;
    if (golden_name_says(c, "decoder") || golden_name_says(c, "encoder"))
        return golden_name_says(c, "decoder");
    for (int64_t j = 1; j < bias->shape[2]; j++)
        if (bias->real[j] != bias->real[0])
            return false;
    return true;
}

static pe_status run_t5(golden *c)
{
    module m = { .output = "o" };
    golden_tensor table, bias;
    int64_t max = 128;
    double scale = 1, *own;
    char spec[120];
    const pe_encoding *e;
    pe_params w;
    pe_positions q_at, k_at;
    TRY(module_read(c, &m, "q", "k", "v"));
    TRY(golden_size(c, "max_distance", IO_OPTIONAL, &max));
    TRY(io_json_real(&scale, &c->meta, "scale", IO_OPTIONAL, &c->err));
    TRY(golden_real(c, "position_bias", &bias));
    TRY(golden_fits(c, "position_bias", &bias, 3, m.heads, m.queries, m.keys));
    TRY(golden_real(c, "relative_attention_bias_weight", &table));
    TRY(golden_fits(c, "relative_attention_bias_weight", &table, 2, -1, m.heads, 0));
    m.causal = is_decoder(c, &bias);
    snprintf(spec, sizeof spec, "t5:buckets=%" PRId64 ",max=%" PRId64 ",direction=%s", table.shape[0], max,
             m.causal ? "causal" : "both");
    TRY(start(c, &m, spec, &e, &w));
    TRY(params_set(c, e, w, "table", table.real, table.count));
    golden_compare(c, pe_encoding_scale(e), scale, TOL_SCALING * fabs(scale), "scale");
    module_positions(&m, &q_at, &k_at);
    TRY(bias_tile(c, e, PE_AFTER_SCALE, w, q_at, k_at, &own));
    double tolerance = TOL_BIAS * golden_largest(&bias);
    for (int64_t n = 0; n < bias.count; n++) {
        int64_t j = n % m.keys, h = n / m.keys % m.heads, i = n / m.keys / m.heads;
        golden_compare(c, own[n], (double)bias.real[(h * m.queries + i) * m.keys + j], tolerance,
                       "position_bias of head %" PRId64 ", query %" PRId64 ", key %" PRId64, h, i, j);
    }
    return module_compare(c, &m, e, w);
}

/* ---------------------------------------------------------------- Inkling */

static pe_status run_inkling(golden *c)
{
    module m = { .output = "o_proj", .causal = true };
    golden_tensor k, proj;
    const pe_encoding *e;
    pe_params w;
    char spec[120], scaling[80] = "";
    int64_t floor = 0;
    double alpha = 0.1, scale = 0;
    TRY(golden_size(c, "heads", IO_REQUIRED, &m.heads));
    TRY(golden_size(c, "head_dim", IO_REQUIRED, &m.head_dim));
    TRY(golden_size(c, "log_scaling_n_floor", IO_OPTIONAL, &floor));
    TRY(io_json_real(&alpha, &c->meta, "log_scaling_alpha", IO_OPTIONAL, &c->err));
    TRY(io_json_real(&scale, &c->meta, "scale", IO_OPTIONAL, &c->err));
    TRY(golden_real(c, "k", &k));
    TRY(golden_fits(c, "k", &k, 3, -1, -1, m.head_dim));
    m.kv_heads = k.shape[1];
    TRY(golden_real(c, "rel_logits_proj_proj", &proj));
    TRY(golden_fits(c, "rel_logits_proj_proj", &proj, 2, -1, -1, 0));
    int64_t R = proj.shape[0], distances = proj.shape[1];
    m.queries = m.keys = k.shape[0];
    TRY(read_heads(c, "q", m.queries, m.heads, m.head_dim, &m.q));
    TRY(read_heads(c, "k", m.keys, m.kv_heads, m.head_dim, &m.k));
    TRY(read_heads(c, "v", m.keys, m.kv_heads, m.head_dim, &m.v));
    TRY(read_heads(c, "r", m.queries, m.heads, R, &m.relative));
    if (floor)
        snprintf(scaling, sizeof scaling, ",floor=%" PRId64 ",alpha=%.17g", floor, alpha);
    snprintf(spec, sizeof spec, "inkling:distances=%" PRId64 ",width=%" PRId64 "%s%s", distances, R, scaling,
             scale ? ",scale=sqrt" : "");
    TRY(start(c, &m, spec, &e, &w));
    if (scale)
        golden_compare(c, pe_encoding_scale(e), scale, TOL_SCALING * fabs(scale), "scale");
    float *profiles = golden_alloc(c, proj.count, sizeof *profiles); /* the transpose */
    if (!profiles)
        return PE_ERR_NOMEM;
    for (int64_t n = 0; n < proj.count; n++)
        profiles[n] = proj.real[n % R * distances + n / R];
    TRY(params_set(c, e, w, "profiles", profiles, proj.count));
    return module_compare(c, &m, e, w);
}

/* ---------------------------------------------------------------- the Forgetting Transformer */

/* c_t = sum of log sigmoid(gate_logits) up to t; so a logit's gradient has those of its token's c and of all later ones. */
static pe_status run_forget(golden *c)
{
    module m = { .causal = true };
    golden_tensor k, logits;
    const pe_encoding *e;
    pe_params w;
    double *dgates;
    TRY(golden_size(c, "heads", IO_REQUIRED, &m.heads));
    TRY(golden_size(c, "head_dim", IO_REQUIRED, &m.head_dim));
    TRY(golden_real(c, "k", &k));
    TRY(golden_fits(c, "k", &k, 3, -1, -1, m.head_dim));
    m.queries = m.keys = k.shape[0];
    m.kv_heads = k.shape[1];
    TRY(read_heads(c, "q", m.queries, m.heads, m.head_dim, &m.q));
    TRY(read_heads(c, "k", m.keys, m.kv_heads, m.head_dim, &m.k));
    TRY(read_heads(c, "v", m.keys, m.kv_heads, m.head_dim, &m.v));
    TRY(golden_real(c, "gate_logits", &logits));
    TRY(golden_fits(c, "gate_logits", &logits, 2, m.keys, m.heads, 0));
    m.gates = golden_alloc(c, logits.count, sizeof *m.gates);
    if (!m.gates)
        return PE_ERR_NOMEM;
    for (int64_t n = 0; n < logits.count; n++)
        m.gates[n] = (n < m.heads ? 0 : m.gates[n - m.heads]) - log1p(exp(-(double)logits.real[n]));
    TRY(start(c, &m, "forget", &e, &w));
    TRY(module_compare(c, &m, e, w));
    TRY(module_compare_grads(c, &m, e, w, &dgates));
    for (int64_t n = logits.count - m.heads - 1; n >= 0; n--)
        dgates[n] += dgates[n + m.heads];
    for (int64_t n = 0; n < logits.count; n++)
        dgates[n] /= 1 + exp((double)logits.real[n]);
    return module_compare_grad(c, "dgate_logits", dgates, logits.count);
}

pe_status run_relative_attention(golden *c)
{
    static const struct {
        const char *field;
        golden_run *run;
    } kinds[] = { { "rel_embeddings", run_deberta },
                  { "distance_embedding_weight", run_shaw },
                  { "pos_bias_u", run_transformer_xl },
                  { "k_rel", run_xlnet },
                  { "relative_attention_bias_weight", run_t5 },
                  { "rel_logits_proj_proj", run_inkling },
                  { "gate_logits", run_forget } };
    if (golden_has(c, "logits"))
        return run_language_model(c);
    for (int n = 0; n < COUNT(kinds); n++)
        if (golden_has(c, kinds[n].field))
            return kinds[n].run(c);
    return golden_skip(c, "its tensors are not those of a module that this program knows");
}
