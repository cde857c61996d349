/* SPDX-License-Identifier: MIT */
#include "cli/convert.h"
#include "cli/page.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define SIMILAR 4
#define NAME 48 /* columns */

void convert_similar(char *out, size_t cap, const io_safetensors *st)
{
    static const char *const words[] = { "att", "query", "q_", "wq", "qkv", "" };
    size_t used = 0;
    int found = 0;
    out[0] = 0;
    for (size_t w = 0; w < sizeof words / sizeof words[0] && !found; w++)
        for (size_t i = 0; i < io_safetensors_count(st) && found < SIMILAR; i++) {
            const char *name = io_safetensors_at(st, i)->name;
            if (!strstr(name, words[w]) || used >= cap)
                continue;
            used += (size_t)snprintf(out + used, cap - used, "%s%.80s", found ? ", " : "", name);
            found++;
        }
}

/* Tensors of no known name that may be q or k all the same: "a, b and 3 more". */
static void list_left(char *out, size_t cap, const io_pairs_plan *plan)
{
    size_t used = 0, shown = 0;
    out[0] = 0;
    for (size_t i = 0; i < plan->count && shown < SIMILAR; i++)
        if (plan->item[i].left && used < cap)
            used +=
                (size_t)snprintf(out + used, cap - used, "%s%.80s", shown++ ? ", " : "", plan->item[i].tensor->name);
    if (plan->left > shown && used < cap)
        snprintf(out + used, cap - used, " and %zu more", plan->left - shown);
}

static io_array shape_of(const io_tensor *t)
{
    io_array a = { .type = t->type, .rank = t->rank };
    memcpy(a.shape, t->shape, sizeof a.shape);
    return a;
}

static void map_json(json_out *out, const io_pairs_map *m)
{
    out_int(out, "head_dim", m->head_dim);
    out_int(out, "first", m->first);
    out_int(out, "dims", m->dims);
}

static void plan_json(json_out *out, const io_pairs_plan *plan)
{
    out_int(out, "tensors", (int64_t)plan->count);
    out_int(out, "permuted", (int64_t)plan->turned);
    out_text(out, "passed_over", plan->passed_over);
    out_open(out, "left_alone", '[');
    for (size_t i = 0; i < plan->count; i++)
        if (plan->item[i].left)
            out_text(out, NULL, plan->item[i].tensor->name);
    out_close(out, ']');
    out_open(out, "list", '[');
    for (size_t i = 0; i < plan->count; i++) {
        const io_pairs_item *x = &plan->item[i];
        if (!x->map.rows)
            continue;
        out_open(out, NULL, '{');
        out_text(out, "name", x->tensor->name);
        out_text(out, "role", x->role);
        out_ints(out, "shape", x->tensor->shape, x->tensor->rank);
        out_text(out, "dtype", io_type_name(x->tensor->type));
        map_json(out, &x->map);
        out_close(out, '}');
    }
    out_close(out, ']');
}

static void print_json(const convert_job *j)
{
    json_out out = out_start(stdout);
    out_open(&out, NULL, '{');
    out_text(&out, "verb", j->args->verb->name);
    out_text(&out, "in", j->in);
    out_text(&out, "from", io_pairs_name(j->facts.from));
    out_text(&out, "to", io_pairs_name(j->facts.to));
    if (j->st)
        plan_json(&out, &j->plan);
    else {
        out_ints(&out, "shape", j->array.shape, j->array.rank);
        out_text(&out, "dtype", io_type_name(j->array.type));
        map_json(&out, &j->map);
    }
    out_text(&out, "out", j->out);
    out_close(&out, '}');
}

static void print_row(const char *name, const char *role, const io_array *a, const io_pairs_map *m)
{
    char shape[160];
    array_shape(shape, a);
    fputs("  ", stdout);
    int wide = page_print(name, INT_MAX);
    printf("%*s  %-8s  %s %s: rows %" PRId64 " to %" PRId64 " of each %" PRId64 "\n", wide < NAME ? NAME - wide : 0, "",
           role, shape, io_type_name(a->type), m->first, m->first + m->dims - 1, m->head_dim);
}

static void print_rows(const convert_job *j)
{
    page_print(j->in, INT_MAX);
    printf(", %s to %s: would permute\n", io_pairs_name(j->facts.from), io_pairs_name(j->facts.to));
    if (!j->st)
        print_row("the last axis", "", &j->array, &j->map);
    for (size_t i = 0; i < j->plan.count; i++) {
        const io_pairs_item *x = &j->plan.item[i];
        io_array shape = shape_of(x->tensor);
        if (x->map.rows)
            print_row(x->tensor->name, x->role, &shape, &x->map);
    }
    if (j->st)
        printf("%zu of %zu tensors\n", j->plan.turned, j->plan.count);
}

static void say(const convert_job *j)
{
    const char *from = io_pairs_name(j->facts.from), *to = io_pairs_name(j->facts.to);
    const char *replaced = strcmp(j->in, j->out) ? "wrote" : "replaced";
    if (!j->st)
        cli_note(j->args, "%s %s: %s to %s", replaced, j->out, from, to);
    else if (!j->plan.turned)
        cli_note(j->args, "%s %s: a copy, for this shard holds no q and no k", replaced, j->out);
    else
        cli_note(j->args, "%s %s: %zu of %zu tensors, %s to %s", replaced, j->out, j->plan.turned, j->plan.count, from,
                 to);
}

void convert_report(const convert_job *j)
{
    char left[480];
    if (cli_given(j->args, "json"))
        print_json(j);
    else if (!j->out)
        print_rows(j);
    else
        say(j);
    if (j->plan.passed_over)
        cli_note(j->args, "left alone, as part of another attention: %.200s and the like (--tensors chooses by name)",
                 j->plan.passed_over);
    list_left(left, sizeof left, &j->plan);
    if (j->plan.left)
        cli_note(j->args, "left alone: %s: of no known name, though by it a q or k (--tensors chooses by name)", left);
}
