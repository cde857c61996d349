/* labels: core; tier: quick; cost: 1 s; needs: wrap
 * SPDX-License-Identifier: MIT
 *
 * Fused attention has no n x n of anything: its work memory grows with n, for every row; it allocates nothing, stays
 * inside the bytes it asked for, and refuses fewer. */
#include "fused_case.h"
#include "heap.h"

#define SEED UINT64_C(0x6d656d6f)
#define MIB (1024.0 * 1024)

enum { H = 8, D = 64, LONGEST = 4096 };

/* Examples whose tables end before LONGEST, with larger ones. */
static const struct {
    const char *row, *spec;
} larger[] = {
    { "transformer-xl", "transformer-xl:back=4096" },
    { "transformer-xl", "transformer-xl:back=4096,ahead=4096" },
    { "xlnet", "xlnet:length=4096,memory=0" },
    { "window", "window:window=64/64" },
    { "shaw", "shaw:left=4096,right=4096" },
    { "shaw", "shaw:heads=own,left=4096,right=0" },
    { "deberta", "deberta:buckets=0,max=4096" },
    { "t5", "t5:buckets=1024,max=4096" },
    { "cope", "cope:positions=4096,heads=own" },
};

static float *numbers;
static int64_t *places;

static size_t bytes_for(const pe_encoding *e, int64_t Tq, int64_t Tk, pe_status *status)
{
    int64_t axes = pe_encoding_axes(e);
    size_t bytes = 0;
    for (int64_t t = 0; t < Tk; t++)
        for (int64_t a = 0; a < axes; a++) /* a grid 64 wide; one line where there is one axis */
            places[t * axes + a] = axes == 1 ? t : a == axes - 1 ? t % 64 : a == axes - 2 ? t / 64 : 0;
    pe_attention a = { .size = sizeof(pe_attention), .q = pe_view_of(numbers, PE_F32, 1, Tq, H, D), .k = pe_view_of(numbers, PE_F32, 1, Tk, H, D),
                       .v = pe_view_of(numbers, PE_F32, 1, Tk, H, D), .q_at = pe_positions_of(places + (Tk - Tq) * axes, PE_I64, 1, Tq, axes),
                       .k_at = pe_positions_of(places, PE_I64, 1, Tk, axes), .mask = { .causal = true } };
    TEST_INPUTS(e, &a, Tq, Tk);
    *status = pe_attention_work(e, &a, NULL, &bytes, NULL);
    return bytes;
}

static double largest;

/* False: a table that ends before. */
static bool try_growth(const char *spec)
{
    pe_status status;
    pe_encoding *e = encoding_of(spec, (pe_shape){ H, H, D, 0 });
    size_t n = bytes_for(e, LONGEST / 2, LONGEST / 2, &status), twice = 0, few = 0, few_twice = 0;
    if (!status)
        twice = bytes_for(e, LONGEST, LONGEST, &status);
    if (!status)
        few = bytes_for(e, 1, LONGEST / 2, &status);
    if (!status)
        few_twice = bytes_for(e, 1, LONGEST, &status);
    if (status == PE_ERR_POSITION)
        return false;
    assert_int_equal(status, PE_OK);
    if ((double)twice > 2.2 * (double)n || (double)few_twice > 2.2 * (double)few)
        fail_msg("%s: %zu bytes for %d tokens, %zu for %d; one query: %zu and %zu", spec, n, LONGEST / 2, twice, LONGEST, few, few_twice);
    if ((double)twice >= 64 * MIB) /* one score for each pair would be that much */
        fail_msg("%s: %.1f MiB for %d tokens; needs less than 64", spec, (double)twice / MIB, LONGEST);
    largest = fmax(largest, (double)twice);
    return true;
}

TEST(work_grows_with_the_number_of_tokens)
{
    numbers = take((int64_t)LONGEST * H * D, sizeof *numbers);
    places = take(LONGEST * PE_AXES_MAX, sizeof *places);
    for (int i = 0; i < pe_info_count(); i++) {
        int tried = 0;
        for (int k = 0; k < pe_info_at(i)->example_count; k++)
            tried += try_growth(pe_info_at(i)->examples[k]);
        for (int k = 0; k < COUNT(larger); k++)
            if (!strcmp(larger[k].row, pe_info_at(i)->name)) {
                assert_true(try_growth(larger[k].spec));
                tried++;
            }
        if (!tried)
            printf("%s: none of its examples reaches %d tokens; put a larger one into `larger`\n", pe_info_at(i)->name, LONGEST);
    }
    for (int i = 0; i < COUNT(case_combinations); i++)
        try_growth(case_combinations[i]);
    printf("at most %.1f MiB for %d tokens of %d x %d\n", largest / MIB, LONGEST, H, D);
}

/* ------------------------------------------------ the block */

enum { CANARY = 4096 };

/* The block starts at 8 mod 64, is as large as asked for, and has canaries on both sides. */
static void run_inside(attention_case *c, const pe_pool *pool)
{
    twin t = twin_of(c, PE_F32, pool);
    if (t.status)
        return;
    size_t all = t.bytes + 2 * CANARY + 64;
    unsigned char *block = take((int64_t)all, 1);
    memset(block, 0xa5, all);
    unsigned char *work = block + CANARY + (72 - (uintptr_t)(block + CANARY) % 64) % 64;
    long made = heap.made;
    t.work = work;
    twin_forward(c, &t);
    if (heap.made != made)
        fail_msg("%s: %ld allocations during the call", c->spec, heap.made - made);
    for (unsigned char *p = block; p < block + all; p++)
        if ((p < work || p >= work + t.bytes) && *p != 0xa5)
            fail_msg("%s: wrote %td bytes from the start of its %zu bytes", c->spec, p - work, t.bytes);
}

/* Work that is a byte too small is refused, and nothing is written. */
static void run_too_small(attention_case *c)
{
    twin t = twin_of(c, PE_F32, NULL);
    size_t out = (size_t)(c->Tq * c->shape.heads * c->Dv) * 4;
    if (t.status)
        return;
    memset(t.out, 0xa5, out);
    memset(t.work, 0xa5, t.bytes);
    t.bytes--;
    assert_int_equal(twin_try(c, &t), PE_ERR_SHAPE);
    for (size_t n = 0; n < out; n++)
        assert_true(((unsigned char *)t.out)[n] == 0xa5);
    for (size_t n = 0; n <= t.bytes; n++)
        assert_true(((unsigned char *)t.work)[n] == 0xa5);
}

static void run_spec(const char *spec)
{
    static const int64_t sizes[] = { 6, 140, -2100 };
    for (int n = 0; n < COUNT(sizes); n++) {
        attention_case c = case_sized(spec, CAUSAL | PADDING | SINKS | SOFT_CAP, SEED, sizes[n]);
        run_inside(&c, NULL);
        run_inside(&c, &reversed_pool);
        run_too_small(&c);
    }
}

TEST(attention_stays_inside_its_work_and_allocates_nothing)
{
    case_each(run_spec);
}

/* More heads on one than a tile of keys has room for. */
TEST(wide_groups_stay_inside_too)
{
    static const char *const specs[] = { "rope", "xpos", "deberta:buckets=8,max=32", "cope", "rope:turn=qkvo" };
    for (int s = 0; s < COUNT(specs); s++)
        for (int64_t Tq = 1; Tq <= 9; Tq += 4) {
            attention_case c = case_begun(specs[s], encoding_of(specs[s], (pe_shape){ 96, 1, 8, 0 }));
            c.Tq = Tq;
            c.Tk = 200;
            c = case_made(c, CAUSAL, SEED);
            run_inside(&c, NULL);
            run_inside(&c, &reversed_pool);
        }
}
