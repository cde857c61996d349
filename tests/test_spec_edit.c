/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: zoo
 *
 * Spec text: keys are looked up as given or by default, and edits cut and join what pe_encoding_new reads. */

#include "zoo/spec_read.h"

#include <math.h>

#include "test.h"

#define LLAMA "rope:theta=500000,scaling=llama3,factor=8,trained=8192"
#define OSS "rope:theta=150000,scaling=yarn,factor=32,trained=4096,truncate=no"

static void expect(char *text, const char *wanted)
{
    assert_non_null(text);
    assert_string_equal(text, wanted);
    free(text);
}

/* ------------------------------------------------ lookups */

TEST(a_key_reads_as_given_or_as_its_default)
{
    assert_true(zoo_spec_num(LLAMA, "factor") == 8);
    assert_true(zoo_spec_num(LLAMA, "low") == 1);
    assert_true(isnan(zoo_spec_num("rope", "factor")));
    assert_true(zoo_spec_num_or("rope", "theta", 0) == 10000);
    assert_true(zoo_spec_num_or("rope", "dims", 5) == 5);
    assert_true(zoo_spec_num_or("alibi", "theta", 6) == 6);
    assert_true(zoo_spec_is("rope", "pairs", "half"));
    assert_false(zoo_spec_is("rope:pairs=adjacent", "pairs", "half"));
    assert_true(zoo_spec_has(OSS, "truncate") && !zoo_spec_has(OSS, "beta_fast"));
    assert_false(zoo_spec_has("rope:beta_fast=2", "beta"));
    assert_null(zoo_spec_get("alibi", "theta").text);
    assert_null(zoo_spec_row("ropes"));
    assert_null(zoo_spec_key("nothing", "theta"));
}

TEST(a_value_is_copied_where_it_fits)
{
    char text[8];
    assert_true(zoo_spec_text(text, sizeof text, "rope:theta=77", "theta"));
    assert_string_equal(text, "77");
    assert_true(zoo_spec_text(text, sizeof text, "rope", "dims"));
    assert_string_equal(text, "");
    assert_false(zoo_spec_text(text, sizeof text, "rope", "no-such-key"));
    assert_false(zoo_spec_text(text, sizeof text, "rope:theta=12345678", "theta"));
}

TEST(conditions_hold_only_where_all_of_them_do)
{
    assert_true(zoo_spec_meets(OSS, "scaling=linear|yarn,truncate=no,!magnitude,factor"));
    assert_false(zoo_spec_meets(OSS, "scaling=yarn,truncate=yes"));
    assert_false(zoo_spec_meets(OSS, "scaling!=yarn"));
    assert_false(zoo_spec_meets(OSS, "scaling=yar|yarns"));
    assert_false(zoo_spec_meets(OSS, "!truncate"));
    assert_true(zoo_spec_meets(OSS, ""));
    assert_false(zoo_spec_meets("alibi", "scaling=none"));
}

/* ------------------------------------------------ edits */

TEST(a_key_is_set_or_taken_away)
{
    expect(zoo_spec_set("rope", "theta", "500000"), "rope:theta=500000");
    expect(zoo_spec_set("rope:theta=1,pairs=half", "theta", "2"), "rope:pairs=half,theta=2");
    expect(zoo_spec_set("rope:theta=1,pairs=half", "theta", NULL), "rope:pairs=half");
    expect(zoo_spec_set("rope:theta=1", "theta", NULL), "rope");
    expect(zoo_spec_set("rope", "theta", NULL), "rope");
    expect(zoo_spec_set("rope:theta=5+alibi:max=8", "theta", NULL), "rope+alibi:max=8");
    expect(zoo_spec_set("rope+alibi", "theta", "7"), "rope:theta=7+alibi");
}

TEST(keys_without_meaning_go_too)
{
    const char *yarn = "rope:scaling=yarn,factor=4,trained=2048,beta_fast=16,magnitude=2";
    expect(zoo_spec_set(yarn, "scaling", NULL), "rope:magnitude=2");
    expect(zoo_spec_set(yarn, "scaling", "linear"), "rope:factor=4,magnitude=2,scaling=linear");
    expect(zoo_spec_set(yarn, "scaling", "llama3"), "rope:factor=4,trained=2048,magnitude=2,scaling=llama3");
    expect(zoo_spec_set("rope", "factor", "4"), "rope:factor=4"); /* its scaling may follow */
}

TEST(no_scaling_is_what_a_model_is_born_with)
{
    expect(zoo_spec_unscaled(OSS), "rope:theta=150000");
    expect(zoo_spec_unscaled("rope:scaling=proportional,factor=2,turning=0.25"),
           "rope:scaling=proportional,turning=0.25");
    expect(zoo_spec_unscaled("alibi"), "alibi");
}

TEST(a_length_is_said_where_frequencies_follow_it)
{
    const char *dynamic = "rope:scaling=dynamic,factor=2,trained=4096";
    expect(zoo_spec_at(dynamic, 8192), "rope:scaling=dynamic,factor=2,trained=4096,length=8192");
    expect(zoo_spec_at("rope:scaling=dynamic,factor=2,trained=4096,length=8192", 0), dynamic);
    expect(zoo_spec_at(OSS, 8192), OSS);
    expect(zoo_spec_at("sinusoidal+alibi", 8192), "sinusoidal+alibi");
}

/* ------------------------------------------------ parts */

TEST(parts_are_cut_at_names_only)
{
    const char *spec = "rope:theta=1e+6+deberta:terms=c2p+p2c+alibi";
    assert_int_equal(zoo_spec_parts(spec), 3);
    assert_null(zoo_spec_part_at(spec, 3).text);
    expect(zoo_spec_part(spec, 0), "rope:theta=1e+6");
    expect(zoo_spec_part(spec, 1), "deberta:terms=c2p+p2c");
    expect(zoo_spec_part(spec, 2), "alibi");
    expect(zoo_spec_with_part(spec, 0, "xpos"), "xpos+deberta:terms=c2p+p2c+alibi");
    expect(zoo_spec_with_part(spec, 1, "t5"), "rope:theta=1e+6+t5+alibi");
    expect(zoo_spec_with_part(spec, 2, "t5"), "rope:theta=1e+6+deberta:terms=c2p+p2c+t5");
    expect(zoo_spec_with_part("rope", 0, "xpos"), "xpos");
}

/* Each row as it describes itself: taking a part out and putting it back changes nothing, what comes out still is a
 * spec, and without all its keys only the name is left. */
static void survives(const pe_info *row, const char *spec)
{
    for (int i = 0; i < zoo_spec_parts(spec); i++) {
        char *part = zoo_spec_part(spec, i);
        expect(zoo_spec_with_part(spec, i, part), spec);
        pe_encoding_free(test_encoding(part, test_shape));
        free(part);
    }
    char *bare = zoo_spec_part(spec, 0);
    assert_ptr_equal(zoo_spec_row(spec), row);
    for (int n = 0; n < row->key_count; n++)
        assert_true(zoo_spec_put(&bare, pe_info_key(row, n)->name, NULL));
    expect(bare, row->name);
}

TEST(every_example_survives)
{
    test_each_example(survives);
}
