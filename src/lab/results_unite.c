/* SPDX-License-Identifier: MIT
 *
 * Several folders as one race. */
#include "lab/results_records.h"

#include <string.h>

static pe_status add_entry(lab_setup *all, const lab_entry *e, const char *folder, pe_error *err)
{
    int i = results_entry(all, e->name);
    if (i >= 0 && (strcmp(all->entry[i].spec, e->spec) || strcmp(all->entry[i].trained, e->trained)))
        return io_fail(err, PE_ERR_FORMAT, "%s: %s is %s trained as %s, and %s trained as %s in a folder before it",
                       folder, e->name, e->spec, e->trained, all->entry[i].spec, all->entry[i].trained);
    if (i >= 0)
        return PE_OK;
    if (all->entries == LAB_ENTRIES_MAX)
        return io_fail(err, PE_ERR_FORMAT, "%s: more than %d entries in all", folder, LAB_ENTRIES_MAX);
    all->entry[all->entries++] = *e;
    return PE_OK;
}

/* Into a sorted list of numbers, each once. False: no room. */
static bool add_length(lab_setup *all, int64_t length)
{
    int i = all->tests;
    for (int n = 0; n < all->tests; n++)
        if (all->test[n] == length)
            return true;
    if (i == LAB_TESTS_MAX)
        return false;
    for (; i > 0 && all->test[i - 1] > length; i--)
        all->test[i] = all->test[i - 1];
    all->test[i] = length;
    all->tests++;
    return true;
}

static bool add_seed(lab_setup *all, uint64_t seed)
{
    for (int n = 0; n < all->seeds; n++)
        if (all->seed[n] == seed)
            return true;
    if (all->seeds == LAB_SEEDS_MAX)
        return false;
    all->seed[all->seeds++] = seed;
    return true;
}

static void add_command(lab_setup *all, const char *command)
{
    size_t used = strlen(all->command);
    int n = snprintf(all->command + used, sizeof all->command - used, "\n%s", command);
    if (n >= (int)(sizeof all->command - used))
        io_end_with_dots(all->command, sizeof all->command);
}

pe_status results_unite(lab_setup *all, const lab_setup *one, const char *const *folder, int index, pe_error *err)
{
    char a[600], b[600];
    const field *f = fields_differ(record_setup.field, record_setup.count, all, one, a, b, sizeof a);
    if (f)
        return io_fail(err, PE_ERR_FORMAT, "%s and %s cannot be compared: %s is %s in one and %s in the other",
                       folder[0], folder[index], f->name, a, b);
    pe_status s = PE_OK;
    for (int i = 0; i < one->entries && !s; i++)
        s = add_entry(all, &one->entry[i], folder[index], err);
    bool room = true;
    for (int i = 0; i < one->tests; i++)
        room = room && add_length(all, one->test[i]);
    for (int i = 0; i < one->seeds; i++)
        room = room && add_seed(all, one->seed[i]);
    if (!s && !room)
        s = io_fail(err, PE_ERR_FORMAT, "%s: more than %d lengths or %d seeds in all", folder[index], LAB_TESTS_MAX,
                    LAB_SEEDS_MAX);
    if (!s)
        add_command(all, one->command);
    return s;
}
