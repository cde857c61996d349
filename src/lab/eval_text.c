/* SPDX-License-Identifier: MIT
 *
 * Tokens in, from a list of numbers; tokens out, the likeliest each time. */
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

/* ---------------------------------------------------------------- greedy text */

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

typedef struct story {
    int32_t *token; /* all so far, TOKENS_BEGIN first */
    int64_t count;
    const int32_t *given; /* the prompt's */
    int64_t givens;
    real *logit;
} story;

static pe_status next_token(int32_t *out, story *y, model *m, pe_error *err)
{
    if (y->count < y->givens) {
        *out = y->given[y->count];
        return PE_OK;
    }
    pe_status s = model_logits(m, y->logit, y->token, y->count, err);
    if (s != PE_OK)
        return s;
    *out = likeliest(y->logit, model_settings(m)->vocab);
    return *out >= 0 ? PE_OK
                     : io_fail(err, PE_ERR_RANGE,
                               "the logits are not finite after %" PRId64 " tokens; needs a model of finite weights",
                               y->count);
}

static pe_status go_on(story *y, model *m, const tokens *t, int64_t last, eval_print *print, void *with, pe_error *err)
{
    pe_status s = PE_OK;
    while (y->count <= last) {
        int32_t before = y->token[y->count - 1], next;
        size_t size;
        s = next_token(&next, y, m, err);
        if (s != PE_OK || next == TOKENS_BEGIN) /* the text ends here */
            break;
        const uint8_t *bytes = tokens_piece(&size, t, before, next);
        print(with, bytes, size);
        y->token[y->count++] = next;
    }
    return s;
}

pe_status eval_generate(model *m, const tokens *t, const char *prompt, int64_t steps, eval_print *print, void *with,
                        pe_error *err)
{
    int32_t *given;
    int64_t givens;
    pe_status s = tokens_encode(&given, &givens, t, prompt, strlen(prompt), err);
    if (s != PE_OK)
        return s;
    story y = { .count = 1, .given = given, .givens = givens };
    int64_t last = givens - 1 + steps; /* the prompt has fewer than 2^31 */
    y.token = calloc((size_t)last + 1, sizeof *y.token);
    y.logit = calloc((size_t)model_settings(m)->vocab, sizeof *y.logit);
    if (!y.token || !y.logit)
        s = io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " tokens", last);
    else {
        y.token[0] = TOKENS_BEGIN;
        s = go_on(&y, m, t, last, print, with, err);
    }
    free(y.token);
    free(y.logit);
    free(given);
    return s;
}
