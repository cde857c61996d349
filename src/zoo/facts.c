/* SPDX-License-Identifier: MIT */
#include "zoo/facts_table.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const zoo_fact *row;
    const size_t *count;
    const char *where; /* before the folder */
} tables[] = {
    { zoo_facts_rope, &zoo_facts_rope_count, "transformers 5.17.0 models/" },
    { zoo_facts_other, &zoo_facts_other_count, "transformers 5.17.0 models/" },
    { zoo_facts_parts, &zoo_facts_parts_count, "transformers 5.17.0 models/" },
    { zoo_facts_remote, &zoo_facts_remote_count, "" },
};
#define TABLES (sizeof tables / sizeof *tables)

const zoo_fact *zoo_fact_at(size_t i)
{
    for (size_t t = 0; t < TABLES; i -= *tables[t++].count)
        if (i < *tables[t].count)
            return &tables[t].row[i];
    return NULL;
}

const zoo_fact *zoo_fact_find(const char *type)
{
    const zoo_fact *f;
    for (size_t i = 0; (f = zoo_fact_at(i)); i++)
        if (!strcmp(f->type, type))
            return f;
    return NULL;
}

const char *zoo_fact_source(char out[120], const zoo_fact *f)
{
    for (size_t t = 0; t < TABLES; t++)
        if (f >= tables[t].row && f < tables[t].row + *tables[t].count)
            snprintf(out, 120, "%s%s", tables[t].where, f->at ? f->at : f->type);
    return out;
}
