/* SPDX-License-Identifier: MIT
 *
 * posenc dogs: attention takes a set. Without an encoding both dogs of a sentence, the same word, get the same output
 * wherever they stand, and nothing changes when the words change places. No mask is used, for a causal mask tells
 * positions apart by itself, but for encodings that are made for one. The numbers are those of posenc prove two-dogs:
 * medians over the seeds. */
#include "cli/cli.h"

#include "base/try.h"
#include "prove/prove.h"

#define SENTENCE "the dog chased the other dog"
#define REVERSED "the other dog chased the dog"

static const cli_option options[] = { CLI_OPTIONS_RESULT };
static const cli_example examples[] = {
    { "posenc dogs", SENTENCE ": which encodings tell the two dogs apart?" },
    { "posenc dogs --json", "the same as data" },
};

typedef struct dogs_table {
    result *out;
    int row, wrong, seeing, masked;
} dogs_table;

/* As posenc prove prints it. */
static void add_difference(result *out, const char *name, prove_spread x)
{
    char least[40], most[40];
    result_real(out, name, name, x.median);
    if (x.median > 0 && x.median < PROVE_ROUNDING)
        result_shown(out, "<1e-9");
    else
        result_shown(out, "%.3g", x.median);
    snprintf(least, sizeof least, "%s_least", name);
    snprintf(most, sizeof most, "%s_most", name);
    result_real(out, least, NULL, x.least);
    result_real(out, most, NULL, x.most);
}

static pe_status add_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    dogs_table *t = with;
    prove_dogs d;
    TRY(prove_two_dogs(&d, spec, g, err));
    bool blind = d.dogs.most < PROVE_ROUNDING && d.order.most < PROVE_ROUNDING, apart = d.dogs.least >= PROVE_ROUNDING;
    result_open(t->out, RESULT_RECORD, NULL, "");
    result_text(t->out, "spec", "encoding", spec);
    add_difference(t->out, "dogs", d.dogs);
    add_difference(t->out, "order", d.order);
    result_flag(t->out, "blind", "verdict", blind);
    result_shown(t->out, "%s",
                 blind      ? "blind"
                 : d.masked ? "masked (*)"
                 : apart    ? "tells them apart"
                            : "not in every seed (*)");
    result_flag(t->out, "masked", NULL, d.masked);
    result_close(t->out);
    t->wrong += blind != !pe_info_at(t->row++)->hooks; /* a row without hooks is no encoding */
    t->wrong += !blind && !apart;
    t->seeing += !blind && !d.masked;
    t->masked += d.masked;
    return PE_OK;
}

static cli_exit dogs_verb(const cli_args *a, result *out)
{
    dogs_table t = { .out = out };
    pe_error err;
    result_title(out, 0, "Which encodings tell the two dogs apart?");
    result_text(out, "sentence", "sentence", SENTENCE);
    result_text(out, "reversed", "reversed", REVERSED);
    result_text(out, NULL, "dogs", "difference of the attention outputs at the two dogs of the sentence");
    result_text(out, NULL, "order", "difference of the outputs at \"chased\" in the sentence and in the reversed one");
    result_open(out, RESULT_TABLE, "encodings", "");
    result_rows(out);
    pe_pool *pool;
    pe_pool_new(&pool, 0, NULL); /* without threads it takes longer */
    pe_status status = prove_each_two_dogs(add_row, &t, pool, &err);
    pe_pool_free(pool);
    if (status)
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    result_close(out);
    result_say(out, NULL, "", "Differences are medians over %d seeds.", PROVE_SEEDS);
    if (t.masked)
        result_text(out, NULL, "",
                    "(*) made for a causal mask, which hides the keys after the query, and measured with one; the mask "
                    "alone tells the dogs apart, too");
    if (!t.wrong)
        result_say(out, NULL, "",
                   "Without an encoding and a mask attention is blind to order; with each of %d encodings it is not.",
                   t.seeing);
    result_flag(out, "as_expected", NULL, !t.wrong);
    return t.wrong ? cli_fail(a, CLI_NO, "%d encodings do not do what they should", t.wrong) : CLI_OK;
}

const cli_verb cli_verb_dogs = {
    .name = "dogs",
    .summary = "show on a sentence with two dogs whether attention with each encoding tells them apart",
    .operands = "",
    CLI_TABLES(options, examples),
    .run = dogs_verb,
};
