/* SPDX-License-Identifier: MIT
 * max_len: 1024
 *
 * Figures: any numbers and any words become a picture, a table or parts; JSON that is written can be read, and
 * text is UTF-8. */
#include "harness.h"

#include "draw/figure.h"
#include "io/json_out.h"

#include <stdlib.h>
#include <string.h>

/* A picture has its own size, whatever the input's is. */
static const harness_bound bound = { 4096, 1 << 23, 300, 0.2 };

static void fill(figure *f, const double *v, int count, const char *text)
{
    char **fields[] = { &f->title, &f->x_label, &f->y_label, &f->group, &f->caption, &f->x_mark_label };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        figure_text(f, fields[i], "%s", text);
    int rows = count > 4 ? 4 : 1, columns = count / rows;
    double *to =
        f->kind == FIGURE_CELLS ? figure_cells(f, rows, columns ? columns : 1) : figure_add_series(f, text, v, count);
    if (to)
        memcpy(to, v, (size_t)count / (size_t)rows * (size_t)rows * sizeof *v);
    const char *const names[4] = { text, "a", text, "" };
    figure_names(f, &f->y_names, names, rows);
    f->x_mark = count ? v[0] : 0;
    f->x_first = count > 1 ? v[1] : 0;
    f->y_min = count > 2 ? v[2] : 0;
    f->y_max = count > 3 ? v[3] : 0;
    f->y_log = count % 2;
    f->x_log2 = count % 3 == 0;
}

static void check_text(const char *text, size_t size, figure_format format)
{
    unsigned code;
    for (size_t i = 0; i < size;) {
        int n = out_character(text + i, &code);
        if (n == 0 || code == 0)
            harness_fail("format %d: byte %zu of %zu is no UTF-8: %02x", (int)format, i, size, (unsigned char)text[i]);
        i += (size_t)n;
    }
}

static void check(figure *f, figure_how how)
{
    char *text = NULL;
    size_t size = 0;
    pe_error err = { 0 };
    io_node root;
    FILE *to = open_memstream(&text, &size);
    pe_status s = to ? figures_write(to, &f, 1, &how, &err) : PE_OK;
    if (to)
        fclose(to);
    if (s)
        harness_fail("format %d: status %d, '%.200s'", (int)how.format, (int)s, err.text);
    if (size == 0)
        harness_fail("format %d: nothing was written", (int)how.format);
    check_text(text, size, how.format);
    if (how.format == FIGURE_JSON || how.format == FIGURE_PARTS) {
        if (io_json_parse(&root, "figure", text, size, &err))
            harness_fail("what was written is no JSON: %s", err.text);
        io_json_free(&root);
    }
    free(text);
}

static void work(const uint8_t *data, size_t size)
{
    double v[16] = { 0 };
    figure *f;
    if (size < 4)
        return;
    int count = data[3] % 16;
    size_t bytes = (size_t)count * sizeof *v < size - 4 ? (size_t)count * sizeof *v : size - 4;
    memcpy(v, data + 4, bytes);
    io_bytes text = harness_bytes(data + 4 + bytes, size - 4 - bytes);
    if (!figure_new(&f, (figure_kind)(data[0] % 3), NULL)) {
        fill(f, v, count, (const char *)text.data);
        check(f,
              (figure_how){ .format = (figure_format)(data[1] % FIGURE_FORMAT_COUNT),
                            .width = 200, /* a picture as dear as the other formats */
                            .screen = { .columns = 8 + data[2] / 2, .rows = 20, .glyphs = (draw_glyphs)(data[2] % 2) },
                            .language = (language)(data[0] / 3 % 2) });
        figure_free(f);
    }
    io_bytes_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return harness_run(&bound, work, data, size);
}
