/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 2 s; needs: threads
 *
 * Plans: a call that is given one says what it says without it, whatever the plan covers; one plan serves steps that
 * grow, other scales, new parameters, several threads, and its work memory is asked for once. */
#include <pthread.h>

#include "fused_case.h"

static pe_plan *plan_of(const attention_case *c, int64_t behind, int64_t ahead)
{
    pe_plan *plan = NULL;
    pe_run run = case_run(c, NULL, NULL, 0);
    if (pe_plan_new(&plan, c->e, behind, ahead, &run, &err))
        fail_msg("%s: %s", c->spec, err.text);
    return test_piled(TEST_PLAN, plan);
}

/* The parameters are the plan's. Threads call it: its error and its memory are its own. */
static void forward_with(const attention_case *c, twin *t, const pe_plan *plan)
{
    pe_error own = { 0 };
    pe_run run = PE_MAKE(pe_run, .plan = plan, .pool = t->pool);
    if (pe_attention_work(c->e, &t->a, &run, &run.work_bytes, &own))
        fail_msg("%s: %s", c->spec, own.text);
    run.work = malloc(run.work_bytes + 1);
    assert_non_null(run.work);
    memset(run.work, 0xff, run.work_bytes);
    memset(t->out, 0xff, (size_t)(c->Tq * c->shape.heads * c->Dv) * pe_dtype_size(t->type));
    if (pe_attention_forward(c->e, &t->a, &run, &own))
        fail_msg("%s: %s", c->spec, own.text);
    free(run.work);
}

/* ------------------------------------------------ what it says */

static double worst;

static void compare(const char *spec, unsigned features, int64_t n, int64_t behind, int64_t ahead, const char *how)
{
    attention_case c = case_sized(spec, features, 17, n);
    twin t = twin_of(&c, PE_F32, NULL);
    if (!t.status) {
        pe_plan *plan = plan_of(&c, behind, ahead);
        case_forward(&c);
        forward_with(&c, &t, plan);
        worst = fmax(worst, twin_compare(&c, &t, how));
    }
}

/* Positions of a case have steps of up to 5. */
static void compare_spec(const char *spec)
{
    compare(spec, CAUSAL, 70, 400, 0, "a plan for all");
    compare(spec, 0, 70, 400, 400, "both ways");
    compare(spec, CAUSAL, 70, 20, 0, "a plan for some");
    compare(spec, CAUSAL, -300, 1600, 0, "one query");
    compare(spec, CAUSAL | SCALE | SOFT_CAP | WINDOW | SINKS, 150, 1000, 0, "another scale, a cap, a window");
    compare(spec, ALL_AT_ONCE, 40, 300, 300, "all at once");
    compare(spec, CAUSAL, 6, 0, 0, "a plan for nothing");
}

TEST(a_call_with_a_plan_is_the_definition)
{
    case_each(compare_spec);
    print_message("worst error: %.2f units\n", worst);
}

/* ------------------------------------------------ steps that grow */

/* Token after token, positions that count up, work memory asked for once, for the last step. */
static void grow(const char *spec)
{
    enum { LAST = 150 };
    attention_case c = case_sized(spec, CAUSAL, 23, -LAST);
    twin t = twin_of(&c, PE_F32, NULL);
    pe_plan *plan = plan_of(&c, LAST, 0);
    int64_t G = c.shape.kv_heads, D = c.shape.head_dim;
    pe_run run = PE_MAKE(pe_run, .plan = plan);
    t.a.q_at = pe_positions_run(1, 1, LAST - 1);
    t.a.k_at = pe_positions_run(1, LAST, 0);
    pe_status s = pe_attention_work(c.e, &t.a, &run, &run.work_bytes, &err);
    assert_true(!s || s == PE_ERR_POSITION); /* a table that does not reach so far */
    run.work = take((int64_t)run.work_bytes, 1);
    for (int64_t n = 1; !s && n <= LAST; n += n < 20 ? 1 : 13) {
        size_t bytes;
        c.Tk = n;
        c.a.q_at = t.a.q_at = pe_positions_run(1, 1, n - 1);
        c.a.k_at = t.a.k_at = pe_positions_run(1, n, 0);
        c.a.k = pe_view_of(c.k, PE_F64, 1, n, G, D);
        c.a.v = pe_view_of(c.v, PE_F64, 1, n, G, c.Dv);
        t.a.k = pe_view_of(t.k, PE_F32, 1, n, G, D);
        t.a.v = pe_view_of(t.v, PE_F32, 1, n, G, c.Dv);
        c.a.k_gates.tokens = t.a.k_gates.tokens = c.a.k_gates.data ? n : 0;
        case_forward(&c);
        assert_ok(pe_attention_work(c.e, &t.a, &run, &bytes, &err));
        if (bytes > run.work_bytes)
            fail_msg("%s: %d keys need %zu bytes, %d keys %zu", spec, (int)n, bytes, LAST, run.work_bytes);
        assert_ok(pe_attention_forward(c.e, &t.a, &run, &err));
        twin_compare(&c, &t, "a step");
    }
}

TEST(decoding_grows_by_one_token)
{
    case_each(grow);
}

/* Keys that repeat in memory: only sizes are asked for. */
static size_t work_of(const char *spec, int64_t queries, int64_t keys)
{
    pe_encoding *e = case_encoding(spec);
    pe_shape shape = pe_encoding_shape(e);
    static float x[8 * 64 * 8];
    size_t bytes = 0;
    pe_attention a = PE_MAKE(pe_attention, .q = pe_view_of(x, PE_F32, 1, queries, shape.heads, shape.head_dim),
                             .k = pe_view_of(x, PE_F32, 1, keys, shape.kv_heads, shape.head_dim), .mask.causal = true,
                             .q_at = pe_positions_run(1, queries, keys - queries), .k_at = pe_positions_run(1, keys, 0));
    a.k.token_stride = 0;
    a.v = a.k;
    TEST_INPUTS(e, &a, queries, keys);
    pe_status s = pe_attention_work(e, &a, NULL, &bytes, &err);
    assert_true(!s || s == PE_ERR_POSITION);
    return s ? SIZE_MAX : bytes;
}

static void compare_work(const char *spec)
{
    static const int64_t fewer[] = { 1, 8, 9, 127, 128, 1000, 1024, 1025, 2047, 2048, 2049, 4000, 4999 };
    for (int64_t queries = 1; queries <= 8; queries += 7) {
        size_t most = work_of(spec, queries, 5000);
        for (int n = 0; most != SIZE_MAX && n < COUNT(fewer); n++)
            if (fewer[n] >= queries && work_of(spec, queries, fewer[n]) > most)
                fail_msg("%s: %d queries and %d keys need more than with 5000 keys", spec, (int)queries, (int)fewer[n]);
    }
}

TEST(work_for_more_keys_is_enough_for_fewer)
{
    case_each(compare_work);
}

/* ------------------------------------------------ parameters */

TEST(new_parameters_are_taken_over)
{
    static const char *const specs[] = { "t5", "fire:hidden=8", "deberta:buckets=8,max=32", "cope", "rope:learned=heads", "shaw" };
    for (int n = 0; n < COUNT(specs); n++) {
        attention_case c = case_sized(specs[n], CAUSAL, 29, -200);
        twin t = twin_of(&c, PE_F32, NULL);
        pe_plan *plan = plan_of(&c, 1200, 0);
        for (int64_t i = 0; i < c.params.count; i++)
            c.w[i] = (float)(c.w[i] * 0.75);
        pe_run old = PE_MAKE(pe_run, .plan = plan, .work = c.work, .work_bytes = c.bytes);
        assert_ok(pe_reference_forward(c.e, &c.a, &old, &err)); /* the definition takes the plan's too */
        forward_with(&c, &t, plan);                             /* has a copy of the old ones */
        twin_compare(&c, &t, "old parameters");
        case_forward(&c);
        if (!twin_fault(&c, &t).found)
            fail_msg("%s: the plan had no copy of its parameters", specs[n]);
        pe_run run = case_run(&c, NULL, NULL, 0);
        assert_ok(pe_plan_set_params(plan, &run, &err));
        forward_with(&c, &t, plan);
        twin_compare(&c, &t, "new parameters");
        run.params.dtype = PE_F32;
        assert_int_equal(pe_plan_set_params(plan, &run, &err), PE_ERR_DTYPE);
    }
}

TEST(a_plan_is_for_its_encoding)
{
    attention_case c = case_new("t5", CAUSAL, 3), other = case_new("alibi", CAUSAL, 3);
    twin t = twin_of(&other, PE_F32, NULL);
    pe_plan *plan = plan_of(&c, 40, 0);
    size_t bytes;
    assert_refused(pe_attention_work(other.e, &t.a, &PE_MAKE(pe_run, .plan = plan), &bytes, &err),
                   PE_ERR_UNSUITED, "the plan was made for t5");
}

/* Gradients are those without a plan, bit for bit. */
TEST(gradients_do_without_it)
{
    static const char *const specs[] = { "t5", "alibi:slopes=learned", "shaw", "rope:learned=heads" };
    for (int n = 0; n < COUNT(specs); n++) {
        attention_case c = case_sized(specs[n], CAUSAL, 31, 70);
        twin t = twin_of(&c, PE_F32, NULL);
        pe_plan *plan = plan_of(&c, 400, 0);
        ledger plain = ledger_of(&c, PE_F32, PE_F32), planned = ledger_of(&c, PE_F32, PE_F32);
        twin_forward(&c, &t);
        assert_ok(twin_backward(&c, &t, &plain.g));
        pe_run run = PE_MAKE(pe_run, .plan = plan);
        assert_ok(pe_attention_backward_work(c.e, &t.a, &run, &run.work_bytes, &err));
        run.work = take((int64_t)run.work_bytes, 1);
        assert_ok(pe_attention_backward(c.e, &t.a, &planned.g, &run, &err));
        ledger_assert_same_bits(&planned, &plain, -1, specs[n], "with a plan");
    }
}

/* ------------------------------------------------ several threads */

typedef struct user {
    const attention_case *c;
    twin t;
    const pe_plan *plan;
} user;

static void *use(void *arg)
{
    user *u = arg;
    for (int n = 0; n < 20; n++)
        forward_with(u->c, &u->t, u->plan);
    return NULL;
}

TEST(threads_share_a_plan)
{
    enum { THREADS = 4 };
    static const char *const specs[] = { "t5", "deberta:buckets=8,max=32", "fire:hidden=8", "cope" };
    for (int n = 0; n < COUNT(specs); n++) {
        attention_case c = case_sized(specs[n], CAUSAL, 37, -300);
        pe_plan *plan = plan_of(&c, 1600, 0);
        user u[THREADS];
        pthread_t thread[THREADS];
        for (int i = 0; i < THREADS; i++)
            u[i] = (user){ &c, twin_of(&c, PE_F32, NULL), plan };
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, use, &u[i]), 0);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(thread[i], NULL), 0);
        for (int i = 1; i < THREADS; i++)
            assert_memory_equal(u[i].t.out, u[0].t.out, (size_t)(c.Tq * c.shape.heads * c.Dv) * sizeof(float));
        case_forward(&c);
        twin_compare(&c, &u[0].t, "shared");
    }
}
