/* SPDX-License-Identifier: MIT
 *
 * What stands around the C of docs/scale.md, which run.sh puts into scale.inc. */
#include <mpi.h>
#include <posenc_mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHARE = 64, H = 4, D = 32 };
static float x[4][SHARE * H * D];

static pe_view view(int n)
{
    return pe_view_of(x[n], PE_F32, 1, SHARE, H, D);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    pe_encoding *encoding;
    pe_error err = { 0 };
    pe_view q = view(0), k = view(1), v = view(2), out = view(3);
    pe_run run = PE_MAKE(pe_run, .plan = NULL);
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (pe_encoding_new(&encoding, "alibi", (pe_shape){ .heads = H, .head_dim = D }, &err))
        return 1;
    for (int i = 0; i < SHARE * H * D; i++)
        x[2][i] = 1;
#include "scale.inc"
    free(run.work);
    pe_encoding_free(encoding);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    if (err.text[0] || x[3][0] < 0.999f || x[3][0] > 1.001f) { /* a mean of ones */
        fprintf(stderr, "%s; out[0] is %g\n", err.text, (double)x[3][0]);
        return 1;
    }
    return 0;
}
