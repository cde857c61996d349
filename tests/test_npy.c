/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: io wrap wrapio
 *
 * .npy files, and what becomes of their numbers. */
#include "io_test.h"

static uint8_t scratch[1 << 16];

/* A .npy file of this header text and so many bytes of zeros. */
static size_t make_npy(int major, const char *header, size_t length, size_t payload)
{
    size_t at = major == 1 ? 10 : 12;
    memset(scratch, 0, sizeof scratch);
    memcpy(scratch, "\x93NUMPY", 6);
    scratch[6] = (uint8_t)major;
    for (size_t i = 8; i < at; i++)
        scratch[i] = (uint8_t)(length >> 8 * (i - 8));
    memcpy(scratch + at, header, strlen(header));
    return at + strlen(header) + payload;
}

static pe_status parse_npy(size_t size, unsigned flags, io_array *a, pe_error *error)
{
    io_bytes b = exact(scratch, size);
    pe_status s = io_npy_parse(a, &b, flags, error);
    io_bytes_free(&b);
    return s;
}

TEST(npy_round_trips_every_type_and_rank)
{
    uint8_t data[256];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)i;
    for (int t = 0; t < IO_F8_E4M3; t++)
        for (int rank = 0; rank <= IO_RANK_MAX; rank++) {
            io_array a = { .data = data, .type = (io_type)t, .rank = rank, .count = 1 }, b;
            for (int i = 0; i < rank; i++)
                a.count *= a.shape[i] = i < 3 ? i + 1 : 1;
            expect("save", io_npy_save(in_folder("a.npy"), &a, &err), PE_OK, &err);
            expect("load", io_npy_load(&b, path_text, t == IO_BF16 ? IO_NPY_BF16 : 0, &err), PE_OK, &err);
            assert_int_equal(b.type, a.type);
            assert_int_equal(b.rank, rank);
            assert_int_equal(b.count, a.count);
            assert_memory_equal(b.shape, a.shape, sizeof a.shape);
            assert_memory_equal(b.data, data, (size_t)a.count * io_type_size(a.type));
            io_array_free(&b);
            io_array_free(&b);
        }
    unlink(path_text);
}

TEST(npy_header_is_numpys_own)
{
    char header[IO_NPY_HEADER_MAX];
    size_t size;
    io_array a = { .type = IO_F32, .rank = 2, .shape = { 3, 4 }, .count = 12 };
    assert_int_equal(io_npy_header(header, &size, &a, NULL), PE_OK);
    assert_int_equal(size, 128); /* 10 + 59 + 20 for growth + 1, filled up to a multiple of 64 */
    assert_memory_equal(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    assert_memory_equal(header + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  ", 61);
    assert_int_equal(header[127], '\n');
    io_array wide = { .type = IO_I8, .rank = 8, .count = 0 };
    for (int i = 1; i < 8; i++)
        wide.shape[i] = INT64_MAX;
    assert_int_equal(io_npy_header(header, &size, &wide, NULL), PE_OK);
    assert_int_equal(size, 256);
}

TEST(npy_writer_refuses_what_it_cannot_say)
{
    const io_array bad[] = {
        { .type = IO_F8_E4M3, .count = 1 },
        { .type = IO_TYPE_COUNT, .count = 1 },
        { .type = IO_F32, .rank = 9, .count = 1 },
        { .type = IO_F32, .rank = -1, .count = 1 },
        { .type = IO_F32, .rank = 1, .shape = { -1 }, .count = -1 },
        { .type = IO_F32, .rank = 1, .shape = { 3 }, .count = 4 },
        { .type = IO_F32, .rank = 1, .shape = { 3 }, .count = 3, .data = NULL },
        { .type = IO_F32, .rank = 1, .shape = { INT64_MAX }, .count = INT64_MAX },
    };
    static const pe_status want[] = { PE_ERR_DTYPE,    PE_ERR_DTYPE, PE_ERR_SHAPE, PE_ERR_SHAPE,
                                      PE_ERR_OVERFLOW, PE_ERR_SHAPE, PE_ERR_NULL,  PE_ERR_OVERFLOW };
    for (size_t i = 0; i < COUNT(bad); i++)
        expect("save", io_npy_save(in_folder("no.npy"), &bad[i], &err), want[i], &err);
    assert_int_equal(entries_in_folder(), 0);
}

TEST(npy_takes_what_numpy_writes)
{
    static const struct {
        const char *header;
        size_t payload;
    } good[] = {
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", 24 },
        { "{\"shape\":(2,3,),\"descr\":\"<f4\",\"fortran_order\":False}\n", 24 },
        { "{'descr': '<f4', 'fortran_order': True, 'shape': (3,), }\n", 12 },
        { "{'descr': '<i8', 'fortran_order': True, 'shape': (), }\n", 8 },
        { "{'descr': '|b1', 'fortran_order': False, 'shape': (0, 9223372036854775807), }\n", 0 },
    };
    io_array a;
    for (size_t i = 0; i < COUNT(good); i++)
        for (int major = 1; major <= 3; major++) {
            size_t n = make_npy(major, good[i].header, strlen(good[i].header), good[i].payload);
            expect(good[i].header, parse_npy(n, 0, &a, &err), PE_OK, &err);
            io_array_free(&a);
        }
}

#define NPY(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"

TEST(npy_refuses_hostile_headers)
{
    static const struct {
        const char *header;
        size_t payload;
        pe_status want;
    } bad[] = {
        { NPY("'<f4'", "False", "(4294967296, 4294967296)"), 0, PE_ERR_OVERFLOW },    /* wraps to 0          */
        { NPY("'<f8'", "False", "(2305843009213693952,)"), 0, PE_ERR_OVERFLOW },      /* 2^61 * 8 wraps to 0 */
        { NPY("'<f8'", "False", "(2305843009213693953,)"), 8, PE_ERR_OVERFLOW },      /* and this one to 8   */
        { NPY("'<f4'", "False", "(1000000000000,)"), 16, sizeof(size_t) < 8 ? PE_ERR_OVERFLOW : PE_ERR_FORMAT }, /* huge in a tiny file */
        { NPY("'<f4'", "False", "(9223372036854775808,)"), 0, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(99999999999999999999999999999999999,)"), 0, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(-1,)"), 0, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(-1, -4)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(04,)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(4.0,)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(2**2,)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(4)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(,)"), 4, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(2 2)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "[4]"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(1,1,1,1,1,1,1,1,1)"), 4, PE_ERR_SHAPE },
        { NPY("'<f4'", "False", "(4,)"), 15, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(4,)"), 17, PE_ERR_FORMAT },
        { NPY("'<f4'", "True", "(2, 2)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "0", "(4,)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "exit()", "(4,)"), 16, PE_ERR_FORMAT },
        { NPY("'|O'", "False", "(1,)"), 8, PE_ERR_DTYPE },                            /* pickled objects     */
        { NPY("'O'", "False", "(1,)"), 8, PE_ERR_DTYPE },
        { NPY("[('a', '<f4')]", "False", "(1,)"), 4, PE_ERR_DTYPE },
        { NPY("'>f4'", "False", "(1,)"), 4, PE_ERR_DTYPE },
        { NPY("'<V2'", "False", "(1,)"), 2, PE_ERR_DTYPE },
        { NPY("'<f16'", "False", "(1,)"), 16, PE_ERR_DTYPE },
        { NPY("''", "False", "(1,)"), 4, PE_ERR_DTYPE },
        { NPY("'\\x3cf4'", "False", "(1,)"), 4, PE_ERR_FORMAT },
        { NPY("__import__('os')", "False", "(1,)"), 4, PE_ERR_FORMAT },
        { "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (9,), }\n", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4', 'fortran_order': False, }\n", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1, }\n", 4, PE_ERR_FORMAT },
        { "{'descr' '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4' 'fortran_order': False, 'shape': (1,), }\n", 4, PE_ERR_FORMAT },
        { "{descr: '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x\n", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,\n", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4\n", 4, PE_ERR_FORMAT },
        { "['descr']\n", 4, PE_ERR_FORMAT },
        { "{}\n", 4, PE_ERR_FORMAT },
        { "\n", 4, PE_ERR_FORMAT },
        { "", 4, PE_ERR_FORMAT },
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        io_array a;
        heap.peak = heap.live;
        size_t n = make_npy(1, bad[i].header, strlen(bad[i].header), bad[i].payload), before = heap.live;
        expect(bad[i].header, parse_npy(n, 0, &a, &err), bad[i].want, &err);
        assert_null(a.data);
        assert_true(heap.peak - before <= n + 64); /* nothing but the file itself was allocated */
    }
}

TEST(npy_refuses_hostile_frames)
{
    const char *good = NPY("'<f4'", "False", "(2,)");
    io_array a;
    size_t n = make_npy(2, good, 0xFFFFFFFFu, 8);
    expect("header of 4 GiB", parse_npy(n, 0, &a, &err), PE_ERR_FORMAT, &err);
    n = make_npy(2, good, 10001, 30000);
    expect("header past the cap", parse_npy(n, 0, &a, &err), PE_ERR_FORMAT, &err);
    n = make_npy(1, good, strlen(good) + 9, 8);
    expect("header past the end", parse_npy(n, 0, &a, &err), PE_ERR_FORMAT, &err);
    n = make_npy(4, good, strlen(good), 8);
    expect("version 4.0", parse_npy(n, 0, &a, &err), PE_ERR_FORMAT, &err);
    n = make_npy(1, good, strlen(good), 8);
    scratch[7] = 1;
    expect("version 1.1", parse_npy(n, 0, &a, &err), PE_ERR_FORMAT, &err);
    memcpy(scratch, "PK\x03\x04", 4);
    expect("zip magic", parse_npy(n, 0, &a, &err), PE_ERR_FORMAT, &err);
    for (int major = 1; major <= 2; major++) {
        n = make_npy(major, good, strlen(good), 8);
        for (size_t cut = 0; cut < n; cut++)
            expect("cut short", parse_npy(cut, 0, &a, &err), PE_ERR_FORMAT, &err);
    }
}

TEST(npy_survives_any_one_wrong_byte)
{
    const char *good = NPY("'<f4'", "False", "(2, 1)");
    size_t n = make_npy(2, good, strlen(good), 8);
    for (size_t at = 0; at < n; at++) {
        uint8_t kept = scratch[at];
        for (int v = 0; v < 256; v++) {
            io_array a;
            scratch[at] = (uint8_t)v;
            parse_npy(n, IO_NPY_BF16, &a, NULL);
            io_array_free(&a);
        }
        scratch[at] = kept;
    }
}

TEST(npy_bfloat16_is_read_when_asked_for)
{
    static const char *const descr[] = { NPY("'<V2'", "False", "(1,)"), NPY("'|V2'", "False", "(1,)"),
                                         NPY("'<u2'", "False", "(1,)") };
    for (size_t i = 0; i < COUNT(descr); i++) {
        io_array a;
        float *v;
        size_t n = make_npy(1, descr[i], strlen(descr[i]), 2);
        scratch[n - 2] = 0xC0, scratch[n - 1] = 0x3F;
        assert_int_equal(parse_npy(n, IO_NPY_BF16, &a, NULL), PE_OK);
        assert_int_equal(a.type, IO_BF16);
        assert_int_equal(io_array_to_f32(&v, &a, NULL), PE_OK);
        assert_true(v[0] == 1.5f);
        free(v);
        io_array_free(&a);
    }
}

/* ---------------------------------------------------------------- conversions */

static double one_real(io_type type, const void *value, pe_status *s)
{
    uint8_t odd[9] = { 0 };
    memcpy(odd + 1, value, io_type_size(type)); /* tensors start at any byte */
    io_tensor t = { .bytes = odd + 1, .type = type, .count = 1 };
    double *v, got = 0;
    *s = io_tensor_to_f64(&v, &t, NULL);
    if (*s == PE_OK)
        got = *v;
    free(v);
    return got;
}

TEST(halves_convert_exactly)
{
    pe_status s;
    for (uint32_t h = 0; h < 0x10000; h++) {
        uint16_t bits = (uint16_t)h;
        uint32_t e = h >> 10 & 31, m = h & 1023;
        double want = e == 31 ? (m ? (double)NAN : (double)INFINITY) : e ? ldexp(1024 + m, (int)e - 25) : ldexp(m, -24);
        double got = one_real(IO_F16, &bits, &s);
        want = h >> 15 ? -want : want;
        assert_true(isnan(want) ? isnan(got) : got == want && !signbit(got) == !signbit(want));
    }
    uint16_t b = 0xC049;
    assert_true(one_real(IO_BF16, &b, &s) == -3.140625);
}

TEST(every_number_type_converts)
{
    pe_status s;
    assert_true(one_real(IO_F32, &(float){ -1.5f }, &s) == -1.5);
    assert_true(one_real(IO_F64, &(double){ 0x1p-1074 }, &s) == 0x1p-1074);
    assert_true(one_real(IO_I64, &(int64_t){ -(INT64_C(1) << 53) }, &s) == -0x1p53);
    assert_true(one_real(IO_I32, &(int32_t){ INT32_MIN }, &s) == -0x1p31);
    assert_true(one_real(IO_I16, &(int16_t){ -2 }, &s) == -2);
    assert_true(one_real(IO_I8, &(int8_t){ -3 }, &s) == -3);
    assert_true(one_real(IO_U64, &(uint64_t){ 7 }, &s) == 7);
    assert_true(one_real(IO_U32, &(uint32_t){ UINT32_MAX }, &s) == 4294967295.0);
    assert_true(one_real(IO_U16, &(uint16_t){ 65535 }, &s) == 65535);
    assert_true(one_real(IO_U8, &(uint8_t){ 255 }, &s) == 255);
    assert_true(one_real(IO_BOOL, &(uint8_t){ 2 }, &s) == 1);
    one_real(IO_I64, &(int64_t){ (INT64_C(1) << 53) + 1 }, &s);
    assert_int_equal(s, PE_ERR_RANGE);
    one_real(IO_F8_E4M3, &(uint8_t){ 1 }, &s);
    assert_int_equal(s, PE_ERR_DTYPE);
}

TEST(only_whole_numbers_become_int64)
{
    double good[] = { 0, -0.0, -3, 0x1p62, -0x1p63 }, bad[] = { 0.5, 0x1p63, -0x1.1p63, (double)NAN, (double)INFINITY };
    int64_t *v;
    io_array a = { .data = good, .type = IO_F64, .rank = 1, .shape = { COUNT(good) }, .count = COUNT(good) };
    expect("whole", io_array_to_i64(&v, &a, &err), PE_OK, &err);
    assert_true(v[2] == -3 && v[3] == INT64_C(1) << 62 && v[4] == INT64_MIN);
    free(v);
    for (size_t i = 0; i < COUNT(bad); i++) {
        io_array b = { .data = &bad[i], .type = IO_F64, .count = 1 };
        expect("not whole", io_array_to_i64(&v, &b, &err), PE_ERR_RANGE, &err);
        assert_null(v);
    }
    io_array u = { .data = &(uint64_t){ UINT64_MAX }, .type = IO_U64, .count = 1 };
    expect("past int64", io_array_to_i64(&v, &u, &err), PE_ERR_RANGE, &err);
    io_array i = { .data = &(int64_t){ INT64_MIN }, .type = IO_I64, .count = 1 };
    expect("int64", io_array_to_i64(&v, &i, &err), PE_OK, &err);
    free(v);
}

TEST(float32_overflow_is_told_and_infinity_kept)
{
    float *v;
    double d[] = { 0x1.fffffep127, 0x1.fffffefp127, -0x1.fffffep127, (double)INFINITY, 0x1p-200 };
    io_array a = { .data = d, .type = IO_F64, .rank = 1, .shape = { COUNT(d) }, .count = COUNT(d) };
    assert_int_equal(io_array_to_f32(&v, &a, NULL), PE_OK);
    assert_true(v[1] == 0x1.fffffep127f && isinf(v[3]) && v[4] == 0);
    free(v);
    d[0] = -0x1.ffffffp127;
    assert_int_equal(io_array_to_f32(&v, &a, NULL), PE_ERR_RANGE);
    io_array none = { .type = IO_F32, .rank = 1 };
    assert_int_equal(io_array_to_f32(&v, &none, NULL), PE_OK);
    assert_non_null(v);
    free(v);
    io_array vast = { .data = d, .type = IO_U8, .count = INT64_MAX };
    assert_int_equal(io_array_to_f32(&v, &vast, NULL), PE_ERR_OVERFLOW);
}

TEST(library_types_have_their_file_types)
{
    assert_int_equal(io_type_of(PE_F32), IO_F32);
    assert_int_equal(io_type_of(PE_F16), IO_F16);
    assert_int_equal(io_type_of(PE_BF16), IO_BF16);
    assert_int_equal(io_type_of(PE_F64), IO_F64);
    assert_int_equal(io_type_of(PE_Q8_0), IO_TYPE_COUNT);
    assert_string_equal(io_type_name(IO_BF16), "BF16");
    assert_string_equal(io_type_name(IO_TYPE_COUNT), "?");
    assert_int_equal(io_type_size(IO_TYPE_COUNT), 0);
}

/* ---------------------------------------------------------------- out of memory */

static pe_status op_npy_load(pe_error *error)
{
    io_array a;
    float *v = NULL;
    int64_t *w = NULL;
    pe_status s = io_npy_load(&a, in_folder("t.npy"), 0, error);
    if (s == PE_OK)
        s = io_array_to_f32(&v, &a, error);
    if (s == PE_OK)
        s = io_array_to_i64(&w, &a, error);
    free(v);
    free(w);
    io_array_free(&a);
    return s;
}

static pe_status op_npy_save(pe_error *error)
{
    io_array a = { .data = &(float){ 3 }, .type = IO_F32, .rank = 1, .shape = { 1 }, .count = 1 };
    return io_npy_save(in_folder("t.npy"), &a, error);
}

TEST(memory_that_runs_out_is_reported)
{
    op_npy_save(NULL);
    any_failed_allocation_of(op_npy_save, "save");
    any_failed_allocation_of(op_npy_load, "load and convert");
    empty_folder();
}
