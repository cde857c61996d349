/* SPDX-License-Identifier: MIT
 *
 * posenc prove: what the literature says of position encodings, measured. */
#include "cli/job.h"

#include "prove/prove.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    { "properties", 0, CLI_FLAG, NULL, NULL, 0, 0, "measure the properties of each SPEC, and no claims" },
    { "list", 0, CLI_FLAG, NULL, NULL, 0, 0, "list the claims without measuring them" },
    { "models", 0, CLI_FILE_IN, "FOLDER", NULL, 0, 0,
      "trained models (posenc report RUN --models FOLDER) and a text.txt; default: those that come with posenc" },
    CLI_OPTIONS_SHAPE,
    CLI_OPTIONS_RESULT,
};
static const cli_example examples[] = {
    { "posenc prove order", "one group of claims: verdict, number, sentence" },
    { "posenc prove two-dogs", "one claim, with every number of its evidence" },
    { "posenc prove rope", "the properties of rope, and every claim that applies to it" },
    { "posenc prove order-blind alibi", "one claim, measured on an encoding of your choice" },
    { "posenc prove order -o proofs.html", "the report as an HTML file" },
    { "posenc prove sinusoidal --json", "the report as JSON" },
    { "posenc prove --list", "the claims that can be measured" },
};
static const char notes[] =
    "CLAIM is the name of a claim or of a group of claims; --list shows them. Without a CLAIM, all are measured.\n"
    "A SPEC after claims replaces the encodings that the claims are measured on. A SPEC alone is measured for the "
    "properties of an ideal encoding, which are compared with those that it claims, and for every claim that applies "
    "to it.\n"
    "The claims of the group trained are measured on small trained models, which come with posenc's sources and with "
    "an "
    "installed posenc, or are those of --models.\n"
    "Exit code 1: an encoding claims a property that fails. Exit code 2: nothing could be measured.";

#define PATH_ROOM 1200

/* One claim, on its own specs or on one in their place. */
typedef struct prove_line {
    const prove_group *group;
    const prove_claim *claim;
    const char *spec; /* NULL: its own */
    pe_shape shape;   /* 0: the claim's own */
    prove_finding found;
    bool failed; /* err says why: this spec cannot be measured so */
    pe_error err;
} prove_line;

/* What the command line asks for, and how far it is. */
typedef struct prove_run {
    const cli_args *args;
    result *out;
    language language;
    bool is_claim[CLI_OPERANDS_MAX]; /* operand n names claims, and is no spec */
    int claims, specs;               /* operands of either kind */
    prove_line *line;                /* the one at hand; NULL while they are counted */
    int lines, told;
    int count[PROVE_VERDICT_COUNT + 1]; /* of each verdict; the last: could not be measured */
    bool in_full;                       /* with the evidence */
    bool broken;                        /* a property that an encoding claims is measured to fail */
    double start;                       /* seconds */
    pe_pool *pool;                      /* NULL: no threads here */
    prove_models *models;               /* NULL: none, or not yet looked for */
    bool looked;                        /* for them */
} prove_run;

/* ---------------------------------------------------------------- what is asked for */

/* The name of an encoding is a spec, whatever else has it. */
static bool names_claims(const char *word)
{
    for (int i = 0; i < pe_info_count(); i++)
        if (!strcmp(pe_info_at(i)->name, word))
            return false;
    return prove_claim_named(word) || prove_group_named(word);
}

static const char *nearest_claim(const char *word)
{
    const char *names[256];
    int count = 0;
    for (int g = 0; g < prove_group_count; g++) {
        names[count++] = prove_groups[g]->name;
        for (int c = 0; c < prove_groups[g]->count && count < CLI_COUNT(names) - 1; c++)
            names[count++] = prove_groups[g]->claims[c].name;
    }
    return cli_nearest(word, names, count);
}

/* An operand that is no claim has to be a spec. */
static cli_exit read_operands(prove_run *r)
{
    const cli_args *a = r->args;
    for (int n = 0; n < a->operands; n++) {
        pe_error err;
        pe_encoding *e;
        const char *word = a->operand[n], *near;
        r->is_claim[n] = names_claims(word);
        r->claims += r->is_claim[n];
        if (r->is_claim[n])
            continue;
        r->specs++;
        if (!pe_encoding_new(&e, word, job_shape(a), &err)) {
            job_note_alike(a, e);
            pe_encoding_free(e);
            continue;
        }
        near = nearest_claim(word);
        return cli_fail(a, CLI_USAGE, "%s is not a claim or a group (see posenc prove --list), nor an encoding: %s%s%s",
                        word, err.text, near ? "; a claim is called " : "", near ? near : "");
    }
    if (cli_given(a, "properties") && (r->claims || !r->specs))
        return cli_fail(a, CLI_USAGE, "--properties needs one or more specs, and no claims");
    return CLI_OK;
}

static bool asks_for(const prove_run *r, const prove_group *g, const prove_claim *c)
{
    const cli_args *a = r->args;
    bool all = !a->operands;
    for (int n = 0; n < a->operands && !all; n++)
        all = r->is_claim[n] && (!strcmp(a->operand[n], c->name) || !strcmp(a->operand[n], g->name));
    return all;
}

static bool fits_spec(const prove_claim *c, const char *spec, pe_shape shape)
{
    pe_encoding *e;
    if (c->takes == PROVE_ANY || !prove_takes_spec(c) || pe_encoding_new(&e, spec, shape, NULL))
        return prove_takes_spec(c);
    bool fits = pe_encoding_hooks(e) & c->takes;
    pe_encoding_free(e);
    return fits;
}

/* Which hooks a claim asks about: "embed or bias". */
static void hooks_text(char *out, size_t cap, unsigned hooks)
{
    size_t used = 0;
    *out = 0;
    for (unsigned bit = 1; bit && used < cap; bit <<= 1)
        if (hooks & bit && pe_hook_name(bit))
            used += (size_t)snprintf(out + used, cap - used, "%s%s", used ? " or " : "", pe_hook_name(bit));
}

/* No claim of those named can be measured on any spec of those given: why the first cannot. */
static cli_exit fail_unsuited(const prove_run *r)
{
    const cli_args *a = r->args;
    int claim = 0, spec = 0;
    char hooks[200];
    while (!r->is_claim[claim])
        claim++;
    while (r->is_claim[spec])
        spec++;
    const prove_claim *c = prove_claim_named(a->operand[claim]);
    if (!c || !prove_takes_spec(c))
        return cli_fail(a, CLI_USAGE, "%s takes no spec; run it without one", a->operand[claim]);
    hooks_text(hooks, sizeof hooks, c->takes);
    return cli_fail(a, CLI_USAGE, "%s cannot be measured on %s; needs an encoding with %s", c->name, a->operand[spec],
                    hooks);
}

/* ---------------------------------------------------------------- progress */

#define PATIENCE 3.0 /* seconds, after which one wants to know how long it takes */

/* On a terminal that can do more than lines of text. NULL: the end. */
static void show_progress(const prove_run *r, int n, int of, const char *name)
{
    const char *term = getenv("TERM");
    double spent = io_seconds() - r->start, left = n > 1 ? spent / (n - 1) * (of - n + 1) : 0;
    if (!isatty(STDERR_FILENO) || !term || !strcmp(term, "dumb"))
        return;
    putc('\r', stderr);
    if (name)
        fprintf(stderr, "%d/%d %s", n, of, name);
    if (name && spent > PATIENCE) /* those that are left take as long as those before, for all we know */
        fprintf(stderr, ", about %.0f s left", left < 1 ? 1 : left);
    fputs("\033[K", stderr);
}

/* ---------------------------------------------------------------- claims */

#define ROUNDING 1e-9 /* what is below it differs from machine to machine */

typedef struct prove_text {
    char text[48];
} prove_text;

/* "0.31", "12 dB", "<1e-9" */
static prove_text text_of_value(double value, const char *unit)
{
    prove_text out;
    if (!isfinite(value))
        snprintf(out.text, sizeof out.text, "%s", isnan(value) ? "-" : value > 0 ? "infinite" : "-infinite");
    else if (value != 0 && fabs(value) < ROUNDING)
        snprintf(out.text, sizeof out.text, "<1e-9");
    else if (fabs(value) < 1e7 && (value == floor(value) || fabs(value) >= 1000))
        snprintf(out.text, sizeof out.text, "%.0f", value);
    else
        snprintf(out.text, sizeof out.text, "%.3g", value);
    size_t used = strlen(out.text);
    if (unit && *unit)
        snprintf(out.text + used, sizeof out.text - used, " %s", unit);
    return out;
}

static prove_text text_of_number(const prove_number *n)
{
    return text_of_value(n->value, n->unit);
}

/* "0.2 to 0.4"; "": nothing was drawn at random. */
static prove_text text_of_spread(const prove_number *n, language l)
{
    prove_text out = { "" };
    if (n->seeds)
        snprintf(out.text, sizeof out.text, l == CHINESE ? "%.15s 至 %.20s" : "%.15s to %.20s",
                 text_of_value(n->least, "").text, text_of_value(n->most, n->unit).text);
    return out;
}

static const char *number_of(const prove_number *n, language l)
{
    return l == CHINESE && *n->of_zh ? n->of_zh : n->of;
}

/* What a number is of, for people: without the spec, which is named already. */
static const char *rest_of(const prove_number *x, const prove_line *l, language g)
{
    const char *of = number_of(x, g);
    size_t spec = l->spec ? strlen(l->spec) : 0;
    bool named = spec && !strncmp(of, l->spec, spec) && (!of[spec] || of[spec] == ',');
    return named ? of + spec + strspn(of + spec, ", ") : of;
}

/* The words of the report beside those of the claims. */
static const words title = { "What papers say of position encodings, measured", "位置编码：文献里的说法，逐条测量" };
static const words verdict_label = { "verdict", "结论" }, name_label = { "claim", "名称" };
static const words number_label = { "number", "数值" }, what_label = { "what it is", "是什么" };
static const words of_label = { "of", "对象" }, sentence_label = { "the claim in words", "说法" };
static const words reason_label = { "why", "为什么" }, source_label = { "source", "出处" };
static const words source_text = { "source: ", "来源：" }, evidence_label = { "evidence", "数据" };
static const words cannot_text = { "CANNOT", "无法测量" };
static const words kind_label = { "kind", "依据" }, rule_label = { "rule", "判据" };
static const words spread_label = { "over the seeds", "各随机种子" };

static void add_head(result *out, const prove_group *g, const prove_claim *c)
{
    result_text(out, "name", NULL, c->name);
    result_text(out, "group", NULL, g->name);
    result_text(out, "kind", NULL, prove_kind_words(c->kind).en);
    result_flag(out, "timed", NULL, c->timed);
    result_flag(out, "takes_spec", NULL, prove_takes_spec(c));
    result_flag(out, "every_row", NULL, !c->given.spec[0]); /* measured on the registry, unless a spec is given */
}

/* The number that decides, and what it is. A file is kept, and has no times of this machine. */
static void add_number(const prove_run *r)
{
    const prove_number *x = &r->line->found.number[0];
    const char *of = rest_of(x, r->line, r->language), *what = say(x->what, r->language);
    bool left_out = r->line->claim->timed && cli_given(r->args, "out");
    result_real(r->out, NULL, say(number_label, r->language), x->value);
    result_shown(r->out, "%s", left_out ? "" : text_of_number(x).text);
    result_text(r->out, NULL, say(what_label, r->language), what);
    char spread[80] = "";
    if (x->seeds)
        snprintf(spread, sizeof spread, r->language == CHINESE ? "%s%s，%d 个种子" : "%s%s over %d seeds",
                 *of ? (r->language == CHINESE ? "；" : "; ") : "", text_of_spread(x, r->language).text, x->seeds);
    if (*of || *spread)
        result_shown(r->out, r->language == CHINESE ? "%s（%s%s）" : "%s (%s%s)", what, of, spread);
}

static void add_evidence(const prove_run *r)
{
    result *out = r->out;
    const prove_line *l = r->line;
    language g = r->language;
    int count = l->failed ? 0 : l->found.count;
    bool has_of = false, drawn = false;
    for (int n = 0; n < count; n++) {
        has_of = has_of || *rest_of(&l->found.number[n], l, g);
        drawn = drawn || l->found.number[n].seeds;
    }
    result_open(out, RESULT_TABLE, "numbers", r->in_full ? "" : say(evidence_label, g));
    if (!r->in_full)
        result_folded(out);
    for (int n = 0; n < count; n++) {
        const prove_number *x = &l->found.number[n];
        result_open(out, RESULT_RECORD, NULL, "");
        result_text(out, "what", say(what_label, g), say(x->what, g));
        result_text(out, "of", has_of ? say(of_label, g) : NULL, number_of(x, g));
        result_shown(out, "%s", rest_of(x, l, g));
        result_real(out, "value", say(number_label, g), x->value);
        result_shown(out, "%s", text_of_number(x).text);
        result_text(out, "spread", drawn ? say(spread_label, g) : NULL, text_of_spread(x, g).text);
        if (x->seeds) {
            result_real(out, "least", NULL, x->least);
            result_real(out, "most", NULL, x->most);
            result_int(out, "seeds", NULL, x->seeds);
        }
        result_text(out, "unit", NULL, x->unit ? x->unit : "");
        result_text(out, "text", NULL, text_of_number(x).text);
        result_close(out);
    }
    result_close(out);
}

static void add_verdict(result *out, const prove_line *l, language g)
{
    static const result_tone tone[] = { RESULT_GOOD, RESULT_BAD, RESULT_DOUBT };
    words verdict = l->failed ? cannot_text : prove_verdict_words(l->found.verdict);
    result_text(out, "verdict", NULL, l->failed ? NULL : verdict.en);
    result_text(out, l->failed ? NULL : "verdict_text", say(verdict_label, g), say(verdict, g));
    result_tone_is(out, l->failed ? RESULT_FAINT : tone[l->found.verdict]);
    if (l->failed)
        result_text(out, "cannot", NULL, l->err.text);
}

/* The spec stands before the sentence, unless it is the only one and has a section of its own. */
static void add_line(const prove_run *r)
{
    result *out = r->out;
    const prove_line *l = r->line;
    language g = r->language;
    const char *sentence = say(prove_sentence(l->claim, l->spec), g);
    result_open(out, RESULT_RECORD, NULL, "");
    add_verdict(out, l, g);
    result_text(out, NULL, say(name_label, g), l->claim->name);
    result_text(out, "kind_text", say(kind_label, g), say(prove_kind_words(l->claim->kind), g));
    add_head(out, l->group, l->claim);
    if (l->found.count && !l->failed)
        add_number(r);
    result_text(out, "claim", say(sentence_label, g), sentence);
    result_below(out);
    if (l->spec && (r->specs > 1 || r->claims))
        result_shown(out, g == CHINESE ? "%s：%s" : "%s: %s", l->spec, sentence);
    words_text why = words_translate(l->failed ? l->err.text : "", g);
    result_text(out, "because", say(reason_label, g), l->failed ? why.text : say(l->found.because, g));
    result_below(out);
    char rule[PROVE_RULE_ROOM];
    prove_rule(rule, l->claim, l->shape, r->models, g);
    result_text(out, "source", say(source_label, g), l->claim->source);
    result_below(out);
    if (r->in_full)
        result_shown(out, "%s%s", say(source_text, g), l->claim->source);
    else
        result_wide(out);
    result_text(out, "rule", say(rule_label, g), *rule ? rule : NULL);
    result_below(out);
    result_say(out, "command", NULL, "posenc prove %s%s%s", l->claim->name, l->spec ? " " : "", l->spec ? l->spec : "");
    result_text(out, "spec", NULL, l->spec);
    add_evidence(r);
    result_close(out);
}

/* The sizes of the command line, 0 where it has none. */
static pe_shape given_shape(const cli_args *a)
{
    pe_shape all = job_shape(a);
    return (pe_shape){ .heads = cli_given(a, "heads") ? all.heads : 0,
                       .head_dim = cli_given(a, "head-dim") ? all.head_dim : 0,
                       .model_dim = cli_given(a, "model-dim") ? all.model_dim : 0 };
}

/* The folder of the models that come with posenc, relative to the tool's own: in its sources, and installed. */
static bool find_folder(char out[PATH_ROOM])
{
    static const char *const places[] = { "../models", "../share/posenc/models" };
    char tool[PATH_ROOM];
    ssize_t size = readlink("/proc/self/exe", tool, sizeof tool - 1);
    tool[size > 0 ? size : 0] = 0;
    const char *slash = strrchr(tool, '/');
    for (int n = 0; slash && n < CLI_COUNT(places); n++) {
        snprintf(out, PATH_ROOM, "%.*s/%s", (int)(slash - tool), tool, places[n]);
        if (!access(out, R_OK))
            return true;
    }
    return false;
}

/* Those of --models are an error where they cannot be read; without it a claim that needs them says so. */
static cli_exit look_for_models(prove_run *r)
{
    char found[PATH_ROOM];
    const char *given = cli_text(r->args, "models");
    pe_error err;
    if (r->looked)
        return CLI_OK;
    r->looked = true;
    if (!given && !find_folder(found))
        return CLI_OK;
    if (prove_models_open(&r->models, given ? given : found, &err))
        return cli_fail_from(r->args, CLI_INPUT, NULL, &err);
    return CLI_OK;
}

static void measure_line(prove_run *r, const char *spec)
{
    prove_line *l = r->line;
    prove_means with = { r->pool, r->models };
    l->shape = given_shape(r->args);
    l->failed = prove_measure(&l->found, l->claim, spec, l->shape, with, &l->err);
    if (!l->failed || !spec || l->err.status == PE_ERR_NOMEM)
        return;
    l->shape = job_shape(r->args); /* it may need more room than the claim's own sizes */
    l->failed = prove_measure(&l->found, l->claim, spec, l->shape, with, NULL);
}

static void group_title(char out[200], const prove_group *g, language l)
{
    snprintf(out, 200, l == CHINESE ? "%s（%s）" : "%s (%s)", say(g->title, l), g->name);
}

/* A table for each group; of one or two claims without its title. Without a line, it is counted and no more. */
static cli_exit tell_line(prove_run *r, const prove_group *g, const prove_claim *c, const char *spec)
{
    char heading[200] = "";
    if (!r->line) {
        r->lines++;
        return CLI_OK;
    }
    bool first = g != r->line->group;
    show_progress(r, r->told + 1, r->lines, c->name);
    if (first && r->told)
        result_close(r->out);
    memset(r->line, 0, sizeof *r->line); /* too large to be put together on the stack */
    r->line->group = g;
    r->line->claim = c;
    r->line->spec = spec;
    if (c->trained)
        CLI_TRY(look_for_models(r));
    measure_line(r, spec);
    if (r->line->failed && r->line->err.status == PE_ERR_NOMEM)
        return cli_fail_from(r->args, CLI_SYSTEM, c->name, &r->line->err);
    if (!r->in_full)
        group_title(heading, g, r->language);
    if (first)
        result_open(r->out, RESULT_TABLE, NULL, heading);
    add_line(r);
    r->count[r->line->failed ? PROVE_VERDICT_COUNT : (int)r->line->found.verdict]++;
    r->told++;
    return CLI_OK;
}

/* A claim once; or once for each spec that it can take. Specs alone: all claims that can take them. */
static cli_exit each_line(prove_run *r)
{
    const cli_args *a = r->args;
    for (int g = 0; g < prove_group_count; g++)
        for (int c = 0; c < prove_groups[g]->count; c++) {
            const prove_claim *claim = &prove_groups[g]->claims[c];
            bool wanted = asks_for(r, prove_groups[g], claim);
            if (wanted && !r->specs)
                CLI_TRY(tell_line(r, prove_groups[g], claim, NULL));
            for (int n = 0; n < a->operands && (wanted || !r->claims); n++)
                if (!r->is_claim[n] && fits_spec(claim, a->operand[n], job_shape(a)))
                    CLI_TRY(tell_line(r, prove_groups[g], claim, a->operand[n]));
        }
    return CLI_OK;
}

static void add_totals(const prove_run *r)
{
    char text[200];
    const char *comma = r->language == CHINESE ? "，" : ", ";
    int used = snprintf(text, sizeof text, r->language == CHINESE ? "%d 条：" : "%d claims: ", r->lines);
    for (int v = 0; v <= PROVE_VERDICT_COUNT; v++) {
        words verdict = v < PROVE_VERDICT_COUNT ? prove_verdict_words((prove_verdict)v) : cannot_text;
        if (r->count[v] || v < PROVE_VERDICT_COUNT)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s%d %s", v ? comma : "", r->count[v],
                             say(verdict, r->language));
    }
    result_text(r->out, NULL, "", text);
}

/* ---------------------------------------------------------------- properties */

static void add_property(result *out, const property_found *f, language l)
{
    static const char *const names[] = { "fails", "holds", "no meaning", "yes", "no" };
    static const words outcomes[] = {
        { "fails", "不满足" }, { "HOLDS", "满足" }, { "no meaning", "不适用" }, { "yes", "是" }, { "no", "否" }
    };
    static const words labels[] = { { "outcome", "结果" }, { "property", "性质" }, { "meaning", "含义" } };
    static const words claimed[] = { { "", "" }, { "claimed", "已声明" } };
    static const words broken = { "CLAIMED, but measured to fail", "声明了，但测量不满足" };
    bool none = f->is == PROPERTY_NO_MEANING, fails = f->is == PROPERTY_FAILS || f->is == PROPERTY_NO;
    result_open(out, RESULT_RECORD, NULL, "");
    result_text(out, "outcome", NULL, names[f->is]);
    result_text(out, "outcome_text", say(labels[0], l), say(outcomes[f->is], l));
    result_tone_is(out, f->is == PROPERTY_HOLDS   ? RESULT_GOOD
                        : f->is != PROPERTY_FAILS ? RESULT_FAINT
                        : f->claimed              ? RESULT_BAD
                                                  : RESULT_DOUBT);
    result_text(out, "name", say(labels[1], l), pe_claim_name(f->claim));
    result_text(out, "sentence", say(labels[2], l), say(prove_property_words(f->claim), l));
    result_wide(out);
    result_real(out, "number", say(number_label, l), f->number);
    if (none)
        result_shown(out, "%s", "");
    else
        result_shown(out, "%.3g", f->number);
    result_text(out, "what", say(what_label, l), say(f->what, l));
    if (none)
        result_shown(out, "%s", "");
    result_flag(out, "claimed", say(claimed[1], l), f->claimed);
    result_shown(out, "%s", say(f->claimed && fails ? broken : claimed[f->claimed], l));
    if (none)
        result_say(out, "number_text", NULL, "%s", "");
    else
        result_say(out, "number_text", NULL, "%.3g", f->number);
    result_close(out);
}

static cli_exit tell_properties(prove_run *r, const char *spec)
{
    pe_error err;
    property_found property[CLAIM_COUNT];
    bool broken = false;
    if (prove_properties(property, spec, job_shape(r->args), &err))
        return cli_fail_from(r->args, CLI_USAGE, spec, &err);
    result_open(r->out, RESULT_RECORD, NULL, spec);
    result_text(r->out, "spec", NULL, spec);
    result_open(r->out, RESULT_TABLE, "properties", "");
    for (int p = 0; p < CLAIM_COUNT; p++) {
        property_outcome is = property[p].is;
        broken = broken || (property[p].claimed && (is == PROPERTY_FAILS || is == PROPERTY_NO));
        add_property(r->out, &property[p], r->language);
    }
    result_close(r->out);
    result_flag(r->out, "as_claimed", NULL, !broken);
    result_close(r->out);
    r->broken = r->broken || broken;
    return CLI_OK;
}

static cli_exit tell_specs(prove_run *r)
{
    const cli_args *a = r->args;
    r->start = io_seconds();
    result_open(r->out, RESULT_LIST, "specs", NULL);
    for (int n = 0; n < a->operands && !r->claims; n++) {
        show_progress(r, n + 1, a->operands, a->operand[n]);
        CLI_TRY(tell_properties(r, a->operand[n]));
    }
    result_close(r->out);
    return CLI_OK;
}

/* ---------------------------------------------------------------- the verb */

static void add_list(result *out, language l)
{
    result_open(out, RESULT_LIST, "groups", NULL);
    for (int i = 0; i < prove_group_count; i++) {
        const prove_group *g = prove_groups[i];
        char heading[200];
        group_title(heading, g, l);
        result_open(out, RESULT_RECORD, NULL, heading);
        result_text(out, "name", NULL, g->name);
        result_text(out, "title", NULL, say(g->title, l));
        result_open(out, RESULT_LIST, "claims", "");
        for (int c = 0; c < g->count; c++) {
            result_open(out, RESULT_RECORD, NULL, g->claims[c].name);
            result_shown(out, "%s", say(g->claims[c].claim, l));
            add_head(out, g, &g->claims[c]);
            result_text(out, "claim", NULL, say(g->claims[c].claim, l));
            result_text(out, "source", NULL, g->claims[c].source);
            result_close(out);
        }
        result_close(out);
        result_close(out);
    }
    result_close(out);
}

/* What claims about every encoding were measured on: a table that is kept may be older than a row. */
static void add_rows(result *out, language l)
{
    static const words label = { "Claims about every encoding are measured on", "涉及所有编码的说法，测量对象为" };
    result_open(out, RESULT_LIST, NULL, say(label, l));
    for (int i = 0; i < pe_info_count(); i++)
        result_text(out, NULL, "", pe_info_at(i)->name);
    result_close(out);
}

static cli_exit prove(prove_run *r)
{
    static const words about = {
        "posenc prove -o FILE writes this table; posenc prove NAME measures one claim and shows its evidence. A number "
        "below rounding error reads <1e-9. Times differ from machine to machine and are left out.",
        "本表由 posenc prove -o FILE 生成；posenc prove NAME 测量一条说法并列出数据。低于舍入误差的数写作 "
        "<1e-9；时间因机器而异，不列出。"
    };
    const cli_args *a = r->args;
    pe_error err;
    if (prove_check_shape(job_shape(a), &err))
        return cli_fail_from(a, CLI_USAGE, NULL, &err);
    CLI_TRY(read_operands(r));
    if (!cli_given(a, "properties"))
        CLI_TRY(each_line(r));
    if (!r->lines && r->claims)
        return fail_unsuited(r);
    r->in_full = r->claims && r->lines <= 2;
    r->line = calloc(1, sizeof *r->line);
    if (!r->line)
        return cli_fail(a, CLI_SYSTEM, "no memory for a claim");
    if (!a->operands && cli_given(a, "out"))
        result_text(r->out, NULL, "", say(about, r->language));
    if (!a->operands)
        add_rows(r->out, r->language);
    CLI_TRY(tell_specs(r));
    r->start = io_seconds();
    result_open(r->out, RESULT_LIST, "claims", NULL);
    if (r->lines) {
        CLI_TRY(each_line(r));
        result_close(r->out);
    }
    result_close(r->out);
    if (r->lines > 1)
        add_totals(r);
    return CLI_OK;
}

static cli_exit prove_verb(const cli_args *a, result *out)
{
    int chosen = cli_choice(a, "lang");
    prove_run r = { .args = a, .out = out, .language = chosen < 0 ? language_of_environment() : (language)chosen };
    result_title(out, (int)r.language, "%s", say(title, r.language));
    result_text(out, "language", NULL, r.language == CHINESE ? "zh" : "en");
    if (cli_given(a, "list")) {
        add_list(out, r.language);
        return CLI_OK;
    }
    pe_pool_new(&r.pool, 0, NULL); /* without threads it takes longer */
    cli_exit code = prove(&r);
    prove_models_free(r.models);
    pe_pool_free(r.pool);
    show_progress(&r, 0, 0, NULL);
    if (!code && r.broken)
        code = CLI_NO;
    else if (!code && r.claims && r.count[PROVE_VERDICT_COUNT] == r.lines) {
        cli_write_now(a, out); /* nothing could be measured: it says why */
        code = CLI_USAGE;
    }
    free(r.line);
    return code;
}

const cli_verb cli_verb_prove = {
    .name = "prove",
    .summary = "measure what papers claim about position encodings: HOLDS, REFUTED or DEPENDS",
    .operands = "[CLAIM...] [SPEC...]",
    .operands_max = CLI_OPERANDS_MAX,
    .notes = notes,
    CLI_TABLES(options, examples),
    .run = prove_verb,
};
