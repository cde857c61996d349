/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: inside
 *
 * The contracts of core/row.h: rows that keep them are made, and each contract has a row that breaks it and no other. */
#include "core/contract.h"
#include "core/encoding.h"
#include "test.h"

enum { H = 4, G = 2, D = 8 };
static const pe_shape shape = { .heads = H, .kv_heads = G, .head_dim = D, .model_dim = H * D };
static void (*spoil)(part *p); /* what init does wrong, at its end */

static pe_status done(part *p)
{
    if (spoil)
        spoil(p);
    return PE_OK;
}

static pe_status add_tensor(part *p, int rank, int64_t a, int64_t b, int64_t c)
{
    return part_tensor(p, (tensor){ .name = "t", .about = "", .rank = rank, .shape = { a, b, c }, .fill = FILL_ROW }, NULL);
}

static double fill_one(const part *p, int t, int64_t i)
{
    (void)p, (void)t, (void)i;
    return 1;
}

/* ------------------------------------------------ a bias: bent at its knot, with a share, on two axes */

static pe_status bias_init(part *p, pe_error *error)
{
    (void)error;
    p->axes = 2;
    TRY(add_tensor(p, 1, H, 0, 0));
    return done(p);
}

static double measure(const part *p, pe_params w, double distance)
{
    (void)p, (void)w;
    return fabs(distance);
}

static void measures(const part *p, double *out, int64_t distance, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = measure(p, (pe_params){ 0 }, (double)(distance - i));
}

static double share(const part *p, pe_params w, const double *q)
{
    (void)p, (void)w;
    return 1 / (1 + q[0]);
}

static double bent(const part *p, pe_params w, int64_t h, double x)
{
    return param(p, w, 0, h) * (x < 1 ? x : 1 + 3 * (x - 1));
}

static double bent_back(const part *p, pe_params w, pe_params dw, int64_t h, double x, double db)
{
    (void)p, (void)w, (void)dw, (void)h, (void)x;
    return db;
}

static int64_t one_knot(const part *p)
{
    (void)p;
    return 1;
}

static double knot(const part *p, pe_params w, int64_t i)
{
    (void)p, (void)w, (void)i;
    return 1;
}

static const row bias_row = { .info = { .name = "bent", .hooks = PE_HOOK_BIAS },
                              .init = bias_init,
                              .fill = fill_one,
                              .measure = measure,
                              .measures = measures,
                              .share = share,
                              .bias = bent,
                              .bias_back = bent_back,
                              .knots = one_knot,
                              .knot = knot };

static double waving(const part *p, pe_params w, double distance)
{
    (void)p, (void)w;
    return cos(distance);
}

static double square(const part *p, pe_params w, int64_t h, double x)
{
    (void)p, (void)w, (void)h;
    return x * x;
}

static void zeros(const part *p, double *out, int64_t distance, int64_t count)
{
    (void)p, (void)distance;
    memset(out, 0, (size_t)count * sizeof *out);
}

static void without_fill(row *r) { r->fill = NULL; }
static void without_bias_back(row *r) { r->bias_back = NULL; }
static void without_knots(row *r) { r->knots = NULL; }
static void without_knot(row *r) { r->knot = NULL; }
static void with_other_measures(row *r) { r->measures = zeros; }
static void with_a_square(row *r) { r->bias = square; }
static void said_to_embed(row *r) { r->info.hooks |= PE_HOOK_EMBED; }
static void said_to_do_nothing(row *r) { r->info.hooks = 0; }
static void with_waves(row *r)
{
    r->measure = waving;
    r->measures = NULL;
}
static void is_absolute(part *p) { p->absolute = true; }
static void has_no_axes(part *p) { p->axes = 0; }
static void has_nine_axes(part *p) { p->axes = 9; }

/* ------------------------------------------------ terms by table, on two axes, seven distances */

static int64_t index_of(const part *p, int64_t distance)
{
    (void)p;
    return distance + 3;
}

static bool reaches(const part *p, const int64_t *q, const int64_t *k)
{
    (void)p;
    return llabs(q[0] - k[0]) <= 3 && llabs(q[1] - k[1]) <= 5;
}

static pe_status term_init(part *p, pe_error *error)
{
    (void)error;
    p->axes = 2;
    p->term[p->terms++] = (term){ .side = PE_QUERY, .table = 0, .extra = 1, .index = index_of };
    p->term[p->terms++] = (term){ .side = PE_VALUE, .table = 0, .extra = -1, .index = index_of };
    TRY(add_tensor(p, 3, 7, 1, D));
    TRY(add_tensor(p, 3, 1, H, D));
    return done(p);
}

static const row term_row = { .info = { .name = "table", .hooks = PE_HOOK_CONTENT | PE_HOOK_VALUE },
                              .init = term_init,
                              .fill = fill_one,
                              .reaches = reaches };

static bool reaches_a_disc(const part *p, const int64_t *q, const int64_t *k)
{
    (void)p;
    return llabs(q[0] - k[0]) + llabs(q[1] - k[1]) <= 3;
}

static bool reaches_even_ones(const part *p, const int64_t *q, const int64_t *k)
{
    return reaches(p, q, k) && (q[0] - k[0]) % 2 == 0;
}

static bool reaches_from_an_origin(const part *p, const int64_t *q, const int64_t *k)
{
    return reaches(p, q, k) && llabs(q[0]) < 100;
}

static bool reaches_others_only(const part *p, const int64_t *q, const int64_t *k)
{
    return reaches(p, q, k) && (q[0] != k[0] || q[1] != k[1]);
}

static void to_a_disc(row *r) { r->reaches = reaches_a_disc; }
static void to_even_ones(row *r) { r->reaches = reaches_even_ones; }
static void from_an_origin(row *r) { r->reaches = reaches_from_an_origin; }
static void to_others_only(row *r) { r->reaches = reaches_others_only; }
static void to_all(row *r) { r->reaches = NULL; }
static void has_no_index(part *p) { p->term[0].index = NULL; }
static void has_no_table(part *p) { p->term[0].table = 2; }
static void has_no_entry(part *p) { p->term[1].table = -1; }
static void has_a_narrow_table(part *p) { p->tensor[0].shape[2] = D - 1; }
static void has_a_term_of_outputs(part *p) { p->term[0].side = PE_OUTPUT; }
static void has_a_key_with_extra(part *p) { p->term[0].side = PE_KEY; }
static void has_one_extra_for_all(part *p) { p->tensor[1].shape[1] = 1; }
static void has_a_short_table(part *p) { p->tensor[0].shape[0] = 6; }
static void has_no_values(part *p) { p->terms = 1; }
static void is_left_out(part *p) { p->hooks = PE_HOOK_VALUE; }

static void has_an_input_of_values(part *p) { p->term[1].input = D; }
static void has_a_wide_input(part *p) { p->term[0].input = D + 1; }

/* ------------------------------------------------ biases of a distance: weighed and straight, flat, gates */

static double doubled(const part *p, pe_params w, int64_t h, double x)
{
    (void)p, (void)w, (void)h;
    return 2 * x;
}

static pe_status weighed_init(part *p, pe_error *error)
{
    (void)error;
    p->axes = 2;
    p->weighs = p->straight = true;
    p->weight[0] = 11;
    p->weight[1] = 1;
    p->reach = 3 * 11 + 5;
    return done(p);
}

static double clipped(const part *p, pe_params w, double distance)
{
    (void)p, (void)w;
    return distance < -4 ? -4 : distance > 4 ? 4 : distance;
}

static pe_status flat_init(part *p, pe_error *error)
{
    (void)error;
    p->flat = 4;
    return done(p);
}

static pe_status gates_init(part *p, pe_error *error)
{
    (void)error;
    p->gates = true;
    return done(p);
}

static const row weighed_row = {
    .info = { .name = "weighed", .hooks = PE_HOOK_BIAS }, .init = weighed_init, .bias = doubled, .reaches = reaches
};
static const row flat_row = {
    .info = { .name = "flat", .hooks = PE_HOOK_BIAS }, .init = flat_init, .bias = doubled, .measure = clipped
};
static const row gates_row = { .info = { .name = "gates", .hooks = PE_HOOK_BIAS }, .init = gates_init };

static void has_a_short_reach(part *p) { p->reach = 37; }
static void has_no_reach(part *p) { p->reach = 0; }
static void is_flat_too_soon(part *p) { p->flat = 3; }
static void has_no_gates(part *p) { p->gates = false; }

/* ------------------------------------------------ a count */

static pe_status count_init(part *p, pe_error *error)
{
    (void)error;
    p->count = (counting){ .on = true, .table = 0, .scale = 1 };
    TRY(add_tensor(p, 3, 2, H, D));
    return done(p);
}

static const row count_row = { .info = { .name = "count", .hooks = PE_HOOK_CONTENT }, .init = count_init, .fill = fill_one };

static pe_status polar_init(part *p, pe_error *error)
{
    static const double frequency[3 * D] = { 0.125 };
    (void)error;
    p->polar = (polar_product){ .on = true, .frequency = frequency, .phases = 0 };
    p->stage = PE_BEFORE_SCALE;
    TRY(add_tensor(p, 2, p->shape.kv_heads, D, 0));
    return done(p);
}

static const row polar_row = { .info = { .name = "polar", .hooks = PE_HOOK_CONTENT }, .init = polar_init, .fill = fill_one };

static void has_no_phases(part *p) { p->polar.phases = 1; }
static void has_phases_of_queries(part *p) { p->tensor[0].shape[0] = H; }
static void stands_after_the_scale(part *p) { p->stage = PE_AFTER_SCALE; }
static void counts_in_one_row(part *p) { p->tensor[0].shape[0] = 1; }
static void counts_nowhere(part *p) { p->count.table = -1; }

/* ------------------------------------------------ a rotation, exact or trained: two pairs of a head, four elements rest */

static pair pairs[] = { { 0, { { 0.125, 0, 0 } }, 1, 0 }, { 0, { { 0.0625, 0, 0 } }, 1, 0 } };
static const lane lanes[] = { { 0, 1 }, { 2, 3 } }, twice[] = { { 0, 1 }, { 1, 3 } }, outside[] = { { 0, 1 }, { 2, D } };
static const int64_t rest[] = { 4, 5, 6, 7 }, rotated_rest[] = { 3, 5, 6, 7 };

static pe_status rotate_init(part *p, pe_error *error)
{
    (void)error;
    p->pair = pairs;
    p->from = p->to = lanes;
    p->pairs = 2;
    p->rest = rest;
    p->rests = 4;
    p->exact = true;
    p->magnitude = 1;
    return done(p);
}

static pe_status trained_init(part *p, pe_error *error)
{
    void (*last)(part *p) = spoil;
    spoil = NULL;
    TRY(rotate_init(p, error));
    spoil = last;
    p->exact = false;
    p->trained = true;
    TRY(add_tensor(p, 3, G, 1, 2));
    return done(p);
}

static pair_rotation eighth(const part *p, pe_side side, const int64_t *at, int64_t n)
{
    pair_rotation t = { .magnitude = 1 };
    (void)side;
    turn_cos_sin((double)at[0], p->pair[n].frequency, &t.cosine, &t.sine);
    return t;
}

static pair_rotation still(const part *p, pe_side side, const int64_t *at, int64_t n)
{
    (void)p, (void)side, (void)at, (void)n;
    return (pair_rotation){ 1, 0, 1 };
}

static const row rotate_row = { .info = { .name = "turn", .hooks = PE_HOOK_ROTATE }, .init = rotate_init, .rotate = eighth };
static const row trained_row_of = {
    .info = { .name = "trained", .hooks = PE_HOOK_ROTATE }, .init = trained_init, .fill = fill_one, .rotate = eighth
};

static pe_status mixed_init(part *p, pe_error *error)
{
    static const double frequency[3 * 3] = { 0.125 };
    void (*last)(part *p) = spoil;
    spoil = NULL;
    TRY(rotate_init(p, error));
    spoil = last;
    p->exact = false;
    p->trained = true;
    p->mix = (mixing){ .waves = 3, .frequency = frequency, .pairs = 1, .cosines = 0, .sines = 1 };
    TRY(add_tensor(p, 3, G, 3, 1));
    TRY(add_tensor(p, 3, G, 3, 1));
    return done(p);
}

static const row mixed_row_of = { .info = { .name = "mixed", .hooks = PE_HOOK_ROTATE }, .init = mixed_init, .fill = fill_one, .rotate = eighth };

static void mixes_more_pairs_than_it_has(part *p) { p->mix.pairs = 3; }
static void mixes_no_tensor(part *p) { p->mix.sines = 2; }
static void mixes_what_is_not_trained(part *p) { p->trained = false; }
static void that_stands_still(row *r) { r->rotate = still; }
static void rotates_an_element_twice(part *p) { p->from = twice; }
static void writes_outside(part *p) { p->to = outside; }
static void rests_where_it_rotates(part *p) { p->rest = rotated_rest; }
static void forgets_the_rest(part *p) { p->rests = 0; }
static void rotates_by_an_axis_it_has_not(part *p)
{
    static pair other[2];
    memcpy(other, pairs, sizeof other);
    other[1].axis = 1;
    p->pair = other;
}
static void has_no_magnitude(part *p) { p->magnitude = 0; }
static void gains_nothing(part *p) { p->gains = true; }
static void trains_no_tensor(part *p) { p->frequencies = 1; }
static void trains_per_query_head(part *p) { p->tensor[0].shape[0] = H; }
static void trains_what_is_exact(part *p) { p->exact = true; }

/* ------------------------------------------------ a code: a table, or waves */

static void embed(const part *p, pe_params w, const double *at, int64_t first, int64_t count, double *code)
{
    (void)p, (void)w, (void)at, (void)first;
    memset(code, 0, (size_t)count * sizeof *code);
}

static void embed_back(const part *p, pe_params dw, const double *at, int64_t first, int64_t count, const double *dcode)
{
    (void)p, (void)dw, (void)at, (void)first, (void)count, (void)dcode;
}

static pe_status code_init(part *p, pe_error *error)
{
    (void)error;
    TRY(add_tensor(p, 2, 4, H * D, 0));
    return done(p);
}

static pe_status waves_init(part *p, pe_error *error)
{
    static const wide frequency[H * D / 2] = { { { 0.125, 0, 0 } } };
    (void)error;
    p->waves = (waves){ .frequency = frequency, .count = H * D / 2 };
    return done(p);
}

static const row code_row = { .info = { .name = "code", .hooks = PE_HOOK_EMBED },
                              .init = code_init,
                              .fill = fill_one,
                              .embed = embed,
                              .embed_back = embed_back };
static const row waves_row = { .info = { .name = "waves", .hooks = PE_HOOK_EMBED }, .init = waves_init, .embed = embed };

static void without_embed_back(row *r) { r->embed_back = NULL; }
static void has_no_width(part *p) { p->width = 0; }
static void is_narrow(part *p) { p->width = D; }
static void is_narrow_behind(part *p)
{
    p->width = D;
    p->concat = true;
}

/* ------------------------------------------------ who breaks what */

static const row *const kept[] = { &bias_row, &weighed_row, &flat_row, &gates_row, &term_row, &count_row, &polar_row, &rotate_row, &trained_row_of, &mixed_row_of, &code_row, &waves_row };

static const struct broken {
    const char *says; /* in the contract's sentence */
    const row *of;
    void (*row_fault)(row *r);
    void (*part_fault)(part *p);
} broken[] = {
    { "hooks must be those that are filled", &bias_row, said_to_embed, NULL },
    { "hooks must be those that are filled", &bias_row, said_to_do_nothing, NULL },
    { "hooks must be those that are filled", &term_row, NULL, has_no_values },
    { "hooks must be those that are filled", &term_row, NULL, is_left_out },
    { "axes must be 1", &bias_row, NULL, has_no_axes },
    { "axes must be 1", &bias_row, NULL, has_nine_axes },
    { "a FILL_ROW tensor", &bias_row, without_fill, NULL },
    { "a term must have", &term_row, NULL, has_no_index },
    { "a term must have", &term_row, NULL, has_no_table },
    { "a term must have", &term_row, NULL, has_no_entry },
    { "a term must have", &term_row, NULL, has_a_narrow_table },
    { "a term must have", &term_row, NULL, has_a_term_of_outputs },
    { "a term's extra", &term_row, NULL, has_a_key_with_extra },
    { "a term's extra", &term_row, NULL, has_one_extra_for_all },
    { "a count's table", &count_row, NULL, counts_in_one_row },
    { "a count's table", &count_row, NULL, counts_nowhere },
    { "polar must have", &polar_row, NULL, has_no_phases },
    { "polar must have", &polar_row, NULL, has_phases_of_queries },
    { "polar must have", &polar_row, NULL, stands_after_the_scale },
    { "trained frequencies", &trained_row_of, NULL, trains_no_tensor },
    { "trained frequencies", &trained_row_of, NULL, trains_per_query_head },
    { "trained frequencies", &trained_row_of, NULL, trains_what_is_exact },
    { "a mix must be", &mixed_row_of, NULL, mixes_more_pairs_than_it_has },
    { "a mix must be", &mixed_row_of, NULL, mixes_no_tensor },
    { "a mix must be", &mixed_row_of, NULL, mixes_what_is_not_trained },
    { "parameters of its own", &bias_row, without_bias_back, NULL },
    { "parameters of its own", &code_row, without_embed_back, NULL },
    { "reaches must be a box", &term_row, to_a_disc, NULL },
    { "reaches must be a box", &term_row, to_even_ones, NULL },
    { "reaches must be a box", &term_row, from_an_origin, NULL },
    { "reaches must be a box", &term_row, to_others_only, NULL },
    { "index must be a row", &term_row, NULL, has_a_short_table },
    { "index must be a row", &term_row, to_all, NULL },
    { "a bias must have bias", &bias_row, NULL, is_absolute },
    { "share must have knots", &bias_row, without_knots, NULL },
    { "knots must be 0 or more", &bias_row, without_knot, NULL },
    { "weights must have a reach", &weighed_row, NULL, has_a_short_reach },
    { "weights must have a reach", &weighed_row, NULL, has_no_reach },
    { "weights must have a reach", &weighed_row, to_all, NULL },
    { "where the part is straight", &weighed_row, with_a_square, NULL },
    { "from flat on", &flat_row, NULL, is_flat_too_soon },
    { "hooks must be those that are filled", &gates_row, NULL, has_no_gates },
    { "an input must be", &term_row, NULL, has_an_input_of_values },
    { "a term must have", &term_row, NULL, has_a_wide_input },
    { "measures must be measure", &bias_row, with_other_measures, NULL },
    { "measure must rise or fall", &bias_row, with_waves, NULL },
    { "bias must be linear between knots", &bias_row, with_a_square, NULL },
    { "every element of a head", &rotate_row, NULL, rotates_an_element_twice },
    { "every element of a head", &rotate_row, NULL, writes_outside },
    { "every element of a head", &rotate_row, NULL, rests_where_it_rotates },
    { "every element of a head", &rotate_row, NULL, forgets_the_rest },
    { "a pair's axis", &rotate_row, NULL, rotates_by_an_axis_it_has_not },
    { "magnitude must be above 0", &rotate_row, NULL, has_no_magnitude },
    { "magnitude must be above 0", &trained_row_of, NULL, has_no_magnitude },
    { "gains must have gain", &rotate_row, NULL, gains_nothing },
    { "rotate must be the pair's frequency", &rotate_row, that_stands_still, NULL },
    { "width must be 1 or more", &code_row, NULL, has_no_width },
    { "width must be 1 or more", &code_row, NULL, is_narrow },
    { "waves must fill the width", &waves_row, NULL, is_narrow_behind },
};

static pe_status make(const row *r)
{
    forget_error();
    kernels k;
    part p;
    ladder_fill(&k, 0);
    pe_status s = part_make(&p, r, NULL, shape, &k, &err);
    part_free(&p);
    return s;
}

TEST(rows_that_keep_the_contracts_are_made)
{
    spoil = NULL;
    for (int i = 0; i < COUNT(kept); i++)
        assert_ok(make(kept[i]));
}

TEST(a_row_that_breaks_one_is_refused_by_name)
{
    for (int i = 0; i < COUNT(broken); i++) {
        row r = *broken[i].of;
        if (broken[i].row_fault)
            broken[i].row_fault(&r);
        spoil = broken[i].part_fault;
        pe_status s = make(&r);
        if (s != PE_ERR_UNSUITED || !strstr(err.text, broken[i].says) || strncmp(err.text, r.info.name, strlen(r.info.name)) != 0)
            fail_msg("fault %d, against \"%s\": %s: %s", i, broken[i].says, pe_status_name(s), err.text);
    }
    spoil = NULL;
}

TEST(every_contract_has_a_row_that_breaks_it)
{
    for (int n = 0; contract_at(n); n++) {
        bool breaks = false;
        for (int i = 0; i < COUNT(broken); i++)
            breaks = breaks || strstr(contract_at(n), broken[i].says);
        if (!breaks)
            fail_msg("no row here breaks \"%s\"", contract_at(n));
    }
}
