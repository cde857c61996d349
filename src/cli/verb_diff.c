/* SPDX-License-Identifier: MIT
 *
 * posenc diff: do two models' files compute the same? */
#include "cli/diff_model.h"
#include "cli/job.h"
#include "cli/model.h"
#include "cli/page.h"

#include "zoo/build.h"
#include "zoo/spec_read.h"

#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    { "at", 0, CLI_TEXT, "LIST", NULL, 0, 0, "positions to compare at: 1,100,4k,128k" },
    { "ignore-layout", 0, CLI_FLAG, NULL, NULL, 0, 0, "another pair layout is no difference" },
    { "heads", 0, CLI_INT, "N", NULL, 1, 65536, "heads of a spec; default: the other side's, or 8" },
    CLI_OPTIONS_MODEL,
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc diff config.json model.gguf", "does the conversion compute what the config says?" },
    { "posenc diff config.json config.json --at 1,4k,128k", "positions of your choice" },
    { "posenc diff rope:theta=10000 rope --head-dim 128", "specs, without a file" },
    { "posenc diff config.json config.json --json", "as data" },
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

/* ---------------------------------------------------------------- the answer */

/* A GGUF and a config may lay pairs differently because the converter permutes weights; a spec is what it says. */
static bool layouts_may_differ(const diff_model *d, const cli_args *a)
{
    bool files = strcmp(d->a->format, "spec") != 0 && strcmp(d->b->format, "spec") != 0;
    return cli_given(a, "ignore-layout") || (files && strcmp(d->a->format, d->b->format) != 0);
}

static const char *verdict(const diff_model *d, bool allowed)
{
    bool layout = diff_models_layout(d);
    if (!diff_models_same(d))
        return "different";
    if (!layout && diff_models_cache(d))
        return "same; layouts differ in the K cache only, where turned keys are written: weights need no change";
    if (!layout)
        return "same";
    return allowed
               ? "same; layouts differ: scores are equal only if the q and k weights were permuted (as converters to "
                 "GGUF do; posenc convert)"
               : "different: layouts differ; scores are equal only if the q and k weights are permuted (posenc "
                 "convert), and --ignore-layout takes that for granted";
}

static cli_exit compare(const cli_args *a, diff_model *d)
{
    pe_error err;
    CLI_TRY(read_positions(d, a));
    if (diff_models(d, &err))
        return cli_fail_from(a, CLI_INPUT, NULL, &err);
    bool allowed = layouts_may_differ(d, a), same = diff_models_same(d) && (allowed || !diff_models_layout(d));
    if (cli_given(a, "json"))
        diff_json(d, same, verdict(d, allowed));
    else {
        diff_text(d);
        putchar('\n');
        page_wrapped(verdict(d, allowed), 0);
    }
    return same ? CLI_OK : CLI_NO;
}

static cli_exit diff_verb(const cli_args *a, result *out)
{
    (void)out;
    zoo_model *side[2] = { NULL, NULL };
    diff_model d = { 0 };
    cli_exit code = open_both(side, a);
    d.a = side[0];
    d.b = side[1];
    if (!code)
        code = compare(a, &d);
    diff_clear(&d);
    zoo_free(side[0]);
    zoo_free(side[1]);
    return code;
}

const cli_verb cli_verb_diff = {
    .name = "diff",
    .summary = "do two models' files, or specs, compute the same? exit code 0: yes, 1: no",
    .operands = "A B",
    .operands_min = 2,
    .operands_max = 2,
    .notes = "A and B are files as posenc explain takes them, or specs.\n"
             "Same is: every angle, factor and bias, up to the rounding of float32. Lengths are listed only.\n"
             "Another pair layout is a difference (exit code 1), for q and k would have to be permuted; it is\n"
             "none (exit code 0) with --ignore-layout, and between files of two formats, as converters permute.\n"
             "Where only turned keys are written elsewhere (adjacent, adjacent-half), weights are the same:\n"
             "exit code 0.\n"
             "Of a model with several parts the first, which is the language model, is compared.\n",
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = diff_verb,
};
