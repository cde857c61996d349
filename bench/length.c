/* SPDX-License-Identifier: MIT
 *
 * Cost against length, 1k to 1M tokens: the exponent that log t = a + exponent log n fits best, beside what it should
 * be. 8 heads of 64, N threads. */
#include "attend.h"

#include <math.h>
#include <stdlib.h>

#define LENGTHS_MAX 8
#define PREFILL_SECONDS 8.0 /* a length expected to take longer is not tried */

typedef struct made {
    pe_encoding *e;
    pe_view a, b;
    pe_positions at;
    attending *call;
    const pe_pool *pool;
} made;

/* ---------------------------------------------------------------- tables */

static void run_table(void *arg)
{
    made *m = arg;
    pe_error err;
    must(pe_rotate_table(m->e, PE_QUERY, m->a, m->b, m->at, &PE_MAKE(pe_run, .pool = m->pool), &err), &err, "rope");
}

static void make_table(made *m, int64_t n)
{
    m->e = encoding("rope", attend_shape, NULL);
    int64_t pairs = pe_encoding_pair_count(m->e);
    m->a = pe_view_of(buffer(n * pairs * 4), PE_F32, 1, n, 1, pairs);
    m->b = pe_view_of(buffer(n * pairs * 4), PE_F32, 1, n, 1, pairs);
    m->at = pe_positions_run(1, n, 0);
}

/* ---------------------------------------------------------------- rotation and attention */

static void run_rotation(void *arg)
{
    made *m = arg;
    pe_error err;
    pe_rotation r = PE_MAKE(pe_rotation, .q = m->a, .at = m->at);
    must(pe_rotate_qk(m->e, &r, &PE_MAKE(pe_run, .pool = m->pool), &err), &err, "rope");
}

static void make_rotation(made *m, int64_t n)
{
    int64_t count = n * attend_shape.heads * attend_shape.head_dim;
    m->e = encoding("rope", attend_shape, NULL);
    m->a = pe_view_of(buffer(count * 4), PE_F32, 1, n, attend_shape.heads, attend_shape.head_dim);
    fill(m->a.data, PE_F32, count, 1);
    m->at = pe_positions_run(1, n, 0);
}

static void run_attention(void *arg)
{
    attend_forward(((made *)arg)->call);
}

static void make_prefill(made *m, int64_t n)
{
    attend_setting s = { .spec = "rope", .shape = attend_shape, .queries = n, .keys = n, .pool = m->pool };
    m->call = attend_new(&s);
}

static void make_decode(made *m, int64_t n)
{
    attend_setting s = {
        .spec = "rope", .shape = attend_shape, .type = PE_F16, .queries = 1, .keys = n, .rotated = true, .pool = m->pool
    };
    m->call = attend_new(&s);
}

static void made_free(made *m)
{
    free(m->a.data);
    free(m->b.data);
    pe_encoding_free(m->e);
    if (m->call)
        attend_free(m->call);
}

/* ---------------------------------------------------------------- the four */

static const struct job {
    const char *line;
    void (*make)(made *m, int64_t n);
    void (*run)(void *made);
    double theory;
    int64_t bytes; /* per token, the most that make asks for */
} jobs[] = {
    { "tables, 32 pairs", make_table, run_table, 1, 300 },
    { "rotation, f32 in place, no table", make_rotation, run_rotation, 1, 2100 },
    { "prefill, rope, f32, causal", make_prefill, run_attention, 2, 16000 },
    { "decode, rope, one query, f16 keys", make_decode, run_attention, 1, 2200 },
};

/* Least squares through (log n, log t). */
static double fitted(const double *n, const double *t, int count)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < count; i++) {
        x += log(n[i]) / count;
        y += log(t[i]) / count;
    }
    for (int i = 0; i < count; i++) {
        xx += (log(n[i]) - x) * (log(n[i]) - x);
        xy += (log(n[i]) - x) * (log(t[i]) - y);
    }
    return xx > 0 ? xy / xx : 0;
}

static double measure(bench *b, const struct job *j, int64_t n, int *turns)
{
    made m = { .pool = b->pool };
    j->make(&m, n);
    contender c = { .run = j->run, .arg = &m };
    race(b, &c, 1);
    made_free(&m);
    *turns = c.turns;
    return c.best;
}

static void run_job(bench *b, const struct job *j)
{
    double n[LENGTHS_MAX], t[LENGTHS_MAX];
    int count = 0;
    char who[16];
    for (int64_t tokens = 1024; tokens <= (b->quick ? 4096 : 1 << 20) && count < LENGTHS_MAX; tokens *= 4) {
        double expected = count ? t[count - 1] * pow(4, j->theory) : 0;
        snprintf(who, sizeof who, tokens < 1 << 20 ? "n = %dk" : "n = %dM",
                 (int)(tokens >> (tokens < 1 << 20 ? 10 : 20)));
        say(b, "length: %s, %s", j->line, who);
        cell c = { .kind = CELL_OURS, .table = "length", .line = j->line, .who = who, .unit = "ms" };
        if (expected > (b->quick ? 0.1 : PREFILL_SECONDS) || memory_left() / 2 < tokens * j->bytes) {
            char why[40];
            snprintf(why, sizeof why, expected > PREFILL_SECONDS ? "(about %.0f s)" : "(memory)", expected);
            c.text = b->quick ? "(quick)" : why;
            cell_add(b, c);
            break;
        }
        n[count] = (double)tokens;
        t[count] = measure(b, j, tokens, &c.best_of);
        c.seconds = t[count];
        c.value = t[count++] * 1e3;
        cell_add(b, c);
    }
    cell c = {
        .kind = CELL_SHARE, .table = "length", .line = j->line, .who = "exponent", .value = fitted(n, t, count)
    };
    c.text = b->quick || count < 2 ? "-" : NULL;
    cell_add(b, c);
    c.who = "theory";
    c.text = NULL;
    c.value = j->theory;
    cell_add(b, c);
}

void bench_length(bench *b)
{
    for (int i = 0; i < BENCH_COUNT(jobs); i++)
        run_job(b, &jobs[i]);
}
