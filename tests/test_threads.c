/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 2 s; needs: threads
 *
 * An encoding is const once made: any number of threads use one at the same time and get the bits that one thread
 * gets. fork() needs nothing either. */
#define _POSIX_C_SOURCE 200809L /* barriers, fork */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { H = 8, G = 4, D = 64, C = 512, N = 4, THREADS = 12, ROUNDS = 3, PARAMS = 1 << 20 };

static const char *const combinations[] = { "sinusoidal+alibi", "rope:turn=qkvo+t5:scale=sqrt", "sinusoidal+rope+cope+fire" };

/* Everything that one use of an encoding gives. */
typedef struct results {
    float rotated[N * H * D], turned_back[N * H * D], cosine[N * G * D], sine[N * G * D];
    float embedded[N * C * 2];
    float score[N * H * N], out[N * H * D], lse[N * H], dq[N * H * D], dk[N * G * D], dv[N * G * D], dscore[N * H * N];
    float value[N * H * D];
    uint64_t fingerprint;
    int failures;
} results;

/* What all threads read. */
static float q[N * H * D], k[N * G * D], v[N * G * D], x[N * C], prob[N * H * N], params[PARAMS];
static int64_t at[N * PE_AXES_MAX];
static pe_encoding *shared;

static void use(const pe_encoding *e, results *r, double *work, size_t bytes)
{
    int64_t n = pe_encoding_param_count(e), axes = pe_encoding_axes(e), pairs = pe_encoding_pair_count(e), heads = test_table_heads(e);
    pe_params w = n ? (pe_params){ params, PE_F32, n } : (pe_params){ 0 };
    pe_positions where = pe_positions_of(at, PE_I64, 1, N, axes);
    pe_view vq = pe_view_of(q, PE_F32, 1, N, H, D), vk = pe_view_of(k, PE_F32, 1, N, G, D), vv = pe_view_of(v, PE_F32, 1, N, G, D);
    pe_view vp = pe_view_of(prob, PE_F32, 1, N, H, N);
    static const uint8_t causal[N * N] = { 1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1 };
    pe_tile t = { .size = sizeof(pe_tile), .seen = causal, .score = pe_view_of(r->score, PE_F32, 1, N, H, N), .q = vq, .k = vk, .q_at = where, .k_at = where };
    pe_attention a = { .size = sizeof(pe_attention), .out = pe_view_of(r->out, PE_F32, 1, N, H, D), .lse = pe_view_of(r->lse, PE_F32, 1, N, H, 1), .q = vq, .k = vk,
                       .v = vv, .q_at = where, .k_at = where, .mask = { .causal = true } };
    pe_attention_grad g = { .size = sizeof(pe_attention_grad), .dout = vq, .dq = pe_view_of(r->dq, PE_F32, 1, N, H, D), .dk = pe_view_of(r->dk, PE_F32, 1, N, G, D),
                            .dv = pe_view_of(r->dv, PE_F32, 1, N, G, D) };
    pe_tile_grad tg = { .size = sizeof(pe_tile_grad), .dscore = vp, .dq = pe_view_of(r->turned_back, PE_F32, 1, N, H, D) };
    TEST_INPUTS(e, &t, N, N);
    TEST_INPUTS(e, &a, N, N);
    memset(r, 0, sizeof *r);
    int bad = 0;
    bad += pe_rotate(e, PE_QUERY, pe_view_of(r->rotated, PE_F32, 1, N, H, D), vq, where, &PE_MAKE(pe_run, .params = w), NULL) != PE_OK;
    bad += pe_unrotate(e, PE_KEY, pe_view_of(r->turned_back, PE_F32, 1, N, H, D), vq, where, &PE_MAKE(pe_run, .params = w), NULL) != PE_OK;
    if (pairs)
        bad += pe_rotate_table(e, PE_KEY, pe_view_of(r->cosine, PE_F32, 1, N, heads, pairs), pe_view_of(r->sine, PE_F32, 1, N, heads, pairs), where,
                               &PE_MAKE(pe_run, .params = w), NULL) != PE_OK;
    bad += pe_embed(e, pe_view_of(r->embedded, PE_F32, 1, N, 1, pe_embed_width(e, C)), pe_view_of(x, PE_F32, 1, N, 1, C), where, &PE_MAKE(pe_run, .params = w), NULL) != PE_OK;
    for (pe_stage s = PE_BEFORE_SCALE; s <= PE_AFTER_SCALE; s++) {
        bad += pe_encoding_content(e, s, w, &t, NULL) != PE_OK;
        bad += pe_encoding_bias(e, s, w, &t, NULL) != PE_OK;
        bad += pe_encoding_content_back(e, s, w, &t, &tg, NULL) != PE_OK;
    }
    bad += pe_encoding_value(e, w, pe_view_of(r->value, PE_F32, 1, N, H, D), vp, where, where, NULL) != PE_OK;
    bad += pe_reference_forward(e, &a, &PE_MAKE(pe_run, .params = w, .work = work, .work_bytes = bytes), NULL) != PE_OK;
    bad += pe_reference_backward(e, &a, &g, &PE_MAKE(pe_run, .params = w, .work = work, .work_bytes = bytes), NULL) != PE_OK;
    r->fingerprint = pe_encoding_fingerprint(e) ^ (uint64_t)strlen(pe_encoding_spec(e));
    r->failures = bad;
}

static double work[THREADS + 1][20000];
static results result[THREADS + 1]; /* the last: one thread alone */
static pthread_barrier_t gate;
static int differences[THREADS];

static void *work_along(void *number)
{
    int me = *(int *)number;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&gate);
        use(shared, &result[me], work[me], sizeof work[me]);
        differences[me] += memcmp(&result[me], &result[THREADS], sizeof result[me]) != 0;
        pe_encoding *own;
        differences[me] += pe_encoding_new(&own, pe_encoding_spec(shared), test_shape, NULL) != PE_OK;
        use(own, &result[me], work[me], sizeof work[me]);
        differences[me] += memcmp(&result[me], &result[THREADS], sizeof result[me]) != 0;
        pe_encoding_free(own);
    }
    return NULL;
}

static void open_encoding(const char *spec)
{
    uint64_t seed = 4;
    shared = encoding_of(spec, test_shape);
    int64_t n = pe_encoding_param_count(shared), axes = pe_encoding_axes(shared);
    assert_true(n <= PARAMS);
    assert_ok(pe_encoding_init(shared, n ? (pe_params){ params, PE_F32, n } : (pe_params){ 0 }, 5, &err));
    for (int i = 0; i < N * H * D; i++)
        q[i] = (float)test_uniform(&seed);
    for (int i = 0; i < N * G * D; i++)
        k[i] = (float)test_uniform(&seed), v[i] = (float)test_uniform(&seed);
    for (int i = 0; i < N * C; i++)
        x[i] = (float)test_uniform(&seed);
    for (int i = 0; i < N * H * N; i++)
        prob[i] = (float)fabs(test_uniform(&seed));
    for (int i = 0; i < N * axes; i++) /* along the last axis, one step along the first: inside every window */
        at[i] = i % axes == axes - 1 ? i / axes : i / axes / 3;
    use(shared, &result[THREADS], work[THREADS], sizeof work[THREADS]);
    if (result[THREADS].failures)
        fail_msg("%s: %d calls fail", spec, result[THREADS].failures);
}

static void share(const char *spec)
{
    pthread_t thread[THREADS];
    int number[THREADS];
    open_encoding(spec);
    memset(differences, 0, sizeof differences);
    assert_int_equal(pthread_barrier_init(&gate, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, work_along, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        if (differences[i])
            fail_msg("%s: thread %d got other bits %d times", spec, i, differences[i]);
    }
    pthread_barrier_destroy(&gate);
}

TEST(threads_that_share_an_encoding_get_the_same_bits)
{
    each_spec(share, combinations, COUNT(combinations));
}

/* Threads need little stack: rows are staged there, at most PE_HEAD_DIM_MAX wide. */
static void *rotate_wide(void *out)
{
    static float in[PE_HEAD_DIM_MAX];
    int64_t where[1] = { 1 };
    pe_encoding *e;
    if (pe_encoding_new(&e, "rope", (pe_shape){ 1, 1, PE_HEAD_DIM_MAX, 0 }, NULL))
        return "new";
    pe_status s = pe_rotate(e, PE_KEY, pe_view_of(out, PE_F32, 1, 1, 1, PE_HEAD_DIM_MAX), pe_view_of(in, PE_F32, 1, 1, 1, PE_HEAD_DIM_MAX), pe_positions_of(where, PE_I64, 1, 1, 1), NULL, NULL);
    pe_encoding_free(e);
    return s ? "rotate" : NULL;
}

TEST(a_small_stack_suffices_for_the_widest_head)
{
    static float out[PE_HEAD_DIM_MAX];
    pthread_attr_t attr;
    pthread_t thread;
    void *trouble = NULL;
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, 256 * 1024), 0);
    assert_int_equal(pthread_create(&thread, &attr, rotate_wide, out), 0);
    assert_int_equal(pthread_join(thread, &trouble), 0);
    assert_null(trouble);
    pthread_attr_destroy(&attr);
}

TEST(a_forked_child_gets_the_same_bits)
{
    open_encoding("sinusoidal+rope+cope+fire");
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        use(shared, &result[0], work[0], sizeof work[0]);
        _exit(memcmp(&result[0], &result[THREADS], sizeof result[0]) != 0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}
