/* SPDX-License-Identifier: MIT */
#include "cuda/bundle.h"

const bundle_head *bundle_built_in(void)
{
    return &cuda_bundle;
}

/* Code for 8.0 runs on 8.6 and 8.9 too; code for 9.0 is for its own instructions and runs nowhere else. */
static bool runs_on(int code, int device)
{
    return code == device || (code != 90 && code / 10 == device / 10 && code < device);
}

const void *bundle_find(const bundle_head *bundle, hash128 program, int capability)
{
    const bundle_entry *entry = (const bundle_entry *)(bundle + 1), *best = NULL;
    for (uint64_t i = 0; i < bundle->count; i++, entry++)
        if (hash_same(entry->program, program) && runs_on((int)entry->capability, capability) &&
            (!best || entry->capability > best->capability))
            best = entry;
    return best ? (const char *)bundle + best->offset : NULL;
}
