/* SPDX-License-Identifier: MIT
 *
 * posenc diff, for people and for programs. */
#include "cli/diff_model.h"
#include "io/json_out.h"
#include "cli/page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define INDENT 16

/* ---------------------------------------------------------------- for people */

static void length_text(const char *label, int64_t a, int64_t b)
{
    char x[24] = "not said", y[24] = "not said";
    if (a == b)
        return;
    if (a > 0)
        snprintf(x, sizeof x, "%" PRId64, a);
    if (b > 0)
        snprintf(y, sizeof y, "%" PRId64, b);
    page_field(label, INDENT, "%s | %s", x, y);
}

static void at_text(const diff_result *r)
{
    printf("\n  %10s  %14s  %6s  %14s\n", "position", "angle (rad)", "pair", "cos, sin, bias");
    for (int i = 0; i < r->ats; i++) {
        const diff_at *at = &r->at[i];
        printf("  %10" PRId64 "  ", at->position);
        if (at->pair < 0)
            printf("%14s  %6s", "-", "-");
        else
            printf("%14s  %6" PRId64, page_number(at->angle).text, at->pair);
        printf("  %14s\n", isnan(at->number) ? "-" : page_number(at->number).text);
    }
}

static void class_text(const diff_class *c, int64_t layers)
{
    const diff_result *r = &c->result;
    bool window = c->window_a != c->window_b;
    bool every = true;
    for (int64_t n = 0; n < layers; n++)
        every = every && c->in[n];
    page_title("%s%s: %s", every ? "Every layer" : "Layers ", every ? "" : page_ranges(c->in, layers).text,
               !diff_same(r) || window ? "different"
               : r->layout             ? "the same but for the pair layout"
               : r->cache              ? "the same but for where turned elements are written"
               : r->keys               ? "the same up to rounding"
                                       : "the same");
    for (int i = 0; i < r->keys; i++)
        page_field(r->key[i].key, INDENT, "%s | %s", r->key[i].a, r->key[i].b);
    if (window)
        page_field("window", INDENT, "%" PRId64 " | %" PRId64, c->window_a, c->window_b);
    bool any = false;
    for (int i = 0; i < r->ats; i++)
        any = any || r->at[i].pair >= 0 || !isnan(r->at[i].number);
    if ((r->numbers || r->rounding > 0) && any && !c->again)
        at_text(r);
}

static void head_text(char letter, const zoo_model *m, const zoo_part *p)
{
    printf("%c  ", letter);
    page_print(m->path, (int)strlen(m->path));
    printf(": %s, ", m->format);
    page_print(p->type, (int)strlen(p->type));
    putchar('\n');
}

void diff_text(const diff_model *d)
{
    head_text('A', d->a, d->part_a);
    head_text('B', d->b, d->part_b);
    length_text("trained", d->part_a->trained, d->part_b->trained);
    length_text("served", d->part_a->served, d->part_b->served);
    if (d->part_a->layers != d->part_b->layers)
        page_field("layers", INDENT, "%" PRId64 " | %" PRId64, d->part_a->layers, d->part_b->layers);
    for (int i = 0; i < d->classes; i++)
        class_text(&d->class[i], d -> layers);
}

/* ---------------------------------------------------------------- for programs */

static void side_json(json_out *j, const char *key, const zoo_model *m, const zoo_part *p)
{
    out_open(j, key, '{');
    out_text(j, "file", m->path);
    out_text(j, "format", m->format);
    out_text(j, "type", p->type);
    out_int(j, "layers", p->layers);
    out_int(j, "trained", p->trained);
    out_int(j, "served", p->served);
    out_close(j, '}');
}

static void keys_json(json_out *j, const diff_result *r)
{
    out_open(j, "keys", '[');
    for (int i = 0; i < r->keys; i++) {
        out_open(j, NULL, '{');
        out_text(j, "key", r->key[i].key);
        out_text(j, "a", r->key[i].a);
        out_text(j, "b", r->key[i].b);
        out_close(j, '}');
    }
    out_close(j, ']');
    out_open(j, "at", '[');
    for (int i = 0; i < r->ats; i++) {
        out_open(j, NULL, '{');
        out_int(j, "position", r->at[i].position);
        out_real(j, "angle", r->at[i].angle);
        out_int(j, "pair", r->at[i].pair);
        out_real(j, "number", r->at[i].number);
        out_close(j, '}');
    }
    out_close(j, ']');
}

static void class_json(json_out *j, const diff_model *d, const diff_class *c)
{
    out_open(j, NULL, '{');
    out_open(j, "layers", '-');
    for (int64_t n = 0; n < d->layers; n++)
        if (c->in[n])
            out_int(j, NULL, n);
    out_close(j, '-');
    out_text(j, "spec_a", d->part_a->group[c->a].spec);
    out_text(j, "spec_b", d->part_b->group[c->b].spec);
    out_int(j, "window_a", c->window_a);
    out_int(j, "window_b", c->window_b);
    out_bool(j, "same", diff_same(&c->result) && c->window_a == c->window_b);
    out_bool(j, "same_layout", !c->result.layout);
    out_bool(j, "same_cache_layout", !c->result.cache);
    keys_json(j, &c->result);
    out_close(j, '}');
}

void diff_json(const diff_model *d, bool same, const char *verdict)
{
    json_out j = out_start(stdout);
    out_open(&j, NULL, '{');
    out_text(&j, "verb", "diff");
    side_json(&j, "a", d->a, d->part_a);
    side_json(&j, "b", d->b, d->part_b);
    out_bool(&j, "same", same);
    out_text(&j, "verdict", verdict);
    out_open(&j, "groups", '[');
    for (int i = 0; i < d->classes; i++)
        class_json(&j, d, &d->class[i]);
    out_close(&j, ']');
    out_close(&j, '}');
}
