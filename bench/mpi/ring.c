/* SPDX-License-Identifier: MIT
 *
 * What ring attention costs each rank: ring SPEC ORDER HEADS DIM BACK TOKENS... under mpirun. Ranks may be more than cores:
 * the time of a rank is the CPU time of its process outside MPI, so a line says what as many cores would take, if keys always
 * arrived in time; what was sent is counted. scripts/bench_mpi.sh makes a table of the lines. */
#define _POSIX_C_SOURCE 200809L
#include <posenc_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks;

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What asking for messages costs, again and again while there is nothing to do. */
static double asked;
int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    double from = cpu();
    int code = PMPI_Test(request, done, status);
    asked += cpu() - from;
    return code;
}
int MPI_Request_get_status(MPI_Request request, int *done, MPI_Status *status)
{
    double from = cpu();
    int code = PMPI_Request_get_status(request, done, status);
    asked += cpu() - from;
    return code;
}

static double work_time(void)
{
    return cpu() - asked;
}

static void *numbers(int64_t count, unsigned seed)
{
    float *x = calloc((size_t)count, sizeof *x);
    if (!x)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t i = 0; seed && i < count; i++)
        x[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1.0f;
    return x;
}

static void must(pe_status s, const pe_error *err)
{
    if (!s)
        return;
    fprintf(stderr, "%s\n", err->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Seconds and bytes of one pass: the most, and the sum of the seconds. */
static void tell(const char *pass, const char *order, pe_shape s, int64_t tokens, double seconds, pe_ring_count count, size_t work)
{
    double mine[3] = { seconds, (double)count.bytes, (double)work }, most[3], sum = 0;
    MPI_Reduce(mine, most, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank) {
        printf("%d %lld %s %s %.6f %.6f %.0f %.0f %d %d\n", ranks, (long long)tokens, order, pass, most[0], sum, most[1], most[2],
               (int)s.heads, (int)s.head_dim);
        fflush(stdout);
    }
}

static void one_size(const pe_encoding *e, pe_ring ring, pe_run run, const char *order, int64_t tokens, int back)
{
    pe_error err;
    pe_ring_count count = { 0 };
    pe_shape s = pe_encoding_shape(e);
    int64_t m = tokens / ranks, each = m * s.heads * s.head_dim;
    float *x[8];
    for (unsigned i = 0; i < 8; i++)
        x[i] = numbers(each, i < 4 ? i + 1 : 0);
    double *lse = calloc((size_t)(m * s.heads), sizeof *lse);
    pe_view v[8];
    for (int i = 0; i < 8; i++)
        v[i] = pe_view_of(x[i], PE_F32, 1, m, s.heads, s.head_dim);
    pe_attention a = PE_MAKE(pe_attention, .q = v[0], .k = v[1], .v = v[2], .out = v[4], .mask = { .causal = true });
    a.lse = pe_view_of(lse, PE_F64, 1, m, s.heads, 1);
    pe_attention_grad g = PE_MAKE(pe_attention_grad, .dout = v[3], .dq = v[5], .dk = v[6], .dv = v[7]);
    ring.count = &count;
    for (int backward = 0; backward <= back; backward++) {
        double least = 1e300;
        run.work = NULL;
        must(backward ? pe_ring_attention_backward_work(&ring, e, &a, &g, &run, &run.work_bytes, &err) :
                        pe_ring_attention_work(&ring, e, &a, &run, &run.work_bytes, &err), &err);
        run.work = calloc(1, run.work_bytes);
        for (int turn = 0; turn < (tokens > 100000 ? 1 : 3); turn++) { /* others use this machine too: the least of three */
            count = (pe_ring_count){ 0 };
            MPI_Barrier(ring.comm);
            double from = work_time();
            must(backward ? pe_ring_attention_backward(&ring, e, &a, &g, &run, &err) :
                            pe_ring_attention_forward(&ring, e, &a, &run, &err), &err);
            double took = work_time() - from;
            least = took < least ? took : least;
        }
        tell(backward ? "backward" : "forward", order, s, tokens, least, count, run.work_bytes);
        free(run.work);
    }
    for (int i = 0; i < 8; i++)
        free(x[i]);
    free(lse);
}

/* One message to and fro: seconds of a small one, and bytes per second of a large one. */
static void tell_network(MPI_Comm comm)
{
    enum { LARGE = 1 << 22, TURNS = 20 };
    char *data = numbers(LARGE / 4, 1);
    double took[2];
    for (int large = 0; large < 2 && ranks == 2; large++) {
        MPI_Barrier(comm);
        double from = MPI_Wtime();
        for (int n = 0; n < TURNS; n++)
            for (int side = 0; side < 2; side++)
                if (rank == side)
                    MPI_Send(data, large ? LARGE : 8, MPI_BYTE, 1 - rank, 1, comm);
                else
                    MPI_Recv(data, large ? LARGE : 8, MPI_BYTE, 1 - rank, 1, comm, MPI_STATUS_IGNORE);
        took[large] = (MPI_Wtime() - from) / (2 * TURNS);
    }
    if (ranks == 2 && !rank)
        printf("# between two ranks here: %.1f us, %.2f GB/s\n", took[0] * 1e6, LARGE / took[1] / 1e9);
    free(data);
}

int main(int argc, char **argv)
{
    static const char *const orders[] = { "contiguous", "zigzag", "striped" };
    pe_error err;
    pe_encoding *e;
    pe_ring ring = PE_MAKE(pe_ring, .order = PE_RING_ZIGZAG);
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &ring.comm);
    MPI_Comm_rank(ring.comm, &rank);
    MPI_Comm_size(ring.comm, &ranks);
    if (argc < 7)
        return fprintf(stderr, "usage: ring SPEC ORDER HEADS DIM BACK TOKENS...\n"), MPI_Abort(ring.comm, 2);
    for (int i = 0; i < 3; i++)
        if (!strcmp(argv[2], orders[i]))
            ring.order = (pe_ring_order)i;
    pe_shape shape = { .heads = atoi(argv[3]), .head_dim = atoi(argv[4]) };
    must(pe_encoding_new(&e, argv[1], shape, &err), &err);
    int64_t params = pe_encoding_param_count(e);
    pe_run run = PE_MAKE(pe_run, .params = { numbers(params + 1, 0), PE_F32, params });
    must(pe_encoding_init(e, run.params, 1, &err), &err);
    tell_network(ring.comm);
    for (int i = 6; i < argc; i++)
        one_size(e, ring, run, orders[ring.order], atoll(argv[i]), atoi(argv[5]) != 0);
    free(run.params.data);
    pe_encoding_free(e);
    return MPI_Finalize();
}
