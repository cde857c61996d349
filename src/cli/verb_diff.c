/* SPDX-License-Identifier: MIT
 *
 * posenc diff: do two models' files compute the same? */
#include "cli/diff.h"
#include "cli/job.h"
#include "cli/model.h"

#include "zoo/build.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    { "at", 0, CLI_TEXT, "LIST", NULL, 0, 0, "positions to compare at: 1,100,4k,128k" },
    { "ignore-layout", 0, CLI_FLAG, NULL, NULL, 0, 0, "do not report a different pair layout as a difference" },
    { "heads", 0, CLI_INT, "N", NULL, 1, 65536, "number of heads for a spec; default: as in the other model, or 8" },
    CLI_OPTIONS_MODEL,
    CLI_OPTIONS_RESULT,
};
static const cli_example examples[] = {
    { "posenc diff config.json model.gguf", "does the conversion compute what the config says?" },
    { "posenc diff config.json config.json --at 1,4k,128k", "compare at these positions" },
    { "posenc diff rope:theta=10000 rope --head-dim 128", "two specs, without a file" },
    { "posenc diff config.json config.json --json", "the same as data" },
};

/* ---------------------------------------------------------------- two sides */

/* A word that names no file and reads as a spec is one. */
static bool is_spec(const char *word)
{
    return access(word, F_OK) != 0 && zoo_spec_row(word);
}

static pe_shape spec_shape(const cli_args *a, const zoo_part *like, int64_t layer)
{
    pe_shape s = { .heads = 8, .head_dim = 64 };
    if (like)
        s = like->group[like->layer[layer].group].shape;
    if (cli_given(a, "heads"))
        s = (pe_shape){ .heads = cli_int(a, "heads"), .head_dim = s.head_dim };
    if (cli_given(a, "head-dim"))
        s = (pe_shape){ .heads = s.heads, .head_dim = cli_int(a, "head-dim") };
    return s;
}

/* A spec stands for a model of which every layer does that; windows, which no spec has, are the other side's. */
static pe_status from_spec(zoo_model **out, const cli_args *a, const char *spec, const zoo_model *other, pe_error *err)
{
    const zoo_part *like = other ? &other->part[0] : NULL;
    zoo_builder *b = zoo_begin(spec, "spec", NULL, err);
    zoo_part *p = NULL;
    if (!b)
        return PE_ERR_NOMEM;
    pe_status s = zoo_add_part(b, &p, "", zoo_spec_row(spec)->name, like ? like->layers : 1);
    for (int64_t n = 0; !s && n < p->layers; n++)
        s = zoo_set_layer(b, p, n, spec, spec_shape(a, like, n), NULL, like ? like->layer[n].window : 0);
    double trained = zoo_spec_num(spec, "trained");
    if (!s && trained > 0)
        p->trained = (int64_t)trained;
    return zoo_finish(out, b, s);
}

static cli_exit open_side(zoo_model **out, const cli_args *a, const char *word, const zoo_model *other)
{
    pe_error err;
    pe_encoding *none;
    if (!is_spec(word) && (strpbrk(word, "./") || access(word, F_OK) == 0))
        return model_open(out, a, word);
    if (!is_spec(word)) { /* for the sentence that says which encoding may be meant */
        pe_encoding_new(&none, word, (pe_shape){ .heads = 1, .head_dim = 2 }, &err);
        pe_encoding_free(none);
        return cli_fail(a, CLI_USAGE, "%s is no file, and no spec: %s", word, err.text);
    }
    if (from_spec(out, a, word, other, &err))
        return cli_fail_from(a, CLI_USAGE, NULL, &err);
    return CLI_OK;
}

/* Files first: a spec takes its shape from the other side. */
static cli_exit open_both(zoo_model *side[2], const cli_args *a)
{
    for (int files = 1; files >= 0; files--)
        for (int i = 0; i < 2; i++)
            if (is_spec(a->operand[i]) != files)
                CLI_TRY(open_side(&side[i], a, a->operand[i], side[1 - i]));
    return CLI_OK;
}

static cli_exit read_positions(diff_model *d, const cli_args *a)
{
    const char *text = cli_text(a, "at");
    char word[32];
    for (; text && *text; text += *text == ',') {
        size_t n = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)n, text);
        if (n >= sizeof word || !cli_read_int(word, &d->at[d->ats]) || d->at[d->ats] < 0 ||
            d->at[d->ats] > PE_POSITION_MAX)
            return cli_fail(a, CLI_USAGE, "--at has %.40s; needs positions from 0 to 2^36, such as 1,100,4k", word);
        if (++d->ats == DIFF_AT_MAX && text[n])
            return cli_fail(a, CLI_USAGE, "--at has more than %d positions", DIFF_AT_MAX);
        text += n;
    }
    return CLI_OK;
}

/* ---------------------------------------------------------------- the result */

static void add_side(result *out, const char *name, const char *label, const zoo_model *m, const zoo_part *p)
{
    result_open(out, RESULT_RECORD, name, label);
    result_shown(out, "%s: %s, %s", m->path, m->format, p->type);
    result_text(out, "file", NULL, m->path);
    result_text(out, "format", NULL, m->format);
    result_text(out, "type", NULL, p->type);
    result_int(out, "layers", NULL, p->layers);
    result_int(out, "trained", NULL, p->trained);
    result_int(out, "served", NULL, p->served);
    result_close(out);
}

/* What both sides have, for people, where it differs; -1 and less: not known. */
static void add_difference(result *out, const char *label, int64_t a, int64_t b)
{
    if (a != b)
        result_say(out, NULL, label, "%s | %s", a < 0 ? "not in the file" : result_number((double)a).text,
                   b < 0 ? "not in the file" : result_number((double)b).text);
}

static void add_keys(result *out, const diff_result *r)
{
    result_open(out, RESULT_LIST, "keys", r->keys ? "" : NULL);
    for (int i = 0; i < r->keys; i++) {
        const diff_key *k = &r->key[i];
        result_open(out, RESULT_RECORD, NULL, k->key);
        result_shown(out, "%s | %s", k->a, k->b);
        result_text(out, "key", NULL, k->key);
        result_text(out, "a", NULL, k->a);
        result_text(out, "b", NULL, k->b);
        result_close(out);
    }
    result_close(out);
}

static void add_positions(result *out, const diff_result *r, bool shown)
{
    bool any = false;
    result_open(out, RESULT_TABLE, "at", "");
    for (int i = 0; i < r->ats; i++) {
        const diff_at *at = &r->at[i];
        result_open(out, RESULT_RECORD, NULL, "");
        result_int(out, "position", "position", at->position);
        result_real(out, "angle", "angle (rad)", at->angle);
        if (at->pair < 0)
            result_shown(out, "-");
        result_int(out, "pair", "pair", at->pair);
        if (at->pair < 0)
            result_shown(out, "-");
        result_real(out, "number", "cos, sin, bias", at->number);
        result_close(out);
        any = any || at->pair >= 0 || !isnan(at->number);
    }
    result_close(out);
    if (!any || !shown)
        result_hide(out);
}

static void add_class(result *out, const diff_model *d, const diff_class *c)
{
    const diff_result *r = &c->result;
    result_open(out, RESULT_RECORD, NULL,
                !c->same    ? "Different"
                : r->layout ? "The same but for the pair layout"
                : r->cache  ? "The same but for where rotated elements are written"
                : r->keys   ? "The same up to rounding"
                            : "The same");
    result_ranges(out, "layers", "layers", c->in, d->layers);
    result_text(out, "spec_a", NULL, d->part_a->group[c->a].spec);
    result_text(out, "spec_b", NULL, d->part_b->group[c->b].spec);
    result_int(out, "window_a", NULL, c->window_a);
    result_int(out, "window_b", NULL, c->window_b);
    result_flag(out, "same", NULL, c->same);
    result_flag(out, "same_layout", NULL, !r->layout);
    result_flag(out, "same_cache_layout", NULL, !r->cache);
    add_keys(out, r);
    add_difference(out, "window", c->window_a, c->window_b);
    add_positions(out, r, (r->numbers || r->rounding > 0) && !c->again);
    result_close(out);
}

static const char *verdict(const diff_model *d, bool allowed)
{
    if (!d->same)
        return "different";
    if (!d->layout && d->cache)
        return "same; layouts differ only in the K cache, where rotated keys are written: weights need no change";
    if (!d->layout)
        return "same";
    return allowed
               ? "same; layouts differ: scores are equal only if the q and k weights were permuted (as converters to "
                 "GGUF do; posenc convert)"
               : "different: layouts differ; scores are equal only if the q and k weights are permuted (posenc "
                 "convert), and --ignore-layout takes that for granted";
}

static void add_models(result *out, const diff_model *d, bool same, bool allowed)
{
    const zoo_part *a = d->part_a, *b = d->part_b;
    result_title(out, 0, "%s | %s", d->a->path, d->b->path);
    result_text(out, "verb", NULL, "diff");
    add_side(out, "a", "A", d->a, a);
    add_side(out, "b", "B", d->b, b);
    add_difference(out, "trained", a->trained > 0 ? a->trained : -1, b->trained > 0 ? b->trained : -1);
    add_difference(out, "served", a->served > 0 ? a->served : -1, b->served > 0 ? b->served : -1);
    add_difference(out, "layers", a->layers, b->layers);
    result_open(out, RESULT_LIST, "groups", "");
    for (int i = 0; i < d->classes; i++)
        add_class(out, d, &d->class[i]);
    result_close(out);
    result_flag(out, "same", NULL, same);
    result_open(out, RESULT_RECORD, NULL, "Verdict");
    result_text(out, "verdict", "", verdict(d, allowed));
    result_tone_is(out, same ? RESULT_GOOD : RESULT_BAD);
    result_close(out);
}

/* ---------------------------------------------------------------- the verb */

/* A GGUF and a config may lay pairs differently because the converter permutes weights; a spec is what it says. */
static bool layouts_may_differ(const diff_model *d, const cli_args *a)
{
    bool files = strcmp(d->a->format, "spec") != 0 && strcmp(d->b->format, "spec") != 0;
    return cli_given(a, "ignore-layout") || (files && strcmp(d->a->format, d->b->format) != 0);
}

static cli_exit compare_sides(const cli_args *a, diff_model *d, result *out)
{
    pe_error err;
    CLI_TRY(read_positions(d, a));
    if (diff_models(d, &err))
        return cli_fail_from(a, CLI_INPUT, NULL, &err);
    bool allowed = layouts_may_differ(d, a), same = d->same && (allowed || !d->layout);
    add_models(out, d, same, allowed);
    return same ? CLI_OK : CLI_NO;
}

static cli_exit diff_verb(const cli_args *a, result *out)
{
    zoo_model *side[2] = { NULL, NULL };
    diff_model d = { 0 };
    cli_exit code = open_both(side, a);
    d.a = side[0];
    d.b = side[1];
    if (!code)
        code = compare_sides(a, &d, out);
    diff_clear(&d);
    zoo_free(side[0]);
    zoo_free(side[1]);
    return code;
}

const cli_verb cli_verb_diff = {
    .name = "diff",
    .summary = "check whether two model files or specs compute the same; exit code 0: yes, 1: no",
    .operands = "A B",
    .operands_min = 2,
    .operands_max = 2,
    .notes =
        "A and B are files as posenc explain reads them, or specs. They are the same where every angle, factor and "
        "bias is equal up to float32 rounding. Different lengths are listed but do not count as a difference.\n"
        "A different pair layout counts (exit code 1), because the weights of q and k would have to be "
        "permuted. It does not count (exit code 0) with --ignore-layout, and between files of two formats, "
        "because converters permute the weights. If only the order of the rotated keys differs (adjacent, "
        "adjacent-half), the weights are the same: exit code 0.\n"
        "If a model has several parts, only the first is compared: the language model.\n",
    CLI_TABLES(options, examples),
    .run = diff_verb,
};
