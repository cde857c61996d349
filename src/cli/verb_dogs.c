/* SPDX-License-Identifier: MIT
 *
 * posenc dogs: the sentence with two dogs. Attention takes a set: without an encoding both dogs, the same word, get the
 * same output wherever they stand, and nothing changes when the words change places. No mask is used, for a causal mask
 * tells positions apart by itself. */
#include "cli/dogs.h"

#include <math.h>

#define SENTENCE "the dog chased the other dog"
#define REVERSED "the other dog chased the dog"
static sentence plain = { "the", "dog", "chased", "the", "other", "dog" };
static sentence reversed = { "the", "other", "dog", "chased", "the", "dog" };
enum { FIRST_DOG = 1, SECOND_DOG = 5, CHASED = 2, CHASED_REVERSED = 3 };
#define BLIND 1e-9 /* sums of 6 numbers near 1 in double: rounding is 1e-15 */

static const cli_option options[] = { CLI_OPTION_JSON };
static const cli_example examples[] = {
    { "posenc dogs", SENTENCE ": which encodings tell the two dogs apart?" },
    { "posenc dogs --json", "the same as data" },
};

static double largest_difference(const double *x, const double *y)
{
    double most = 0;
    for (int64_t c = 0; c < WIDTH; c++)
        most = fmax(most, fabs(x[c] - y[c]));
    return most;
}

typedef struct verdict {
    const char *spec;
    double dogs;  /* between the outputs of the two dogs */
    double order; /* between the outputs of "chased" in the two sentences */
    bool served, blind;
} verdict;

static cli_exit measure(const cli_args *a, const char *spec, verdict *v)
{
    scene first, second;
    CLI_TRY(dogs_play(&first, a, spec, plain));
    CLI_TRY(dogs_play(&second, a, spec, reversed));
    v->spec = spec;
    v->served = !first.out_of_reach && !second.out_of_reach;
    v->dogs = largest_difference(first.out + FIRST_DOG * WIDTH, first.out + SECOND_DOG * WIDTH);
    v->order = largest_difference(first.out + CHASED * WIDTH, second.out + CHASED_REVERSED * WIDTH);
    v->blind = !(v->dogs >= BLIND) && !(v->order >= BLIND);
    return CLI_OK;
}

/* With the row's defaults; where they look back only, with its first example that looks both ways. */
static cli_exit measure_row(const cli_args *a, const pe_info *row, verdict *v)
{
    CLI_TRY(measure(a, row->name, v));
    for (int i = 0; i < row->example_count && !v->served; i++)
        CLI_TRY(measure(a, row->examples[i], v));
    return CLI_OK;
}

static void print_verdict(const verdict *v)
{
    double dogs = v->dogs >= BLIND ? v->dogs : 0, order = v->order >= BLIND ? v->order : 0; /* without the rounding */
    printf("  %-34s%12.4g%12.4g   %s\n", v->spec, dogs, order,
           v->blind           ? "blind"
           : v->dogs >= BLIND ? "tells them apart"
                              : "sees the order (*)");
}

static void verdict_json(json_out *j, const verdict *v)
{
    out_open(j, NULL, '{');
    out_text(j, "spec", v->spec);
    out_real(j, "dogs", v->dogs);
    out_real(j, "order", v->order);
    out_bool(j, "blind", v->blind);
    out_close(j, '}');
}

static void print_start(json_out *j, bool json)
{
    if (json) {
        out_open(j, NULL, '{');
        out_text(j, "sentence", SENTENCE);
        out_text(j, "reversed", REVERSED);
        out_open(j, "encodings", '[');
        return;
    }
    printf("Attention reads \"%s\". How far apart are the outputs\n", SENTENCE);
    printf("  dogs   of its two dogs?\n  order  of its \"chased\" and that of \"%s\"?\n\n", REVERSED);
    printf("  %-34s%12s%12s\n", "encoding", "dogs", "order");
}

static void print_end(json_out *j, bool json, int wrong, int seeing, bool starred)
{
    if (json) {
        out_close(j, ']');
        out_bool(j, "as_expected", !wrong);
        out_close(j, '}');
        return;
    }
    if (starred)
        puts("  (*) without a causal mask, where its queries stand does not matter; where its keys stand does");
    if (!wrong)
        printf("\nWithout an encoding attention is blind to order; with each of the other %d it is not.\n", seeing);
}

static cli_exit dogs_verb(const cli_args *a, result *out)
{
    (void)out;
    json_out j = out_start(stdout);
    bool json = cli_given(a, "json"), starred = false;
    int wrong = 0, seeing = 0;
    print_start(&j, json);
    for (int i = 0; i < pe_info_count(); i++) {
        verdict v = { 0 };
        CLI_TRY(measure_row(a, pe_info_at(i), &v));
        if (json)
            verdict_json(&j, &v);
        else
            print_verdict(&v);
        wrong += v.blind != !pe_info_at(i)->hooks; /* a row without hooks is no encoding */
        seeing += !v.blind;
        starred = starred || (!v.blind && v.dogs < BLIND);
    }
    print_end(&j, json, wrong, seeing, starred);
    return wrong ? cli_fail(a, CLI_NO, "%d encodings do not do what they should", wrong) : CLI_OK;
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
