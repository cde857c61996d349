/* SPDX-License-Identifier: MIT */
#include "core/tell.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------ text */

tell tell_into(char *text, size_t room)
{
    *text = 0;
    return (tell){ text, room, 0 };
}

void tell_say(tell *t, const char *format, ...)
{
    static const char cut[] = " …";
    va_list list;
    va_start(list, format);
    int n = vsnprintf(t->text + t->used, t->room - t->used, format, list);
    va_end(list);
    if (n < 0)
        return;
    if ((size_t)n < t->room - t->used - sizeof cut) {
        t->used += (size_t)n;
        return;
    }
    memcpy(t->text + t->used, cut, sizeof cut); /* whole pieces only, and none after this one */
    t->room = t->used + sizeof cut;
    t->used += sizeof cut - 1;
}

static void drop_zeros(char *text)
{
    size_t n = strlen(text);
    while (n > 1 && text[n - 1] == '0' && text[n - 2] != '.')
        n--;
    text[n] = 0;
}

number_text tell_number(double x)
{
    number_text s;
    double size = fabs(x);
    if (x == floor(x) && size < 1e15) {
        snprintf(s.text, sizeof s.text, "%.0f", x + 0); /* there is one zero */
        return s;
    }
    bool fixed = size >= 0.1 && size < 1e6;
    snprintf(s.text, sizeof s.text, fixed ? (size < 100 ? "%.4f" : "%.2f") : "%.4g", x);
    text_plain_point(s.text);
    if (fixed)
        drop_zeros(s.text);
    return s;
}

number_text tell_factor(double x)
{
    number_text s = tell_number(x), in;
    if (s.text[0] != '-')
        return s;
    snprintf(in.text, sizeof in.text, "(%.30s)", s.text);
    return in;
}

/* The unit of the last digit of what tell_number shows. */
static double last_digit(double x)
{
    double size = fabs(x);
    if (x == floor(x) && size < 1e15)
        return 0;
    return size >= 0.1 && size < 1e6 ? (size < 100 ? 1e-4 : 1e-2) : pow(10, floor(log10(size)) - 3);
}

static double to_digit(double x, double unit)
{
    return unit == 0 ? x : unit < 1 ? rint(x / unit) / rint(1 / unit) : rint(x / unit) * unit;
}

double tell_difference(double a, double b)
{
    double one = last_digit(a), other = last_digit(b);
    return to_digit(to_digit(a, one) - to_digit(b, other), fmax(one, other));
}

void tell_products(tell *t, const double *a, const double *b, int64_t count)
{
    for (int64_t d = 0; d < count; d++)
        tell_say(t, "%s%s · %s", d ? " + " : "", tell_factor(a[d]).text, tell_factor(b[d]).text);
}

/* ------------------------------------------------ what there is */

int tell_list(const pe_encoding *e, told out[TOLD_MAX])
{
    int n = 0;
    for (int i = 0; i < e->parts; i++) {
        const part *p = &e->part[i];
        if (p->row->embed)
            out[n++] = (told){ p, TOLD_EMBED, PE_HOOK_EMBED, p->stage, NULL };
        for (int t = 0; t < p->terms; t++)
            out[n++] = (told){ p, TOLD_TERM, p->term[t].side == PE_VALUE ? PE_HOOK_VALUE : PE_HOOK_CONTENT, p->stage,
                               &p->term[t] };
        if (p->count.on)
            out[n++] = (told){ p, TOLD_COUNT, PE_HOOK_CONTENT, p->stage, NULL };
        if (p->hooks & PE_HOOK_BIAS)
            out[n++] = (told){ p, TOLD_BIAS, PE_HOOK_BIAS, p->stage, NULL };
    }
    return n;
}

/* ------------------------------------------------ one by one */

static double embed_one(const part *p, pe_params w, const tell_of *of, tell *out)
{
    if (p->row->tell_embed)
        p->row->tell_embed(p, w, of->q_at, of->element, out);
    return p->row->embed(p, w, of->q_at, of->element);
}

static double bias_one(const part *p, pe_params w, const tell_of *of, tell *out)
{
    const int64_t *k_at = of->k_at + of->key * of->axes;
    if (p->row->tell_bias)
        p->row->tell_bias(p, w, of->head, of->q_at, k_at, out);
    if (p->absolute)
        return p->row->absolute(p, of->head, k_at) - p->row->absolute(p, of->head, of->q_at);
    double x = part_measure(p, w, part_place(p, of->q_at) - part_place(p, k_at));
    return p->row->bias(p, w, of->head, p->row->share ? x * p->row->share(p, w, of->q_at) : x);
}

/* "q_5 · key_table[14] = ...", (q_5 + v) where a term has an extra. */
static double term_one(const told *what, pe_params w, const tell_of *of, tell *out)
{
    const part *p = what->part;
    const term *t = what->term;
    int64_t D = p->shape.head_dim, k_at = of->k_at[of->key * of->axes], r = t->index(p, of->q_at[0] - k_at);
    const char *name = t->table < 0 ? "w" : p->tensor[t->table].name;
    bool query = t->side == PE_QUERY;
    if (t->side == PE_VALUE) {
        tell_say(out, "%s[%" PRId64 "][%" PRId64 "]", name, r, of->element);
        return part_entry(p, w, t, r, of->head, of->element);
    }
    const double *x = query ? of->q : of->k + of->key * D;
    const char *extra = t->extra < 0 ? NULL : p->tensor[t->extra].name;
    tell_say(out, "%s%c_%" PRId64 "%s%s%s · %s[%" PRId64 "] = ", extra ? "(" : "", query ? 'q' : 'k',
             query ? of->q_at[0] : k_at, extra ? " + " : "", extra ? extra : "", extra ? ")" : "", name, r);
    double sum = 0;
    for (int64_t d = 0; d < D; d++) {
        double a = x[d] + (extra ? param(p, w, t->extra, of->head * D + d) : 0),
               b = part_entry(p, w, t, r, of->head, d);
        tell_say(out, "%s%s · %s", d ? " + " : "", tell_factor(a).text, tell_factor(b).text);
        sum += a * b;
    }
    return sum;
}

static double gate_of(const part *p, const tell_of *of, int64_t key)
{
    double dot = 0;
    for (int64_t d = 0; d < p->shape.head_dim; d++)
        dot += of->q[d] * of->k[key * p->shape.head_dim + d];
    return count_gate(p, dot);
}

/* The gates of the keys from the last one down to this, their sum, and q between two rows of the table. */
static double count_one(const part *p, pe_params w, const tell_of *of, tell *out)
{
    step s = { .p = p, .w = w, .head = of->head, .q = { (void *)(uintptr_t)of->q, PE_F64, 0 } };
    int64_t last = p->tensor[p->count.table].shape[0] - 1;
    tell_say(out, "count = ");
    for (int64_t j = of->keys - 1; j >= of->key; j--) {
        if (!of->seen[j])
            continue;
        double g = gate_of(p, of, j);
        tell_say(out, "%s%s", s.sum > 0 ? " + " : "", tell_number(g).text);
        s.sum += g;
    }
    double count = fmin(s.sum, (double)last), low = floor(count);
    if (low == (double)last)
        low--;
    tell_say(out, " = %s\n", tell_number(s.sum).text);
    if (s.sum > (double)last)
        tell_say(out, "min(count, %" PRId64 ") = %" PRId64 "\n", last, last);
    const char *name = p->tensor[p->count.table].name;
    tell_say(out, "q_%" PRId64 " · (%s · %s[%.0f] + %s · %s[%.0f])", of->q_at[0], tell_number(1 - (count - low)).text,
             name, low, tell_number(count - low).text, name, low + 1);
    return count_term(&s);
}

double tell_one(const told *what, pe_params w, const tell_of *of, tell *out)
{
    switch (what->kind) {
    case TOLD_EMBED: return embed_one(what->part, w, of, out);
    case TOLD_BIAS: return bias_one(what->part, w, of, out);
    case TOLD_TERM: return term_one(what, w, of, out);
    case TOLD_COUNT: return count_one(what->part, w, of, out);
    }
    return 0;
}

/* ------------------------------------------------ turns, and the scale */

void tell_pair(const pe_encoding *e, const int64_t *at, int64_t n, tell *out)
{
    const part *p = turning(e, PE_QUERY);
    if (p && p->row->tell_pair)
        p->row->tell_pair(p, at, n, out);
}

/* 1/sqrt(head_dim), or that of the last part that has one; then the factors of all. */
void tell_scale(const pe_encoding *e, tell *out)
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
}
