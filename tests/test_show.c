/* labels: core; tier: test; cost: 5 s; needs: show wrap
 * SPDX-License-Identifier: MIT
 *
 * A picture shows what the library says: the numbers of every view, by another route; every row of the registry in every
 * view that fits, in every format; what is refused; and no memory at any place. */
#include "draw_case.h"

#include "base/random.h"
#include "io/io.h"
#include "show/show.h"

static const pe_shape shape = { .heads = 8, .kv_heads = 4, .head_dim = 16, .model_dim = 32 };

static show_request request_of(int64_t length)
{
    return (show_request){ .shape = shape, .length = length, .position = -1 };
}

static void release_subject(void *s)
{
    show_subject_free(s);
}

static void release_sheet(void *sheet)
{
    show_sheet_free(sheet);
    free(sheet);
}

static show_subject *subject_of(const char *spec, const show_request *r)
{
    show_subject *s = NULL;
    if (show_subject_new(&s, spec, r, &err))
        fail_msg("%s: %s", spec, err.text);
    return keep(s, release_subject);
}

/* The sheet of one view of specs up to NULL, which must be there. */
static show_sheet *sheet_of_all(const char *const *specs, const char *view, const show_request *r)
{
    show_sheet *sheet = keep(calloc(1, sizeof *sheet), release_sheet);
    for (; *specs; specs++)
        if (show_add(sheet, show_view_named(view), subject_of(*specs, r), r, &err))
            fail_msg("%s, %s: %s", *specs, view, err.text);
    return sheet;
}

static show_sheet *sheet_of(const char *spec, const char *view, const show_request *r)
{
    return sheet_of_all((const char *[]){ spec, NULL }, view, r);
}

/* The only figure of a view. */
static figure *figure_of(const char *spec, const char *view, const show_request *r)
{
    show_sheet *sheet = sheet_of(spec, view, r);
    assert_int_equal(sheet->count, 1);
    return sheet->figure[0];
}

#define assert_near(x, y, within)                                                                                      \
    do {                                                                                                               \
        double near_x = (x), near_y = (y);                                                                             \
        if (!(fabs(near_x - near_y) <= (within)))                                                                      \
            fail_msg("%s is %.17g; %s is %.17g", #x, near_x, #y, near_y);                                              \
    } while (0)

/* ---------------------------------------------------------------- another route: one query, one key, the definition */

static void ask_reference(const pe_encoding *e, const pe_attention *a, pe_params params)
{
    size_t bytes = 0;
    assert_ok(pe_reference_work(e, a, &bytes, &err));
    void *work = malloc(bytes);
    assert_ok(pe_reference_forward(e, a, &PE_MAKE(pe_run, .params = params, .work = work, .work_bytes = bytes), &err));
    free(work);
}

/* The score of one query and one key, as the log-sum-exp of attention over that key alone. value: every element of both. */
static double score_at(const pe_encoding *e, int64_t head, int64_t q_at, int64_t k_at, double value)
{
    pe_shape s = pe_encoding_shape(e);
    double x[8 * 16], out[8 * 16], lse[8];
    int64_t q[PE_AXES_MAX] = { q_at }, k[PE_AXES_MAX] = { k_at }, axes = pe_encoding_axes(e);
    for (int i = 0; i < COUNT(x); i++)
        x[i] = value;
    pe_attention a = { .size = sizeof(pe_attention), .out = pe_view_of(out, PE_F64, 1, 1, s.heads, s.head_dim),
                       .lse = pe_view_of(lse, PE_F64, 1, 1, s.heads, 1),
                       .q = pe_view_of(x, PE_F64, 1, 1, s.heads, s.head_dim),
                       .k = pe_view_of(x, PE_F64, 1, 1, s.kv_heads, s.head_dim),
                       .v = pe_view_of(x, PE_F64, 1, 1, s.kv_heads, s.head_dim),
                       .q_at = pe_positions_of(q, PE_I64, 1, 1, axes),
                       .k_at = pe_positions_of(k, PE_I64, 1, 1, axes) };
    int64_t count = pe_encoding_param_count(e);
    pe_params params = { .data = calloc((size_t)count + 1, sizeof(double)), .dtype = PE_F64, .count = count };
    if (count)
        assert_ok(pe_encoding_init(e, params, 0, &err));
    ask_reference(e, &a, params);
    free(params.data);
    return lse[head];
}

/* ---------------------------------------------------------------- numbers */

TEST(the_table_of_a_rotation_is_pe_rotate_table)
{
    enum { N = 20, PAIRS = 8 };
    float cosine[N * PAIRS], sine[N * PAIRS];
    show_request r = request_of(N);
    r.start = 1000;
    const figure *f = figure_of("rope:theta=500", "table", &r);
    pe_encoding *e = test_encoding("rope:theta=500", shape);
    assert_ok(pe_rotate_table(e, PE_QUERY, pe_view_of(cosine, PE_F32, 1, N, 1, PAIRS), pe_view_of(sine, PE_F32, 1, N, 1, PAIRS), pe_positions_run(1, N, 1000), NULL, &err));
    assert_int_equal(f->rows, N);
    assert_int_equal(f->columns, 2 * PAIRS);
    assert_near(f->y_first, 1000, 0);
    assert_int_equal(f->x_name_count, 2 * PAIRS);
    assert_string_equal(f->x_names[3], "cos 3");
    assert_string_equal(f->x_names[PAIRS + 3], "sin 3");
    assert_true(f->x_numbered);
    for (int t = 0; t < N; t++)
        for (int p = 0; p < PAIRS; p++) {
            assert_near((float)f->value[t * 2 * PAIRS + p], cosine[t * PAIRS + p], 1e-7);
            assert_near((float)f->value[t * 2 * PAIRS + PAIRS + p], sine[t * PAIRS + p], 1e-7);
        }
    pe_encoding_free(e);
}

TEST(the_table_of_codes_is_the_formula)
{
    show_request r = request_of(50);
    const figure *f = figure_of("sinusoidal", "table", &r);
    for (int t = 0; t < 50; t++)
        for (int c = 0; c < 32; c++) {
            double angle = t * pow(10000, -(double)(c / 2 * 2) / 32);
            assert_near(f->value[t * 32 + c], c % 2 ? cos(angle) : sin(angle), 1e-12);
        }
}

TEST(curves_are_columns_of_the_table)
{
    show_request r = request_of(40);
    r.pick[0] = 3, r.pick[1] = 7, r.pick_count = 2;
    const char *const specs[] = { "sinusoidal", "rope", "learned:rows=40" };
    for (int i = 0; i < COUNT(specs); i++) {
        const figure *c = figure_of(specs[i], "curves", &r), *t = figure_of(specs[i], "table", &r);
        assert_int_equal(c->series_count, 2);
        for (int n = 0; n < 2; n++)
            for (int p = 0; p < 40; p++) {
                assert_near(c->series[n].x[p], p, 0);
                assert_near(c->series[n].y[p], t->value[p * t->columns + r.pick[n]], 0);
            }
    }
}

TEST(decay_of_rotations_is_the_score_of_ones)
{
    const char *const specs[] = { "rope", "rope:scaling=yarn,factor=4,trained=64", "rope:dims=8", "xpos",
                                  "rope:axes=2,split=axial" };
    for (int i = 0; i < COUNT(specs); i++) {
        show_request r = request_of(33);
        const figure_series *y = &figure_of(specs[i], "decay", &r)->series[0];
        pe_encoding *e = test_encoding(specs[i], shape);
        double own = score_at(e, 0, 16, 16, 1);
        assert_int_equal(y->count, 33);
        for (int n = 0; n < 33; n++)
            assert_near(y->y[n], score_at(e, 0, 16, 16 - (int64_t)y->x[n], 1) / own, 1e-12);
        pe_encoding_free(e);
    }
}

/* |S| of one pair is 1 at any distance; of pairs that do not differ, the mean of 1 .. n. */
TEST(mean_s_is_that_of_the_paper)
{
    show_request r = request_of(9);
    const figure_series *y = &figure_of("rope:dims=4", "decay", &r)->series[1];
    for (int n = 0; n < y->count; n++) {
        double k = y->x[n], re = cos(k) + cos(k / 100), im = sin(k) + sin(k / 100);
        assert_near(y->y[n], (1 + hypot(re, im)) / 3, 1e-12);
    }
}

TEST(decay_of_codes_is_their_dot_product)
{
    show_request r = request_of(21);
    const figure_series *y = &figure_of("learned:rows=21", "decay", &r)->series[0];
    const double *code = figure_of("learned:rows=21", "table", &r)->value;
    double own = 0;
    for (int c = 0; c < 32; c++)
        own += code[10 * 32 + c] * code[10 * 32 + c];
    for (int n = 0; n < 21; n++) {
        double dot = 0;
        for (int c = 0; c < 32; c++)
            dot += code[10 * 32 + c] * code[(10 - (int)y->x[n]) * 32 + c];
        assert_near(y->y[n], dot / own, 1e-12);
    }
}

/* q = k = 0: what is left of the score is the bias. */
TEST(biases_are_scores_of_nothing)
{
    const char *const specs[] = { "alibi", "alibi:form=symmetric", "alibi:convention=falcon", "t5", "kerple", "fire",
                                  "sandwich", "alibi+t5:scale=sqrt" };
    for (int i = 0; i < COUNT(specs); i++) {
        show_request r = request_of(12);
        r.head = 5;
        const figure *m = figure_of(specs[i], "bias", &r), *h = figure_of(specs[i], "heads", &r);
        const figure *d = figure_of(specs[i], "decay", &r);
        pe_encoding *e = test_encoding(specs[i], shape);
        for (int q = 0; q < 12; q++)
            for (int k = 0; k < 12; k++)
                if (!isnan(m->value[q * 12 + k]))
                    assert_near(m->value[q * 12 + k], score_at(e, 5, q, k, 0), 1e-9);
        for (int k = 0; k < 12; k++)
            assert_true(!isnan(m->value[11 * 12 + k]));
        for (int n = 0; n < 12; n++) {
            int64_t query = isnan(d->series[0].y[0]) || d->series[0].x[0] == 0 ? 11 : 6;
            int64_t key = query - (int64_t)d->series[0].x[n];
            assert_near(d->series[0].y[n], score_at(e, 5, query, key, 0), 1e-9);
            for (int head = 0; head < 8; head++)
                assert_near(h->series[head].y[n], score_at(e, head, query, query - (int64_t)h->series[head].x[n], 0), 1e-9);
        }
        pe_encoding_free(e);
    }
}

/* Terms of contents: with one content everywhere they are a function of the distance, clipped where the table ends. */
TEST(content_terms_follow_the_distance)
{
    show_request r = request_of(40);
    const figure_series *y = &figure_of("shaw:left=6,right=3,on=keys", "decay", &r)->series[0];
    double seen[2] = { NAN, NAN };
    for (int n = 0; n < y->count; n++) {
        if (y->x[n] == 6 || y->x[n] == -3)
            seen[y->x[n] < 0] = y->y[n];
    }
    assert_true(isfinite(seen[0]) && isfinite(seen[1]) && fabs(seen[0] - seen[1]) > 1e-6);
    for (int n = 0; n < y->count; n++)
        if (y->x[n] >= 6 || y->x[n] <= -3)
            assert_near(y->y[n], seen[y->x[n] < 0], 0);
}

TEST(wavelengths_are_those_of_the_frequencies)
{
    const char *spec = "rope:theta=500000,scaling=llama3,factor=8,trained=8192";
    pe_pair pair[8];
    show_request r = request_of(131072);
    const figure *f = figure_of(spec, "wavelengths", &r);
    pe_encoding *e = test_encoding(spec, shape);
    assert_ok(pe_encoding_pairs(e, pair, 8, &err));
    assert_int_equal(f->series_count, 4); /* the waves, the length, the trained length, the waves before the scaling */
    for (int p = 0; p < 8; p++)
        assert_near(f->series[0].y[p] * fabs(pair[p].frequency), 6.283185307179586, 1e-12);
    assert_near(f->series[1].y[0], 131072, 0);
    assert_near(f->series[2].y[1], 8192, 0);
    for (int p = 0; p < 8; p++)
        assert_near(f->series[3].y[p] * pow(500000, -p / 8.0), 6.283185307179586, 1e-9);
    pe_encoding_free(e);
}

/* Nothing but the codes is asked; the frequency of each comes out to many digits. */
TEST(wavelengths_of_codes_are_measured)
{
    const char *const specs[] = { "sinusoidal", "sinusoidal:layout=halves", "sinusoidal:offset=2" };
    for (int i = 0; i < COUNT(specs); i++) {
        show_request r = request_of(0);
        figure *sheet = figure_of(specs[i], "wavelengths", &r);
        const figure_series *line = &sheet->series[0];
        assert_int_equal(line->count, i == 1 ? 33 : 32);
        for (int n = 0; n < line->count; n++) {
            double c = line->x[n], wave = 6.283185307179586 * pow(10000, (i == 1 ? fmod(c, 16) : floor(c / 2)) / 16);
            if (i == 1 && n == 16) /* no line from the last sine to the first cosine */
                assert_true(isnan(line->y[n]) && c == 15.5);
            else
                assert_near(line->y[n] / wave, 1, 1e-6);
        }
    }
}

/* A combination keeps the waves of its one part of sines. */
TEST(wavelengths_survive_in_combinations)
{
    static const struct {
        const char *spec;
        int figures; /* 0: it has none */
    } cases[] = { { "sinusoidal+alibi", 1 }, { "alibi+sinusoidal", 1 }, { "sinusoidal+rope", 2 }, { "learned:rows=8+alibi", 0 }, { "sinusoidal+learned:rows=8", 0 } };
    for (int i = 0; i < COUNT(cases); i++) {
        show_request r = request_of(0);
        assert_int_equal(show_fits(show_view_named("wavelengths"), subject_of(cases[i].spec, &r)), cases[i].figures > 0);
        if (cases[i].figures)
            assert_int_equal(sheet_of(cases[i].spec, "wavelengths", &r)->count, cases[i].figures);
    }
}

TEST(dials_rotate_by_their_frequency)
{
    show_request r = request_of(10);
    r.pick[0] = 2, r.pick_count = 1;
    const figure *f = figure_of("rope", "turns", &r);
    assert_int_equal(f->kind, FIGURE_DIALS);
    for (int t = 0; t < 10; t++) {
        double angle = t * pow(10000, -2.0 * 2 / 16);
        assert_near(f->series[0].x[t], cos(angle), 1e-12);
        assert_near(f->series[0].y[t], sin(angle), 1e-12);
    }
}

/* Many positions: as many hands as can be told apart, the first and the last among them. */
TEST(dials_have_few_hands)
{
    static const int64_t lengths[] = { 64, 65, 512, 1000000 };
    for (int i = 0; i < COUNT(lengths); i++) {
        show_request r = request_of(lengths[i]);
        r.pick[0] = 7, r.pick_count = 1;
        r.start = 3;
        const figure *f = figure_of("rope", "turns", &r);
        const figure_series *hands = &f->series[0];
        double slow = pow(10000, -2.0 * 7 / 16), last = (double)(3 + lengths[i] - 1);
        assert_true(hands->count >= 32 && hands->count <= 64);
        assert_near(hands->y[0], sin(3 * slow), 1e-12);
        assert_near(hands->y[hands->count - 1], sin(last * slow), 1e-9);
        assert_true(!strstr(f->caption, "evenly spread") == (lengths[i] == 64));
    }
}

/* A whole number: (n^2 - 1) / 12 in every dimension; a bit that is 1 half of the time: 1/4. */
TEST(variances_are_those_of_whole_numbers_and_bits)
{
    show_request r = request_of(64);
    const figure *whole = figure_of("integer:join=concat,width=3", "variance", &r);
    const figure *bits = figure_of("binary", "variance", &r);
    assert_near(whole->series[0].y[0], (64.0 * 64 - 1) / 12, 1e-9);
    int quarters = 0;
    for (int c = 0; c < 32; c++)
        quarters += fabs(bits->series[0].y[c] - 0.25) < 1e-12;
    assert_int_equal(quarters, 6); /* 64 = 2^6 */
}

TEST(around_one_word_are_its_distances)
{
    show_request r = request_of(0);
    r.sentence = "a b c d e";
    r.position = 4;
    const figure *b = figure_of("alibi", "around", &r), *t = figure_of("rope", "around", &r);
    assert_int_equal(b->rows, 8);
    assert_int_equal(b->columns, 5);
    assert_string_equal(b->x_names[1], "b +3");
    assert_string_equal(b->x_names[4], "e 0");
    for (int h = 0; h < 8; h++)
        for (int j = 0; j < 5; j++)
            assert_near(b->value[h * 5 + j], -exp2(-(h + 1.0)) * (4 - j), 1e-15);
    for (int j = 0; j < 5; j++)
        assert_near(t->value[j], cos(4 - j), 1e-12); /* pair 0 turns by 1 */
}

/* ---------------------------------------------------------------- attention */

/* One of two needs a mask: both get it, and what it does is not said of the encoding. */
TEST(one_mask_for_all_that_stand_side_by_side)
{
    static const char *const specs[] = { "t5", "alibi", NULL };
    show_request r = request_of(0);
    show_subject *s[2] = { subject_of(specs[0], &r), subject_of(specs[1], &r) };
    assert_ok(show_one_mask(&r, s, 1, &err));
    assert_false(r.causal);
    assert_ok(show_one_mask(&r, s, 2, &err));
    assert_true(r.causal);
    const show_sheet *sheet = sheet_of_all(specs, "attention", &r);
    for (int i = 0; i < 4; i++) {
        assert_true(isnan(sheet->figure[i]->value[1]));
        assert_has(sheet->figure[i]->caption, "Causal mask", NULL);
        assert_int_equal(strstr(sheet->figure[i]->caption, "by the mask alone") != NULL, i % 2 == 0);
    }
    for (int i = 0; i < 36; i++) /* the same picture without either */
        assert_true(sheet->figure[0]->value[i] == sheet->figure[2]->value[i] || isnan(sheet->figure[0]->value[i]));
}

static void attention_rows_sum_to_one(const pe_info *row, const char *spec)
{
    (void)row;
    for (int causal = 0; causal < 2; causal++) {
        show_request r = { .position = -1, .causal = causal };
        show_sheet *sheet = sheet_of(spec, "attention", &r);
        assert_int_equal(sheet->count, 2);
        for (int n = 0; n < 2; n++)
            for (int i = 0; i < sheet->figure[n]->rows; i++) {
                double sum = 0;
                for (int j = 0; j < sheet->figure[n]->columns; j++) {
                    double p = sheet->figure[n]->value[i * sheet->figure[n]->columns + j];
                    assert_true(isnan(p) ? j > i : p >= 0 && p <= 1);
                    assert_true(!causal || isnan(p) == (j > i));
                    sum += isnan(p) ? 0 : p;
                }
                assert_near(sum, 1, 1e-12);
            }
    }
}

TEST(attention_of_every_row_sums_to_one)
{
    test_each_example(attention_rows_sum_to_one);
}

/* Contents and projections, drawn again as the view says it draws them: x (T, C) by word, y (T, heads, D) of one head. */
static void draw_contents(double *x, const figure *f, int64_t C)
{
    for (int64_t t = 0; t < f->columns; t++) {
        io_hash h = io_hash_start(random_at(0, 2));
        io_hash_add(&h, f->x_names[t], strlen(f->x_names[t]));
        for (int64_t c = 0; c < C; c++)
            x[t * C + c] = random_normal(io_hash_end(&h), (uint64_t)c);
    }
}

static void draw_projection(double *y, const double *x, int64_t T, int64_t width, int64_t heads, int64_t head,
                            uint64_t stream, double factor)
{
    for (int64_t t = 0; t < T; t++)
        for (int64_t d = 0; d < shape.head_dim; d++) {
            double sum = 0;
            for (int64_t c = 0; c < width; c++)
                sum += x[t * width + c] * random_normal(random_at(random_at(0, stream), (uint64_t)head), (uint64_t)(c * shape.head_dim + d));
            y[(t * heads + head) * shape.head_dim + d] = factor * sum / sqrt((double)shape.model_dim);
        }
}

enum { SENTENCE = 6 };

/* p (T, T): the value of word j is the unit vector j, so that what comes out is the attention. */
static void attention_by_definition(double p[SENTENCE * SENTENCE], const show_subject *s, const double *x, int64_t width, int64_t head,
                                    double factor, bool causal)
{
    enum { T = SENTENCE, H = 8, KV = 4, D = 16 };
    static double q[T * H * D], k[T * KV * D], v[T * KV * T], out[T * H * T];
    int64_t at[T] = { 0, 1, 2, 3, 4, 5 };
    memset(q, 0, sizeof q);
    memset(k, 0, sizeof k);
    for (int i = 0; i < COUNT(v); i++)
        v[i] = i % T == i / (KV * T);
    draw_projection(q, x, T, width, H, head, 3, factor);
    draw_projection(k, x, T, width, KV, head / (H / KV), 4, 1);
    pe_attention a = { .size = sizeof(pe_attention), .out = pe_view_of(out, PE_F64, 1, T, H, T), .q = pe_view_of(q, PE_F64, 1, T, H, D),
                       .k = pe_view_of(k, PE_F64, 1, T, KV, D),    .v = pe_view_of(v, PE_F64, 1, T, KV, T),
                       .q_at = pe_positions_of(at, PE_I64, 1, T, 1),                  .k_at = pe_positions_of(at, PE_I64, 1, T, 1),
                       .mask = { .causal = causal } };
    ask_reference(s->e, &a, s->params);
    for (int i = 0; i < T; i++)
        memcpy(p + i * T, out + (i * H + head) * T, T * sizeof *p);
}

static void check_attention(const figure *f, const double *p)
{
    for (int i = 0; i < SENTENCE * SENTENCE; i++)
        if (!isnan(f->value[i]))
            assert_near(f->value[i], p[i], 1e-12);
}

/* Four heads of keys for eight of queries; both figures, whatever the head. */
TEST(attention_of_every_head_is_the_definition)
{
    static const char *const specs[] = { "rope", "alibi:form=symmetric", "t5", "sinusoidal", "shaw:on=keys", "cope", "rope+t5", "sinusoidal:join=concat,width=8" };
    static double x[SENTENCE * 32], wide[SENTENCE * 80], p[SENTENCE * SENTENCE];
    for (int i = 0; i < COUNT(specs); i++)
        for (int head = 0; head < 8; head += 1 + head % 3) {
            int64_t at[SENTENCE] = { 0, 1, 2, 3, 4, 5 };
            show_request r = request_of(0);
            r.head = head;
            r.causal = strcmp(specs[i], "cope") == 0 || head == 7;
            r.sentence = "a b c d a f";
            show_sheet *sheet = sheet_of(specs[i], "attention", &r);
            show_subject *s = subject_of(specs[i], &r), *none = subject_of("none", &r);
            int64_t width = pe_embed_width(s->e, 32);
            double one = pe_encoding_scale(s->e) == 1 ? 0.25 : 1; /* 1/sqrt(16), where the encoding leaves it out */
            assert_true(width <= 80);
            draw_contents(x, sheet->figure[0], 32);
            memset(wide, 0, sizeof wide);
            for (int t = 0; t < SENTENCE; t++)
                memcpy(wide + t * width, x + t * 32, 32 * sizeof *x);
            attention_by_definition(p, none, wide, width, head, 1, r.causal);
            check_attention(sheet->figure[0], p);
            assert_ok(pe_embed(s->e, pe_view_of(wide, PE_F64, 1, SENTENCE, 1, width), pe_view_of(x, PE_F64, 1, SENTENCE, 1, 32), pe_positions_of(at, PE_I64, 1, SENTENCE, 1), &PE_MAKE(pe_run, .params = s->params), &err));
            attention_by_definition(p, s, wide, width, head, one, r.causal);
            check_attention(sheet->figure[1], p);
        }
}

/* ---------------------------------------------------------------- captions: their numbers, from the figure's */

static void expect_caption(const figure *f, const char *format, ...)
{
    char wanted[400];
    va_list args;
    va_start(args, format);
    vsnprintf(wanted, sizeof wanted, format, args);
    va_end(args);
    if (!strstr(f->caption, wanted))
        fail_msg("\"%s\" does not say \"%s\"", f->caption, wanted);
}

TEST(captions_say_where_half_is_left)
{
    static const char *const specs[] = { "rope", "sinusoidal", "learned:rows=257", "rope:theta=100" };
    for (int i = 0; i < COUNT(specs); i++) {
        show_request r = request_of(257);
        figure *sheet = figure_of(specs[i], "decay", &r);
        const figure_series *y = &sheet->series[0];
        int here = 0, half;
        while (y->x[here] != 0)
            here++;
        for (half = here; half < y->count && y->y[half] >= 0.5 * y->y[here];)
            half++;
        if (half < y->count)
            expect_caption(sheet, "It first falls below half at distance %.0f; at the largest distance it is %.3g.", y->x[half], y->y[y->count - 1]);
        else
            expect_caption(sheet, "never falls below half of its value at distance 0; at the largest distance it is %.3g", y->y[y->count - 1]);
    }
}

TEST(captions_say_which_head_changes_most)
{
    static const char *const specs[] = { "alibi", "sandwich" };
    for (int i = 0; i < COUNT(specs); i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            show_request r = request_of(33);
            r.seed = seed;
            r.causal = true;
            const figure *f = figure_of(specs[i], "heads", &r);
            int most = 0;
            double changes[8];
            for (int h = 0; h < 8; h++) {
                const figure_series *y = &f->series[h];
                int here = 0, away = 0;
                for (int n = 0; n < y->count; n++) {
                    here = y->x[n] == 0 ? n : here;
                    away = y->x[n] > y->x[away] ? n : away;
                }
                changes[h] = fabs(y->y[away] - y->y[here]);
                most = changes[h] > changes[most] ? h : most;
            }
            expect_caption(f, "8 of 8 heads. Head %d changes most, by %.3g ", most, changes[most]);
        }
}

TEST(heads_drawn_at_random_are_no_finding)
{
    static const char *const specs[] = { "t5", "kerple", "fire" };
    for (int i = 0; i < COUNT(specs); i++) {
        show_request r = request_of(33);
        expect_caption(figure_of(specs[i], "heads", &r), "8 of 8 heads, before training, ");
    }
}

/* A content term that stands for q.k is not added to it. */
TEST(what_replaces_the_product_is_not_called_a_term_that_is_added)
{
    for (int spoken = ENGLISH; spoken <= CHINESE; spoken++) {
        static const char *const instead[] = { "in place of q·k", "代替 q·k" }, *const added[] = { "add", "加" };
        show_request r = request_of(64);
        r.language = (language)spoken;
        const figure *f = figure_of("pope", "decay", &r), *g = figure_of("pope", "bias", &r);
        assert_has(f->caption, instead[spoken], NULL);
        assert_has(f->y_label, instead[spoken], NULL);
        assert_has(g->title, instead[spoken], NULL);
        assert_null(strstr(f->caption, added[spoken]));
        assert_has(figure_of("cope", "decay", &r)->caption, added[spoken], NULL);
    }
}

/* Equal words attend alike without an encoding, and with one that is none; captions say how far they are apart. */
TEST(equal_words_attend_alike_only_without_an_encoding)
{
    static const char *const specs[] = { "none", "sinusoidal", "rope", "shaw", "t5", "learned", "alibi:form=symmetric" };
    int little = 0;
    for (int i = 0; i < COUNT(specs); i++) {
        show_request r = request_of(0);
        r.sentence = "a dog is a dog here";
        show_sheet *sheet = sheet_of(specs[i], "attention", &r);
        for (int n = 0; n < 2; n++) {
            const double *p = sheet->figure[n]->value;
            double apart = 0;
            for (int a = 0; a < 2; a++) /* a and dog, again three words later */
                for (int j = 0; j < 6; j++)
                    apart = fmax(apart, fabs(p[a * 6 + j] - p[(a + 3) * 6 + j]));
            little += apart > 1e-9 && apart < 0.1;
            if (i > 0 && n == 1 ? apart < 1e-6 : apart > 1e-12)
                fail_msg("%s: equal words are %g apart", specs[i], apart);
            if (apart < 1e-9)
                expect_caption(sheet->figure[n], "Equal words attend alike");
            else
                expect_caption(sheet->figure[n], "Equal words attend differently, by up to %.3g.", apart);
        }
    }
    assert_true(little > 0);
}

/* A quarter of the scale at least for each of them, or each has its own. */
TEST(scales_are_shared_and_a_small_figure_says_what_it_spans)
{
    static const double highest[] = { 1, 3.9, 4.1, 100 };
    for (int i = 0; i < COUNT(highest); i++) {
        show_sheet sheet = { .count = 2 };
        for (int n = 0; n < 2; n++) {
            figure **f = &sheet.figure[n];
            assert_ok(figure_new(f, FIGURE_LINES, &err));
            figure_text(*f, &(*f)->title, "t");
            figure_text(*f, &(*f)->y_label, "y");
            figure_add_series(*f, "a", NULL, 2)[1] = n ? highest[i] : 1;
        }
        show_align(&sheet);
        for (int n = 0; n < 2; n++)
            assert_near(sheet.figure[n]->y_max, highest[i], 0);
        assert_true(!sheet.figure[0]->caption == (highest[i] < 4));
        show_sheet_free(&sheet);
    }
}

TEST(a_chinese_character_is_a_word)
{
    show_request r = request_of(0);
    r.sentence = "狗追 the\x1b[31m狗 x";
    show_sheet *sheet = sheet_of("rope", "attention", &r);
    static const char *const words_of[] = { "狗", "追", "the", "[31m", "狗", "x" };
    assert_int_equal(sheet->figure[0]->columns, COUNT(words_of));
    for (int i = 0; i < COUNT(words_of); i++)
        assert_string_equal(sheet->figure[0]->x_names[i], words_of[i]);
}

TEST(chinese_with_spaces_is_cut_at_them)
{
    show_request r = request_of(0);
    r.sentence = "狗 追 另一只 狗";
    show_sheet *sheet = sheet_of("rope", "attention", &r);
    assert_int_equal(sheet->figure[0]->columns, 4);
    assert_string_equal(sheet->figure[0]->x_names[2], "另一只");
}

TEST(a_permutation_is_certain_and_no_encoding_is_drawn_once)
{
    static const char *const both[] = { "none", "rope", NULL };
    show_request r = request_of(0);
    r.sentence = "a b a";
    show_sheet *sheet = sheet_of("rope", "permuted", &r);
    assert_int_equal(sheet->count, 5);
    assert_null(sheet->figure[0]->mark);
    assert_non_null(sheet->figure[1]->mark);
    assert_int_equal(sheet_of("none", "permuted", &r)->count, 4);
    sheet = sheet_of_all(both, "permuted", &r); /* P, S, P S P^T and attention without an encoding are those of both */
    assert_int_equal(sheet->count, 5);
    assert_non_null(sheet->figure[4]->mark);
}

static double number_at(const figure *f, int i, int j)
{
    double x = f->value[i * f->columns + j];
    return isnan(x) ? 0 : x; /* masked */
}

/* The largest difference between c and a b a^T; or, inverse, a^T b a. */
static double product_apart(const figure *a, const figure *b, const figure *c, bool inverse)
{
    double most = 0;
    for (int i = 0; i < b->rows; i++)
        for (int j = 0; j < b->rows; j++) {
            double sum = 0;
            for (int k = 0; k < b->rows; k++)
                for (int l = 0; l < b->rows; l++)
                    sum += inverse ? number_at(a, k, i) * number_at(b, k, l) * number_at(a, l, j)
                                   : number_at(a, i, k) * number_at(b, k, l) * number_at(a, j, l);
            most = fmax(most, fabs(sum - number_at(c, i, j)));
        }
    return most;
}

/* P is not its own inverse, so P^T stands where it must: P^T S P is something else. A mask breaks what holds without. */
TEST(permuted_words_have_p_s_p_transposed_without_a_mask_alone)
{
    show_request r = request_of(0);
    r.sentence = "a b c d";
    for (int causal = 0; causal < 2; causal++) {
        r.causal = causal;
        figure **f = sheet_of("none", "permuted", &r)->figure;
        assert_near(product_apart(f[0], f[1], f[2], false), 0, 1e-12);
        assert_true(product_apart(f[0], f[1], f[2], true) > 0.01);
        assert_true(causal == (product_apart(f[0], f[1], f[3], false) > 0.01));
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                assert_true(isnan(f[1]->value[i * 4 + j]) == (causal && j > i));
    }
}

/* Side by side, each path has the axes of its own code. */
TEST(paths_keep_their_shapes)
{
    static const char *const specs[] = { "integer", "binary", "sinusoidal", NULL };
    show_request r = request_of(16);
    show_sheet *sheet = sheet_of_all(specs, "path", &r);
    show_align(sheet);
    for (int i = 0; i < 3; i++) {
        assert_near(sheet->figure[i]->y_min, 0, 0);
        assert_near(sheet->figure[i]->y_max, 0, 0);
        assert_null(strstr(sheet->figure[i]->caption, "On one scale"));
    }
}

/* Trained frequencies are drawn where they are given; else the title says that training has not begun. */
TEST(wavelengths_are_those_of_the_given_frequencies)
{
    double given[4 * 8]; /* key heads, pairs */
    show_request r = request_of(0);
    const figure *start = figure_of("rope:learned=heads", "wavelengths", &r);
    assert_string_equal(start->title, "Wavelengths, before training");
    assert_non_null(start->mark);
    for (int i = 0; i < COUNT(given); i++)
        given[i] = 0.1 * (i + 1);
    r.params = (pe_params){ .data = given, .dtype = PE_F64, .count = COUNT(given) };
    for (r.head = 0; r.head < 4; r.head += 3) {
        const figure *f = figure_of("rope:learned=heads", "wavelengths", &r);
        assert_string_equal(f->title, "Wavelengths, of the given parameters");
        assert_null(f->mark);
        for (int n = 0; n < 8; n++)
            assert_near(f->series[0].y[n], 2 * acos(-1) / given[(r.head == 3) * 8 + n], 1e-9);
    }
    show_subject *s;
    r.head = 0;
    assert_int_equal(show_subject_new(&s, "rope:learned=shared", &r, &err), PE_ERR_FORMAT);
    assert_string_equal(err.text, "32 learned parameters are given; rope:learned=shared has 8");
}

/* ---------------------------------------------------------------- every row, every view, every format */

static int64_t shown;

static void show_example(const pe_info *row, const char *spec)
{
    (void)row;
    show_request r = { .position = -1, .language = (language)(shown % LANGUAGE_COUNT) };
    show_subject *s = subject_of(spec, &r);
    show_sheet sheet = { .count = 0 };
    for (int v = 0; v < show_view_count; v++)
        if (show_fits(show_views[v], s) && show_add(&sheet, show_views[v], s, &r, &err))
            fail_msg("%s, %s: %s", spec, show_views[v]->name, err.text);
    assert_true(sheet.count >= 2); /* attention, without and with */
    show_align(&sheet);
    for (int i = 0; i < sheet.count; i++) {
        assert_true(sheet.figure[i]->title && sheet.figure[i]->caption);
        assert_string_equal(sheet.figure[i]->group, s->spec);
    }
    for (int f = 0; f < FIGURE_FORMAT_COUNT; f++) {
        memory m;
        figure_how how = { .format = (figure_format)f, .screen = { .columns = 80, .rows = 24 }, .language = r.language, .title = spec };
        if (!test_due(shown + f, 3) && f != FIGURE_TERMINAL)
            continue;
        if (figures_write(memory_open(&m), sheet.figure, sheet.count, &how, &err))
            fail_msg("%s as %s: %s", spec, figure_format_name(how.format), err.text);
        assert_true(strlen(memory_end(&m)) > 40);
    }
    shown++;
    show_sheet_free(&sheet);
}

TEST(every_row_has_its_views_in_every_format)
{
    test_each_example(show_example);
    show_example(NULL, "sinusoidal+rope+alibi");
}

TEST(every_view_speaks_both_languages)
{
    for (int i = 0; i < show_view_count; i++) {
        const show_view *v = show_views[i];
        assert_true(v->title.en && v->title.zh && v->about.en && v->about.zh);
        assert_true(show_view_named(v->name) == v);
    }
    assert_null(show_view_named("nothing"));
}

/* Side by side: one scale where the ranges are alike, each its own where one would vanish. */
TEST(scales_are_shared_side_by_side)
{
    static const char *const codes[] = { "sinusoidal", "rope", "rope:theta=100", NULL };
    static const char *const thetas[] = { "rope:theta=1e6", "rope:theta=1000", NULL };
    static const char *const slopes[] = { "alibi:max=0.1", "alibi:max=64", NULL };
    show_request r = request_of(32);
    show_sheet *decay = sheet_of_all(codes, "decay", &r), *waves = sheet_of_all(thetas, "wavelengths", &r);
    show_align(decay);
    for (int i = 0; i < 3; i++) {
        assert_near(decay->figure[i]->y_min, decay->figure[0]->y_min, 0);
        assert_near(decay->figure[i]->y_max, 1, 0);
    }
    show_align(waves); /* far apart on a linear axis, alike on the logarithmic one that is drawn */
    assert_true(waves->figure[0]->y_max > 1e5 && waves->figure[0]->y_min > 6);
    assert_near(waves->figure[0]->y_max, waves->figure[1]->y_max, 0);
    show_sheet *both = sheet_of_all(slopes, "bias", &r);
    for (int i = 0; i < 32 * 32; i++)
        both->figure[1]->value[i] *= 0.01;
    show_align(both);
    assert_true(both->figure[0]->low < 0 && both->figure[1]->low == both->figure[0]->low);
    assert_has(both->figure[0]->caption, " On one scale: here ", NULL);
    assert_has(both->figure[1]->caption, ", in alibi:max=", NULL);
}

/* ---------------------------------------------------------------- what is refused */

#define SIXTEEN " a a a a a a a a a a a a a a a a"

TEST(what_cannot_be_drawn_is_refused)
{
    show_request most = request_of(0);
    most.sentence = SIXTEEN SIXTEEN SIXTEEN SIXTEEN;
    assert_int_equal(sheet_of("rope", "attention", &most)->figure[0]->columns, SHOW_WORDS_MAX);
    static const struct {
        const char *spec, *view;
        show_request r;
        pe_status status;
        const char *words;
    } cases[] = {
        { "rope", "attention", { .sentence = SIXTEEN SIXTEEN SIXTEEN SIXTEEN " b" }, PE_ERR_RANGE, "more than 64 words" },
        { "learned:rows=40", "curves", { .length = 41 }, PE_ERR_POSITION, "table of 40" },
        { "rope", "table", { .length = 5000 }, PE_ERR_RANGE, "4096 or less" },
        { "rope", "table", { .length = 10, .axis = 1 }, PE_ERR_RANGE, "counted from 0" },
        { "rope", "wavelengths", { .axis = -1 }, PE_ERR_RANGE, "counted from 0" },
        { "rope", "table", { .length = 10, .start = PE_POSITION_MAX }, PE_ERR_RANGE, "2^36" },
        { "rope", "curves", { .pick = { 8 }, .pick_count = 1 }, PE_ERR_RANGE, "there are 8" },
        { "alibi", "bias", { .head = 8 }, PE_ERR_RANGE, "there are 8" },
        { "alibi", "decay", { .head = 8 }, PE_ERR_RANGE, "there are 8" },
        { "alibi", "bias", { .length = 2000 }, PE_ERR_RANGE, "1024 or less" },
        { "alibi", "decay", { .length = 10, .position = 10 }, PE_ERR_RANGE, "needs 0 to 9" },
        { "cope", "decay", { .length = 1 << 20 }, PE_ERR_RANGE, "counts every key" },
        { "rope", "attention", { .sentence = " \t " }, PE_ERR_RANGE, "no words" },
        { "rope", "around", { .sentence = "a b", .position = 2 }, PE_ERR_RANGE, "needs 0 to 1" },
        { "window", "attention", { .sentence = "a b c d e f g h i" }, PE_ERR_POSITION, "reaches" },
        { "sinusoidal", "table", { .shape = { .model_dim = 1 << 24 } }, PE_ERR_RANGE, "too many" },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        show_sheet sheet = { .count = 0 };
        show_request r = cases[i].r;
        r.shape = r.shape.model_dim ? r.shape : shape;
        r.position = r.position ? r.position : -1;
        pe_status status = show_add(&sheet, show_view_named(cases[i].view), subject_of(cases[i].spec, &r), &r, &err);
        if (status != cases[i].status || !strstr(err.text, cases[i].words))
            fail_msg("%s, %s: %s: %s", cases[i].spec, cases[i].view, pe_status_name(status), err.text);
        assert_int_equal(sheet.count, 0);
    }
}

/* Lines of many points are sampled, which the caption says; the trained length is marked where it is passed. */
TEST(long_curves_are_sampled_and_marked)
{
    static const struct {
        int64_t length;
        double step, mark;
    } cases[] = { { 64, 1, 0 }, { 200, 1, 64 }, { 100000, 49, 64 } };
    for (int i = 0; i < COUNT(cases); i++) {
        show_request r = request_of(cases[i].length);
        const figure *f = figure_of("rope:scaling=yarn,factor=4,trained=64", "curves", &r);
        assert_true(f->series[0].count <= 2048);
        assert_near(f->series[0].x[1], cases[i].step, 0);
        assert_near(f->x_mark, cases[i].mark, 0);
        assert_int_equal(strstr(f->caption, "One position of 49") != NULL, cases[i].step > 1);
    }
}

/* What reads keys back only, is made for that, or counts them, is not drawn ahead; what is symmetric is. */
TEST(keys_ahead_are_drawn_where_they_are_served)
{
    static const struct {
        const char *spec;
        bool ahead;
    } cases[] = { { "alibi", false },   { "alibi:form=symmetric", true }, { "transformer-xl", false },
                  { "xlnet", true },    { "cope", false },                { "t5", true },
                  { "sinusoidal", true }, { "rope", true } };
    for (int i = 0; i < COUNT(cases); i++) {
        show_request r = request_of(0);
        figure *sheet = figure_of(cases[i].spec, "decay", &r);
        if ((sheet->series[0].x[0] < 0) != cases[i].ahead)
            fail_msg("%s: distances from %g on", cases[i].spec, sheet->series[0].x[0]);
    }
}

/* ---------------------------------------------------------------- no memory */

static pe_status all_views(const void *spec, pe_error *why)
{
    show_request r = request_of(8);
    show_subject *s = NULL;
    show_sheet sheet = { .count = 0 };
    pe_status status = show_subject_new(&s, spec, &r, why);
    r.length = 0;
    for (int v = 0; !status && v < show_view_count; v++)
        if (show_fits(show_views[v], s))
            status = show_add(&sheet, show_views[v], s, &r, why);
    show_sheet_free(&sheet);
    show_subject_free(s);
    return status;
}

TEST(without_memory_nothing_leaks_and_nothing_is_drawn)
{
    static const char *const specs[] = { "none", "sinusoidal", "learned:rows=4", "rope:scaling=yarn,factor=4,trained=64",
                                         "shaw", "alibi", "window" };
    for (int i = 0; i < COUNT(specs); i++)
        each_allocation_fails(all_views, specs[i], 3);
}
