/* SPDX-License-Identifier: MIT
 *
 * The plan in an engine's words: the model with the plan in it, as zoo/engines.h spells it. A config.json is patched,
 * so that it keeps what else it says. */
#include "cli/extend.h"

#include "zoo/spec_read.h"

#include <stdlib.h>
#include <string.h>

static const extend_plan *taken(const extend_job *j)
{
    return &j->plan[j->taken];
}

bool extend_wants(const extend_job *j, const zoo_engine *e)
{
    const char *only = cli_text(j->args, "for");
    return !only || !strcmp(only, e->name);
}

/* ---------------------------------------------------------------- settings */

static cli_exit keys(char **out, const extend_job *j, const char *config, extend_era era)
{
    extend_patch p;
    pe_error err;
    if (extend_patch_make(&p, &j->x, taken(j), config, era, &err))
        return cli_fail_from(j->args, CLI_INPUT, j->zoo->path, &err);
    pe_status s = extend_patch_show(out, &p, config, &err);
    extend_patch_free(&p);
    return s ? cli_fail_from(j->args, CLI_INPUT, j->zoo->path, &err) : CLI_OK;
}

/* A config.json in its own spelling; without one, in that of version 5, and in the one before where that is all of it:
 * widths and sections stood elsewhere then. */
static cli_exit patch(extend_setting *s, const extend_job *j, const zoo_engine *e, const zoo_part *planned)
{
    pe_error err;
    if (strcmp(j->config, EXTEND_NO_CONFIG))
        return keys(&s->text, j, j->config, EXTEND_AS_FILE);
    if (zoo_engine_text(&s->text, e, j->zoo, planned, false, &err))
        return cli_fail_from(j->args, CLI_INPUT, j->zoo->path, &err);
    bool all = zoo_spec_meets(taken(j)->brief, "!dims,!sections,axes=1") && zoo_engine_remark(e, planned);
    return all ? keys(&s->older, j, EXTEND_NO_CONFIG, EXTEND_SCALING) : CLI_OK;
}

/* ---------------------------------------------------------------- remarks */

/* What a plan adds to the quirks of engines.h; method NULL: any. */
static const struct {
    const char *engine, *method, *text;
} remarks[] = {
    { "transformers", "dynamic", "max_position_embeddings stays: dynamic takes it for the trained length" },
    { "vllm", NULL, "versions that read rope_scaling take the same object under that name" },
    { "vllm", "linear",
      "it makes a table of max_position_embeddings x factor rows: leave that key out where the file "
      "has the trained length" },
    { "vllm", "p-rope", "rope_type proportional is for models that were trained so" },
    { "sglang", "dynamic", "which is the plain base where the factor is 1: take --method ntk" },
    { "llama.cpp", "dynamic", "--method ntk is the same at the full length" },
    { "llama.cpp", "longrope", "convert the changed config.json again" },
    { "llama.cpp", "llama3", "convert the changed config.json again" },
    { "llama.cpp", "p-rope", "convert the changed config.json again, and train the model so" },
};

static void remark(FILE *to, const char *text)
{
    fprintf(to, "%s%s", ftell(to) > 0 ? "; " : "", text);
}

static void put_remarks(FILE *to, const extend_job *j, const zoo_engine *e, const zoo_part *planned)
{
    const zoo_quirk *q;
    const char *method = taken(j)->method->name, *closed = zoo_engine_closed(e, planned);
    if (closed) {
        fprintf(to, "none: %s", closed);
        return;
    }
    for (int i = 0; (q = zoo_quirk_at(i)); i++)
        if (!strcmp(q->engine, e->name) && zoo_quirk_applies(q, planned))
            remark(to, q->text);
    for (int i = 0; i < CLI_COUNT(remarks); i++)
        if (!strcmp(remarks[i].engine, e->name) && (!remarks[i].method || !strcmp(remarks[i].method, method)))
            remark(to, remarks[i].text);
    bool divided = !strcmp(j->x.scaling, "llama3") || !strcmp(j->x.scaling, "longrope");
    if (!e->takes_config && divided && zoo_engine_says(e, planned))
        remark(to, "a GGUF of this model holds divisors of its own, which stay in force beside these flags: two "
                   "scalings, stacked");
}

static cli_exit make_remarks(extend_setting *s, const extend_job *j, const zoo_engine *e, const zoo_part *planned)
{
    size_t size = 0;
    FILE *to = open_memstream(&s->remark, &size);
    if (to)
        put_remarks(to, j, e, planned);
    if (!to || fclose(to))
        return cli_fail(j->args, CLI_SYSTEM, "no memory for the remarks on %s", e->name);
    return CLI_OK;
}

/* ---------------------------------------------------------------- both */

static cli_exit describe(extend_setting *s, const extend_job *j, const zoo_engine *e, const zoo_part *planned)
{
    pe_error err;
    if (zoo_engine_closed(e, planned))
        return make_remarks(s, j, e, planned);
    if (!e->start)
        CLI_TRY(patch(s, j, e, planned));
    else if (zoo_engine_says(e, planned) && zoo_engine_text(&s->text, e, j->zoo, planned, true, &err))
        return cli_fail_from(j->args, CLI_INPUT, j->zoo->path, &err);
    return make_remarks(s, j, e, planned);
}

cli_exit extend_settings(extend_setting *out, const extend_job *j, const zoo_engine *e)
{
    zoo_part planned = *j->x.part;
    size_t size = (size_t)planned.groups * sizeof *planned.group;
    *out = (extend_setting){ 0 };
    planned.group = malloc(size);
    if (!planned.group)
        return cli_fail(j->args, CLI_SYSTEM, "no memory for the settings of %s", e->name);
    memcpy(planned.group, j->x.part->group, size);
    planned.group[j->x.group - j->x.part->group].spec = taken(j)->brief;
    planned.served = j->x.target;
    cli_exit code = describe(out, j, e, &planned);
    free(planned.group);
    return code;
}

void extend_setting_free(extend_setting *s)
{
    free(s->text);
    free(s->older);
    free(s->remark);
    *s = (extend_setting){ 0 };
}
