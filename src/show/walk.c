/* SPDX-License-Identifier: MIT
 *
 * A walk: its steps and their lines, the first steps (the case, and the code that joins a word), and the order of all.
 */
#include "show/walk.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static char *walk_copy(walk *w, const char *text, size_t length)
{
    char *out = text ? malloc(length + 1) : NULL;
    if (out) {
        memcpy(out, text, length);
        out[length] = 0;
    } else if (text)
        w->failed = true;
    return out;
}

static char *walk_copy_all(walk *w, const char *text)
{
    return walk_copy(w, text, text ? strlen(text) : 0);
}

void walk_begin(walk *w, words title, const char *formula, words note)
{
    if (w->failed || w->count == WALK_STEPS_MAX)
        return;
    w->step[w->count++] = (walk_step){ .title = title, .formula = walk_copy_all(w, formula), .note = note };
}

/* A new line, zeroed; NULL: no memory. */
static walk_line *walk_add_line(walk *w)
{
    if (w->failed)
        return NULL;
    walk_step *s = &w->step[w->count - 1];
    if (s->count == s->room) {
        int room = s->room ? 2 * s->room : 16;
        walk_line *line = realloc(s->line, (size_t)room * sizeof *line);
        if (!line) {
            w->failed = true;
            return NULL;
        }
        s->line = line;
        s->room = room;
    }
    s->line[s->count] = (walk_line){ 0 };
    return &s->line[s->count++];
}

void walk_vector(walk *w, const char *name, const char *text, const double *number, int64_t count)
{
    walk_line *line = walk_add_line(w);
    if (!line)
        return;
    line->name = walk_copy_all(w, name);
    line->text = walk_copy_all(w, text && *text ? text : NULL);
    line->value = count ? malloc((size_t)count * sizeof *number) : NULL;
    if (line->value) {
        memcpy(line->value, number, (size_t)count * sizeof *number);
        line->count = (int)count;
    } else if (count)
        w->failed = true;
}

/* Whether the last step, or the one `back` before it, has this sentence already: lines of several keys may begin with
 * the same one. */
static bool walk_has_sentence(const walk *w, int back, const char *text, size_t length)
{
    const walk_step *s = w->count > back ? &w->step[w->count - 1 - back] : NULL;
    for (int i = 0; s && i < s->count; i++)
        if (!s->line[i].name && s->line[i].text && strlen(s->line[i].text) == length &&
            !memcmp(s->line[i].text, text, length))
            return true;
    return back > 0 && walk_has_sentence(w, back - 1, text, length);
}

/* The lines before the last one, which it returns; those that the last step, or the `back` steps before it, have not.
 */
static const char *walk_put_lines(walk *w, int back, const char *text)
{
    for (const char *end; text && (end = strchr(text, '\n')); text = end + 1) {
        size_t length = (size_t)(end - text);
        walk_line *line = walk_has_sentence(w, back, text, length) ? NULL : walk_add_line(w);
        if (line)
            line->text = walk_copy(w, text, length);
    }
    return text;
}

const char *walk_lines_before(walk *w, const char *text)
{
    return walk_put_lines(w, w->count - 1, text);
}

void walk_equation(walk *w, const char *name, const char *text, double number)
{
    walk_vector(w, name, walk_put_lines(w, 0, text), &number, 1);
}

void walk_sentence(walk *w, const char *text)
{
    walk_vector(w, NULL, text, NULL, 0);
}

name_text walk_name(const char *format, ...)
{
    name_text out;
    va_list list;
    va_start(list, format);
    vsnprintf(out.text, sizeof out.text, format, list);
    va_end(list);
    return out;
}

/* ---------------------------------------------------------------- the case, and the code that joins a word */

static void walk_case(walk *w, walk_scene *s)
{
    static const words title = { "the example", "例子" };
    static const words note = {
        "The vectors are random, drawn with the seed, with one digit. W_Q, W_K and W_V are the identity, so that "
        "every number is visible: a word is its own query, key and value.",
        "向量由随机种子生成，只保留一位小数。为了让每个数都看得见，取 W_Q、W_K、W_V "
        "为单位矩阵：词向量本身就是它的查询、键和值。"
    };
    walk_begin(w, title, NULL, note);
    for (int t = 0; t < TOKENS; t++)
        walk_vector(w, walk_name("x_%s (%s)", s->place[t], walk_word(s, t)).text, NULL, s->x + t * s->dim, s->dim);
    tell t = tell_into(s->text, sizeof s->text);
    if (w->language == CHINESE)
        tell_say(&t,
                 "查询：位置 %s 的“%s”；键：位置 %s 的“%s”；第 %" PRId64 " 个头（从 0 数，共 %" PRId64
                 " 个），宽度 %" PRId64,
                 s->place[s->query], walk_word(s, s->query), s->place[s->key], walk_word(s, s->key), s->head, s->heads,
                 s->D);
    else
        tell_say(&t, "query: \"%s\" at %s; key: \"%s\" at %s; head %" PRId64 " (from 0) of %" PRId64 ", width %" PRId64,
                 walk_word(s, s->query), s->place[s->query], walk_word(s, s->key), s->place[s->key], s->head, s->heads,
                 s->D);
    walk_sentence(w, s->text);
}

/* Says where the rows of a table (rows, heads, width of a head) come from, and which part of them this head takes. */
static void learned_put_projection(walk *w, walk_scene *s, const pe_tensor *x)
{
    static const words text = {
        "A model computes each row as W_R R: R is a code of the distance, %" PRId64 " heads of %" PRId64 " make it %" PRId64
        " wide, and W_R is a trained matrix that mixes them. Here W_R is the identity, as W_Q is, so head "
        "%" PRId64 " takes R[%" PRId64 "] to R[%" PRId64 "]. The others belong to other heads; those of the same "
        "frequencies are shown too.",
        "模型按 W_R R 算出每一行：R 是距离的编码，%" PRId64 " 个头各 %" PRId64 " 个数，共宽 %" PRId64
        "；W_R 是可训练的矩阵，把它们混合起来。这里 W_R 与 W_Q 一样取单位矩阵，因此第 %" PRId64
        " 个头取 R[%" PRId64 "] 到 R[%" PRId64 "]。其余的归别的头，其中频率相同的也列在下面。"
    };
    int64_t heads = x->shape[1], D = x->shape[2];
    tell t = tell_into(s->text, sizeof s->text);
    tell_say(&t, say(text, w->language), heads, D, heads * D, s->head, s->head * D, s->head * D + D - 1);
    walk_sentence(w, s->text);
}

/* Names the tensors that training finds: their numbers appear in the steps that follow. */
static void walk_learned(walk *w, walk_scene *s)
{
    static const words title = { "what is learned", "训练得到的参数" };
    static const words note = {
        "Training finds these numbers. Here they have the values from which training starts, drawn with the seed; "
        "those that start from a formula are shown with it.",
        "这些数由训练得到。这里用的是训练开始时的初值，由种子随机生成；初值有公式的，下面给出公式。"
    };
    static const words given = { "Training finds these numbers. Here they have the given values.",
                                 "这些数由训练得到。这里用的是给出的值。" };
    if (!pe_encoding_tensor_count(s->e))
        return;
    walk_begin(w, title, NULL, s->r->params.count ? given : note);
    for (int i = 0; i < pe_encoding_tensor_count(s->e); i++) {
        const pe_tensor *x = pe_encoding_tensor(s->e, i);
        words_text about = words_translate(x->about ? x->about : "", w->language);
        tell t = tell_into(s->text, sizeof s->text);
        tell_say(&t, "%s (", x->name);
        for (int a = 0; a < x->rank; a++)
            tell_say(&t, "%s%" PRId64, a ? ", " : "", x->shape[a]);
        tell_say(&t, w->language == CHINESE ? ")：%s" : "): %s", about.text);
        walk_sentence(w, s->text);
        if (x->projected && !s->r->params.count)
            learned_put_projection(w, s, x);
    }
}

/* Shows the code of one part, element by element. */
static void walk_code_part(walk *w, walk_scene *s, int formula)
{
    static const words title = { "the code of a position", "位置的编码" };
    walk_begin(w, title, s->formula[formula].text, (words){ NULL, NULL });
    for (int64_t c = 0; c < s->formula[formula].count; c++) {
        double number = walk_scene_tell(s, formula, s->key, c, s->text, sizeof s->text);
        walk_equation(w, walk_name("p_%s[%" PRId64 "]", s->place[s->query], c).text, s->text, number);
    }
}

static void walk_code(walk *w, walk_scene *s)
{
    static const words title = { "the code joins the word", "编码并入词向量" };
    static const words note = { "From here on attention uses y instead of x, as query, key and value.",
                                "此后注意力看到的是 y 而不是 x：查询、键、值都由它而来。" };
    bool joins = s->D > s->dim, any = false;
    for (int i = 0; i < s->formulas; i++)
        if (s->formula[i].hook == PE_HOOK_EMBED) {
            walk_code_part(w, s, i);
            any = true;
        }
    if (!any)
        return;
    walk_begin(w, title, joins ? "y = [x, p]" : "y = x + p", note);
    const double *x = s->x + s->query * s->dim, *y = s->y + s->query * s->D;
    for (int t = 0; t < TOKENS; t++) {
        double code[WIDTH_MAX];
        for (int64_t c = 0; c < s->D; c++)
            code[c] = s->y[t * s->D + c] - (joins && c >= s->dim ? 0 : s->x[t * s->dim + c]);
        walk_vector(w, walk_name("p_%s", s->place[t]).text, NULL, code + (joins ? s->dim : 0),
                    s->D - (joins ? s->dim : 0));
    }
    for (int64_t c = 0; !joins && c < s->dim; c++) {
        tell t = tell_into(s->text, sizeof s->text);
        tell_say(&t, "%s + %s", tell_factor(x[c]).text, tell_factor(y[c] - x[c]).text);
        walk_equation(w, walk_name("y_%s[%" PRId64 "]", s->place[s->query], c).text, s->text, y[c]);
    }
    for (int t = 0; t < TOKENS; t++)
        walk_vector(w, walk_name("y_%s (%s)", s->place[t], walk_word(s, t)).text, NULL, s->y + t * s->D, s->D);
}

/* ---------------------------------------------------------------- all steps */

static pe_status walk_take_steps(walk *w, walk_scene *s, pe_error *err)
{
    w->spec = walk_copy_all(w, pe_encoding_spec(s->e));
    walk_case(w, s);
    walk_learned(w, s);
    walk_code(w, s);
    TRY(walk_rotate(w, s, err));
    TRY(walk_terms(w, s, err));
    walk_attend(w, s);
    if (s->failed.status)
        return io_fail(err, s->failed.status, "%s", s->failed.text);
    return w->failed ? io_fail(err, PE_ERR_NOMEM, "no memory for the steps of %s", pe_encoding_spec(s->e)) : PE_OK;
}

pe_status walk_new(walk **out, const char *spec, const walk_request *r, pe_error *err)
{
    walk_scene *s = NULL;
    *out = NULL;
    walk *w = calloc(1, sizeof *w);
    if (!w)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a walk");
    w->language = r->language;
    pe_status status = walk_scene_new(&s, spec, r, err);
    if (!status)
        status = walk_take_steps(w, s, err);
    walk_scene_free(s);
    if (status)
        walk_free(w);
    else
        *out = w;
    return status;
}

void walk_free(walk *w)
{
    for (int i = 0; w && i < w->count; i++) {
        walk_step *s = &w->step[i];
        for (int n = 0; n < s->count; n++) {
            free(s->line[n].name);
            free(s->line[n].text);
            free(s->line[n].value);
        }
        free(s->line);
        free(s->formula);
    }
    if (w)
        free(w->spec);
    free(w);
}
