/* SPDX-License-Identifier: MIT
 *
 * What gradients of attention need of each query: its log-sum-exp in units of log 2, and dout . out; and the gradients
 * of sinks; and what becomes of the sums of dq on Hopper; and sums of gradients. Macros: D, DV, DQ_TYPE, BN, OUT_TYPE,
 * DOUT_TYPE, LSE_DOUBLE; WIDE: out and dout have one type and can be read 16 bytes at a time. */

/* Sixteen bytes of out and dout: the part that one lane adds. */
static float row_part(uint64_t out, uint64_t dout)
{
    uint4 x = *(const uint4 *)out, y = *(const uint4 *)dout;
    const uint32_t xs[4] = { x.x, x.y, x.z, x.w }, ys[4] = { y.x, y.y, y.z, y.w };
    float sum = 0;
#pragma unroll
    for (int n = 0; n < 4; n++) {
        if (OUT_TYPE == 0) {
            sum += __uint_as_float(xs[n]) * __uint_as_float(ys[n]);
            continue;
        }
        float2 p = unpack_numbers(xs[n], OUT_TYPE), q = unpack_numbers(ys[n], OUT_TYPE);
        sum += p.x * q.x + p.y * q.y;
    }
    return sum;
}

/* Eight lanes per query and head; 16 bytes at a time where WIDE says that the views allow it. A query that sees nothing
 * gets weights of 0: its log-sum-exp is +inf. */
extern "C" __global__ void __launch_bounds__(256) attend_rows(const __grid_constant__ attend_args a)
{
    int64_t n = (int64_t)blockIdx.x * 32 + threadIdx.x / 8, total = (int64_t)a.batch * a.H * a.Tq;
    int lane = threadIdx.x % 8;
    int64_t row = n < total ? n : total - 1;
    int h = (int)(row % a.H), token = (int)(row / a.H % a.Tq), b = (int)(row / a.H / a.Tq);
    int first = 0, count = a.Tq;
    if (!a.q_lengths.offset)
        stretch(a.q_lengths, b, a.Tq, first, count);
    int64_t out = b * a.out.batch + token * a.out.token + h * a.out.head;
    int64_t dout = b * a.dout.batch + token * a.dout.token + h * a.dout.head;
    int64_t at = b * a.lse.batch + token * a.lse.token + h * a.lse.head;
    float lse = LSE_DOUBLE ? (float)((const double *)a.lse.data)[at] : ((const float *)a.lse.data)[at], sum = 0;
    bool real = token >= first && token < first + count && lse != -INF;
    const int size = OUT_TYPE == 0 ? 4 : 2;
    if (WIDE) {
        for (int d = lane * 16; real && d < DV * size; d += 128)
            sum += row_part(a.out.data + out * size + d, a.dout.data + dout * size + d);
    } else {
        for (int d = lane; real && d < DV; d += 8)
            sum += load_number(a.out.data, out + d, OUT_TYPE) * load_number(a.dout.data, dout + d, DOUT_TYPE);
    }
    for (int by = 4; by; by /= 2)
        sum += __shfl_xor_sync(~0u, sum, by);
    if (lane == 0 && n < total)
        ((float2 *)a.rows)[((int64_t)b * a.H + h) * a.Tq + token] =
            real ? float2{ lse * LOG2_E, sum } : float2{ INF, 0 };
}

/* The gradient of a head's sink: its weight times minus dout . out, over all queries. */
extern "C" __global__ void __launch_bounds__(256) attend_dsinks(const __grid_constant__ attend_args a)
{
    __shared__ double part[256];
    float sink = ((const float *)a.sinks)[blockIdx.x] * LOG2_E;
    double sum = 0;
    for (int64_t n = threadIdx.x; n < (int64_t)a.batch * a.Tq; n += 256) {
        float2 row = ((const float2 *)a.rows)[(n / a.Tq * a.H + blockIdx.x) * a.Tq + n % a.Tq];
        sum -= (double)exp2_fast(sink - row.x) * row.y;
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int by = 128; by; by /= 2) {
        if (threadIdx.x < by)
            part[threadIdx.x] += part[threadIdx.x + by];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        ((float *)a.dsinks)[blockIdx.x] += (float)part[0];
}

/* dq of the n-th tile of BN queries, from the sums of attend_back_hopper, which are in the order in which its threads
 * hold them: a warpgroup has half of the columns, and of each 8 columns four numbers in each of its threads. */
extern "C" __global__ void __launch_bounds__(256) attend_dq_finish(const __grid_constant__ attend_args a)
{
    place p;
    if (!place_find(a, blockIdx.x, BN, p))
        return;
    int64_t slot = query_slot(a, p, p.h, p.i0 / BN, BN);
    const float *sum = (const float *)a.dq_sum + slot * BN * D;
    bool any = ((const int32_t *)a.turns)[slot] != 0;
    for (int n = threadIdx.x; n < BN * D / 2; n += blockDim.x) {
        int row = n / (D / 2), column = n % (D / 2) * 2, token = query_token(a, p, p.i0 + row);
        bool real = p.i0 + row < p.nq;
        if (token < 0 || (!real && a.accumulate))
            continue;
        float2 x = { 0, 0 };
        if (real && any)
            x = *(const float2 *)(sum + (column / 8 * 128 + row / 16 * 32 + row % 8 * 4 + column % 8 / 2) * 4 +
                                  row % 16 / 8 * 2);
        store_gradient(a, a.dq, p.batch * a.dq.batch + token * a.dq.token + p.h * a.dq.head + column, x.x * a.scale,
                       x.y * a.scale, DQ_TYPE);
    }
}

/* dq += out, of as many tokens as there are queries: a gradient that is added to the caller's. */
extern "C" __global__ void __launch_bounds__(256) attend_add(const __grid_constant__ attend_args a)
{
    int64_t n = (int64_t)blockIdx.x * 256 + threadIdx.x, row = n / (D / 2);
    int h = (int)(row % a.H), token = (int)(row / a.H % a.Tq), b = (int)(row / a.H / a.Tq), d = (int)(n % (D / 2)) * 2;
    int64_t to = b * a.dq.batch + token * a.dq.token + h * a.dq.head + d;
    int64_t from = b * a.out.batch + token * a.out.token + h * a.out.head + d;
    if (b < a.batch)
        store_pair(a.dq.data, to, load_number(a.dq.data, to, DQ_TYPE) + load_number(a.out.data, from, OUT_TYPE),
                   load_number(a.dq.data, to + 1, DQ_TYPE) + load_number(a.out.data, from + 1, OUT_TYPE), DQ_TYPE);
}
