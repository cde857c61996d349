/* SPDX-License-Identifier: MIT
 *
 * Messages between ranks: sent and received while others compute, waited for no longer than the caller's patience. */
#define _POSIX_C_SOURCE 200809L
#include "mpi/ring.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { UNIT = 8 }; /* bytes: MPI counts in int */

static pe_status mpi_fail(int code, const char *what, pe_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        text[0] = 0;
    return pe_fail(err, PE_ERR_PEER, "%s failed: %.200s", what, text);
}

#define MPI_TRY(call, what)                                                                                            \
    do {                                                                                                               \
        int mpi_code = (call);                                                                                         \
        if (mpi_code != MPI_SUCCESS)                                                                                   \
            return mpi_fail(mpi_code, what, err);                                                                      \
    } while (0)

pe_status tour_open(tour *t, const pe_ring *ring, pe_error *err)
{
    int running = 0, ended = 0;
    MPI_Comm none;
    memset(&none, 0, sizeof none);
    bool patient = ring->patience > 0 && !isinf(ring->patience);
    *t = (tour){ .comm = ring->comm, .count = ring->count, .patience = patient ? ring->patience : 600 };
    for (int i = 0; i < SLOTS; i++)
        t->request[i] = MPI_REQUEST_NULL;
    MPI_TRY(MPI_Initialized(&running), "MPI_Initialized");
    MPI_TRY(MPI_Finalized(&ended), "MPI_Finalized");
    if (!running || ended)
        return pe_fail(err, PE_ERR_PEER, "MPI is not running; needs a call between MPI_Init and MPI_Finalize");
    if (ring->comm == MPI_COMM_NULL || !memcmp(&ring->comm, &none, sizeof none))
        return pe_fail(err, PE_ERR_NULL, "ring.comm is no communicator; give it a copy of MPI_COMM_WORLD (MPI_Comm_dup)");
    MPI_TRY(MPI_Comm_rank(t->comm, &t->rank), "MPI_Comm_rank");
    MPI_TRY(MPI_Comm_size(t->comm, &t->ranks), "MPI_Comm_size");
    t->next = (t->rank + 1) % t->ranks;
    t->before = (t->rank + t->ranks - 1) % t->ranks;
    if (!patient && ring->patience != 0)
        return pe_fail(err, PE_ERR_RANGE, "ring.patience is %s; needs seconds above 0 (0: 600)",
                       text_show(ring->patience).text);
    return PE_OK;
}

static pe_status count_units(int64_t bytes, int *count, pe_error *err)
{
    if (bytes / UNIT > INT32_MAX)
        return pe_fail(err, PE_ERR_OVERFLOW, "a message has %" PRId64 " bytes; needs less than 16 GiB: use more ranks",
                       bytes);
    *count = (int)(bytes / UNIT);
    return PE_OK;
}

pe_status tour_send(tour *t, int slot, int tag, const void *data, int64_t bytes, int to, pe_error *err)
{
    int count = 0;
    TRY(count_units(bytes, &count, err));
    t->peer[slot] = to;
    MPI_TRY(MPI_Isend(data, count, MPI_INT64_T, to, tag, t->comm, &t->request[slot]), "MPI_Isend");
    if (t->count) {
        t->count->bytes += bytes;
        t->count->messages++;
    }
    return PE_OK;
}

pe_status tour_receive(tour *t, int slot, int tag, void *data, int64_t bytes, int from, pe_error *err)
{
    int count = 0;
    TRY(count_units(bytes, &count, err));
    t->peer[slot] = from;
    MPI_TRY(MPI_Irecv(data, count, MPI_INT64_T, from, tag, t->comm, &t->request[slot]), "MPI_Irecv");
    return PE_OK;
}

/* Sets *left to those that are not done. */
static pe_status test_slots(tour *t, unsigned slots, unsigned *left, pe_error *err)
{
    *left = 0;
    for (int i = 0; i < SLOTS; i++) {
        int done = 1;
        if (slots & SLOT(i) && t->request[i] != MPI_REQUEST_NULL)
            MPI_TRY(MPI_Test(&t->request[i], &done, MPI_STATUS_IGNORE), "a message");
        *left |= done ? 0 : SLOT(i);
    }
    return PE_OK;
}

void tour_poke(tour *t)
{
    int done;
    for (int i = 0; i < SLOTS; i++)
        if (t->request[i] != MPI_REQUEST_NULL) { /* what failed is told where it is waited for */
            (void)MPI_Request_get_status(t->request[i], &done, MPI_STATUS_IGNORE);
            return; /* MPI looks at all of them */
        }
}

static pe_status waited_for(const tour *t, int peer, pe_error *err)
{
    char who[80] = "some rank that is not its neighbour; are all alive?";
    if (peer >= 0)
        snprintf(who, sizeof who, "rank %d; is it alive, or waiting itself?", peer);
    return pe_fail(err, PE_ERR_PEER, "rank %d waited %.0f seconds for %s (ring.patience; end the job with MPI_Abort)",
                   t->rank, t->patience, who);
}

pe_status tour_wait(tour *t, unsigned slots, pe_error *err)
{
    double from = MPI_Wtime(), now = from;
    unsigned left;
    int turns = 0;
    TRY(test_slots(t, slots, &left, err));
    while (left) {
        if (++turns > 1000) /* others may need this core */
            nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
        TRY(test_slots(t, slots, &left, err));
        now = MPI_Wtime();
        if (left && now - from > t->patience) {
            int slot = 0;
            while (!(left & SLOT(slot)))
                slot++;
            return waited_for(t, t->peer[slot], err);
        }
    }
    if (t->count)
        t->count->waited += now - from;
    return PE_OK;
}

/* A collective call does not say who is missing: so neighbours tell each other that they are here, with no content. */
static pe_status greet_neighbours(tour *t, pe_error *err)
{
    const int peers[] = { t->before, t->next };
    for (int n = 0; n < 2 && t->ranks > 1; n++) {
        int to = peers[n];
        t->peer[CAME + n] = t->peer[COMES + n] = to;
        MPI_TRY(MPI_Irecv(NULL, 0, MPI_INT64_T, to, TAG_HERE, t->comm, &t->request[CAME + n]), "MPI_Irecv");
        MPI_TRY(MPI_Isend(NULL, 0, MPI_INT64_T, to, TAG_HERE, t->comm, &t->request[COMES + n]), "MPI_Isend");
    }
    return PE_OK;
}

/* The greatest of each number; -x beside x shows whether all have the same. */
pe_status tour_agree(tour *t, pe_status own, uint64_t hash, pe_error *err)
{
    int64_t same = (int64_t)(hash >> 2), mine[3] = { own ? t->rank + 1 : 0, same, -same };
    pe_error waiting;
    TRY(greet_neighbours(t, err));
    t->peer[OTHER] = -1;
    MPI_TRY(MPI_Iallreduce(mine, t->problem, 3, MPI_INT64_T, MPI_MAX, t->comm, &t->request[OTHER]), "MPI_Iallreduce");
    pe_status s = tour_wait(t, SLOT(CAME) | SLOT(CAME_2) | SLOT(COMES) | SLOT(COMES_2) | SLOT(OTHER), &waiting);
    if (own)
        return own;
    if (s)
        return pe_fail(err, s, "%s", waiting.text);
    if (t->problem[0])
        return pe_fail(err, PE_ERR_PEER, "rank %" PRId64 " of the ring failed; its own error says why",
                       t->problem[0] - 1);
    if (t->problem[1] != -t->problem[2])
        return pe_fail(err, PE_ERR_PEER,
                       "the ranks of the ring have different problems; needs the same encoding, sizes, types, order, "
                       "mask and lengths on all");
    return PE_OK;
}

int64_t tour_sum_bytes(int rank, int ranks, int64_t count)
{
    return ranks < 2 ? 0 : count * 8 * ((rank < ranks - 1) + (rank != ranks - 2));
}

/* Up the ranks, each adding its own, and round to all from the last. */
pe_status tour_sum(tour *t, double *x, double *other, int64_t count, pe_error *err)
{
    int last = t->ranks - 1;
    if (!last || !count)
        return PE_OK;
    if (t->rank > 0) {
        TRY(tour_receive(t, OTHER, TAG_PARAMS, other, count * 8, t->before, err));
        TRY(tour_wait(t, SLOT(OTHER), err));
        for (int64_t i = 0; i < count; i++)
            x[i] = other[i] + x[i];
    }
    if (t->rank < last) {
        TRY(tour_send(t, OTHER, TAG_PARAMS, x, count * 8, t->next, err));
        TRY(tour_wait(t, SLOT(OTHER), err));
        TRY(tour_receive(t, OTHER, TAG_PARAMS, x, count * 8, t->before, err));
        TRY(tour_wait(t, SLOT(OTHER), err));
    }
    if (t->rank != last - 1)
        TRY(tour_send(t, OTHER, TAG_PARAMS, x, count * 8, t->next, err));
    return tour_wait(t, SLOT(OTHER), err);
}
