/* SPDX-License-Identifier: MIT
 *
 * How a number came about, for people: a formula with its numbers, equal to the number. Words stand only for names
 * (table[3][0]); the rows tell what they alone know, the loops that all share are told here. */
#include "core/door.h"
#include "core/score.h"
#include "core/rotation.h"

#include <inttypes.h>

typedef enum formula_kind {
    TELLS_CODE,
    TELLS_TERM,
    TELLS_COUNT,
    TELLS_POLAR,
    TELLS_BIAS,
    TELLS_PAIR,
    TELLS_GAIN,
    TELLS_SCALE
} formula_kind;

typedef struct formula {
    formula_kind kind;
    const part *part; /* NULL: the scale */
    const term *term; /* TELLS_TERM */
    int64_t axes;     /* of all parts together */
    pe_formula is;
} formula;

/* ------------------------------------------------ what there is */

_Static_assert(PE_FORMULAS_MAX >= PARTS_MAX * (TERMS_MAX + 4) + 2, "room for the formulas of all parts");

static formula formula_of(formula_kind kind, const part *p, const term *t, unsigned hook, int64_t count)
{
    const pe_info *info = &p->row->info;
    return (formula){ kind, p, t, 0, { hook, p->stage, info, count, *p->formula ? p->formula : info->formula } };
}

static int formula_list(const pe_encoding *e, formula out[PE_FORMULAS_MAX])
{
    int n = 0;
    for (int i = 0; i < e->parts; i++) {
        const part *p = &e->part[i];
        if (p->row->embed)
            out[n++] = formula_of(TELLS_CODE, p, NULL, PE_HOOK_EMBED, p->width);
        for (const term *t = p->term; t < p->term + p->terms; t++)
            out[n++] = t->side == PE_VALUE ? formula_of(TELLS_TERM, p, t, PE_HOOK_VALUE, p->shape.head_dim)
                                           : formula_of(TELLS_TERM, p, t, PE_HOOK_CONTENT, 1);
        if (p->count.on)
            out[n++] = formula_of(TELLS_COUNT, p, NULL, PE_HOOK_CONTENT, 1);
        if (p->polar.on)
            out[n++] = formula_of(TELLS_POLAR, p, NULL, PE_HOOK_CONTENT, 1);
        if (p->hooks & PE_HOOK_BIAS)
            out[n++] = formula_of(TELLS_BIAS, p, NULL, PE_HOOK_BIAS, 1);
    }
    const part *p = rotating_part(e, PE_QUERY);
    if (p && p->pairs)
        out[n++] = formula_of(TELLS_PAIR, p, NULL, PE_HOOK_ROTATE, p->pairs);
    else if (p && p->gains)
        out[n++] = formula_of(TELLS_GAIN, p, NULL, PE_HOOK_ROTATE, 1);
    out[n++] = (formula){ .kind = TELLS_SCALE, .is = { .count = 1 } };
    for (int i = 0; i < n; i++)
        out[i].axes = e->axes;
    return n;
}

int pe_encoding_formulas(const pe_encoding *e, pe_formula *out, int room)
{
    formula all[PE_FORMULAS_MAX];
    int count = e ? formula_list(e, all) : 0;
    for (int i = 0; out && i < count && i < room; i++)
        out[i] = all[i].is;
    return count;
}

/* ------------------------------------------------ one by one */

static double tell_code(const part *p, const pe_question *of, tell *out)
{
    if (p->row->tell_embed)
        p->row->tell_embed(p, of->params, of->q_at, of->element, out);
    double at[PE_AXES_MAX], x;
    for (int64_t a = 0; a < p->axes; a++)
        at[a] = (double)of->q_at[a];
    p->row->embed(p, of->params, at, of->element, 1, &x);
    return x;
}

static const int64_t *key_at(const formula *f, const pe_question *of)
{
    return of->k_at + of->key * f->axes;
}

static double tell_bias(const formula *f, const pe_question *of, tell *out)
{
    const part *p = f->part;
    const int64_t *k_at = key_at(f, of);
    pe_params w = of->params;
    if (p->gates) {
        tell_say(out, "c_%" PRId64 " - c_%" PRId64 " = %s - %s", of->q_at[0], k_at[0], tell_number(*of->q_gates).text,
                 tell_factor(of->k_gates[of->key]).text);
        return *of->q_gates - of->k_gates[of->key];
    }
    if (p->row->tell_bias)
        p->row->tell_bias(p, w, of->head, of->q_at, k_at, out);
    if (p->absolute)
        return p->row->absolute(p, of->head, k_at) - p->row->absolute(p, of->head, of->q_at);
    double x = part_measure(p, w, (double)(part_place(p, of->q_at) - part_place(p, k_at))), q[PE_AXES_MAX];
    for (int64_t a = 0; a < p->axes; a++)
        q[a] = (double)of->q_at[a];
    return p->row->bias(p, w, of->head, p->row->share ? x * p->row->share(p, w, q) : x);
}

/* Lines for the row that the distance takes, and for entries that a formula gives: those that are computed, and those
 * that training has not changed. */
static void tell_row(const part *p, const term *t, const pe_question *of, int64_t k_at, const char *name, int64_t D,
                     tell *out)
{
    int64_t r = t->index(p, of->q_at[0] - k_at), H = t->table < 0 ? 1 : p->tensor[t->table].shape[1];
    int64_t h = H == 1 ? 0 : of->head;
    size_t before = out->used;
    tell_say(out, "row(%" PRId64 ", %" PRId64 ") = ", of->q_at[0], k_at);
    size_t named = out->used;
    if (p->row->tell_index)
        p->row->tell_index(p, t, of->q_at[0], k_at, out);
    if (out->used == named)
        out->text[out->used = before] = 0;
    else
        tell_say(out, " = %" PRId64 "\n", r);
    for (int64_t d = 0; p->row->tell_entry && d < D; d++) {
        double x = part_entry(p, of->params, t, r, of->head, d);
        if (t->table >= 0 &&
            (p->tensor[t->table].fill != FILL_ROW || x != p->row->fill(p, t->table, (r * H + h) * D + d)))
            continue;
        tell_say(out, "%s[%" PRId64 "][%" PRId64 "] = ", name, r, d);
        p->row->tell_entry(p, t, r, h, d, out);
        tell_say(out, " = %s\n", tell_number(x).text);
        if (p->row->tell_beside)
            p->row->tell_beside(p, t, r, h, d, out);
    }
}

/* "value_table[14][0]" */
static double tell_value(const formula *f, const pe_question *of, int64_t r, const char *name, tell *out)
{
    if (of->element == 0)
        tell_row(f->part, f->term, of, key_at(f, of)[0], name, f->part->shape.head_dim, out);
    tell_say(out, "%s[%" PRId64 "][%" PRId64 "]", name, r, of->element);
    return part_entry(f->part, of->params, f->term, r, of->head, of->element);
}

/* "q_5 · key_table[14] = ...", (q_5 + v) where a term has an extra. */
static double tell_term(const pe_encoding *e, const formula *f, const pe_question *of, tell *out)
{
    const part *p = f->part;
    const term *t = f->term;
    int64_t D = t->input ? t->input : p->shape.head_dim, k_at = key_at(f, of)[0], r = t->index(p, of->q_at[0] - k_at);
    const char *name = t->table < 0 ? "w" : p->tensor[t->table].name;
    bool query = t->side == PE_QUERY;
    if (t->side == PE_VALUE)
        return tell_value(f, of, r, name, out);
    const double *x = t->input ? of->relative : query ? of->q : of->k + of->key * D;
    tell_row(p, t, of, k_at, name, D, out);
    const char *extra = t->extra < 0 ? NULL : p->tensor[t->extra].name;
    tell_say(out, "%s%c_%" PRId64 "%s%s%s · %s[%" PRId64 "] = ", extra ? "(" : "",
             t->input ? 'r'
             : query  ? 'q'
                      : 'k',
             query ? of->q_at[0] : k_at, extra ? " + " : "", extra ? extra : "", extra ? ")" : "", name, r);
    const part *gains = t->input ? rotating_part(e, PE_QUERY) : NULL;
    double sum = 0, gain = gains ? gain_at(gains, PE_QUERY, of->q_at) : 1;
    if (gain != 1)
        tell_say(out, "%s · (", tell_number(gain).text);
    for (int64_t d = 0; d < D; d++) {
        double more = extra ? param(p, of->params, t->extra, of->head * D + d) : 0;
        double b = part_entry(p, of->params, t, r, of->head, d);
        tell_say(out, "%s%s%s", d ? " + " : "", extra ? "(" : "", tell_factor(x[d]).text);
        if (extra)
            tell_say(out, " + %s)", tell_factor(more).text);
        tell_say(out, " · %s", tell_factor(b).text);
        sum += (x[d] + more) * b;
    }
    if (gain != 1)
        tell_say(out, ")");
    return gain * sum;
}

/* A line: "gate(5, 3) = 1 / (1 + exp(-(-1.86) · 0.5)) = 0.2829". */
static double tell_gate(const part *p, const pe_question *of, int64_t k_at, int64_t key, tell *out)
{
    double dot = 0;
    for (int64_t d = 0; d < p->shape.head_dim; d++)
        dot += of->q[d] * of->k[key * p->shape.head_dim + d];
    double gate = count_gate(p, dot);
    tell_say(out, "gate(%" PRId64 ", %" PRId64 ") = sigmoid(q·k · scale) = 1 / (1 + exp(-%s · %s)) = %s\n", of->q_at[0],
             k_at, tell_factor(dot).text, tell_number(p->count.scale).text, tell_number(gate).text);
    return gate;
}

static bool sees(const pe_question *of, int64_t key)
{
    return !of->seen || of->seen[key];
}

/* A line per gate, of the keys from the last one down to this, and one for their sum. */
static double tell_gates(const formula *f, const pe_question *of, tell *out)
{
    const part *p = f->part;
    double gate[2] = { 0 }, sum = 0; /* of this key, and of those after it */
    for (int64_t j = of->keys - 1; j >= of->key; j--)
        if (sees(of, j)) {
            gate[1] = sum;
            gate[0] = tell_gate(p, of, of->k_at[j * f->axes], j, out);
            sum += gate[0];
        }
    tell_say(out, "count(%" PRId64 ", %" PRId64 ") = ", of->q_at[0], key_at(f, of)[0]);
    if (gate[1] > 0)
        tell_say(out, "%s + ", tell_number(gate[1]).text);
    tell_say(out, "%s = %s\n", tell_number(gate[0]).text, tell_number(sum).text);
    return sum;
}

/* Lines for the vector between rows low and low + 1, then its product with the query. */
static void tell_between(const part *p, const pe_question *of, double count, int64_t low, tell *out)
{
    const tensor *x = &p->tensor[p->count.table];
    int64_t D = p->shape.head_dim, h = x->shape[1] == 1 ? 0 : of->head;
    double up = count - (double)low;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t d = 0; d < D; d++) {
            double a = param(p, of->params, p->count.table, (low * x->shape[1] + h) * D + d);
            double b = param(p, of->params, p->count.table, ((low + 1) * x->shape[1] + h) * D + d);
            double e = (1 - up) * a + up * b;
            if (pass)
                tell_say(out, "%s%s · %s", d ? " + " : "", tell_factor(of->q[d]).text, tell_factor(e).text);
            else
                tell_say(out,
                         "e[%s][%" PRId64 "] = %s · %s[%" PRId64 "][%" PRId64 "] + %s · %s[%" PRId64 "][%" PRId64
                         "] = %s · %s + %s · %s = %s\n",
                         tell_number(count).text, d, tell_number(1 - up).text, x->name, low, d, tell_number(up).text,
                         x->name, low + 1, d, tell_number(1 - up).text, tell_factor(a).text, tell_number(up).text,
                         tell_factor(b).text, tell_number(e).text);
        }
        if (!pass)
            tell_say(out, "q_%" PRId64 " · e[%s] = ", of->q_at[0], tell_number(count).text);
    }
}

/* The gates of the keys from the last one down to this, their sum, and q between two rows of the table. */
static double tell_count(const formula *f, const pe_question *of, tell *out)
{
    const part *p = f->part;
    step s = { .p = p, .w = of->params, .head = of->head, .q = { (void *)(uintptr_t)of->q, PE_F64, 0 } };
    int64_t last = p->tensor[p->count.table].shape[0] - 1;
    s.sum = tell_gates(f, of, out);
    double count = fmin(s.sum, (double)last), low = floor(count);
    if (low == (double)last)
        low--;
    if (s.sum > (double)last)
        tell_say(out, "min(%s, %" PRId64 ") = %" PRId64 "\n", tell_number(s.sum).text, last, last);
    tell_between(p, of, count, (int64_t)low, out);
    return count_term(&s);
}

/* A line: "softplus(-0.8) = log(1 + exp(-0.8)) = 0.3711". */
static void tell_softplus(double x, tell *out)
{
    tell_say(out, "softplus(%s) = log(1 + exp(%s)) = %s\n", tell_number(x).text, tell_number(x).text,
             tell_number(polar_size(x)).text);
}

/* "softplus(0.5) · softplus(-1) · cos(-2 · 0.1 + 0) + ..." and the same with its numbers */
static double tell_polar(const formula *f, const pe_question *of, tell *out)
{
    const part *p = f->part;
    int64_t D = p->shape.head_dim, apart = key_at(f, of)[0] - of->q_at[0];
    int64_t head = of->head / (p->shape.heads / p->shape.kv_heads);
    double c[POLAR_MAX], s[POLAR_MAX];
    const double *k = of->k + of->key * D;
    for (int64_t d = 0; d < D; d++) {
        tell_softplus(of->q[d], out);
        tell_softplus(k[d], out);
    }
    for (int64_t n = 0; n < 2 * D; n++) {
        int64_t d = n % D;
        if (n < D)
            tell_say(out, "%ssoftplus(%s) · softplus(%s)", d ? " + " : "", tell_number(of->q[d]).text,
                     tell_number(k[d]).text);
        else
            tell_say(out, "%s%s · %s", d ? " + " : " = ", tell_number(polar_size(of->q[d])).text,
                     tell_number(polar_size(k[d])).text);
        tell_say(out, " · cos(%" PRId64 " · %s + %s)", apart,
                 tell_number(p->polar.frequency[d] * wide_two_pi().part[0]).text,
                 tell_factor(param(p, of->params, p->polar.phases, head * D + d)).text);
    }
    polar_angles(p, (double)apart, c, s);
    return polar_term(p, of->params, head, (vec){ (void *)(uintptr_t)of->q, PE_F64, 0 },
                      (vec){ (void *)(uintptr_t)k, PE_F64, 0 }, c, s);
}

static double tell_pair(const part *p, const pe_question *of, tell *out)
{
    if (p->row->tell_pair)
        p->row->tell_pair(p, of, out);
    return pair_frequency(&p->pair[of->element]);
}

static double tell_gain(const part *p, const pe_question *of, tell *out)
{
    if (of->side == PE_QUERY && p->row->tell_gain)
        p->row->tell_gain(p, of->q_at, out);
    return gain_at(p, of->side, of->q_at);
}

/* 1/sqrt(head_dim), or that of the last part that has one; then the factors of all. */
static double tell_scale(const pe_encoding *e, tell *out)
{
    const part *own = NULL;
    bool factors = false;
    for (int i = 0; i < e->parts; i++) {
        own = e->part[i].scale != 0 ? &e->part[i] : own;
        factors = factors || e->part[i].scale_factor != 1;
    }
    if (!own)
        tell_say(out, "1 / sqrt(%" PRId64 ")", e->shape.head_dim);
    else if (own->row->tell_scale)
        own->row->tell_scale(own, out);
    else if (factors)
        tell_say(out, "%s", tell_number(own->scale).text);
    for (int i = 0; i < e->parts; i++)
        if (e->part[i].scale_factor != 1)
            tell_say(out, " · %s", tell_number(e->part[i].scale_factor).text);
    return e->scale;
}

static double tell_any(const pe_encoding *e, const formula *f, const pe_question *of, tell *out)
{
    switch (f->kind) {
    case TELLS_CODE: return tell_code(f->part, of, out);
    case TELLS_TERM: return tell_term(e, f, of, out);
    case TELLS_COUNT: return tell_count(f, of, out);
    case TELLS_POLAR: return tell_polar(f, of, out);
    case TELLS_BIAS: return tell_bias(f, of, out);
    case TELLS_PAIR: return tell_pair(f->part, of, out);
    case TELLS_GAIN: return tell_gain(f->part, of, out);
    case TELLS_SCALE: break;
    }
    return tell_scale(e, out);
}

/* ------------------------------------------------ what was asked */

#define PAIRWISE (PE_HOOK_CONTENT | PE_HOOK_BIAS | PE_HOOK_VALUE) /* a query meets a key */
#define ROOM_MIN 16

static pe_status check_index(const char *name, int64_t is, int64_t count, pe_error *err)
{
    if (is < 0 || is >= count)
        return pe_fail(err, PE_ERR_RANGE, "%s is %" PRId64 "; needs 0 to %" PRId64, name, is, count - 1);
    return PE_OK;
}

/* (count, axes) positions. */
static pe_status check_places(const char *name, const int64_t *at, int64_t count, int64_t axes, pe_error *err)
{
    CHECK_POINTER(int64_t, at, name);
    for (int64_t n = 0; n < count * axes; n++)
        if (at[n] > PE_POSITION_MAX || at[n] < -PE_POSITION_MAX)
            return pe_fail(err, PE_ERR_POSITION, "%s: a position is %" PRId64 "; needs -2^36 to 2^36", name, at[n]);
    return PE_OK;
}

/* The key, and vectors where the term looks at them. */
static pe_status check_key(const pe_encoding *e, const formula *f, const pe_question *q, pe_error *err)
{
    int64_t size;
    if (!checked_mul(&size, q->keys, e->shape.head_dim > e->axes ? e->shape.head_dim : e->axes) ||
        size > PTRDIFF_MAX / 8)
        return pe_fail(err, PE_ERR_OVERFLOW, "keys is %" PRId64 "; needs 0 or more, and what memory can hold", q->keys);
    TRY(check_index("key", q->key, q->keys, err));
    TRY(check_index("head", q->head, e->shape.heads, err));
    TRY(check_places("k_at", q->k_at, q->keys, e->axes, err));
    if (f->kind == TELLS_BIAS && f->part->gates) {
        CHECK_POINTER(double, q->q_gates, "q_gates");
        CHECK_POINTER(double, q->k_gates, "k_gates");
    }
    if (f->term && f->term->input)
        CHECK_POINTER(double, q->relative, "the vector relative");
    else if (f->is.hook == PE_HOOK_CONTENT) {
        CHECK_POINTER(double, q->q, "the vector q");
        CHECK_POINTER(double, q->k, "the vectors k");
    }
    if (!sees(q, q->key))
        return pe_fail(err, PE_ERR_RANGE, "key is %" PRId64 ", which the query does not see", q->key);
    if (f->part->row->reaches && !f->part->row->reaches(f->part, q->q_at, key_at(f, q)))
        return fail_reach(f->part, q->q_at, key_at(f, q), err);
    return PE_OK;
}

static pe_status check_question(const pe_encoding *e, const formula *f, const pe_question *q, pe_error *err)
{
    TRY(check_index("element", q->element, f->is.count, err));
    TRY(check_params(e, q->params, err));
    TRY(check_places("q_at", q->q_at, 1, e->axes, err));
    if (f->is.hook & PAIRWISE)
        return check_key(e, f, q, err);
    return f->part->row->check ? f->part->row->check(f->part, PE_QUERY, PE_F64, q->q_at, err) : PE_OK;
}

/* The number and the text overlap nothing that is read. */
static pe_status check_apart(const pe_encoding *e, const formula *f, const pe_question *of, const double *number,
                             const char *text, size_t room, pe_error *err)
{
    int64_t keys = f->is.hook & PAIRWISE ? of->keys : 0, R = f->term ? f->term->input : 0;
    int64_t D = f->is.hook == PE_HOOK_CONTENT && !R ? e->shape.head_dim : 0;
    bool gates = f->kind == TELLS_BIAS && f->part->gates;
    CHECK_MEMORY(false, array_region("text", text, (int64_t)room, 1, WRITES),
                 array_region("number", number, 1, sizeof *number, WRITES), params_region("params", of->params, READS),
                 array_region("q_at", of->q_at, e->axes, sizeof *of->q_at, READS),
                 array_region("k_at", of->k_at, keys * e->axes, sizeof *of->k_at, READS),
                 array_region("q", of->q, D, sizeof *of->q, READS),
                 array_region("k", of->k, keys * D, sizeof *of->k, READS),
                 array_region("q_gates", of->q_gates, gates, sizeof *of->q_gates, READS),
                 array_region("k_gates", of->k_gates, gates ? keys : 0, sizeof *of->k_gates, READS),
                 array_region("relative", of->relative, R, sizeof *of->relative, READS),
                 array_region("seen", of->seen, keys, sizeof *of->seen, READS));
    return PE_OK;
}

pe_status pe_encoding_tell(const pe_encoding *e, int index, const pe_question *asked, double *number, char *text,
                           size_t room, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    CHECK_POINTER(double, number, "number");
    CHECK_POINTER(char, text, "text");
    formula all[PE_FORMULAS_MAX];
    TRY(check_index("formula", index, formula_list(e, all), err));
    if (room < ROOM_MIN || room > PTRDIFF_MAX)
        return pe_fail(err, PE_ERR_RANGE, "room is %zu; needs %d or more, and what memory can hold", room, ROOM_MIN);
    pe_question q = { 0 };
    if (all[index].part) {
        CHECK_STRUCT(pe_question, &q, asked, "the question");
        TRY(check_question(e, &all[index], &q, err));
    }
    TRY(check_apart(e, &all[index], &q, number, text, room, err));
    tell out = tell_into(text, room);
    *number = tell_any(e, &all[index], &q, &out);
    return pe_pass(err);
}
