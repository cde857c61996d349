/* SPDX-License-Identifier: MIT
 *
 * Attention over a sequence that lies on many processes: libposenc_mpi. Each rank has its share of the queries, keys and
 * values; keys and values go round the ring of ranks while each computes (Liu et al. 2023, ring attention), so a rank needs
 * memory for its share and a few shares of keys and values, however many ranks there are.
 *
 *     pe_ring ring = PE_MAKE(pe_ring, .comm = comm, .order = PE_RING_ZIGZAG);
 *     pe_ring_attention_work(&ring, encoding, &a, &run, &run.work_bytes, &err);      // a: views of this rank's share
 *     run.work = malloc(run.work_bytes);
 *     pe_ring_attention_forward(&ring, encoding, &a, &run, &err);
 *
 * Rules, beside those of posenc.h
 *  - Every rank of the communicator makes the same calls in the same order, with the same encoding, parameters, sizes, mask,
 *    lengths and positions. All but the values of parameters and positions is compared before anything else is sent. Every
 *    rank returns an error if one of them does: nobody waits for a rank that refused. The exception is a rank whose ring
 *    says no way to the others: NULL or of a wrong size, without MPI, or comm no communicator.
 *  - The communicator is used by one call at a time, and by nothing else: MPI_Comm_dup makes one.
 *  - A call waits `patience` seconds for a message and then returns PE_ERR_PEER. Its work memory is still MPI's then: the
 *    program must end (MPI_Abort), and not free it. What MPI itself finds wrong is handled by the communicator's error
 *    handler: the default one ends the job; with MPI_ERRORS_RETURN it is PE_ERR_PEER and MPI's sentence.
 *  - The same call on as many ranks gives the same bits. Results equal those of one process up to rounding.
 *  - Messages move while a call computes if MPI does so by itself; else each time the call asks, after 1024 queries at most.
 */
#ifndef POSENC_MPI_H
#define POSENC_MPI_H

#include <mpi.h>

#include "posenc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which tokens of the sequence a rank has, of P ranks. With a causal mask the first order leaves the first ranks without
 * work; the others give all ranks nearly the same.                                                                    */
typedef enum pe_ring_order {
    PE_RING_CONTIGUOUS = 0, /* rank r has part r of P                                                        */
    PE_RING_ZIGZAG,         /* rank r has parts r and 2P - 1 - r of 2P, one after the other in memory          */
    PE_RING_STRIPED         /* rank r has tokens r, r + P, r + 2P, ...                                        */
} pe_ring_order;

typedef struct pe_ring_count { /* added to by every call */
    int64_t bytes, messages;   /* that this rank sent: keys, values and their gradients, sums of parameters   */
    double waited;             /* seconds in which it had nothing to do but wait                             */
} pe_ring_count;

typedef struct pe_ring {
    size_t size;          /* sizeof(pe_ring)                                                                 */
    MPI_Comm comm;
    pe_ring_order order;
    double patience;      /* seconds; 0: 600                                                                 */
    pe_ring_count *count; /* NULL: not wanted                                                                */
} pe_ring;

/* The place in the sequence of a rank's token i, or -1 where there is none: tokens, of the whole sequence, must be a
 * multiple of ranks, for zigzag of twice as many. Other lengths are padded, and a's k_lengths says how many are real.  */
PE_API int64_t pe_ring_token(pe_ring_order order, int64_t tokens, int ranks, int rank, int64_t i);

/* As pe_attention_forward and pe_attention_backward on the whole sequence. In a, and in g,
 *  - views are this rank's share, all of as many tokens: q, k, v, out, lse, q_gates, k_gates, relative, and gradients.
 *    Gradients are float32 or float64. dparams and dsinks are added to with the sums over all ranks.
 *  - k_at has the positions of the whole sequence, (batch, tokens * ranks, axes), usually a run without memory; left out:
 *    0, 1, 2, ... Queries have those of their keys, and q_at is left out.
 *  - k_lengths are those of the whole sequences, also packed; q_lengths are left out.
 *  - causal and window go by position. If positions are not consecutive, align must be PE_ALIGN_POSITION, which says so.
 *  - keep, additive, pages, scores and probabilities are refused: they are as large as all keys of a rank's queries.
 *  - A term that counts keys (pe_encoding_carries) needs the keys of the ranks from right to left: one part after the other
 *    goes to all ranks, which is slower, and the striped order is refused.                                           */
PE_API pe_status pe_ring_attention_work(const pe_ring *ring, const pe_encoding *e, const pe_attention *a,
                                        const pe_run *run, size_t *bytes, pe_error *err);
PE_API pe_status pe_ring_attention_forward(const pe_ring *ring, const pe_encoding *e, const pe_attention *a,
                                           const pe_run *run, pe_error *err);
/* After an error gradients may have been written. g's accumulate is as elsewhere; piece, carry and dcarry are not.     */
PE_API pe_status pe_ring_attention_backward_work(const pe_ring *ring, const pe_encoding *e, const pe_attention *a,
                                                 const pe_attention_grad *g, const pe_run *run, size_t *bytes,
                                                 pe_error *err);
PE_API pe_status pe_ring_attention_backward(const pe_ring *ring, const pe_encoding *e, const pe_attention *a,
                                            const pe_attention_grad *g, const pe_run *run, pe_error *err);
/* The bytes that this rank will send: in the forward pass, or with g given in the backward pass (docs/scale.md has the
 * formula). Neither needs another rank.                                                                               */
PE_API pe_status pe_ring_attention_bytes(const pe_ring *ring, const pe_encoding *e, const pe_attention *a,
                                         const pe_attention_grad *g, int64_t *bytes, pe_error *err);

#ifdef __cplusplus
}
#endif
#endif
