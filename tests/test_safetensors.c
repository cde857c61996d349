/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: io wrap wrapio
 *
 * .safetensors files, hostile and golden. */
#include "io_test.h"

static uint8_t scratch[1 << 16];

static size_t make_st(const char *json, size_t payload)
{
    size_t length = strlen(json);
    memset(scratch, 0, sizeof scratch);
    for (int i = 0; i < 8; i++)
        scratch[i] = (uint8_t)((uint64_t)length >> 8 * i);
    memcpy(scratch + 8, json, length);
    return 8 + length + payload;
}

static pe_status parse_st(size_t size, io_safetensors **st, pe_error *error)
{
    io_bytes b = exact(scratch, size);
    pe_status s = io_safetensors_parse(st, &b, error);
    assert_null(b.data);
    return s;
}

#define T(name, dtype, shape, begin, end)                                                                              \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" #begin "," #end "]}"

TEST(safetensors_finds_by_name)
{
    io_safetensors *st;
    const io_tensor *t;
    size_t n = make_st("{ " T("b", "F32", "2", 3, 11) " ,\n\"__metadata__\" : {\"format\":\"pt\",\"a\":\"\\n\"}," T(
                           "empty", "I64", "0,5", 3, 3) "," T("caf\\u00e9 \\ud83d\\ude00", "U8", "3", 0, 3) "}  ",
                       8 + 3);
    memcpy(scratch + n - 8, (float[]){ 1.5f, -2 }, 8);
    expect("parse", parse_st(n, &st, &err), PE_OK, &err);
    assert_int_equal(io_safetensors_count(st), 3);
    assert_string_equal(io_safetensors_at(st, 0)->name, "b");
    assert_null(io_safetensors_at(st, 3));
    t = io_safetensors_find(st, "b");
    assert_true(t && t->type == IO_F32 && t->rank == 1 && t->shape[0] == 2 && t->count == 2 && t->size == 8);
    float *v;
    assert_int_equal(io_tensor_to_f32(&v, t, &err), PE_OK);
    assert_true(v[0] == 1.5f && v[1] == -2);
    free(v);
    assert_non_null(io_safetensors_find(st, "caf\xC3\xA9 \xF0\x9F\x98\x80"));
    assert_int_equal(io_safetensors_find(st, "empty")->count, 0);
    assert_null(io_safetensors_find(st, "c"));
    assert_string_equal(io_safetensors_meta(st, "format"), "pt");
    assert_string_equal(io_safetensors_meta(st, "a"), "\n");
    assert_null(io_safetensors_meta(st, "b"));
    io_safetensors_free(st);
    io_safetensors_free(NULL);
}

TEST(safetensors_may_be_empty)
{
    io_safetensors *st;
    static const char *const none[] = { "{}", "{ }  ", "{\"__metadata__\":{}}" };
    for (size_t i = 0; i < COUNT(none); i++) {
        assert_int_equal(parse_st(make_st(none[i], 0), &st, NULL), PE_OK);
        assert_int_equal(io_safetensors_count(st), 0);
        assert_null(io_safetensors_find(st, "a"));
        assert_null(io_safetensors_meta(st, "a"));
        io_safetensors_free(st);
    }
}

TEST(safetensors_refuses_hostile_headers)
{
    static const struct {
        const char *json;
        size_t payload;
        pe_status want;
    } bad[] = {
        { "{" T("a", "F32", "4294967296,4294967296", 0, 0) "}", 0, PE_ERR_OVERFLOW },
        { "{" T("a", "F64", "2305843009213693952", 0, 0) "}", 0, PE_ERR_OVERFLOW },
        { "{" T("a", "F32", "1000000000000", 0, 4000000000000) "}", 8, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1", 9223372036854775804, 9223372036854775807) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1", 0, 18446744073709551615) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1", 18446744073709551612, 0) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "-1", 0, 4) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "-1,-1", 0, 4) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1.0", 0, 4) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1e0", 0, 4) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "01", 0, 4) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1,", 0, 4) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1,1,1,1,1,1,1,1,1", 0, 4) "}", 4, PE_ERR_SHAPE },
        { "{" T("a", "F32", "1", 0, 8) "}", 4, PE_ERR_FORMAT },                    /* past the end        */
        { "{" T("a", "F32", "1", 0, 8) "}", 8, PE_ERR_FORMAT },                    /* offsets and shape   */
        { "{" T("a", "F32", "1", 4, 0) "}", 4, PE_ERR_FORMAT },                    /* reversed            */
        { "{" T("a", "F32", "1", -4, 0) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1", 4, 8) "}", 8, PE_ERR_FORMAT },                    /* a hole in front     */
        { "{" T("a", "F32", "1", 0, 4) "," T("b", "F32", "1", 5, 9) "}", 9, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1", 0, 4) "," T("b", "F32", "1", 3, 7) "}", 7, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1", 0, 4) "," T("b", "F32", "1", 0, 4) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1", 0, 4) "," T("b", "F32", "0", 2, 2) "}", 4, PE_ERR_FORMAT }, /* empty, inside */
        { "{" T("a", "F32", "1", 0, 4) "}", 5, PE_ERR_FORMAT },                    /* not all indexed     */
        { "{}", 1, PE_ERR_FORMAT },
        { "{" T("a", "U8", "1", 0, 1) "," T("a", "U8", "1", 1, 2) "}", 2, PE_ERR_FORMAT },
        { "{" T("a", "U8", "1", 0, 1) "," T("\\u0061", "U8", "1", 1, 2) "}", 2, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"data_offsets\":[0,1]}}", 1, PE_ERR_FORMAT },
        { "{\"__metadata__\":{},\"__metadata__\":{}}", 0, PE_ERR_FORMAT },
        { "{\"__metadata__\":{\"k\":\"1\",\"k\":\"1\"}}", 0, PE_ERR_FORMAT },
        { "{\"__metadata__\":{\"k\":1}}", 0, PE_ERR_FORMAT },
        { "{\"__metadata__\":{\"k\":{\"l\":\"m\"}}}", 0, PE_ERR_FORMAT },
        { "{\"__metadata__\":{\"k\"}}", 0, PE_ERR_FORMAT },
        { "{\"__metadata__\":{\"k\":\"v\"", 0, PE_ERR_FORMAT },
        { "{\"__metadata__\":[]}", 0, PE_ERR_FORMAT },
        { "{" T("a", "F33", "1", 0, 4) "}", 4, PE_ERR_DTYPE },
        { "{" T("a", "f32", "1", 0, 4) "}", 4, PE_ERR_DTYPE },
        { "{\"a\":{\"dtype\":0,\"shape\":[1],\"data_offsets\":[0,1]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":1,\"data_offsets\":[0,1]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1,\"data_offsets\":[0,1]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1 1],\"data_offsets\":[0,1]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,1]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\" \"U8\"}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":0}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{}}", 0, PE_ERR_FORMAT },
        { "{\"a\":[]}", 0, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\"]", 0, PE_ERR_FORMAT },
        { "{\"a\"}", 0, PE_ERR_FORMAT },
        { "{" T("a", "U8", "1", 0, 1) ",}", 1, PE_ERR_FORMAT },
        { "{" T("a", "U8", "1", 0, 1) "]", 1, PE_ERR_FORMAT },
        { "{" T("a", "U8", "1", 0, 1) "}x", 1, PE_ERR_FORMAT },
        { "{" T("a", "U8", "1", 0, 1) "}{}", 1, PE_ERR_FORMAT },
        { "{", 0, PE_ERR_FORMAT },
        { "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{", 0, PE_ERR_FORMAT },
        { " {}", 0, PE_ERR_FORMAT },
        { "[]", 0, PE_ERR_FORMAT },
        { "", 0, PE_ERR_FORMAT },
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        io_safetensors *st;
        expect(bad[i].json, parse_st(make_st(bad[i].json, bad[i].payload), &st, &err), bad[i].want, &err);
        assert_null(st);
    }
}

/* The look at holes and overlaps would refuse these too, but only after a pointer past the buffer was made. */
TEST(safetensors_offsets_are_checked_before_they_become_pointers)
{
    static const char *const bad[] = { "{" T("a", "F32", "2", 0, 8) "}", "{" T("a", "F32", "0", 8, 8) "}",
                                       "{" T("a", "F32", "1", 4, 0) "}" };
    for (size_t i = 0; i < COUNT(bad); i++) {
        io_safetensors *st;
        expect(bad[i], parse_st(make_st(bad[i], 4), &st, &err), PE_ERR_FORMAT, &err);
        assert_non_null(strstr(err.text, "a lies at ["));
    }
}

TEST(safetensors_refuses_text_that_is_not_utf8)
{
    static const char *const bad[] = {
        "\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\x01", "\n", "\\u0000", "\\ud800", "\\udc00",
        "\\ud800\\u0041", "\\ud800x", "\\ud800\\n", "\\u12", "\\u00g0", "\\x", "\\",
    };
    static const char *const good[] = { "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEF\xBF\xBF", "\xF0\x90\x80\x80",
                                        "\xF4\x8F\xBF\xBF", "\\u0001", "\\uD83D\\uDE00", "\\\"\\\\\\/\\b\\f\\n\\r\\t" };
    char json[100];
    io_safetensors *st;
    for (size_t i = 0; i < COUNT(bad) + COUNT(good); i++) {
        bool fine = i >= COUNT(bad);
        snprintf(json, sizeof json, "{\"__metadata__\":{\"\":\"%s\"}}", fine ? good[i - COUNT(bad)] : bad[i]);
        expect(json, parse_st(make_st(json, 0), &st, &err), fine ? PE_OK : PE_ERR_FORMAT, &err);
        io_safetensors_free(st);
    }
}

TEST(safetensors_refuses_hostile_frames)
{
    static const uint64_t lengths[] = { 3, 100000001, UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX - 7, 0 };
    io_safetensors *st;
    for (size_t i = 0; i < COUNT(lengths); i++) {
        size_t n = make_st("{}", 0);
        memcpy(scratch, &lengths[i], 8);
        expect("length", parse_st(n, &st, &err), PE_ERR_FORMAT, &err);
    }
    size_t n = make_st("{" T("a", "F32", "2", 0, 8) "}", 8);
    for (size_t cut = 0; cut < n; cut++)
        expect("cut short", parse_st(cut, &st, &err), PE_ERR_FORMAT, &err);
}

TEST(safetensors_survives_any_one_wrong_byte)
{
    const char *json = "{\"__metadata__\":{\"a\":\"\\u00e9\"}," T("a", "F16", "2,1", 0, 4) "," T(
                           "b", "U8", "", 4, 5) "}";
    size_t n = make_st(json, 5);
    for (size_t at = 0; at < n; at++) {
        uint8_t kept = scratch[at];
        for (int v = 0; v < 256; v++) {
            io_safetensors *st;
            scratch[at] = (uint8_t)v;
            parse_st(n, &st, NULL);
            io_safetensors_free(st);
        }
        scratch[at] = kept;
    }
}

#define EMPTY4 "\"\",\"\",\"\",\"\","

TEST(safetensors_memory_is_bounded_by_the_file)
{
    static const struct {
        const char *open, *item, *close;
    } forms[] = {
        { "{", "\"%x\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},", "\"\":0}" },
        { "{\"__metadata__\":{", "\"%x\":\"\",", "\"\":\"\"}}" },
        { "{\"__metadata__\":{", "\"{%x\":\"\",", "\"\":\"\"}}" }, { "{\"__metadata__\":{\"\":\"\"},", "{%x", "" },
        { "{", "\"%x\",", "" },
        { "{\"__metadata__\":{", EMPTY4 EMPTY4 EMPTY4 EMPTY4 "\"\"{", "" }, /* a brace every 50 characters */
        { "{\"__metadata__\":{", EMPTY4, "{" },
        { "{\"__metadata__\":{", "\"\":\"\",", "\"\":\"\"},{" },
    };
    size_t room = (size_t)4 << 20;
    for (size_t f = 0; f < COUNT(forms); f++) {
        faults_reset();
        io_bytes b = { malloc(room), 0, "big" };
        assert_non_null(b.data);
        char *at = (char *)b.data + 8, *end = (char *)b.data + room - 100;
        at += sprintf(at, "%s", forms[f].open);
        for (unsigned i = 1; at < end; i++)
            at += sprintf(at, forms[f].item, i);
        at += sprintf(at, "%s", forms[f].close);
        b.size = (size_t)(at - (char *)b.data);
        uint64_t length = b.size - 8;
        memcpy(b.data, &length, 8);
        io_safetensors *st;
        size_t n = b.size;
        io_safetensors_parse(&st, &b, NULL);
        within_bound(forms[f].item, n, 1);
        io_safetensors_free(st);
        assert_int_equal(heap.live, 0);
    }
}

static pe_status op_safetensors(pe_error *error)
{
    io_safetensors *st;
    double *v = NULL;
    pe_status s = load_safetensors(&st, in_folder("t.st"), error);
    if (s == PE_OK)
        s = io_tensor_to_f64(&v, io_safetensors_at(st, 0), error);
    free(v);
    io_safetensors_free(st);
    return s;
}

TEST(memory_that_runs_out_is_reported)
{
    put_file(in_folder("t.st"), scratch, make_st("{\"__metadata__\":{\"a\":\"b\"}," T("a", "U8", "2", 0, 2) "}", 2));
    any_failed_allocation_of(op_safetensors, "load and convert");
    empty_folder();
}

/* ---------------------------------------------------------------- golden files */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Every tensor that the index names is in the file and converts. */
static void check_golden(const char *json_path, const char *st_path)
{
    io_node root, cases, tensors;
    io_safetensors *st;
    const char *key;
    expect(json_path, io_json_load(&root, json_path, &err), PE_OK, &err);
    expect(st_path, load_safetensors(&st, st_path, &err), PE_OK, &err);
    assert_true(io_safetensors_count(st) > 0);
    expect("cases", io_json_object(&cases, &root, "cases", IO_REQUIRED, &err), PE_OK, &err);
    for (io_node one = { 0 }; io_json_next(&one, &cases);) {
        expect(one.key, io_json_object(&tensors, &one, "tensors", IO_REQUIRED, &err), PE_OK, &err);
        for (io_node field = { 0 }; io_json_next(&field, &tensors);) {
            double *v;
            expect(field.key, io_json_string(&key, &field, NULL, IO_REQUIRED, &err), PE_OK, &err);
            const io_tensor *t = io_safetensors_find(st, key);
            assert_non_null(t);
            expect(key, io_tensor_to_f64(&v, t, &err), PE_OK, &err);
            free(v);
        }
    }
    io_safetensors_free(st);
    io_json_free(&root);
}

TEST(golden_files_open_and_hold_what_their_index_says)
{
    const char *from = getenv("POSENC_GOLDEN");
    from = from ? from : "tests/golden";
    char json_path[1024], st_path[1024];
    int files = 0;
    DIR *d = opendir(from);
    if (!d)
        skip();
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (!ends_with(e->d_name, ".safetensors"))
            continue;
        int stem = (int)(strlen(e->d_name) - strlen(".safetensors"));
        snprintf(st_path, sizeof st_path, "%s/%s", from, e->d_name);
        snprintf(json_path, sizeof json_path, "%s/%.*s.json", from, stem, e->d_name);
        check_golden(json_path, st_path);
        files++;
    }
    closedir(d);
    if (files == 0)
        skip();
}
