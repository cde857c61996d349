/* SPDX-License-Identifier: MIT
 *
 * read: a trained model reads a text, of the page alone: loss by position of one or more models (--view loss), how well
 * it read each byte at the end of a long text (--view text), the attention of a sentence (--view attention), the four
 * terms of its scores (--view terms), and what models add to scores by distance (--view bias). An operand is FILE, or
 * FILE=SPEC for another encoding over the same weights. */
#include "cli/cli.h"

#include "draw/figure.h"
#include "model/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VIEW_LOSS = 0, VIEW_TEXT, VIEW_ATTENTION, VIEW_TERMS, VIEW_BIAS };
enum { BINS = 32, WINDOWS = 4, SHOWN = 160, ROWS_MOST = 4096, TEXT_MOST = 1 << 20, MODELS = 8, TERMS = 4, NAME_MOST = 128, ROW = 18 };

static const cli_option options[] = {
    { "text", 0, CLI_PATH, "FILE", NULL, 0, 0, "the text; its bytes are the tokens" },
    { "length", 0, CLI_INT, "N", "128", 2, 1 << 16, "bytes of a window" },
    { "trained", 0, CLI_INT, "N", "0", 0, 1 << 30, "the trained length, which the chart marks" },
    { "view", 0, CLI_CHOICE, "loss|text|attention|terms|bias", "loss", 0, 0, "what is shown" },
    { "names", 0, CLI_TEXT, "NAME,NAME", NULL, 0, 0, "of the models; default: their specs" },
    { "layer", 0, CLI_INT, "N", "0", 0, 255, "of attention and bias" },
    { "head", 0, CLI_INT, "N", "0", 0, 255, "of attention and terms" },
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
    figure *figure[MODELS];
    int figures;
    pe_error err;
} reading;

static figure *read_new_figure(reading *r, figure_kind kind)
{
    figure *f = NULL;
    if (figure_new(&f, kind, &r->err) == PE_OK)
        r->figure[r->figures++] = f;
    return f;
}

/* What the page calls the model in use, which is operand i. */
static void read_model_name(const reading *r, char out[NAME_MOST], int i)
{
    const char *name = cli_text(r->args, "names");
    for (; name && i > 0; i--)
        name = strchr(name, ',') ? strchr(name, ',') + 1 : NULL;
    name = name ? name : pe_encoding_spec(model_encoding(r->m));
    snprintf(out, NAME_MOST, "%.*s", cli_text(r->args, "names") ? (int)strcspn(name, ",") : (int)strlen(name), name);
}

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

/* Whether another operand is the same model with another encoding: the line of this one is only to compare with. */
static bool read_is_changed_too(const reading *r, int i)
{
    const char *mine = r->args->operand[i];
    size_t n = strlen(mine);
    bool changed = false;
    for (int k = 0; k < r->args->operands; k++)
        changed = changed || (!strncmp(r->args->operand[k], mine, n) && r->args->operand[k][n] == '=');
    return changed;
}

static void read_add_line(reading *r, figure *f, int i)
{
    char name[NAME_MOST];
    int bins = r->length < BINS ? (int)r->length : BINS;
    read_model_name(r, name, i);
    double *y = figure_add_series(f, name, NULL, bins);
    if (y)
        f->series[f->series_count - 1].dashed = read_is_changed_too(r, i);
    for (int k = 0; y && k < bins; k++) {
        int64_t from = k * r->length / bins, to = (k + 1) * r->length / bins;
        double sum = 0;
        for (int64_t w = 0; w < r->windows; w++)
            for (int64_t i = from; i < to; i++)
                sum += (double)r->loss[w * r->length + i];
        f->series[f->series_count - 1].x[k] = (double)(from + to) / 2;
        y[k] = sum / (double)(r->windows * (to - from)) / log(2);
    }
}

static pe_status read_view_loss(reading *r)
{
    int64_t trained = cli_int(r->args, "trained");
    char cannot[320] = "";
    figure *f = read_new_figure(r, FIGURE_LINES);
    pe_status s = f ? PE_OK : no_memory(r);
    for (int i = 0; !s && i < r->args->operands; i++) {
        s = read_open(r, r->args->operand[i]);
        s = s ? s : read_losses(r);
        if (!s)
            read_add_line(r, f, i);
        if (s == PE_ERR_POSITION) { /* it cannot go so far, which is a result */
            char name[NAME_MOST];
            read_model_name(r, name, i);
            snprintf(cannot, sizeof cannot, say((words){ " %s has no codes so far out.", "%s 没有这么远的编码。" }, r->language), name);
            s = PE_OK;
        }
    }
    if (s)
        return s;
    figure_text(f, &f->title, "%s", say((words){ "Loss by position", "各位置的损失" }, r->language));
    figure_text(f, &f->x_label, "%s", say((words){ "position in the text", "在文本中的位置" }, r->language));
    figure_text(f, &f->y_label, "%s", say((words){ "bits per byte", "每字节比特数" }, r->language));
    if (trained > 0 && trained < r->length) {
        f->x_mark = (double)trained;
        figure_text(f, &f->x_mark_label, "%s", say((words){ "trained length", "训练长度" }, r->language));
    }
    figure_text(f, &f->caption,
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

/* A map of the text's bytes by its bytes, with room for its numbers; NULL: no memory. */
static double *read_map(reading *r, const char *title)
{
    int64_t n = r->length;
    figure *f = read_new_figure(r, FIGURE_CELLS);
    double *v = f ? figure_cells(f, (int)n, (int)n) : NULL;
    char(*name)[8] = calloc((size_t)n, sizeof *name);
    const char **names = calloc((size_t)n, sizeof *names);
    for (int64_t i = 0; name && names && i < n; i++) {
        read_name(name[i], r->token[i]);
        names[i] = name[i];
    }
    if (v && names && name) {
        figure_names(f, &f->x_names, names, (int)n);
        figure_names(f, &f->y_names, names, (int)n);
        figure_text(f, &f->title, "%s", title);
        figure_text(f, &f->x_label, "%s", say((words){ "key", "键" }, r->language));
        figure_text(f, &f->y_label, "%s", say((words){ "query", "查询" }, r->language));
    }
    bool good = name && names;
    free(name);
    free(names);
    return good ? v : NULL;
}

/* Opens the model of an operand, which has the layer and the head that are asked for. */
static pe_status read_open_at(reading *r, int i)
{
    pe_status s = read_open(r, r->args->operand[i]);
    if (s)
        return s;
    const model_config *c = model_settings(r->m);
    int64_t layer = cli_int(r->args, "layer"), head = cli_int(r->args, "head");
    if (layer >= c->layers || head >= c->heads)
        return io_fail(&r->err, PE_ERR_RANGE, "the model has %" PRId64 " layers of %" PRId64 " heads, counted from 0", c->layers, c->heads);
    return PE_OK;
}

static pe_status read_view_attention(reading *r)
{
    pe_status s = read_open_at(r, 0);
    if (s)
        return s;
    const model_config *c = model_settings(r->m);
    int64_t n = r->length, H = c->heads, layer = cli_int(r->args, "layer"), head = cli_int(r->args, "head");
    char title[128];
    snprintf(title, sizeof title, say((words){ "Attention, layer %" PRId64 ", head %" PRId64, "注意力，第 %" PRId64 " 层第 %" PRId64 " 头" }, r->language), layer, head);
    real *p = calloc((size_t)(c->layers * n * H * n), sizeof *p);
    double *v = p ? read_map(r, title) : NULL;
    s = v ? model_look(r->m, &(model_inside){ .probabilities = p }, r->token, n, &r->err) : no_memory(r);
    for (int64_t i = 0; !s && i < n; i++)
        for (int64_t j = 0; j < n; j++)
            v[i * n + j] = c->causal && j > i ? (double)NAN : (double)p[((layer * n + i) * H + head) * n + j];
    if (!s)
        figure_text(r->figure[0], &r->figure[0]->caption, "%s", say((words){ "A trained model. Each row is one byte's attention, and sums to 1.", "训练过的模型。每一行是一个字节的注意力，和为 1。" }, r->language));
    free(p);
    return s;
}

/* ---------------------------------------------------------------- the four terms of a score */

/* What enters the first layer is word + code. Its norm divides both by one number per token, so the query and the key
 * are sums of a part of the word and a part of the code: a (2, n, D) from the rows of W that make one head. */
static void read_parts(const reading *r, double *out, const real *stream, const real *w, const real *norm)
{
    const model_config *c = model_settings(r->m);
    int64_t n = r->length, C = c->width, D = c->head_dim;
    const real *embed = model_weights(r->m) + model_tensor_find(r->m, "embed")->offset;
    for (int64_t t = 0; t < n; t++) {
        double size = 0;
        for (int64_t i = 0; i < C; i++)
            size += (double)stream[t * C + i] * (double)stream[t * C + i];
        size = sqrt(size / (double)C + c->eps);
        for (int64_t d = 0; d < D; d++)
            for (int64_t i = 0; i < C; i++) {
                double word = c->embed_scale * (double)embed[r->token[t] * C + i];
                double weight = (double)w[d * C + i] * (double)norm[i] / size;
                out[t * D + d] += weight * word;
                out[(n + t) * D + d] += weight * ((double)stream[t * C + i] - word);
            }
    }
}

static pe_status read_terms_fit(reading *r)
{
    const model_tensor *embed = model_tensor_find(r->m, "embed");
    const model_config *c = model_settings(r->m);
    if (pe_encoding_hooks(model_encoding(r->m)) != PE_HOOK_EMBED || !embed || embed->shape[1] != c->width || c->norm != MODEL_RMS)
        return io_fail(&r->err, PE_ERR_UNSUITED, "%s adds no code to the words", pe_encoding_spec(model_encoding(r->m)));
    return PE_OK;
}

/* The softmax takes no notice of what all keys of a query have in common: the mean of a row is taken off. Returns the
 * largest number that is left. */
static double read_fill_term(const reading *r, double *out, const double *q, const double *k)
{
    const model_config *c = model_settings(r->m);
    int64_t n = r->length, D = c->head_dim;
    double scale = pe_encoding_scale(model_encoding(r->m)), most = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t seen = c->causal ? i + 1 : n;
        double mean = 0;
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t d = 0; d < D; d++)
                sum += q[i * D + d] * k[j * D + d];
            out[i * n + j] = j < seen ? scale * sum : (double)NAN;
            mean += j < seen ? scale * sum / (double)seen : 0;
        }
        for (int64_t j = 0; j < seen; j++) {
            out[i * n + j] -= mean;
            most = fmax(most, fabs(out[i * n + j]));
        }
    }
    return most;
}

static pe_status read_view_terms(reading *r)
{
    static const words title[TERMS] = { { "word with word", "词–词" },
                                        { "word with position", "词–位置" },
                                        { "position with word", "位置–词" },
                                        { "position with position", "位置–位置" } };
    pe_status s = read_open_at(r, 0);
    s = s ? s : read_terms_fit(r);
    if (s)
        return s;
    const model_config *c = model_settings(r->m);
    int64_t n = r->length, C = c->width, D = c->head_dim, head = cli_int(r->args, "head"), group = head / (c->heads / c->kv_heads);
    real *stream = calloc((size_t)((c->layers + 1) * n * C), sizeof *stream);
    double *q = calloc((size_t)(2 * n * D), sizeof *q), *k = calloc((size_t)(2 * n * D), sizeof *k);
    double most = 0;
    bool good = stream && q && k;
    for (int i = 0; i < TERMS; i++)
        good = good && read_map(r, say(title[i], r->language));
    s = good ? model_look(r->m, &(model_inside){ .stream = stream }, r->token, n, &r->err) : no_memory(r);
    if (!s) {
        const real *w = model_weights(r->m), *qkv = w + model_tensor_find(r->m, "layer.0.qkv")->offset, *norm = w + model_tensor_find(r->m, "layer.0.norm1")->offset;
        read_parts(r, q, stream, qkv + head * D * C, norm);
        read_parts(r, k, stream, qkv + (c->heads + group) * D * C, norm);
        for (int term = 0; term < TERMS; term++)
            most = fmax(most, read_fill_term(r, r->figure[term]->value, q + (term / 2) * n * D, k + (term % 2) * n * D));
        for (int term = 0; term < TERMS; term++) {
            r->figure[term]->low = -most;
            r->figure[term]->high = most;
            r->figure[term]->midpoint = true;
        }
    }
    free(stream);
    free(q);
    free(k);
    return s;
}

/* ---------------------------------------------------------------- what is added by distance */

/* The learned numbers of the encoding in a layer, as the library wants them; the caller frees them. NULL: no memory. */
static real *read_params(const reading *r, int64_t layer)
{
    const pe_encoding *e = model_encoding(r->m);
    real *out = calloc((size_t)pe_encoding_param_count(e) + 1, sizeof *out);
    for (int i = 0; out && i < pe_encoding_tensor_count(e); i++) {
        char name[MODEL_NAME_MAX];
        const pe_tensor *t = pe_encoding_tensor(e, i);
        snprintf(name, sizeof name, "layer.%" PRId64 ".position.%s", layer, t->name);
        const model_tensor *own = model_tensor_find(r->m, name);
        if (own && own->count == t->count)
            memcpy(out + t->offset, model_weights(r->m) + own->offset, (size_t)t->count * sizeof *out);
    }
    return out;
}

/* A figure with a line for each head: what it adds to the score of a key, by the distance from the query. */
static pe_status read_bias_figure(reading *r, int i)
{
    const pe_encoding *e = model_encoding(r->m);
    int64_t n = r->length, H = model_settings(r->m)->heads, layer = cli_int(r->args, "layer");
    char name[NAME_MOST];
    real *params = read_params(r, layer);
    double *score = calloc((size_t)(H * n), sizeof *score);
    figure *f = read_new_figure(r, FIGURE_LINES);
    pe_tile tile = { .size = sizeof tile, .score = pe_view_of(score, PE_F64, 1, 1, H, n), .q_at = pe_positions_run(1, 1, n - 1), .k_at = pe_positions_run(1, n, 0) };
    pe_status s = params && score && f ? PE_OK : no_memory(r);
    for (int stage = PE_BEFORE_SCALE; !s && stage <= PE_AFTER_SCALE; stage++) {
        for (int64_t k = 0; k < H * n; k++)
            score[k] *= pe_encoding_scale(e); /* still 0 at the first stage */
        s = pe_encoding_bias(e, (pe_stage)stage, (pe_params){ params, MODEL_TYPE, pe_encoding_param_count(e) }, &tile, &r->err);
    }
    for (int64_t h = 0; !s && h < H; h++) {
        snprintf(name, sizeof name, say((words){ "head %" PRId64, "第 %" PRId64 " 头" }, r->language), h);
        double *y = figure_add_series(f, name, NULL, (int)n);
        for (int64_t d = 0; y && d < n; d++)
            y[d] = score[h * n + n - 1 - d];
    }
    if (!s) {
        read_model_name(r, name, i);
        figure_text(f, &f->title, "%s", name);
        figure_text(f, &f->x_label, "%s", say((words){ "distance, query − key", "距离（查询 − 键）" }, r->language));
        figure_text(f, &f->y_label, "%s", say((words){ "added to the score", "加进分数的数" }, r->language));
    }
    free(score);
    free(params);
    return s;
}

/* All models on one scale. */
static pe_status read_view_bias(reading *r)
{
    double low = 0, high = 0;
    pe_status s = PE_OK;
    for (int i = 0; !s && i < r->args->operands; i++) {
        s = read_open_at(r, i);
        s = s ? s : read_bias_figure(r, i);
    }
    for (int i = 0; !s && i < r->figures; i++)
        for (int k = 0; k < r->figure[i]->series_count; k++)
            for (int d = 0; d < r->figure[i]->series[k].count; d++) {
                low = fmin(low, r->figure[i]->series[k].y[d]);
                high = fmax(high, r->figure[i]->series[k].y[d]);
            }
    for (int i = 0; i < r->figures; i++) {
        r->figure[i]->y_min = low;
        r->figure[i]->y_max = high;
    }
    return s;
}

static pe_status read_text(reading *r)
{
    const char *path = cli_text(r->args, "text");
    int view = cli_choice(r->args, "view");
    bool sentence = view == VIEW_ATTENTION || view == VIEW_TERMS;
    if (!path)
        return io_fail(&r->err, PE_ERR_FORMAT, "no text is given; needs --text FILE");
    pe_status s = io_read_file(&r->text, path, TEXT_MOST, &r->err);
    if (s)
        return s;
    int64_t size = (int64_t)r->text.size, ask = sentence ? 0 : 1;
    r->length = sentence && size < cli_int(r->args, "length") ? size : cli_int(r->args, "length");
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
        case VIEW_TERMS: s = read_view_terms(&r); break;
        case VIEW_BIAS: s = read_view_bias(&r); break;
        default: s = read_view_loss(&r); break;
        }
    for (int i = 0; !s && i < r.figures; i++)
        s = figure_status(r.figure[i], &r.err);
    if (!s && r.figures) {
        figure_how how = { .format = FIGURE_PARTS, .width = (double)cli_int(a, "width"), .language = r.language };
        if (r.figure[0]->kind == FIGURE_CELLS) /* every letter has its line */
            how.height = fmax(ROW * (double)r.length + 100, 240);
        s = figures_write(stdout, r.figure, r.figures, &how, &r.err);
    }
    for (int i = 0; i < r.figures; i++)
        figure_free(r.figure[i]);
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
    .operands_max = MODELS,
    CLI_TABLES(options, examples),
    .run = read_verb,
};
