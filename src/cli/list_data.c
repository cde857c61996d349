/* SPDX-License-Identifier: MIT
 *
 * The registry for programs and for README.md. */
#include "io/json_out.h"
#include "cli/list.h"

#include <math.h>
#include <string.h>

static void json_bits(json_out *j, const char *key, unsigned bits, const char *(*name)(unsigned))
{
    out_open(j, key, '-');
    for (int i = 0; i < 32; i++)
        if (bits & 1u << i && name(1u << i))
            out_text(j, NULL, name(1u << i));
    out_close(j, '-');
}

/* "a|b" as an array. */
static void json_words(json_out *j, const char *key, const char *words)
{
    char item[128];
    out_open(j, key, '-');
    for (int i = 0; words && *words && cli_item(words, i, item, sizeof item); i++)
        out_text(j, NULL, item);
    out_close(j, '-');
}

/* A default that follows from the shape or from other keys, or that does not exist, is null; so are the bounds of a
 * choice. */
static void json_key(json_out *j, const pe_key *k)
{
    static const char *const kind[] = { "int", "real", "choice", "list" };
    bool number = k->kind != PE_KEY_CHOICE;
    out_open(j, NULL, '{');
    out_text(j, "name", k->name);
    out_text(j, "kind", kind[k->kind]);
    out_text(j, "default", *k->fallback ? k->fallback : NULL);
    out_real(j, "min", number ? k->min : (double)NAN);
    out_real(j, "max", number ? k->max : (double)NAN);
    json_words(j, "choices", k->choices);
    out_text(j, "when", k->when);
    out_text(j, "help", k->help);
    json_words(j, "also", k->also);
    out_bool(j, "required", k->required);
    out_close(j, '}');
}

static void json_tensors(json_out *j, const pe_encoding *e)
{
    out_open(j, "tensors", '[');
    for (int i = 0; i < pe_encoding_tensor_count(e); i++) {
        const pe_tensor *t = pe_encoding_tensor(e, i);
        out_open(j, NULL, '{');
        out_text(j, "name", t->name);
        out_ints(j, "shape", t->shape, t->rank);
        out_text(j, "about", t->about);
        out_bool(j, "projected", t->projected);
        out_real(j, "min", t->min);
        out_real(j, "max", t->max);
        out_close(j, '}');
    }
    out_close(j, ']');
}

pe_encoding *list_example(const pe_info *row)
{
    pe_encoding *e = NULL;
    pe_encoding_new(&e, row->name, (pe_shape){ .heads = 8, .head_dim = 64 }, NULL);
    return e;
}

/* Where it enters the score, and what it learns. */
static void json_example(json_out *j, const pe_info *r)
{
    pe_encoding *e = list_example(r);
    if (!e)
        return;
    out_real(j, "scale_at_head_dim_64", pe_encoding_scale(e));
    json_bits(j, "before_scale", pe_encoding_hooks_at(e, PE_BEFORE_SCALE), pe_hook_name);
    json_bits(j, "after_scale", pe_encoding_hooks_at(e, PE_AFTER_SCALE), pe_hook_name);
    json_tensors(j, e);
    pe_encoding_free(e);
}

static void json_row(json_out *j, const pe_info *r)
{
    out_open(j, NULL, '{');
    out_text(j, "name", r->name);
    out_text(j, "summary", r->summary);
    out_text(j, "formula", r->formula);
    out_text(j, "paper", r->paper);
    out_text(j, "arxiv", *r->arxiv ? r->arxiv : NULL);
    json_words(j, "models", r->models);
    json_words(j, "also", r->also);
    json_bits(j, "hooks", r->hooks, pe_hook_name);
    json_bits(j, "claims", r->claims, pe_claim_name);
    out_text(j, "key_trained", r->key_trained);
    out_text(j, "key_length", r->key_length);
    out_text(j, "key_ahead", r->key_ahead);
    json_words(j, "key_factor", r->key_factor);
    out_text(j, "trained_as", r->trained_as);
    out_text(j, "key_work", r->key_work);
    json_example(j, r);
    out_open(j, "keys", '[');
    for (int i = 0; i < r->key_count; i++)
        json_key(j, pe_info_key(r, i));
    out_close(j, ']');
    out_open(j, "examples", '[');
    for (int i = 0; i < r->example_count; i++)
        out_text(j, NULL, r->examples[i]);
    out_close(j, ']');
    out_close(j, '}');
}

void list_json(const pe_info *only)
{
    json_out j = out_start(stdout);
    out_open(&j, NULL, '{');
    out_text(&j, "version", pe_version());
    json_bits(&j, "hooks", ~0u, pe_hook_name);
    json_bits(&j, "claims", ~0u, pe_claim_name);
    out_open(&j, "encodings", '[');
    for (int i = 0; i < pe_info_count(); i++)
        if (!only || only == pe_info_at(i))
            json_row(&j, pe_info_at(i));
    out_close(&j, ']');
    out_close(&j, '}');
}

/* A bar would end the cell, and * or _ would set type. */
static void markdown_cell(const char *text)
{
    fputs(" ", stdout);
    for (; *text; text++) {
        if (strchr("|*_<", *text))
            putchar('\\');
        putchar(*text);
    }
    fputs(" |", stdout);
}

static void markdown_row(const pe_info *r)
{
    char hooks[64];
    list_bits(hooks, sizeof hooks, r->hooks, pe_hook_name, ", ");
    printf("| `%s` |", r->name);
    markdown_cell(r->summary);
    markdown_cell(hooks);
    if (*r->arxiv)
        printf(" [%s](https://arxiv.org/abs/%s) |", r->paper, r->arxiv);
    else
        markdown_cell(r->paper);
    char models[400];
    list_words(models, sizeof models, r->models);
    markdown_cell(models);
    putchar('\n');
}

void list_markdown(const pe_info *only)
{
    puts("| name | what it does | hooks | paper | used by |");
    puts("|---|---|---|---|---|");
    for (int i = 0; i < pe_info_count(); i++)
        if (!only || only == pe_info_at(i))
            markdown_row(pe_info_at(i));
}
