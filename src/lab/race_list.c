/* SPDX-License-Identifier: MIT
 *
 * Which encodings take part: from the command line or from a sweep's file. */
#include "lab/race.h"

#include "io/io.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SLUG 40 /* letters of a name that its folder keeps */

static bool slug_is_taken(const lab_setup *s, const char *slug)
{
    for (int i = 0; i < s->entries; i++)
        if (!strcmp(s->entry[i].slug, slug))
            return true;
    return false;
}

/* The name in letters that every file system takes, unlike all before it. */
static void make_slug(lab_entry *e, const lab_setup *s)
{
    char base[SLUG + 1];
    int n = 0;
    for (const char *c = e->name; *c && n < SLUG; c++, n++)
        base[n] = isalnum((unsigned char)*c) || (*c == '.' && n) ? *c : '-';
    base[n] = 0;
    snprintf(e->slug, sizeof e->slug, "%s", base);
    for (int i = 2; slug_is_taken(s, e->slug); i++)
        snprintf(e->slug, sizeof e->slug, "%s-%d", base, i);
}

static pe_status add(lab_setup *s, const char *name, const char *spec, pe_error *err)
{
    lab_entry e = { 0 };
    if (s->entries == LAB_ENTRIES_MAX)
        return io_fail(err, PE_ERR_SPEC, "%.60s is one encoding too many: a race takes %d", name, LAB_ENTRIES_MAX);
    if (!*spec || !*name)
        return io_fail(err, PE_ERR_SPEC, "an encoding of the list is empty; needs a spec such as rope or alibi");
    if (*name == '-') /* it names a folder, which programs would take for an option */
        return io_fail(err, PE_ERR_SPEC, "%.60s starts with -; a name starts with a letter or a digit", name);
    if (strlen(spec) >= sizeof e.spec)
        return io_fail(err, PE_ERR_SPEC, "%.60s... has %zu characters; a spec of a race has %zu at most", spec,
                       strlen(spec), sizeof e.spec - 1);
    snprintf(e.spec, sizeof e.spec, "%s", spec);
    if ((size_t)snprintf(e.name, sizeof e.name, "%s", name) >= sizeof e.name)
        io_end_with_dots(e.name, sizeof e.name);
    for (int i = 0; i < s->entries; i++)
        if (!strcmp(s->entry[i].name, e.name))
            return io_fail(err, PE_ERR_SPEC, "%s is there twice; a name stands for one encoding", e.name);
    make_slug(&e, s);
    s->entry[s->entries++] = e;
    return PE_OK;
}

/* key=value, which goes on with the spec before the comma. */
static bool goes_on(const char *word)
{
    size_t n = strcspn(word, "=:,+");
    return word[n] == '=';
}

pe_status race_add_list(lab_setup *s, const char *list, pe_error *err)
{
    char spec[4096];
    for (const char *at = list; at;) {
        const char *end = at + strcspn(at, ",");
        while (*end && goes_on(end + 1))
            end += 1 + strcspn(end + 1, ",");
        snprintf(spec, sizeof spec, "%.*s", (int)(end - at < 4096 ? end - at : 4095), at); /* longer ones are refused */
        RACE_TRY(add(s, spec, spec, err));
        at = *end ? end + 1 : NULL;
    }
    return PE_OK;
}

static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t n = strlen(text);
    while (n && strchr(" \t\r", text[n - 1]))
        text[--n] = 0;
    return text;
}

/* "name = spec" has its = before any colon; "rope:theta=10000" has not. */
static pe_status add_line(lab_setup *s, char *line, pe_error *err)
{
    line[strcspn(line, "#")] = 0;
    line = trim(line);
    if (!*line)
        return PE_OK;
    char *mark = line + strcspn(line, "=:");
    if (*mark != '=')
        return add(s, line, line, err);
    *mark = 0;
    return add(s, trim(line), trim(mark + 1), err);
}

pe_status race_add_file(race_asked *out, const char *path, pe_error *err)
{
    lab_setup *s = &out->setup;
    io_bytes file;
    int number = 0;
    pe_error why = { 0 };
    RACE_TRY(io_read_file(&file, path, IO_CAP_TEXT, err));
    if (strlen((char *)file.data) < file.size) { /* lines after it would be lost */
        io_bytes_free(&file);
        return io_fail(err, PE_ERR_FORMAT, "%s: a byte of it is 0; needs text", path);
    }
    pe_status status = PE_OK;
    for (char *line = (char *)file.data; line && !status; number++) {
        char *end = strchr(line, '\n');
        if (end)
            *end = 0;
        int before = s->entries;
        status = add_line(s, line, &why);
        if (s->entries > before)
            out->line[before] = number + 1;
        line = end ? end + 1 : NULL;
    }
    io_bytes_free(&file);
    out->sweep = path;
    return status ? io_fail(err, status, "%s: line %d: %s", path, number, why.text) : PE_OK;
}
