/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 6 s; needs: threads; sanitize: no
 *
 * The largest head, every encoding: no call takes more of the stack than posenc.h says. A thread's stack is painted
 * before a call; what lost its paint was used. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "fused_case.h"

#ifdef __OPTIMIZE__
enum { SAID = 64 * 1024 };
#else
enum { SAID = 1024 * 1024 }; /* every variable has a place of its own */
#endif
enum { ROOM = 2 * 1024 * 1024, PAINT = 0xa5, TOKENS = 6 };

typedef struct use use;
typedef pe_status a_call(const use *u, pe_error *error);
struct use {
    a_call *call;
    attention_case *c;
    twin *t;
    const ledger *l;
    void *memory; /* for backward and the gradients of the definition */
    size_t bytes;
    pe_dtype type;
    void *x, *y; /* (TOKENS, 1, PE_HEAD_DIM_MAX) of float64 */
    pe_positions to; /* another place for each token */
    float *piece;
    const unsigned char *top;
    pe_status status;
    pe_error err;
};

static _Alignas(4096) unsigned char stack[ROOM];

static pe_view view_of(const use *u, void *x, pe_dtype type)
{
    return pe_view_of(x, type, 1, TOKENS, 1, u->c->shape.head_dim);
}

static pe_status make(const use *u, pe_error *error)
{
    pe_encoding *e;
    pe_status status = pe_encoding_new(&e, u->c->spec, u->c->shape, error);
    if (!status)
        pe_encoding_free(e);
    return status;
}

static pe_status rotate(const use *u, pe_error *error)
{
    return pe_rotate(u->c->e, PE_KEY, view_of(u, u->x, u->type), view_of(u, u->x, u->type), u->c->a.k_at,
                     &PE_MAKE(pe_run, .params = u->c->params), error);
}

static pe_status rotate_between(const use *u, pe_error *error)
{
    pe_dtype other = u->type == PE_F64 ? PE_F64 : u->type == PE_F32 ? PE_F16 : PE_F32;
    return pe_unrotate(u->c->e, PE_QUERY, view_of(u, u->y, other), view_of(u, u->x, u->type), u->c->a.k_at,
                       &PE_MAKE(pe_run, .params = u->c->params), error);
}

static pe_status rotate_both(const use *u, pe_error *error)
{
    pe_rotation r = { .size = sizeof(pe_rotation), .q = view_of(u, u->x, u->type), .k = view_of(u, u->y, u->type), .at = u->c->a.k_at };
    return pe_rotate_qk(u->c->e, &r, &PE_MAKE(pe_run, .params = u->c->params), error);
}

static pe_status table(const use *u, pe_error *error)
{
    int64_t pairs = pe_encoding_pair_count(u->c->e);
    return pe_rotate_table(u->c->e, PE_KEY, pe_view_of(u->x, u->type, 1, TOKENS, 1, pairs),
                           pe_view_of(u->y, u->type, 1, TOKENS, 1, pairs), u->c->a.k_at,
                           &PE_MAKE(pe_run, .params = u->c->params), error);
}

static pe_status shift(const use *u, pe_error *error)
{
    return pe_cache_shift(u->c->e, view_of(u, u->x, u->type), NULL, u->c->a.k_at, u->to,
                          &PE_MAKE(pe_run, .params = u->c->params), error);
}

static pe_status shift_blocks(const use *u, pe_error *error)
{
    return pe_cache_shift(u->c->e, view_of(u, u->x, PE_Q8_0), NULL, u->c->a.k_at, u->to,
                          &PE_MAKE(pe_run, .params = u->c->params), error);
}

static pe_status reference(const use *u, pe_error *error)
{
    return pe_reference_forward(u->c->e, &u->c->a,
                                &PE_MAKE(pe_run, .params = u->c->params, .work = u->c->work, .work_bytes = u->c->bytes),
                                error);
}

static pe_status reference_back(const use *u, pe_error *error)
{
    return pe_reference_backward(
        u->c->e, &u->t->a, &u->l->g,
        &PE_MAKE(pe_run, .params = u->c->params, .work = u->c->work, .work_bytes = u->c->bytes), error);
}

static pe_status fused(const use *u, pe_error *error)
{
    return pe_attention_forward(u->c->e, &u->t->a,
                                &PE_MAKE(pe_run, .params = u->c->params, .work = u->t->work, .work_bytes = u->t->bytes),
                                error);
}

static pe_status fused_back(const use *u, pe_error *error)
{
    return pe_attention_backward(u->c->e, &u->t->a, &u->l->g,
                                 &PE_MAKE(pe_run, .params = u->c->params, .work = u->memory, .work_bytes = u->bytes),
                                 error);
}

static pe_status partial(const use *u, pe_error *error)
{
    int64_t rows = u->c->Tq * u->c->shape.heads;
    double *carry = (double *)(void *)u->piece;
    float *max = u->piece + 2 * rows;
    pe_partial p = { .out = max + 2 * rows, .max = max, .sum = max + rows, .carry = carry };
    pe_status status = pe_attention_partial(
        u->c->e, &u->t->a, p, &PE_MAKE(pe_run, .params = u->c->params, .work = u->t->work, .work_bytes = u->t->bytes),
        error);
    return status ? status : pe_attention_finish(u->c->e, &u->t->a, p, &PE_MAKE(pe_run, .params = u->c->params), error);
}

static pe_view rows_of(const use *u, void *x, int64_t width)
{
    return pe_view_of(x, u->type, 1, TOKENS, 1, width);
}

static pe_status embed(const use *u, pe_error *error)
{
    int64_t C = u->c->shape.model_dim;
    return pe_embed(u->c->e, rows_of(u, u->y, pe_embed_width(u->c->e, C)), rows_of(u, u->x, C), u->c->a.k_at,
                    &PE_MAKE(pe_run, .params = u->c->params), error);
}

static pe_status embed_back(const use *u, pe_error *error)
{
    int64_t C = u->c->shape.model_dim;
    pe_params dw = u->l->g.dparams;
    return pe_embed_back(u->c->e, dw, rows_of(u, u->x, C), rows_of(u, u->y, pe_embed_width(u->c->e, C)), u->c->a.k_at,
                         &PE_MAKE(pe_run, .params = u->c->params), error);
}

/* ------------------------------------------------ the stack */

static void *in_thread(void *arg)
{
    use *u = arg;
    unsigned char here = 0;
    u->top = &here;
    u->status = u->call(u, &u->err);
    return NULL;
}

static int64_t stack_of(use *u, a_call *call)
{
    pthread_attr_t attr;
    pthread_t thread;
    int64_t low = 0;
    u->call = call;
    memset(stack, PAINT, sizeof stack);
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstack(&attr, stack, sizeof stack), 0);
    assert_int_equal(pthread_create(&thread, &attr, in_thread, u), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pthread_attr_destroy(&attr), 0);
    while (low < ROOM && stack[low] == PAINT)
        low++;
    return u->top - (stack + low);
}

static int64_t most;
static int worked; /* calls of the spec that were answered with PE_OK */

static void check(use *u, a_call *call, const char *name)
{
    int64_t used = stack_of(u, call);
    if (u->status && u->status != PE_ERR_UNSUITED && u->status != PE_ERR_POSITION)
        fail_msg("%s, %s: %s", u->c->spec, name, u->err.text);
    if (used > SAID)
        fail_msg("%s, %s, type %d: %" PRId64 " bytes of stack; posenc.h says %d", u->c->spec, name, u->type, used, SAID);
    most = used > most ? used : most;
    worked += u->status == PE_OK;
}

static void check_turns(use *u)
{
    for (pe_dtype type = PE_F32; type <= PE_F64; type++) {
        u->type = type;
        check(u, rotate, "rotate");
        check(u, rotate_between, "unrotate");
        check(u, rotate_both, "rotate_qk");
        check(u, table, "table");
        check(u, shift, "shift");
        check(u, embed, "embed");
        check(u, embed_back, "embed_back");
    }
    check(u, shift_blocks, "shift of blocks");
}

static void check_attention(use *u)
{
    if (u->t->status)
        return;
    assert_ok(pe_attention_backward_work(u->c->e, &u->t->a, &PE_MAKE(pe_run, .params = u->c->params), &u->bytes, &err));
    u->memory = take((int64_t)u->bytes, 1);
    u->piece = take(u->c->Tq * u->c->shape.heads * (u->c->Dv + 4), sizeof(float));
    check(u, fused, "forward");
    check(u, fused_back, "backward");
    check(u, reference_back, "reference_backward");
    check(u, partial, "partial and finish");
}

static void check_spec(const char *spec)
{
    pe_encoding *e = encoding_if_any(spec, (pe_shape){ 2, 1, PE_HEAD_DIM_MAX, 16 });
    if (!e)
        return; /* some count heads or widths */
    attention_case c = case_begun(spec, e);
    c.Tq = c.Tk = TOKENS;
    c = case_made(c, CAUSAL | SINKS, 7);
    int64_t *to = take(TOKENS * c.axes, sizeof *to);
    for (int64_t n = 0; n < TOKENS * c.axes; n++)
        to[n] = c.k_at[n] + 1 + n / c.axes;
    twin t = twin_of(&c, PE_F32, NULL);
    ledger l = ledger_of(&c, PE_F32, PE_F32);
    use u = { .to = pe_positions_of(to, PE_I64, 1, TOKENS, c.axes), .c = &c, .t = &t, .l = &l, .x = case_doubles(TOKENS * PE_HEAD_DIM_MAX), .y = case_doubles(TOKENS * PE_HEAD_DIM_MAX) };
    worked = 0;
    check(&u, make, "new");
    check(&u, reference, "reference_forward");
    check_turns(&u);
    check_attention(&u);
    if (worked < 2)
        fail_msg("%s: nothing worked but %d calls", spec, worked);
}

TEST(no_call_takes_more_stack_than_the_header_says)
{
    case_each(check_spec);
    check_spec("rope:turn=qkvo");
    printf("most: %" PRId64 " bytes\n", most);
}
