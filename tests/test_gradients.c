/* labels: core; tier: test; cost: 7 s; sanitize: all
 * SPDX-License-Identifier: MIT
 *
 * Every gradient against 4-point central differences in double: each hook and its parameters, then attention as a whole
 * under every mask. A loss is a sum of outputs with random weights. */
#include "attention_case.h"

#define SEED UINT64_C(0x67726164)

/* What 4-point differences of smooth functions of size 1 leave at h = 1/1024: h^4 f^(5)/30 is below 1e-12; the rest is
 * room for functions that bend more. The loss's own rounding over h comes on top. */
#define TOLERANCE 1e-8
#define STEP 0x1p-10

typedef struct checker {
    const char *spec;
    char where[80];
    double (*loss)(void *of);
    void *of;
    uint64_t r;
} checker;

static int64_t checked, beside_kinks;

/* d loss / dt of x + t direction; most: the largest loss on the way. */
static double difference(const checker *c, double *x, const double *direction, int64_t n, double h, double *most)
{
    static const int at[] = { -2, -1, 1, 2 };
    static const double weight[] = { 1, -8, 8, -1 };
    double *kept = case_doubles(n), sum = 0;
    memcpy(kept, x, (size_t)n * sizeof *x);
    for (int s = 0; s < 4; s++) {
        for (int64_t i = 0; i < n; i++)
            x[i] = kept[i] + at[s] * h * direction[i];
        double loss = c->loss(c->of);
        *most = fmax(*most, fabs(loss));
        sum += weight[s] * loss;
    }
    memcpy(x, kept, (size_t)n * sizeof *x);
    return sum / (12 * h);
}

/* One direction. Where half the step gives another slope there is a kink (a ReLU, a count that passes a whole number):
 * the function has no one derivative to compare with. */
static void check_direction(checker *c, const char *what, double *x, const double *dx, const double *direction, int64_t n,
                            double h, double size)
{
    double most = 0, slope = difference(c, x, direction, n, h, &most), again = difference(c, x, direction, n, h / 2, &most);
    double given = case_dot(dx, direction, n), allowed = TOLERANCE * size + 1e-14 * (1 + most) / h;
    checked++;
    if (fabs(slope - again) > allowed)
        beside_kinks++;
    else if (!(fabs(again - given) <= allowed))
        fail_msg("%s, %s, gradient of %s: %.15g, differences say %.15g", c->spec, c->where, what, given, again);
}

/* dx is the gradient of x: all elements at once along two random directions, then a few of them alone, mostly such that
 * have a gradient. */
static void check_gradient(checker *c, const char *what, double *x, const double *dx, int64_t n)
{
    double *direction = case_doubles(n), size = sqrt(case_dot(dx, dx, n));
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(dx[i]))
            fail_msg("%s, %s: gradient %" PRId64 " of %s is %g", c->spec, c->where, i, what, dx[i]);
    for (int k = 0; n && k < 2; k++) {
        for (int64_t i = 0; i < n; i++)
            direction[i] = test_uniform(&c->r);
        check_direction(c, what, x, dx, direction, n, STEP / 4, size);
    }
    memset(direction, 0, (size_t)n * sizeof *direction);
    for (int k = 0; n && k < 4; k++) {
        int64_t i = test_range(&c->r, 0, n - 1);
        for (int64_t steps = 0; k && dx[i] == 0 && steps < n; steps++)
            i = (i + 1) % n;
        direction[i] = 1;
        if (isfinite(x[i]))
            check_direction(c, what, x, dx, direction, n, STEP * fmax(fabs(x[i]), 0.1), case_largest(dx, n));
        direction[i] = 0;
    }
}

static void check_params(checker *c, const pe_encoding *e, double *w, const double *dw)
{
    for (int t = 0; t < pe_encoding_tensor_count(e); t++) {
        const pe_tensor *x = pe_encoding_tensor(e, t);
        check_gradient(c, x->name, w + x->offset, dw + x->offset, x->count);
    }
}

/* What gradients are added to; taken off again before they are compared. */
#define BEFORE 0.5

static double *filled(int64_t n, double with)
{
    double *x = case_doubles(n);
    for (int64_t i = 0; i < n; i++)
        x[i] = with;
    return x;
}

static void take_off(double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] -= BEFORE;
}

static float *to_floats(const double *x, int64_t n)
{
    float *y = take(n, sizeof *y);
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)x[i];
    return y;
}

/* float32 storage rounds each sum; 1e-5 is some hundred roundings of the largest element. */
static void check_floats(const char *spec, const char *what, const float *x, const double *exact, int64_t n, float before)
{
    double size = case_largest(exact, n);
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)(x[i] - before) - exact[i]) <= 1e-5 * (size + before)))
            fail_msg("%s: float32 gradient %" PRId64 " of %s is %.9g, in float64 %.9g", spec, i, what, (double)(x[i] - before), exact[i]);
}

/* ------------------------------------------------ embed */

typedef struct embed_case {
    pe_encoding *e;
    pe_params w;
    int64_t n, width, *at;
    double *x, *y, *dy;
} embed_case;

static pe_view tokens(void *data, pe_dtype type, int64_t n, int64_t width)
{
    return pe_view_of(data, type, 1, n, 1, width);
}

static pe_positions embed_at(const embed_case *c)
{
    return pe_positions_of(c->at, PE_I64, 1, c->n, pe_encoding_axes(c->e));
}

static double embed_loss(void *of)
{
    embed_case *c = of;
    int64_t C = pe_encoding_shape(c->e).model_dim;
    assert_ok(pe_embed(c->e, tokens(c->y, PE_F64, c->n, c->width), tokens(c->x, PE_F64, c->n, C), embed_at(c), &PE_MAKE(pe_run, .params = c->w), &err));
    return case_dot(c->y, c->dy, c->n * c->width);
}

/* Positions far and near; those that are not served are drawn again. */
static void embed_positions(embed_case *c, uint64_t *r)
{
    int64_t axes = pe_encoding_axes(c->e), C = pe_encoding_shape(c->e).model_dim;
    for (int64_t t = 0; t < c->n; t++)
        for (int tries = 0;; tries++) {
            for (int64_t a = 0; a < axes; a++)
                c->at[t * axes + a] = test_range(r, 0, INT64_C(1) << test_range(r, 0, 13));
            pe_positions one = pe_positions_of(c->at + t * axes, PE_I64, 1, 1, axes);
            if (!pe_embed(c->e, tokens(c->y, PE_F64, 1, c->width), tokens(c->x, PE_F64, 1, C), one, &PE_MAKE(pe_run, .params = c->w), NULL))
                break;
            if (tries > 1000)
                fail_msg("no position is served");
        }
}

static void embed_backward(const char *spec)
{
    checker k = { spec, "embed", embed_loss, NULL, SEED };
    embed_case c = { .e = case_encoding(spec), .n = 5 };
    int64_t C = pe_encoding_shape(c.e).model_dim;
    c.w = (pe_params){ case_params(c.e, &k.r), PE_F64, pe_encoding_param_count(c.e) };
    c.width = pe_embed_width(c.e, C);
    c.x = case_random(c.n * C, 1, &k.r);
    c.y = case_doubles(c.n * c.width);
    c.dy = case_random(c.n * c.width, 1, &k.r);
    c.at = take(c.n * PE_AXES_MAX, sizeof *c.at);
    embed_positions(&c, &k.r);
    k.of = &c;
    double *dx = filled(c.n * C, NAN), *dw = filled(c.w.count, BEFORE);
    assert_ok(pe_embed_back(c.e, (pe_params){ dw, PE_F64, c.w.count }, tokens(dx, PE_F64, c.n, C), tokens(c.dy, PE_F64, c.n, c.width), embed_at(&c), &PE_MAKE(pe_run, .params = c.w), &err));
    take_off(dw, c.w.count);
    check_gradient(&k, "x", c.x, dx, c.n * C);
    check_params(&k, c.e, c.w.data, dw);
    float *dy32 = to_floats(c.dy, c.n * c.width), *dx32 = take(c.n * C, 4), *dw32 = take(c.w.count, 4);
    assert_ok(pe_embed_back(c.e, (pe_params){ dw32, PE_F32, c.w.count }, tokens(dx32, PE_F32, c.n, C), tokens(dy32, PE_F32, c.n, c.width), embed_at(&c), &PE_MAKE(pe_run, .params = c.w), &err));
    check_floats(spec, "x", dx32, dx, c.n * C, 0);
    check_floats(spec, "parameters", dw32, dw, c.w.count, 0);
}

static const char *const combinations[] = {
    "rope+t5", "shaw+alibi:slopes=learned", "cope+rope:magnitude=1.25", "xpos+kerple", "deberta:buckets=8,max=32+fire:hidden=8",
    "transformer-xl+rope:turn=qkvo+alibi", "rope:axes=2,split=axial+window", "cope+shaw", "alibi:convention=falcon+t5:scale=sqrt",
    "rope+forget", "forget+inkling:distances=5,width=3,floor=2,scale=sqrt", "rope:temperature=0.1,floor=4+inkling:distances=5,width=3",
};
static const char *const embed_combinations[] = { "sinusoidal+learned+integer", "learned+hierarchical:join=concat,width=6+binary:join=concat,width=5+rope" };

TEST(embed_gradients_match_differences)
{
    each_spec(embed_backward, embed_combinations, COUNT(embed_combinations));
}

/* ------------------------------------------------ rotate */

typedef struct rotate_case {
    attention_case *c;
    pe_side side;
    double *y, *dy;
} rotate_case;

static double rotate_loss(void *of)
{
    rotate_case *c = of;
    pe_view y = c->c->a.q;
    y.data = c->y;
    assert_ok(pe_rotate(c->c->e, c->side, y, c->c->a.q, c->c->a.q_at, &PE_MAKE(pe_run, .params = c->c->params), &err));
    return case_dot(c->y, c->dy, y.tokens * y.heads * y.dim);
}

static void rotate_backward(const char *spec)
{
    attention_case a = case_new(spec, 0, SEED + 1);
    int64_t n = a.Tq * a.shape.heads * a.shape.head_dim;
    checker k = { spec, "", rotate_loss, NULL, SEED };
    for (int side = PE_QUERY; side <= PE_OUTPUT; side++) {
        rotate_case c = { &a, (pe_side)side, case_doubles(n), case_random(n, 1, &k.r) };
        double *dx = filled(n, NAN);
        pe_view to = a.a.q, from = a.a.q;
        to.data = dx;
        from.data = c.dy;
        k.of = &c;
        snprintf(k.where, sizeof k.where, "rotate side %d", side);
        assert_ok(pe_rotate_back(a.e, (pe_side)side, to, from, a.a.q_at, &PE_MAKE(pe_run, .params = a.params), &err));
        check_gradient(&k, "x", a.q, dx, n);
        float *dy32 = to_floats(c.dy, n), *dx32 = take(n, 4);
        to.dtype = from.dtype = PE_F32;
        to.data = dx32;
        from.data = dy32;
        assert_ok(pe_rotate_back(a.e, (pe_side)side, to, from, a.a.q_at, &PE_MAKE(pe_run, .params = a.params), &err));
        check_floats(spec, "x", dx32, dx, n, 0);
    }
}

TEST(rotate_gradients_match_differences)
{
    each_example(rotate_backward);
}

/* ------------------------------------------------ content, bias, value */

typedef struct tile_case {
    attention_case *c;
    pe_tile tile;
    pe_stage stage;
    bool content;
    double *dscore;
} tile_case;

static double tile_loss(void *of)
{
    tile_case *c = of;
    int64_t n = c->tile.score.tokens * c->tile.score.heads * c->tile.score.dim;
    memset(c->tile.score.data, 0, (size_t)n * sizeof(double));
    assert_ok((c->content ? pe_encoding_content : pe_encoding_bias)(c->c->e, c->stage, c->c->params, &c->tile, &err));
    return case_dot(c->tile.score.data, c->dscore, n);
}

static void tile_floats(const tile_case *t, const double *dq, const double *dk, const double *dw)
{
    const attention_case *c = t->c;
    int64_t nq = c->Tq * c->shape.heads * c->shape.head_dim, nk = c->Tk * c->shape.kv_heads * c->shape.head_dim;
    int64_t ns = c->Tq * c->shape.heads * c->Tk;
    float *q = to_floats(c->q, nq), *k = to_floats(c->k, nk), *w = to_floats(c->w, c->params.count), *ds = to_floats(t->dscore, ns);
    float *dq32 = take(nq, 4), *dk32 = take(nk, 4), *dw32 = take(c->params.count, 4);
    pe_tile tile = t->tile;
    pe_view vq = tile.q, vk = tile.k, vs = tile.score;
    vq.dtype = vk.dtype = vs.dtype = PE_F32;
    pe_tile_grad g = { .size = sizeof(pe_tile_grad), .dscore = vs, .dq = vq, .dk = vk, .dparams = { dw32, PE_F32, c->params.count } };
    g.dscore.data = ds;
    g.dq.data = dq32;
    g.dk.data = dk32;
    tile.q = vq, tile.k = vk;
    tile.q.data = q;
    tile.k.data = k;
    assert_ok((t->content ? pe_encoding_content_back : pe_encoding_bias_back)(c->e, t->stage, (pe_params){ w, PE_F32, c->params.count },
                                                                              &tile, &g, &err));
    check_floats(c->spec, "q", dq32, dq, nq, 0);
    check_floats(c->spec, "k", dk32, dk, nk, 0);
    check_floats(c->spec, "parameters", dw32, dw, c->params.count, 0);
}

static void tile_gradient(checker *k, tile_case *t)
{
    attention_case *c = t->c;
    int64_t nq = c->Tq * c->shape.heads * c->shape.head_dim, nk = c->Tk * c->shape.kv_heads * c->shape.head_dim;
    double *dq = filled(nq, BEFORE), *dk = filled(nk, BEFORE), *dw = filled(c->params.count, BEFORE);
    pe_tile_grad g = { .size = sizeof(pe_tile_grad), .dscore = t->tile.score, .dq = t->tile.q, .dk = t->tile.k, .dparams = { dw, PE_F64, c->params.count },
                       .dq_gates = t->tile.q_gates, .dk_gates = t->tile.k_gates, .drelative = t->tile.relative };
    struct {
        const char *name;
        double *x, *dx;
        int64_t count;
        pe_view *to;
    } input[] = { { "q_gates", c->q_gates, NULL, c->a.q_gates.data && !t->content ? c->Tq * c->shape.heads : 0, &g.dq_gates },
                  { "k_gates", c->k_gates, NULL, c->a.k_gates.data && !t->content ? c->Tk * c->shape.heads : 0, &g.dk_gates },
                  { "relative", c->relative, NULL, t->content ? c->Tq * c->shape.heads * c->a.relative.dim : 0, &g.drelative } };
    for (int i = 0; i < COUNT(input); i++) {
        input[i].dx = filled(input[i].count, BEFORE);
        input[i].to->data = input[i].count ? input[i].dx : NULL;
    }
    g.dscore.data = t->dscore;
    g.dq.data = dq;
    g.dk.data = dk;
    snprintf(k->where, sizeof k->where, "%s %s the scale", t->content ? "content" : "bias", t->stage ? "after" : "before");
    assert_ok((t->content ? pe_encoding_content_back : pe_encoding_bias_back)(c->e, t->stage, c->params, &t->tile, &g, &err));
    take_off(dq, nq), take_off(dk, nk), take_off(dw, c->params.count);
    check_gradient(k, "q", c->q, dq, nq);
    check_gradient(k, "k", c->k, dk, nk);
    for (int i = 0; i < COUNT(input); i++) {
        take_off(input[i].dx, input[i].count);
        check_gradient(k, input[i].name, input[i].x, input[i].dx, input[i].count);
    }
    check_params(k, c->e, c->w, dw);
    tile_floats(t, dq, dk, dw);
}

static void tile_backward(const char *spec)
{
    attention_case a = case_new(spec, 0, SEED + 2);
    int64_t n = a.Tq * a.shape.heads * a.Tk;
    checker k = { spec, "", tile_loss, NULL, SEED };
    uint8_t *seen = take(a.Tq * a.Tk, 1);
    for (int64_t i = 0; i < a.Tq * a.Tk; i++)
        seen[i] = test_range(&k.r, 0, 3) && (!a.a.mask.causal || i % a.Tk <= i / a.Tk);
    double *score = case_doubles(n), *dscore = case_random(n, 1, &k.r);
    tile_case t = { .c = &a, .dscore = dscore };
    t.tile = (pe_tile){ .size = sizeof(pe_tile), .score = pe_view_of(score, PE_F64, 1, a.Tq, a.shape.heads, a.Tk), .q = a.a.q, .k = a.a.k,
                        .q_at = a.a.q_at, .k_at = a.a.k_at, .q_gates = a.a.q_gates, .k_gates = a.a.k_gates, .relative = a.a.relative };
    k.of = &t;
    for (int way = 0; way < 8; way++) {
        t.content = way & 1;
        t.stage = way & 2 ? PE_AFTER_SCALE : PE_BEFORE_SCALE;
        t.tile.seen = way & 4 || a.a.mask.causal ? seen : NULL;
        tile_gradient(&k, &t);
    }
}

TEST(content_and_bias_gradients_match_differences)
{
    each_spec(tile_backward, combinations, COUNT(combinations));
}

typedef struct value_case {
    attention_case *c;
    double *prob, *out, *dout;
} value_case;

static pe_view value_prob(const value_case *v, void *data, pe_dtype type)
{
    return pe_view_of(data, type, 1, v->c->Tq, v->c->shape.heads, v->c->Tk);
}

static pe_view value_out(const value_case *v, void *data, pe_dtype type)
{
    return pe_view_of(data, type, 1, v->c->Tq, v->c->shape.heads, v->c->shape.head_dim);
}

static double value_loss(void *of)
{
    value_case *v = of;
    int64_t n = v->c->Tq * v->c->shape.heads * v->c->shape.head_dim;
    memset(v->out, 0, (size_t)n * sizeof *v->out);
    assert_ok(pe_encoding_value(v->c->e, v->c->params, value_out(v, v->out, PE_F64), value_prob(v, v->prob, PE_F64), v->c->a.q_at,
                                v->c->a.k_at, &err));
    return case_dot(v->out, v->dout, n);
}

static void value_backward(const char *spec)
{
    attention_case a = case_new(spec, 0, SEED + 3);
    int64_t n = a.Tq * a.shape.heads * a.Tk, m = a.Tq * a.shape.heads * a.shape.head_dim;
    if (a.a.mask.causal) /* its table ends at the query, and value has no mask: all queries after all keys */
        for (int64_t i = 0; i < a.Tq; i++)
            a.q_at[i] = a.k_at[a.Tk - 1];
    checker k = { spec, "value", value_loss, NULL, SEED };
    value_case v = { &a, case_random(n, 1, &k.r), case_doubles(m), case_random(m, 1, &k.r) };
    double *dprob = filled(n, BEFORE), *dw = filled(a.params.count, BEFORE);
    k.of = &v;
    assert_ok(pe_encoding_value_back(a.e, a.params, (pe_params){ dw, PE_F64, a.params.count }, value_prob(&v, dprob, PE_F64),
                                     value_prob(&v, v.prob, PE_F64), value_out(&v, v.dout, PE_F64), a.a.q_at, a.a.k_at, &err));
    take_off(dprob, n), take_off(dw, a.params.count);
    check_gradient(&k, "prob", v.prob, dprob, n);
    check_params(&k, a.e, a.w, dw);
    float *p32 = to_floats(v.prob, n), *g32 = to_floats(v.dout, m), *dp32 = take(n, 4), *dw32 = take(a.params.count, 4);
    assert_ok(pe_encoding_value_back(a.e, a.params, (pe_params){ dw32, PE_F32, a.params.count }, value_prob(&v, dp32, PE_F32),
                                     value_prob(&v, p32, PE_F32), value_out(&v, g32, PE_F32), a.a.q_at, a.a.k_at, &err));
    check_floats(spec, "prob", dp32, dprob, n, 0);
    check_floats(spec, "parameters", dw32, dw, a.params.count, 0);
}

TEST(value_gradients_match_differences)
{
    each_spec(value_backward, combinations, COUNT(combinations));
}

/* ------------------------------------------------ attention */

typedef struct gradients {
    double *dq, *dk, *dv, *dw, *dsinks, *dadditive;
    int64_t nq, nk, nv, nw, ns, na;
} gradients;

static double attention_loss(void *of)
{
    attention_case *c = of;
    case_forward(c);
    return case_dot(c->out, c->dout, c->Tq * c->shape.heads * c->Dv);
}

static gradients attention_gradients(attention_case *c)
{
    const pe_shape s = c->shape;
    const pe_view add = c->a.mask.additive;
    gradients g = { .nq = c->Tq * s.heads * s.head_dim, .nk = c->Tk * s.kv_heads * s.head_dim, .nv = c->Tk * s.kv_heads * c->Dv,
                    .nw = c->params.count, .ns = c->a.sinks.count, .na = add.tokens * add.heads * add.dim };
    g.dq = filled(g.nq, NAN), g.dk = filled(g.nk, NAN), g.dv = filled(g.nv, NAN); /* overwritten */
    g.dw = filled(g.nw, BEFORE), g.dsinks = filled(g.ns, BEFORE), g.dadditive = filled(g.na, BEFORE);
    pe_attention_grad out = { .size = sizeof(pe_attention_grad), .dout = c->a.out, .dq = c->a.q, .dk = c->a.k, .dv = c->a.v, .dadditive = add,
                              .dparams = { g.dw, PE_F64, g.nw }, .dsinks = { g.dsinks, PE_F64, g.ns } };
    out.dout.data = c->dout;
    out.dq.data = g.dq;
    out.dk.data = g.dk;
    out.dv.data = g.dv;
    out.dadditive.data = add.data ? g.dadditive : NULL;
    if (!g.ns)
        out.dsinks.data = NULL;
    case_backward(c, &out);
    take_off(g.dw, g.nw), take_off(g.dsinks, g.ns), take_off(g.dadditive, g.na);
    return g;
}

static void attention_floats(attention_case *c, const gradients *exact)
{
    attention_case f = *c;
    float *q = to_floats(c->q, exact->nq), *k = to_floats(c->k, exact->nk), *v = to_floats(c->v, exact->nv);
    float *w = to_floats(c->w, exact->nw), *dout = to_floats(c->dout, c->Tq * c->shape.heads * c->Dv);
    float *dq = take(exact->nq, 4), *dk = take(exact->nk, 4), *dv = take(exact->nv, 4), *dw = take(exact->nw, 4);
    f.a.q.dtype = f.a.k.dtype = f.a.v.dtype = f.a.out.dtype = PE_F32;
    pe_attention_grad out = { .size = sizeof(pe_attention_grad), .dout = f.a.out, .dq = f.a.q, .dk = f.a.k, .dv = f.a.v, .dparams = { dw, PE_F32, exact->nw } };
    f.a.q.data = q, f.a.k.data = k, f.a.v.data = v;
    out.dout.data = dout, out.dq.data = dq, out.dk.data = dk, out.dv.data = dv;
    assert_ok(pe_reference_backward(f.e, &f.a, &out, &PE_MAKE(pe_run, .params = (pe_params){ w, PE_F32, exact->nw }, .work = f.work, .work_bytes = f.bytes), &err));
    check_floats(c->spec, "q", dq, exact->dq, exact->nq, 0);
    check_floats(c->spec, "k", dk, exact->dk, exact->nk, 0);
    check_floats(c->spec, "v", dv, exact->dv, exact->nv, 0);
    check_floats(c->spec, "parameters", dw, exact->dw, exact->nw, 0);
}

static void attention_backward(const char *spec, unsigned features)
{
    attention_case c = case_new(spec, features, SEED + features);
    checker k = { spec, "", attention_loss, &c, SEED + features };
    gradients g = attention_gradients(&c);
    snprintf(k.where, sizeof k.where, "attention with features %#x", features);
    check_gradient(&k, "q", c.q, g.dq, g.nq);
    check_gradient(&k, "k", c.k, g.dk, g.nk);
    check_gradient(&k, "v", c.v, g.dv, g.nv);
    check_gradient(&k, "sinks", c.sinks, g.dsinks, g.ns);
    check_gradient(&k, "additive", c.additive, g.dadditive, g.na);
    check_params(&k, c.e, c.w, g.dw);
    attention_floats(&c, &g);
    case_over(&c);
}

static void attention_backward_all(const char *spec)
{
    for (int f = 0; f < COUNT(case_features); f++)
        attention_backward(spec, case_features[f]);
}

TEST(attention_gradients_match_differences_under_every_mask)
{
    each_spec(attention_backward_all, combinations, COUNT(combinations));
}

/* Each gradient alone equals the same from the full call: NULL means not wanted. */
TEST(gradients_that_are_not_wanted_may_be_null)
{
    attention_case c = case_new("rope+t5", CAUSAL, SEED);
    gradients g = attention_gradients(&c);
    double *dk = filled(g.nk, NAN);
    pe_attention_grad only = { .size = sizeof(pe_attention_grad), .dout = c.a.out, .dk = c.a.k };
    only.dout.data = c.dout;
    only.dk.data = dk;
    case_backward(&c, &only);
    assert_memory_equal(dk, g.dk, (size_t)g.nk * sizeof *dk);
}

/* Whoever is beside a kink is not compared: that must stay rare. */
TEST(few_directions_meet_a_kink)
{
    printf("%" PRId64 " directions, %" PRId64 " of them beside a kink\n", checked, beside_kinks);
    assert_true(checked > 10000);
    assert_true(beside_kinks * 50 < checked);
}
