/* SPDX-License-Identifier: MIT
 *
 * Links. RFC 3986: what is not unreserved is written %XX; the page reads the fragment as a form, where + is a space. */
#include "cli/explore.h"

#include <stdlib.h>
#include <string.h>

static bool unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~", c));
}

static void put(FILE *to, const char *text, const char *kept)
{
    for (; *text; text++)
        if (unreserved(*text) || strchr(kept, *text))
            fputc(*text, to);
        else
            fprintf(to, "%%%02X", (unsigned char)*text);
}

static void put_fragment(FILE *to, const void *about)
{
    static const char *const name[] = { "a", "b", "lang" };
    const explore_state *s = about;
    const char *text[] = { s->spec[0], s->spec[1], s->lang };
    char sign = '#';
    for (int i = 0; i < CLI_COUNT(name); i++) {
        if (!text[i])
            continue;
        fprintf(to, "%c%s=", sign, name[i]);
        put(to, text[i], "");
        sign = '&';
    }
}

static void put_url(FILE *to, const void *path)
{
    fputs("file://", to);
    put(to, path, "/");
}

static char *made(void (*write)(FILE *, const void *), const void *about)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return NULL;
    write(to, about);
    bool whole = !ferror(to);
    if (fclose(to) || !whole) {
        free(text);
        return NULL;
    }
    return text;
}

char *explore_fragment(const explore_state *s)
{
    return made(put_fragment, s);
}

char *explore_url(const char *path)
{
    return made(put_url, path);
}
