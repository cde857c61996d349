/* SPDX-License-Identifier: MIT
 * labels: core
 *
 * The tool's editor of spec text cuts and joins what pe_encoding_new reads. */
#include "common.h"

#include "zoo/spec_edit.c"

static void expect(char *text, const char *wanted)
{
    assert_non_null(text);
    assert_string_equal(text, wanted);
    free(text);
}

static void a_key_is_set_or_taken_away(void **state)
{
    (void)state;
    expect(spec_set("rope", "theta", "500000"), "rope:theta=500000");
    expect(spec_set("rope:theta=1,pairs=half", "theta", "2"), "rope:pairs=half,theta=2");
    expect(spec_set("rope:theta=1,pairs=half", "theta", NULL), "rope:pairs=half");
    expect(spec_set("rope:theta=1", "theta", NULL), "rope");
    expect(spec_set("rope", "theta", NULL), "rope");
}

static void keys_without_meaning_go_too(void **state)
{
    (void)state;
    const char *yarn = "rope:scaling=yarn,factor=4,trained=2048,beta_fast=16,magnitude=2";
    expect(spec_set(yarn, "scaling", NULL), "rope:magnitude=2");
    expect(spec_set(yarn, "scaling", "linear"), "rope:factor=4,magnitude=2,scaling=linear");
    expect(spec_set(yarn, "scaling", "llama3"), "rope:factor=4,trained=2048,magnitude=2,scaling=llama3");
}

static void parts_are_cut_at_names_only(void **state)
{
    (void)state;
    const char *spec = "rope:theta=1e+6+deberta:terms=c2p+p2c+alibi";
    assert_int_equal(spec_part_count(spec), 3);
    expect(spec_part(spec, 0), "rope:theta=1e+6");
    expect(spec_part(spec, 1), "deberta:terms=c2p+p2c");
    expect(spec_part(spec, 2), "alibi");
    expect(spec_with_part(spec, 0, "xpos"), "xpos+deberta:terms=c2p+p2c+alibi");
    expect(spec_with_part(spec, 1, "t5"), "rope:theta=1e+6+t5+alibi");
    expect(spec_with_part(spec, 2, "t5"), "rope:theta=1e+6+deberta:terms=c2p+p2c+t5");
    expect(spec_with_part("rope", 0, "xpos"), "xpos");
}

static void values_are_those_given_or_the_defaults(void **state)
{
    char text[8];
    (void)state;
    assert_true(spec_value(text, sizeof text, "rope:theta=77", "theta"));
    assert_string_equal(text, "77");
    assert_true(spec_is("rope", "pairs", "half"));
    assert_false(spec_is("rope:pairs=adjacent", "pairs", "half"));
    assert_false(spec_value(text, sizeof text, "rope", "no-such-key"));
    assert_false(spec_value(text, sizeof text, "rope:theta=123456789", "theta"));
    assert_true(spec_number("rope", "theta", 0) == 10000);
    assert_true(spec_number("rope", "dims", 5) == 5);
    assert_true(spec_number("alibi", "theta", 6) == 6);
    assert_null(spec_info("nothing"));
    assert_null(spec_key("nothing", "theta"));
}

/* Taking every part out and putting it back changes nothing; what comes out still is a spec. */
static void survives(const pe_info *row, const char *spec)
{
    pe_encoding *e = test_encoding(spec, test_shape);
    (void)row;
    for (int i = 0; i < spec_part_count(spec); i++) {
        char *part = spec_part(spec, i);
        expect(spec_with_part(spec, i, part), spec);
        pe_encoding_free(test_encoding(part, test_shape));
        free(part);
    }
    pe_encoding_free(e);
}

static void every_example_survives(void **state)
{
    (void)state;
    test_each_example(survives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_set_or_taken_away),
        cmocka_unit_test(keys_without_meaning_go_too),
        cmocka_unit_test(parts_are_cut_at_names_only),
        cmocka_unit_test(values_are_those_given_or_the_defaults),
        cmocka_unit_test(every_example_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
