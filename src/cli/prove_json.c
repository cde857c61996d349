/* SPDX-License-Identifier: MIT
 *
 * Claims and properties as data. */
#include "cli/prove.h"

static const char *language_name(language l)
{
    return l == CHINESE ? "zh" : "en";
}

static void number_json(json_out *j, const char *key, const prove_number *n, language l)
{
    out_open(j, key, '{');
    out_text(j, "what", say(n->what, l));
    out_text(j, "of", prove_of(n, l));
    out_real(j, "value", n->value);
    out_text(j, "unit", n->unit ? n->unit : "");
    out_text(j, "text", prove_number_text(n).text);
    out_close(j, '}');
}

static void head_json(json_out *j, const prove_group *g, const prove_claim *c, const char *spec, language l)
{
    out_text(j, "name", c->name);
    out_text(j, "group", g->name);
    out_text(j, "claim", say(prove_sentence(c, spec), l));
    out_text(j, "source", c->source);
    out_bool(j, "timed", c->timed);
    out_bool(j, "takes_spec", prove_takes_spec(c));
    out_bool(j, "every_row", !c->given.spec[0]); /* measured on the registry, unless a spec is put in its place */
}

static void line_json(json_out *j, const prove_line *line, language l)
{
    char command[400];
    prove_command(command, sizeof command, line);
    out_open(j, NULL, '{');
    head_json(j, line->group, line->claim, line->spec, l);
    out_text(j, "command", command);
    out_text(j, "spec", line->spec);
    if (line->failed) {
        out_text(j, "verdict", NULL);
        out_text(j, "cannot", line->err.text);
        out_text(j, "because", line->err.text);
    } else {
        out_text(j, "verdict", prove_verdict_words(line->found.verdict).en);
        out_text(j, "verdict_text", say(prove_verdict_words(line->found.verdict), l));
        out_text(j, "because", say(line->found.because, l));
    }
    out_open(j, "numbers", '[');
    for (int n = 0; n < line->found.count && !line->failed; n++)
        number_json(j, NULL, &line->found.number[n], l);
    out_close(j, ']');
    out_close(j, '}');
}

static void property_json(json_out *j, const property_found *f, language l)
{
    static const char *const names[] = { "fails", "holds", "no meaning", "yes", "no" };
    out_open(j, NULL, '{');
    out_text(j, "name", pe_claim_name(f->claim));
    out_text(j, "sentence", say(prove_property_words(f->claim), l));
    out_text(j, "outcome", names[f->is]);
    out_text(j, "outcome_text", say(prove_outcome_words(f->is), l));
    out_real(j, "number", f->number);
    out_text(j, "number_text", prove_property_text(f).text);
    out_text(j, "what", say(f->what, l));
    out_bool(j, "claimed", f->claimed);
    out_close(j, '}');
}

void prove_json(FILE *to, const prove_report *r)
{
    json_out j = out_start(to);
    out_open(&j, NULL, '{');
    out_text(&j, "language", language_name(r->language));
    out_open(&j, "specs", '[');
    for (int n = 0; n < r->subjects; n++) {
        out_open(&j, NULL, '{');
        out_text(&j, "spec", r->subject[n].spec);
        out_bool(&j, "as_claimed", !r->subject[n].broken);
        out_open(&j, "properties", '[');
        for (int p = 0; p < CLAIM_COUNT; p++)
            property_json(&j, &r->subject[n].property[p], r->language);
        out_close(&j, ']');
        out_close(&j, '}');
    }
    out_close(&j, ']');
    out_open(&j, "claims", '[');
    for (int n = 0; n < r->lines; n++)
        line_json(&j, &r->line[n], r->language);
    out_close(&j, ']');
    out_close(&j, '}');
}

void prove_json_list(FILE *to, language l)
{
    json_out j = out_start(to);
    out_open(&j, NULL, '{');
    out_text(&j, "language", language_name(l));
    out_open(&j, "groups", '[');
    for (int g = 0; g < prove_group_count; g++) {
        out_open(&j, NULL, '{');
        out_text(&j, "name", prove_groups[g]->name);
        out_text(&j, "title", say(prove_groups[g]->title, l));
        out_open(&j, "claims", '[');
        for (int c = 0; c < prove_groups[g]->count; c++) {
            out_open(&j, NULL, '{');
            head_json(&j, prove_groups[g], &prove_groups[g]->claims[c], NULL, l);
            out_close(&j, '}');
        }
        out_close(&j, ']');
        out_close(&j, '}');
    }
    out_close(&j, ']');
    out_close(&j, '}');
}
