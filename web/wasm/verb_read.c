/* SPDX-License-Identifier: MIT
 *
 * read: a trained model reads a text, of the page alone: loss by position of one or more models (--view loss), how well
 * it read each byte at the end of a long text (--view text), and the attention of a sentence (--view attention). An
 * operand is FILE, or FILE=SPEC for another encoding over the same weights. */
#include "cli/cli.h"

#include "draw/figure.h"
#include "model/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VIEW_LOSS = 0, VIEW_TEXT, VIEW_ATTENTION };
enum { BINS = 32, WINDOWS = 4, SHOWN = 160, ROWS_MOST = 4096, TEXT_MOST = 1 << 20 };

static const cli_option options[] = {
    { "text", 0, CLI_PATH, "FILE", NULL, 0, 0, "the text; its bytes are the tokens" },
    { "length", 0, CLI_INT, "N", "128", 2, 1 << 16, "bytes of a window" },
    { "trained", 0, CLI_INT, "N", "0", 0, 1 << 30, "the trained length, which the chart marks" },
    { "view", 0, CLI_CHOICE, "loss|text|attention", "loss", 0, 0, "what is shown" },
    { "layer", 0, CLI_INT, "N", "0", 0, 255, "of attention" },
    { "head", 0, CLI_INT, "N", "0", 0, 255, "of attention" },
    { "width", 0, CLI_INT, "N", "640", 200, 4000, "pixels of the picture" },
    CLI_OPTION_LANG,
    CLI_OPTION_JSON,
};
static const cli_example examples[] = { { "posenc read rope.safetensors --text story.txt --length 256", "loss by position" } };

typedef struct reading {
    const cli_args *args;
    language language;
    model *m;
    io_bytes text;
    int32_t *token; /* of the text */
    real *loss;     /* (windows, length) in nats */
    uint8_t *right;
    int64_t length, windows;
    figure *figure;
    pe_error err;
} reading;

static pe_status no_memory(reading *r)
{
    return io_fail(&r->err, PE_ERR_NOMEM, "no memory for a text of %" PRId64 " bytes", r->length);
}

static pe_status read_open(reading *r, const char *operand)
{
    char path[256];
    const char *spec = strchr(operand, '=');
    snprintf(path, sizeof path, "%.*s", (int)(spec ? spec - operand : (long)strlen(operand)), operand);
    model_free(r->m);
    pe_status s = model_open_file(&r->m, NULL, path, NULL, &r->err);
    return s || !spec ? s : model_use(r->m, spec + 1, &r->err);
}

/* The windows of the text, each token of which is asked for the next. */
static pe_status read_losses(reading *r)
{
    int64_t n = r->length, rows = r->windows * n;
    int32_t *next = calloc((size_t)rows, sizeof *next);
    if (!next)
        return no_memory(r);
    for (int64_t i = 0; i < rows; i++)
        next[i] = r->token[i + 1];
    model_batch b = { .token = r->token,
                      .target = next,
                      .at = pe_positions_run(pe_encoding_axes(model_encoding(r->m)), n, 0),
                      .sequences = r->windows,
                      .length = n };
    pe_status s = model_losses(r->m, &b, r->loss, r->right, &r->err);
    free(next);
    return s;
}

static void read_add_line(reading *r)
{
    const char *name = pe_encoding_spec(model_encoding(r->m));
    int bins = r->length < BINS ? (int)r->length : BINS;
    double *y = figure_add_series(r->figure, name, NULL, bins);
    for (int k = 0; y && k < bins; k++) {
        int64_t from = k * r->length / bins, to = (k + 1) * r->length / bins;
        double sum = 0;
        for (int64_t w = 0; w < r->windows; w++)
            for (int64_t i = from; i < to; i++)
                sum += (double)r->loss[w * r->length + i];
        r->figure->series[r->figure->series_count - 1].x[k] = (double)(from + to) / 2;
        y[k] = sum / (double)(r->windows * (to - from)) / log(2);
    }
}

static pe_status read_view_loss(reading *r)
{
    int64_t trained = cli_int(r->args, "trained");
    char cannot[320] = "";
    pe_error *err = &r->err;
    pe_status s = figure_new(&r->figure, FIGURE_LINES, err);
    for (int i = 0; !s && i < r->args->operands; i++) {
        s = read_open(r, r->args->operand[i]);
        s = s ? s : read_losses(r);
        if (!s)
            read_add_line(r);
        if (s == PE_ERR_POSITION) { /* it cannot go so far, which is a result */
            const char *name = pe_encoding_spec(model_encoding(r->m));
            snprintf(cannot, sizeof cannot, say((words){ " %s has no codes so far out.", "%s 没有这么远的编码。" }, r->language), name);
            s = PE_OK;
        }
    }
    if (s)
        return s;
    figure_text(r->figure, &r->figure->title, "%s", say((words){ "Loss by position", "各位置的损失" }, r->language));
    figure_text(r->figure, &r->figure->x_label, "%s", say((words){ "position in the text", "在文本中的位置" }, r->language));
    figure_text(r->figure, &r->figure->y_label, "%s", say((words){ "bits per byte", "每字节比特数" }, r->language));
    if (trained > 0 && trained < r->length) {
        r->figure->x_mark = (double)trained;
        figure_text(r->figure, &r->figure->x_mark_label, "%s", say((words){ "trained length", "训练长度" }, r->language));
    }
    figure_text(r->figure, &r->figure->caption,
                say((words){ "Mean over %" PRId64 " windows of %" PRId64 " bytes; 8 bits is chance.%s",
                             "%" PRId64 " 个长 %" PRId64 " 字节的窗口的平均；8 比特相当于随机。%s" },
                    r->language),
                r->windows, r->length, cannot);
    return PE_OK;
}

/* The last bytes of the last window: what they are, what reading each cost, and whether it was foreseen. */
static pe_status read_view_text(reading *r, result *out)
{
    pe_status s = read_open(r, r->args->operand[0]);
    s = s ? s : read_losses(r);
    if (s)
        return s;
    int64_t count = r->length < SHOWN ? r->length : SHOWN, first = r->windows * r->length - count;
    double all = 0;
    int64_t right = 0;
    result_open(out, RESULT_LIST, "bytes", NULL);
    for (int64_t i = first; i < first + count; i++) {
        result_open(out, RESULT_RECORD, NULL, NULL);
        result_int(out, "byte", NULL, r->token[i + 1]);
        result_real(out, "bits", NULL, (double)r->loss[i] / log(2));
        result_flag(out, "right", NULL, r->right[i]);
        result_close(out);
        all += (double)r->loss[i] / log(2);
        right += r->right[i];
    }
    result_close(out);
    result_real(out, "bits", NULL, all / (double)count);
    result_int(out, "right", NULL, right);
    result_text(out, "spec", NULL, pe_encoding_spec(model_encoding(r->m)));
    return PE_OK;
}

/* A byte as the name of a row: a space is a sign of its own, and what continues a character has none. */
static void read_name(char out[8], int byte)
{
    if (byte == ' ')
        snprintf(out, 8, "␣");
    else if (byte > 32 && byte < 127)
        snprintf(out, 8, "%c", byte);
    else
        snprintf(out, 8, "%02x", (unsigned)byte);
}

static pe_status read_view_attention(reading *r)
{
    pe_status s = read_open(r, r->args->operand[0]);
    if (s)
        return s;
    const model_config *c = model_settings(r->m);
    int64_t n = r->length, H = c->heads, layer = cli_int(r->args, "layer"), head = cli_int(r->args, "head");
    if (layer >= c->layers || head >= H)
        return io_fail(&r->err, PE_ERR_RANGE, "the model has %" PRId64 " layers of %" PRId64 " heads, counted from 0", c->layers, H);
    real *p = calloc((size_t)(c->layers * n * H * n), sizeof *p);
    char(*name)[8] = calloc((size_t)n, sizeof *name);
    const char **names = calloc((size_t)n, sizeof *names);
    s = p && name && names ? model_look(r->m, &(model_inside){ .probabilities = p }, r->token, n, &r->err) : no_memory(r);
    s = s ? s : figure_new(&r->figure, FIGURE_CELLS, &r->err);
    double *v = s ? NULL : figure_cells(r->figure, (int)n, (int)n);
    for (int64_t i = 0; v && i < n; i++) {
        read_name(name[i], r->token[i]);
        names[i] = name[i];
        for (int64_t j = 0; j < n; j++)
            v[i * n + j] = c->causal && j > i ? (double)NAN : (double)p[((layer * n + i) * H + head) * n + j];
    }
    if (v) {
        figure *f = r->figure;
        figure_names(f, &f->x_names, names, (int)n);
        figure_names(f, &f->y_names, names, (int)n);
        figure_text(f, &f->title, say((words){ "Attention, layer %" PRId64 ", head %" PRId64, "注意力，第 %" PRId64 " 层第 %" PRId64 " 头" }, r->language), layer, head);
        figure_text(f, &f->x_label, "%s", say((words){ "key", "键" }, r->language));
        figure_text(f, &f->y_label, "%s", say((words){ "query", "查询" }, r->language));
        figure_text(f, &f->caption, "%s", say((words){ "A trained model. Each row is one byte's attention, and sums to 1.", "训练过的模型。每一行是一个字节的注意力，和为 1。" }, r->language));
    }
    free(p);
    free(name);
    free(names);
    return s;
}

static pe_status read_text(reading *r)
{
    const char *path = cli_text(r->args, "text");
    int view = cli_choice(r->args, "view");
    if (!path)
        return io_fail(&r->err, PE_ERR_FORMAT, "no text is given; needs --text FILE");
    pe_status s = io_read_file(&r->text, path, TEXT_MOST, &r->err);
    if (s)
        return s;
    int64_t size = (int64_t)r->text.size, ask = view == VIEW_ATTENTION ? 0 : 1;
    r->length = view == VIEW_ATTENTION && size < cli_int(r->args, "length") ? size : cli_int(r->args, "length");
    if (r->length < 1 || size < r->length + ask)
        return io_fail(&r->err, PE_ERR_SHAPE, "%s has %" PRId64 " bytes; needs more than %" PRId64, path, size, r->length);
    r->windows = view == VIEW_LOSS ? (size - 1) / r->length : 1;
    r->windows = r->windows > WINDOWS ? WINDOWS : r->windows;
    while (r->windows > 1 && r->windows * r->length > ROWS_MOST)
        r->windows--;
    r->token = calloc((size_t)size + 1, sizeof *r->token);
    r->loss = calloc((size_t)(r->windows * r->length), sizeof *r->loss);
    r->right = calloc((size_t)(r->windows * r->length), 1);
    for (int64_t i = 0; r->token && i < size; i++)
        r->token[i] = r->text.data[i];
    return r->token && r->loss && r->right ? PE_OK : no_memory(r);
}

static cli_exit read_verb(const cli_args *a, result *out)
{
    reading r = { .args = a, .language = cli_language(a) };
    pe_status s = read_text(&r);
    if (!s)
        switch (cli_choice(a, "view")) {
        case VIEW_TEXT: s = read_view_text(&r, out); break;
        case VIEW_ATTENTION: s = read_view_attention(&r); break;
        default: s = read_view_loss(&r); break;
        }
    if (!s && r.figure) {
        figure_how how = { .format = FIGURE_PARTS, .width = (double)cli_int(a, "width"), .language = r.language };
        s = figure_status(r.figure, &r.err);
        s = s ? s : figures_write(stdout, &r.figure, 1, &how, &r.err);
    }
    figure_free(r.figure);
    model_free(r.m);
    free(r.token);
    free(r.loss);
    free(r.right);
    io_bytes_free(&r.text);
    return s ? cli_fail_from(a, CLI_INPUT, NULL, &r.err) : CLI_OK;
}

const cli_verb cli_verb_read = {
    .name = "read",
    .summary = "a trained model reads a text",
    .operands = "FILE...",
    .operands_min = 1,
    .operands_max = 8,
    CLI_TABLES(options, examples),
    .run = read_verb,
};
