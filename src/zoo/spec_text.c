/* SPDX-License-Identifier: MIT
 *
 * Spec text, key by key. */
#include "zoo/build.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put(zoo_spec *s, const char *format, ...) IO_PRINTF(2, 3);
static void put(zoo_spec *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(s->text + s->used, sizeof s->text - s->used, format, list);
    va_end(list);
    s->full |= n < 0 || (size_t)n >= sizeof s->text - s->used;
    s->used = s->full ? sizeof s->text - 1 : s->used + (size_t)n;
}

static void put_key(zoo_spec *s, const char *key)
{
    put(s, "%c%s=", strchr(s->text, ':') ? ',' : ':', key);
}

zoo_figure zoo_number(double x)
{
    zoo_figure out;
    text_print(out.text, sizeof out.text, x);
    return out;
}

void zoo_spec_start(zoo_spec *s, const char *name)
{
    s->used = 0;
    s->full = false;
    put(s, "%s", name);
}

void zoo_spec_word(zoo_spec *s, const char *key, const char *x)
{
    put_key(s, key);
    put(s, "%s", x);
}

void zoo_spec_real(zoo_spec *s, const char *key, double x)
{
    char text[40];
    if (isnan(x))
        return;
    text_print(text, sizeof text, x);
    zoo_spec_word(s, key, text);
}

void zoo_spec_int(zoo_spec *s, const char *key, int64_t x)
{
    put_key(s, key);
    put(s, "%" PRId64, x);
}

void zoo_spec_raw(zoo_spec *s, const char *keys)
{
    if (keys && *keys)
        put(s, "%c%s", strchr(s->text, ':') ? ',' : ':', keys);
}

void zoo_spec_list(zoo_spec *s, const char *key, const double *x, size_t count)
{
    char text[40];
    put_key(s, key);
    for (size_t i = 0; i < count; i++) {
        text_print(text, sizeof text, x[i]);
        put(s, "%s%s", i ? "/" : "", text);
    }
}
