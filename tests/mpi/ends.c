/* SPDX-License-Identifier: MIT
 *
 * Jobs that end badly, for run.sh: "work" attends until somebody kills a rank; "stuck" has a rank that never comes, and
 * the others' sentences. Each rank prints its process id first. */
#include <mpi.h>
#include <posenc_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SHARE = 256, H = 4, D = 32 };
static float q[SHARE * H * D], out[SHARE * H * D];

int main(int argc, char **argv)
{
    int rank;
    pe_error err = { 0 };
    pe_encoding *e;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    const char *how = argc > 1 ? argv[1] : "";
    if (pe_encoding_new(&e, "alibi", (pe_shape){ .heads = H, .head_dim = D }, &err))
        return 1;
    pe_ring ring = PE_MAKE(pe_ring, .comm = comm, .order = PE_RING_ZIGZAG, .patience = strcmp(how, "stuck") ? 0 : 4);
    pe_view x = pe_view_of(q, PE_F32, 1, SHARE, H, D);
    pe_attention a = PE_MAKE(pe_attention, .out = x, .q = x, .k = x, .v = x, .mask = { .causal = true });
    a.out.data = out;
    pe_run run = PE_MAKE(pe_run, .plan = NULL);
    pe_status s = pe_ring_attention_work(&ring, e, &a, &run, &run.work_bytes, &err);
    run.work = malloc(run.work_bytes);
    printf("rank %d is process %ld\n", rank, (long)getpid());
    fflush(stdout);
    MPI_Barrier(comm); /* all are here; from now on patience counts */
    if (!strcmp(how, "stuck") && rank == 1)
        for (;;)
            sleep(1);
    while (!s)
        s = pe_ring_attention_forward(&ring, e, &a, &run, &err);
    printf("%s: %s\n", pe_status_name(s), err.text);
    fflush(stdout);
    sleep(1); /* the others say theirs */
    MPI_Abort(comm, 3);
}
