/* SPDX-License-Identifier: MIT
 *
 * biases: ALiBi, T5's and DeBERTa's buckets, window tables. What a case is follows from its parameters. */
#include "conformance.h"

#include <stdio.h>

/* ---------------------------------------------------------------- alibi */

/* Nothing in meta names the convention, but the note (Falcon) or the case's name does. Without either: MPT's rows end
 * with 0, Bloom's begin with it. */
static const char *convention_of(golden *c, const golden_tensor *bias)
{
    if (golden_note_says(c, "falcon") || golden_note_says(c, "bfloat16") || golden_name_says(c, "falcon"))
        return "falcon";
    if (golden_name_says(c, "mpt"))
        return "mpt";
    if (golden_name_says(c, "bloom") || golden_name_says(c, "press") || golden_note_says(c, "slope*key_index"))
        return "press";
    return bias->real[bias->count - 1] == 0 ? "mpt" : "press";
}

/* The files hold a row over keys, (heads, n), good for every query up to a constant; ours is 0 at the query's place. */
static pe_status run_alibi(golden *c)
{
    golden_tensor want;
    int64_t H = 0, n = 0;
    double max = NAN, *own, *other;
    spec_text *spec = golden_alloc(c, 1, sizeof *spec);
    if (!spec)
        return PE_ERR_NOMEM;
    TRY(golden_size(c, "heads", IO_REQUIRED, &H));
    TRY(golden_size(c, "n", IO_REQUIRED, &n));
    TRY(io_json_real(&max, &c->meta, "alibi_bias_max", IO_OPTIONAL, &c->err));
    TRY(golden_real(c, "bias", &want));
    if (want.count != H * n)
        return golden_fail(c, "bias has %" PRId64 " elements; needs heads * n = %" PRId64, want.count, H * n);
    const char *convention = convention_of(c, &want);
    bool falcon = !strcmp(convention, "falcon");
    spec_start(spec, "alibi");
    spec_word(spec, "convention", convention);
    spec_number(spec, "max", max);
    pe_encoding *e = golden_encoding(c, spec->text, (pe_shape){ .heads = H, .head_dim = 2 });
    if (!e)
        return c->err.status;
    pe_positions at = pe_positions_run(1, n, 0);
    TRY(bias_tile(c, e, falcon ? PE_BEFORE_SCALE : PE_AFTER_SCALE, (pe_params){ 0 }, at, at, &own));
    TRY(bias_tile(c, e, falcon ? PE_AFTER_SCALE : PE_BEFORE_SCALE, (pe_params){ 0 }, at, at, &other));
    double tolerance = TOL_BIAS * golden_largest(&want);
    for (int64_t x = 0; x < n * H * n; x++) {
        int64_t j = x % n, h = x / n % H, i = x / n / H;
        golden_compare(c, own[x], (double)want.real[h * n + j] - (double)want.real[h * n + i], tolerance,
                       "bias of head %" PRId64 ", query %" PRId64 ", key %" PRId64, h, i, j);
        golden_compare(c, other[x], 0, 0, "bias of head %" PRId64 " on the wrong side of the scale", h);
    }
    return PE_OK;
}

/* ---------------------------------------------------------------- buckets */

/* relative (n) as positions of one side, with a single 0 on the other. */
static pe_status read_relative(golden *c, bool key_minus_query, golden_tensor *bucket, pe_positions *q_at,
                               pe_positions *k_at)
{
    static const int64_t zero = 0;
    golden_tensor relative;
    TRY(golden_whole(c, "relative", &relative));
    TRY(golden_fits(c, "relative", &relative, 1, -1, 0, 0));
    TRY(golden_whole(c, "bucket", bucket));
    TRY(golden_fits(c, "bucket", bucket, 1, relative.count, 0, 0));
    if (golden_note_says(c, "key - query"))
        key_minus_query = true;
    if (golden_note_says(c, "query - key"))
        key_minus_query = false;
    pe_positions many = pe_positions_of(relative.whole, PE_I64, 1, relative.count, 1), one = pe_positions_of(&zero, PE_I64, 1, 1, 1);
    *q_at = key_minus_query ? one : many;
    *k_at = key_minus_query ? many : one;
    return PE_OK;
}

/* Query minus key of pair n. */
static int64_t distance_at(pe_positions q_at, pe_positions k_at, int64_t n)
{
    const int64_t *q = q_at.data, *k = k_at.data;
    return q[q_at.tokens > 1 ? n : 0] - k[k_at.tokens > 1 ? n : 0];
}

static pe_status run_t5_buckets(golden *c)
{
    golden_tensor bucket;
    pe_positions q_at, k_at;
    pe_params w;
    int64_t buckets = 0, max = 128;
    bool both = true;
    double *own;
    spec_text *spec = golden_alloc(c, 1, sizeof *spec);
    if (!spec)
        return PE_ERR_NOMEM;
    TRY(golden_size(c, "num_buckets", IO_REQUIRED, &buckets));
    TRY(golden_size(c, "max_distance", IO_OPTIONAL, &max));
    TRY(io_json_bool(&both, &c->meta, "bidirectional", IO_OPTIONAL, &c->err));
    spec_start(spec, "t5");
    spec_number(spec, "buckets", (double)buckets);
    spec_number(spec, "max", (double)max);
    spec_word(spec, "direction", both ? "both" : "causal");
    pe_encoding *e = golden_encoding(c, spec->text, (pe_shape){ .heads = 1, .head_dim = 2 });
    if (!e)
        return c->err.status;
    TRY(read_relative(c, true, &bucket, &q_at, &k_at));
    TRY(params_new(c, e, &w));
    TRY(params_number_rows(c, e, w, "table"));
    TRY(bias_tile(c, e, PE_AFTER_SCALE, w, q_at, k_at, &own));
    for (int64_t n = 0; n < bucket.count; n++)
        golden_compare(c, own[n], (double)bucket.whole[n], 0, "bucket of query - key = %" PRId64,
                       distance_at(q_at, k_at, n));
    return PE_OK;
}

/* score (queries, 1, keys) += row number, through the content hook: q is (1, 0, ...) and the table holds its rows. */
static pe_status probe_content(golden *c, const pe_encoding *e, pe_positions q_at, pe_positions k_at, double **out)
{
    int64_t D = pe_encoding_shape(e).head_dim, Tq = q_at.tokens, Tk = k_at.tokens;
    double *q = golden_alloc(c, Tq * D, sizeof *q), *k = golden_alloc(c, Tk * D, sizeof *k);
    pe_params w;
    *out = golden_alloc(c, Tq * Tk, sizeof **out);
    if (!q || !k || !*out)
        return PE_ERR_NOMEM;
    for (int64_t i = 0; i < Tq; i++)
        q[i * D] = 1;
    TRY(params_new(c, e, &w));
    TRY(params_number_rows(c, e, w, "key_table"));
    pe_tile t = { .size = sizeof(pe_tile), .score = pe_view_of(*out, PE_F64, 1, Tq, 1, Tk), .q = pe_view_of(q, PE_F64, 1, Tq, 1, D),
                  .k = pe_view_of(k, PE_F64, 1, Tk, 1, D), .q_at = q_at, .k_at = k_at };
    return pe_encoding_content(e, PE_BEFORE_SCALE, w, &t, &c->err);
}

/* The file's indices run on past the last bucket; the table's rows are those within -span .. span - 1. */
static pe_status run_deberta_buckets(golden *c)
{
    golden_tensor bucket;
    pe_positions q_at, k_at;
    int64_t span = 0, max = 0;
    double *own;
    spec_text *spec = golden_alloc(c, 1, sizeof *spec);
    if (!spec)
        return PE_ERR_NOMEM;
    TRY(golden_size(c, "bucket_size", IO_REQUIRED, &span));
    TRY(golden_size(c, "max_position", IO_REQUIRED, &max));
    spec_start(spec, "deberta");
    spec_number(spec, "buckets", (double)span);
    spec_number(spec, "max", (double)max);
    spec_word(spec, "terms", "c2p");
    pe_encoding *e = golden_encoding(c, spec->text, (pe_shape){ .heads = 1, .head_dim = 2 });
    if (!e)
        return c->err.status;
    TRY(read_relative(c, false, &bucket, &q_at, &k_at));
    TRY(probe_content(c, e, q_at, k_at, &own));
    for (int64_t n = 0; n < bucket.count; n++) {
        int64_t row = bucket.whole[n] + span;
        row = row < 0 ? 0 : row > 2 * span - 1 ? 2 * span - 1 : row;
        golden_compare(c, own[n], (double)row, 0, "row of query - key = %" PRId64,
                       distance_at(q_at, k_at, n));
    }
    return PE_OK;
}

/* ---------------------------------------------------------------- windows */

/* meta.window: a number of cells along both axes, or one for each. */
static pe_status window_of(golden *c, int64_t size[2])
{
    io_node list;
    io_int_range range = { 1, 1 << 10 };
    if (golden_kind(&c->meta, "window") != IO_JSON_ARRAY) {
        TRY(io_json_int(&size[0], &c->meta, "window", IO_REQUIRED, range, &c->err));
        size[1] = size[0];
        return PE_OK;
    }
    TRY(io_json_array(&list, &c->meta, "window", IO_REQUIRED, &c->err));
    if (io_json_size(&list) != 2)
        return golden_fail(c, "window has %zu numbers; needs 2", io_json_size(&list));
    for (size_t n = 0; n < 2; n++) {
        io_node item;
        TRY(io_json_item(&item, &list, n, &c->err));
        TRY(io_json_int(&size[n], &item, NULL, IO_REQUIRED, range, &c->err));
    }
    return PE_OK;
}

static pe_status window_positions(golden *c, const int64_t size[2], pe_positions *out)
{
    int64_t n = size[0] * size[1], *at = golden_alloc(c, 2 * n, sizeof *at);
    if (!at)
        return PE_ERR_NOMEM;
    for (int64_t t = 0; t < n; t++) {
        at[2 * t] = t / size[1];
        at[2 * t + 1] = t % size[1];
    }
    *out = pe_positions_of(at, PE_I64, 1, n, 2);
    return PE_OK;
}

static pe_status run_window(golden *c)
{
    golden_tensor table, index, bias;
    int64_t H = 0, size[2] = { 0, 0 };
    pe_positions at;
    pe_params w;
    double *rows, *own;
    char spec[80];
    TRY(golden_size(c, "heads", IO_REQUIRED, &H));
    TRY(window_of(c, size));
    TRY(window_positions(c, size, &at));
    int64_t n = at.tokens;
    TRY(golden_real(c, "table", &table));
    TRY(golden_whole(c, "index", &index));
    TRY(golden_real(c, "bias", &bias));
    TRY(golden_fits(c, "bias", &bias, 3, H, n, n));
    if (index.count != n * n)
        return golden_fail(c, "index has %" PRId64 " elements; needs %" PRId64, index.count, n * n);
    snprintf(spec, sizeof spec, "window:window=%" PRId64 "/%" PRId64, size[0], size[1]);
    pe_encoding *e = golden_encoding(c, spec, (pe_shape){ .heads = H, .head_dim = 2 });
    if (!e)
        return c->err.status;
    TRY(params_new(c, e, &w));
    TRY(params_number_rows(c, e, w, "table"));
    TRY(bias_tile(c, e, PE_AFTER_SCALE, w, at, at, &rows));
    TRY(params_set(c, e, w, "table", table.real, table.count));
    TRY(bias_tile(c, e, PE_AFTER_SCALE, w, at, at, &own));
    double tolerance = TOL_BIAS * golden_largest(&bias);
    for (int64_t x = 0; x < n * H * n; x++) {
        int64_t j = x % n, h = x / n % H, i = x / n / H;
        golden_compare(c, rows[x], (double)index.whole[i * n + j], 0, "index of query %" PRId64 ", key %" PRId64, i, j);
        golden_compare(c, own[x], (double)bias.real[(h * n + i) * n + j], tolerance,
                       "bias of head %" PRId64 ", query %" PRId64 ", key %" PRId64, h, i, j);
    }
    return PE_OK;
}

pe_status run_biases(golden *c)
{
    static const struct {
        const char *key, *field;
        golden_run *run;
    } kinds[] = { { "num_buckets", "bucket", run_t5_buckets },
                  { "bucket_size", "bucket", run_deberta_buckets },
                  { "window", "index", run_window },
                  { "n", "bias", run_alibi } };
    for (int n = 0; n < COUNT(kinds); n++)
        if (golden_kind(&c->meta, kinds[n].key) && golden_has(c, kinds[n].field))
            return kinds[n].run(c);
    return golden_skip(c, "its parameters are not those of a bias that this program knows");
}
