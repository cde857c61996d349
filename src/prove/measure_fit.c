/* SPDX-License-Identifier: MIT
 *
 * A spec with tables that reach as far as a claim looks, where the spec leaves that open. */
#include "prove/measure.h"

#include <stdio.h>
#include <string.h>

/* Whether the keys of a spec of one part have this one. */
static bool has_key(const char *spec, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = strpbrk(spec, ":,"); at; at = strpbrk(at + 1, ":,"))
        if (!strncmp(at + 1, key, n) && at[1 + n] == '=')
            return true;
    return false;
}

/* Appends key=reach; false: no room. */
static bool append(char *spec, size_t cap, const char *key, int64_t reach)
{
    size_t used = strlen(spec);
    int n = snprintf(spec + used, cap - used, "%c%s=%lld", strchr(spec, ':') ? ',' : ':', key, (long long)reach);
    return n > 0 && (size_t)n < cap - used;
}

bool measure_fit(char *out, size_t cap, const char *spec, int64_t reach)
{
    const pe_info *row = strchr(spec, '+') ? NULL : measure_row(spec);
    const char *keys[] = { row ? row->key_length : NULL, row ? row->key_ahead : NULL, row ? row->key_trained : NULL };
    bool fitted = false, room = strlen(spec) < cap;
    snprintf(out, cap, "%s", spec);
    for (size_t n = 0; n < sizeof keys / sizeof *keys && room; n++)
        if (keys[n] && !has_key(spec, keys[n])) {
            room = append(out, cap, keys[n], reach);
            fitted = true;
        }
    return fitted && room;
}
