/* SPDX-License-Identifier: MIT
 *
 * The files that a race needs to be resumed: race.json has the settings, source.json says where the data came from. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "lab/race.h"

#include "io/json_out.h"

#include <stdlib.h>
#include <string.h>

static void out_list(json_out *j, const char *key, const char *const *item, int count)
{
    out_open(j, key, '[');
    for (int i = 0; i < count; i++) {
        char *whole = realpath(item[i], NULL); /* it may be resumed from elsewhere */
        out_text(j, NULL, whole ? whole : item[i]);
        free(whole);
    }
    out_close(j, ']');
}

static pe_status write_source(FILE *to, const void *with, pe_error *err)
{
    const lab_source *s = with;
    (void)err;
    json_out j = out_start(to);
    out_open(&j, NULL, '{');
    out_text(&j, "name", s->name);
    out_list(&j, "files", s->file, s->files);
    out_list(&j, "tests", s->test, s->tests);
    out_bool(&j, "masked", s->masked);
    out_close(&j, '}');
    return PE_OK;
}

pe_status race_save(const race *r, pe_error *err)
{
    TRY(io_make_file(r->asked.folder, "source.json", write_source, &r->asked.source, err));
    return lab_save_setup(r->asked.folder, &r->results.setup, err); /* last: with it the race exists */
}

/* A copy of the text in the race's room; NULL: full. */
static const char *keep_text(race *r, size_t *used, const char *text)
{
    size_t size = strlen(text) + 1;
    if (size > sizeof r->texts - *used)
        return NULL;
    char *at = memcpy(r->texts + *used, text, size);
    *used += size;
    return at;
}

static pe_status read_list(race *r, const char **item, int *count, int most, const io_node *root, const char *key,
                           size_t *used, pe_error *err)
{
    io_node list;
    const char *text;
    TRY(io_json_array(&list, root, key, IO_REQUIRED, err));
    for (io_node child = { 0 }; io_json_next(&child, &list);) {
        TRY(io_json_string(&text, &child, NULL, IO_REQUIRED, err));
        if (*count == most || !(item[*count] = keep_text(r, used, text)))
            return io_fail(err, PE_ERR_FORMAT, "%s/source.json: %s has too many files", r->asked.folder, key);
        ++*count;
    }
    return PE_OK;
}

static pe_status read_source(race *r, const io_node *root, pe_error *err)
{
    lab_source *s = &r->asked.source;
    const char *name;
    size_t used = 0;
    *s = (lab_source){ .file = r->file, .test = r->test };
    TRY(io_json_string(&name, root, "name", IO_REQUIRED, err));
    if (!(s->name = keep_text(r, &used, name)))
        return io_fail(err, PE_ERR_FORMAT, "%s/source.json: name is too long", r->asked.folder);
    TRY(io_json_bool(&s->masked, root, "masked", IO_REQUIRED, err));
    TRY(read_list(r, r->file, &s->files, RACE_FILES, root, "files", &used, err));
    return read_list(r, r->test, &s->tests, RACE_FILES, root, "tests", &used, err);
}

bool race_is_source(const char *folder)
{
    char path[RACE_FOLDER + 20];
    io_node root = { 0 }, list;
    const char *name;
    bool masked;
    snprintf(path, sizeof path, "%s/source.json", folder);
    bool ours = !io_json_load(&root, path, NULL) && !io_json_string(&name, &root, "name", IO_REQUIRED, NULL) &&
                !io_json_bool(&masked, &root, "masked", IO_REQUIRED, NULL) &&
                !io_json_array(&list, &root, "files", IO_REQUIRED, NULL) &&
                !io_json_array(&list, &root, "tests", IO_REQUIRED, NULL);
    io_json_free(&root);
    return ours;
}

pe_status race_load(race *r, pe_error *err)
{
    char path[RACE_FOLDER + 20];
    io_node root = { 0 };
    TRY(lab_read_setup(&r->results.setup, r->asked.folder, err));
    snprintf(path, sizeof path, "%s/source.json", r->asked.folder);
    TRY(io_json_load(&root, path, err));
    pe_status status = read_source(r, &root, err);
    io_json_free(&root);
    return status;
}
