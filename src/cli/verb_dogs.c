/* SPDX-License-Identifier: MIT
 *
 * posenc dogs: attention takes a set. Without an encoding both dogs of a sentence, the same word, get the same output
 * wherever they stand, and nothing changes when the words change places. No mask is used, for a causal mask tells
 * positions apart by itself. The numbers are those of posenc prove two-dogs. */
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
    bool starred;
    int row, wrong, seeing;
} dogs_table;

/* As posenc prove prints it. */
static void add_difference(result *out, const char *name, double x)
{
    result_real(out, name, name, x);
    if (x > 0 && x < PROVE_ROUNDING)
        result_shown(out, "<1e-9");
    else
        result_shown(out, "%.3g", x);
}

static pe_status add_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    dogs_table *t = with;
    prove_dogs d;
    TRY(prove_two_dogs(&d, spec, g, err));
    bool alike = d.dogs < PROVE_ROUNDING, blind = alike && d.order < PROVE_ROUNDING;
    result_open(t->out, RESULT_RECORD, NULL, "");
    result_text(t->out, "spec", "encoding", spec);
    add_difference(t->out, "dogs", d.dogs);
    add_difference(t->out, "order", d.order);
    result_flag(t->out, "blind", "verdict", blind);
    result_shown(t->out, "%s", blind ? "blind" : alike ? "sees the order (*)" : "tells them apart");
    result_close(t->out);
    t->wrong += blind != !pe_info_at(t->row++)->hooks; /* a row without hooks is no encoding */
    t->seeing += !blind;
    t->starred = t->starred || (!blind && alike);
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
    if (prove_each_two_dogs(add_row, &t, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    result_close(out);
    if (t.starred)
        result_text(out, NULL, "",
                    "(*) without a causal mask the position of its queries does not matter; that of its keys does");
    if (!t.wrong)
        result_say(out, NULL, "",
                   "Without an encoding attention is blind to order; with each of the other %d it is not.", t.seeing);
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
