/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: jansson
 *
 * What posenc prints with --json is valid JSON, and says what the library says. */
#define _POSIX_C_SOURCE 200809L /* popen, mkdtemp */

#include <jansson.h>
#include <unistd.h>

#include "test.h"

/* The JSON that $POSENC ARGS prints; it must exit with 0. */
static json_t *run(const char *args)
{
    char command[2000];
    json_error_t at;
    const char *tool = getenv("POSENC");
    assert_true(tool && strlen(tool) + strlen(args) + 8 < sizeof command);
    snprintf(command, sizeof command, "'%s' %s", tool, args);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    json_t *j = json_loadf(pipe, JSON_REJECT_DUPLICATES, &at);
    int status = pclose(pipe);
    if (!j)
        fail_msg("%s: line %d: %s", args, at.line, at.text);
    if (status)
        fail_msg("%s: ended with status %d", args, status);
    return j;
}

static const char *text_of(json_t *j, const char *key)
{
    json_t *value = json_object_get(j, key);
    if (!json_is_string(value))
        fail_msg("%s is not a string", key);
    return json_string_value(value);
}

static double number_at(json_t *j, const char *key)
{
    json_t *value = json_object_get(j, key);
    if (!json_is_number(value))
        fail_msg("%s is not a number", key);
    return json_number_value(value);
}

static void same_or_null(json_t *j, const char *key, const char *text)
{
    if (text && *text)
        assert_string_equal(text_of(j, key), text);
    else
        assert_true(json_is_null(json_object_get(j, key)));
}

static void check_bits(json_t *list, unsigned bits, const char *(*name)(unsigned))
{
    size_t at = 0;
    for (int i = 0; i < 32; i++)
        if (bits & 1u << i)
            assert_string_equal(json_string_value(json_array_get(list, at++)), name(1u << i));
    assert_int_equal(json_array_size(list), at);
}

static void check_choices(json_t *list, const char *choices)
{
    char joined[500] = "";
    size_t i, used = 0;
    json_t *item;
    json_array_foreach(list, i, item)
        used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%s", i ? "|" : "", json_string_value(item));
    assert_string_equal(joined, choices ? choices : "");
}

static void check_key(json_t *j, const pe_key *k)
{
    static const char *const kind[] = { "int", "real", "choice", "list" };
    assert_string_equal(text_of(j, "name"), k->name);
    assert_string_equal(text_of(j, "kind"), kind[k->kind]);
    assert_string_equal(text_of(j, "help"), k->help);
    same_or_null(j, "default", k->fallback);
    same_or_null(j, "when", k->when);
    check_choices(json_object_get(j, "choices"), k->choices);
    check_choices(json_object_get(j, "also"), k->also);
    assert_int_equal(json_is_true(json_object_get(j, "required")), k->required);
    if (k->kind == PE_KEY_CHOICE)
        return;
    assert_true(number_at(j, "min") == k->min); /* to the last bit */
    assert_true(number_at(j, "max") == k->max);
}

static void check_tensors(json_t *list, const char *spec)
{
    pe_encoding *e = test_encoding(spec, (pe_shape){ .heads = 8, .head_dim = 64 });
    assert_true(json_is_array(list));
    assert_int_equal(json_array_size(list), pe_encoding_tensor_count(e));
    for (int i = 0; i < pe_encoding_tensor_count(e); i++) {
        json_t *j = json_array_get(list, (size_t)i), *shape = json_object_get(j, "shape");
        const pe_tensor *t = pe_encoding_tensor(e, i);
        assert_string_equal(text_of(j, "name"), t->name);
        assert_string_equal(text_of(j, "about"), t->about);
        assert_int_equal(json_array_size(shape), t->rank);
        for (int a = 0; a < t->rank; a++)
            assert_int_equal(json_integer_value(json_array_get(shape, (size_t)a)), t->shape[a]);
    }
    pe_encoding_free(e);
}

/* Rows are in groups, by idea. */
static json_t *row_named(json_t *rows, const char *name)
{
    for (size_t n = 0; n < json_array_size(rows); n++)
        if (!strcmp(text_of(json_array_get(rows, n), "name"), name))
            return json_array_get(rows, n);
    fail_msg("list has no %s", name);
    return NULL;
}

TEST(list_groups_by_idea_and_says_when_to_choose_which)
{
    json_t *root = run("list --json"), *rows = json_object_get(root, "encodings"), *ideas = json_object_get(root, "ideas");
    size_t n = 0;
    for (pe_idea idea = PE_IDEA_NONE; pe_idea_name(idea); idea++) {
        json_t *j = json_array_get(ideas, (size_t)idea);
        assert_string_equal(text_of(j, "idea"), pe_idea_name(idea));
        assert_string_equal(text_of(j, "advice"), pe_idea_advice(idea));
        while (n < json_array_size(rows) && !strcmp(text_of(json_array_get(rows, n), "idea"), pe_idea_name(idea)))
            n++;
    }
    assert_int_equal(n, json_array_size(rows)); /* each idea once, in this order */
    json_decref(root);
}

TEST(list_holds_the_whole_registry)
{
    json_t *root = run("list --json"), *rows = json_object_get(root, "encodings");
    assert_string_equal(text_of(root, "version"), pe_version());
    assert_int_equal(json_array_size(rows), pe_info_count());
    for (int i = 0; i < pe_info_count(); i++) {
        const pe_info *r = pe_info_at(i);
        json_t *j = row_named(rows, r->name), *keys = json_object_get(j, "keys");
        assert_string_equal(text_of(j, "name"), r->name);
        assert_string_equal(text_of(j, "idea"), pe_idea_name(r->idea));
        assert_string_equal(text_of(j, "summary"), r->summary);
        assert_string_equal(text_of(j, "formula"), r->formula);
        assert_string_equal(text_of(j, "paper"), r->paper);
        check_choices(json_object_get(j, "models"), *r->models ? r->models : NULL);
        check_choices(json_object_get(j, "also"), r->also);
        same_or_null(j, "arxiv", r->arxiv);
        check_bits(json_object_get(j, "hooks"), r->hooks, pe_hook_name);
        check_bits(json_object_get(j, "claims"), r->claims, pe_claim_name);
        check_tensors(json_object_get(j, "tensors"), r->name);
        assert_int_equal(json_array_size(keys), r->key_count);
        for (int k = 0; k < r->key_count; k++)
            check_key(json_array_get(keys, (size_t)k), pe_info_key(r, k));
        json_t *examples = json_object_get(j, "examples");
        assert_int_equal(json_array_size(examples), r->example_count);
        for (int k = 0; k < r->example_count; k++)
            assert_string_equal(json_string_value(json_array_get(examples, (size_t)k)), r->examples[k]);
    }
    json_decref(root);
}

static void check_encoding(json_t *root, const char *verb, const pe_encoding *e)
{
    char hex[24];
    snprintf(hex, sizeof hex, "%016" PRIx64, pe_encoding_fingerprint(e));
    assert_string_equal(text_of(root, "verb"), verb);
    assert_string_equal(text_of(root, "canonical"), pe_encoding_spec(e));
    assert_string_equal(text_of(root, "fingerprint"), hex);
    assert_true(number_at(json_object_get(root, "encoding"), "scale") == pe_encoding_scale(e));
}

static float float_at(json_t *data, size_t a, size_t b, size_t c)
{
    json_t *x = json_array_get(json_array_get(json_array_get(data, a), b), c);
    assert_true(json_is_number(x));
    return (float)json_number_value(x);
}

TEST(table_prints_every_bit)
{
    enum { N = 5, PAIRS = 32 };
    float cosine[N * PAIRS], sine[N * PAIRS];
    const char *spec = "rope:scaling=yarn,trained=2048,factor=4";
    pe_encoding *e = test_encoding(spec, (pe_shape){ .heads = 8, .head_dim = 64 });
    assert_ok(pe_rotate_table(e, PE_QUERY, pe_view_of(cosine, PE_F32, 1, N, 1, PAIRS), pe_view_of(sine, PE_F32, 1, N, 1, PAIRS), pe_positions_run(1, N, 123456), NULL, &err));
    json_t *root = run("table rope:scaling=yarn,trained=2048,factor=4 -n 5 --start 123456 --json");
    json_t *data = json_object_get(root, "data");
    check_encoding(root, "table", e);
    assert_true(number_at(root, "magnitude") == pe_encoding_magnitude(e));
    for (size_t t = 0; t < N; t++)
        for (size_t p = 0; p < PAIRS; p++) {
            assert_true(float_at(data, 0, t, p) == cosine[t * PAIRS + p]);
            assert_true(float_at(data, 1, t, p) == sine[t * PAIRS + p]);
        }
    json_decref(root);
    pe_encoding_free(e);
}

TEST(bias_says_when_it_acts)
{
    pe_encoding *e = test_encoding("alibi:convention=falcon", (pe_shape){ .heads = 2, .head_dim = 64 });
    json_t *root = run("bias alibi:convention=falcon -n 3 --heads 2 --json"), *stages = json_object_get(root, "stages");
    check_encoding(root, "bias", e);
    assert_true(json_is_true(json_object_get(stages, "before")));
    assert_true(json_is_false(json_object_get(stages, "after")));
    assert_string_equal(text_of(root, "stage"), "before");
    assert_int_equal(json_array_size(json_object_get(root, "data")), 2);
    assert_true(float_at(json_object_get(root, "data"), 0, 2, 0) == -0.125f); /* slope 2^-4, two places back */
    json_decref(root);
    pe_encoding_free(e);
}

TEST(names_that_break_json_are_escaped)
{
    char folder[] = "/tmp/posenc-json-XXXXXX", args[500], file[100];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/q\"\\\n\t\x01\xc3\xa9\xff.npy", folder);
    snprintf(args, sizeof args, "table rope -n 2 --json -o '%s'", file);
    json_t *root = run(args);
    const char *name = strrchr(text_of(root, "out"), '/');
    assert_string_equal(name, "/q\"\\\n\t\x01\xc3\xa9\xef\xbf\xbd.npy");
    assert_null(json_object_get(root, "data"));
    json_decref(root);

    snprintf(args, sizeof args, "apply rope --in '%s' --json", file);
    root = run(args); /* (2, 2, 32): two tokens, two heads */
    assert_string_equal(text_of(root, "direction"), "forward");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "encoding"), "heads")), 2);
    assert_int_equal(json_array_size(json_object_get(root, "data")), 2);
    json_decref(root);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(folder), 0);
}

TEST(dogs_and_help_are_data_too)
{
    json_t *root = run("dogs --json");
    assert_true(json_is_true(json_object_get(root, "as_expected")));
    assert_int_equal(json_array_size(json_object_get(root, "encodings")), pe_info_count());
    json_decref(root);
    root = run("help --json");
    assert_true(json_array_size(json_object_get(root, "verbs")) >= 6);
    json_decref(root);
}

/* ------------------------------------------------ prove */

static void check_claim(json_t *c)
{
    static const char *const verdicts[] = { "HOLDS", "REFUTED", "DEPENDS" };
    int known = 0;
    for (int i = 0; i < COUNT(verdicts); i++)
        known += !strcmp(text_of(c, "verdict"), verdicts[i]);
    assert_int_equal(known, 1);
    assert_true(*text_of(c, "name") && *text_of(c, "group") && *text_of(c, "claim") && *text_of(c, "source"));
    assert_true(*text_of(c, "because") && *text_of(c, "verdict_text"));
    assert_memory_equal(text_of(c, "command"), "posenc prove ", strlen("posenc prove "));
    json_t *numbers = json_object_get(c, "numbers"), *n;
    size_t i;
    assert_true(json_array_size(numbers) > 0);
    json_array_foreach(numbers, i, n)
        assert_true(*text_of(n, "what") && *text_of(n, "text") && text_of(n, "of") && text_of(n, "unit"));
}

TEST(proofs_are_data)
{
    static const char *const commands[] = { "prove order --json", "prove order --json --lang zh",
                                            "prove order-blind alibi rope --json" };
    static const size_t counts[] = { 8, 8, 2 };
    for (int k = 0; k < COUNT(commands); k++) {
        json_t *j = run(commands[k]), *list = json_object_get(j, "claims"), *c;
        size_t i;
        assert_int_equal(json_array_size(list), counts[k]);
        json_array_foreach(list, i, c)
            check_claim(c);
        json_decref(j);
    }
}

TEST(properties_are_data)
{
    json_t *j = run("prove rope alibi --properties --json"), *specs = json_object_get(j, "specs");
    assert_int_equal(json_array_size(specs), 2);
    assert_int_equal(json_array_size(json_object_get(j, "claims")), 0);
    json_t *list = json_object_get(json_array_get(specs, 0), "properties"), *p;
    size_t i;
    assert_int_equal(json_array_size(list), CLAIM_COUNT);
    json_array_foreach(list, i, p)
    {
        assert_string_equal(text_of(p, "name"), pe_claim_name(1u << i));
        bool none = !strcmp(text_of(p, "outcome"), "no meaning");
        assert_true(none == !*text_of(p, "number_text") && *text_of(p, "sentence") && *text_of(p, "what"));
        assert_true(json_is_boolean(json_object_get(p, "claimed")));
    }
    json_decref(j);
}
