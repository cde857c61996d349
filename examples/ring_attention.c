/* SPDX-License-Identifier: MIT
 *
 * Attention over a sequence that lies on many processes, and its gradients: mpirun -n 4 ring_attention. Every rank makes the
 * whole problem from the same numbers, which only an example can afford, to compare its share with one process. */
#include <math.h>
#include <posenc_mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOKENS = 2048, HEADS = 8, KV_HEADS = 2, DIM = 64 };

static void *memory(size_t bytes)
{
    void *x = calloc(bytes ? bytes : 1, 1);
    if (!x)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return x;
}

static float *numbers(int64_t tokens, int heads, unsigned seed)
{
    float *x = memory((size_t)(tokens * heads * DIM) * sizeof *x);
    for (int64_t i = 0; seed && i < tokens * heads * DIM; i++)
        x[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1.0f;
    return x;
}

/* The tokens of this rank. */
static float *share_of(const float *whole, int heads, int ranks, int rank)
{
    float *x = numbers(TOKENS / ranks, heads, 0);
    for (int64_t i = 0; i < TOKENS / ranks; i++) {
        int64_t token = pe_ring_token(PE_RING_ZIGZAG, TOKENS, ranks, rank, i);
        for (int d = 0; d < heads * DIM; d++)
            x[i * heads * DIM + d] = whole[token * heads * DIM + d];
    }
    return x;
}

static pe_attention problem(float *out, float *q, float *k, float *v, int64_t tokens)
{
    pe_attention a = PE_MAKE(pe_attention, .mask = { .causal = true });
    a.out = pe_view_of(out, PE_F32, 1, tokens, HEADS, DIM);
    a.q = pe_view_of(q, PE_F32, 1, tokens, HEADS, DIM);
    a.k = pe_view_of(k, PE_F32, 1, tokens, KV_HEADS, DIM);
    a.v = pe_view_of(v, PE_F32, 1, tokens, KV_HEADS, DIM);
    return a;
}

static int fail(pe_error err)
{
    fprintf(stderr, "%s\n", err.text);
    return MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    pe_error err;
    pe_encoding *e;
    pe_ring_count count = { 0 };
    pe_ring ring = PE_MAKE(pe_ring, .order = PE_RING_ZIGZAG, .count = &count);
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &ring.comm); /* of the ring alone */
    MPI_Comm_rank(ring.comm, &rank);
    MPI_Comm_size(ring.comm, &ranks);
    if (pe_ring_token(ring.order, TOKENS, ranks, rank, 0) < 0) {
        if (!rank)
            fprintf(stderr, "%d tokens cannot be shared by %d ranks; needs a multiple of %d, two parts for each rank\n", TOKENS, ranks, 2 * ranks);
        MPI_Finalize();
        return 2;
    }
    pe_shape shape = { .heads = HEADS, .kv_heads = KV_HEADS, .head_dim = DIM };
    if (pe_encoding_new(&e, "t5:direction=causal", shape, &err))
        return fail(err);

    float *q = numbers(TOKENS, HEADS, 1), *k = numbers(TOKENS, KV_HEADS, 2), *v = numbers(TOKENS, KV_HEADS, 3);
    size_t params = (size_t)pe_encoding_param_count(e);
    float *table = memory(params * sizeof *table), *dtable = memory(params * sizeof *table);
    pe_run run = PE_MAKE(pe_run, .params = { table, PE_F32, pe_encoding_param_count(e) });
    if (pe_encoding_init(e, run.params, 1, &err))
        return fail(err);

    /* This rank's share, forward and backward: with dout = out, say. */
    int64_t tokens = TOKENS / ranks;
    float *out = numbers(tokens, HEADS, 0), *dq = numbers(tokens, HEADS, 0), *dk = numbers(tokens, KV_HEADS, 0), *dv = numbers(tokens, KV_HEADS, 0);
    double *lse = memory((size_t)(tokens * HEADS) * sizeof *lse);
    pe_attention a = problem(out, share_of(q, HEADS, ranks, rank), share_of(k, KV_HEADS, ranks, rank), share_of(v, KV_HEADS, ranks, rank), tokens);
    a.lse = pe_view_of(lse, PE_F64, 1, tokens, HEADS, 1);
    pe_attention_grad g = PE_MAKE(pe_attention_grad, .dout = a.out, .dparams = { dtable, PE_F32, run.params.count });
    g.dq = pe_view_of(dq, PE_F32, 1, tokens, HEADS, DIM);
    g.dk = pe_view_of(dk, PE_F32, 1, tokens, KV_HEADS, DIM);
    g.dv = pe_view_of(dv, PE_F32, 1, tokens, KV_HEADS, DIM);
    if (pe_ring_attention_work(&ring, e, &a, &run, &run.work_bytes, &err))
        return fail(err);
    run.work = memory(run.work_bytes);
    if (pe_ring_attention_forward(&ring, e, &a, &run, &err))
        return fail(err);
    free(run.work);
    if (pe_ring_attention_backward_work(&ring, e, &a, &g, &run, &run.work_bytes, &err))
        return fail(err);
    run.work = memory(run.work_bytes);
    if (pe_ring_attention_backward(&ring, e, &a, &g, &run, &err))
        return fail(err);
    free(run.work);

    /* One process with all tokens. */
    float *all = numbers(TOKENS, HEADS, 0);
    pe_attention whole = problem(all, q, k, v, TOKENS);
    whole.q_at = whole.k_at = pe_positions_run(1, TOKENS, 0);
    if (pe_attention_work(e, &whole, &run, &run.work_bytes, &err))
        return fail(err);
    run.work = memory(run.work_bytes);
    if (pe_attention_forward(e, &whole, &run, &err))
        return fail(err);
    double most = 0;
    for (int64_t i = 0; i < tokens; i++)
        for (int d = 0; d < HEADS * DIM; d++)
            most = fmax(most, fabs((double)out[i * HEADS * DIM + d] - (double)all[pe_ring_token(PE_RING_ZIGZAG, TOKENS, ranks, rank, i) * HEADS * DIM + d]));
    printf("rank %d of %d: %lld tokens, %lld bytes sent in %lld messages, at most %.1g from one process\n", rank, ranks,
           (long long)tokens, (long long)count.bytes, (long long)count.messages, most);
    pe_encoding_free(e);
    MPI_Finalize();
    return most > 1e-5;
}
