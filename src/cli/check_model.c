/* SPDX-License-Identifier: MIT
 *
 * The spec of a check from a model's file: that of the layer that was dumped. */
#include "cli/check.h"
#include "cli/model.h"
#include "cli/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A word that names no file and reads as a spec is one. */
bool check_is_model(const char *word)
{
    bool exists = access(word, F_OK) == 0;
    return exists || (!zoo_spec_row(word) && strpbrk(word, "./") && !strchr(word, ':'));
}

cli_exit check_no_model(const cli_args *a)
{
    static const char *const only[] = { "layer", "lenient", "pairs", "type", "theta", "trained", "length" };
    for (int i = 0; i < CLI_COUNT(only); i++)
        if (cli_given(a, only[i]))
            return cli_fail(a, CLI_USAGE, "--%s is for a model's file, and there is a spec; say it there", only[i]);
    return CLI_OK;
}

static page_list layers_of(const zoo_part *p, int group)
{
    page_list out = { "?" };
    bool *in = calloc((size_t)p->layers, sizeof *in);
    for (int64_t n = 0; in && n < p->layers; n++)
        in[n] = p->layer[n].group == group;
    if (in)
        out = page_ranges(in, p->layers);
    free(in);
    return out;
}

static cli_exit ask_for_layer(const cli_args *a, const zoo_model *m)
{
    const zoo_part *p = &m->part[0];
    for (int g = 0; g < p->groups; g++)
        cli_note(a, "layers %s: %.200s", layers_of(p, g).text, p->group[g].spec);
    return cli_fail(a, CLI_USAGE, "%s: its layers differ; say which one was dumped: --layer N", m->path);
}

static cli_exit choose_group(const cli_args *a, const zoo_model *m, const zoo_group **out)
{
    const zoo_part *p = &m->part[0];
    int64_t layer = cli_int(a, "layer");
    if (cli_given(a, "layer") && layer >= p->layers)
        return cli_fail(a, CLI_USAGE, "--layer is %" PRId64 "; %s has layers 0 to %" PRId64, layer, m->path,
                        p->layers - 1);
    if (!cli_given(a, "layer") && p->groups > 1)
        return ask_for_layer(a, m);
    *out = &p->group[cli_given(a, "layer") ? p->layer[layer].group : 0];
    return CLI_OK;
}

/* The copy outlives the model. */
static cli_exit keep(check_files *f, const zoo_group *g)
{
    size_t size = strlen(g->spec) + 1;
    f->spec = malloc(size);
    if (!f->spec)
        return cli_fail(f->job.args, CLI_SYSTEM, "no memory for a spec");
    memcpy(f->spec, g->spec, size);
    f->d.given = f->spec;
    f->head_dim = g->shape.head_dim;
    return CLI_OK;
}

cli_exit check_open_model(check_files *f, const char *path)
{
    const cli_args *a = f->job.args;
    const zoo_group *g = NULL;
    zoo_model *m;
    cli_exit code = model_open(&m, a, path);
    for (int i = 0; !code && i < m->notes; i++)
        if (m->note[i].level == ZOO_GUESS)
            cli_note(a, "%s", m->note[i].text);
    if (!code)
        code = choose_group(a, m, &g);
    if (!code)
        code = keep(f, g);
    zoo_free(m);
    return code;
}
