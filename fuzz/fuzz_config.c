/* SPDX-License-Identifier: MIT
 * max_len: 16384
 *
 * config.json: a model that is made has an encoding for every layer, and each is one that the library makes. */
#include "harness.h"
#include "zoo/zoo.h"

#include <string.h>

static void check_part(const zoo_part *p)
{
    int64_t layers = 0;
    for (int64_t n = 0; n < p->layers; n++)
        if (p->layer[n].group < 0 || p->layer[n].group >= p->groups || !p->layer[n].kind || p->layer[n].window < 0)
            harness_fail("layer %lld has no encoding", (long long)n);
    for (int g = 0; g < p->groups; g++)
        layers += p->group[g].layers;
    if (layers != p->layers || p->trained < 0 || p->served < 0)
        harness_fail("%lld layers in groups, %lld in all", (long long)layers, (long long)p->layers);
}

/* The first group of each part: making encodings is most of the time. */
static void check_spec(const zoo_group *g)
{
    pe_encoding *e;
    pe_error err;
    if (pe_encoding_new(&e, g->spec, g->shape, &err))
        harness_fail("%s: %s", g->spec, err.text);
    if (strcmp(pe_encoding_spec(e), g->spec))
        harness_fail("%s is not canonical", g->spec);
    pe_encoding_free(e);
}

static void work(const uint8_t *data, size_t size)
{
    pe_error err;
    zoo_model *m;
    zoo_options o = { .lenient = size & 1 };
    if (zoo_read_config(&m, "input", (const char *)data, size, &o, &err))
        return;
    for (int p = 0; p < m->parts; p++) {
        check_part(&m->part[p]);
        check_spec(&m->part[p].group[0]);
    }
    zoo_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return harness_run(&harness_reader, work, data, size);
}
