/* SPDX-License-Identifier: MIT
 *
 * The plan in an engine's words: the model with the plan in it, as zoo/engines.h spells it. A config.json is patched,
 * so that it keeps what else it says. */
#include "cli/cli.h"
#include "cli/extend.h"

#include "zoo/build.h"
#include "zoo/spec_read.h"

#include <stdlib.h>
#include <string.h>

static const extend_plan *taken_plan(const extend_job *j)
{
    return &j->plan[j->taken];
}

/* ---------------------------------------------------------------- settings */

static pe_status patch_keys(char **out, const extend_job *j, const char *config, extend_era era, pe_error *err)
{
    extend_patch p;
    TRY(extend_patch_make(&p, &j->x, taken_plan(j), config, era, err));
    pe_status s = extend_patch_show(out, &p, config, err);
    extend_patch_free(&p);
    return s;
}

/* A config.json in its own spelling; without one, in that of version 5, and in the one before where that is all of it:
 * widths and sections stood elsewhere then. */
static pe_status make_patch(extend_setting *s, const extend_job *j, const zoo_engine *e, const zoo_part *planned,
                            pe_error *err)
{
    if (strcmp(j->config, EXTEND_NO_CONFIG))
        return patch_keys(&s->text, j, j->config, EXTEND_AS_FILE, err);
    TRY(zoo_engine_text(&s->text, e, j->zoo, planned, false, err));
    bool all = zoo_spec_meets(taken_plan(j)->brief, "!dims,!sections,axes=1") && zoo_engine_remark(e, planned);
    return all ? patch_keys(&s->older, j, EXTEND_NO_CONFIG, EXTEND_SCALING, err) : PE_OK;
}

/* ---------------------------------------------------------------- remarks */

/* What a plan adds to the quirks of engines.h; method NULL: any. */
static const struct {
    const char *engine, *method, *text;
} remarks[] = {
    { "transformers", "dynamic", "max_position_embeddings stays: dynamic takes it for the trained length" },
    { "vllm", NULL, "for versions that read rope_scaling, pass the same object under that name" },
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

static void put_remark(FILE *to, const char *text)
{
    fprintf(to, "%s%s", ftell(to) > 0 ? "; " : "", text);
}

static void put_remarks(FILE *to, const extend_job *j, const zoo_engine *e, const zoo_part *planned)
{
    const zoo_quirk *q;
    const char *method = taken_plan(j)->method->name, *closed = zoo_engine_closed(e, planned);
    if (closed) {
        fprintf(to, "none: %s", closed);
        return;
    }
    for (int i = 0; (q = zoo_quirk_at(i)); i++)
        if (!strcmp(q->engine, e->name) && zoo_quirk_applies(q, planned))
            put_remark(to, q->text);
    for (int i = 0; i < CLI_COUNT(remarks); i++)
        if (!strcmp(remarks[i].engine, e->name) && (!remarks[i].method || !strcmp(remarks[i].method, method)))
            put_remark(to, remarks[i].text);
    bool divided = !strcmp(j->x.scaling, "llama3") || !strcmp(j->x.scaling, "longrope");
    if (!e->takes_config && divided && zoo_engine_says(e, planned))
        put_remark(to, "a GGUF of this model has its own divisors, which still apply together with these flags: two "
                       "scalings, stacked");
}

static pe_status make_remarks(extend_setting *s, const extend_job *j, const zoo_engine *e, const zoo_part *planned,
                              pe_error *err)
{
    size_t size = 0;
    FILE *to = open_memstream(&s->remark, &size);
    if (to)
        put_remarks(to, j, e, planned);
    return !to || fclose(to) ? io_fail(err, PE_ERR_NOMEM, "no memory for the remarks on %s", e->name) : PE_OK;
}

/* ---------------------------------------------------------------- both */

static pe_status make_setting(extend_setting *s, const extend_job *j, const zoo_engine *e, const zoo_part *planned,
                              pe_error *err)
{
    bool open = !zoo_engine_closed(e, planned);
    if (open && !e->start)
        TRY(make_patch(s, j, e, planned, err));
    else if (open && zoo_engine_says(e, planned))
        TRY(zoo_engine_text(&s->text, e, j->zoo, planned, true, err));
    return make_remarks(s, j, e, planned, err);
}

pe_status extend_settings(extend_setting *out, const extend_job *j, const zoo_engine *e, pe_error *err)
{
    zoo_part planned = *j->x.part;
    size_t size = (size_t)planned.groups * sizeof *planned.group;
    *out = (extend_setting){ 0 };
    planned.group = malloc(size);
    if (!planned.group)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the settings of %s", e->name);
    memcpy(planned.group, j->x.part->group, size);
    planned.group[j->x.group - j->x.part->group].spec = taken_plan(j)->brief;
    planned.served = j->x.target;
    pe_status s = make_setting(out, j, e, &planned, err);
    free(planned.group);
    if (s)
        extend_setting_free(out);
    return s;
}

void extend_setting_free(extend_setting *s)
{
    free(s->text);
    free(s->older);
    free(s->remark);
    *s = (extend_setting){ 0 };
}
