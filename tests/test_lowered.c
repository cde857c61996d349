/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s
 *
 * The lowered form is all that a kernel needs: an attention that is written on pe_lowered and on nothing else, in
 * float64, gives what the definition gives, for every example of every row. Its tables are float32. */
#include "fused_case.h"

typedef struct reader {
    const pe_lowered *l;
    const attention_case *c;
    double *q, *k, *v; /* rotated */
} reader;

/* ------------------------------------------------ rotation */

static const pe_pair *pair_of(const reader *r, int64_t h, int64_t axis, int64_t n)
{
    int64_t head = r->l->pair_heads == 1 ? 0 : h;
    return &r->l->pair[(head * r->l->pair_axes + axis) * r->l->pairs + n];
}

/* Where the angle is rounded on the way, or mixed, the form refers to the tables. */
static void table_rotation(const reader *r, pe_side side, int64_t h, const int64_t *at, int64_t n, double *c, double *s)
{
    double cosine[PE_HEAD_DIM_MAX], sine[PE_HEAD_DIM_MAX];
    int64_t pairs = r->l->pairs, heads = r->l->pair_heads;
    assert_true(heads * pairs <= COUNT(cosine));
    assert_ok(pe_rotate_table(r->c->e, side, pe_view_of(cosine, PE_F64, 1, 1, heads, pairs), pe_view_of(sine, PE_F64, 1, 1, heads, pairs),
                              pe_positions_of(at, PE_I64, 1, 1, r->c->axes), &PE_MAKE(pe_run, .params = r->c->params), &err));
    *c = cosine[(heads == 1 ? 0 : h) * pairs + n];
    *s = sine[(heads == 1 ? 0 : h) * pairs + n];
}

/* h: of the key heads. Outputs turn back, their magnitude too. */
static void rotate_pair(const reader *r, pe_side side, int64_t h, const int64_t *at, int64_t n, double *c, double *s)
{
    if (!r->l->exact) {
        table_rotation(r, side == PE_OUTPUT ? PE_VALUE : side, h, at, n, c, s);
        double size = side == PE_OUTPUT ? *c * *c + *s * *s : 1;
        *c /= size;
        *s /= side == PE_OUTPUT ? -size : size;
        return;
    }
    double angle = pair_of(r, h, 0, n)->phase, size = r->l->magnitude, decay = pair_of(r, h, 0, n)->decay;
    for (int64_t a = 0; a < r->l->pair_axes; a++)
        angle += pair_of(r, h, a, n)->frequency * (double)at[pair_of(r, h, a, n)->axis];
    if (decay != 0)
        size *= exp((side == PE_QUERY ? decay : -decay) * (double)(at[0] - r->l->centre));
    size = side == PE_OUTPUT ? 1 / size : size * pe_encoding_gain(r->c->e, side, at[0]);
    *c = size * cos(angle);
    *s = (side == PE_OUTPUT ? -size : size) * sin(angle);
}

static void rotate_vector(const reader *r, pe_side side, int64_t h, double *x, int64_t dim, const int64_t *at)
{
    double y[PE_HEAD_DIM_MAX];
    double gain = side == PE_OUTPUT ? 1 : pe_encoding_gain(r->c->e, side, at[0]);
    for (int64_t d = 0; d < dim; d++)
        y[d] = x[d] * gain;
    for (int64_t n = 0; n < r->l->pairs; n++) {
        const pe_pair *p = pair_of(r, h, 0, n);
        double c, s;
        bool out = side == PE_OUTPUT; /* back: what was written is read */
        rotate_pair(r, side, h, at, n, &c, &s);
        int64_t from_x = out ? p->x_out : p->x, from_y = out ? p->y_out : p->y, to_x = out ? p->x : p->x_out, to_y = out ? p->y : p->y_out;
        y[to_x] = x[from_x] * c - x[from_y] * s;
        y[to_y] = x[from_x] * s + x[from_y] * c;
    }
    memcpy(x, y, (size_t)dim * sizeof *x);
}

static double *rotated(const reader *r, pe_side side, const double *x, int64_t tokens, int64_t heads, int64_t dim, const int64_t *at)
{
    double *y = case_doubles(tokens * heads * dim);
    int64_t G = r->c->shape.kv_heads;
    memcpy(y, x, (size_t)(tokens * heads * dim) * sizeof *y);
    for (int64_t n = 0; n < tokens * heads && (side != PE_VALUE || r->l->rotates_value); n++)
        rotate_vector(r, side, n % heads / (heads / G), y + n * dim, dim, at + n / heads * r->c->axes);
    return y;
}

/* ------------------------------------------------ terms */

/* The entry of a pair in tables by distance; -1: its distance is not told. */
static int64_t entry_of(const reader *r, const pe_distances *by, int64_t i, int64_t j)
{
    int64_t d = 0;
    for (int64_t a = 0; a < r->c->axes; a++)
        d += by->weight[a] * (r->c->q_at[i * r->c->axes + a] - r->c->k_at[j * r->c->axes + a]);
    return d < by->low || d > by->high ? -1 : by->first + by->high - d;
}

static double bias_of(const reader *r, const pe_lowered_bias *b, int64_t h, int64_t i, int64_t j)
{
    int64_t x = entry_of(r, b->by, i, j), s = 0, place = r->c->q_at[i * r->c->axes];
    assert_true(x >= 0);
    if (b->knots >= 0) {
        assert_true(place >= 0 && place < b->shares);
        double at = (double)b->table[x] * (double)b->share[place];
        while (s < b->knots && b->knot[s] <= at)
            s++;
        return (double)b->slope[h * (b->knots + 1) + s] * at + (double)b->level[h * (b->knots + 1) + s];
    }
    while (x >= b->segment[s].first + b->segment[s].count)
        s++;
    const pe_segment *p = &b->segment[s];
    if (p->kind == PE_SEGMENT_TABLE)
        return (double)b->table[h * b->table_row + p->at + x - p->first];
    double level = (double)b->level[h * b->segments + s], slope = (double)b->slope[h * b->segments + s];
    return p->kind == PE_SEGMENT_LINEAR ? level + slope * (double)(b->by->high - (x - b->by->first)) : level;
}

static double level_of(const reader *r, const pe_lowered_level *v, int64_t h, int64_t i, int64_t j)
{
    const attention_case *c = r->c;
    if (v->gates)
        return c->q_gates[i * c->shape.heads + h] - c->k_gates[j * c->shape.heads + h];
    const double *level = v->level + h * v->level_row;
    assert_true(c->k_at[j * c->axes] < v->level_row && c->q_at[i * c->axes] < v->level_row);
    return level[c->k_at[j * c->axes]] - level[c->q_at[i * c->axes]];
}

static const float *row_of(const reader *r, const pe_lowered_lookup *t, int64_t h, int64_t i, int64_t j)
{
    int64_t x = entry_of(r, t->by, i, j);
    assert_true(x >= 0 && t->column[x] >= 0 && t->column[x] < t->columns);
    return t->rows + ((t->heads == 1 ? 0 : h) * t->columns + t->column[x]) * t->row_stride;
}

static double lookup_of(const reader *r, const pe_lowered_lookup *t, int64_t h, int64_t i, int64_t j)
{
    const attention_case *c = r->c;
    int64_t H = c->shape.heads, G = c->shape.kv_heads;
    const float *table = row_of(r, t, h, i, j);
    const double *x = t->side == PE_KEY ? r->k + (j * G + h / (H / G)) * t->dim : (t->input ? c->relative : r->q) + (i * H + h) * t->dim;
    double sum = 0, gain = t->input ? pe_encoding_gain(c->e, PE_QUERY, c->q_at[i * c->axes]) : 1;
    for (int64_t d = 0; d < t->dim; d++)
        sum += (gain * x[d] + (t->extra ? (double)t->extra[h * t->row_stride + d] : 0)) * (double)table[d];
    return sum;
}

static double terms(const reader *r, pe_stage stage, int64_t h, int64_t i, int64_t j)
{
    const pe_lowered *l = r->l;
    double sum = 0;
    for (int n = 0; n < l->biases; n++)
        sum += l->bias[n]->stage == stage ? bias_of(r, l->bias[n], h, i, j) : 0;
    for (int n = 0; n < l->levels; n++)
        sum += l->level[n]->stage == stage ? level_of(r, l->level[n], h, i, j) : 0;
    for (int n = 0; n < l->lookups; n++)
        sum += l->lookup[n]->stage == stage && l->lookup[n]->side != PE_VALUE ? lookup_of(r, l->lookup[n], h, i, j) : 0;
    return sum;
}

static double counted(const reader *r, int64_t h, int64_t i, double count)
{
    const pe_lowered_count *t = r->l->count;
    int64_t at = (int64_t)fmin(count, (double)(t->rows - 1));
    at -= at == t->rows - 1;
    double way = fmin(count, (double)(t->rows - 1)) - (double)at, sum = 0;
    for (int64_t d = 0; d < t->dim; d++) {
        const float *low = t->table + (at * t->heads + (t->heads == 1 ? 0 : h)) * t->dim, *high = low + t->heads * t->dim;
        sum += r->q[(i * r->c->shape.heads + h) * t->dim + d] * ((1 - way) * (double)low[d] + way * (double)high[d]);
    }
    return sum;
}

/* What stands for q.k. */
static double polar_of(const reader *r, int64_t g, const double *q, const double *k, int64_t apart)
{
    const pe_lowered_polar *p = r->l->polar;
    double sum = 0;
    for (int64_t d = 0; d < p->dim; d++) {
        double turns = p->turns[d] + p->turns[p->dim + d] + p->turns[2 * p->dim + d];
        double angle = 2 * acos(-1) * turns * (double)apart + p->phase[g * p->dim + d];
        sum += log1p(exp(q[d])) * log1p(exp(k[d])) * cos(angle);
    }
    return sum;
}

static double product_of(const reader *r, int64_t h, int64_t g, int64_t i, int64_t j)
{
    const pe_shape *s = &r->c->shape;
    const double *q = r->q + (i * s->heads + h) * s->head_dim, *k = r->k + (j * s->kv_heads + g) * s->head_dim;
    return r->l->polar ? polar_of(r, g, q, k, r->c->k_at[j * r->c->axes] - r->c->q_at[i * r->c->axes]) : case_dot(q, k, s->head_dim);
}

/* ------------------------------------------------ attention */

/* One query and head: its scores, then its output. */
static void attend(const reader *r, int64_t h, int64_t i, double *score, double *out)
{
    const attention_case *c = r->c;
    int64_t H = c->shape.heads, G = c->shape.kv_heads, g = h / (H / G);
    double most = -INFINITY, sum = 0, count = 0;
    for (int64_t j = c->Tk - 1; j >= 0; j--) {
        double dot = product_of(r, h, g, i, j);
        score[j] = -INFINITY;
        if (j > i) /* causal */
            continue;
        score[j] = r->l->scale * (dot + terms(r, PE_BEFORE_SCALE, h, i, j)) + terms(r, PE_AFTER_SCALE, h, i, j);
        if (r->l->count) {
            count += 1 / (1 + exp(-r->l->count->scale * dot));
            score[j] += (r->l->count->stage == PE_BEFORE_SCALE ? r->l->scale : 1) * counted(r, h, i, count);
        }
        most = fmax(most, score[j]);
    }
    for (int64_t j = 0; j <= i; j++)
        sum += exp(score[j] - most);
    memset(out, 0, (size_t)c->Dv * sizeof *out);
    for (int64_t j = 0; j <= i; j++)
        for (int64_t d = 0; d < c->Dv; d++) {
            double v = r->v[(j * G + g) * c->Dv + d];
            for (int n = 0; n < r->l->lookups; n++)
                v += r->l->lookup[n]->side == PE_VALUE ? (double)row_of(r, r->l->lookup[n], h, i, j)[d] : 0;
            out[d] += exp(score[j] - most) / sum * v;
        }
    if (r->l->pairs && r->l->rotates_output)
        rotate_vector(r, PE_OUTPUT, g, out, c->Dv, c->q_at + i * c->axes);
}

static void compare(const attention_case *c, const char *what, const double *x, const double *y, int64_t n)
{
    for (int64_t d = 0; d < n; d++)
        if (!(x[d] == y[d] || fabs(x[d] - y[d]) <= 4e-6 * (1 + fabs(y[d]))))
            fail_msg("%s: %s %d is %.9g by the form, %.9g by the definition", c->spec, what, (int)d, x[d], y[d]);
}

/* The frequency twice: as it is, and in turns, which a position may be multiplied by without loss. */
static void compare_frequencies(const pe_lowered *l, const char *spec)
{
    for (int64_t n = 0; n < l->pair_heads * l->pair_axes * l->pairs; n++) {
        double turns = l->pair[n].turns[0] + l->pair[n].turns[1] + l->pair[n].turns[2], radians = l->pair[n].frequency;
        if (!(fabs(turns * 2 * acos(-1) - radians) <= 1e-14 * fabs(radians)))
            fail_msg("%s: pair %d has %.17g radians and %.17g turns", spec, (int)n, radians, turns);
    }
}

static int told;

static void form_of(const char *spec)
{
    enum { FAR = 120 };
    pe_plan *plan = NULL;
    attention_case c = case_new(spec, CAUSAL, 31);
    int64_t H = c.shape.heads, G = c.shape.kv_heads, D = c.shape.head_dim;
    pe_run run = case_run(&c, NULL, NULL, 0);
    double *scores = case_doubles(c.Tq * H * c.Tk), *mine = case_doubles(c.Tk), *out = case_doubles(c.Dv);
    c.a.scores = pe_view_of(scores, PE_F64, 1, c.Tq, H, c.Tk);
    case_forward(&c);
    assert_ok(pe_plan_new(&plan, c.e, FAR, FAR, &run, &err));
    reader r = { .l = pe_plan_lowered(test_piled(TEST_PLAN, plan)), .c = &c };
    bool all = true;
    compare_frequencies(r.l, spec);
    for (int n = 0; n < r.l->lookups; n++)
        all = all && r.l->lookup[n]->column;
    if (!all)
        fail_msg("%s: a table is not told", spec);
    r.q = rotated(&r, PE_QUERY, c.q, c.Tq, H, D, c.q_at);
    r.k = rotated(&r, PE_KEY, c.k, c.Tk, G, D, c.k_at);
    r.v = rotated(&r, PE_VALUE, c.v, c.Tk, G, c.Dv, c.k_at);
    for (int64_t n = 0; n < c.Tq * H; n++) {
        attend(&r, n % H, n / H, mine, out);
        compare(&c, "score", mine, scores + n * c.Tk, c.Tk);
        compare(&c, "output", out, c.out + n * c.Dv, c.Dv);
    }
    told++;
}

TEST(an_attention_on_the_form_alone_is_the_definition)
{
    case_each(form_of);
    print_message("%d specs\n", told);
}

/* Far distances cost nothing where they are straight or constant. */
TEST(segments_are_few)
{
    static const struct {
        const char *spec;
        int64_t segments, most; /* numbers of a table */
    } right[] = { { "alibi", 2, 0 }, { "alibi:form=symmetric", 2, 0 }, { "t5:max=128", 3, 2 * 128 }, { "kerple", 1, INT64_C(1) << 21 } };
    for (int n = 0; n < COUNT(right); n++) {
        pe_plan *plan = NULL;
        pe_encoding *e = encoding_of(right[n].spec, test_shape);
        int64_t count = pe_encoding_param_count(e);
        float *w = take(count, sizeof(float));
        assert_ok(pe_encoding_init(e, (pe_params){ w, PE_F32, count }, 1, &err));
        pe_run run = PE_MAKE(pe_run, .params = { w, PE_F32, count });
        assert_ok(pe_plan_new(&plan, e, 1 << 20, 1 << 10, &run, &err));
        const pe_lowered_bias *b = pe_plan_lowered(test_piled(TEST_PLAN, plan))->bias[0];
        assert_int_equal(b->segments, right[n].segments);
        assert_true(b->table_row <= right[n].most);
    }
    assert_null(pe_plan_lowered(NULL));
}
