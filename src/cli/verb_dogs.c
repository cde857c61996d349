/* SPDX-License-Identifier: MIT
 *
 * posenc dogs: attention takes a set. Without an encoding both dogs of a sentence, the same word, get the same output
 * wherever they stand, and nothing changes when the words change places. No mask is used, for a causal mask tells
 * positions apart by itself. The numbers are those of posenc prove two-dogs. */
#include "cli/job.h"
#include "prove/prove.h"

#define SENTENCE "the dog chased the other dog"
#define REVERSED "the other dog chased the dog"

static const cli_option options[] = { CLI_OPTION_JSON };
static const cli_example examples[] = {
    { "posenc dogs", SENTENCE ": which encodings tell the two dogs apart?" },
    { "posenc dogs --json", "the same as data" },
};

typedef struct dogs_table {
    json_out j;
    bool json, starred;
    int row, wrong, seeing;
} dogs_table;

static void print_row(const char *spec, prove_dogs d, bool blind)
{
    double dogs = d.dogs >= PROVE_ROUNDING ? d.dogs : 0, order = d.order >= PROVE_ROUNDING ? d.order : 0;
    printf("  %-34s%12.4g%12.4g   %s\n", spec, dogs, order,
           blind      ? "blind"
           : dogs > 0 ? "tells them apart"
                      : "sees the order (*)");
}

static void row_json(json_out *j, const char *spec, prove_dogs d, bool blind)
{
    out_open(j, NULL, '{');
    out_text(j, "spec", spec);
    out_real(j, "dogs", d.dogs);
    out_real(j, "order", d.order);
    out_bool(j, "blind", blind);
    out_close(j, '}');
}

static pe_status add_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    dogs_table *t = with;
    prove_dogs d;
    pe_status status = prove_two_dogs(&d, spec, g, err);
    if (status)
        return status;
    bool blind = d.dogs < PROVE_ROUNDING && d.order < PROVE_ROUNDING;
    if (t->json)
        row_json(&t->j, spec, d, blind);
    else
        print_row(spec, d, blind);
    t->wrong += blind != !pe_info_at(t->row++)->hooks; /* a row without hooks is no encoding */
    t->seeing += !blind;
    t->starred = t->starred || (!blind && d.dogs < PROVE_ROUNDING);
    return PE_OK;
}

static void print_start(dogs_table *t)
{
    if (t->json) {
        out_open(&t->j, NULL, '{');
        out_text(&t->j, "sentence", SENTENCE);
        out_text(&t->j, "reversed", REVERSED);
        out_open(&t->j, "encodings", '[');
        return;
    }
    printf("Attention reads \"%s\". How far apart are the outputs\n", SENTENCE);
    printf("  dogs   of its two dogs?\n  order  of its \"chased\" and that of \"%s\"?\n\n", REVERSED);
    printf("  %-34s%12s%12s\n", "encoding", "dogs", "order");
}

static void print_end(dogs_table *t)
{
    if (t->json) {
        out_close(&t->j, ']');
        out_bool(&t->j, "as_expected", !t->wrong);
        out_close(&t->j, '}');
        return;
    }
    if (t->starred)
        puts("  (*) without a causal mask the position of its queries does not matter; that of its keys does");
    if (!t->wrong)
        printf("\nWithout an encoding attention is blind to order; with each of the other %d it is not.\n", t->seeing);
}

static cli_exit dogs_verb(const cli_args *a, result *out)
{
    (void)out;
    dogs_table t = { .j = out_start(stdout), .json = cli_given(a, "json") };
    pe_error err;
    print_start(&t);
    if (prove_each_two_dogs(add_row, &t, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    print_end(&t);
    return t.wrong ? cli_fail(a, CLI_NO, "%d encodings do not do what they should", t.wrong) : CLI_OK;
}

const cli_verb cli_verb_dogs = {
    .name = "dogs",
    .summary = "a sentence with two dogs: attention with and without each encoding",
    .operands = "",
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = dogs_verb,
};
