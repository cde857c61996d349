/* SPDX-License-Identifier: MIT
 *
 * Words in two orders, and what attention makes of them. */
#include "prove/order.h"

#include <math.h>
#include <stdlib.h>

const words order_difference_words = { "largest difference of the outputs", "输出的最大差异" };

pe_status order_line_make(order_line *l, const prove_given *g, bool backwards, pe_error *err)
{
    uint64_t state = g->seed;
    if (g->length < 2 || g->length > ORDER_WORDS_MAX)
        return io_fail(err, PE_ERR_RANGE, "the text has %lld words; needs 2 to %d", (long long)g->length,
                       ORDER_WORDS_MAX);
    l->count = g->length;
    measure_shuffle(l->order, l->count, &state);
    for (int64_t t = 0; t < l->count; t++) {
        l->order[t] = backwards ? l->count - 1 - t : l->order[t];
        l->word[t] = t % (l->count - l->count / 4);
    }
    for (int64_t t = 0; t < l->count; t++)
        l->moved[t] = l->word[l->order[t]];
    return PE_OK;
}

static scene_text as_it_was(const order_line *l)
{
    return (scene_text){ l->word, NULL, l->count };
}

static scene_text as_moved(const order_line *l)
{
    return (scene_text){ l->moved, NULL, l->count };
}

void order_looked_free(order_looked *k)
{
    for (int n = 0; n < 2; n++)
        free(k->out[n]), free(k->weights[n]);
}

static pe_status look(order_looked *k, const scene *s, pe_error *err)
{
    for (int n = 0; n < 2; n++) {
        scene_text t = n ? as_moved(&k->l) : as_it_was(&k->l);
        PROVE_TRY(scene_attend(k->out[n], k->weights[n], s, t, t, err));
    }
    return PE_OK;
}

pe_status order_looked_new(order_looked *k, const char *spec, const prove_given *g, bool backwards, pe_error *err)
{
    scene s;
    *k = (order_looked){ .H = g->heads, .C = g->heads * g->head_dim };
    PROVE_TRY(order_line_make(&k->l, g, backwards, err));
    PROVE_TRY(scene_open(&s, spec, g, err));
    bool whole = true;
    for (int n = 0; n < 2; n++) {
        whole = (k->out[n] = measure_memory(k->l.count, k->C, err)) && whole;
        whole = (k->weights[n] = measure_memory(k->l.count * k->H, k->l.count, err)) && whole;
    }
    pe_status status = whole ? look(k, &s, err) : io_fail(err, PE_ERR_NOMEM, "no memory for the outputs");
    scene_close(&s);
    return status;
}

double order_difference(const order_looked *k)
{
    double most = 0;
    for (int64_t t = 0; t < k->l.count; t++)
        most = fmax(most, measure_difference(k->out[1] + t * k->C, k->out[0] + k->l.order[t] * k->C, k->C));
    return most;
}

double order_largest(const prove_finding *f)
{
    double most = 0;
    for (int n = 0; n < f->count; n++)
        most = fmax(most, fabs(f->number[n].value));
    return most;
}
