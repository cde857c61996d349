/* SPDX-License-Identifier: MIT
 * labels: core; needs: inside
 *
 * Rows against the room that the reader of specs has for them: those of the registry fit, larger ones are refused. */
#include "common.h"
#include "core/spec.h"

static pe_key many[KEYS_MAX + 1];

static pe_status fits(int count, const char *choices)
{
    pe_error err = { 0 };
    for (int i = 0; i < count; i++)
        many[i] = (pe_key){ .name = "key", .kind = choices ? PE_KEY_CHOICE : PE_KEY_INT, .fallback = "", .choices = choices };
    pe_status s = spec_row_fits(&(row){ .info = { .name = "made", .key_count = count }, .keys = many }, &err);
    assert_true(!s == !*err.text);
    return s;
}

static void every_row_of_the_registry_fits(void **state)
{
    (void)state;
    for (int i = 0; i < pe_row_count; i++) {
        pe_error err = { 0 };
        assert_ok(spec_row_fits(pe_rows[i], &err));
    }
}

static void a_row_with_too_many_keys_is_refused(void **state)
{
    (void)state;
    assert_int_equal(fits(0, NULL), PE_OK);
    assert_int_equal(fits(KEYS_MAX, NULL), PE_OK);
    assert_int_equal(fits(KEYS_MAX + 1, NULL), PE_ERR_SPEC);
}

static void a_key_with_too_many_choices_is_refused(void **state)
{
    (void)state;
    char letters[301];
    memset(letters, 'a', sizeof letters);
    letters[300] = 0;
    assert_int_equal(fits(1, "a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x"), PE_OK);
    assert_int_equal(fits(1, "a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x|y"), PE_ERR_SPEC);
    assert_int_equal(fits(1, letters), PE_ERR_SPEC);
    assert_int_equal(fits(1, letters + 1), PE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_registry_fits),
        cmocka_unit_test(a_row_with_too_many_keys_is_refused),
        cmocka_unit_test(a_key_with_too_many_choices_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
