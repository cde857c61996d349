/* SPDX-License-Identifier: MIT
 *
 * What the layers of one group do: the encoding in words, and its wavelengths as a table. */
#include "cli/explain.h"
#include "cli/page.h"

#include "zoo/build.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 3000

/* ---------------------------------------------------------------- encodings */

/* A row that does not rotate: its own words, and the keys in force. */
static void print_keys(const char *spec)
{
    const pe_info *info = zoo_spec_row(spec);
    for (int i = 0; info && i < info->key_count; i++) {
        const pe_key *k = pe_info_key(info, i);
        zoo_slice v = zoo_spec_get(spec, k->name);
        if (v.text && zoo_spec_means(spec, k))
            page_field(i ? "" : "keys", EXPLAIN_INDENT, "%s = %.*s: %s", k->name, (int)v.length, v.text, k->help);
    }
}

static void print_bias(const pe_encoding *e)
{
    static const int64_t distances[] = { 1, 100, 10000 };
    int64_t heads = pe_encoding_shape(e).heads;
    double *score = calloc((size_t)heads, sizeof *score), low, high;
    for (int i = 0; score && i < CLI_COUNT(distances) && explain_bias(e, distances[i], score); i++) {
        low = high = score[0];
        for (int64_t h = 1; h < heads; h++) {
            low = fmin(low, score[h]);
            high = fmax(high, score[h]);
        }
        page_field(i ? "" : "added", EXPLAIN_INDENT, "%s to %s over the heads at distance %" PRId64,
                   page_number(low).text, page_number(high).text, distances[i]);
    }
    free(score);
}

static void print_learned(const pe_encoding *e)
{
    if (pe_encoding_param_count(e))
        page_field("learned", EXPLAIN_INDENT, "%" PRId64 " numbers", pe_encoding_param_count(e));
}

static void print_other(const char *spec, const explain_facts *f)
{
    int64_t end = explain_end(spec, f->e);
    print_keys(spec);
    print_bias(f->e);
    print_learned(f->e);
    if (end > 0)
        page_field("ends", EXPLAIN_INDENT,
                   "the table has %" PRId64 " positions, 0 to %" PRId64
                   ": past them there is no code, whatever the engine",
                   end, end - 1);
}

/* NoPE layers that have a temperature all the same (Llama 4). */
static void print_still(const char *spec)
{
    char text[TEXT_MAX];
    const char *label;
    page_field("encoding", EXPLAIN_INDENT, "none: these layers do not turn%s",
               zoo_spec_meets(spec, "temperature!=0,temperature") ? "; queries are warmed by their position" : "");
    for (int i = 0; explain_remark(spec, i, &label, text, sizeof text); i++)
        if (!strcmp(label, "query"))
            page_field(label, EXPLAIN_INDENT, "%s", text);
}

static void print_rotation(const char *spec, const explain_facts *f)
{
    char text[TEXT_MAX];
    const char *label;
    zoo_slice theta = zoo_spec_get(spec, "theta");
    explain_pairs_words(text, sizeof text, f);
    page_field("pairs", EXPLAIN_INDENT, "%s", text);
    if (theta.text)
        page_field("base", EXPLAIN_INDENT, "%.*s", (int)theta.length, theta.text);
    for (int i = 0; explain_remark(spec, i, &label, text, sizeof text); i++)
        page_field(label, EXPLAIN_INDENT, "%s", text);
    if (pe_encoding_magnitude(f->e) != 1)
        page_field("attention", EXPLAIN_INDENT,
                   "cos and sin are multiplied by %s, so what turns of a score by its square, %s",
                   page_number(pe_encoding_magnitude(f->e)).text,
                   page_number(pe_encoding_magnitude(f->e) * pe_encoding_magnitude(f->e)).text);
}

static void print_part(const char *spec, const explain_facts *f)
{
    const pe_info *info = zoo_spec_row(spec);
    bool turns = zoo_spec_key(spec, "scaling") != NULL;
    if (turns && !f->pairs) {
        print_still(spec);
        return;
    }
    page_field("encoding", EXPLAIN_INDENT, "%s: %s", info ? info->name : spec, info ? info->summary : "");
    (turns ? print_rotation : print_other)(spec, f);
}

/* Only what the encoding asks for: a model may have a scale of its own, which is not read here. */
static void print_softmax(const pe_encoding *e)
{
    double factor = explain_softmax(e);
    if (pe_encoding_scale(e) == 1 && pe_encoding_shape(e).head_dim > 1)
        page_field("softmax", EXPLAIN_INDENT, "scores are not divided by the square root of the head's width");
    else if (fabs(factor - 1) > 1e-12)
        page_field("softmax", EXPLAIN_INDENT, "the softmax scale is multiplied by %s", page_number(factor).text);
}

pe_status explain_encoding(const zoo_group *g, const explain_facts *f, pe_error *err)
{
    char text[TEXT_MAX];
    for (int i = 0; i < zoo_spec_parts(g->spec); i++) {
        char *spec = zoo_spec_part(g->spec, i);
        if (!spec)
            return io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
        print_part(spec, f);
        free(spec);
    }
    print_softmax(f->e);
    explain_shorten(text, sizeof text, g->spec);
    page_field("spec", EXPLAIN_INDENT, "%s", text);
    return PE_OK;
}

/* ---------------------------------------------------------------- wavelengths */

static void print_pair(const explain_facts *f, int64_t n)
{
    const zoo_turns *p = &f->pair[n];
    bool still = !isfinite(p->wavelength);
    const char *never = still ? "never" : f->unturned[n] ? "never: the window" : "never: had every angle";
    char how[40];
    explain_divisor(how, p->divisor);
    printf("  %6" PRId64 "  %14s  %14s  %-12s  %s\n", n, still ? "stands still" : page_number(p->wavelength).text,
           isnan(p->turns) ? "?" : page_number(p->turns).text, how,
           isnan(p->leaves)      ? "?"
           : isfinite(p->leaves) ? page_number(p->leaves).text
                                 : never);
}

void explain_wavelengths(const explain_facts *f)
{
    int64_t index[9];
    char text[TEXT_MAX];
    if (f->shortest < 0)
        return;
    page_title("Wavelengths against the trained length");
    if (f->length > 0)
        page_field("", 2, "for a sequence of %" PRId64 " positions%s:", f->length,
                   f->as_served ? ", the served length (--length N for another)" : "");
    page_field("shortest", EXPLAIN_INDENT, "%s positions (pair %" PRId64 ")",
               page_number(f->pair[f->shortest].wavelength).text, f->shortest);
    page_field("longest", EXPLAIN_INDENT, "%s positions (pair %" PRId64 ")",
               page_number(f->pair[f->longest].wavelength).text, f->longest);
    explain_turns_words(text, sizeof text, f);
    page_field("turns", EXPLAIN_INDENT, "%s", text);
    if (f->scaled)
        page_field("columns", EXPLAIN_INDENT, "wavelengths are after the scaling, trained turns before it");
    printf("\n  %6s  %14s  %14s  %-12s  %s\n", "pair", "wavelength", "trained turns", "scaling", "new angles from");
    int count = explain_choose(index, CLI_COUNT(index), f);
    for (int i = 0; i < count; i++)
        print_pair(f, index[i]);
    explain_limit_words(text, sizeof text, f);
    if (*text) {
        page_title("Where extrapolation starts");
        fputs("  ", stdout);
        page_wrapped(text, 2);
    }
}
