/* SPDX-License-Identifier: MIT
 *
 * The plan in an engine's words. Read: transformers modeling_rope_utils.py, vLLM layers/rotary_embedding, llama.cpp
 * common/arg.cpp. */
#include "cli/extend.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static char *text_of(const char *format, ...) CLI_PRINTF(1, 2);
static char *text_of(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *out = n >= 0 ? malloc((size_t)n + 1) : NULL;
    va_start(list, format);
    if (out)
        vsnprintf(out, (size_t)n + 1, format, list);
    va_end(list);
    return out;
}

/* Text from a file goes between quotes of a shell: a quote in it closes them, stands by itself, and opens them again.
 */
static char *quoted(const char *text)
{
    char *out = malloc(4 * strlen(text) + 3), *to = out;
    if (!out)
        return NULL;
    *to++ = '\'';
    for (; *text; text++) {
        memcpy(to, *text == '\'' ? "'\\''" : text, *text == '\'' ? 4 : 1);
        to += *text == '\'' ? 4 : 1;
    }
    memcpy(to, "'", 2);
    return out;
}

static const extend_plan *taken(const extend_job *j)
{
    return &j->plan[j->taken];
}

static cli_exit merge(char **out, const extend_job *j, const char *config, extend_era era)
{
    extend_patch p;
    pe_error err;
    if (extend_patch_make(&p, &j->x, taken(j), config, era, &err))
        return cli_fail_from(j->args, CLI_INPUT, j->zoo->path, &err);
    pe_status s = extend_patch_merge(out, &p, &err);
    extend_patch_free(&p);
    return s ? cli_fail_from(j->args, CLI_INPUT, j->zoo->path, &err) : CLI_OK;
}

static cli_exit for_transformers(extend_setting *s, const extend_job *j)
{
    bool bare = !strcmp(j->config, EXTEND_NO_CONFIG);
    CLI_TRY(merge(&s->text, j, j->config, bare ? EXTEND_PARAMETERS : EXTEND_AS_FILE));
    if (strstr(s->text, "rope_parameters"))
        CLI_TRY(merge(&s->older, j, EXTEND_NO_CONFIG, EXTEND_SCALING));
    if (!strcmp(taken(j)->method->name, "dynamic"))
        snprintf(s->remark, sizeof s->remark,
                 "max_position_embeddings stays: dynamic takes it for the trained length; angles of keys that are "
                 "cached when the sequence grows are not renewed");
    return CLI_OK;
}

static const struct {
    const char *method, *remark;
} vllm_remarks[] = {
    { "dynamic", "vLLM makes one table, for factor x max_position_embeddings positions, and uses it for short prompts "
                 "too" },
    { "longrope", "vLLM takes the long list for every prompt once --max-model-len is past the trained length" },
    { "p-rope", "rope_type proportional is for models that were trained so" },
    { "linear", "vLLM makes a table of max_position_embeddings x factor rows: leave that key out where the file has "
                "the trained length" },
};

static cli_exit for_vllm(extend_setting *s, const extend_job *j)
{
    pe_error err;
    char *json = NULL;
    if (!taken(j)->method->key)
        CLI_TRY(merge(&json, j, j->config, EXTEND_AS_FILE));
    else if (extend_patch_whole(&json, &j->x, taken(j), j->config, &err))
        return cli_fail_from(j->args, CLI_INPUT, j->zoo->path, &err);
    char *word = quoted(json);
    if (word)
        s->text = text_of("vllm serve MODEL --max-model-len %" PRId64 " --hf-overrides %s", j->x.target, word);
    free(word);
    free(json);
    if (taken(j)->method->key)
        snprintf(s->remark, sizeof s->remark, "versions that read rope_scaling take the same object under that name");
    for (int i = 0; i < CLI_COUNT(vllm_remarks); i++)
        if (!strcmp(vllm_remarks[i].method, taken(j)->method->name))
            snprintf(s->remark, sizeof s->remark, "%s", vllm_remarks[i].remark);
    return s->text ? CLI_OK : cli_fail(j->args, CLI_SYSTEM, "no memory for a command");
}

/* %s: the method's number; NULL: no flags say it. */
static const struct {
    const char *method, *flags, *remark;
} llama_flags[] = {
    { "none", "", "" },
    { "linear", " --rope-scaling linear --rope-scale %s", "" },
    { "ntk", " --rope-freq-base %s", "" },
    { "yarn", " --rope-scaling yarn --rope-scale %s", "" },
    { "dynamic", NULL,
      "llama.cpp has no scaling that follows the sequence; --method ntk is the same at the full length" },
    { "longrope", NULL,
      "llama.cpp reads divisors from the file (rope_factors_long): convert the changed config.json again" },
    { "llama3", NULL, "llama.cpp reads divisors from the file (rope_freqs): convert the changed config.json again" },
    { "p-rope", NULL, "llama.cpp has no flags for it, and the model has to be trained so" },
};

/* Flags of a yarn that is not the usual one. */
static void yarn_flags(char *out, size_t cap, const extend_job *j, char remark[300])
{
    const char *spec = taken(j)->spec, *fast = strstr(spec, "beta_fast="), *slow = strstr(spec, "beta_slow=");
    int used = snprintf(out, cap, " --yarn-orig-ctx %" PRId64, j->x.trained);
    if (fast)
        used += snprintf(out + used, cap - (size_t)used, " --yarn-beta-fast %.*s", (int)strcspn(fast + 10, ",+"),
                         fast + 10);
    if (slow)
        snprintf(out + used, cap - (size_t)used, " --yarn-beta-slow %.*s", (int)strcspn(slow + 10, ",+"), slow + 10);
    if (strstr(spec, "truncate=no"))
        snprintf(remark, 300, "llama.cpp rounds the ramp's ends to whole pairs whatever the config says (truncate)");
}

static cli_exit for_llama(extend_setting *s, const extend_job *j)
{
    char number[40], flags[200], more[160] = "";
    const extend_plan *p = taken(j);
    int i = 0;
    while (i < CLI_COUNT(llama_flags) - 1 && strcmp(llama_flags[i].method, p->method->name))
        i++;
    snprintf(s->remark, sizeof s->remark, "%s", llama_flags[i].remark);
    if (!llama_flags[i].flags)
        return CLI_OK;
    cli_print_real(number, sizeof number, strcmp(p->method->name, "ntk") ? p->value : p->theta);
    int cut = (int)strcspn(llama_flags[i].flags, "%");
    snprintf(flags, sizeof flags, "%.*s%s", cut, llama_flags[i].flags, llama_flags[i].flags[cut] ? number : "");
    if (!strcmp(p->method->name, "yarn"))
        yarn_flags(more, sizeof more, j, s->remark);
    if (!strcmp(j->x.scaling, "llama3") || !strcmp(j->x.scaling, "longrope"))
        snprintf(s->remark, sizeof s->remark,
                 "a GGUF of this model holds divisors of its own, which stay in force beside these flags: two "
                 "scalings, stacked");
    s->text = text_of("llama-server -m MODEL.gguf -c %" PRId64 "%s%s", j->x.target, flags, more);
    return s->text ? CLI_OK : cli_fail(j->args, CLI_SYSTEM, "no memory for a command");
}

cli_exit extend_settings(extend_setting *out, const extend_job *j, int engine)
{
    static const struct {
        const char *name;
        cli_exit (*make)(extend_setting *, const extend_job *);
    } row[] = { { "transformers", for_transformers }, { "vLLM", for_vllm }, { "llama.cpp", for_llama } };
    *out = (extend_setting){ .engine = row[engine].name };
    return row[engine].make(out, j);
}

void extend_setting_free(extend_setting *s)
{
    free(s->text);
    free(s->older);
    *s = (extend_setting){ 0 };
}
