/* SPDX-License-Identifier: MIT
 *
 * Hopper's own instructions: barriers in shared memory, the copy engine, products of warpgroups (wgmma). Tiles lie in
 * shared memory as parts of 64 columns, rows of 128 bytes, swizzled. TYPE: 1 float16, 2 bfloat16. */
static uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}
/* The block's memory. Swizzles are by address: tiles need multiples of 1024. */
template <typename TILES> static TILES *shared_memory()
{
    extern __shared__ __align__(1024) unsigned char memory[];
    if (shared_address(memory) % 1024)
        __trap();
    return (TILES *)memory;
}
static void barrier_init(uint64_t *b, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(count));
}
static void barrier_expect(uint64_t *b, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes)
                 : "memory");
}
static void barrier_arrive(uint64_t *b)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}
static void barrier_wait(uint64_t *b, int phase)
{
    asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra.uni over;\nbra.uni again;\nover:\n}" ::"r"(shared_address(b)),
                 "r"(phase)
                 : "memory");
}
static void copy_box(void *to, const void *map, uint64_t *b, int x, int token, int head, int batch)
{
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], "
        "[%2];" ::"r"(shared_address(to)),
        "l"(map), "r"(shared_address(b)), "r"(x), "r"(token), "r"(head), "r"(batch)
        : "memory");
}
static void copy_bytes(void *to, const void *from, int bytes, uint64_t *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(b))
                 : "memory");
}
/* What this thread wrote to shared memory is there for the copy engine and the matrix units. */
static void shared_written()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/* From shared memory to global memory; or added there, in float32. Both are a group that one thread waits for. */
static void store_bytes(void *to, const void *from, int bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;" ::"l"(to),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
}
static void add_bytes(void *to, const void *from, int bytes)
{
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;\n"
                 "cp.async.bulk.commit_group;" ::"l"(to),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
}
/* Until they have read shared memory; until they are done. */
static void stores_read()
{
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
static void stores_wait()
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
/* A number in memory that orders what blocks do with the copy engine: turn_come after it was read for the last time. */
static int turn_of(const int32_t *turn)
{
    int value;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(turn) : "memory");
    return value;
}
static void turn_come()
{
    asm volatile("fence.proxy.async.global;" ::: "memory");
}
static void turn_give(int32_t *turn, int value)
{
    asm volatile("fence.proxy.async.global;\nst.release.gpu.global.s32 [%0], %1;" ::"l"(turn), "r"(value) : "memory");
}
/* Four matrices of 8 x 8 numbers, in the matrix units' layout; lane l has the address of row l % 8 of matrix l / 8. */
static void store_matrices(uint32_t to, const uint32_t *x)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x[0]), "r"(x[1]),
                 "r"(x[2]), "r"(x[3])
                 : "memory");
}
static void group_meet(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
static void group_signal(int id, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
static void products_begin()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
static void products_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N> static void products_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
/* The compiler moves nothing of x across. */
template <int N> static void hold(float (&x)[N])
{
#pragma unroll
    for (int n = 0; n < N; n++)
        asm volatile("" : "+f"(x[n])::"memory");
}

/* Descriptors of swizzled tiles, rows of 128 bytes. Along the head (queries, keys): groups of 8 rows follow each other.
 * Across it (values): the next 64 columns are `apart` bytes away. */
static uint64_t along(const void *tile)
{
    return (uint64_t)((shared_address(tile) & 0x3ffff) >> 4) | 1ull << 16 | (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}
static uint64_t across(const void *tile, int apart)
{
    return (uint64_t)((shared_address(tile) & 0x3ffff) >> 4) | (uint64_t)(apart >> 4) << 16 |
           (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}

#if TYPE == 1
#define PAIR "f16.f16"
#else
#define PAIR "bf16.bf16"
#endif
#define F8(x, n)                                                                                                       \
    "+f"(x[n]), "+f"(x[n + 1]), "+f"(x[n + 2]), "+f"(x[n + 3]), "+f"(x[n + 4]), "+f"(x[n + 5]), "+f"(x[n + 6]),        \
        "+f"(x[n + 7])
#define OUT16 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}"
#define OUT32                                                                                                          \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%"                 \
    "26,%27,%28,%29,%30,%31}"
#define OUT64                                                                                                          \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%"                 \
    "26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%"                 \
    "50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"

/* x += or = A B, 16 deep, N columns: A (64 rows) and B from shared memory, both along the head. */
template <int N> static void multiply(float (&x)[N / 2], uint64_t A, uint64_t B, int add);
/* x += A B, 16 deep: A from registers, B across the head. */
template <int N> static void multiply_values(float (&x)[N / 2], const uint32_t *A, uint64_t B);

/* x += A B, 16 deep: A (64 rows) along, B across the head. */
template <int N> static void multiply_mixed(float (&x)[N / 2], uint64_t A, uint64_t B);
/* x += or = A^T B, 16 deep, 64 rows and N columns: both from shared memory, across. */
template <int N> static void multiply_across(float (&x)[N / 2], uint64_t A, uint64_t B, int add);

template <> void multiply<64>(float (&x)[32], uint64_t A, uint64_t B, int add)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32." PAIR " " OUT32
                 ", %32, %33, p, 1, 1, 0, 0;\n}"
                 : F8(x, 0), F8(x, 8), F8(x, 16), F8(x, 24)
                 : "l"(A), "l"(B), "r"(add));
}

template <> void multiply<128>(float (&x)[64], uint64_t A, uint64_t B, int add)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f32." PAIR " " OUT64
                 ", %64, %65, p, 1, 1, 0, 0;\n}"
                 : F8(x, 0), F8(x, 8), F8(x, 16), F8(x, 24), F8(x, 32), F8(x, 40), F8(x, 48), F8(x, 56)
                 : "l"(A), "l"(B), "r"(add));
}

template <> void multiply_values<64>(float (&x)[32], const uint32_t *A, uint64_t B)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." PAIR " " OUT32 ", {%32,%33,%34,%35}, %36, 1, 1, 1, 1;"
                 : F8(x, 0), F8(x, 8), F8(x, 16), F8(x, 24)
                 : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "l"(B));
}

template <> void multiply_values<128>(float (&x)[64], const uint32_t *A, uint64_t B)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." PAIR " " OUT64 ", {%64,%65,%66,%67}, %68, 1, 1, 1, 1;"
                 : F8(x, 0), F8(x, 8), F8(x, 16), F8(x, 24), F8(x, 32), F8(x, 40), F8(x, 48), F8(x, 56)
                 : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "l"(B));
}

template <> void multiply_mixed<64>(float (&x)[32], uint64_t A, uint64_t B)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." PAIR " " OUT32 ", %32, %33, 1, 1, 1, 0, 1;"
                 : F8(x, 0), F8(x, 8), F8(x, 16), F8(x, 24)
                 : "l"(A), "l"(B));
}

template <> void multiply_mixed<128>(float (&x)[64], uint64_t A, uint64_t B)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." PAIR " " OUT64 ", %64, %65, 1, 1, 1, 0, 1;"
                 : F8(x, 0), F8(x, 8), F8(x, 16), F8(x, 24), F8(x, 32), F8(x, 40), F8(x, 48), F8(x, 56)
                 : "l"(A), "l"(B));
}

template <> void multiply_across<32>(float (&x)[16], uint64_t A, uint64_t B, int add)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\nwgmma.mma_async.sync.aligned.m64n32k16.f32." PAIR " " OUT16
                 ", %16, %17, p, 1, 1, 1, 1;\n}"
                 : F8(x, 0), F8(x, 8)
                 : "l"(A), "l"(B), "r"(add));
}

template <> void multiply_across<64>(float (&x)[32], uint64_t A, uint64_t B, int add)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32." PAIR " " OUT32
                 ", %32, %33, p, 1, 1, 1, 1;\n}"
                 : F8(x, 0), F8(x, 8), F8(x, 16), F8(x, 24)
                 : "l"(A), "l"(B), "r"(add));
}

/* A warpgroup gives registers away, or takes them. */
template <int N> static void registers_less()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N> static void registers_more()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}
