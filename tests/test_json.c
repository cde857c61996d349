/* SPDX-License-Identifier: MIT
 * labels: core; tier: test; cost: 5 s; needs: io wrap wrapio
 *
 * The JSON reader: what it takes, what it refuses and in which words, what it costs. test_json_diff holds it against
 * another reader. */
#include "io_test.h"

#include <time.h>

static pe_status parse_json(io_node *root, const char *text, pe_error *error)
{
    io_bytes b = exact(text, strlen(text));
    pe_status s = io_json_parse(root, "c.json", (char *)b.data, b.size, error);
    io_bytes_free(&b);
    return s;
}

TEST(json_getters_read_what_is_there)
{
    io_node root, list, item, inner;
    const char *text = "{\"n\":7,\"r\":1e4,\"s\":\"x\",\"t\":true,\"z\":null,\"l\":[1,2.5,{\"k\":-1}]}";
    expect("parse", parse_json(&root, text, &err), PE_OK, &err);
    int64_t n = 0, kept = 5;
    double r = 0;
    const char *s = NULL;
    bool t = false;
    assert_int_equal(io_json_int(&n, &root, "n", IO_REQUIRED, (io_int_range){ 7, 7 }, &err), PE_OK);
    assert_int_equal(io_json_real(&r, &root, "r", IO_REQUIRED, &err), PE_OK);
    assert_int_equal(io_json_string(&s, &root, "s", IO_REQUIRED, &err), PE_OK);
    assert_int_equal(io_json_bool(&t, &root, "t", IO_REQUIRED, &err), PE_OK);
    assert_true(n == 7 && r == 1e4 && strcmp(s, "x") == 0 && t);
    assert_int_equal(io_json_real(&r, &root, "n", IO_OPTIONAL, &err), PE_OK);
    assert_true(r == 7);
    assert_int_equal(io_json_int(&kept, &root, "z", IO_OPTIONAL, IO_ANY_INT, &err), PE_OK);
    assert_int_equal(io_json_int(&kept, &root, "absent", IO_OPTIONAL, IO_ANY_INT, &err), PE_OK);
    assert_int_equal(kept, 5);
    assert_int_equal(io_json_real(&r, &root, "absent", IO_OPTIONAL, &err), PE_OK);
    assert_int_equal(io_json_bool(&t, &root, "absent", IO_OPTIONAL, &err), PE_OK);
    assert_int_equal(io_json_string(&s, &root, "absent", IO_OPTIONAL, &err), PE_OK);
    assert_int_equal(io_json_object(&inner, &root, "absent", IO_OPTIONAL, &err), PE_OK);
    assert_null(inner.json);
    assert_int_equal(io_json_array(&list, &root, "l", IO_REQUIRED, &err), PE_OK);
    assert_int_equal(io_json_size(&list), 3);
    assert_int_equal(io_json_item(&item, &list, 1, &err), PE_OK);
    assert_int_equal(io_json_real(&r, &item, NULL, IO_REQUIRED, &err), PE_OK);
    assert_true(r == 2.5);
    assert_int_equal(io_json_item(&item, &list, 2, &err), PE_OK);
    assert_int_equal(io_json_object(&inner, &item, NULL, IO_REQUIRED, &err), PE_OK);
    assert_int_equal(io_json_int(&n, &inner, "k", IO_REQUIRED, IO_ANY_INT, &err), PE_OK);
    assert_int_equal(n, -1);
    io_json_free(&root);
    io_json_free(&root);
}

TEST(json_errors_name_the_place)
{
    io_node root, list, item, o, none;
    int64_t n = 0;
    double r;
    bool t;
    const char *s;
    const char *text = "{\"o\":{\"f\":\"x\",\"n\":-4,\"r\":2.0,\"l\":[1,{}]},\"l\":[true],\"z\":null}";
    expect("parse", parse_json(&root, text, &err), PE_OK, &err);
    io_json_object(&o, &root, "o", IO_REQUIRED, &err);
    assert_says(io_json_real(&r, &o, "f", IO_REQUIRED, &err), PE_ERR_FORMAT, "c.json: o.f is a string; needs a number");
    assert_says(io_json_int(&n, &o, "n", IO_OPTIONAL, (io_int_range){ 0, 9 }, &err), PE_ERR_RANGE,
                "c.json: o.n is -4; needs 0 to 9");
    assert_says(io_json_int(&n, &o, "r", IO_REQUIRED, IO_ANY_INT, &err), PE_ERR_FORMAT,
                "c.json: o.r is a real number; needs a whole number");
    assert_int_equal(n, 0);
    assert_says(io_json_bool(&t, &o, "b", IO_REQUIRED, &err), PE_ERR_FORMAT, "c.json: o.b is missing");
    assert_says(io_json_string(&s, &root, "z", IO_REQUIRED, &err), PE_ERR_FORMAT, "c.json: z is null; needs a string");
    io_json_array(&list, &o, "l", IO_REQUIRED, &err);
    io_json_item(&item, &list, 1, &err);
    assert_says(io_json_bool(&t, &item, NULL, IO_REQUIRED, &err), PE_ERR_FORMAT,
                "c.json: o.l[1] is an object; needs true or false");
    assert_says(io_json_item(&item, &list, 2, &err), PE_ERR_RANGE, "c.json: o.l[2] is past the end of the array");
    assert_says(io_json_int(&n, &list, "k", IO_OPTIONAL, IO_ANY_INT, &err), PE_ERR_FORMAT,
                "c.json: o.l is an array; needs an object");
    expect("array", io_json_array(&none, &root, "o", IO_OPTIONAL, &err), PE_ERR_FORMAT, &err);
    assert_null(none.json);
    expect("object", io_json_object(&none, &root, "l", IO_OPTIONAL, &err), PE_ERR_FORMAT, &err);
    io_json_object(&none, &root, "absent", IO_OPTIONAL, &err);
    assert_says(io_json_real(&r, &none, "k", IO_REQUIRED, &err), PE_ERR_FORMAT, "c.json: absent is missing");
    assert_int_equal(io_json_size(&none), 0);
    io_json_free(&root);
}

TEST(json_paths_of_any_length_are_cut)
{
    char key[120];
    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = '\0';
    io_node nodes[6] = { { .json = "{}", .key = "c.json" } };
    for (size_t i = 1; i < COUNT(nodes); i++)
        nodes[i] = (io_node){ nodes[0].json, &nodes[i - 1], i % 2 ? key : NULL, i };
    bool t;
    assert_refused(io_json_bool(&t, &nodes[5], "b", IO_REQUIRED, &err), PE_ERR_FORMAT, "is missing");
    for (int shift = 0; shift < 2; shift++) {
        char accents[400] = "x", place[IO_JSON_PLACE_MAX];
        for (size_t i = 0; i < 150; i++)
            memcpy(accents + shift + 2 * i, "\xC3\xA9", 3);
        nodes[1].key = accents;
        size_t n = strlen(io_json_place(place, &nodes[1]));
        assert_string_equal(place + n - 5, "\xC3\xA9...");
    }
}

TEST(json_refuses_hostile_texts)
{
    static const char *const bad[] = {
        "", "{", "[1,]", "{\"a\":1,\"a\":2}", "{\"a\":{\"b\":1,\"b\":1}}", "[1] x", "[nan]", "[-NaN]", "[+Infinity]",
        "[- Infinity]", "[Infinityx]", "{NaN:1}", "NaN", "[1e999]", "[99999999999999999999]", "[01]", "[0x10]",
        "[\"\\u0000\"]", "{\"\\u0000\":1}", "[\"\xC0\x80\"]", "[\"\\ud800\"]", "[\"", "[\"\\", "7", "\"x\"", "null",
        "// c\n[]",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        io_node root;
        expect(bad[i], parse_json(&root, bad[i], &err), PE_ERR_FORMAT, &err);
        assert_null(root.json);
    }
    io_node root;
    assert_int_equal(io_json_parse(&root, "nul", "[1]\0", 4, &err), PE_ERR_FORMAT);
    assert_says(io_json_parse(&root, "big", "[]", IO_CAP_TEXT + 1, &err), PE_ERR_RANGE,
                "big: has 67108865 bytes; at most 67108864 are read");
}

/* Python writes them; a config is not unreadable for one in a key that nobody asks for. */
TEST(json_takes_pythons_words_for_no_number_but_never_as_one)
{
    static const char *const want[][2] = { { "a", "c.json: a is NaN; needs a number" },
                                           { "b", "c.json: b is infinite; needs a number" },
                                           { "c", "c.json: c is infinite; needs a number" } };
    io_node root, list;
    double x = 7;
    int64_t n;
    expect("words",
           parse_json(&root, "{\"a\":NaN,\"b\":Infinity , \"c\":-Infinity,\"d\":[0.5,Infinity,NaN],\"e\":2}", &err),
           PE_OK, &err);
    for (size_t i = 0; i < COUNT(want); i++) {
        expect(want[i][0], io_json_real(&x, &root, want[i][0], IO_REQUIRED, &err), PE_ERR_RANGE, &err);
        assert_string_equal(err.text, want[i][1]);
        assert_int_equal(io_json_int(&n, &root, want[i][0], IO_REQUIRED, IO_ANY_INT, &err), PE_ERR_FORMAT);
    }
    assert_true(x == 7);
    expect("list", io_json_array(&list, &root, "d", IO_REQUIRED, &err), PE_OK, &err);
    assert_int_equal(io_json_size(&list), 3);
    expect("after", io_json_real(&x, &root, "e", IO_REQUIRED, &err), PE_OK, &err);
    assert_true(x == 2);
    io_json_free(&root);
}

TEST(json_numbers_have_at_most_64_characters)
{
    char text[200];
    io_node root;
    snprintf(text, sizeof text, "[0.%062d]", 1);
    expect("64", parse_json(&root, text, &err), PE_OK, &err);
    io_json_free(&root);
    snprintf(text, sizeof text, "[0.%063d]", 1);
    assert_refused(parse_json(&root, text, &err), PE_ERR_FORMAT, "65 characters");
    snprintf(text, sizeof text, "[\"\\\"%0100d\"]", 1);
    expect("digits in a string", parse_json(&root, text, &err), PE_OK, &err);
    io_json_free(&root);
}

TEST(below_an_absent_node_everything_optional_is_absent)
{
    io_node root, scaling;
    double factor = 7;
    assert_int_equal(io_json_parse(&root, "c.json", "{}", 2, &err), PE_OK);
    assert_int_equal(io_json_object(&scaling, &root, "rope_scaling", IO_OPTIONAL, &err), PE_OK);
    assert_int_equal(io_json_real(&factor, &scaling, "factor", IO_OPTIONAL, &err), PE_OK);
    assert_true(factor == 7);
    assert_int_equal(io_json_real(&factor, &scaling, "factor", IO_REQUIRED, &err), PE_ERR_FORMAT);
    io_json_free(&root);
}

TEST(json_refuses_with_line_column_and_reason)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "", "c.json: is empty; needs a JSON object" },
        { "\xFF\xFE{", "c.json: is UTF-16; needs UTF-8" },
        { "\xFE\xFF{", "c.json: is UTF-16; needs UTF-8" },
        { "\xEF\xBB\xBF{}", "c.json: begins with a byte order mark, which JSON does not have; take it out" },
        { " \n 7", "c.json: line 2 column 2: needs an object or an array" },
        { "{\"a\": 1,\n \"b\" 2}", "c.json: line 2 column 6: needs a colon after the key b" },
        { "{\"\\n\": 1,\n a}", "c.json: line 2 column 2: needs a key in double quotes" },
        { "{\"a\": 1,}", "c.json: line 1 column 9: needs a key in double quotes" },
        { "{\"a\": 1 \"b\": 2}", "c.json: line 1 column 9: needs a comma or }" },
        { "{\"a\": 1", "c.json: line 1 column 8: needs a comma or }" },
        { "[1 2]", "c.json: line 1 column 4: needs a comma or ]" },
        { "[1}", "c.json: line 1 column 3: needs a comma or ]" },
        { "[1,]", "c.json: line 1 column 4: needs a value: an object, array, string, number, true, false or null" },
        { "[True]", "c.json: line 1 column 2: needs a value: an object, array, string, number, true, false or null" },
        { "[nul", "c.json: line 1 column 2: needs a value: an object, array, string, number, true, false or null" },
        { "[01]", "c.json: line 1 column 3: needs a comma or ]" },
        { "[-]",
          "c.json: line 1 column 2: a number lacks digits; needs them on both sides of a point, after a minus and "
          "in an exponent" },
        { "[1.]", "c.json: line 1 column 2: a number lacks digits; needs them on both sides of a point, after a minus "
                  "and in an exponent" },
        { "[1e+]", "c.json: line 1 column 2: a number lacks digits; needs them on both sides of a point, after a minus "
                   "and in an exponent" },
        { "[9223372036854775808]", "c.json: line 1 column 2: a whole number past 64 bits: 9223372036854775808" },
        { "[-9223372036854775809]", "c.json: line 1 column 2: a whole number past 64 bits: -9223372036854775809" },
        { "[1E400]", "c.json: line 1 column 2: a number past the largest double, 1.8e308: 1E400" },
        { "[\"abc]", "c.json: line 1 column 7: a string has no closing quote" },
        { "[\"a\tc\"]", "c.json: line 1 column 4: a string has a control character, U+0000, an unknown escape, half a "
                        "surrogate pair, or is not UTF-8" },
        { "{\"a\":1,\"b\":2,\n\"\\u0061\":3}",
          "c.json: line 2 column 12: the object that ends here has a key twice: a" },
        { "[1]\n]", "c.json: line 2 column 1: needs nothing after the last bracket" },
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        io_node root;
        expect(bad[i].text, parse_json(&root, bad[i].text, &err), PE_ERR_FORMAT, &err);
        assert_string_equal(err.text, bad[i].says);
        assert_null(root.json);
    }
}

TEST(json_is_nested_at_most_512_deep)
{
    io_node root;
    for (int object = 0; object < 2; object++)
        for (int deep = 511; deep <= 513; deep++) {
            char text[513 * 8 + 2] = "", *at = text;
            for (int i = 0; i < deep; i++)
                at += sprintf(at, object && i + 1 < deep ? "{\"a\":" : "[");
            for (int i = deep; i-- > 0;)
                *at++ = object && i + 1 < deep ? '}' : ']';
            expect("deep", parse_json(&root, text, &err), deep <= 512 ? PE_OK : PE_ERR_FORMAT, &err);
            if (deep > 512)
                assert_non_null(strstr(err.text, "objects and arrays are nested more than 512 deep"));
            io_json_free(&root);
        }
}

TEST(json_keys_have_at_most_64_kib)
{
    io_node root;
    for (int n = 65536; n <= 65537; n++) {
        char *big = malloc(2 * (size_t)n + 20);
        assert_non_null(big);
        sprintf(big, "{\"%0*d\":\"%0*d\"}", n, 1, n, 1);
        expect("key", parse_json(&root, big, &err), n == 65536 ? PE_OK : PE_ERR_FORMAT, &err);
        free(big);
        io_json_free(&root);
    }
    assert_non_null(strstr(err.text, "a key of more than 65536 bytes"));
}

TEST(json_walks_in_order_over_any_layout)
{
    const char *text =
        " \r\n{ \"a\\u0062\" :\t[ 1 ,-0,-0.0 , \"\\n\\u00e9\" , [ ] , { } ,null ] , \"\" : \"\" ,\"[\":\"}\\\"]\"\n, "
        "\"z\":{\"k\":[[\"]\"],{\"q\":false}]},\"last\":true }\n ";
    static const io_json_kind kinds[] = { IO_JSON_INT,   IO_JSON_INT,    IO_JSON_REAL, IO_JSON_STRING,
                                          IO_JSON_ARRAY, IO_JSON_OBJECT, IO_JSON_NULL };
    static const char *const keys[] = { "ab", "", "[", "z", "last" };
    io_node root, list, none;
    size_t n = 0;
    expect("parse", parse_json(&root, text, &err), PE_OK, &err);
    for (io_node child = { 0 }; io_json_next(&child, &root); n++) {
        assert_string_equal(child.key, keys[n]);
        assert_true(child.index == n && child.up == &root);
    }
    assert_int_equal(n, COUNT(keys));
    assert_true(io_json_get(&list, &root, "ab"));
    n = 0;
    io_node child = { 0 };
    for (; io_json_next(&child, &list); n++) {
        assert_int_equal(io_json_kind_of(&child), kinds[n]);
        assert_true(child.index == n && !child.key);
    }
    assert_null(child.json);
    assert_int_equal(n, COUNT(kinds));
    double r = 1;
    const char *s;
    assert_int_equal(io_json_item(&child, &list, 2, &err), PE_OK);
    assert_int_equal(io_json_real(&r, &child, NULL, IO_REQUIRED, &err), PE_OK);
    assert_true(r == 0 && signbit(r));
    assert_int_equal(io_json_item(&child, &list, 3, &err), PE_OK);
    assert_int_equal(io_json_string(&s, &child, NULL, IO_REQUIRED, &err), PE_OK);
    assert_string_equal(s, "\n\xC3\xA9");
    assert_int_equal(io_json_string(&s, &root, "[", IO_REQUIRED, &err), PE_OK);
    assert_string_equal(s, "}\"]");
    assert_false(io_json_get(&none, &root, "k"));
    assert_null(none.json);
    assert_false(io_json_get(&none, &list, "ab") || io_json_next(&none, &none));
    assert_int_equal(io_json_kind_of(&none), IO_JSON_ABSENT);
    assert_int_equal(io_json_size(&list), 7);
    assert_int_equal(io_json_size(&root), 0);
    io_json_free(&root);
}

TEST(json_places_are_named)
{
    char place[IO_JSON_PLACE_MAX];
    io_node root, o, l, item, factor;
    assert_int_equal(parse_json(&root, "{\"rope\":{\"l\":[1,2]}}", NULL), PE_OK);
    io_json_get(&o, &root, "rope");
    io_json_get(&l, &o, "l");
    io_json_item(&item, &l, 1, NULL);
    io_json_get(&factor, &o, "factor");
    assert_string_equal(io_json_place(place, &root), "c.json:");
    assert_string_equal(io_json_place(place, &item), "c.json: rope.l[1]");
    assert_string_equal(io_json_place(place, &factor), "c.json: rope.factor");
    io_json_free(&root);
}

/* Keys of one FNV-1a hash, which a hostile file can have as many of as it likes. */
TEST(json_keys_of_one_hash_are_told_apart)
{
    io_node root;
    int64_t n = 0;
    const char *text = "{\"costarring\":1,\"liquid\":2,\"declinate\":3,\"macallums\":4}";
    expect("apart", parse_json(&root, text, &err), PE_OK, &err);
    assert_int_equal(io_json_int(&n, &root, "liquid", IO_REQUIRED, IO_ANY_INT, &err), PE_OK);
    assert_int_equal(n, 2);
    io_json_free(&root);
    text = "{\"costarring\":1,\"liquid\":2,\"costarring\":3,\"macallums\":4}";
    assert_refused(parse_json(&root, text, &err), PE_ERR_FORMAT, "has a key twice: costarring");
}

/* ---------------------------------------------------------------- memory and time */

/* Seconds of this process. */
static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static const struct shape {
    const char *open, *item, *close; /* %x in an item: its number */
} shapes[] = {
    { "", "[", "" }, { "", "{\"a\":", "" }, { "", "[{\"a\":", "" }, { "[", "0,", "0]" }, { "[", "{},", "0]" },
    { "[", "[],", "0]" }, { "[", "\"\",", "0]" }, { "{", "\"%x\":0,", "\"\":0}" }, { "{", "\"\":0,", "\"\":0}" },
    { "{", "\"%016x\":0,", "\"\":0}" }, { "[", "{\"\":0},", "0]" }, { "[", "1.5,", "0]" }, { "[", "4e-324,", "0]" },
    { "[", "1.7976931348623157e308,", "0]" }, { "{\"", "k", "\":0}" }, { "[\"", "xy", "\"]" },
    { "[\"", "\\u00e9", "\"]" }, { "[\"", "::::", "\"]" }, { "[", " ", "]" }, { "{\"a\":1,\"a\":[", "0,", "0]}" },
    { "[", "{\"a\":{\"b\":{\"c\":{\"d\":[[[[[0]]]]]}}}},", "0]" },
    { "[", "-0.000000000000000000000000000000000000000000000000000000e-99,", "0]" },
};

static char *make_shape(const struct shape *s, size_t room, size_t *size)
{
    char *text = malloc(room + 200), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s", s->open);
    for (unsigned i = 1; at < text + room; i++)
        at += sprintf(at, s->item, i);
    at += sprintf(at, "%s", s->close);
    *size = (size_t)(at - text);
    return text;
}

/* 4n + 1 MiB of heap, the text itself among it, and far less than a second for each MiB, also under the sanitizers. */
TEST(json_memory_and_time_are_bounded_by_the_text)
{
    static const size_t sizes[] = { 1000, (size_t)1 << 20, (size_t)4 << 20 };
    int taken = 0;
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (size_t z = 0; z < COUNT(sizes); z++) {
            io_node root;
            size_t n;
            faults_reset();
            char *text = make_shape(&shapes[i], sizes[z], &n);
            size_t before = heap.live;
            heap.peak = 0;
            double from = cpu_seconds();
            pe_status s = io_json_parse(&root, "big", text, n, NULL);
            double took = cpu_seconds() - from, mib = (double)n / (1 << 20);
            assert_true(s == PE_OK || s == PE_ERR_FORMAT);
            taken += s == PE_OK;
            heap.peak = heap.peak - before + n; /* the caller's text counts as n: its block has room to spare */
            within_bound(shapes[i].item, n, 1);
            if (getenv("POSENC_SHOW"))
                printf("%-30.30s %8zu bytes: heap %.2f, %.3f s per MiB, %s\n", shapes[i].item, n,
                       (double)heap.peak / (double)n, took / mib, s ? "refused" : "taken");
            io_json_free(&root);
            free(text);
        }
    assert_true(taken >= 40);
}

TEST(json_files_take_less_than_their_bound)
{
    for (size_t i = 0; i < COUNT(shapes); i++) {
        io_node root;
        size_t n;
        char *text = make_shape(&shapes[i], (size_t)1 << 20, &n);
        put_file(in_folder("big.json"), text, n);
        free(text);
        faults_reset();
        io_json_load(&root, path_text, NULL);
        within_bound(shapes[i].item, n, 1);
        io_json_free(&root);
        assert_int_equal(heap.live, 0);
    }
    unlink(path_text);
}

static pe_status op_load(pe_error *error)
{
    io_node root;
    pe_status s = io_json_load(&root, in_folder("t.json"), error);
    io_json_free(&root);
    return s;
}

static pe_status op_parse(pe_error *error)
{
    io_node root;
    const char *text = "{\"a\":[1,2.5,\"a long string\",true],\"b\":{\"c\":null}}";
    pe_status s = io_json_parse(&root, "t.json", text, strlen(text), error);
    io_json_free(&root);
    return s;
}

TEST(memory_that_runs_out_is_reported)
{
    put_file(in_folder("t.json"), "{\"a\":[1,2.5,\"x\",true]}", 22);
    any_failed_allocation_of(op_load, "load");
    any_failed_allocation_of(op_parse, "parse");
    empty_folder();
}
