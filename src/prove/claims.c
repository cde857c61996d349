/* SPDX-License-Identifier: MIT
 *
 * The list of groups of claims: a group is one file. */
#include "prove/measure.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
#define GROUPS(X) \
    X(order) X(codes) X(sinusoids) X(terms) X(rope) X(relative) X(numbers) X(trained)
/* clang-format on */

#define DECLARE(name) extern const prove_group prove_group_##name;
#define POINT(name) &prove_group_##name,

GROUPS(DECLARE)
const prove_group *const prove_groups[] = { GROUPS(POINT) };
const int prove_group_count = (int)(sizeof prove_groups / sizeof *prove_groups);

const prove_claim *prove_claim_named(const char *name)
{
    for (int g = 0; g < prove_group_count; g++)
        for (int c = 0; c < prove_groups[g]->count; c++)
            if (!strcmp(prove_groups[g]->claims[c].name, name))
                return &prove_groups[g]->claims[c];
    return NULL;
}

const prove_group *prove_group_named(const char *name)
{
    for (int g = 0; g < prove_group_count; g++)
        if (!strcmp(prove_groups[g]->name, name))
            return prove_groups[g];
    return NULL;
}

bool prove_takes_spec(const prove_claim *c)
{
    return c->takes && c->put.en;
}

words prove_sentence(const prove_claim *c, const char *spec)
{
    return spec && c->put.en ? c->put : c->claim;
}

/* ---------------------------------------------------------------- measuring */

static pe_status within(const char *what, int64_t value, int64_t most, pe_error *err)
{
    if (value < 0 || value > most)
        return io_fail(err, PE_ERR_SHAPE, "%s is %lld; needs 1 to %lld to be measured", what, (long long)value,
                       (long long)most);
    return PE_OK;
}

pe_status prove_check_shape(pe_shape s, pe_error *err)
{
    TRY(within("heads", s.heads, PROVE_HEADS_MAX, err));
    TRY(within("head_dim", s.head_dim, PE_HEAD_DIM_MAX, err));
    if (s.model_dim)
        return within("model_dim", s.model_dim, PROVE_WIDTH_MAX, err);
    return within("heads * head_dim", s.heads * s.head_dim, PROVE_WIDTH_MAX, err);
}

/* If the model width was heads times head width, it stays so. */
static pe_status resize(prove_given *g, pe_shape s, pe_error *err)
{
    bool as_heads = g->model_dim == g->heads * g->head_dim;
    TRY(prove_check_shape(s, err));
    g->heads = s.heads ? s.heads : g->heads;
    g->head_dim = s.head_dim ? s.head_dim : g->head_dim;
    g->model_dim = s.model_dim ? s.model_dim : as_heads ? g->heads * g->head_dim : g->model_dim;
    return s.heads || s.head_dim ? within("heads * head_dim", g->heads * g->head_dim, PROVE_WIDTH_MAX, err) : PE_OK;
}

static pe_status measure_put(prove_finding *out, const prove_claim *c, prove_given g, const char *spec, pe_error *err)
{
    memset(g.spec, 0, sizeof g.spec);
    g.spec[0] = spec;
    g.put = true;
    *out = (prove_finding){ 0 };
    return c->measure(out, &g, err);
}

/* If a table is too short and the spec does not set its length, measures with longer and longer tables. */
static pe_status measure_spec(prove_finding *out, const prove_claim *c, prove_given g, const char *spec, pe_error *err)
{
    static const int64_t reach[] = { 64, 1024, 16384 };
    char fitted[1200];
    pe_error why = { 0 };
    pe_status status = measure_put(out, c, g, spec, &why);
    bool ends = status == PE_ERR_POSITION;
    for (size_t n = 0; ends && status == PE_ERR_POSITION && n < sizeof reach / sizeof *reach; n++)
        if (measure_fit(fitted, sizeof fitted, spec, reach[n]))
            status = measure_put(out, c, g, fitted, NULL);
    return status ? io_fail(err, status, "%s", why.text) : PE_OK;
}

pe_status prove_measure(prove_finding *out, const prove_claim *c, const char *spec, pe_shape shape, prove_means with,
                        pe_error *err)
{
    prove_given g = c->given;
    g.pool = with.pool;
    g.models = with.models;
    *out = (prove_finding){ 0 };
    TRY(resize(&g, shape, err));
    return spec ? measure_spec(out, c, g, spec, err) : c->measure(out, &g, err);
}

/* ---------------------------------------------------------------- the rule, with sizes */

static void rule_append(char out[PROVE_RULE_ROOM], const char *text)
{
    size_t used = strlen(out);
    snprintf(out + used, PROVE_RULE_ROOM - used, "%s", text);
}

/* " Sizes: heads 4, head_dim 16, model_dim 64." */
static void append_sizes(char out[PROVE_RULE_ROOM], const prove_given *g, language l)
{
    static const char *const names[] = { "heads", "head_dim", "model_dim" };
    const int64_t size[] = { g->heads, g->head_dim, g->model_dim };
    bool chinese = l == CHINESE, first = true;
    char one[40];
    for (int n = 0; n < 3; n++) {
        if (!size[n])
            continue;
        rule_append(out, first ? (chinese ? "尺寸：" : " Sizes: ") : (chinese ? "，" : ", "));
        snprintf(one, sizeof one, "%s %lld", names[n], (long long)size[n]);
        rule_append(out, one);
        first = false;
    }
    if (!first)
        rule_append(out, chinese ? "。" : ".");
}

void prove_rule(char out[PROVE_RULE_ROOM], const prove_claim *c, pe_shape shape, const prove_models *models, language l)
{
    char sizes[200];
    prove_given g = c->given;
    bool own = c->sizes.en && !shape.heads && !shape.head_dim && !shape.model_dim;
    snprintf(out, PROVE_RULE_ROOM, "%s", c->rule.en ? say(c->rule, l) : "");
    prove_models_say(sizes, sizeof sizes, c->trained ? models : NULL, l);
    if (*sizes) {
        rule_append(out, l == CHINESE ? "" : " ");
        rule_append(out, sizes);
    }
    if (!*out || c->trained || c->kind != PROVE_MEASURED)
        return;
    if (own) {
        rule_append(out, l == CHINESE ? "" : " ");
        rule_append(out, say(c->sizes, l));
    } else if (!resize(&g, shape, NULL))
        append_sizes(out, &g, l);
}

/* ---------------------------------------------------------------- what was found */

void prove_say(prove_finding *f, prove_verdict v, words because)
{
    f->verdict = v;
    f->because = because;
}

void prove_judge(prove_finding *f, bool holds, words because, words otherwise)
{
    prove_say(f, holds ? PROVE_HOLDS : PROVE_REFUTED, holds ? because : otherwise);
}

void prove_add(prove_finding *f, words what, const char *of, double value, const char *unit)
{
    if (f->count == PROVE_NUMBERS_MAX)
        return;
    prove_number *n = &f->number[f->count++];
    *n = (prove_number){ .what = what, .value = value, .unit = unit };
    snprintf(n->of, sizeof n->of, "%.*s", (int)sizeof n->of - 1, of);
}

/* format with its first %.9g, where it has one, as n. */
static void put_number(char *out, size_t cap, const char *format, double n)
{
    const char *at = strstr(format, "%.9g");
    if (at)
        snprintf(out, cap, "%.*s%.9g%s", (int)(at - format), format, n, at + strlen("%.9g"));
    else
        snprintf(out, cap, "%s", format);
}

void prove_add_at(prove_finding *f, words what, words of, double n, double value, const char *unit)
{
    char text[sizeof f->number[0].of];
    put_number(text, sizeof text, of.en, n);
    int before = f->count;
    prove_add(f, what, text, value, unit);
    if (f->count > before && of.zh)
        put_number(f->number[before].of_zh, sizeof f->number[before].of_zh, of.zh, n);
}

words prove_verdict_words(prove_verdict v)
{
    static const words all[PROVE_VERDICT_COUNT] = { { "HOLDS", "成立" },
                                                    { "REFUTED", "不成立" },
                                                    { "DEPENDS", "视情况而定" } };
    return all[v];
}

words prove_kind_words(prove_kind k)
{
    static const words all[PROVE_KIND_COUNT] = { { "measured", "测量" },
                                                 { "algebra", "代数" },
                                                 { "definition", "定义" } };
    return all[k];
}
