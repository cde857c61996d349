/* SPDX-License-Identifier: MIT
 *
 * posenc list: the registry. What is printed of an encoding is asked of the encoding, so it cannot differ from what is
 * computed. */
#include "cli/array.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

static const cli_option options[] = {
    CLI_OPTIONS_RESULT,
};
static const cli_example examples[] = {
    { "posenc list", "every encoding by idea: what it does, where it acts, who published it; when to choose which" },
    { "posenc list rope", "one encoding in full: keys with ranges and defaults, formula, models, examples" },
    { "posenc list --json", "the same as data, for programs" },
    { "posenc list --as md", "the table of docs/encodings.md" },
};

static const pe_info *find_row(const char *name)
{
    for (int i = 0; i < pe_info_count(); i++)
        if (!strcmp(pe_info_at(i)->name, name))
            return pe_info_at(i);
    return NULL;
}

/* Is name one of the names in a row's models? Names have a capital; the words between them do not. */
static bool is_model(const char *models, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = models; n && *at; at++) {
        bool whole = (at == models || !isalnum((unsigned char)at[-1])) && !strncasecmp(at, name, n) &&
                     !isalnum((unsigned char)at[n]);
        for (size_t i = 0; whole && i < n; i++)
            if (isupper((unsigned char)at[i]))
                return true;
    }
    return false;
}

/* "alibi, rope": the rows that models of this name use; "" for none. */
static void rows_of_model(char *out, size_t cap, const char *name)
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < pe_info_count(); i++)
        if (is_model(pe_info_at(i)->models, name) && used < cap)
            used += (size_t)snprintf(out + used, cap - used, "%s%s", used ? ", " : "", pe_info_at(i)->name);
}

/* The library knows what a wrong name may have meant. */
static cli_exit unknown_row(const cli_args *a, const char *name)
{
    char rows[400];
    pe_encoding *e;
    pe_error err;
    rows_of_model(rows, sizeof rows, name);
    if (*rows)
        return cli_fail(a, CLI_USAGE, "no encoding is called %s; models of that name use: %s", name, rows);
    if (pe_encoding_new(&e, name, (pe_shape){ .heads = 8, .head_dim = 64 }, &err))
        return cli_fail(a, CLI_USAGE, "%s", err.text);
    pe_encoding_free(e);
    return cli_fail(a, CLI_USAGE, "%s is a spec; give the name of one encoding", name);
}

/* ---------------------------------------------------------------- keys and parameters */

/* The table of all encodings has no room for the details of each. */
static void end_details(result *out, bool in_full)
{
    result_close(out);
    if (!in_full)
        result_hide(out);
}

/* Whole numbers in full, others to three digits: bounds are to be read here, not to be copied. */
static void bound_text(char out[40], double x)
{
    if (fabs(x) < 1e12 && x == floor(x))
        io_print_real(out, 40, x);
    else
        snprintf(out, 40, "%.3g", x);
}

/* "a whole number, 1 to 64; default 2; with scaling=yarn" */
static void range_text(char *out, size_t cap, const pe_key *k)
{
    static const char *const kind[] = { "a whole number,", "a number,", "", "a list a/b/c, each" };
    char low[40], high[40];
    bound_text(low, k->min);
    bound_text(high, k->max);
    bool choice = k->kind == PE_KEY_CHOICE;
    snprintf(out, cap, "%s%s%s%s%s%s%s%s%s", choice ? k->choices : kind[k->kind], choice ? "" : " ", choice ? "" : low,
             choice ? "" : " to ", choice ? "" : high,
             k->required    ? "; required"
             : *k->fallback ? "; default "
                            : "",
             k->fallback, k->when ? "; with " : "", k->when ? k->when : "");
}

/* A default that follows from the shape or from other keys, or that does not exist, is null; so are the bounds of a
 * choice. */
static void add_key(result *out, const pe_key *k)
{
    static const char *const kind[] = { "int", "real", "choice", "list" };
    bool number = k->kind != PE_KEY_CHOICE;
    char range[600];
    range_text(range, sizeof range, k);
    result_open(out, RESULT_RECORD, NULL, k->name);
    result_shown(out, "%s\n%s", range, k->help);
    result_text(out, "name", NULL, k->name);
    result_text(out, "kind", NULL, kind[k->kind]);
    result_text(out, "default", NULL, *k->fallback ? k->fallback : NULL);
    result_real(out, "min", NULL, number ? k->min : (double)NAN);
    result_real(out, "max", NULL, number ? k->max : (double)NAN);
    result_words(out, "choices", NULL, k->choices);
    result_text(out, "when", NULL, k->when);
    result_text(out, "help", NULL, k->help);
    result_words(out, "also", NULL, k->also);
    result_flag(out, "required", NULL, k->required);
    result_close(out);
}

static void add_tensor(result *out, const pe_tensor *t)
{
    char shape[160];
    io_array a = { .rank = t->rank };
    for (int i = 0; i < t->rank; i++)
        a.shape[i] = t->shape[i];
    array_shape(shape, &a);
    result_open(out, RESULT_RECORD, NULL, t->name);
    result_shown(out, "%s%s%s", shape, t->about ? ": " : "", t->about ? t->about : "");
    result_text(out, "name", NULL, t->name);
    result_ints(out, "shape", t->shape, t->rank);
    result_text(out, "about", NULL, t->about);
    result_flag(out, "projected", NULL, t->projected);
    result_real(out, "min", NULL, t->min);
    result_real(out, "max", NULL, t->max);
    result_real(out, "rate", NULL, t->rate);
    result_real(out, "decay", NULL, t->decay);
    result_close(out);
}

/* With 8 heads of 64 and the defaults: where it enters the score, and what it learns. */
static void add_example(result *out, const pe_info *row, bool in_full)
{
    pe_encoding *e = NULL;
    if (pe_encoding_new(&e, row->name, (pe_shape){ .heads = 8, .head_dim = 64 }, NULL))
        return;
    bool instead = pe_encoding_replaces(e);
    unsigned before = pe_encoding_hooks_at(e, PE_BEFORE_SCALE), after = pe_encoding_hooks_at(e, PE_AFTER_SCALE);
    result_real(out, "scale_at_head_dim_64", in_full ? "scale" : NULL, pe_encoding_scale(e));
    result_shown(out, "%s at head dimension 64%s", result_number(pe_encoding_scale(e)).text,
                 instead  ? "; its term replaces q.k, before the scale"
                 : before ? "; its term is added before the scale"
                 : after  ? "; its term is added after the scale"
                          : "");
    result_bits(out, "before_scale", NULL, before, pe_hook_name);
    result_bits(out, "after_scale", NULL, after, pe_hook_name);
    result_open(out, RESULT_LIST, "tensors",
                pe_encoding_tensor_count(e) ? "Learned parameters, with 8 heads of 64, in the order of the block"
                                            : NULL);
    for (int i = 0; i < pe_encoding_tensor_count(e); i++)
        add_tensor(out, pe_encoding_tensor(e, i));
    end_details(out, in_full);
    pe_encoding_free(e);
}

/* ---------------------------------------------------------------- an encoding */

static void add_paper(result *out, const pe_info *r)
{
    char address[80];
    snprintf(address, sizeof address, "https://arxiv.org/abs/%.40s", r->arxiv);
    result_text(out, "paper", "paper", r->paper);
    if (*r->arxiv) {
        result_shown(out, "%s, arXiv:%s", r->paper, r->arxiv);
        result_link(out, address);
    }
    result_text(out, "arxiv", NULL, *r->arxiv ? r->arxiv : NULL);
}

static void add_key_roles(result *out, const pe_info *r)
{
    result_text(out, "key_trained", NULL, r->key_trained);
    result_text(out, "key_length", NULL, r->key_length);
    result_text(out, "key_ahead", NULL, r->key_ahead);
    result_words(out, "key_factor", NULL, r->key_factor);
    result_text(out, "trained_as", NULL, r->trained_as);
    result_text(out, "key_work", NULL, r->key_work);
}

static void add_keys(result *out, const pe_info *r, bool in_full)
{
    result_open(out, RESULT_LIST, "keys", "Keys");
    for (int i = 0; i < r->key_count; i++)
        add_key(out, pe_info_key(r, i));
    end_details(out, in_full);
}

static void add_specs(result *out, const pe_info *r, bool in_full)
{
    result_open(out, RESULT_LIST, "examples", "Examples");
    for (int i = 0; i < r->example_count; i++)
        result_code(out, NULL, r->examples[i]);
    end_details(out, in_full);
}

/* A row of the table of all encodings, or one in full. */
static void add_row(result *out, const pe_info *r, bool in_full)
{
    result_open(out, RESULT_RECORD, NULL, "");
    result_text(out, "name", "name", r->name);
    result_is_code(out);
    result_text(out, "idea", in_full ? "idea" : NULL, pe_idea_name(r->idea));
    result_bits(out, "hooks", "acts on", r->hooks, pe_hook_name);
    add_paper(out, r);
    result_text(out, "summary", "what it does", r->summary);
    if (!in_full)
        result_below(out);
    result_text(out, "formula", in_full ? "formula" : NULL, r->formula);
    result_bits(out, "claims", "promises", r->claims, pe_claim_name);
    if (!in_full)
        result_wide(out);
    result_words(out, "models", "used by", r->models);
    if (!in_full)
        result_wide(out);
    result_words(out, "also", NULL, r->also);
    add_key_roles(out, r);
    add_example(out, r, in_full);
    add_keys(out, r, in_full);
    add_specs(out, r, in_full);
    result_close(out);
}

static int count_rows(pe_idea idea)
{
    int count = 0;
    for (int i = 0; i < pe_info_count(); i++)
        count += pe_info_at(i)->idea == idea;
    return count;
}

/* "rotation", or its Chinese: the word alone has other meanings too. */
static words_text idea_label(pe_idea idea, language l)
{
    char under[60];
    snprintf(under, sizeof under, "idea|%s", pe_idea_name(idea));
    return l == CHINESE ? words_translate(under, l) : words_translate(pe_idea_name(idea), l);
}

/* One table for each idea; for programs their rows are one list. */
static void add_groups(result *out, language l)
{
    result_open(out, RESULT_LIST, "encodings", "");
    result_rows(out);
    for (pe_idea idea = PE_IDEA_NONE; pe_idea_name(idea); idea++) {
        if (!count_rows(idea))
            continue;
        result_open(out, RESULT_TABLE, NULL, idea_label(idea, l).text);
        for (int i = 0; i < pe_info_count(); i++)
            if (pe_info_at(i)->idea == idea)
                add_row(out, pe_info_at(i), false);
        result_close(out);
    }
    result_close(out);
}

static void add_ideas(result *out, language l)
{
    result_open(out, RESULT_LIST, "ideas", "When to choose which");
    for (pe_idea idea = PE_IDEA_NONE; pe_idea_name(idea); idea++) {
        result_open(out, RESULT_RECORD, NULL, idea_label(idea, l).text);
        result_shown(out, "%s", pe_idea_advice(idea));
        result_text(out, "idea", NULL, pe_idea_name(idea));
        result_text(out, "advice", NULL, pe_idea_advice(idea));
        result_close(out);
    }
    result_close(out);
}

static cli_exit list_verb(const cli_args *a, result *out)
{
    const pe_info *only = a->operands ? find_row(a->operand[0]) : NULL;
    if (a->operands && !only)
        return unknown_row(a, a->operand[0]);
    result_title(out, 0, "%s", only ? only->name : "Position encodings for Transformers");
    result_text(out, "version", NULL, pe_version());
    result_bits(out, "hooks", NULL, ~0u, pe_hook_name);
    result_bits(out, "claims", NULL, ~0u, pe_claim_name);
    if (!only) {
        add_groups(out, cli_language(a));
        add_ideas(out, cli_language(a));
    } else {
        result_open(out, RESULT_LIST, "encodings", "");
        add_row(out, only, true);
        result_close(out);
    }
    if (!only)
        result_text(out, NULL, "",
                    "posenc list NAME shows one encoding in full: its keys, defaults, formula and models.");
    return CLI_OK;
}

const cli_verb cli_verb_list = {
    .name = "list",
    .summary = "list all encodings, or describe one in full",
    .operands = "[NAME]",
    .operands_max = 1,
    CLI_TABLES(options, examples),
    .run = list_verb,
};
