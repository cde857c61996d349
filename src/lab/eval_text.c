/* SPDX-License-Identifier: MIT
 *
 * Tokens in, from a list of numbers; tokens out, the likeliest each time or drawn. */
#include "base/random.h"
#include "base/try.h"
#include "lab/eval.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static pe_status check_token(int64_t token, int64_t at, const char *path, int64_t vocab, pe_error *err)
{
    if (token >= 0 && token < vocab && token <= INT32_MAX)
        return PE_OK;
    return io_fail(err, PE_ERR_RANGE, "%s: token %" PRId64 " is %" PRId64 "; the model has 0 to %" PRId64, path, at,
                   token, vocab - 1);
}

pe_status eval_token_file(int32_t **out, int64_t *count, const io_bytes *file, int64_t vocab, pe_error *err)
{
    io_array a;
    int64_t *whole = NULL;
    *out = NULL;
    *count = 0;
    pe_status s = io_npy_parse(&a, file, 0, err);
    if (s != PE_OK)
        return s;
    int64_t n = a.count;
    s = a.rank == 1 ? io_array_to_i64(&whole, &a, err)
                    : io_fail(err, PE_ERR_SHAPE, "%s: has %d axes; needs one, of token numbers", file->name, a.rank);
    io_array_free(&a);
    int32_t *list = s == PE_OK ? calloc((size_t)n + 1, sizeof *list) : NULL;
    if (s == PE_OK && !list)
        s = io_fail(err, PE_ERR_NOMEM, "%s: no memory for %" PRId64 " tokens", file->name, n);
    for (int64_t i = 0; s == PE_OK && i < n; i++) {
        s = check_token(whole[i], i, file->name, vocab, err);
        list[i] = (int32_t)whole[i];
    }
    free(whole);
    if (s != PE_OK) {
        free(list);
        return s;
    }
    *out = list;
    *count = n;
    return PE_OK;
}

/* ---------------------------------------------------------------- the next token */

/* -1: they are not all finite. */
static int32_t likeliest(const real *logit, int64_t vocab)
{
    int64_t best = 0;
    for (int64_t n = 0; n < vocab; n++) {
        if (!isfinite(logit[n]))
            return -1;
        if (logit[n] > logit[best])
            best = n;
    }
    return (int32_t)best;
}

int32_t eval_choose(const real *logit, int64_t vocab, double temperature, double at)
{
    int32_t best = likeliest(logit, vocab);
    double all = 0, sum = 0;
    if (best < 0 || !(temperature > 0))
        return best;
    for (int64_t n = 0; n < vocab; n++)
        all += exp(((double)logit[n] - (double)logit[best]) / temperature);
    for (int64_t n = 0; n < vocab; n++) {
        sum += exp(((double)logit[n] - (double)logit[best]) / temperature);
        if (sum > at * all)
            return (int32_t)n;
    }
    return best; /* at is 1, or rounding */
}

typedef struct story {
    int32_t *token; /* all so far, the beginning first */
    int64_t count, last;
    const int32_t *given; /* the prompt's */
    int64_t givens;
    real *logit;
    const eval_voice *voice;
} story;

static pe_status next_token(int32_t *out, story *y, model *m, pe_error *err)
{
    if (y->count < y->givens) {
        *out = y->given[y->count];
        return PE_OK;
    }
    TRY(model_logits(m, y->logit, y->token, y->count, err));
    double at = random_uniform(y->voice->seed, (uint64_t)(y->count - y->givens));
    *out = eval_choose(y->logit, model_settings(m)->vocab, y->voice->temperature, at);
    return *out >= 0 ? PE_OK
                     : io_fail(err, PE_ERR_RANGE,
                               "the logits are not finite after %" PRId64 " tokens; needs a model of finite weights",
                               y->count);
}

static pe_status go_on(story *y, model *m, const tokens *t, eval_print *print, void *with, pe_error *err)
{
    int32_t end = tokens_begin(t);
    while (y->count <= y->last) {
        int32_t before = y->token[y->count - 1], next;
        size_t size;
        TRY(next_token(&next, y, m, err));
        if (next == end)
            break;
        const uint8_t *bytes = tokens_piece(&size, t, before, next);
        print(with, bytes, size);
        y->token[y->count++] = next;
    }
    return PE_OK;
}

/* From the first token on, which is printed where it is a part of the text. */
static pe_status tell_story(story *y, model *m, const tokens *t, eval_print *print, void *with, pe_error *err)
{
    size_t size;
    y->last = y->givens - 1 + y->voice->steps; /* the prompt has fewer than 2^31 */
    y->token = calloc((size_t)y->last + 1, sizeof *y->token);
    y->logit = calloc((size_t)model_settings(m)->vocab, sizeof *y->logit);
    if (!y->token || !y->logit)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " tokens", y->last);
    y->token[y->count++] = y->given[0];
    if (y->given[0] != tokens_begin(t)) {
        const uint8_t *bytes = tokens_piece(&size, t, -1, y->given[0]);
        print(with, bytes, size);
    }
    return go_on(y, m, t, print, with, err);
}

pe_status eval_generate(model *m, const tokens *t, const eval_voice *voice, eval_print *print, void *with,
                        pe_error *err)
{
    int32_t *given;
    story y = { .voice = voice };
    const char *prompt = *voice->prompt || tokens_begin(t) >= 0 ? voice->prompt : "\n";
    TRY(tokens_encode(&given, &y.givens, t, prompt, strlen(prompt), err));
    y.given = given;
    pe_status s = tell_story(&y, m, t, print, with, err);
    free(y.token);
    free(y.logit);
    free(given);
    return s;
}
